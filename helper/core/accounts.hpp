// llmgw's accounts, as its leader has them: who is to be a user of the cluster.
#pragma once

#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/settings.hpp"
#include "core/uid_ranges.hpp"
#include "core/value.hpp"

namespace llmgw {

struct Account {
    std::string email;
    Uid uid = 0;
    bool active = false;
    std::vector<std::string> ssh_keys;  // "ssh-ed25519 AAAA... comment", one line each

    bool operator==(const Account&) const = default;
};

struct ReadAccounts {
    std::vector<Account> accounts;  // by number
    std::vector<SettingError> errors;

    [[nodiscard]] bool ok() const { return errors.empty(); }
};

// Every error at once, each with its key (`[3].email`): an unknown key, a wrong type, something missing, an
// address that is none, a number outside of llmgw's range, an address or a number twice, a key that is no
// public key or brings options.
[[nodiscard]] ReadAccounts read_accounts(const Value& document);

[[nodiscard]] Value value_of(const std::vector<Account>& accounts);

// What is wrong with a public key as a line of authorized_keys; empty: nothing.
[[nodiscard]] std::string ssh_key_problem(const std::string& key);

}  // namespace llmgw
