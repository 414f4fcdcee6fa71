#include "service/users.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "json/accounts_json.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "posix/apply_edits.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"
#include "posix/process.hpp"
#include "posix/user_database.hpp"
#include "posix/user_processes.hpp"
#include "service/homes_task.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// People's addresses and keys.
constexpr mode_t only_root = 0600;
// sshd reads them as the user.
constexpr mode_t everyone_reads = 0644;
constexpr auto lock_patience = 15s;
constexpr std::int64_t seconds_a_day = 86400;
constexpr std::size_t keys_bytes = limits::ssh_keys * (limits::ssh_key_bytes + 1);
// Names and numbers in one question: what fits in a command line many times over.
constexpr std::size_t asked_at_once = 2000;
const std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};

// For a machine of which the settings say that its users come from llmgw.
bool makes_homes(const ResolvedSettings& settings, const std::string& machine) {
    switch (settings.shared) {
        case SharedSource::none:
            return true;
        case SharedSource::server:
            return machine == settings.shared_server;
        case SharedSource::nfs:
        case SharedSource::site:
            return machine == settings.controller;
    }
    return false;
}

std::map<std::string, std::string> read_keys(const std::string& directory) {
    std::map<std::string, std::string> keys;
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const Result<std::string> content = read_file(entry->path(), keys_bytes);
        // One that can't be read is written anew, or removed.
        keys[entry->path().filename()] = content ? content.value() : "?";
    }
    return keys;
}

// What is squashed is not said by the server, so the sentence says what to look for.
std::string with_remedy(const std::string& problem, SharedSource source) {
    const bool squashed = problem.find("Permission denied") != std::string::npos ||
                          problem.find("Operation not permitted") != std::string::npos;
    if (!squashed || source == SharedSource::none || source == SharedSource::server) return problem;
    return problem +
           "; root has no rights there (an NFS export squashes root): export it to the controller with "
           "no_root_squash, or make the home on the file server";
}

}  // namespace

Users::Users(UsersOptions options, TaskRunner& runner) : options_(std::move(options)), runner_(runner) {
    const Result<std::string> kept = read_file(accounts_path(), limits::accounts_bytes);
    if (!kept) return;
    ReadAccounts read = json::read_accounts_text(kept.value());
    if (read.ok()) accounts_ = std::move(read.accounts);
}

bool Users::take(std::vector<Account> accounts) {
    const std::lock_guard lock(mutex_);
    if (accounts_ && *accounts_ == accounts) return false;
    accounts_ = std::move(accounts);
    kept_ = false;
    return true;
}

void Users::keep_accounts() {
    std::vector<Account> accounts;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(kept_, true)) return;
        accounts = *accounts_;
    }
    const Result<void> kept = write_file_atomically(accounts_path(), json::dump(value_of(accounts)),
                                                    only_root, Durability::durable);
    if (!kept) log(Level::warning, kept.error().message);
}

bool Users::has_accounts() const {
    const std::lock_guard lock(mutex_);
    return accounts_.has_value();
}

std::vector<Account> Users::accounts() const {
    const std::lock_guard lock(mutex_);
    return accounts_.value_or(std::vector<Account>{});
}

Result<UsersRecord> Users::read_record() const {
    const Result<std::string> text = read_file(record_path(), limits::accounts_bytes);
    if (!text) return text.error().code == Code::missing ? Result<UsersRecord>(UsersRecord{}) : text.error();
    const std::string context = record_path() + ", which says which users llmgw-slurm made, is damaged";
    const Result<Value> value = json::parse(text.value(), {limits::accounts_bytes, limits::json_depth});
    if (!value) return value.error().within(context);
    Result<UsersRecord> record = users_record_from(value.value());
    return record ? std::move(record) : record.error().within(context);
}

Result<void> Users::write_record(const UsersRecord& record) const {
    return write_file_atomically(record_path(), json::dump(value_of(record)) + "\n", only_root,
                                 Durability::durable);
}

Result<Users::Looked> Users::look(const ResolvedSettings& settings) const {
    Result<UserFiles> files = read_user_files(options_.root);
    if (!files) return files.error();
    Result<UsersRecord> record = read_record();
    if (!record) return record.error();
    UsersFacts facts;
    facts.known = index_of(files.value());
    facts.record = std::move(record).value();
    facts.home_directory = settings.home_directory.empty() ? "/home" : settings.home_directory;
    facts.makes_homes = makes_homes(settings, options_.machine);
    facts.keys = read_keys(options_.root + options_.keys);
    return Looked{std::move(files).value(), std::move(facts)};
}

std::vector<std::string> Users::new_names(const UsersPlan& plan, const UsersFacts& facts) const {
    std::vector<std::string> names;
    if (!options_.root.empty()) return names;
    for (const UserChange& change : plan.changes) {
        if (change.kind != UserChange::Kind::create || facts.record.contains(change.uid)) continue;
        names.push_back(change.login);
        names.push_back(std::to_string(change.uid));
    }
    return names;
}

