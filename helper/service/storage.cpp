#include "service/storage.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "service/recorded_files.hpp"

namespace llmgw::service {
namespace {

using namespace std::chrono_literals;

constexpr const char* systemctl = "/usr/bin/systemctl";
constexpr const char* exportfs = "/usr/sbin/exportfs";
// mount.nfs tries for 30 s (TimeoutSec=); what else is asked for answers at once.
constexpr auto task_deadline = 90s;
const std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};

bool is_there(const std::string& path) {
    return ::access(path.c_str(), F_OK) == 0;
}

bool is_mount_unit(const std::string& file) {
    return file.starts_with("/etc/systemd/system/") && file.ends_with(".mount");
}

std::string unit_of(const std::string& file) {
    return file.substr(file.rfind('/') + 1);
}

std::string answer_of(std::vector<std::string> argv) {
    const Result<Outcome> ran = llmgw::run({std::move(argv), environment, {}, {}, 10s, 256 * 1024});
    return ran ? ran.value().output : "";
}

// What mount(8) said last, among what systemd says of the unit.
std::string reason_in(const std::string& journal, const std::string& unit) {
    std::string reason;
    for (const std::string_view line : split(journal, '\n')) {
        const bool systemds = line.starts_with(unit) || line.starts_with("Mount") ||
                              line.starts_with("Failed") || line.starts_with("Unmount");
        if (!systemds && !line.empty()) reason = printable(line, limits::last_words_bytes);
    }
    return reason;
}

}  // namespace

Storage::Storage(const StorageOptions& options, TaskRunner& runner)
    : options_(options),
      runner_(runner),
      ledger_(options.state_dir + "/shared.json"),
      probe_(options.program, limits::shared_answer) {}

Result<std::string> Storage::run(const std::string& what, std::vector<std::string> argv,
                                 const std::stop_token& stop) {
    Task task;
    task.unit = "llmgw-slurm-shared";
    task.description = "llmgw-slurm: " + what;
    task.argv = std::move(argv);
    task.environment = environment;
    task.deadline = task_deadline;
    const Result<TaskResult> ran = runner_.run(task, stop);
    if (!ran) return ran.error().within("could not " + what);
    if (!ran.value().success())
        return Error{Code::unavailable, "could not " + what + ": " + last_words(ran.value().output, 2)};
    return ran.value().output;
}

StorageFacts Storage::look(const ResolvedSettings& settings) {
    StorageFacts facts;
    facts.machine = options_.machine;
    const StorageRole role = storage_role(settings, options_.machine);
    facts.client = is_there("/sbin/mount.nfs") || is_there("/usr/sbin/mount.nfs");
    facts.server = is_there(exportfs);
    facts.slurmd = is_there("/lib/systemd/system/slurmd.service") ||
                   is_there("/usr/lib/systemd/system/slurmd.service") ||
                   is_there("/etc/systemd/system/slurmd.service");
    if (role != StorageRole::none) {
        facts.path = probe_.look(settings.shared_path, role != StorageRole::looks);
        if (role == StorageRole::mounts) {
            const std::string unit = mount_unit_name(settings.shared_path);
            facts.enabled = is_there("/etc/systemd/system/multi-user.target.wants/" + unit);
        }
        if (role == StorageRole::exports && facts.server)
            facts.exported = contains(answer_of({exportfs}), settings.shared_path);
    }
    const std::vector<MachineFile> wanted =
        storage_files(settings, options_.machine, facts.path.point, facts.slurmd);
    for (const MachineFile& file : wanted) facts.files[file.path] = machine_file_at(file.path);
    const Result<std::vector<std::string>> unwanted = unwanted_of(ledger_, wanted);
    if (unwanted) facts.unwanted = unwanted.value();
    return facts;
}

std::string Storage::problem(const ResolvedSettings& settings) {
    const StorageRole role = storage_role(settings, options_.machine);
    if (role == StorageRole::none) return {};
    return shared_problem(settings, options_.machine,
                          probe_.look(settings.shared_path, role != StorageRole::looks));
}

