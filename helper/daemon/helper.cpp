#include "daemon/helper.hpp"

#include <unistd.h>

#include <array>
#include <ctime>
#include <utility>

#include "bus/notify.hpp"
#include "core/limits.hpp"
#include "core/settings_resolve.hpp"
#include "json/dump.hpp"
#include "json/report_json.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;

// A package manager changes many files in a row.
constexpr auto settle = 300ms;
// Should a change escape inotify.
constexpr auto look_every = 5min;
constexpr mode_t everyone_reads = 0644;

std::string clock_text(std::int64_t seconds) {
    const std::time_t then = seconds;
    const std::time_t now = ::time(nullptr);
    std::tm then_parts{};
    std::tm now_parts{};
    ::localtime_r(&then, &then_parts);
    ::localtime_r(&now, &now_parts);
    const bool today = then_parts.tm_year == now_parts.tm_year && then_parts.tm_yday == now_parts.tm_yday;
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), today ? "%H:%M" : "%Y-%m-%d %H:%M", &then_parts);
    return text.data();
}

const LendingReport* lending_of(const KnownMachines& machines, const std::string& name) {
    for (const KnownMachine& machine : machines.machines) {
        if (machine.report.name == name) return machine.report.lending ? &*machine.report.lending : nullptr;
    }
    return nullptr;
}

std::vector<std::string> names_of(const KnownMachines& machines) {
    std::vector<std::string> names;
    for (const KnownMachine& machine : machines.machines) names.push_back(machine.report.name);
    return names;
}

}  // namespace

Helper::Helper(Options options, WantedVersions wanted, service::SetupPort* setup, bus::EventLoop& loop,
               Mailbox& mailbox, service::Users* users, service::Lending* lending)
    : options_(std::move(options)),
      wanted_(std::move(wanted)),
      loop_(loop),
      mailbox_(mailbox),
      port_(setup),
      gate_(options_.run_dir, options_.state_dir),
      setup_(setup, options_.state_dir, mailbox, job_events()),
      users_(users, options_.leader, options_.paths.machine, options_.run_dir, mailbox,
             [this] {
                 publish();
                 publish_users();
                 setup_.may_work_now();
                 listeners_.status_changed();
             }),
      lending_(lending, options_.leader, options_.paths.machine, mailbox, [this] {
          publish();
          listeners_.status_changed();
      }) {}

Helper::~Helper() = default;

SetupJobs::Events Helper::job_events() {
    return {[this](const Job& job) {
                update_users();
                update_lending();
                publish();
                listeners_.job_started(job);
            },
            [this](const Job& job) {
                publish();
                listeners_.job_changed(job);
            },
            [this](const Job& job) {
                // What a success changed is seen by the look that follows.
                if (job.state == "failed") publish();
                update_users();
                users_.look();
                listeners_.job_ended(job);
                check([](const Result<std::string>&) {});
            }};
}

void Helper::start(Listeners listeners) {
    listeners_ = std::move(listeners);
    load_kept_settings();
    reporter_.emplace(options_.leader, mailbox_, [this](const Result<void>& sent) { on_reported(sent); });
    settings_watcher_.emplace(options_.leader, mailbox_,
                              [this](const Result<service::LeaderSettings>& answer) { on_settings(answer); });
    if (settings_) take_settings(Settings(*settings_));
    check([](const Result<std::string>&) {});
    if (Result<void> set = loop_.on_timer(look_every, [this] { look_again(); }); !set) {
        log(Level::warning, set.error().message);
    }
}

void Helper::look_again() {
    const Result<void> set = loop_.after(settle, [this] { check([](const Result<std::string>&) {}); });
    if (!set) log(Level::warning, set.error().message);
}

void Helper::check(bus::Answer<std::string> answer) {
    const ResolvedSettings settings =
        settings_ ? resolve_settings(*settings_, {options_.paths.machine}) : ResolvedSettings{};
    checks_.submit([this, settings, answer = std::move(answer)](const std::stop_token&) {
        service::Gathered gathered = service::gather_facts(options_.paths, inspections_);
        std::string shared = port_ == nullptr ? "" : port_->shared_problem(settings);
        mailbox_.post([this, answer, gathered = std::move(gathered), shared = std::move(shared)] {
            on_checked(gathered, shared, answer);
        });
    });
}

