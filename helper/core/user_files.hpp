// passwd, group, shadow, gshadow, subuid and subgid as texts: what is in them, and what they are with changes
// of ours. Lines of others keep every byte.
//
// Why not shadow's tools: on one machine useradd took 0.2 s for each user, 500 of them 110 s, and usermod the
// same for each lock; systemd-sysusers is fast, but can't lock, and takes another number where the wanted one
// is taken meanwhile.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/file_edit.hpp"
#include "core/uid_ranges.hpp"

namespace llmgw {

struct UserFiles {
    std::string passwd;
    std::string group;
    std::string shadow;
    std::optional<std::string> gshadow;  // some systems have none
    std::string subuid;                  // empty: no file
    std::string subgid;

    bool operator==(const UserFiles&) const = default;
};

struct KnownUser {
    Uid uid = 0;
    Uid gid = 0;
    std::string home;
    std::string password;  // as in shadow; empty: no line there
    std::string expires;

    bool operator==(const KnownUser&) const = default;
};

struct SubordinateRange {
    std::string owner;
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    bool groups = false;  // of subgid

    [[nodiscard]] bool contains(Uid uid) const { return uid >= first && uid - first < count; }
};

// What the files say. Of lines with one name the first counts, as it does for getpwnam(3).
struct UserIndex {
    std::map<std::string, KnownUser> users;
    std::map<Uid, std::string> user_of;
    std::map<std::string, Uid> groups;
    std::map<Uid, std::string> group_of;
    std::vector<SubordinateRange> ranges;
};
[[nodiscard]] UserIndex index_of(const UserFiles& files);

struct UserChange {
    enum class Kind {
        create,  // or complete what is missing of it
        lock,    // expired, too: keys and cron ask for that
        unlock,
        rehome,
        remove,  // with its group, and out of all others
    };
    Kind kind = Kind::create;
    std::string login;
    Uid uid = 0;
    std::string email;
    std::string home;

    bool operator==(const UserChange&) const = default;
};

// `today`: days since 1970, for shadow.
[[nodiscard]] UserFiles changed(UserFiles files, const std::vector<UserChange>& changes,
                                const std::string& shell, std::int64_t today);

// From one to the other, in /etc below `root` ("" for /), in an order in which a user is seen only while all
// of it is there.
[[nodiscard]] FileEdits edits_between(const UserFiles& before, const UserFiles& after,
                                      const std::string& root);

}  // namespace llmgw
