#include "packages/rpm.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "packages/in_root.hpp"
#include "packages/rpm_holds.hpp"

namespace llmgw::packages {
namespace {

// dnf5's, by fcntl, and dnf4's, with the holder's number inside.
constexpr const char* fcntl_locks[] = {"/run/dnf/rpmtransaction.lock", "/var/lib/dnf/system-repo.lock"};
constexpr const char* pid_files[] = {"/var/lib/dnf/rpmdb_lock.pid", "/var/cache/dnf/metadata_lock.pid",
                                     "/var/cache/dnf/download_lock.pid"};

std::string what_of(const Wanted& wanted) {
    return "cannot install " + join(file_names(wanted), " ");
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<std::string> names_of(const std::vector<dnf::Package>& packages) {
    std::vector<std::string> names;
    for (const dnf::Package& package : packages) names.push_back(package.full_name());
    return names;
}

bool exists(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

}  // namespace

RpmManager::RpmManager(TaskRunner& runner, ManagerOptions options, dnf::Program dnf, std::string native,
                       Query query)
    : runner_(runner),
      options_(std::move(options)),
      dnf_(std::move(dnf)),
      native_(std::move(native)),
      query_(std::move(query)) {}

Locks RpmManager::locks() {
    if (rpm_lock_.empty()) {
        const Result<Outcome> path = query_(dnf::lock_path_query());
        const std::string said = path && path.value().success() ? last_line(path.value().output) : "";
        rpm_lock_ = said.starts_with('/') ? said : "/var/lib/rpm/.rpm.lock";
    }
    const Held held = [root = options_.root, rpm_lock = rpm_lock_]() -> std::optional<LockHolder> {
        if (std::optional<LockHolder> holder = fcntl_holder(in_root(root, rpm_lock))) return holder;
        for (const char* file : fcntl_locks) {
            if (std::optional<LockHolder> holder = fcntl_holder(in_root(root, file))) return holder;
        }
        for (const char* file : pid_files) {
            if (std::optional<LockHolder> holder = pid_file_holder(in_root(root, file))) return holder;
        }
        return std::nullopt;
    };
    // Whoever was in the way may be done by now.
    const auto in_the_way = [held, doubts = 3](const std::string& output) mutable {
        return dnf::failure_of(output).trouble == Trouble::locked ||
               (dnf::may_be_locked(output) && (held() || doubts-- > 0));
    };
    return {held, in_the_way, options_.lock_patience};
}

Result<std::vector<dnf::Package>> RpmManager::packages() {
    const Result<Outcome> outcome = query_(dnf::installed_query(options_.root));
    if (!outcome) return outcome.error();
    if (!outcome.value().success()) {
        return Error{Code::internal,
                     "rpm can't read its database: " + shown(last_line(outcome.value().output))};
    }
    return dnf::parse_packages(outcome.value().output);
}

Result<Installed> RpmManager::installed() {
    const Result<std::vector<dnf::Package>> all = packages();
    if (!all) return all.error();
    return dnf::installed_of(all.value());
}

Result<std::vector<std::string>> RpmManager::held() {
    return read_holds(options_.root);
}

Result<TaskResult> RpmManager::change(const Task& task, const Progress& progress,
                                      const std::stop_token& stop) {
    const MakeTask make = [&](std::chrono::seconds) {
        Task relayed = task;
        relayed.on_line = [&progress](std::string_view line) {
            const std::string said = dnf::progress_of(line);
            if (progress && !said.empty()) progress(said);
        };
        return relayed;
    };
    return run_when_free(runner_, make, locks(), progress, stop);
}

Result<void> RpmManager::must(const Task& task, const std::string& what, const Progress& progress,
                              const std::stop_token& stop) {
    const Result<TaskResult> result = change(task, progress, stop);
    if (!result) return result.error().within(what);
    if (result.value().success()) return {};
    return error_of(dnf::failure_of(result.value().output), what);
}

Result<dnf::Table> RpmManager::table(const Task& task, const std::string& what, const std::stop_token& stop) {
    const Result<TaskResult> result = change(task, {}, stop);
    if (!result) return result.error().within(what);
    if (const std::optional<dnf::Table> table = dnf::parse_table(result.value().output)) return *table;
    return error_of(dnf::failure_of(result.value().output), what);
}

Result<dnf::Table> RpmManager::simulate(const Wanted& wanted, const Progress& progress,
                                        const std::stop_token& stop) {
    const Task task = dnf::install_preview_task(dnf_, options_.root, wanted);
    Result<dnf::Table> found = table(task, what_of(wanted), stop);
    if (found || found.error().code != Code::missing) return found;
    // The index is old, or there is none yet.
    const Result<void> fresh = refresh(progress, stop);
    if (!fresh) return stop.stop_requested() ? fresh.error() : fresh.error().within(found.error().message);
    return table(task, what_of(wanted), stop);
}

Result<Preview> RpmManager::preview(const Wanted& wanted, const std::stop_token& stop) {
    if (wanted == Wanted{}) return Preview{};
    const Result<dnf::Table> found = simulate(wanted, {}, stop);
    if (!found) return found.error();
    return found.value().preview;
}

Result<std::vector<dnf::Package>> RpmManager::look_into(const std::vector<std::string>& files) {
    std::vector<dnf::Package> all;
    for (const std::string& file : files) {
        if (!file.starts_with('/')) return Error{Code::invalid, shown(file) + " is no absolute path"};
        const Result<Outcome> digests = query_(dnf::digests_query(file));
        if (!digests) return digests.error();
        const Result<Outcome> fields = query_(dnf::file_query(file));
        if (!fields) return fields.error();
        const bool whole = digests.value().success() && fields.value().success();
        const std::vector<dnf::Package> found =
            whole ? dnf::parse_packages(fields.value().output) : std::vector<dnf::Package>{};
        if (found.size() != 1) {
            const std::string said = last_line(digests.value().output);
            return error_of({Trouble::damaged, printable(said)}, file + " is damaged");
        }
        if (found[0].architecture != "noarch" && found[0].architecture != native_) {
            return Error{Code::invalid, file + " is for " + shown(found[0].architecture) +
                                            " and this machine is " + native_ + "; nothing was changed"};
        }
        all.push_back(found[0]);
    }
    return all;
}

Result<void> RpmManager::repair(const Progress& progress, const std::stop_token& stop) {
    const Locks all = locks();
    const Result<void> free =
        wait_until_free(all.held, std::chrono::steady_clock::now() + all.patience, progress, stop);
    if (!free) return free;
    const Result<std::vector<dnf::Package>> before = packages();
    if (!before) return before.error();
    const std::vector<std::string> older = names_of(dnf::left_behind(before.value()));
    if (older.empty()) return {};
    if (progress) progress("removing what an interrupted upgrade left: " + join(older, ", "));
    return must(dnf::erase_task(options_.root, older), "cannot remove " + join(older, " "), progress, stop);
}

Result<void> RpmManager::install(const Wanted& wanted, const Progress& progress,
                                 const std::stop_token& stop) {
    if (wanted == Wanted{}) return {};
    const Result<std::vector<dnf::Package>> files = look_into(wanted.files);
    if (!files) return files.error();
    if (const Result<void> repaired = repair(progress, stop); !repaired) return repaired;
    const std::string what = what_of(wanted);
    const Result<dnf::Table> plan = simulate(wanted, progress, stop);
    if (!plan) return plan.error();
    const auto refused = [&](const std::string& would, const std::vector<std::string>& names) {
        return Error{Code::conflict,
                     what + ": it would " + would + " " + join(names, ", ") +
                         "; nothing was changed; do that yourself if it is right, and try again"};
    };
    if (!plan.value().preview.removed.empty()) return refused("remove", plan.value().preview.removed);
    if (!plan.value().downgraded.empty()) return refused("downgrade", plan.value().downgraded);
    const Task task = dnf::install_task(dnf_, options_.root, wanted);
    Result<void> done = must(task, what, progress, stop);
    // Another dnf may empty the cache between download and transaction, and repositories drop files.
    if (!done && (done.error().code == Code::missing || done.error().code == Code::unavailable)) {
        const Result<void> fresh =
            stop.stop_requested() ? Result<void>(done.error()) : refresh(progress, stop);
        if (fresh) done = must(task, what, progress, stop);
    }
    if (!done) return done;
    const Result<Installed> after = installed();
    if (!after) return after.error();
    const auto check = [&](const std::string& name, const std::string& version) -> Result<void> {
        const auto found = after.value().versions.find(name);
        const bool there = found != after.value().versions.end();
        if (there && (version.empty() || found->second == version)) return {};
        return Error{Code::internal,
                     what + ": dnf reports success, but " + name + " is " +
                         (there ? "at " + found->second + " instead of " + version : "not installed")};
    };
    for (const dnf::Package& file : files.value()) {
        if (const Result<void> fine = check(file.name, file.version); !fine) return fine;
    }
    for (const std::string& name : wanted.names) {
        const std::size_t equals = std::min(name.find('='), name.size());
        const Result<void> fine =
            check(name.substr(0, equals), name.substr(std::min(equals + 1, name.size())));
        if (!fine) return fine;
    }
    return {};
}

Result<std::vector<std::string>> RpmManager::configuration_of(const std::vector<std::string>& names) {
    const Result<Outcome> files = query_(dnf::configuration_query(options_.root, names));
    if (!files) return files.error();
    std::vector<std::string> paths;
    for (const std::string_view line : split(files.value().output, '\n')) {
        if (line.starts_with('/')) paths.push_back(in_root(options_.root, std::string(line)));
    }
    return paths;
}

Result<void> RpmManager::remove(const std::vector<std::string>& names, const Progress& progress,
                                const std::stop_token& stop) {
    const Result<Installed> all = installed();
    if (!all) return all.error();
    const Result<std::vector<std::string>> holds = held();
    if (!holds) return holds.error();
    std::vector<std::string> there;
    for (const std::string& name : names) {
        if (!all.value().versions.contains(name)) continue;
        if (contains(holds.value(), name)) {
            return Error{
                Code::conflict,
                name + " is held and so not removed; to let go of it: dnf versionlock delete " + name};
        }
        there.push_back(name);
    }
    if (there.empty()) return {};
    const std::string what = "cannot remove " + join(there, " ");
    const Result<dnf::Table> plan = table(dnf::remove_preview_task(dnf_, options_.root, there), what, stop);
    if (!plan) return plan.error();
    std::vector<std::string> others = plan.value().preview.removed;
    std::erase_if(others, [&](const std::string& name) { return contains(there, name); });
    if (!others.empty()) {
        return Error{Code::conflict, what + ": " + join(others, ", ") +
                                         " would go with it; nothing was changed; "
                                         "remove that first if it is not needed any more"};
    }
    Result<std::vector<std::string>> configuration = configuration_of(there);
    if (!configuration) return configuration.error();
    // rpm leaves a changed file as .rpmsave. One that was there before is the admin's.
    std::erase_if(configuration.value(), [](const std::string& path) { return exists(path + ".rpmsave"); });
    const Result<void> gone = must(dnf::remove_task(dnf_, options_.root, there), what, progress, stop);
    if (!gone) return gone;
    for (const std::string& path : configuration.value()) ::unlink((path + ".rpmsave").c_str());
    return {};
}

Result<void> RpmManager::hold(const std::vector<std::string>& names, bool held_now,
                              const std::stop_token& stop) {
    const Result<Installed> all = installed();
    if (!all) return all.error();
    const Result<std::vector<std::string>> holds = held();
    if (!holds) return holds.error();
    std::vector<std::string> wanted;
    for (const std::string& name : names) {
        if (held_now && !all.value().versions.contains(name)) {
            return Error{Code::missing, "cannot hold " + name + ": it is not installed"};
        }
        if (contains(holds.value(), name) != held_now) wanted.push_back(name);
    }
    if (wanted.empty()) return {};
    const bool versionlock = dnf_.five || has_versionlock_plugin(options_.root);
    if (!held_now || !versionlock) {
        const Result<void> done = exclude_in_our_repositories(options_.root, wanted, held_now);
        if (!done || held_now) return done;
        const Result<std::vector<std::string>> left = held();
        if (!left) return left.error();
        std::erase_if(wanted, [&](const std::string& name) { return !contains(left.value(), name); });
        if (wanted.empty()) return {};
    }
    const std::string what = (held_now ? "cannot hold " : "cannot let go of ") + join(wanted, " ");
    const Result<void> done =
        must(dnf::versionlock_task(dnf_, options_.root, wanted, held_now), what, {}, stop);
    if (done && !held_now) remove_empty_lock_list(options_.root);
    return done;
}

}  // namespace llmgw::packages