void Helper::on_checked(const service::Gathered& gathered, const std::string& shared_problem,
                        const bus::Answer<std::string>& answer) {
    if (shared_problem != shared_problem_ && !shared_problem.empty()) log(Level::warning, shared_problem);
    shared_problem_ = shared_problem;
    lending_.unfit_is(shared_problem_);
    check_ = check_machine(gathered.facts, wanted_, LLMGW_VERSION);
    const Result<void> watched = loop_.watch_directories(gathered.watch, [this] { look_again(); });
    if (!watched) log(Level::warning, watched.error().message);
    take_notes(gathered.facts);
    publish();
    update_gate();
    setup_.machine_is(*check_);
    users_.look();
    answer(std::string(shown_->node.ready ? "ready: " : "not ready: ") + shown_->node.reason);
}

void Helper::take_notes(const MachineFacts& facts) {
    std::vector<std::string> notes = facts.doubts;
    if (!facts.pending.empty()) notes.push_back(facts.pending);
    if (notes == notes_) return;
    notes_ = std::move(notes);
    for (const std::string& note : notes_) log(Level::info, note);
    listeners_.status_changed();
}

// A machine that isn't ready says what is being done about it, or why that failed; one that is being taken
// back is not ready from the beginning of that.
MachineCheck Helper::as_shown() const {
    MachineCheck shown = *check_;
    shown.report.users = users_.present();
    shown.report.lending = lending_.report();
    // Every container has it; one that would wait for it must not start.
    if (!shared_problem_.empty() && !setup_.withdrawn()) shown = not_ready(shown, shared_problem_);
    if (shown.node.ready && !setup_.withdrawn()) return shown;
    if (const std::string reason = setup_.reason(); !reason.empty()) shown = not_ready(shown, reason);
    return shown;
}

void Helper::publish() {
    if (!check_) return;
    MachineCheck fresh = as_shown();
    const bool different = !shown_ || !(fresh == *shown_);
    const bool another_node = !shown_ || !(fresh.node == shown_->node);
    shown_ = std::move(fresh);
    publish_node();
    if (!different) return;
    reporter_->send(shown_->report);
    if (!another_node) return;
    log(Level::info, (shown_->node.ready ? "ready: " : "not ready: ") + shown_->node.reason);
    notify_status(shown_->node.reason);
    listeners_.changed();
}

void Helper::publish_node() {
    const std::string path = options_.run_dir + "/node";
    const std::string text = format_node_state(shown_->node);
    if (state_file_says(path, text)) return;
    const Result<void> written = write_file_atomically(path, text, everyone_reads, Durability::volatile_);
    if (!written) log(Level::error, written.error().message);
}

void Helper::leader_said(const Error* error) {
    const std::string text = error == nullptr ? "" : error->message;
    if (text == leader_error_) return;
    leader_error_ = text;
    if (error != nullptr) {
        log(Level::warning, "leader " + options_.leader.url + ": " + text);
    } else {
        log(Level::info, "leader " + options_.leader.url + " answers");
    }
}

void Helper::on_reported(const Result<void>& sent) {
    leader_said(sent ? nullptr : &sent.error());
}

// The same answer comes again with every attempt.
void Helper::settings_said(const std::string& problem) {
    if (problem == settings_problem_) return;
    settings_problem_ = problem;
    if (!problem.empty()) log(Level::error, problem + "; the last good settings stay in force");
}

void Helper::on_settings(const Result<service::LeaderSettings>& answer) {
    if (!answer && answer.error().code == Code::invalid) {
        settings_said(answer.error().message);
        return;
    }
    leader_said(answer ? nullptr : &answer.error());
    if (!answer) return;
    settings_said(answer.value().problem);
    if (settings_ && *settings_ == answer.value().settings) return;
    const Result<void> kept = write_file_atomically(options_.state_dir + "/settings.json",
                                                    answer.value().text, everyone_reads, Durability::durable);
    if (!kept) log(Level::warning, kept.error().message);
    take_settings(answer.value().settings);
}

void Helper::load_kept_settings() {
    const Result<std::string> text = read_file(options_.state_dir + "/settings.json", limits::settings_bytes);
    if (!text) return;
    if (Result<Settings> settings = service::settings_from(text.value()))
        settings_ = std::move(settings).value();
}

void Helper::take_settings(const Settings& settings) {
    settings_ = settings;
    if (!is_controller()) {
        machines_watcher_.reset();
        machines_.reset();
        gate_.withdraw();
    } else if (!machines_watcher_) {
        machines_watcher_.emplace(options_.leader, mailbox_,
                                  [this](const Result<KnownMachines>& answer) { on_machines(answer); });
    }
    update_users();
    update_gate();
    update_setup();
    update_lending();
    listeners_.status_changed();
}

void Helper::update_lending() {
    if (!settings_) return;
    if (setup_.withdrawn()) return lending_.withdraw();
    const ResolvedSettings settings = resolve_settings(*settings_, {options_.paths.machine});
    const bool member = settings.enabled && settings.runs_slurmd(options_.paths.machine);
    const bool lent = member && settings.is_lent(options_.paths.machine);
    lending_.settings_are(member, lent ? WantedOwner::slurm : WantedOwner::gateway);
}

