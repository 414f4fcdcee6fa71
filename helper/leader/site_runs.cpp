#include "leader/site_runs.hpp"

#include <charconv>

#include "core/last_words.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "posix/process.hpp"

namespace llmgw::leader {
namespace {

// EX_TEMPFAIL of sysexits.h.
constexpr int exit_refused = 75;

Result<Outcome> run_for(const std::vector<std::string>& argv, const std::string& node,
                        std::chrono::milliseconds deadline, int stop) {
    Command command;
    command.argv = for_node(argv, node);
    command.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                           "LC_ALL=C.UTF-8"};
    command.deadline = deadline;
    command.most_output = limits::program_output_bytes;
    command.errors_apart = true;
    command.stop = stop;
    return run(command);
}

SiteRun failed(const char* what, const std::string& why) {
    return {SiteRun::Kind::unknown, 0, shortened(std::string(what) + ": " + why, limits::message_bytes)};
}

// What a program that didn't end well has to say for itself.
std::string complaint(const std::string& program, const Outcome& outcome) {
    std::string words = last_words(outcome.errors.empty() ? outcome.output : outcome.errors, 1);
    if (words.empty()) words = "it says nothing";
    return program + " ended with code " + std::to_string(outcome.exit_code) + ": " + words;
}

SiteRun effect(const char* what, const std::vector<std::string>& argv, const Result<Outcome>& outcome) {
    if (!outcome) return failed(what, outcome.error().message);
    if (!outcome.value().success()) return failed(what, complaint(argv[0], outcome.value()));
    return {SiteRun::Kind::done, 0, ""};
}

}  // namespace

std::optional<std::uint32_t> replicas_in(std::string_view output) {
    while (!output.empty() && (output.back() == '\n' || output.back() == '\r')) output.remove_suffix(1);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(output.data(), output.data() + output.size(), number);
    if (error != std::errc{} || end != output.data() + output.size()) return std::nullopt;
    if (output != std::to_string(number)) return std::nullopt;  // "00"
    return number;
}

SiteRun run_drain(const SiteCommands& commands, const std::string& node, int stop) {
    const Result<Outcome> outcome = run_for(commands.drain, node, limits::drain_deadline, stop);
    if (outcome && outcome.value().exit_code == exit_refused) {
        const std::string said = last_words(outcome.value().errors, 1);
        return {SiteRun::Kind::refused, 0, said.empty() ? "drain refuses, and does not say why" : said};
    }
    return effect("drain", commands.drain, outcome);
}

SiteRun run_replicas(const SiteCommands& commands, const std::string& node, int stop) {
    const Result<Outcome> outcome = run_for(commands.replicas, node, limits::replicas_deadline, stop);
    if (!outcome || !outcome.value().success()) return effect("replicas", commands.replicas, outcome);
    const std::optional<std::uint32_t> replicas = replicas_in(outcome.value().output);
    if (!replicas) {
        return failed("replicas", commands.replicas[0] + " said " + shown(outcome.value().output) +
                                      ", which is no number");
    }
    return {SiteRun::Kind::done, *replicas, ""};
}

SiteRun run_release(const SiteCommands& commands, const std::string& node, int stop) {
    return effect("release", commands.release,
                  run_for(commands.release, node, limits::release_deadline, stop));
}

}  // namespace llmgw::leader
