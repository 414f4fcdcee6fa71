#include "packages/apt_commands.hpp"

#include "core/limits.hpp"
#include "core/text.hpp"
#include "packages/in_root.hpp"
#include "packages/transaction.hpp"

namespace llmgw::packages::apt {
namespace {

using Words = std::vector<std::string>;

constexpr const char* get = "/usr/bin/apt-get";
// Questions about conffiles: the default where the package has one, else what is there stays.
constexpr const char* conffile_options[] = {"--force-confdef", "--force-confold"};

void add(Words& words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
}

void add_option(Words& words, const std::string& option) {
    add(words, {"-o", option});
}

// Another root: apt's directories below it, and dpkg told so. Its configuration stays this machine's.
Words root_options(const std::string& root) {
    Words words;
    if (is_machine(root)) return words;
    add_option(words, "Dir=" + root);
    add_option(words, "Dir::State::status=" + in_root(root, "/var/lib/dpkg/status"));
    add_option(words, "Dpkg::Options::=--root=" + root);
    return words;
}

Words get_options(const std::string& root) {
    Words words = root_options(root);
    add(words, {"-q", "-y", "--no-install-recommends"});
    for (const char* option :
         {"APT::Install-Suggests=false", "APT::Get::AutomaticRemove=false",
          "APT::Get::AllowUnauthenticated=false", "APT::Get::allow-downgrades=false",
          "APT::Get::allow-change-held-packages=false", "APT::Get::allow-remove-essential=false",
          "APT::Get::force-yes=false", "APT::Color=false", "Dpkg::Use-Pty=false",
          "Dpkg::Progress-Fancy=false", "Acquire::Retries=3"}) {
        add_option(words, option);
    }
    for (const char* option : conffile_options) add_option(words, std::string("Dpkg::Options::=") + option);
    return words;
}

Words apt_get(const std::string& root, const Words& more) {
    Words words{get};
    add(words, get_options(root));
    add(words, more);
    return words;
}

Words dpkg(const std::string& root, const Words& more) {
    Words words{"/usr/bin/dpkg"};
    if (!is_machine(root)) words.push_back("--root=" + root);
    for (const char* option : conffile_options) words.emplace_back(option);
    add(words, more);
    return words;
}

Words lock_option(std::chrono::seconds patience) {
    return {"-o", "DPkg::Lock::Timeout=" + std::to_string(patience.count())};
}

Words packages_of(const Wanted& wanted) {
    Words words{"--"};
    add(words, wanted.files);
    add(words, wanted.names);
    return words;
}

Command query(const std::string& root, Words argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment(root);
    command.deadline = limits::package_query_deadline;
    command.most_output = limits::package_list_bytes;
    return command;
}

Task task(const std::string& root, const std::string& what, Words argv) {
    Task made;
    made.unit = transaction_unit;
    made.description = "llmgw-slurm: " + what;
    made.argv = std::move(argv);
    made.environment = environment(root);
    return made;
}

}  // namespace

std::vector<std::string> environment(const std::string& root) {
    std::vector<std::string> all{
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C",
        "TERM=dumb", "PAGER=cat", "DEBIAN_FRONTEND=noninteractive", "DEBCONF_NONINTERACTIVE_SEEN=true",
        "UCF_FORCE_CONFFOLD=1", "APT_LISTCHANGES_FRONTEND=none", "APT_LISTBUGS_FRONTEND=none",
        // Newer libraries are no reason to restart slurmd under its jobs.
        "NEEDRESTART_SUSPEND=1", "NEEDRESTART_MODE=l"};
    if (!is_machine(root)) all.push_back("APT_CONFIG=" + in_root(root, "/etc/apt/apt.conf"));
    return all;
}

Command states_query(const std::string& root) {
    return query(root,
                 {"/usr/bin/dpkg-query", "--admindir=" + in_root(root, "/var/lib/dpkg"), "-W",
                  "-f=${Package}\\t${Architecture}\\t${Version}\\t${db:Status-Want}\\t${db:Status-Status}\\t"
                  "${db:Status-Eflag}\\n"});
}

Command contents_query(const std::string& file) {
    return query("/", {"/usr/bin/dpkg-deb", "--contents", file});
}

Command fields_query(const std::string& file) {
    return query("/", {"/usr/bin/dpkg-deb", "--field", file, "Package", "Version", "Architecture"});
}

Command offers_query(const std::string& root, const std::string& name) {
    Words words{"/usr/bin/apt-cache"};
    add(words, root_options(root));
    add(words, {"show", "--", name});
    return query(root, std::move(words));
}

Command sources_query(const std::string& root) {
    Words words{get};
    add(words, root_options(root));
    add(words, {"indextargets", "--format", "$(SITE)"});
    return query(root, std::move(words));
}

Command install_simulation(const std::string& root, const Wanted& wanted, bool again) {
    Words words = apt_get(root, {"-s", "install"});
    if (again) words.emplace_back("--reinstall");
    add(words, packages_of(wanted));
    return query(root, std::move(words));
}

Command purge_simulation(const std::string& root, const std::vector<std::string>& names) {
    Words words = apt_get(root, {"-s", "purge", "--"});
    add(words, names);
    return query(root, std::move(words));
}

Task install_task(const std::string& root, const Wanted& wanted, bool again,
                  std::chrono::seconds lock_patience) {
    // The simulation said before that nothing goes; between the two somebody may have installed something.
    Words words = apt_get(root, {"--no-remove"});
    add(words, lock_option(lock_patience));
    words.emplace_back("install");
    if (again) words.emplace_back("--reinstall");
    add(words, packages_of(wanted));
    Task made = task(root, "installs " + join(file_names(wanted), " "), std::move(words));
    made.deadline += lock_patience;
    return made;
}

Task purge_task(const std::string& root, const std::vector<std::string>& names,
                std::chrono::seconds lock_patience) {
    Words words = apt_get(root, lock_option(lock_patience));
    add(words, {"purge", "--"});
    add(words, names);
    Task made = task(root, "removes " + join(names, " "), std::move(words));
    made.deadline += lock_patience;
    return made;
}

Task update_task(const std::string& root) {
    return task(root, "brings apt's index up to date",
                apt_get(root, {"-o", "APT::Update::Error-Mode=any", "update"}));
}

Task hold_task(const std::string& root, const std::vector<std::string>& names, bool held) {
    Words words{"/usr/bin/apt-mark"};
    add(words, root_options(root));
    add(words, {held ? "hold" : "unhold", "--"});
    add(words, names);
    return task(root, (held ? "holds " : "no longer holds ") + join(names, " "), std::move(words));
}

Task configure_task(const std::string& root) {
    return task(root, "finishes what dpkg was interrupted at", dpkg(root, {"--configure", "-a"}));
}

Task fix_task(const std::string& root, std::chrono::seconds lock_patience) {
    Words words = apt_get(root, {"--no-remove", "-f"});
    add(words, lock_option(lock_patience));
    words.emplace_back("install");
    Task made = task(root, "finishes what apt was interrupted at", std::move(words));
    made.deadline += lock_patience;
    return made;
}

Task forced_purge_task(const std::string& root, const std::vector<std::string>& names) {
    Words words = dpkg(root, {"--force-remove-reinstreq", "--purge", "--"});
    add(words, names);
    return task(root, "removes what is left of " + join(names, " "), std::move(words));
}

Task update_one_task(const std::string& root, const std::string& source_list, const std::string& lists) {
    Words words =
        apt_get(root, {"-o", "APT::Update::Error-Mode=any", "-o", "Dir::Etc::sourcelist=" + source_list, "-o",
                       "Dir::Etc::sourceparts=-", "-o", "APT::Get::List-Cleanup=false"});
    if (!lists.empty()) {
        add(words, {"-o", "Dir::State::lists=" + lists, "-o", "Dir::Cache::pkgcache=", "-o",
                    "Dir::Cache::srcpkgcache="});
    }
    words.emplace_back("update");
    return task(root, lists.empty() ? "reads a package repository" : "tries a package repository",
                std::move(words));
}

std::string list_prefix(const std::string& uri) {
    const std::size_t scheme = uri.find("://");
    std::string name = scheme == std::string::npos ? uri.substr(uri.find(':') + 1) : uri.substr(scheme + 3);
    while (!name.empty() && name.back() == '/') name.pop_back();
    std::string escaped;
    for (const char c : name) escaped += c == '_' ? "%5f" : c == '/' ? "_" : std::string(1, c);
    return escaped + "_";
}

}  // namespace llmgw::packages::apt
