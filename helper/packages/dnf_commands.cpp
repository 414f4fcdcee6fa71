#include "packages/dnf_commands.hpp"

#include "core/limits.hpp"
#include "core/text.hpp"
#include "packages/in_root.hpp"
#include "packages/transaction.hpp"

namespace llmgw::packages::dnf {
namespace {

using Words = std::vector<std::string>;

// dnf4 takes "\n" and "\t" in a format for what they are in C, dnf5 doesn't.
constexpr const char* package_format = "%{NAME}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\t%{ARCH}\n";
constexpr const char* offer_format = "%{name}\t%{epoch}:%{version}-%{release}\t%{sourcerpm}\n";

void add(Words& words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
}

Words rpm(const std::string& root, const Words& more) {
    Words words{"/usr/bin/rpm"};
    if (!is_machine(root)) add(words, {"--root", root});
    add(words, more);
    return words;
}

Words dnf_words(const Program& dnf, const std::string& root, const Words& more) {
    Words words{dnf.path};
    if (!is_machine(root)) {
        add(words, {"--installroot=" + root, "--setopt=reposdir=" + root + "/etc/yum.repos.d",
                    "--setopt=pluginconfpath=" + root + "/etc/dnf/plugins"});
    }
    // exit_on_lock: dnf4 would wait without an end, and without our saying for whom.
    add(words, {"--setopt=install_weak_deps=False", "--setopt=clean_requirements_on_remove=False",
                "--setopt=color=never", "--setopt=exit_on_lock=True", "--setopt=retries=3"});
    add(words, more);
    return words;
}

Words packages_of(const Wanted& wanted) {
    Words words;
    // Files were checked by their pinned digests, which says more than who signed them.
    if (!wanted.files.empty()) words.emplace_back("--setopt=localpkg_gpgcheck=False");
    words.emplace_back("install");
    add(words, wanted.files);
    for (std::string name : wanted.names) {
        if (const std::size_t equals = name.find('='); equals != std::string::npos) name[equals] = '-';
        words.push_back(name);
    }
    return words;
}

Command query(Words argv) {
    Command command;
    command.argv = std::move(argv);
    command.environment = environment();
    command.deadline = limits::package_query_deadline;
    command.most_output = limits::package_list_bytes;
    return command;
}

Task task(const std::string& what, Words argv) {
    Task made;
    made.unit = transaction_unit;
    made.description = "llmgw-slurm: " + what;
    made.argv = std::move(argv);
    made.environment = environment();
    return made;
}

}  // namespace

std::vector<std::string> environment() {
    return {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C",
            "TERM=dumb", "PAGER=cat",
            // Where it is installed: newer libraries are no reason to restart slurmd under its jobs.
            "NEEDRESTART_SUSPEND=1", "NEEDRESTART_MODE=l"};
}

Command installed_query(const std::string& root) {
    return query(rpm(root, {"-qa", "--qf", package_format}));
}

Command file_query(const std::string& file) {
    return query({"/usr/bin/rpm", "-qp", "--nosignature", "--qf", package_format, file});
}

Command digests_query(const std::string& file) {
    return query({"/usr/bin/rpmkeys", "-K", "--nosignature", file});
}

Command configuration_query(const std::string& root, const std::vector<std::string>& names) {
    Words words = rpm(root, {"-qc"});
    add(words, names);
    return query(std::move(words));
}

Command lock_path_query() {
    return query({"/usr/bin/rpm", "--eval", "%{_rpmlock_path}"});
}

Task install_preview_task(const Program& dnf, const std::string& root, const Wanted& wanted) {
    Words words = dnf_words(dnf, root, {"--assumeno"});
    add(words, packages_of(wanted));
    return task("looks what installing " + join(file_names(wanted), " ") + " would do", std::move(words));
}

Task remove_preview_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names) {
    Words words = dnf_words(dnf, root, {"--assumeno", "remove"});
    add(words, names);
    return task("looks what removing " + join(names, " ") + " would do", std::move(words));
}

Task install_task(const Program& dnf, const std::string& root, const Wanted& wanted) {
    Words words = dnf_words(dnf, root, {"-y"});
    add(words, packages_of(wanted));
    return task("installs " + join(file_names(wanted), " "), std::move(words));
}

Task remove_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names) {
    Words words = dnf_words(dnf, root, {"-y", "remove"});
    add(words, names);
    return task("removes " + join(names, " "), std::move(words));
}

Task refresh_task(const Program& dnf, const std::string& root) {
    // dnf5 keeps what it has of a local repository in spite of --refresh.
    return task("brings dnf's index up to date",
                dnf_words(dnf, root, {"-y", "--refresh", "--setopt=*.metadata_expire=0", "makecache"}));
}

Task offers_task(const Program& dnf, const std::string& root, const std::string& name) {
    return task("looks what is offered",
                dnf_words(dnf, root, {"-q", "-y", "repoquery", "--qf", offer_format, name}));
}

Task needs_task(const Program& dnf, const std::string& root, const std::string& name) {
    return task("looks what is offered", dnf_words(dnf, root, {"-q", "-y", "repoquery", "--requires", name}));
}

Task versionlock_task(const Program& dnf, const std::string& root, const std::vector<std::string>& names,
                      bool held) {
    Words words = dnf_words(dnf, root, {"-y", "versionlock", held ? "add" : "delete"});
    add(words, names);
    return task((held ? "holds " : "no longer holds ") + join(names, " "), std::move(words));
}

Task erase_task(const std::string& root, const std::vector<std::string>& packages) {
    Words words = rpm(root, {"-e", "--nodeps"});
    add(words, packages);
    return task("removes what an interrupted upgrade left", std::move(words));
}

Task try_repository_task(const Program& dnf, const std::string& root, const std::string& repository_directory,
                         const std::string& cache) {
    return task("tries a package repository",
                dnf_words(dnf, root,
                          {"-y", "--setopt=reposdir=" + repository_directory, "--setopt=cachedir=" + cache,
                           "--setopt=skip_if_unavailable=False", "--setopt=*.skip_if_unavailable=False",
                           "--refresh", "makecache"}));
}

Task read_repositories_task(const Program& dnf, const std::string& root,
                            const std::vector<std::string>& ids) {
    Words words = dnf_words(dnf, root, {"-y", "--refresh", "--setopt=*.skip_if_unavailable=False"});
    for (const std::string& id : ids) words.push_back("--repo=" + id);
    words.emplace_back("makecache");
    return task("reads a package repository", std::move(words));
}

}  // namespace llmgw::packages::dnf