void Helper::on_machines(const Result<KnownMachines>& answer) {
    leader_said(answer ? nullptr : &answer.error());
    // Without an answer the last decision stands: the guard on each node looks for itself.
    if (!answer || !is_controller()) return;
    machines_ = answer.value();
    update_gate();
    // Under all_nodes a machine that is new changes what there is to do.
    update_setup();
    listeners_.status_changed();
}

bool Helper::is_controller() const {
    return settings_ && settings_->controller == options_.paths.machine;
}

ResolvedSettings Helper::resolved(const KnownMachines& machines) const {
    return settings_ ? resolve_settings(*settings_, names_of(machines)) : ResolvedSettings{};
}

void Helper::update_gate() {
    if (const Result<void> done = publish_gate(); !done) log(Level::error, done.error().message);
    publish_users();
}

void Helper::update_users() {
    if (settings_)
        users_.settings_are(resolve_settings(*settings_, {options_.paths.machine}), setup_.withdrawn());
}

// The controller makes slurm.conf from what all nodes say; every other machine only has to know itself.
void Helper::update_setup() {
    if (!settings_) return;
    const KnownMachines known = machines_.value_or(KnownMachines{});
    std::vector<std::string> names = names_of(known);
    names.push_back(options_.paths.machine);
    ResolvedSettings settings = resolve_settings(*settings_, names);
    if (is_controller() && settings.enabled) {
        // Which nodes there are isn't known yet, and those that run must not be lost.
        if (!machines_ && settings.all_nodes) return;
        for (const KnownMachine& machine : known.machines) {
            const MachineReport& report = machine.report;
            if (report.hardware && settings.runs_slurmd(report.name))
                settings.hardware[report.name] = *report.hardware;
        }
    }
    setup_.settings_are(settings);
}

void Helper::publish_users() {
    // Until settings are known, what an earlier helper decided stands.
    if (!settings_) return;
    users_.publish(resolved(machines_.value_or(KnownMachines{})), machines_, gate_.forced());
}

Result<void> Helper::publish_gate() {
    const bool forced = gate_.forced() != GateOverride::automatic;
    if (!is_controller() || (!check_ && !forced)) return {};
    // After a start the leader may not answer yet; an earlier decision stands until it does, but not one that
    // was forced and is so no more.
    if (!machines_ && !forced && !was_forced_ && gate_.published()) return {};
    was_forced_ = forced;
    const KnownMachines known = machines_.value_or(KnownMachines{});
    const Readiness readiness =
        machines_ || forced
            ? assess(resolved(known), known, wanted_, gate_.forced(), clock_text)
            : Readiness{false,
                        "llmgw: container jobs are refused until llmgw's leader has said which machines are "
                        "ready; it has not answered yet. Plain jobs run.",
                        {}};
    const bool before = gate_.published() && gate_.published()->open;
    Result<void> published = gate_.publish(readiness, check_ && check_->node.oci);
    if (published && readiness.open != before) log(Level::info, readiness.message);
    return published;
}

std::string Helper::state() const {
    if (!shown_) return "checking";
    return shown_->node.ready ? "ready" : "not-ready";
}

std::string Helper::reason() const {
    return shown_ ? shown_->node.reason : "being looked at";
}

std::string Helper::description(const Result<KnownMachines>& machines) const {
    Value machine_value(Value::Object{});
    machine_value.set("machine", machine()).set("state", state()).set("reason", reason());
    Value notes(Value::Array{});
    for (const std::string& note : notes_) notes.add(note);
    machine_value.set("notes", notes);
    Value leader(Value::Object{});
    leader.set("url", options_.leader.url).set("error", leader_error_);
    machine_value.set("leader", leader).set("settings_problem", settings_problem_);
    machine_value.set("controller", settings_ ? settings_->controller : "");
    machine_value.set("is_controller", is_controller());
    const KnownMachines known = machines ? machines.value() : KnownMachines{};
    const ResolvedSettings settings = resolved(known);
    machine_value.set("enabled", settings.enabled).set("cluster_name", settings.cluster_name);
    machine_value.set("containers", settings.containers);
    machine_value.set("users", users_.describe());
    machine_value.set("shared_problem", shared_problem_);
    machine_value.set("lending_problem", lending_.problem());
    if (is_controller()) {
        Value gate(Value::Object{});
        gate.set("mode", text_of(gate_.forced()));
        gate.set("open", gate_.published() && gate_.published()->open);
        gate.set("message", gate_.published() ? gate_.published()->message : "not decided yet");
        machine_value.set("gate", gate);
    }
    Value list(Value::Array{});
    if (machines) {
        const Readiness readiness = assess(settings, known, wanted_, GateOverride::automatic, clock_text);
        for (const MachineStatus& each : readiness.machines) {
            Value entry(Value::Object{});
            entry.set("name", each.name).set("ready", each.ready).set("reason", each.reason);
            if (const LendingReport* lending = lending_of(known, each.name))
                entry.set("lending", json::value_of(*lending));
            list.add(entry);
        }
    } else {
        machine_value.set("machines_error", machines.error().message);
    }
    machine_value.set("machines", list);
    return json::dump(machine_value);
}