// LDAP and the like, of which passwd knows nothing. One that doesn't answer keeps nobody out: its users are
// checked again when it does.
void Users::ask_elsewhere(const std::vector<std::string>& asked, UsersFacts& facts) const {
    for (std::size_t begin = 0; begin < asked.size(); begin += asked_at_once) {
        const std::size_t end = std::min(asked.size(), begin + asked_at_once);
        for (const char* database : {"passwd", "group"}) {
            Command command;
            command.argv = {options_.getent, database};
            command.argv.insert(command.argv.end(), asked.begin() + static_cast<std::ptrdiff_t>(begin),
                                asked.begin() + static_cast<std::ptrdiff_t>(end));
            command.environment = environment;
            command.most_output = limits::edited_file_bytes;
            const Result<Outcome> ran = run(command);
            if (!ran) continue;
            for (const std::string_view line : split(ran.value().output, '\n')) {
                const std::vector<std::string_view> fields = split(line, ':');
                if (fields.size() < 3) continue;
                const std::string why = std::string("a ") + (database[0] == 'p' ? "user " : "group ") +
                                        shown(fields[0]) + " with number " + printable(fields[2]) +
                                        " comes from another source than /etc (see nsswitch.conf)";
                facts.elsewhere.emplace(fields[0], why);
                facts.elsewhere.emplace(fields[2], why);
            }
        }
    }
}

Result<UsersPlan> Users::plan(const ResolvedSettings& settings) {
    const std::lock_guard working(working_);
    if (!has_accounts()) return Error{Code::unavailable, "there are no accounts from the leader yet"};
    Result<Looked> looked = look(settings);
    if (!looked) return looked.error();
    UsersPlan plan = plan_users(accounts(), looked.value().facts);
    ask_elsewhere(new_names(plan, looked.value().facts), looked.value().facts);
    if (!looked.value().facts.elsewhere.empty()) plan = plan_users(accounts(), looked.value().facts);
    return plan;
}

Result<void> Users::write_keys(const std::map<std::string, std::string>& keys) const {
    const std::string directory = options_.root + options_.keys;
    if (keys.empty()) return {};
    if (Result<void> made = make_directories(directory, 0755); !made) return made;
    for (const auto& [login, content] : keys) {
        const std::string path = directory + "/" + login;
        // Not synced: one that a power failure cut is another one than it should be, and is written again.
        const Result<void> done =
            content.empty() ? remove_file(path)
                            : write_file_atomically(path, content, everyone_reads, Durability::volatile_);
        if (!done) return done;
    }
    return {};
}

// With the users' lock held from the look to the change, so that nobody gets in between.
Result<std::optional<UsersPlan>> Users::change_files(const ResolvedSettings& settings, bool removal,
                                                     const std::map<std::string, std::string>* elsewhere,
                                                     UsersRecord& before) {
    const Result<Descriptor> lock = lock_user_database(options_.root, lock_patience);
    if (!lock) return lock.error();
    Result<Looked> looked = look(settings);
    if (!looked) return looked.error();
    if (elsewhere != nullptr) looked.value().facts.elsewhere = *elsewhere;
    const UsersFacts& facts = looked.value().facts;
    UsersPlan plan = removal ? plan_removal(facts) : plan_users(accounts(), facts);
    if (elsewhere == nullptr && !new_names(plan, facts).empty()) return std::optional<UsersPlan>();
    before = facts.record;
    if (UsersRecord first = record_before(plan, facts.record); !(first == facts.record)) {
        if (const Result<void> kept = write_record(first); !kept) return kept.error();
        before = std::move(first);
    }
    // Keys go before the lock comes, and come after the user.
    std::map<std::string, std::string> gone;
    std::map<std::string, std::string> written;
    for (const auto& [login, content] : plan.keys) (content.empty() ? gone : written)[login] = content;
    if (const Result<void> done = write_keys(gone); !done) return done.error();
    if (!plan.changes.empty()) {
        const std::string shell = ::access(options_.shell.c_str(), X_OK) == 0 ? options_.shell : "/bin/sh";
        const UserFiles after =
            changed(looked.value().files, plan.changes, shell, std::time(nullptr) / seconds_a_day);
        const Result<void> done = apply_edits(edits_between(looked.value().files, after, options_.root));
        if (!done) return done.error();
    }
    if (const Result<void> done = write_keys(written); !done) return done.error();
    return std::optional<UsersPlan>(std::move(plan));
}

void Users::make_homes(const ResolvedSettings& settings, UsersPlan& plan, UsersOutcome& outcome,
                       const std::stop_token& stop) {
    if (plan.homes.empty()) return;
    HomesOrder order;
    order.directory = directory_of(plan.homes.front().home);
    const bool mounted = settings.shared == SharedSource::nfs || settings.shared == SharedSource::site;
    if (mounted) order.mounted = settings.shared_path;
    order.users = plan.homes;
    Result<std::map<std::string, std::string>> made =
        service::make_homes(order, options_.program, options_.state_dir + "/homes", runner_, stop);
    if (!made) outcome.problems.push_back(with_remedy(made.error().message, settings.shared));
    for (const MadeUser& user : plan.homes) {
        const bool failed = !made || made.value().contains(user.login);
        plan.record[user.uid].home_made = !failed;
        if (made && failed)
            outcome.problems.push_back(with_remedy(made.value()[user.login], settings.shared));
    }
}

