#include "service/lending.hpp"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <set>
#include <system_error>

#include "core/extern_step.hpp"
#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/slurm_node_text.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"
#include "posix/process.hpp"
#include "posix/secret.hpp"

namespace llmgw::service {
namespace {

constexpr mode_t everyone_reads = 0644;
constexpr std::size_t lease_random_bytes = 8;

std::string clock_of(std::int64_t seconds) {
    const std::time_t time = seconds;
    std::tm parts{};
    ::localtime_r(&time, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts);
    return text.data();
}

std::set<std::uint32_t> numbers_in(const std::vector<std::string>& steps) {
    std::set<std::uint32_t> numbers;
    for (const std::string& step : steps) {
        if (const auto number = parse_job_number(std::string_view(step).substr(0, step.find('.'))))
            numbers.insert(*number);
    }
    return numbers;
}

std::string text_of_job(const SlurmJob& job) {
    return "job " + std::to_string(job.id) + " of " + job.user +
           (job.ends > 0 ? ", until " + clock_of(job.ends) + " at most" : ", without a time limit");
}

// In these it matters what the machine itself shows.
bool looks_here(const LendingRecord& record) {
    return record.phase == LendingPhase::checking || record.phase == LendingPhase::emptying ||
           record.phase == LendingPhase::slurm;
}

}  // namespace

Lending::Lending(LendingOptions options) : options_(std::move(options)), leader_(options_.leader) {}

bool Lending::has_record() const {
    return ::access((options_.state_dir + "/lending").c_str(), F_OK) == 0;
}

std::string Lending::spool_dir() const {
    return slurmd_here().spool_dir;
}

Result<LendingRecord> Lending::load() const {
    const std::string path = options_.state_dir + "/lending";
    const Result<StateFile> file = read_state_file(path, limits::state_file_bytes);
    if (!file) {
        if (file.error().code == Code::missing) {
            LendingRecord first;
            first.since = ::time(nullptr);
            return first;
        }
        return file.error();
    }
    Result<LendingRecord> record = parse_lending_record(file.value().content);
    if (record) return record;
    return record.error().within(path +
                                 " can't be used (remove it once neither a replica of llmgw's nor a job "
                                 "of Slurm's is on this node; it begins anew then)");
}

Result<void> Lending::save(const LendingRecord& record) const {
    return write_file_atomically(options_.state_dir + "/lending", format_lending_record(record),
                                 everyone_reads, Durability::durable);
}

Result<std::string> Lending::ask_slurm(std::vector<std::string> words) const {
    Command command;
    command.argv = {options_.node_program};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                           "SLURM_CONF=" + slurmd_here().conf};
    command.deadline = limits::slurm_answer;
    const Result<Outcome> outcome = run(command);
    if (!outcome) return outcome.error().within("slurmctld");
    if (!outcome.value().success())
        return Error{Code::unavailable, "slurmctld: " + last_line(outcome.value().output)};
    return outcome.value().output;
}

std::optional<NodeHere> Lending::look_here(const LendingWish& wish, const SlurmdFacts& slurmd,
                                           bool with_times, LendingOutcome& outcome) {
    NodeHere here;
    here.slurmd_runs = slurmd.running;
    here.unfit = wish.unfit;
    std::set<std::uint32_t> numbers = numbers_in(slurmd.steps);
    if (with_times && !numbers.empty()) {
        std::vector<std::string> words{"jobs"};
        for (const std::uint32_t number : numbers) words.push_back(std::to_string(number));
        const Result<std::string> said = ask_slurm(std::move(words));
        const Result<std::vector<SlurmJob>> jobs = said ? parse_slurm_jobs(said.value()) : said.error();
        // slurmctld only adds to what is here: a step that it doesn't know any more is here all the same.
        for (const SlurmJob& job : jobs ? jobs.value() : std::vector<SlurmJob>{}) {
            if (numbers.erase(job.id) > 0) here.jobs.push_back(text_of_job(job));
        }
    }
    for (const std::uint32_t number : numbers) here.jobs.push_back("job " + std::to_string(number));
    const Result<std::vector<std::string>> holders = gpu_holders(options_.gpus);
    if (!holders) {
        outcome.waiting = {holders.error().message};
        return std::nullopt;
    }
    // What a job holds is told with the job.
    if (here.jobs.empty()) here.gpu_holders = holders.value();
    return here;
}

