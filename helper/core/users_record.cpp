// The record of users that we made, as a document.
#include "core/users_plan.hpp"

namespace llmgw {
namespace {

constexpr const char* format = "llmgw-slurm-users 1";

bool flag(const Value& value, const char* key) {
    const Value* found = value.find(key);
    return found != nullptr && found->boolean() != nullptr && *found->boolean();
}

bool text(const Value& value, const char* key, std::string& into) {
    const Value* found = value.find(key);
    if (found == nullptr || found->text() == nullptr) return false;
    into = *found->text();
    return true;
}

bool read_user(const Value& value, MadeUser& user) {
    const Value* uid = value.find("uid");
    if (uid == nullptr || uid->integer() == nullptr || *uid->integer() < first_account_uid ||
        *uid->integer() > last_account_uid) {
        return false;
    }
    user.uid = static_cast<Uid>(*uid->integer());
    user.locked = flag(value, "locked");
    user.ended = flag(value, "ended");
    user.removed = flag(value, "removed");
    user.home_made = flag(value, "home_made");
    return text(value, "login", user.login) && text(value, "email", user.email) &&
           text(value, "home", user.home);
}

}  // namespace

Value value_of(const UsersRecord& record) {
    Value::Array users;
    for (const auto& [uid, user] : record) {
        Value entry;
        entry.set("login", user.login).set("uid", std::int64_t{uid}).set("email", user.email);
        entry.set("home", user.home).set("locked", user.locked).set("ended", user.ended);
        entry.set("removed", user.removed).set("home_made", user.home_made);
        users.push_back(std::move(entry));
    }
    Value value;
    value.set("format", format).set("users", std::move(users));
    return value;
}

Result<UsersRecord> users_record_from(const Value& value) {
    std::string said;
    if (!text(value, "format", said) || said != format) {
        return Error{Code::invalid, std::string("is not of the format \"") + format + "\""};
    }
    const Value* users = value.find("users");
    if (users == nullptr || users->array() == nullptr) return Error{Code::invalid, "has no list of users"};
    UsersRecord record;
    for (const Value& entry : *users->array()) {
        MadeUser user;
        if (!read_user(entry, user)) return Error{Code::invalid, "has a user that is none"};
        const Uid uid = user.uid;
        if (!record.emplace(uid, std::move(user)).second) {
            return Error{Code::invalid, "has the number " + std::to_string(uid) + " twice"};
        }
    }
    return record;
}

}  // namespace llmgw
