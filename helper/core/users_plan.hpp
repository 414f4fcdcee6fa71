// What llmgw's accounts mean for this machine: which users it has to make, lock and unlock, and which it must
// not touch. Pure; service/users.hpp gathers the facts and does it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/accounts.hpp"
#include "core/result.hpp"
#include "core/uid_ranges.hpp"
#include "core/user_files.hpp"
#include "core/value.hpp"

namespace llmgw {

// A user that we made, or are about to. Kept for good, an uninstall included: its number is nobody else's.
struct MadeUser {
    std::string login;
    Uid uid = 0;
    std::string email;
    std::string home;        // as it was written into passwd; nothing else in its place is ours
    bool locked = false;     // by us: only then it is ours to unlock
    bool ended = false;      // its sessions and jobs, since it was locked
    bool removed = false;    // by an uninstall
    bool home_made = false;  // seen by the machine that makes homes

    bool operator==(const MadeUser&) const = default;
};

// By number.
using UsersRecord = std::map<Uid, MadeUser>;

Value value_of(const UsersRecord& record);
// Error (invalid): another format, or not ours.
Result<UsersRecord> users_record_from(const Value& value);

struct UsersFacts {
    UserIndex known;
    UsersRecord record;
    std::string home_directory;               // homes are HOME_DIRECTORY/LOGIN
    bool makes_homes = false;                 // this machine does, for the cluster or for itself
    std::map<std::string, std::string> keys;  // login -> content of its file of keys
    std::map<std::string, std::string>
        elsewhere;  // names and numbers that other sources than files have: why
};

struct RefusedAccount {
    std::string email;
    std::string login;
    Uid uid = 0;
    std::string reason;  // one sentence, with what would help

    bool operator==(const RefusedAccount&) const = default;
};

struct UsersPlan {
    std::vector<UserChange> changes;
    UsersRecord record;  // as it is after the changes
    // Files of keys to be written and, where the content is empty, removed.
    std::map<std::string, std::string> keys;
    std::vector<MadeUser> homes;  // to be made
    std::vector<MadeUser> end;    // sessions and jobs to be ended
    std::vector<RefusedAccount> refused;
    UidRanges present;       // once all of this is done: accounts that are as they should be, active or not
    std::size_t active = 0;  // of them

    [[nodiscard]] bool nothing_to_do() const {
        return changes.empty() && keys.empty() && homes.empty() && end.empty();
    }
};

[[nodiscard]] UsersPlan plan_users(const std::vector<Account>& accounts, const UsersFacts& facts);

// Everything that we made is locked, and what is locked removed: for an uninstall.
[[nodiscard]] UsersPlan plan_removal(const UsersFacts& facts);

// What must be written before the changes, so that a helper that is killed in the middle knows afterwards
// which users are its own, and whose lock it may take off.
[[nodiscard]] UsersRecord record_before(const UsersPlan& plan, const UsersRecord& old);

// "2 users to make, 1 to lock; 1 refused": for people.
[[nodiscard]] std::string summary_of(const UsersPlan& plan);
// "number 200003 (ann@x.org): ..."
[[nodiscard]] std::string text_of(const RefusedAccount& refused);

}  // namespace llmgw
