#include "service/recorded_files.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

const LedgerFile* entry_of(const Ledger& ledger, const std::string& path) {
    const auto found = std::find_if(ledger.files.begin(), ledger.files.end(),
                                    [&](const LedgerFile& file) { return file.path == path; });
    return found == ledger.files.end() ? nullptr : &*found;
}

}  // namespace

Result<void> put_back(const LedgerFile& file, std::vector<std::string>& left) {
    const Result<std::string> now = read_file(file.path, limits::settings_bytes);
    if (!now && now.error().code == Code::missing) return {};
    if (!now || now.value() != file.after) {
        if (!now || file.before != now.value())
            left.push_back(file.path + " was left: it was changed since we wrote it");
        return {};
    }
    if (!file.before) return remove_file(file.path);
    return write_file_atomically(file.path, *file.before, file.before_mode, Durability::durable);
}

std::optional<MachineFile> machine_file_at(const std::string& path) {
    const Result<std::string> content = read_file(path, limits::settings_bytes);
    struct stat status {};
    if (!content || ::stat(path.c_str(), &status) != 0) return std::nullopt;
    return MachineFile{path, content.value(), status.st_mode & 07777U};
}

Result<void> write_recorded(const LedgerStore& ledger, const MachineFile& file) {
    LedgerFile entry{file.path, std::nullopt, file.mode, file.content};
    const Result<std::string> before = read_file(file.path, limits::settings_bytes);
    if (!before && before.error().code != Code::missing) return before.error();
    if (const std::optional<MachineFile> there = machine_file_at(file.path)) {
        entry.before = there->content;
        entry.before_mode = there->mode;
    }
    const Result<void> kept = ledger.change([&](Ledger& all) { all.add_file(entry); });
    if (!kept) return kept.error();
    if (const Result<void> made = make_directories(directory_of(file.path), 0755); !made) return made.error();
    return write_file_atomically(file.path, file.content, file.mode, Durability::durable);
}

Result<void> restore_recorded(const LedgerStore& ledger, const std::string& path,
                              std::vector<std::string>& left) {
    const Result<Ledger> all = ledger.read();
    if (!all) return all.error();
    const LedgerFile* entry = entry_of(all.value(), path);
    if (entry == nullptr) return {};
    if (const Result<void> done = put_back(*entry, left); !done) return done.error();
    return ledger.change([&](Ledger& after) {
        std::erase_if(after.files, [&](const LedgerFile& file) { return file.path == path; });
    });
}

Result<std::vector<std::string>> unwanted_of(const LedgerStore& ledger,
                                             const std::vector<MachineFile>& wanted) {
    const Result<Ledger> all = ledger.read();
    if (!all) return all.error();
    std::vector<std::string> unwanted;
    for (const LedgerFile& file : all.value().files) {
        const bool is_wanted = std::any_of(wanted.begin(), wanted.end(),
                                           [&](const MachineFile& each) { return each.path == file.path; });
        if (!is_wanted) unwanted.push_back(file.path);
    }
    return unwanted;
}

}  // namespace llmgw::service
