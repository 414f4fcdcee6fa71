#include "service/proof.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <utility>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/file_capabilities.hpp"
#include "posix/untrusted_file.hpp"

namespace llmgw::service {
namespace {

constexpr const char* container = "llmgw-proof";

std::optional<long> number_in(const std::string& path) {
    constexpr std::size_t most = 64;
    const Result<std::string> text = read_file(path, most);
    if (!text) return std::nullopt;
    long number = 0;
    const char* const begin = text.value().data();
    if (std::from_chars(begin, begin + text.value().size(), number).ec != std::errc()) return std::nullopt;
    return number;
}

// A word that no earlier proof's container knows.
Result<std::string> new_token() {
    constexpr std::size_t most = 64;
    const Result<std::string> text = read_file("/proc/sys/kernel/random/uuid", most);
    if (!text) return text.error();
    return text.value().substr(0, text.value().find('\n'));
}

Result<std::string> root_of_machine() {
    struct stat status {};
    if (::stat("/", &status) != 0) return Error{Code::internal, "cannot stat /: " + reason_of(errno)};
    return std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev)) + " " +
           std::to_string(status.st_ino);
}

Result<std::string> find_program(const std::string& search_path, const std::string& name) {
    for (const std::string_view directory : split(search_path, ':')) {
        std::string path = std::string(directory) + "/" + name;
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return Error{Code::missing, name + " is not installed; install squashfs-tools"};
}

std::string beside(const std::string& program, const std::string& name) {
    return program.substr(0, program.rfind('/') + 1) + name;
}

Result<void> check_capabilities(const std::string& enroot) {
    constexpr std::uint64_t one = 1;
    const std::pair<const char*, std::uint64_t> programs[] = {
        {"enroot-mksquashovlfs", one << cap_sys_admin},
        {"enroot-aufs2ovlfs", one << cap_sys_admin | one << cap_mknod}};
    for (const auto& [name, wanted] : programs) {
        const std::string path = beside(enroot, name);
        if (::access(path.c_str(), F_OK) != 0) continue;
        const Result<std::uint64_t> has = file_capabilities(path);
        if (!has) return has.error();
        if ((has.value() & wanted) == wanted) continue;
        return Error{Code::invalid, path +
                                        " has lost its file capabilities, without which images cannot be "
                                        "imported; reinstall the package enroot+caps"};
    }
    return {};
}

class Attempt {
  public:
    Attempt(const Proof& proof, TaskRunner& runner, const std::stop_token& stop)
        : proof_(proof), runner_(runner), stop_(stop), place_(proof.run_dir + "/proof") {}

    Result<void> run() {
        Result<void> proved = prepare();
        if (proved && proof_.capabilities) proved = convert_layer();
        if (proved) proved = create_and_start();
        // Also what a failed or killed one left; unless the helper ends, which must not take long.
        if (!stop_.stop_requested()) {
            const Result<void> removed = clear();
            if (proved && !removed) return removed;
        }
        return proved;
    }

  private:
    [[nodiscard]] Task task(std::vector<std::string> argv) const {
        Task task;
        task.unit = "llmgw-slurm-proof";
        task.description = "llmgw-slurm: proves that containers start here";
        task.argv = std::move(argv);
        // enroot is a script; it gets nothing else.
        task.environment = {"PATH=" + proof_.search_path};
        task.deadline = proof_.deadline;
        task.no_network = task.private_tmp = true;
        return task;
    }

    Result<std::string> done(const Task& task, const std::string& what) {
        const Result<TaskResult> result = runner_.run(task, stop_);
        if (!result) return result.error().within(what);
        if (result.value().success()) return result.value().output;
        return Error{
            Code::invalid,
            what + ": " + proof_failure(result.value().output, result.value().exit_code, namespace_limits())};
    }

    // As jobs' own enroot is run; pyxis does not keep capabilities of files from working, either.
    Result<std::string> enroot(std::vector<std::string> arguments) {
        const std::string what = "enroot " + arguments.front();
        arguments.insert(arguments.begin(), proof_.enroot);
        Task enroot = task(std::move(arguments));
        enroot.unprivileged = enroot.keep_capabilities = true;
        return done(enroot, what);
    }

    Result<void> prepare() {
        const Result<std::string> mksquashfs = find_program(proof_.search_path, "mksquashfs");
        if (!mksquashfs) return mksquashfs.error();
        const Result<std::string> unsquashfs = find_program(proof_.search_path, "unsquashfs");
        if (!unsquashfs) return unsquashfs.error();
        const Result<std::string> token = new_token();
        if (!token) return token.error();
        token_ = token.value();
        if (Result<void> removed = remove_tree(place_); !removed) return removed;
        if (Result<void> made = make_tree(); !made) return made;
        // Plain options, which every version has.
        Task make = task({mksquashfs.value(), place_ + "/tree", place_ + "/image.sqsh", "-noappend",
                          "-all-root", "-no-xattrs", "-no-progress", "-processors", "1"});
        make.read_only = true;
        make.writable = {place_};
        const Result<std::string> image = done(make, "mksquashfs");
        return image ? Result<void>() : image.error();
    }

    Result<void> make_tree() {
        const std::string tree = place_ + "/tree";
        // enroot puts things into /etc, and mounts on the others.
        for (const char* directory : {"/bin", "/dev", "/etc", "/proc", "/sys", "/tmp", "/usr/bin", "/var"}) {
            if (Result<void> made = make_directories(tree + directory, 0755); !made) return made;
        }
        const Result<std::string> init = read_file(proof_.init, limits::proof_program_bytes);
        if (!init) return init.error();
        const Result<void> shell =
            write_file_atomically(tree + "/bin/sh", init.value(), 0755, Durability::volatile_);
        if (!shell) return shell;
        return write_file_atomically(tree + "/llmgw-proof", token_ + "\n", 0644, Durability::volatile_);
    }

    // What an import does to each layer of an image: where file capabilities are there and don't work, only
    // this tells.
    Result<void> convert_layer() {
        const std::string program = beside(proof_.enroot, "enroot-aufs2ovlfs");
        if (::access(program.c_str(), X_OK) != 0) return {};
        const std::string layer = place_ + "/layer";
        if (Result<void> made = make_directories(layer + "/opaque", 0755); !made) return made;
        for (const char* whiteout : {"/.wh.gone", "/opaque/.wh..wh..opq"}) {
            const Result<void> made =
                write_file_atomically(layer + whiteout, "", 0644, Durability::volatile_);
            if (!made) return made;
        }
        for (const std::string& directory : {layer + "/opaque", layer}) {
            if (::geteuid() == 0 && ::lchown(directory.c_str(), nobody, nobody) != 0) {
                return Error{Code::internal,
                             "cannot change the owner of " + directory + ": " + reason_of(errno)};
            }
        }
        Task convert = task({program, layer});
        convert.unprivileged = convert.keep_capabilities = true;
        const Result<std::string> converted = done(convert, "enroot-aufs2ovlfs");
        return converted ? Result<void>() : converted.error();
    }

    Result<void> create_and_start() {
        const Result<std::string> created =
            enroot({"create", "--force", "--name", container, place_ + "/image.sqsh"});
        if (!created) return created.error();
        std::vector<std::string> start = {"start"};
        if (proof_.gpu) {
            // As an image made for GPUs would.
            start.insert(start.end(), {"--env", "NVIDIA_VISIBLE_DEVICES=all", "--env",
                                       "NVIDIA_DRIVER_CAPABILITIES=utility"});
        }
        start.insert(start.end(), {container, "/bin/sh", token_});
        const Result<std::string> started = enroot(start);
        if (!started) return started.error();
        const Result<std::string> host_root = root_of_machine();
        if (!host_root) return host_root.error();
        const std::optional<ProofAnswer> answer = proof_answer_in(started.value());
        if (!answer) {
            return Error{Code::invalid, "enroot start: the container did not answer: " +
                                            proof_failure(started.value(), 0, namespace_limits())};
        }
        const Result<void> judged = judge(*answer, {token_, host_root.value(), proof_.gpu});
        return judged ? judged : judged.error().within("enroot start");
    }

    Result<void> clear() {
        const Result<std::string> removed = enroot({"remove", "--force", container});
        remove_user_directories();
        const Result<void> place = remove_tree(place_);
        if (!removed) return removed.error();
        return place;
    }

    // As their owner: nothing is followed, and what isn't empty stays.
    void remove_user_directories() {
        std::vector<std::string> argv = {"/bin/rmdir", "--ignore-fail-on-non-empty"};
        for (const std::string& directory : proof_.user_directories) {
            if (::access(directory.c_str(), F_OK) == 0) argv.push_back(directory);
        }
        if (argv.size() == 2) return;
        Task task = this->task(std::move(argv));
        task.unprivileged = true;
        task.private_tmp = false;
        static_cast<void>(runner_.run(task, stop_));
    }

    const Proof& proof_;
    TaskRunner& runner_;
    const std::stop_token& stop_;
    std::string place_;
    std::string token_;
};

}  // namespace

Result<void> prove_containers(const Proof& proof, TaskRunner& runner, const std::stop_token& stop) {
    if (::access(proof.enroot.c_str(), X_OK) != 0) {
        return Error{Code::missing, proof.enroot + " is not there; install the package enroot"};
    }
    if (proof.capabilities) {
        if (Result<void> checked = check_capabilities(proof.enroot); !checked) return checked;
    }
    return Attempt(proof, runner, stop).run();
}

NamespaceLimits namespace_limits() {
    return {number_in("/proc/sys/user/max_user_namespaces"),
            number_in("/proc/sys/kernel/unprivileged_userns_clone"),
            number_in("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
            number_in("/proc/sys/user/max_mnt_namespaces"), ::access("/etc/apparmor.d/enroot", F_OK) == 0};
}

}  // namespace llmgw::service
