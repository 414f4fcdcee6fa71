// Makes the users of this machine what llmgw's accounts say (core/users_plan.hpp), and takes them back. Waits
// for files and programs: not for an event loop. Callable from several threads, one at a time works.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/settings.hpp"
#include "core/task_runner.hpp"
#include "core/users_plan.hpp"

namespace llmgw::service {

struct UsersOptions {
    std::string root;  // of /etc; "" for /
    std::string state_dir = "/var/lib/llmgw-slurm";
    std::string keys = "/etc/ssh/llmgw-slurm/keys";
    std::string machine;
    std::string program;  // this helper, which makes homes in a process of its own
    std::string shell = "/bin/bash";
    std::string getent = "/usr/bin/getent";
    std::string loginctl = "/usr/bin/loginctl";
    std::string scancel = "/usr/bin/scancel";
};

struct UsersOutcome {
    UidRanges present;  // accounts that are on this machine as they should be
    std::size_t active = 0;
    std::vector<RefusedAccount> refused;
    std::vector<std::string> problems;  // what could not be done, and is tried again
    std::size_t changes = 0;

    bool operator==(const UsersOutcome&) const = default;
};

class Users {
  public:
    // `runner` must outlive it. Takes up the accounts that an earlier helper kept.
    Users(UsersOptions options, TaskRunner& runner);

    // What apply() and plan() go by from now on; apply() keeps them for a start without the leader. False:
    // they are the same.
    bool take(std::vector<Account> accounts);
    [[nodiscard]] bool has_accounts() const;
    [[nodiscard]] std::vector<Account> accounts() const;

    // Looks, and changes nothing. Error (unavailable): there are no accounts yet.
    Result<UsersPlan> plan(const ResolvedSettings& settings);
    // An error is one that kept all of it from being done; what failed for one user is in the outcome.
    Result<UsersOutcome> apply(const ResolvedSettings& settings, const std::stop_token& stop);
    // Removes the users that we made, and their keys; homes stay, and their numbers are remembered.
    Result<std::vector<std::string>> remove(const std::stop_token& stop);
    // Whether there is anything to take back.
    [[nodiscard]] bool did_anything() const;

  private:
    struct Looked {
        UserFiles files;
        UsersFacts facts;
    };

    Result<Looked> look(const ResolvedSettings& settings) const;
    Result<UsersRecord> read_record() const;
    Result<void> write_record(const UsersRecord& record) const;
    // Names and numbers of users that are new on this machine: others than /etc may know them.
    [[nodiscard]] std::vector<std::string> new_names(const UsersPlan& plan, const UsersFacts& facts) const;
    void ask_elsewhere(const std::vector<std::string>& names, UsersFacts& facts) const;
    // `elsewhere` null: nobody was asked yet. Nothing: somebody has to be, and nothing was changed.
    Result<std::optional<UsersPlan>> change_files(const ResolvedSettings& settings, bool removal,
                                                  const std::map<std::string, std::string>* elsewhere,
                                                  UsersRecord& before);
    Result<void> write_keys(const std::map<std::string, std::string>& keys) const;
    void make_homes(const ResolvedSettings& settings, UsersPlan& plan, UsersOutcome& outcome,
                    const std::stop_token& stop);
    void end_all(const ResolvedSettings& settings, UsersPlan& plan, UsersOutcome& outcome,
                 const std::stop_token& stop) const;
    [[nodiscard]] Result<void> end(const MadeUser& user, bool jobs) const;
    void keep_accounts();
    [[nodiscard]] std::string record_path() const { return options_.state_dir + "/users.json"; }
    [[nodiscard]] std::string accounts_path() const { return options_.state_dir + "/accounts.json"; }

    const UsersOptions options_;
    TaskRunner& runner_;
    std::mutex working_;
    mutable std::mutex mutex_;  // of what follows, and never held for long
    std::optional<std::vector<Account>> accounts_;
    bool kept_ = true;
};

}  // namespace llmgw::service
