// llmgw-slurm status, containers, gate: asks the helper of this machine.
#include <CLI/CLI.hpp>
#include <memory>

#include "bus/client.hpp"
#include "bus/follow.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "ctl/answer.hpp"
#include "ctl/context.hpp"
#include "ctl/status_text.hpp"
#include "json/dump.hpp"

namespace llmgw::ctl {
namespace {

int show_status(Context& context, bool as_json) {
    const Result<std::string> text = bus::call_helper(helper_of(context), "Describe");
    if (!text) return failed(context, text.error());
    const Result<Value> status = parsed_answer(text.value());
    if (!status) return failed(context, status.error().within("the helper's answer"));
    if (as_json) {
        context.out << json::dump(status.value(), json::Layout::indented);
    } else {
        context.out << status_text(status.value());
    }
    return everything_ready(status.value()) ? exit_fine : exit_failed;
}

// Until Ctrl-C, or until everything is ready.
int watch_status(Context& context, bool as_json) {
    std::string last;
    const auto show = [&] {
        const Result<std::string> text = bus::call_helper(helper_of(context), "Describe");
        const Result<Value> status = text ? parsed_answer(text.value()) : Result<Value>(text.error());
        const std::string shown =
            !status   ? "llmgw-slurm: " + printable(status.error().message, limits::message_bytes) + "\n"
            : as_json ? json::dump(status.value()) + "\n"
                      : status_text(status.value());
        if (shown != last) {
            // A fresh screen on a terminal; elsewhere one state after another.
            context.out << (context.terminal && !as_json ? "\033[H\033[2J"
                            : last.empty() || as_json    ? ""
                                                         : "\n")
                        << shown << std::flush;
        }
        last = shown;
        context.exit_code = status && everything_ready(status.value()) ? exit_fine : exit_failed;
        return context.exit_code != exit_fine && context.out.good();
    };
    const Result<void> watched = bus::watch_helper(helper_of(context), show);
    return watched ? context.exit_code : failed(context, watched.error());
}

int tell(Context& context, const Result<std::string>& said) {
    if (!said) return failed(context, said.error());
    context.out << printable(said.value(), limits::message_bytes) << '\n';
    return exit_fine;
}

struct Arguments {
    bool as_json = false;
    bool watch = false;
    std::string word;
};

}  // namespace

void add_status(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* status = app.add_subcommand("status", "each machine with its state, and the gate");
    status->footer("Exit code: 0 when every machine is ready, 1 when one isn't or nobody answers.");
    status->add_flag("--json", arguments->as_json, "as JSON (docs/dbus.md)");
    status->add_flag("--watch", arguments->watch, "again at each change, until every machine is ready");
    status->callback([arguments, &context] {
        context.exit_code = arguments->watch ? watch_status(context, arguments->as_json)
                                             : show_status(context, arguments->as_json);
    });
}

void add_containers(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* containers = app.add_subcommand("containers", "switches containers on or off for the cluster");
    containers->add_option("SWITCH", arguments->word, "on or off")
        ->required()
        ->check(CLI::IsMember({"on", "off"}));
    containers->callback([arguments, &context] {
        context.exit_code =
            tell(context, bus::call_helper(helper_of(context), "SetContainers", arguments->word == "on"));
    });
}

void add_gate(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* gate =
        app.add_subcommand("gate", "opens or closes the controller's gate for container jobs by hand");
    gate->footer("open and closed hold until auto, which lets the machines' state decide again.");
    gate->add_option("MODE", arguments->word, "open, closed or auto")
        ->required()
        ->check(CLI::IsMember({"open", "closed", "auto"}));
    gate->callback([arguments, &context] {
        context.exit_code = tell(context, bus::call_helper(helper_of(context), "SetGate", arguments->word));
    });
}

void add_recheck(CLI::App& app, Context& context) {
    CLI::App* recheck =
        app.add_subcommand("recheck", "looks at this machine again now, and says what was found");
    recheck->callback(
        [&context] { context.exit_code = tell(context, bus::call_helper(helper_of(context), "Recheck")); });
}

}  // namespace llmgw::ctl
