#include "core/accounts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/base64.hpp"
#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

// What OpenSSH 9 takes by default or with an option, but for DSA, which it dropped; no certificates: those
// belong to an authority.
constexpr std::array key_types{"ssh-ed25519",
                               "ssh-rsa",
                               "ecdsa-sha2-nistp256",
                               "ecdsa-sha2-nistp384",
                               "ecdsa-sha2-nistp521",
                               "sk-ssh-ed25519@openssh.com",
                               "sk-ecdsa-sha2-nistp256@openssh.com"};

bool is_base64(std::string_view text) {
    const std::size_t end = text.find_last_not_of('=');
    if (end == std::string_view::npos || text.size() % 4 != 0 || text.size() - end > 3) return false;
    return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                       [](char c) { return is_alphanumeric(c) || c == '+' || c == '/'; });
}

// RFC 4253: the blob begins with its type's name behind its length. `type` in base64, as far as whole groups
// go.
std::string blob_beginning(std::string_view type) {
    const std::string bytes = std::string(3, '\0') + static_cast<char>(type.size()) + std::string(type);
    return base64_of(std::string_view(bytes).substr(0, bytes.size() / 3 * 3));
}

bool is_email(std::string_view text) {
    const std::size_t at = text.find('@');
    if (text.size() > limits::email_bytes || at == std::string_view::npos || at == 0 ||
        at + 1 == text.size() || text.find('@', at + 1) != std::string_view::npos) {
        return false;
    }
    // It stands in passwd and in messages. Bytes of UTF-8 are left to the login's rule.
    return std::none_of(text.begin(), text.end(), [](char c) {
        return (c >= 0 && c <= ' ') || c == '\x7f' || c == ':' || c == ',' || c == '"' || c == '\\';
    });
}

std::string in_lower_case(std::string text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
}

class Reader {
  public:
    ReadAccounts read(const Value& document);

  private:
    void entry(const Value& value);
    void email(const Value* value, Account& account);
    void uid(const Value* value, Account& account);
    void active(const Value* value, Account& account);
    void keys(const Value* value, Account& account);
    void wrong_type(const std::string& key, const Value* value, const std::string& wanted);
    void error(const std::string& key, std::string message) {
        result_.errors.push_back({where_ + key, std::move(message), 0, 0});
    }

    std::string where_;
    std::map<std::string, std::string> emails_;  // and where
    std::map<Uid, std::string> uids_;
    ReadAccounts result_;
};

ReadAccounts Reader::read(const Value& document) {
    const Value::Array* entries = document.array();
    if (entries == nullptr) {
        error("", "accounts are a list, found " + described(document));
        return std::move(result_);
    }
    if (entries->size() > limits::accounts) {
        error("", "more than " + std::to_string(limits::accounts) + " accounts");
        return std::move(result_);
    }
    for (std::size_t i = 0; i < entries->size(); ++i) {
        where_ = "[" + std::to_string(i) + "]";
        entry((*entries)[i]);
    }
    std::sort(result_.accounts.begin(), result_.accounts.end(),
              [](const Account& a, const Account& b) { return a.uid < b.uid; });
    return std::move(result_);
}

void Reader::entry(const Value& value) {
    const Value::Object* members = value.object();
    if (members == nullptr) return wrong_type("", &value, "an object with email, uid, active, ssh_keys");
    for (const auto& member : *members) {
        const std::string& key = member.first;
        if (key != "email" && key != "uid" && key != "active" && key != "ssh_keys") {
            error("." + printable(key), "unknown key: known are email, uid, active, ssh_keys");
        }
    }
    Account account;
    email(value.find("email"), account);
    uid(value.find("uid"), account);
    active(value.find("active"), account);
    keys(value.find("ssh_keys"), account);
    result_.accounts.push_back(std::move(account));
}