Result<LendingFacts> Lending::gather(const LendingRecord& record, const LendingWish& wish,
                                     LendingOutcome& outcome, const std::stop_token& stop) {
    LendingFacts facts;
    facts.wanted = wish.wanted;
    facts.ask_again = wish.ask_again;
    facts.now = ::time(nullptr);
    const Result<std::string> random = random_hex(lease_random_bytes);
    if (!random) return random.error();
    facts.fresh_lease = options_.machine.substr(0, 40) + "." + random.value();
    const Result<std::optional<LeaseAnswer>> lease =
        leader_.lease(options_.machine, 0, std::chrono::seconds(0), stop);
    if (lease && lease.value()) facts.leader = *lease.value();
    // slurmctld first: what it says must not be newer than the look at the machine that has to bear it out.
    const Result<std::string> said = ask_slurm({"show", options_.machine});
    const Result<NodeInSlurm> node =
        said ? parse_node_in_slurm(said.value(), options_.machine) : Result<NodeInSlurm>(said.error());
    if (node) facts.slurm = node.value();
    const SlurmdFacts slurmd = slurmd_here();
    if (looks_here(record)) {
        const bool for_people = record.phase == LendingPhase::emptying && !record.closing;
        facts.here = look_here(wish, slurmd, for_people, outcome);
    }
    outcome.failed = !lease || !node;
    if (!node && outcome.waiting.empty()) outcome.waiting = {node.error().message};
    return facts;
}

Result<void> Lending::end_jobs(const Reclaim& reclaim) {
    const Result<std::string> said = ask_slurm({"jobs-on", options_.machine});
    if (!said) return said.error();
    const Result<std::vector<SlurmJob>> jobs = parse_slurm_jobs(said.value());
    if (!jobs) return jobs.error();
    if (jobs.value().empty()) return {};
    std::vector<std::string> words{
        "end", reclaim.then,
        "llmgw: node " + options_.machine + " is needed back, and its deadline of " +
            clock_of(reclaim.deadline) + " has come: this job is " +
            (reclaim.then == "requeue" ? "put back in the queue, or cancelled where it "
                                         "can't be"
                                       : "cancelled")};
    for (const SlurmJob& job : jobs.value()) words.push_back(std::to_string(job.id));
    log(Level::warning, words[2] + ", " + std::to_string(jobs.value().size()) + " jobs");
    const Result<std::string> ended = ask_slurm(std::move(words));
    return ended ? Result<void>() : ended.error();
}

Result<void> Lending::carry_out(LendingEffect effect, const LendingRecord& record,
                                const std::stop_token& stop) {
    const std::string generation = std::to_string(record.generation);
    const auto done = [](const auto& result) {
        return result ? Result<void>() : Result<void>(result.error());
    };
    switch (effect) {
        case LendingEffect::none:
            return {};
        case LendingEffect::ask:
            return done(leader_.ask_lease(options_.machine, record.lease, record.generation, stop));
        case LendingEffect::give_back:
            return done(leader_.give_back_lease(options_.machine, record.lease, record.generation, stop));
        case LendingEffect::drain:
            return done(ask_slurm({"drain", options_.machine, generation}));
        case LendingEffect::undrain:
            return done(ask_slurm({"undrain", options_.machine, generation}));
        case LendingEffect::end_jobs:
            return end_jobs(record.reclaim.value_or(Reclaim{}));
    }
    return {};
}

