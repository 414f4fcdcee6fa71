// Attack surface: llmgw's accounts, which come over the network or from a file that people edit, and become
// lines of passwd, names of files that root writes, and what sshd lets in. Whatever the bytes are, reading
// them ends, and either refuses with printable one-line errors or gives accounts whose users keep every
// promise of core/users_plan.hpp and core/user_files.hpp. The corpus runs as an ordinary test too.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "core/login.hpp"
#include "core/names.hpp"
#include "core/users_plan.hpp"
#include "fuzz/promise.hpp"
#include "json/accounts_json.hpp"

namespace llmgw::fuzz {

inline void check_users(const std::vector<Account>& accounts) {
    UserFiles files{"root:x:0:0::/root:/bin/sh\n", "root:x:0:\n", "root:*:1::::::\n", "root:*::\n", "", ""};
    UsersFacts facts;
    facts.known = index_of(files);
    facts.home_directory = "/home";
    const UsersPlan plan = plan_users(accounts, facts);
    must(plan.refused.empty());
    std::set<std::string> logins;
    for (const UserChange& change : plan.changes) {
        must(is_login(change.login) && logins.insert(change.login).second);
        must(change.login != "root" && change.home == "/home/" + change.login);
    }
    for (const auto& [login, content] : plan.keys) must(logins.contains(login) && content.ends_with('\n'));
    const UserFiles after = changed(files, plan.changes, "/bin/sh", 1);
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    const auto wanted = static_cast<std::ptrdiff_t>(plan.changes.size()) + 1;
    must(lines(after.passwd) == wanted && lines(after.group) == wanted && lines(after.shadow) == wanted);
    facts.known = index_of(after);
    must(facts.known.users.size() == logins.size() + 1);
    facts.record = plan.record;
    facts.keys = plan.keys;
    must(plan_users(accounts, facts).nothing_to_do());
    must(changed(after, plan_removal(facts).changes, "/bin/sh", 1) == files);
}

inline void accounts(std::string_view text) {
    const ReadAccounts read = json::read_accounts_text(text);
    for (const SettingError& error : read.errors) {
        must(one_printable_line(error.key) && one_printable_line(error.message) && !error.message.empty());
    }
    if (!read.ok()) return;
    must(read_accounts(value_of(read.accounts)).accounts == read.accounts);
    for (const Account& account : read.accounts) {
        must(account.uid >= first_account_uid && account.uid <= last_account_uid);
        for (const std::string& key : account.ssh_keys)
            must(one_printable_line(key) && ssh_key_problem(key).empty());
    }
    check_users(read.accounts);
}

}  // namespace llmgw::fuzz
