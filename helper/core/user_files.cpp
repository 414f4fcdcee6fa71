#include "core/user_files.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string_view>

#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

using Fields = std::vector<std::string>;
using Kind = UserChange::Kind;

constexpr std::size_t passwd_fields = 7;
constexpr std::size_t shadow_fields = 9;
constexpr std::size_t shadow_expires = 7;
// No password ever: "!" would be a locked user to sshd.
constexpr const char* no_password = "*";
// The first day of all: long over.
constexpr const char* expired = "1";

Fields fields_of(std::string_view line) {
    Fields fields;
    for (std::size_t begin = 0;;) {
        const std::size_t colon = line.find(':', begin);
        fields.emplace_back(line.substr(begin, colon - begin));
        if (colon == std::string_view::npos) return fields;
        begin = colon + 1;
    }
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

void each_line(std::string_view text, const std::function<void(std::string_view)>& act) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        act(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

// One pass over a file of lines that begin with a name. `edit` gets the name and the line without its end,
// may change it, and says whether it stays.
std::string rewritten(const std::string& text,
                      const std::function<bool(std::string_view name, std::string& line)>& edit,
                      const std::vector<std::string>& more) {
    std::string result;
    result.reserve(text.size() + more.size() * 64);
    bool added = false;
    const auto add = [&] {
        for (const std::string& line : more) result += line + "\n";
        added = true;
    };
    each_line(text, [&](std::string_view old) {
        // What stands behind NIS's line is not reached.
        if (!added && old.starts_with('+')) add();
        std::string line(old);
        if (edit(old.substr(0, old.find(':')), line)) result += line + "\n";
    });
    if (!added) add();
    return result;
}

void read_passwd(const std::string& text, UserIndex& index) {
    each_line(text, [&](std::string_view line) {
        const Fields fields = fields_of(line);
        KnownUser user;
        if (fields.size() < passwd_fields || !read_number(fields[2], user.uid)) return;
        read_number(fields[3], user.gid);
        user.home = fields[5];
        index.user_of.emplace(user.uid, fields[0]);
        index.users.emplace(fields[0], std::move(user));
    });
}

void read_group(const std::string& text, UserIndex& index) {
    each_line(text, [&](std::string_view line) {
        const Fields fields = fields_of(line);
        Uid gid = 0;
        if (fields.size() < 3 || !read_number(fields[2], gid)) return;
        index.group_of.emplace(gid, fields[0]);
        index.groups.emplace(fields[0], gid);
    });
}

void read_shadow(const std::string& text, UserIndex& index) {
    each_line(text, [&](std::string_view line) {
        const Fields fields = fields_of(line);
        const auto user = index.users.find(fields[0]);
        if (fields.size() < 2 || user == index.users.end() || !user->second.password.empty()) return;
        // An empty password is one that lets everybody in; it is no missing line.
        user->second.password = fields[1].empty() ? " " : fields[1];
        if (fields.size() > shadow_expires) user->second.expires = fields[shadow_expires];
    });
}

void read_ranges(const std::string& text, bool groups, UserIndex& index) {
    each_line(text, [&](std::string_view line) {
        const Fields fields = fields_of(line);
        SubordinateRange range;
        range.groups = groups;
        if (fields.size() < 3 || !read_number(fields[1], range.first) || !read_number(fields[2], range.count))
            return;
        range.owner = fields[0];
        index.ranges.push_back(std::move(range));
    });
}

using ByLogin = std::map<std::string, const UserChange*, std::less<>>;

ByLogin of_kind(const std::vector<UserChange>& changes, const std::set<Kind>& kinds) {
    ByLogin found;
    for (const UserChange& change : changes) {
        if (kinds.contains(change.kind)) found.emplace(change.login, &change);
    }
    return found;
}

// Of those to be created, which have no line in a file yet: one line each.
std::vector<std::string> missing_lines(const ByLogin& create, const std::string& text,
                                       const std::function<std::string(const UserChange&)>& line_of) {
    std::set<std::string, std::less<>> there;
    each_line(text, [&](std::string_view line) { there.emplace(line.substr(0, line.find(':'))); });
    std::vector<const UserChange*> wanted;
    for (const auto& [login, change] : create) {
        if (!there.contains(login)) wanted.push_back(change);
    }
    std::sort(wanted.begin(), wanted.end(),
              [](const UserChange* a, const UserChange* b) { return a->uid < b->uid; });
    std::vector<std::string> lines;
    for (const UserChange* change : wanted) lines.push_back(line_of(*change));
    return lines;
}

// One line of passwd, whatever somebody called themselves.
std::string comment_of(const std::string& email) {
    std::string text = printable(email);
    for (char& c : text) c = c == ':' || c == ',' ? '?' : c;
    return text;
}

void lock(std::string& line) {
    Fields fields = fields_of(line);
    fields.resize(std::max(fields.size(), shadow_fields));
    if (!fields[1].starts_with('!')) fields[1].insert(0, "!");
    fields[shadow_expires] = expired;
    line = join(fields, ":");
}

void unlock(std::string& line) {
    Fields fields = fields_of(line);
    fields.resize(std::max(fields.size(), shadow_fields));
    if (fields[1].starts_with('!')) fields[1].erase(0, 1);
    // Never a user without a password.
    if (fields[1].empty()) fields[1] = no_password;
    if (fields[shadow_expires] == expired) fields[shadow_expires].clear();
    line = join(fields, ":");
}

void set_home(std::string& line, const std::string& home) {
    Fields fields = fields_of(line);
    if (fields.size() < passwd_fields) return;
    fields[5] = home;
    line = join(fields, ":");
}

// Takes those who go out of the lists of members, which are all fields from `first` on.
void leave_groups(std::string& line, std::size_t first, const ByLogin& leaving) {
    Fields fields = fields_of(line);
    bool different = false;
    for (std::size_t i = first; i < fields.size(); ++i) {
        std::vector<std::string> staying;
        const std::vector<std::string_view> members = split(fields[i], ',');
        for (const std::string_view member : members) {
            if (leaving.find(member) == leaving.end()) staying.emplace_back(member);
        }
        different = different || staying.size() != members.size();
        if (staying.size() != members.size()) fields[i] = join(staying, ",");
    }
    if (different) line = join(fields, ":");
}

std::string changed_groups(const std::string& text, std::size_t members, const ByLogin& create,
                           const ByLogin& remove,
                           const std::function<std::string(const UserChange&)>& line_of) {
    return rewritten(
        text,
        [&](std::string_view name, std::string& line) {
            if (remove.find(name) != remove.end()) return false;
            if (!remove.empty()) leave_groups(line, members, remove);
            return true;
        },
        missing_lines(create, text, line_of));
}

void add_edit(FileEdits& edits, const std::string& path, const std::string& before,
              const std::string& after) {
    if (before == after) return;
    edits.push_back({path, before, after, 0600, false});
}

}  // namespace

UserIndex index_of(const UserFiles& files) {
    UserIndex index;
    read_passwd(files.passwd, index);
    read_group(files.group, index);
    read_shadow(files.shadow, index);
    read_ranges(files.subuid, false, index);
    read_ranges(files.subgid, true, index);
    return index;
}

UserFiles changed(UserFiles files, const std::vector<UserChange>& changes, const std::string& shell,
                  std::int64_t today) {
    if (changes.empty()) return files;
    const ByLogin create = of_kind(changes, {Kind::create});
    const ByLogin remove = of_kind(changes, {Kind::remove});
    const ByLogin locks = of_kind(changes, {Kind::lock});
    const ByLogin unlocks = of_kind(changes, {Kind::unlock});
    const ByLogin homes = of_kind(changes, {Kind::rehome});

    files.group = changed_groups(files.group, 3, create, remove, [](const UserChange& change) {
        return change.login + ":x:" + std::to_string(change.uid) + ":";
    });
    if (files.gshadow) {
        files.gshadow = changed_groups(*files.gshadow, 2, create, remove,
                                       [](const UserChange& change) { return change.login + ":!::"; });
    }
    files.shadow = rewritten(
        files.shadow,
        [&](std::string_view name, std::string& line) {
            if (locks.find(name) != locks.end()) lock(line);
            if (unlocks.find(name) != unlocks.end()) unlock(line);
            return remove.find(name) == remove.end();
        },
        missing_lines(create, files.shadow, [&](const UserChange& change) {
            return change.login + ":" + no_password + ":" + std::to_string(today) + "::::::";
        }));
    files.passwd = rewritten(
        files.passwd,
        [&](std::string_view name, std::string& line) {
            if (const auto home = homes.find(name); home != homes.end()) set_home(line, home->second->home);
            return remove.find(name) == remove.end();
        },
        missing_lines(create, files.passwd, [&](const UserChange& change) {
            const std::string number = std::to_string(change.uid);
            return change.login + ":x:" + number + ":" + number + ":" + comment_of(change.email) + ":" +
                   change.home + ":" + shell;
        }));
    return files;
}

FileEdits edits_between(const UserFiles& before, const UserFiles& after, const std::string& root) {
    FileEdits edits;
    add_edit(edits, root + "/etc/group", before.group, after.group);
    add_edit(edits, root + "/etc/gshadow", before.gshadow.value_or(""), after.gshadow.value_or(""));
    add_edit(edits, root + "/etc/shadow", before.shadow, after.shadow);
    add_edit(edits, root + "/etc/passwd", before.passwd, after.passwd);
    // Only who goes makes passwd shorter.
    if (after.passwd.size() < before.passwd.size()) std::reverse(edits.begin(), edits.end());
    return edits;
}

}  // namespace llmgw
