// Taking back: what the ledger says, last things first; nothing else.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/limits.hpp"
#include "core/plugstack_edit.hpp"
#include "posix/apply_edits.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"
#include "service/pyxis_build.hpp"
#include "service/recorded_files.hpp"
#include "service/setup.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

// Goes with the directories in it that are empty: enroot makes one for each user. Never follows a link.
bool remove_if_empty(const fs::path& directory) {
    std::error_code error;
    std::vector<fs::path> inner;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (!fs::is_directory(entry->symlink_status(error))) return false;
        inner.push_back(entry->path());
    }
    if (error) return error == std::errc::no_such_file_or_directory;
    if (!std::all_of(inner.begin(), inner.end(), remove_if_empty)) return false;
    return ::rmdir(directory.c_str()) == 0;
}

bool is_cache(const std::string& directory) {
    return directory.find("/cache") != std::string::npos;
}

void remove_directories(const std::vector<std::string>& directories, std::vector<std::string>& left) {
    for (auto path = directories.rbegin(); path != directories.rend(); ++path) {
        struct stat status {};
        if (::lstat(path->c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) continue;
        std::error_code error;
        // Layers that can be downloaded again; what users unpacked is theirs.
        if (is_cache(*path)) fs::remove_all(*path, error);
        if (!remove_if_empty(*path)) left.push_back(*path + " was left: there are files in it");
    }
}

}  // namespace

bool Setup::did_anything() const {
    const Result<Ledger> ledger = ledger_.read();
    return !ledger || !ledger.value().empty() || storage_.did_anything() || sshd_.did_anything() ||
           login_.did_anything() || (users_ != nullptr && users_->did_anything());
}

Result<void> Setup::withdraw() {
    const Result<StackSite> site = stack_site();
    if (!site) return site.error();
    const Result<FileEdits> edits = without_us(site.value());
    const Result<void> done = edits ? apply_edits(edits.value()) : edits.error();
    return done ? login_.leave({}) : done;
}

Result<void> Setup::take_back_packages(const Ledger& ledger, SetupObserver& observer,
                                       std::vector<std::string>& left, const std::stop_token& stop) {
    if (ledger.packages.empty() && ledger.held.empty()) return {};
    const Result<packages::Manager*> packages = manager();
    if (!packages) return packages.error();
    const packages::Progress note = [&](const std::string& sentence) { observer.on_note(sentence); };
    if (!ledger.held.empty()) {
        if (const Result<void> freed = packages.value()->hold(ledger.held, false, stop); !freed)
            return freed.error();
    }
    const Result<void> removed = packages.value()->remove(ledger.packages, note, stop);
    if (removed) return {};
    // Something else needs them by now: then they are no more ours alone.
    if (removed.error().code != Code::conflict) return removed.error();
    left.push_back("packages were left: " + removed.error().message);
    return {};
}

Result<std::vector<std::string>> Setup::uninstall(SetupObserver& observer, const std::stop_token& stop) {
    const Result<Ledger> read = ledger_.read();
    if (!read) return read.error();
    const Ledger& ledger = read.value();
    std::vector<std::string> left;
    const std::vector<std::pair<std::string, std::function<Result<void>()>>> steps{
        {"take our lines out of plugstack.conf",
         [&] { return ledger.plugstack ? withdraw() : Result<void>(); }},
        // Before the jobs end into which users log in.
        {"let users log in as before", [&] { return login_.leave(stop); }},
        {"stop Slurm", [&] { return stop_cluster(ledger, stop); }},
        {"remove pyxis", [&] { return ledger.pyxis.empty() ? Result<void>() : remove_pyxis(ledger.pyxis); }},
        {"restore files",
         [&]() -> Result<void> {
             for (auto file = ledger.files.rbegin(); file != ledger.files.rend(); ++file) {
                 if (const Result<void> done = put_back(*file, left); !done) return done.error();
             }
             return remove_file(options_.paths.proof);
         }},
        {"remove users",
         [&] {
             Result<void> done;
             take_back_users(left, done, stop);
             return done;
         }},
        {"let go of the shared path",
         [&]() -> Result<void> {
             const Result<std::vector<std::string>> removed = storage_.remove(stop);
             if (!removed) return removed.error();
             left.insert(left.end(), removed.value().begin(), removed.value().end());
             return {};
         }},
        {"let go of Slurm", [&] { return forget_cluster(ledger, left, stop); }},
        {"remove packages", [&] { return take_back_packages(ledger, observer, left, stop); }},
        {"remove NVIDIA's repository",
         [&] {
             return ledger.nvidia_repository
                        ? remove_nvidia([&](const std::string& sentence) { observer.on_note(sentence); },
                                        stop)
                        : Result<void>();
         }},
        {"remove directories and downloads", [&]() -> Result<void> {
             remove_directories(ledger.directories, left);
             std::error_code error;
             fs::remove_all(options_.fetch.cache, error);
             if (error)
                 return Error{Code::internal,
                              "cannot remove " + options_.fetch.cache + ": " + error.message()};
             return {};
         }}};
    int number = 0;
    for (const auto& [title, act] : steps) {
        if (stop.stop_requested()) return Error{Code::unavailable, "the helper is ending"};
        Step step;
        step.name = step.title = title;
        observer.on_step(++number, static_cast<int>(steps.size()), step);
        log(Level::info, title);
        if (const Result<void> done = act(); !done) return done.error().within("could not " + title);
    }
    // What was left is told once; it is the admin's from here on.
    if (const Result<void> forgotten = ledger_.remove(); !forgotten) return forgotten.error();
    return left;
}

}  // namespace llmgw::service
