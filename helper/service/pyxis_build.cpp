#include "service/pyxis_build.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "crypto/digest.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "posix/untrusted_file.hpp"
#include "slurm/plugin_file.hpp"

namespace llmgw::service {
namespace {

constexpr const char* library_name = "spank_pyxis.so";
// Slurm looks for plugins by the end of a name; this one is none.
constexpr const char* unfinished = ".llmgw-new";

uid_t build_user() {
    return ::geteuid() == 0 ? nobody : ::geteuid();
}

Error failure(const std::string& what, const std::string& path) {
    return {Code::internal, "cannot " + what + " " + path + ": " + reason_of(errno)};
}

// Removes it on every way out.
class Work {
  public:
    static Result<Work> make(const std::string& path) {
        // Passed through, not listed, by the user who builds.
        if (Result<void> made = make_directories(path, 0711); !made) return made.error();
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) return failure("stat", path);
        if (!S_ISDIR(status.st_mode) || status.st_uid != ::geteuid() ||
            (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
            return Error{Code::denied, path + " is not a directory that only root can write"};
        }
        if (Result<void> emptied = empty_directory(path); !emptied) return emptied.error();
        Work work(path);
        // A new name each time: an earlier build that still ends doesn't know it.
        Result<std::string> tree = make_directory_for(path, build_user());
        if (!tree) return tree.error();
        work.tree = tree.value();
        return work;
    }
    Work(Work&& other) noexcept : path(std::exchange(other.path, {})), tree(std::move(other.tree)) {}
    Work& operator=(Work&&) = delete;
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    ~Work() {
        // Who fails to here fails, and says so, at the next build.
        if (!path.empty()) static_cast<void>(empty_directory(path));
    }

    std::string path;
    std::string tree;  // the only place that the user who builds may write

  private:
    explicit Work(std::string place) : path(std::move(place)) {}
};

// From the cache, whose files somebody may still change, to a place where nobody can.
Result<std::string> take_source(const PyxisBuild& build, const Work& work) {
    const Result<std::string> content = read_file(build.source, limits::source_archive_bytes);
    if (!content) return content.error();
    const Result<std::string> digest = crypto::sha256_hex(content.value());
    if (!digest) return digest.error();
    if (digest.value() != build.sha256) {
        return Error{Code::invalid, build.source + " changed: its SHA-256 is " + digest.value() +
                                        ", expected is " + build.sha256};
    }
    std::string path = work.path + "/source.tar.gz";
    const Result<void> written = write_file_atomically(path, content.value(), 0644, Durability::volatile_);
    if (!written) return written.error();
    return path;
}

Task confined(const PyxisBuild& build, const Work& work, std::vector<std::string> argv) {
    Task task;
    task.unit = "llmgw-slurm-pyxis";
    task.description = "llmgw-slurm: builds pyxis " + build.version;
    task.argv = std::move(argv);
    // CPPFLAGS in the environment adds to the Makefile's own; as an argument of make it would replace them.
    task.environment = {"PATH=" + build.tools.search_path, "LC_ALL=C.UTF-8", "HOME=" + work.tree,
                        "TMPDIR=" + work.tree};
    if (build.headers.ahead) task.environment.push_back("CPPFLAGS=-I" + build.headers.directory);
    task.directory = work.tree;
    task.deadline = build.deadline;
    task.unprivileged = task.no_network = task.read_only = task.private_tmp = true;
    task.writable = {work.tree};
    task.memory_bytes = limits::build_memory_bytes;
    return task;
}

Result<void> run_task(const Task& task, TaskRunner& runner, const std::stop_token& stop,
                      const std::string& what) {
    const Result<TaskResult> result = runner.run(task, stop);
    if (!result) return result.error().within(what);
    if (result.value().success()) return {};
    const std::string words = build_failure(result.value().output);
    return Error{Code::invalid, what + " failed: " + (words.empty() ? std::string() : words + " ") +
                                    "(exit code " + std::to_string(result.value().exit_code) + ")"};
}

Result<std::string> compile(const PyxisBuild& build, TaskRunner& runner, const std::stop_token& stop) {
    const Result<std::string> compiler = find_tool(build.tools, "cc");
    if (!compiler) return compiler.error();
    const Result<std::string> make = find_tool(build.tools, "make");
    if (!make) return make.error();
    const Result<std::string> tar = find_tool(build.tools, "tar");
    if (!tar) return tar.error();
    for (const char* program : {"gzip", "strip"}) {
        if (const Result<std::string> found = find_tool(build.tools, program); !found) return found.error();
    }
    const Result<Work> work = Work::make(build.work);
    if (!work) return work.error();
    const Result<std::string> source = take_source(build, work.value());
    if (!source) return source.error();
    Task unpack = confined(
        build, work.value(),
        {tar.value(), "--extract", "--gzip", "--file=" + source.value(), "--directory=" + work.value().tree,
         "--strip-components=1", "--no-same-owner", "--no-same-permissions"});
    unpack.deadline = limits::unpack_deadline;
    if (Result<void> unpacked = run_task(unpack, runner, stop, "unpacking pyxis's source"); !unpacked) {
        return unpacked.error();
    }
    const unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
    const Task built =
        confined(build, work.value(), {make.value(), "-j" + std::to_string(jobs), "CC=" + compiler.value()});
    if (Result<void> done = run_task(built, runner, stop, "building pyxis"); !done) return done.error();
    Result<std::string> library =
        read_untrusted_file(work.value().tree, library_name, build_user(), limits::built_library_bytes);
    if (!library) return library.error().within("what was built");
    return library;
}

Result<void> sync_directory(const std::string& path) {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.open() || ::fsync(directory.get()) != 0) return failure("sync", path);
    return {};
}

// What a build that was killed left beside the target, also in its very last moment.
Result<void> remove_unfinished(const std::string& target) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory_of(target), error)) {
        const std::string path = entry.path().string();
        if (!path.starts_with(target + unfinished)) continue;
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failure("remove", path);
    }
    if (!error || error == std::errc::no_such_file_or_directory) return {};
    return Error{Code::internal, "cannot read " + directory_of(target) + ": " + error.message()};
}

}  // namespace