// What is mounted is unmounted before its unit goes, so that nothing is left that nobody knows of.
Result<void> Storage::take_back(const std::string& file, std::vector<std::string>& left,
                                const std::stop_token& stop) {
    if (is_mount_unit(file)) {
        const Result<std::string> ended =
            run("unmount " + unit_of(file), {systemctl, "disable", "--now", unit_of(file)}, stop);
        if (!ended) return ended.error();
    }
    return restore_recorded(ledger_, file, left);
}

Result<void> Storage::write(const std::vector<MachineFile>& files, const std::vector<std::string>& unwanted,
                            const std::stop_token& stop) {
    std::vector<std::string> left;
    for (const std::string& file : unwanted) {
        if (const Result<void> done = take_back(file, left, stop); !done) return done;
    }
    for (const MachineFile& file : files) {
        if (const Result<void> done = write_recorded(ledger_, file); !done) return done;
    }
    const Result<std::string> told = run("have systemd read its units", {systemctl, "daemon-reload"}, stop);
    return told ? Result<void>() : told.error();
}

Result<void> Storage::mount(const std::string& path, const std::stop_token& stop) {
    if (!is_there(path)) {
        const Result<void> kept = ledger_.change([&](Ledger& ledger) { ledger.add_directory(path); });
        if (!kept) return kept.error();
        const Result<std::string> made =
            run("make " + path, {"/usr/bin/install", "--directory", "--mode=0555", path}, stop);
        if (!made) return made.error();
        // Where the file system knows that, not even root's programs write into it by mistake.
        static_cast<void>(run("protect " + path, {"/usr/bin/chattr", "+i", path}, stop));
    }
    const std::string unit = mount_unit_name(path);
    const Result<std::string> enabled =
        run("have it mounted at boot", {systemctl, "enable", "--quiet", unit}, stop);
    if (!enabled) return enabled.error();
    const Result<std::string> mounted = run("mount it", {systemctl, "start", unit}, stop);
    if (mounted || mounted.error().code != Code::unavailable)
        return mounted ? Result<void>() : mounted.error();
    const std::string why = reason_in(
        answer_of({"/usr/bin/journalctl", "--no-pager", "-q", "-o", "cat", "-n", "10", "-u", unit}), unit);
    return Error{Code::unavailable, why.empty() ? mounted.error().message : why};
}

Result<void> Storage::export_path(const std::string& path, const std::stop_token& stop) {
    if (!is_there(path)) {
        const Result<void> kept = ledger_.change([&](Ledger& ledger) { ledger.add_directory(path); });
        if (!kept) return kept.error();
        const Result<std::string> made =
            run("make " + path, {"/usr/bin/install", "--directory", "--mode=0755", path}, stop);
        if (!made) return made.error();
    }
    const Result<std::string> told = run("export " + path, {exportfs, "-r"}, stop);
    return told ? Result<void>() : told.error();
}

Result<std::vector<std::string>> Storage::remove(const std::stop_token& stop) {
    std::vector<std::string> left;
    const Result<Ledger> ledger = ledger_.read();
    if (!ledger) return ledger.error();
    if (ledger.value().empty()) return left;
    bool exported = false;
    for (auto file = ledger.value().files.rbegin(); file != ledger.value().files.rend(); ++file) {
        exported = exported || file->path.ends_with(".exports");
        if (const Result<void> done = take_back(file->path, left, stop); !done) return done.error();
    }
    if (exported && is_there(exportfs)) static_cast<void>(run("end the export", {exportfs, "-r"}, stop));
    static_cast<void>(run("have systemd read its units", {systemctl, "daemon-reload"}, stop));
    for (const std::string& directory : ledger.value().directories) {
        if (!is_there(directory)) continue;
        static_cast<void>(run("unprotect " + directory, {"/usr/bin/chattr", "-i", directory}, stop));
        const Result<std::string> gone = run("remove " + directory, {"/usr/bin/rmdir", directory}, stop);
        if (!gone) left.push_back(directory + " was left: there are files in it");
    }
    if (const Result<void> forgotten = ledger_.remove(); !forgotten) return forgotten.error();
    return left;
}

bool Storage::did_anything() const {
    const Result<Ledger> ledger = ledger_.read();
    return !ledger || !ledger.value().empty();
}

}  // namespace llmgw::service
