// Package sources: their index, all of it or of one, and what they offer.
#include "packages/apt_commands.hpp"
#include "packages/deb.hpp"
#include "posix/file.hpp"

namespace llmgw::packages {

Result<void> DebManager::refresh(const Progress& progress, const std::stop_token& stop) {
    const Result<TaskResult> result =
        change([&](auto) { return apt::update_task(options_.root); }, progress, stop);
    if (!result) return result.error();
    if (result.value().success()) return {};
    return Error{Code::unavailable, "apt-get update: " + apt::failure_of(result.value().output).reason};
}

Result<void> DebManager::read_source(const std::string& source_file, const std::string& apart,
                                     const Progress& progress, const std::stop_token& stop) {
    const std::string lists = apart.empty() ? "" : apart + "/lists";
    if (!apart.empty()) {
        if (const Result<void> made = make_directories(lists + "/partial", 0755); !made) return made;
    }
    const Task task = apt::update_one_task(options_.root, source_file, lists);
    const Result<TaskResult> result =
        apart.empty() ? change([&](auto) { return task; }, progress, stop) : runner_.run(task, stop);
    if (!result) return result.error();
    const std::string what = "apt-get can't read the repository in " + source_file;
    if (!result.value().success()) {
        const Failure failure = apt::failure_of(result.value().output);
        const bool elsewhere = failure.trouble == Trouble::network || failure.trouble == Trouble::index;
        return Error{elsewhere ? Code::unavailable : Code::invalid, what + ": " + failure.reason};
    }
    if (!apart.empty()) return {};
    // Two sources that contradict each other stop apt altogether, and only all of them together show it.
    const Result<Outcome> all = ask(apt::sources_query(options_.root));
    if (!all) return all.error();
    if (all.value().success()) return {};
    return Error{Code::invalid,
                 what + " together with the others: " + apt::failure_of(all.value().output).reason};
}

Result<std::vector<Offer>> DebManager::offers(const std::string& name, const std::stop_token&) {
    const Result<Outcome> outcome = ask(apt::offers_query(options_.root, name));
    if (!outcome) return outcome.error();
    // A name that nobody has is a failure of apt-cache's, too.
    if (!outcome.value().success()) return std::vector<Offer>{};
    return apt::parse_offers(outcome.value().output);
}

}  // namespace llmgw::packages
