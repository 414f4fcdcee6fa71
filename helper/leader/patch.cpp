#include "leader/patch.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "json/lease_json.hpp"
#include "json/load.hpp"

namespace llmgw::leader {
namespace {

Error wrong(std::string message) {
    return {Code::invalid, std::move(message)};
}

Result<std::vector<std::string>> names_in(const std::string& key, const Value& value) {
    if (value.array() == nullptr)
        return wrong(key + ": a list of names is wanted, found " + described(value));
    if (value.array()->size() > limits::machines) {
        return wrong(key + ": more than " + std::to_string(limits::machines) + " names");
    }
    std::vector<std::string> names;
    for (const Value& entry : *value.array()) {
        if (entry.text() == nullptr)
            return wrong(key + ": a list of names is wanted, found " + described(entry) + " in it");
        names.push_back(*entry.text());
    }
    return names;
}

Result<void> read_lent(const Value& value, Patch& patch) {
    if (value.object() == nullptr)
        return wrong("lent: {\"add\":[],\"remove\":[]} is wanted, found " + described(value));
    for (const auto& [key, list] : *value.object()) {
        if (key != "add" && key != "remove") return wrong("lent." + printable(key) + ": use add and remove");
        Result<std::vector<std::string>> names = names_in("lent." + key, list);
        if (!names) return names.error();
        (key == "add" ? patch.lend : patch.unlend) = std::move(names).value();
    }
    for (const std::string& name : patch.lend) {
        if (std::find(patch.unlend.begin(), patch.unlend.end(), name) != patch.unlend.end()) {
            return wrong("lent: " + shown(name) + " is both added and removed");
        }
    }
    return {};
}

}  // namespace

Result<Patch> read_patch(std::string_view text) {
    const Result<Value> document = json::parse(text);
    if (!document) return document.error();
    if (document.value().object() == nullptr)
        return wrong("an object is wanted, found " + described(document.value()));
    Patch patch;
    for (const auto& [key, value] : *document.value().object()) {
        if (key == "lent") {
            if (Result<void> read = read_lent(value, patch); !read) return read.error();
        } else if (key == "containers") {
            if (value.boolean() == nullptr)
                return wrong("containers: true or false is wanted, found " + described(value));
            patch.containers = *value.boolean();
        } else if (key == "reclaim") {
            Result<Reclaim> reclaim = json::reclaim_of(value);
            if (!reclaim) return reclaim.error();
            patch.reclaim = std::move(reclaim).value();
        } else {
            return wrong(printable(key) +
                         ": only lent and containers can be changed here; edit settings.json for the rest");
        }
    }
    return patch;
}

Value applied(Value settings, const Patch& patch) {
    if (!patch.lend.empty() || !patch.unlend.empty()) {
        const Value* const now = settings.find("lent");
        Value lent{Value::Array{}};
        const auto has = [&](const Value& name) {
            return std::find(lent.array()->begin(), lent.array()->end(), name) != lent.array()->end();
        };
        if (now != nullptr && now->array() != nullptr) {
            for (const Value& name : *now->array()) {
                const bool goes =
                    name.text() != nullptr &&
                    std::find(patch.unlend.begin(), patch.unlend.end(), *name.text()) != patch.unlend.end();
                if (!goes) lent.add(name);
            }
        }
        for (const std::string& name : patch.lend) {
            if (!has(name)) lent.add(name);
        }
        settings.set("lent", std::move(lent));
    }
    if (patch.containers) settings.set("containers", *patch.containers);
    return settings;
}

}  // namespace llmgw::leader
