// llmgw-slurm lend, reclaim, fence: who has a node.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>

#include "bus/client.hpp"
#include "bus/follow.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "ctl/answer.hpp"
#include "ctl/context.hpp"
#include "ctl/status_text.hpp"

namespace llmgw::ctl {
namespace {

struct Arguments {
    std::vector<std::string> nodes;
    bool wait = false;
    bool cancel = false;
    std::string word;  // of fence: on or off; of reclaim: the deadline
};

// "30m", "90s", "2h", "1d"; a number alone is minutes, as in Slurm's time limits.
std::string read_duration(const std::string& text, std::chrono::seconds& into) {
    std::size_t digits = 0;
    unsigned long long number = 0;
    try {
        number = std::stoull(text, &digits);
    } catch (const std::exception&) {
        digits = 0;
    }
    const std::string unit = text.substr(std::min(digits, text.size()));
    const int seconds = unit == "s"                   ? 1
                        : unit.empty() || unit == "m" ? 60
                        : unit == "h"                 ? 3600
                        : unit == "d"                 ? 86400
                                                      : 0;
    constexpr unsigned long long most = 366ULL * 86400;
    if (digits == 0 || text[0] == '-' || seconds == 0 || number > most)
        return "say it like 30m, 90s, 2h or 1d";
    into = std::chrono::seconds(static_cast<long long>(number) * seconds);
    return "";
}

const Value* lending_of(const Value& status, const std::string& node) {
    const Value* machines = status.find("machines");
    if (machines == nullptr || machines->array() == nullptr) return nullptr;
    for (const Value& machine : *machines->array()) {
        if (text_at(machine, "name") == node) return machine.find("lending");
    }
    return nullptr;
}

// Until all nodes are in that phase; says what each waits for, whenever that changes. Ctrl-C ends only the
// waiting.
int wait_for(Context& context, const std::vector<std::string>& nodes, const std::string& phase) {
    std::vector<std::string> said(nodes.size());
    bool all = false;
    const auto look = [&] {
        const Result<std::string> text = bus::call_helper(helper_of(context), "Describe");
        const Result<Value> status = text ? parsed_answer(text.value()) : Result<Value>(text.error());
        all = status.ok();
        for (std::size_t i = 0; status && i < nodes.size(); ++i) {
            const Value* lending = lending_of(status.value(), nodes[i]);
            const std::string line =
                nodes[i] + ": " + (lending == nullptr ? "has not reported yet" : lending_text(*lending));
            all = all && lending != nullptr && text_at(*lending, "phase") == phase;
            if (line != said[i]) context.out << printable(line, limits::message_bytes) << '\n' << std::flush;
            said[i] = line;
        }
        return !all && context.out.good();
    };
    const Result<void> watched = bus::watch_helper(helper_of(context), look);
    if (!watched) return failed(context, watched.error());
    return all ? exit_fine : exit_failed;
}

int change(Context& context, const Arguments& arguments, bool lend) {
    std::optional<Reclaim> reclaim;
    std::chrono::seconds deadline{0};
    if (!lend && !arguments.word.empty() && read_duration(arguments.word, deadline).empty())
        reclaim = Reclaim{::time(nullptr) + deadline.count(), arguments.cancel ? "cancel" : "requeue"};
    const std::vector<std::string> none;
    const Result<std::string> said = bus::call_set_lent(helper_of(context), lend ? arguments.nodes : none,
                                                        lend ? none : arguments.nodes, reclaim);
    if (!said) return failed(context, said.error());
    if (arguments.wait) return wait_for(context, arguments.nodes, lend ? "slurm" : "gateway");
    context.out << (lend ? "lent to Slurm: " : "taken back from Slurm: ") << join(arguments.nodes, ", ")
                << ". \"llmgw-slurm status\" shows how far they are.\n";
    return exit_fine;
}

}  // namespace

void add_lend(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* lend = app.add_subcommand(
        "lend", "lends nodes to Slurm: llmgw drains its replicas there, then Slurm has them");
    lend->footer("Exit code with --wait: 0 when Slurm has all of them. Ctrl-C ends only the waiting.");
    lend->add_option("NODE", arguments->nodes, "nodes of the settings")->required();
    lend->add_flag("--wait", arguments->wait, "until Slurm has them, saying what each waits for");
    lend->callback([arguments, &context] { context.exit_code = change(context, *arguments, true); });
}

void add_reclaim(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* reclaim = app.add_subcommand(
        "reclaim",
        "takes nodes back from Slurm: drained there, given to llmgw when their last job has ended");
    reclaim->footer("Exit code with --wait: 0 when llmgw has all of them. Ctrl-C ends only the waiting.");
    reclaim->add_option("NODE", arguments->nodes, "lent nodes")->required();
    reclaim->add_flag("--wait", arguments->wait, "until llmgw has them, saying what each waits for");
    CLI::Option* deadline = reclaim->add_option("--deadline", arguments->word,
                                                "when jobs that still run are put back in the queue (30m, "
                                                "2h; a number alone is minutes); their users are told. "
                                                "Without it they are waited for");
    deadline->check(CLI::Validator(
        [](std::string& text) {
            std::chrono::seconds unused{0};
            return read_duration(text, unused);
        },
        "TIME"));
    reclaim->add_flag("--cancel", arguments->cancel, "at the deadline, cancel them instead")->needs(deadline);
    reclaim->callback([arguments, &context] { context.exit_code = change(context, *arguments, false); });
}

void add_fence(CLI::App& app, Context& context) {
    const auto arguments = std::make_shared<Arguments>();
    CLI::App* fence = app.add_subcommand(
        "fence",
        "the fence keeps jobs off a node that is not lent; off is the way round for an admin, on that node");
    fence->footer("With the fence off llmgw and Slurm can use the same GPUs at the same time.");
    fence->add_option("SWITCH", arguments->word, "on or off")
        ->required()
        ->check(CLI::IsMember({"on", "off"}));
    fence->add_option("NODE", arguments->nodes, "this node")->required()->expected(1);
    fence->callback([arguments, &context] {
        const Result<std::string> said =
            bus::call_set_fence(helper_of(context), arguments->nodes[0], arguments->word == "on");
        if (said) context.out << printable(said.value(), limits::message_bytes) << '\n';
        context.exit_code = said ? exit_fine : failed(context, said.error());
    });
}

}  // namespace llmgw::ctl
