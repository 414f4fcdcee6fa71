#include "packages/deb.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "packages/apt_commands.hpp"
#include "packages/in_root.hpp"

namespace llmgw::packages {
namespace {

// In the order in which apt takes them. The archives' lock is held while somebody downloads.
constexpr const char* lock_files[] = {"/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock",
                                      "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"};

Locks locks_of(const ManagerOptions& options) {
    Held held = [root = options.root]() -> std::optional<LockHolder> {
        for (const char* file : lock_files) {
            if (std::optional<LockHolder> holder = fcntl_holder(in_root(root, file))) return holder;
        }
        return std::nullopt;
    };
    return {std::move(held), apt::says_locked, options.lock_patience};
}

// "name=version" -> both; without a version it is empty.
std::pair<std::string, std::string> parts_of(const std::string& name) {
    const std::size_t equals = name.find('=');
    if (equals == std::string::npos) return {name, {}};
    return {name.substr(0, equals), name.substr(equals + 1)};
}

std::string what_of(const Wanted& wanted) {
    return "cannot install " + join(file_names(wanted), " ");
}

// What must be there afterwards: names and versions.
std::vector<std::pair<std::string, std::string>> expected(const Wanted& wanted,
                                                          const std::vector<apt::PackageFile>& files) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const apt::PackageFile& file : files) all.emplace_back(file.name, file.version);
    for (const std::string& name : wanted.names) all.push_back(parts_of(name));
    return all;
}

}  // namespace

DebManager::DebManager(TaskRunner& runner, ManagerOptions options, std::string native, Query query)
    : runner_(runner),
      options_(std::move(options)),
      native_(std::move(native)),
      query_(std::move(query)),
      locks_(locks_of(options_)) {}

Result<Outcome> DebManager::ask(const Command& command) {
    return query_(command);
}

// dpkg's database is this file and its journal, which is empty when nothing runs (interrupted()).
Result<std::vector<apt::State>> DebManager::states() {
    const std::string state =
        interrupted() ? "" : stamps_of({in_root(options_.root, "/var/lib/dpkg/status")});
    return states_.get("states", state, [&] { return read_states(); });
}

Result<std::vector<apt::State>> DebManager::read_states() {
    const Result<Outcome> outcome = ask(apt::states_query(options_.root));
    if (!outcome) return outcome.error();
    if (!outcome.value().success()) {
        return Error{Code::internal,
                     "dpkg-query can't read dpkg's database: " + shown(last_line(outcome.value().output))};
    }
    return apt::parse_states(outcome.value().output, native_);
}

// dpkg's journal: numbered files that its next run applies.
bool DebManager::interrupted() const {
    std::error_code ignored;
    const std::filesystem::directory_iterator files(in_root(options_.root, "/var/lib/dpkg/updates"), ignored);
    return std::any_of(begin(files), end(files), [](const std::filesystem::directory_entry& file) {
        return file.path().filename().string().find_first_not_of("0123456789") == std::string::npos;
    });
}

Result<Installed> DebManager::installed() {
    const Result<std::vector<apt::State>> all = states();
    if (!all) return all.error();
    return apt::installed_of(all.value(), interrupted());
}

Result<std::vector<std::string>> DebManager::held() {
    const Result<std::vector<apt::State>> all = states();
    if (!all) return all.error();
    return apt::held_of(all.value());
}

Result<TaskResult> DebManager::change(const MakeTask& make, const Progress& progress,
                                      const std::stop_token& stop) {
    const MakeTask relayed = [&](std::chrono::seconds left) {
        Task task = make(left);
        task.on_line = [&progress](std::string_view line) {
            const std::string said = apt::progress_of(line);
            if (progress && !said.empty()) progress(said);
        };
        return task;
    };
    return run_when_free(runner_, relayed, locks_, progress, stop);
}

Result<void> DebManager::must(const MakeTask& make, const std::string& what, const Progress& progress,
                              const std::stop_token& stop) {
    const Result<TaskResult> result = change(make, progress, stop);
    if (!result) return result.error().within(what);
    if (result.value().success()) return {};
    return error_of(apt::failure_of(result.value().output), what);
}

Result<void> DebManager::wait(const Progress& progress, const std::stop_token& stop) {
    return wait_until_free(locks_.held, std::chrono::steady_clock::now() + locks_.patience, progress, stop);
}

