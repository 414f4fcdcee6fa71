#include "daemon/lending_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/limits.hpp"
#include "daemon/errands.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// slurmctld hears of a job's end some milliseconds after this machine, or, with an epilog, when that is done.
constexpr milliseconds soon_first = 20ms;
constexpr milliseconds soon_longest = 1s;
// Somebody doesn't answer.
constexpr milliseconds failed_first = 500ms;
constexpr milliseconds failed_longest = 15s;
// Who holds a GPU tells nobody when they let go of it.
constexpr milliseconds checking_every = 1s;
// Should an event be lost: while something is under way, and while nothing is.
constexpr milliseconds under_way_every = 5s;
constexpr milliseconds gateway_every = 60s;
constexpr milliseconds slurm_every = 300s;
constexpr auto ask_again_after = 60s;

bool is_settled(const service::LendingOutcome& outcome) {
    return outcome.record.phase == LendingPhase::gateway || outcome.record.phase == LendingPhase::slurm;
}

}  // namespace

LeaseWatcher::LeaseWatcher(const service::LeaderAddress& leader, std::string node,
                           std::function<void()> changed)
    : thread_([leader, node = std::move(node), changed = std::move(changed)](const std::stop_token& stop) {
          service::LeaderClient client(leader);
          std::uint64_t seen = 0;
          milliseconds wait = failed_first;
          while (!stop.stop_requested()) {
              const auto lease = client.lease(node, seen, limits::long_poll, stop);
              if (stop.stop_requested()) return;
              if (!lease) {
                  if (!pause(stop, wait)) return;
                  wait = std::min(wait * 2, failed_longest);
                  continue;
              }
              wait = failed_first;
              if (!lease.value()) continue;
              // The first answer after a silence is news, too.
              seen = lease.value()->revision;
              changed();
              // Without a revision there is no long poll.
              if (seen == 0 && !pause(stop, under_way_every)) return;
          }
      }) {}

