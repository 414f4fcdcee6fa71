#include "core/login.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/limits.hpp"

namespace llmgw {
namespace {

// Users and groups of Debian's and Red Hat's base systems and of what clusters run, and those whose members
// have rights.
constexpr std::array reserved{
    "abrt",       "adm",        "admin",      "administrator", "apache",    "apt",      "audio",
    "avahi",      "backup",     "bin",        "bluetooth",     "cdrom",     "ceph",     "chrony",
    "cockpit",    "crontab",    "daemon",     "dba",           "dialout",   "dip",      "disk",
    "dnsmasq",    "docker",     "enroot",     "fax",           "floppy",    "ftp",      "fuse",
    "games",      "geoclue",    "gdm",        "gnats",         "halt",      "haproxy",  "http",
    "input",      "irc",        "kmem",       "kvm",           "landscape", "libvirt",  "list",
    "lock",       "lp",         "lpadmin",    "lxc",           "lxd",       "mail",     "man",
    "mem",        "messagebus", "microk8s",   "munge",         "mysql",     "netdev",   "network",
    "news",       "nfsnobody",  "nginx",      "nobody",        "nogroup",   "ntp",      "nvidia",
    "operator",   "pcp",        "plugdev",    "podman",        "polkitd",   "postfix",  "postgres",
    "postmaster", "power",      "prometheus", "proxy",         "pyxis",     "radiusd",  "redis",
    "render",     "root",       "rpc",        "rpcuser",       "rtkit",     "saned",    "sasl",
    "scanner",    "sgx",        "shadow",     "shutdown",      "slocate",   "slurm",    "slurmrestd",
    "src",        "ssh",        "sshd",       "sssd",          "staff",     "statd",    "storage",
    "sudo",       "sync",       "sys",        "syslog",        "tape",      "tcpdump",  "tss",
    "tty",        "ubuntu",     "usbmux",     "user",          "users",     "utempter", "utmp",
    "uucp",       "uuidd",      "vboxusers",  "video",         "voice",     "wheel",    "wireshark",
    "www",        "www-data"};
constexpr std::array reserved_beginnings{"systemd-", "dbus", "debian", "llmgw", "libvirt-", "qemu", "ssh-"};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_letter(char c) {
    return c >= 'a' && c <= 'z';
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

void cut(std::string& text, std::size_t most) {
    if (text.size() > most) text.resize(most);
    while (!text.empty() && text.back() == '-') text.pop_back();
}

// "ann-200007" could be what another account gets for its number.
bool ends_in_a_number(std::string_view login) {
    const std::size_t dash = login.rfind('-');
    if (dash == std::string_view::npos || dash + 1 == login.size()) return false;
    const std::string_view behind = login.substr(dash + 1);
    return std::all_of(behind.begin(), behind.end(), is_digit);
}

std::string with_number(std::string base, Uid uid) {
    const std::string number = "-" + std::to_string(uid);
    cut(base, limits::login_bytes - number.size());
    return base + number;
}

}  // namespace

std::string login_base(std::string_view email) {
    std::string base;
    for (const char c : email.substr(0, email.find('@'))) {
        const char small = lower(c);
        const bool plain = is_letter(small) || is_digit(small) || small == '_';
        if (plain) {
            base += small;
        } else if (!base.empty() && base.back() != '-') {
            base += '-';
        }
    }
    if (base.empty() || !is_letter(base.front())) base.insert(0, "u");
    cut(base, limits::login_bytes);
    return base;
}

bool is_reserved_login(std::string_view login) {
    return std::find(reserved.begin(), reserved.end(), login) != reserved.end() ||
           std::any_of(reserved_beginnings.begin(), reserved_beginnings.end(),
                       [&](const char* beginning) { return login.starts_with(beginning); });
}

std::vector<std::string> logins_of(const std::vector<LoginOwner>& owners) {
    std::map<std::string, Uid> first;
    std::vector<std::string> logins;
    logins.reserve(owners.size());
    for (const LoginOwner& owner : owners) {
        logins.push_back(login_base(owner.email));
        const auto [place, is_new] = first.emplace(logins.back(), owner.uid);
        if (!is_new) place->second = std::min(place->second, owner.uid);
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
        std::string& login = logins[i];
        if (first[login] == owners[i].uid && !is_reserved_login(login) && !ends_in_a_number(login)) continue;
        login = with_number(login, owners[i].uid);
    }
    return logins;
}

}  // namespace llmgw