Result<Preview> DebManager::simulate(const Wanted& wanted, bool again, const Progress& progress,
                                     const std::stop_token& stop) {
    const Command simulation = apt::install_simulation(options_.root, wanted, again);
    Result<Outcome> outcome = ask(simulation);
    if (!outcome) return outcome.error();
    std::string also;
    if (!outcome.value().success() && apt::failure_of(outcome.value().output).trouble == Trouble::index) {
        // The index is old, or there is none yet. Some other source of the site's that fails is no reason to
        // stop.
        const Result<void> fresh = refresh(progress, stop);
        if (stop.stop_requested()) return fresh ? Error{Code::unavailable, "stopped"} : fresh.error();
        if (!fresh) also = " (" + fresh.error().message + ")";
        outcome = ask(simulation);
        if (!outcome) return outcome.error();
    }
    if (outcome.value().success()) return apt::parse_simulation(outcome.value().output);
    Failure failure = apt::failure_of(outcome.value().output);
    failure.reason += also;
    return error_of(failure, what_of(wanted));
}

Result<Preview> DebManager::preview(const Wanted& wanted, const std::stop_token& stop) {
    if (wanted == Wanted{}) return Preview{};
    return simulate(wanted, false, {}, stop);
}

Result<std::vector<apt::PackageFile>> DebManager::look_into(const std::vector<std::string>& files) {
    std::vector<apt::PackageFile> all;
    for (const std::string& file : files) {
        if (!file.starts_with('/')) return Error{Code::invalid, shown(file) + " is no absolute path"};
        const Result<Outcome> contents = ask(apt::contents_query(file));
        if (!contents) return contents.error();
        const Result<Outcome> fields = ask(apt::fields_query(file));
        if (!fields) return fields.error();
        const bool whole = contents.value().success() && fields.value().success();
        const std::optional<apt::PackageFile> found =
            whole ? apt::parse_fields(fields.value().output) : std::nullopt;
        if (!found) {
            return error_of({Trouble::damaged, last_line(contents.value().output)}, file + " is damaged");
        }
        if (found->architecture != "all" && found->architecture != native_) {
            return Error{Code::invalid, file + " is for " + shown(found->architecture) +
                                            " and this machine is " + native_ + "; nothing was changed"};
        }
        all.push_back(*found);
    }
    return all;
}

Result<void> DebManager::repair(const Progress& progress, const std::stop_token& stop) {
    if (const Result<void> free = wait(progress, stop); !free) return free;
    const Result<Installed> before = installed();
    if (!before) return before.error();
    if (before.value().broken.empty()) return {};
    if (progress) progress("finishing what was interrupted: " + join(before.value().broken, ", "));
    const Result<TaskResult> configured =
        change([&](auto) { return apt::configure_task(options_.root); }, progress, stop);
    if (!configured) return configured.error();
    const Result<TaskResult> fixed =
        change([&](auto left) { return apt::fix_task(options_.root, left); }, progress, stop);
    if (!fixed) return fixed.error();
    const Result<Installed> after = installed();
    if (!after) return after.error();
    if (after.value().broken.empty()) return {};
    const TaskResult& first = configured.value().success() ? fixed.value() : configured.value();
    return Error{Code::internal, "dpkg could not finish " + join(after.value().broken, ", ") + ": " +
                                     apt::failure_of(first.output).reason +
                                     "; see what is wrong with that package and run: dpkg --configure -a"};
}