Result<LendingOutcome> Lending::go_on(const LendingWish& wish, const std::stop_token& stop) {
    const std::lock_guard lock(writing_);
    LendingOutcome outcome;
    for (int steps = 0; steps < limits::lending_steps && !stop.stop_requested(); ++steps) {
        const Result<LendingRecord> record = load();
        if (!record) return record.error();
        outcome = {};
        outcome.record = record.value();
        const Result<LendingFacts> facts = gather(record.value(), wish, outcome, stop);
        if (!facts) return facts.error();
        const LendingDecision decision = decide_lending(record.value(), facts.value());
        if (!(decision.next == record.value()) || !has_record()) {
            if (Result<void> saved = save(decision.next); !saved) return saved.error();
            if (decision.next.phase != record.value().phase) {
                log(Level::info, std::string("lending: ") + text_of(decision.next.phase) + ", generation " +
                                     std::to_string(decision.next.generation));
            }
            continue;
        }
        const std::vector<std::string> unknown = std::move(outcome.waiting);
        outcome.waiting = decision.waiting;
        for (const std::string& text : unknown) {
            if (!decision.waiting.empty()) outcome.waiting.push_back(text);
        }
        const bool emptied = facts.value().here && facts.value().here->jobs.empty() && facts.value().slurm;
        outcome.soon =
            record.value().phase == LendingPhase::emptying && emptied && !facts.value().slurm->idle;
        if (decision.effect == LendingEffect::none) return outcome;
        if (Result<void> done = carry_out(decision.effect, record.value(), stop); !done) {
            outcome.failed = true;
            // Another generation, or another drain: the next look sees which.
            if (done.error().code == Code::conflict) continue;
            outcome.waiting.push_back(done.error().message);
            return outcome;
        }
        // Jobs end by themselves from there on.
        if (decision.effect == LendingEffect::end_jobs) return outcome;
    }
    return outcome;
}

Result<void> Lending::send_away(const std::stop_token& stop) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(fence_dir(), error), end; !error && entry != end;
         entry.increment(error)) {
        if (stop.stop_requested()) return {};
        const std::string path = entry->path();
        const auto number = parse_job_number(entry->path().filename().string());
        if (!number) continue;
        const Result<LendingRecord> record = load();
        if (!record || !record.value().admits_jobs()) {
            const std::uint64_t generation = record ? record.value().generation : 0;
            log(Level::warning,
                "job " + std::to_string(*number) +
                    " was about to start here, but this node is not lent to Slurm: somebody has "
                    "resumed it. It is drained again, and the job sent away");
            if (const auto drained = ask_slurm({"drain", options_.machine, std::to_string(generation)});
                !drained)
                return drained.error();
            const auto ended = ask_slurm(
                {"end", "requeue",
                 "llmgw: node " + options_.machine + " is not lent to Slurm, and no job starts there",
                 std::to_string(*number)});
            if (!ended) return ended.error();
        }
        if (Result<void> removed = remove_file(path); !removed) return removed;
    }
    return {};
}

Result<void> Lending::set_fence(bool on) {
    const std::lock_guard lock(writing_);
    const Result<LendingRecord> record = load();
    if (!record) return record.error();
    LendingRecord next = record.value();
    next.fence = on;
    return save(next);
}

Result<void> Lending::forget() {
    const std::lock_guard lock(writing_);
    std::error_code error;
    std::filesystem::remove_all(fence_dir(), error);
    return remove_file(options_.state_dir + "/lending");
}

LendingReport report_of(const LendingOutcome& outcome) {
    LendingReport report;
    report.phase = text_of(outcome.record.phase);
    report.generation = outcome.record.generation;
    report.since = outcome.record.since;
    report.fence = outcome.record.fence;
    for (const std::string& text : outcome.waiting) {
        if (report.waiting.size() == limits::lending_waiting) break;
        report.waiting.push_back(printable(text, limits::lending_waiting_bytes));
    }
    return report;
}

}  // namespace llmgw::service
