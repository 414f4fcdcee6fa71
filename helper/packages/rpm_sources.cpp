// Package sources: their index, all of it or of one, and what they offer.
#include "packages/rpm.hpp"
#include "packages/sources.hpp"

namespace llmgw::packages {

Result<void> RpmManager::refresh(const Progress& progress, const std::stop_token& stop) {
    const Result<TaskResult> result = change(dnf::refresh_task(dnf_, options_.root), progress, stop);
    if (!result) return result.error();
    if (result.value().success()) return {};
    return Error{Code::unavailable, "dnf makecache: " + dnf::failure_of(result.value().output).reason};
}

Result<void> RpmManager::read_source(const std::string& source_file, const std::string& apart,
                                     const Progress& progress, const std::stop_token& stop) {
    const std::string directory = source_file.substr(0, source_file.rfind('/'));
    std::vector<std::string> ids;
    for (const Source& source : read_sources(Family::rpm, options_.root)) {
        if (source.file == source_file) ids.push_back(source.suite);
    }
    const Task task = apart.empty()
                          ? dnf::read_repositories_task(dnf_, options_.root, ids)
                          : dnf::try_repository_task(dnf_, options_.root, directory, apart + "/cache");
    const Result<TaskResult> result = change(task, progress, stop);
    if (!result) return result.error();
    if (result.value().success()) return {};
    const Failure failure = dnf::failure_of(result.value().output);
    const bool elsewhere = failure.trouble == Trouble::network || failure.trouble == Trouble::index;
    return Error{elsewhere ? Code::unavailable : Code::invalid,
                 "dnf can't read the repository in " + source_file + ": " + failure.reason};
}

Result<std::vector<Offer>> RpmManager::offers(const std::string& name, const std::stop_token& stop) {
    const Result<TaskResult> found = change(dnf::offers_task(dnf_, options_.root, name), {}, stop);
    if (!found) return found.error();
    const Result<TaskResult> needs = change(dnf::needs_task(dnf_, options_.root, name), {}, stop);
    if (!needs) return needs.error();
    if (!found.value().success() || !needs.value().success()) {
        const TaskResult& bad = found.value().success() ? needs.value() : found.value();
        return error_of(dnf::failure_of(bad.output), "cannot see what is offered of " + name);
    }
    return dnf::parse_offers(found.value().output, needs.value().output);
}

}  // namespace llmgw::packages
