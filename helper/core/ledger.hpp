// What we did to this machine, so that uninstall takes back that and nothing else. An entry is written before
// its effect (service/ledger_store.hpp), so that a helper that is killed forgets nothing; taking back what
// never happened is harmless.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/value.hpp"

namespace llmgw {

struct LedgerFile {
    std::string path;
    // What was there before us; nothing: no file.
    std::optional<std::string> before;
    unsigned before_mode = 0644;
    // What we wrote last: what stands there now is ours as long as it is this.
    std::string after;

    bool operator==(const LedgerFile&) const = default;
};

struct Ledger {
    // In the order in which they came.
    std::vector<std::string> packages;     // installed by us, with what came along
    std::vector<std::string> held;         // kept at their version by us
    std::vector<LedgerFile> files;         // written by us
    std::vector<std::string> directories;  // made by us
    std::string pyxis;                     // the library that we built, "" if none
    bool nvidia_repository = false;
    bool plugstack = false;  // lines of ours may be in it
    bool cluster = false;    // Slurm here is ours to run
    bool munge_key = false;  // and so is munge's key

    bool operator==(const Ledger&) const = default;
    [[nodiscard]] bool empty() const { return *this == Ledger{}; }

    // Each keeps the first entry of its kind and name: that one knows what was before us. Of a file, the last
    // `after`.
    void add_packages(const std::vector<std::string>& names);
    void add_held(const std::vector<std::string>& names);
    void add_file(LedgerFile file);
    void add_directory(const std::string& path);
};

Value value_of(const Ledger& ledger);
// Error (invalid): another format, or not ours.
Result<Ledger> ledger_from(const Value& value);

}  // namespace llmgw