void Reader::email(const Value* value, Account& account) {
    if (value == nullptr || value->text() == nullptr) return wrong_type(".email", value, "text");
    account.email = *value->text();
    if (!is_email(account.email)) {
        return error(".email",
                     shown(account.email) +
                         " is no e-mail address: use NAME@DOMAIN without blanks, quotes, commas and "
                         "colons, at most " +
                         std::to_string(limits::email_bytes) + " bytes");
    }
    const auto [first, is_new] = emails_.emplace(in_lower_case(account.email), where_);
    if (!is_new) error(".email", shown(account.email) + " is already " + first->second + ": keep one");
}

void Reader::uid(const Value* value, Account& account) {
    if (value == nullptr || value->integer() == nullptr) return wrong_type(".uid", value, "a whole number");
    const std::int64_t number = *value->integer();
    if (number < first_account_uid || number > last_account_uid) {
        return error(".uid", std::to_string(number) + " is outside of " + std::to_string(first_account_uid) +
                                 " to " + std::to_string(last_account_uid) +
                                 ", which is llmgw's (above it systemd has its containers' users)");
    }
    account.uid = static_cast<Uid>(number);
    const auto [first, is_new] = uids_.emplace(account.uid, where_);
    if (!is_new) error(".uid", std::to_string(number) + " is already " + first->second + "'s");
}

void Reader::active(const Value* value, Account& account) {
    if (value == nullptr || value->boolean() == nullptr) return wrong_type(".active", value, "true or false");
    account.active = *value->boolean();
}

void Reader::keys(const Value* value, Account& account) {
    if (value == nullptr) return;
    if (value->array() == nullptr) return wrong_type(".ssh_keys", value, "a list of public keys");
    if (value->array()->size() > limits::ssh_keys) {
        return error(".ssh_keys", "more than " + std::to_string(limits::ssh_keys) + " keys");
    }
    for (std::size_t i = 0; i < value->array()->size(); ++i) {
        const Value& key = (*value->array())[i];
        const std::string place = ".ssh_keys[" + std::to_string(i) + "]";
        if (key.text() == nullptr) {
            wrong_type(place, &key, "a public key in quotes");
        } else if (const std::string problem = ssh_key_problem(*key.text()); !problem.empty()) {
            error(place, problem);
        } else {
            account.ssh_keys.push_back(*key.text());
        }
    }
}

void Reader::wrong_type(const std::string& key, const Value* value, const std::string& wanted) {
    error(key, wanted + " is wanted, " + (value == nullptr ? "it is missing" : "found " + described(*value)));
}

}  // namespace

std::string ssh_key_problem(const std::string& key) {
    if (key.size() > limits::ssh_key_bytes) {
        return "a key of more than " + std::to_string(limits::ssh_key_bytes) + " bytes";
    }
    if (has_control_characters(key)) return "a key is one line, without tabs and control characters";
    const std::size_t blank = key.find(' ');
    const std::string type = key.substr(0, blank);
    if (std::find(key_types.begin(), key_types.end(), type) == key_types.end()) {
        return shown(type) +
               " is no type of a public key that is known: give the line of the .pub file, such as "
               "\"ssh-ed25519 AAAA...\", without options before it";
    }
    const std::string rest = blank == std::string::npos ? "" : key.substr(blank + 1);
    const std::string blob = rest.substr(0, rest.find(' '));
    if (!is_base64(blob) || !blob.starts_with(blob_beginning(type))) {
        return "what follows " + type +
               " is not a key of that type: is it cut, or another file than the .pub one?";
    }
    return {};
}

ReadAccounts read_accounts(const Value& document) {
    return Reader().read(document);
}

Value value_of(const std::vector<Account>& accounts) {
    Value::Array list;
    list.reserve(accounts.size());
    for (const Account& account : accounts) {
        Value::Array keys;
        for (const std::string& key : account.ssh_keys) keys.emplace_back(key);
        Value entry;
        entry.set("email", account.email).set("uid", std::int64_t{account.uid}).set("active", account.active);
        entry.set("ssh_keys", std::move(keys));
        list.push_back(std::move(entry));
    }
    return list;
}

}  // namespace llmgw
