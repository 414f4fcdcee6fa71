#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <ctime>

#include "bus/notify.hpp"
#include "leader/leader.hpp"
#include "posix/events.hpp"
#include "posix/log.hpp"

using namespace llmgw;

namespace {

// How late a silent machine may be noticed: little against limits::report_silent_after.
constexpr std::chrono::seconds tick{5};

Result<void> run(const leader::Options& options) {
    // Before any thread, so that all inherit it.
    const Result<Signals> signals = Signals::block({SIGTERM, SIGINT, SIGHUP});
    if (!signals) return signals.error();
    std::signal(SIGPIPE, SIG_IGN);
    allow_all_open_files();
    ::umask(077);
    Result<std::unique_ptr<leader::Leader>> started =
        leader::Leader::start(options, [] { return static_cast<std::int64_t>(std::time(nullptr)); });
    if (!started) return started.error();
    leader::Leader& leader = *started.value();
    const Result<DirectoryWatch> watch = DirectoryWatch::open(options.directory);
    if (!watch) return watch.error();
    // What was edited between the first look and the watch.
    leader.reload_settings();
    leader.reload_accounts();
    leader.reload_site();
    log(Level::info, leader.status());
    notify_ready(leader.status());
    for (;;) {
        wait_for_any({signals.value().fd(), watch.value().fd()}, tick);
        while (const std::optional<int> signal = signals.value().next()) {
            if (*signal != SIGHUP) {
                notify_stopping();
                return {};
            }
            leader.reload_all();
            notify_status(leader.status());
        }
        const std::vector<std::string> names = watch.value().changed();
        const auto changed = [&](const char* file) {
            return std::any_of(names.begin(), names.end(),
                               [&](const std::string& name) { return name.empty() || name == file; });
        };
        if (changed("settings.json")) leader.reload_settings();
        if (changed("accounts.json")) leader.reload_accounts();
        if (changed("leader.json")) leader.reload_site();
        if (changed("settings.json") || changed("accounts.json") || changed("leader.json"))
            notify_status(leader.status());
        leader.tick();
    }
}

}  // namespace

int main(int argc, char** argv) {
    leader::Options options;
    bool leave = false;
    const int parsed = leader::parse_options(argc, argv, options, leave);
    if (leave) return parsed;
    if (const Result<void> ran = run(options); !ran) {
        log(Level::error, ran.error().message);
        return 1;
    }
    return 0;
}