LendingKeeper::LendingKeeper(service::Lending* lending, service::LeaderAddress leader, std::string machine,
                             Mailbox& mailbox, std::function<void()> changed)
    : lending_(lending),
      leader_(std::move(leader)),
      machine_(std::move(machine)),
      mailbox_(mailbox),
      changed_(std::move(changed)) {
    if (lending_ == nullptr) return;
    Result<std::unique_ptr<Mailbox>> inbox = Mailbox::create();
    if (!inbox) {
        problem_ = inbox.error().message;
        return;
    }
    inbox_ = std::move(inbox).value();
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

LendingKeeper::~LendingKeeper() {
    if (!inbox_) return;
    thread_.request_stop();
    inbox_->post([] {});
    thread_.join();
}

void LendingKeeper::settings_are(bool member, WantedOwner wanted) {
    if (!inbox_) return;
    withdrawn_ = false;
    inbox_->post([this, member, wanted] {
        member_ = member;
        known_ = true;
        wish_.wanted = wanted;
        pause_ = 0ms;
    });
}

void LendingKeeper::withdraw() {
    if (!inbox_) return;
    outcome_.reset();
    withdrawn_ = true;
    inbox_->post([this] {
        known_ = false;
        fence_.reset();
        spool_.reset();
        if (const Result<void> done = lending_->forget(); !done) log(Level::error, done.error().message);
    });
}

void LendingKeeper::unfit_is(const std::string& reason) {
    if (!inbox_) return;
    inbox_->post([this, reason] { wish_.unfit = reason; });
}

void LendingKeeper::set_fence(bool on, std::function<void(Result<void>)> answer) {
    if (!inbox_) return answer(Error{Code::invalid, "this helper lends no node"});
    inbox_->post([this, on, answer = std::move(answer)] {
        Result<void> done = lending_->set_fence(on);
        mailbox_.post([answer, done = std::move(done)] { answer(done); });
    });
}

std::optional<LendingReport> LendingKeeper::report() const {
    if (!outcome_) return std::nullopt;
    return service::report_of(*outcome_);
}

void LendingKeeper::on_outcome(const Result<service::LendingOutcome>& outcome) {
    if (withdrawn_) return;
    const std::string problem = outcome ? "" : outcome.error().message;
    if (!problem.empty() && problem != problem_) log(Level::error, "lending: " + problem);
    if (problem == problem_ && (!outcome || outcome_ == outcome.value())) return;
    problem_ = problem;
    if (outcome) outcome_ = outcome.value();
    changed_();
}

void LendingKeeper::watch() {
    if (!fence_) {
        const std::string path = lending_->fence_dir();
        if (const Result<void> made = make_directories(path, 0755); !made)
            log(Level::warning, made.error().message);
        if (Result<DirectoryWatch> watched = DirectoryWatch::open(path)) fence_ = std::move(watched).value();
    }
    if (!watcher_) watcher_.emplace(leader_, machine_, [this] { inbox_->post([] {}); });
}

// Only while the node is being emptied: steps come and go all the time.
bool LendingKeeper::watch_steps() {
    const bool emptying = last_->ok() && last_->value().record.phase == LendingPhase::emptying;
    if (!emptying) spool_.reset();
    if (!emptying || spool_) return false;
    Result<DirectoryWatch> watched = DirectoryWatch::open(lending_->spool_dir());
    if (watched) spool_ = std::move(watched).value();
    return watched.ok();
}

void LendingKeeper::round(const std::stop_token& stop) {
    // A node that is in no cluster any more is let go once it is llmgw's again.
    const bool over = last_ && last_->ok() && last_->value().record.phase == LendingPhase::gateway;
    if (!known_ || (!member_ && (over || !lending_->has_record()))) {
        watcher_.reset();
        last_.reset();
        return;
    }
    watch();
    if (const Result<void> away = lending_->send_away(stop); !away) log(Level::warning, away.error().message);
    const bool refused = last_ && last_->ok() && last_->value().record.phase == LendingPhase::asking;
    if (!refused) asked_ = Clock::now();
    wish_.ask_again = refused && Clock::now() - asked_ > ask_again_after;
    if (wish_.ask_again) asked_ = Clock::now();
    const std::optional<Result<service::LendingOutcome>> before =
        std::exchange(last_, lending_->go_on(wish_, stop));
    // What ended before it was watched is seen by another look.
    if (watch_steps()) last_ = lending_->go_on(wish_, stop);
    if (stop.stop_requested()) return;
    const bool another_phase = !before || !before->ok() || !last_->ok() ||
                               before->value().record.phase != last_->value().record.phase ||
                               before->value().soon != last_->value().soon;
    if (another_phase) pause_ = 0ms;
    mailbox_.post([this, outcome = *last_] { on_outcome(outcome); });
}

milliseconds LendingKeeper::next_round() const {
    const auto growing = [this](milliseconds first, milliseconds longest) {
        return std::clamp(pause_ * 2, first, longest);
    };
    if (!last_) return slurm_every;
    if (!last_->ok()) return growing(failed_first, failed_longest);
    const service::LendingOutcome& outcome = last_->value();
    if (outcome.soon) return growing(soon_first, soon_longest);
    if (outcome.failed && !is_settled(outcome)) return growing(failed_first, failed_longest);
    if (outcome.record.phase == LendingPhase::checking) return checking_every;
    // What holds a GPU when the jobs have ended tells nobody, either.
    if (!is_settled(outcome))
        return outcome.record.phase == LendingPhase::emptying ? checking_every : under_way_every;
    return outcome.record.phase == LendingPhase::gateway ? gateway_every : slurm_every;
}

void LendingKeeper::work(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        inbox_->deliver();
        round(stop);
        pause_ = next_round();
        std::vector<int> wake{inbox_->fd()};
        if (fence_) wake.push_back(fence_->fd());
        if (spool_) wake.push_back(spool_->fd());
        wait_for_any(wake, pause_);
        if (fence_) static_cast<void>(fence_->changed());
        if (spool_) static_cast<void>(spool_->changed());
    }
}

}  // namespace llmgw::daemon
