#include "core/users_plan.hpp"

#include <algorithm>
#include <set>

#include "core/login.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

using Kind = UserChange::Kind;

bool same_address(const std::string& a, const std::string& b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

std::string lines_of(const std::vector<std::string>& keys) {
    std::string text;
    for (const std::string& key : keys) text += key + "\n";
    return text;
}

class Planner {
  public:
    explicit Planner(const UsersFacts& facts) : facts_(facts) {
        plan_.record = facts.record;
        for (const auto& [uid, user] : facts.record) owner_of_.emplace(user.login, uid);
    }

    UsersPlan plan(const std::vector<Account>& accounts);
    UsersPlan removal();

  private:
    void account(const Account& account, const std::string& login);
    void active(const Account& account, const std::string& login);
    void inactive(MadeUser& user);
    [[nodiscard]] std::string problem(const Account& account, const std::string& login) const;
    [[nodiscard]] std::string taken(const std::string& login, Uid uid, bool ours) const;
    [[nodiscard]] std::string within_a_range(Uid uid) const;
    [[nodiscard]] const KnownUser* there(const MadeUser& user) const;
    void change(Kind kind, const MadeUser& user) {
        plan_.changes.push_back({kind, user.login, user.uid, user.email, user.home});
    }
    void keys(const std::string& login, const std::string& wanted) {
        const auto found = facts_.keys.find(login);
        if ((found == facts_.keys.end() ? "" : found->second) != wanted) plan_.keys[login] = wanted;
    }

    const UsersFacts& facts_;
    std::map<std::string, Uid> owner_of_;  // of logins, in the record
    std::vector<Uid> present_;
    std::set<std::string> with_keys_;
    UsersPlan plan_;
};

const KnownUser* Planner::there(const MadeUser& user) const {
    const auto found = facts_.known.users.find(user.login);
    return found == facts_.known.users.end() || found->second.uid != user.uid ? nullptr : &found->second;
}

std::string Planner::within_a_range(Uid uid) const {
    for (const SubordinateRange& range : facts_.known.ranges) {
        if (!range.contains(uid)) continue;
        const std::string file = range.groups ? "/etc/subgid" : "/etc/subuid";
        return "number " + std::to_string(uid) + " is in " + shown(range.owner) + "'s range of " + file +
               " (" + std::to_string(range.first) + ":" + std::to_string(range.count) +
               "), so that containers of theirs would have it: give them another one (usermod --del-subuids, "
               "--add-subuids)";
    }
    return {};
}

// `ours`: the record says that we made it, or began to.
std::string Planner::taken(const std::string& login, Uid uid, bool ours) const {
    const UserIndex& known = facts_.known;
    const std::string number = std::to_string(uid);
    const std::string remedy =
        "; it is not llmgw's, and nothing was changed: rename or renumber it, or give "
        "this account another number";
    if (const auto user = known.users.find(login);
        user != known.users.end() && (user->second.uid != uid || !ours)) {
        return "a user " + login + " is there already, with number " + std::to_string(user->second.uid) +
               remedy;
    }
    if (const auto user = known.user_of.find(uid);
        user != known.user_of.end() && (user->second != login || !ours)) {
        return "number " + number + " is the user " + shown(user->second) + "'s already" + remedy;
    }
    if (const auto group = known.groups.find(login);
        group != known.groups.end() && (group->second != uid || !ours)) {
        return "a group " + login + " is there already, with number " + std::to_string(group->second) +
               remedy;
    }
    if (const auto group = known.group_of.find(uid);
        group != known.group_of.end() && (group->second != login || !ours)) {
        return "number " + number + " is the group " + shown(group->second) + "'s already" + remedy;
    }
    for (const std::string& what : {login, number}) {
        const auto other = facts_.elsewhere.find(what);
        if (!ours && other != facts_.elsewhere.end()) return other->second + remedy;
    }
    return {};
}

std::string Planner::problem(const Account& account, const std::string& login) const {
    const auto known = facts_.record.find(account.uid);
    const bool ours = known != facts_.record.end();
    if (ours && !same_address(known->second.email, account.email)) {
        return "number " + std::to_string(account.uid) + " was given to " + shown(known->second.email) +
               ", and a number is never used again: give this account a new one";
    }
    if (const auto owner = owner_of_.find(login); owner != owner_of_.end() && owner->second != account.uid) {
        return "the login " + login + " is that of number " + std::to_string(owner->second) +
               ": an account keeps its number";
    }
    if (std::string reason = taken(login, account.uid, ours && !known->second.removed); !reason.empty())
        return reason;
    return within_a_range(account.uid);
}

void Planner::active(const Account& account, const std::string& login) {
    MadeUser& user = plan_.record[account.uid];
    const KnownUser* found = user.login.empty() || user.removed ? nullptr : there(user);
    const std::string home = facts_.home_directory + "/" + login;
    if (user.login.empty()) user = {login, account.uid, account.email, home, false, false, false, false};
    user.removed = false;
    const bool complete = found != nullptr && !found->password.empty() && facts_.known.groups.contains(login);
    if (!complete) {
        if (found == nullptr) user.home = home;
        change(Kind::create, user);
    }
    // Another home than the one that we wrote is an admin's.
    if (found != nullptr && found->home == user.home && user.home != home) {
        user.home = home;
        user.home_made = false;
        change(Kind::rehome, user);
    }
    if (user.locked) {
        user.locked = user.ended = false;
        change(Kind::unlock, user);
    }
    if (facts_.makes_homes && !user.home_made) plan_.homes.push_back(user);
    keys(login, lines_of(account.ssh_keys));
    with_keys_.insert(login);
    ++plan_.active;
}

void Planner::inactive(MadeUser& user) {
    if (user.removed) return;
    const KnownUser* found = there(user);
    if (found == nullptr) return;
    if (!user.locked || !found->password.starts_with('!') || found->expires != "1") {
        user.locked = true;
        user.ended = false;
        change(Kind::lock, user);
    }
    if (!user.ended) plan_.end.push_back(user);
}

void Planner::account(const Account& account, const std::string& login) {
    const auto known = plan_.record.find(account.uid);
    // Nobody's here, and so nothing to lock: only its number is not to be given to another.
    if (!account.active && known == plan_.record.end()) {
        present_.push_back(account.uid);
        return;
    }
    if (std::string reason = problem(account, login); !reason.empty()) {
        // Whatever is there stays, for a user that we made before the problem, too.
        if (known != plan_.record.end()) with_keys_.insert(login);
        plan_.refused.push_back({account.email, login, account.uid, std::move(reason)});
        return;
    }
    present_.push_back(account.uid);
    if (account.active) {
        active(account, login);
    } else {
        inactive(known->second);
    }
}

UsersPlan Planner::plan(const std::vector<Account>& accounts) {
    std::set<Uid> listed;
    std::vector<LoginOwner> owners;
    for (const Account& each : accounts) {
        owners.push_back({each.email, each.uid});
        listed.insert(each.uid);
    }
    // Those that are in no list any more keep their logins from others.
    for (const auto& [uid, user] : facts_.record) {
        if (!listed.contains(uid)) owners.push_back({user.email, uid});
    }
    const std::vector<std::string> logins = logins_of(owners);
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        const auto known = facts_.record.find(accounts[i].uid);
        account(accounts[i], known == facts_.record.end() ? logins[i] : known->second.login);
    }
    for (auto& [uid, user] : plan_.record) {
        if (!listed.contains(uid)) inactive(user);
    }
    for (const auto& [login, content] : facts_.keys) {
        if (!with_keys_.contains(login)) keys(login, "");
    }
    plan_.present = UidRanges(std::move(present_));
    return std::move(plan_);
}