Result<void> DebManager::install(const Wanted& wanted, const Progress& progress,
                                 const std::stop_token& stop) {
    if (wanted == Wanted{}) return {};
    const Result<std::vector<apt::PackageFile>> files = look_into(wanted.files);
    if (!files) return files.error();
    // What can't be repaired may be what one of the files brings anew.
    const Result<void> repaired = repair(progress, stop);
    if (!repaired && (repaired.error().code != Code::internal || stop.stop_requested())) return repaired;
    const auto and_repair = [&](const Error& error) {
        return repaired ? error
                        : Error{error.code, error.message + "; before that, " + repaired.error().message};
    };
    const std::string what = what_of(wanted);
    const Result<std::vector<apt::State>> before = states();
    if (!before) return before.error();
    const auto needed = expected(wanted, files.value());
    // apt takes a package for installed of which dpkg has lost half.
    const bool again = std::any_of(needed.begin(), needed.end(), [&](const auto& package) {
        const apt::State* state = apt::find_state(before.value(), package.first);
        return state != nullptr && state->damaged;
    });
    const Result<Preview> plan = simulate(wanted, again, progress, stop);
    if (!plan) return and_repair(plan.error());
    if (!plan.value().removed.empty()) {
        return Error{Code::conflict,
                     what + ": it would remove " + join(plan.value().removed, ", ") +
                         "; nothing was changed; if that is not needed, remove it and try again"};
    }
    const MakeTask make = [&](auto left) { return apt::install_task(options_.root, wanted, again, left); };
    Result<void> done = must(make, what, progress, stop);
    // A file that the index has and the repository no longer; what came already is kept by apt.
    if (!done && done.error().code == Code::missing) {
        const Result<void> fresh = refresh(progress, stop);
        if (!fresh && stop.stop_requested()) return fresh;
        done = must(make, what, progress, stop);
    }
    if (!done) return and_repair(done.error());
    const Result<Installed> after = installed();
    if (!after) return after.error();
    for (const auto& [name, version] : needed) {
        const auto found = after.value().versions.find(name);
        const bool there = found != after.value().versions.end();
        if (there && (version.empty() || found->second == version)) continue;
        return Error{Code::internal,
                     what + ": apt-get reports success, but " + name + " is " +
                         (there ? "at " + found->second + " instead of " + version : "not installed")};
    }
    return {};
}

Result<void> DebManager::remove(const std::vector<std::string>& names, const Progress& progress,
                                const std::stop_token& stop) {
    if (const Result<void> free = wait(progress, stop); !free) return free;
    const Result<std::vector<apt::State>> all = states();
    if (!all) return all.error();
    std::vector<std::string> there;
    std::vector<std::string> damaged;
    for (const std::string& name : names) {
        const apt::State* state = apt::find_state(all.value(), name);
        if (state == nullptr || !state->there()) continue;
        if (state->held()) {
            return Error{Code::conflict,
                         name + " is held and so not removed; to let go of it: apt-mark unhold " + name};
        }
        (state->damaged ? damaged : there).push_back(name);
    }
    if (!damaged.empty()) {
        const Result<void> gone = must([&](auto) { return apt::forced_purge_task(options_.root, damaged); },
                                       "cannot remove " + join(damaged, " "), progress, stop);
        if (!gone) return gone;
    }
    if (there.empty()) return {};
    const std::string what = "cannot remove " + join(there, " ");
    const Result<Outcome> outcome = ask(apt::purge_simulation(options_.root, there));
    if (!outcome) return outcome.error();
    if (!outcome.value().success()) return error_of(apt::failure_of(outcome.value().output), what);
    std::vector<std::string> others = apt::parse_simulation(outcome.value().output).removed;
    std::erase_if(others, [&](const std::string& name) {
        return std::find(there.begin(), there.end(), name) != there.end();
    });
    if (!others.empty()) {
        return Error{Code::conflict, what + ": " + join(others, ", ") +
                                         " would go with it; nothing was changed; "
                                         "remove that first if it is not needed any more"};
    }
    return must([&](auto left) { return apt::purge_task(options_.root, there, left); }, what, progress, stop);
}

Result<void> DebManager::hold(const std::vector<std::string>& names, bool held, const std::stop_token& stop) {
    const Result<std::vector<apt::State>> all = states();
    if (!all) return all.error();
    std::vector<std::string> wanted;
    for (const std::string& name : names) {
        const apt::State* state = apt::find_state(all.value(), name);
        if (held &&
            (state == nullptr || state->status == "not-installed" || state->status == "config-files")) {
            return Error{Code::missing, "cannot hold " + name + ": it is not installed"};
        }
        if (state != nullptr && state->held() != held) wanted.push_back(name);
    }
    if (wanted.empty()) return {};
    return must([&](auto) { return apt::hold_task(options_.root, wanted, held); },
                (held ? "cannot hold " : "cannot let go of ") + join(wanted, " "), {}, stop);
}

}  // namespace llmgw::packages
