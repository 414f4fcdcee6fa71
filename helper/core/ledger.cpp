#include "core/ledger.hpp"

#include <algorithm>

namespace llmgw {
namespace {

constexpr const char* format = "llmgw-slurm-ledger 1";

void add_to(std::vector<std::string>& list, const std::string& name) {
    if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
}

Value list_of(const std::vector<std::string>& names) {
    Value list(Value::Array{});
    for (const std::string& name : names) list.add(name);
    return list;
}

bool read_list(const Value& value, const char* key, std::vector<std::string>& names) {
    const Value* list = value.find(key);
    if (list == nullptr || list->array() == nullptr) return false;
    for (const Value& entry : *list->array()) {
        if (entry.text() == nullptr) return false;
        names.push_back(*entry.text());
    }
    return true;
}

bool read_files(const Value& value, std::vector<LedgerFile>& files) {
    const Value* list = value.find("files");
    if (list == nullptr || list->array() == nullptr) return false;
    for (const Value& entry : *list->array()) {
        const Value* path = entry.find("path");
        const Value* mode = entry.find("mode");
        const Value* before = entry.find("before");
        if (path == nullptr || path->text() == nullptr) return false;
        LedgerFile file{*path->text(), std::nullopt, 0644, {}};
        if (before != nullptr && before->text() != nullptr) file.before = *before->text();
        const Value* after = entry.find("after");
        if (after != nullptr && after->text() != nullptr) file.after = *after->text();
        if (mode != nullptr && mode->integer() != nullptr)
            file.before_mode = static_cast<unsigned>(*mode->integer());
        files.push_back(std::move(file));
    }
    return true;
}

bool read_flag(const Value& value, const char* key) {
    const Value* flag = value.find(key);
    return flag != nullptr && flag->boolean() != nullptr && *flag->boolean();
}

}  // namespace

void Ledger::add_packages(const std::vector<std::string>& names) {
    for (const std::string& name : names) add_to(packages, name);
}

void Ledger::add_held(const std::vector<std::string>& names) {
    for (const std::string& name : names) add_to(held, name);
}

void Ledger::add_file(LedgerFile file) {
    const auto same = [&](const LedgerFile& other) { return other.path == file.path; };
    const auto known = std::find_if(files.begin(), files.end(), same);
    if (known == files.end()) {
        files.push_back(std::move(file));
    } else {
        known->after = std::move(file.after);
    }
}

void Ledger::add_directory(const std::string& path) {
    add_to(directories, path);
}

Value value_of(const Ledger& ledger) {
    Value files(Value::Array{});
    for (const LedgerFile& file : ledger.files) {
        Value entry(Value::Object{});
        entry.set("path", file.path).set("after", file.after);
        if (file.before) entry.set("before", *file.before).set("mode", static_cast<int>(file.before_mode));
        files.add(entry);
    }
    Value value(Value::Object{});
    value.set("format", format).set("packages", list_of(ledger.packages)).set("held", list_of(ledger.held));
    value.set("files", files).set("directories", list_of(ledger.directories)).set("pyxis", ledger.pyxis);
    value.set("nvidia_repository", ledger.nvidia_repository).set("plugstack", ledger.plugstack);
    value.set("cluster", ledger.cluster).set("munge_key", ledger.munge_key);
    return value;
}

Result<Ledger> ledger_from(const Value& value) {
    const Value* said = value.find("format");
    if (said == nullptr || said->text() == nullptr || *said->text() != format) {
        return Error{Code::invalid, std::string("is not of the format \"") + format + "\""};
    }
    Ledger ledger;
    if (!read_list(value, "packages", ledger.packages) || !read_list(value, "held", ledger.held) ||
        !read_list(value, "directories", ledger.directories) || !read_files(value, ledger.files)) {
        return Error{Code::invalid, "a list in it is missing or of another kind"};
    }
    if (const Value* pyxis = value.find("pyxis"); pyxis != nullptr && pyxis->text() != nullptr) {
        ledger.pyxis = *pyxis->text();
    }
    ledger.nvidia_repository = read_flag(value, "nvidia_repository");
    ledger.plugstack = read_flag(value, "plugstack");
    ledger.cluster = read_flag(value, "cluster");
    ledger.munge_key = read_flag(value, "munge_key");
    return ledger;
}

}  // namespace llmgw
