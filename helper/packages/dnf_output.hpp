// What rpm and dnf say, understood. Pure; their texts are those of the C locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packages/failure.hpp"
#include "packages/manager.hpp"

namespace llmgw::packages::dnf {

// A line of dnf_commands.hpp's queries.
struct Package {
    std::string name;
    std::string version;  // "4.2.1-1.el8", "1:2.0-1" with an epoch
    std::string architecture;

    // "enroot-4.2.1-1.el8.x86_64"
    [[nodiscard]] std::string full_name() const;
    bool operator==(const Package&) const = default;
};

std::vector<Package> parse_packages(const std::string& output);
// Two versions of one package, of those of which there may be one only: what an interrupted upgrade leaves.
// The older.
std::vector<Package> left_behind(const std::vector<Package>& packages);
Installed installed_of(const std::vector<Package>& packages);

// rpm's order of versions: negative, 0 or positive.
int compare_versions(std::string_view left, std::string_view right);

struct Table {
    Preview preview;
    std::vector<std::string> downgraded;

    bool operator==(const Table&) const = default;
};
// Of a transaction that was not confirmed. None: it failed before it was asked about.
std::optional<Table> parse_table(const std::string& output);

// Newest first. `needs`: of all versions.
std::vector<Offer> parse_offers(const std::string& output, const std::string& needs);

// Names in /etc/dnf/plugins/versionlock.list (dnf4) and /etc/dnf/versionlock.toml (dnf5).
std::vector<std::string> parse_locks(std::string_view list);
std::vector<std::string> parse_toml_locks(std::string_view toml);

Failure failure_of(const std::string& output);
// dnf5 doesn't say that it was rpm's lock: it failed and gives no other reason.
bool may_be_locked(const std::string& output);

std::string progress_of(std::string_view line);

}  // namespace llmgw::packages::dnf
