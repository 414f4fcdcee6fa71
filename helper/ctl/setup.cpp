// llmgw-slurm plan, doctor, apply, uninstall: what the helper of this machine would do, and that it does it.
#include <CLI/CLI.hpp>
#include <memory>

#include "bus/client.hpp"
#include "bus/follow.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "ctl/answer.hpp"
#include "ctl/context.hpp"
#include "ctl/job_text.hpp"
#include "json/dump.hpp"

namespace llmgw::ctl {
namespace {

struct Arguments {
    bool as_json = false;
    bool wait = false;
    bool force = false;
};

int show_plan(Context& context, const std::string& method, bool as_json) {
    const Result<std::string> text = bus::call_helper(helper_of(context), method);
    if (!text) return failed(context, text.error());
    const Result<Value> plan = parsed_answer(text.value());
    if (!plan) return failed(context, plan.error().within("the helper's answer"));
    if (as_json) {
        context.out << json::dump(plan.value(), json::Layout::indented);
    } else {
        context.out << plan_text(plan.value());
    }
    return all_done(plan.value()) ? exit_fine : exit_failed;
}

// On a terminal one line that changes, elsewhere a line for each step and note.
class Progress {
  public:
    Progress(Context& context, bool as_json) : context_(context), as_json_(as_json) {}

    void show(const Job& job) {
        if (as_json_) {
            context_.out << json::dump(job_value(job)) << '\n' << std::flush;
        } else if (context_.terminal) {
            // Back to the line's begin, and clear what the last one left.
            context_.out << "\r\033[K" << job_text(job) << (job.running() ? "" : "\n") << std::flush;
        } else if (job.step != last_.step || job.note != last_.note || !job.running()) {
            context_.out << job_text(job) << '\n' << std::flush;
        }
        last_ = job;
    }

  private:
    Context& context_;
    bool as_json_;
    Job last_;
};

int follow(Context& context, const Result<std::uint32_t>& started, const Arguments& arguments) {
    if (!started) return failed(context, started.error());
    Progress progress(context, arguments.as_json);
    if (!arguments.wait && !context.terminal) {
        const Result<Job> job = bus::read_job(helper_of(context), started.value());
        if (!job) return failed(context, job.error());
        progress.show(job.value());
        return exit_fine;
    }
    if (context.terminal && !arguments.as_json) context.err << "Ctrl-C leaves this; the work goes on.\n";
    const Result<Job> job = bus::follow_job(helper_of(context), started.value(),
                                            [&](const Job& changed) { progress.show(changed); });
    if (!job) return failed(context, job.error());
    return job.value().state == "done" ? exit_fine : exit_failed;
}

void add_flags(CLI::App& command, Arguments& arguments) {
    command.add_flag("--json", arguments.as_json, "as JSON (docs/dbus.md)");
}

constexpr const char* follow_footer =
    "On a terminal it shows the work until that has ended; Ctrl-C leaves, the work goes on, and the same "
    "command shows it "
    "again. Elsewhere it returns at once unless --wait is there.\n"
    "Exit code: 0 done, or begun; 1 failed, or nobody answers.";

}  // namespace

void add_plan(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* plan = app.add_subcommand("plan", "what making this machine ready would do; changes nothing");
    plan->footer("Exit code: 0 when nothing is left to do, 1 when something is or nobody answers.");
    add_flags(*plan, *arguments);
    plan->callback(
        [arguments, &context] { context.exit_code = show_plan(context, "Plan", arguments->as_json); });
}

void add_doctor(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* doctor = app.add_subcommand(
        "doctor", "checks everything that makes this machine ready, file systems included");
    doctor->footer("Exit code: 0 when all is well, 1 when something isn't or nobody answers.");
    add_flags(*doctor, *arguments);
    doctor->callback(
        [arguments, &context] { context.exit_code = show_plan(context, "Doctor", arguments->as_json); });
}

void add_apply(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* apply = app.add_subcommand("apply", "makes this machine ready now, and shows how that goes");
    apply->footer(follow_footer);
    apply->add_flag("--wait", arguments->wait, "return when it has ended, also without a terminal");
    add_flags(*apply, *arguments);
    apply->callback([arguments, &context] {
        context.exit_code = follow(context, bus::start_job(helper_of(context), "Apply"), *arguments);
    });
}

void add_uninstall(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* uninstall =
        app.add_subcommand("uninstall", "takes back what was done to this machine, and nothing else");
    uninstall->footer(follow_footer);
    uninstall->add_flag("--wait", arguments->wait, "return when it has ended, also without a terminal");
    uninstall->add_flag("--force", arguments->force, "although containers are on for this machine");
    add_flags(*uninstall, *arguments);
    uninstall->callback([arguments, &context] {
        context.exit_code =
            follow(context, bus::start_job(helper_of(context), "Uninstall", arguments->force), *arguments);
    });
}

}  // namespace llmgw::ctl