Result<void> check_pyxis(const PluginFacts& facts, const std::string& version,
                         const std::string& slurm_version) {
    if (facts.type != "spank" || facts.name != "pyxis") {
        return Error{Code::invalid,
                     "the library is " + shown(facts.type + "/" + facts.name) + ", not spank/pyxis"};
    }
    if (facts.slurm != stamp_of_version(slurm_version)) {
        return Error{Code::invalid, "the library is stamped for Slurm " + full_version(facts.slurm) +
                                        ", this machine runs " + slurm_version};
    }
    if (facts.version != version) {
        return Error{Code::invalid, "the library says it is pyxis " +
                                        (facts.version.empty() ? "of no version" : facts.version) +
                                        ", wanted is " + version};
    }
    return {};
}

Result<PluginFacts> build_pyxis(const PyxisBuild& build, TaskRunner& runner, const std::stop_token& stop) {
    const Result<std::string> library = compile(build, runner, stop);
    if (!library) return library.error();
    // What is inspected is what is put in place: a file that only root can write, already beside the target.
    if (Result<void> made = make_directories(directory_of(build.target), 0755); !made) return made.error();
    if (Result<void> removed = remove_unfinished(build.target); !removed) return removed.error();
    const std::string candidate = build.target + unfinished;
    const Result<void> written = write_file_atomically(candidate, library.value(), 0644, Durability::durable);
    if (!written) return written.error();
    const Result<PluginFacts> facts = slurm::inspect_plugin(build.inspector, candidate, build.slurm_library);
    Result<void> fine =
        facts ? check_pyxis(facts.value(), build.version, build.slurm_version) : facts.error();
    if (fine && std::rename(candidate.c_str(), build.target.c_str()) != 0) {
        fine = failure("replace", build.target);
    }
    if (!fine) {
        ::unlink(candidate.c_str());
        return fine.error().within("pyxis was built and not put in place");
    }
    if (Result<void> synced = sync_directory(directory_of(build.target)); !synced) return synced.error();
    return facts;
}

Result<void> remove_pyxis(const std::string& target) {
    if (::unlink(target.c_str()) != 0 && errno != ENOENT && errno != ENOTDIR) {
        return failure("remove", target);
    }
    if (Result<void> removed = remove_unfinished(target); !removed) return removed;
    if (::access(directory_of(target).c_str(), F_OK) != 0) return {};
    return sync_directory(directory_of(target));
}

}  // namespace llmgw::service