void Helper::describe(bus::Answer<std::string> answer) {
    if (machines_) return answer(description(*machines_));
    if (!settings_) return answer(description(Error{Code::unavailable, "no settings from the leader yet"}));
    // Anyone may ask, as often as they like: the leader is asked once for all who wait.
    describing_.push_back(std::move(answer));
    if (describing_.size() > 1) return;
    errands_.submit([this](const std::stop_token& stop) {
        Result<KnownMachines> machines = service::LeaderClient(options_.leader).machines(0, stop);
        mailbox_.post([this, machines = std::move(machines)] {
            const std::string text = description(machines);
            for (const bus::Answer<std::string>& waiting : std::exchange(describing_, {})) waiting(text);
        });
    });
}

void Helper::set_containers(bool on, bus::Answer<std::string> answer) {
    errands_.submit([this, on, answer = std::move(answer)](const std::stop_token& stop) {
        const Result<void> done = service::LeaderClient(options_.leader).set_containers(on, stop);
        Result<std::string> said =
            done ? Result<std::string>(on ? "containers are switched on" : "containers are switched off")
                 : Result<std::string>(done.error());
        mailbox_.post([answer, said = std::move(said)] { answer(said); });
    });
}

void Helper::set_lent(std::vector<std::string> add, std::vector<std::string> remove,
                      std::optional<Reclaim> reclaim, bus::Answer<std::string> answer) {
    errands_.submit([this, add = std::move(add), remove = std::move(remove), reclaim,
                     answer = std::move(answer)](const std::stop_token& stop) {
        const Result<void> done = service::LeaderClient(options_.leader).set_lent(add, remove, reclaim, stop);
        Result<std::string> said = done ? Result<std::string>(std::string("the settings say so now"))
                                        : Result<std::string>(done.error());
        mailbox_.post([answer, said = std::move(said)] { answer(said); });
    });
}

void Helper::set_fence(const std::string& node, bool on, bus::Answer<std::string> answer) {
    if (node != options_.paths.machine) {
        return answer(Error{Code::invalid, "this is " + options_.paths.machine +
                                               "; a node's fence is on that node: say it there"});
    }
    lending_.set_fence(on, [this, on, answer](const Result<void>& done) {
        if (!done) return answer(done.error());
        update_lending();
        answer(on ? std::string("the fence is up: no job starts here unless the node is lent")
                  : std::string("the fence is down: jobs start here whenever Slurm lets them, also while "
                                "llmgw has the node"));
    });
}

void Helper::set_gate(const std::string& mode, bus::Answer<std::string> answer) {
    const std::optional<GateOverride> wanted = override_from(mode);
    if (!wanted) return answer(Error{Code::invalid, "the gate can be open, closed or auto"});
    if (!is_controller()) {
        const std::string where = settings_ ? settings_->controller : "the controller";
        return answer(Error{Code::invalid, "the gate is on " + where + "; say it there"});
    }
    if (const Result<void> forced = gate_.force(*wanted); !forced) return answer(forced.error());
    if (const Result<void> done = publish_gate(); !done) return answer(done.error());
    publish_users();
    answer("the gate is " + mode);
}

void Helper::plan(bool thorough, bus::Answer<std::string> answer) {
    setup_.plan(thorough, answer);
}

Result<std::uint32_t> Helper::apply() {
    const Result<Job> job = setup_.apply();
    return job ? Result<std::uint32_t>(job.value().id) : job.error();
}

Result<std::uint32_t> Helper::uninstall(bool force) {
    const Result<Job> job = setup_.uninstall(force);
    return job ? Result<std::uint32_t>(job.value().id) : job.error();
}

std::vector<std::uint32_t> Helper::jobs() const {
    std::vector<std::uint32_t> ids;
    for (const Job& job : setup_.jobs()) ids.push_back(job.id);
    return ids;
}

void Helper::recheck(bus::Answer<std::string> answer) {
    check(std::move(answer));
}

}  // namespace llmgw::daemon
