#include <sys/stat.h>

#include <csignal>
#include <iostream>

#include "bus/event_loop.hpp"
#include "bus/manager.hpp"
#include "bus/notify.hpp"
#include "bus/unit_runner.hpp"
#include "daemon/helper.hpp"
#include "daemon/options.hpp"
#include "posix/file.hpp"
#include "posix/shared_probe.hpp"
#include "service/config_trial.hpp"
#include "service/homes_task.hpp"
#include "service/lending.hpp"
#include "service/path_check.hpp"
#include "service/releases.hpp"
#include "service/setup.hpp"
#include "slurm/plugin_file.hpp"

using namespace llmgw;

namespace {

int fail(const Error& error) {
    std::cerr << "llmgw-slurm-helper: " << error.message << '\n';
    return 1;
}

// Before any thread starts, so that all inherit it and the event loop gets these signals alone.
void block_signals() {
    sigset_t handled;
    sigemptyset(&handled);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&handled, signal);
    pthread_sigmask(SIG_BLOCK, &handled, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
}

service::SetupOptions setup_options(const daemon::Options& options) {
    service::SetupOptions setup;
    setup.paths = options.paths;
    setup.run_dir = options.run_dir;
    setup.state_dir = options.state_dir;
    setup.fetch = options.fetch;
    setup.guard_dir = options.guard_dir;
    setup.proof_init = options.proof_init;
    setup.build_deadline = std::chrono::seconds(options.build_timeout);
    setup.leader = options.leader;
    setup.logins = options.logins;
    setup.pam_module = std::string(LLMGW_PAM_DIR) + "/" + adopt_module;
    setup.login_program = LLMGW_LIBEXEC_DIR "/llmgw-slurm-login";
    setup.conduct = options.observe ? Conduct::observe : Conduct::manage;
    return setup;
}

service::LendingOptions lending_options(const daemon::Options& options) {
    service::LendingOptions lending;
    lending.machine = options.paths.machine;
    lending.state_dir = options.state_dir;
    lending.run_dir = options.run_dir;
    lending.node_program = options.node_program;
    lending.slurmd.machine = options.paths.machine;
    lending.slurmd.slurm_conf = options.paths.slurm_conf_dir + "/slurm.conf";
    lending.gpus = options.gpus;
    lending.leader = options.leader;
    return lending;
}

Result<void> serve(const daemon::Options& options, const Releases& releases) {
    Result<bus::EventLoop> created = bus::EventLoop::create();
    Result<std::unique_ptr<daemon::Mailbox>> mailbox = daemon::Mailbox::create();
    if (!created) return created.error();
    if (!mailbox) return mailbox.error();
    bus::EventLoop& loop = created.value();
    daemon::Mailbox& letters = *mailbox.value();

    const std::unique_ptr<TaskRunner> runner = bus::best_runner(options.bus_address);
    service::UsersOptions users_options;
    users_options.state_dir = options.state_dir;
    users_options.machine = options.paths.machine;
    users_options.program = options.paths.inspector;
    service::Users users(users_options, *runner);
    service::Setup setup(setup_options(options), releases, *runner, &users);
    service::Lending lending(lending_options(options));
    const bool lends = !options.observe || options.lend;
    daemon::Helper helper(options, releases.wanted(), &setup, loop, letters,
                          options.observe ? nullptr : &users, lends ? &lending : nullptr);
    Result<bus::Manager> manager = bus::Manager::connect(loop, options.bus_address, options.bus_name, helper);
    if (!manager) return manager.error();
    for (const int signal : {SIGTERM, SIGINT}) {
        if (Result<void> done = loop.on_signal(signal, [&] { loop.exit(); }); !done) return done;
    }
    if (Result<void> done = loop.on_signal(SIGHUP, [&] { helper.look_again(); }); !done) return done;
    if (Result<void> done = loop.on_readable(letters.fd(), [&] { letters.deliver(); }); !done) return done;
    bus::Manager& bus = manager.value();
    helper.start(
        {[&] { bus.changed(); }, [&] { bus.status_changed(); }, [&](const Job& job) { bus.job_started(job); },
         [&](const Job& job) { bus.job_changed(job); }, [&](const Job& job) { bus.job_ended(job); }});
    notify_ready("looking at this machine");
    const int result = loop.run();
    notify_stopping();
    if (result < 0) return Error{Code::internal, "the event loop broke: " + reason_of(-result)};
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    daemon::Options options;
    bool leave = false;
    const int parsed = daemon::parse_options(argc, argv, options, leave);
    if (leave) return parsed;
    if (!options.probe_paths.empty()) return service::probe_here(options.probe_paths);
    if (!options.make_homes.empty()) return service::make_homes_here(options.make_homes);
    if (!options.look_at_shared.empty()) return look_at_shared_here(options.look_at_shared);
    if (!options.inspect_plugin.empty()) {
        return slurm::inspect_here(options.inspect_plugin, options.paths.slurm_library);
    }
    if (!options.try_slurm_conf.empty()) return service::try_config_here(options.try_slurm_conf);
    block_signals();
    ::umask(022);
    const Result<service::ReleasesInForce> in_force =
        service::releases_in_force(options.own_releases, options.releases);
    if (!in_force) return fail(in_force.error());
    const Releases& releases = in_force.value().releases;
    for (const std::string& directory : {options.run_dir, options.state_dir}) {
        if (const Result<void> made = make_directories(directory, 0755); !made) return fail(made.error());
    }
    if (options.withdraw || options.leave_logins) {
        const std::unique_ptr<TaskRunner> runner = bus::best_runner(options.bus_address);
        service::Setup setup(setup_options(options), releases, *runner);
        const Result<void> done = options.withdraw ? setup.withdraw() : setup.leave_logins();
        return done ? 0 : fail(done.error());
    }
    const Result<void> served = serve(options, releases);
    return served ? 0 : fail(served.error());
}