// `jobs`: this is the controller, which can cancel them.
Result<void> Users::end(const MadeUser& user, bool jobs) const {
    const std::string number = std::to_string(user.uid);
    if (jobs && ::access(options_.scancel.c_str(), X_OK) == 0) {
        Command cancel{
            {options_.scancel, "--quiet", "--user=" + user.login}, environment, {}, {}, 10s, 65536};
        const Result<Outcome> ran = run(cancel);
        if (!ran) return ran.error().within("cannot cancel the jobs of " + user.login);
        if (!ran.value().success()) {
            return Error{Code::unavailable,
                         "cannot cancel the jobs of " + user.login + ": " + last_line(ran.value().output)};
        }
    }
    // systemd's manager for the user, which would start things anew.
    if (::access(("/run/systemd/users/" + number).c_str(), F_OK) == 0) {
        static_cast<void>(
            run({{options_.loginctl, "terminate-user", number}, environment, {}, {}, 10s, 65536}));
    }
    return end_processes_of(user.uid, limits::end_sessions);
}

void Users::end_all(const ResolvedSettings& settings, UsersPlan& plan, UsersOutcome& outcome,
                    const std::stop_token& stop) const {
    if (!options_.root.empty()) return;
    for (const MadeUser& user : plan.end) {
        if (stop.stop_requested()) return;
        const Result<void> ended = end(user, settings.controller == options_.machine);
        if (ended) {
            plan.record[user.uid].ended = !plan.record[user.uid].removed;
            continue;
        }
        outcome.problems.push_back(ended.error().message);
        // Slurm doesn't answer for one of them, so it won't for the next.
        if (ended.error().code != Code::timeout) return;
    }
}

Result<UsersOutcome> Users::apply(const ResolvedSettings& settings, const std::stop_token& stop) {
    const std::lock_guard working(working_);
    if (!has_accounts()) return Error{Code::unavailable, "there are no accounts from the leader yet"};
    UsersRecord before;
    Result<std::optional<UsersPlan>> changed = change_files(settings, false, nullptr, before);
    if (changed && !changed.value()) {
        // Without the lock: others may wait for it longer than a directory server takes.
        Result<Looked> looked = look(settings);
        if (!looked) return looked.error();
        UsersFacts& facts = looked.value().facts;
        ask_elsewhere(new_names(plan_users(accounts(), facts), facts), facts);
        changed = change_files(settings, false, &facts.elsewhere, before);
    }
    if (!changed) return changed.error();
    UsersPlan& plan = *changed.value();
    UsersOutcome outcome;
    outcome.changes = plan.changes.size() + plan.keys.size();
    make_homes(settings, plan, outcome, stop);
    end_all(settings, plan, outcome, stop);
    if (!(plan.record == before)) {
        if (const Result<void> kept = write_record(plan.record); !kept) return kept.error();
    }
    // Where homes are made: without one no job of theirs gets far.
    std::set<Uid> homeless;
    for (const MadeUser& user : plan.homes) {
        if (!plan.record[user.uid].home_made) homeless.insert(user.uid);
    }
    outcome.present = plan.present.without(homeless);
    outcome.active = plan.active;
    outcome.refused = std::move(plan.refused);
    keep_accounts();
    return outcome;
}

Result<std::vector<std::string>> Users::remove(const std::stop_token& stop) {
    const std::lock_guard working(working_);
    std::vector<std::string> left;
    const Result<UsersRecord> record = read_record();
    if (!record) return record.error();
    if (record.value().empty()) return left;
    // First what they run: a process whose user is gone is nobody's.
    const Result<Looked> looked = look({});
    if (!looked) return looked.error();
    UsersPlan ending = plan_removal(looked.value().facts);
    UsersOutcome outcome;
    end_all({}, ending, outcome, stop);
    if (!outcome.problems.empty()) return Error{Code::unavailable, outcome.problems.front()};
    UsersRecord before;
    const std::map<std::string, std::string> nowhere;
    const Result<std::optional<UsersPlan>> removed = change_files({}, true, &nowhere, before);
    if (!removed) return removed.error();
    if (const Result<void> kept = write_record(removed.value()->record); !kept) return kept.error();
    ::rmdir((options_.root + options_.keys).c_str());
    if (!removed.value()->changes.empty()) {
        left.push_back("the homes of " + std::to_string(removed.value()->changes.size()) +
                       " users were left, and their numbers stay known in " + record_path());
    }
    return left;
}

bool Users::did_anything() const {
    const Result<UsersRecord> record = read_record();
    return !record || std::any_of(record.value().begin(), record.value().end(),
                                  [](const auto& entry) { return !entry.second.removed; });
}

}  // namespace llmgw::service