UsersPlan Planner::removal() {
    for (auto& [uid, user] : plan_.record) {
        if (user.removed) continue;
        if (there(user) != nullptr) {
            plan_.end.push_back(user);
            change(Kind::remove, user);
        }
        user.removed = true;
        user.locked = user.ended = user.home_made = false;
    }
    for (const auto& [login, content] : facts_.keys) plan_.keys[login] = "";
    return std::move(plan_);
}

std::string counted(std::size_t number, const char* what) {
    return std::to_string(number) + " " + what;
}

}  // namespace

UsersPlan plan_users(const std::vector<Account>& accounts, const UsersFacts& facts) {
    return Planner(facts).plan(accounts);
}

UsersPlan plan_removal(const UsersFacts& facts) {
    return Planner(facts).removal();
}

UsersRecord record_before(const UsersPlan& plan, const UsersRecord& old) {
    UsersRecord record = plan.record;
    for (auto& [uid, user] : record) {
        const auto known = old.find(uid);
        if (known == old.end()) continue;
        user.locked = user.locked || known->second.locked;
        user.removed = user.removed && known->second.removed;
    }
    return record;
}

std::string summary_of(const UsersPlan& plan) {
    std::map<Kind, std::size_t> count;
    for (const UserChange& change : plan.changes) ++count[change.kind];
    std::vector<std::string> parts;
    for (const auto& [kind, what] : {std::pair{Kind::create, "to make"},
                                     {Kind::lock, "to lock"},
                                     {Kind::unlock, "to unlock"},
                                     {Kind::rehome, "with another home"},
                                     {Kind::remove, "to remove"}}) {
        if (count[kind] > 0) parts.push_back(counted(count[kind], what));
    }
    if (!plan.keys.empty()) parts.push_back(counted(plan.keys.size(), "with other keys"));
    if (!plan.homes.empty()) parts.push_back(counted(plan.homes.size(), "without a home yet"));
    if (!plan.end.empty()) parts.push_back(counted(plan.end.size(), "whose sessions are to be ended"));
    if (parts.empty()) parts.push_back(counted(plan.active, "are there"));
    std::string text = "users: " + join(parts, ", ");
    if (!plan.refused.empty()) {
        text += "; " + counted(plan.refused.size(), "refused: ") + text_of(plan.refused.front());
        if (plan.refused.size() > 1) text += "; and others";
    }
    return text;
}

std::string text_of(const RefusedAccount& refused) {
    return "number " + std::to_string(refused.uid) + " (" + printable(refused.email) + "): " + refused.reason;
}

}  // namespace llmgw
