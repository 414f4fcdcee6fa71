#include "service/homes_task.hpp"

#include <sys/stat.h>

#include <charconv>
#include <cstdio>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/homes.hpp"

namespace llmgw::service {
namespace {

constexpr const char* skeleton = "/etc/skel";
constexpr std::string_view finished = "all looked at";

std::string text_of(const HomesOrder& order) {
    std::string text = order.mounted + "\n" + order.directory + "\n";
    for (const MadeUser& user : order.users) text += user.login + " " + std::to_string(user.uid) + "\n";
    return text;
}

// On the file system of / nothing is mounted there.
bool is_elsewhere(const std::string& path) {
    struct stat here {};
    struct stat root {};
    return ::stat(path.c_str(), &here) == 0 && ::stat("/", &root) == 0 && here.st_dev != root.st_dev;
}

void make_one(const std::string& directory, std::string_view line) {
    const std::size_t blank = line.find(' ');
    uid_t uid = 0;
    if (blank == std::string_view::npos) return;
    std::from_chars(line.data() + blank + 1, line.data() + line.size(), uid);
    const std::string login(line.substr(0, blank));
    if (uid < first_account_uid || uid > last_account_uid) return;
    const Result<void> made = make_home(directory, login, uid, skeleton);
    if (!made) std::printf("%s: %s\n", login.c_str(), made.error().message.c_str());
}

}  // namespace

Result<std::map<std::string, std::string>> make_homes(const HomesOrder& order, const std::string& program,
                                                      const std::string& file, TaskRunner& runner,
                                                      const std::stop_token& stop) {
    const Result<void> written = write_file_atomically(file, text_of(order), 0600, Durability::volatile_);
    if (!written) return written.error();
    Task task;
    task.unit = "llmgw-slurm-homes";
    task.description = "llmgw-slurm: makes home directories in " + order.directory;
    task.argv = {program, "--make-homes", file};
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
    task.deadline = limits::homes_deadline;
    task.most_output = limits::accounts_bytes;
    const Result<TaskResult> ran = runner.run(task, stop);
    static_cast<void>(remove_file(file));
    if (!ran) return ran.error().within("cannot make homes in " + order.directory);
    std::map<std::string, std::string> problems;
    bool ended = false;
    for (const std::string_view line : split(ran.value().output, '\n')) {
        const std::size_t colon = line.find(": ");
        if (line == finished) ended = true;
        if (colon != std::string_view::npos) problems.emplace(line.substr(0, colon), line.substr(colon + 2));
    }
    if (ended && ran.value().success()) return problems;
    return Error{Code::internal,
                 "cannot make homes in " + order.directory + ": " + last_words(ran.value().output, 1)};
}

int make_homes_here(const std::string& file) {
    const Result<StateFile> order = read_state_file(file, limits::accounts_bytes);
    if (!order) {
        std::printf("%s\n", order.error().message.c_str());
        return 1;
    }
    const std::vector<std::string_view> lines = split(order.value().content, '\n');
    if (lines.size() < 2) return 2;
    const std::string mounted(lines[0]);
    if (!mounted.empty() && !is_elsewhere(mounted)) {
        std::printf("nothing is mounted on %s\n", mounted.c_str());
        return 1;
    }
    const std::string directory(lines[1]);
    for (std::size_t i = 2; i < lines.size(); ++i) make_one(directory, lines[i]);
    std::printf("%s\n", finished.data());
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace llmgw::service
