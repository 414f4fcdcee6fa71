#include "daemon/users_keeper.hpp"

#include <algorithm>
#include <chrono>

#include "core/limits.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::daemon {
namespace {

constexpr mode_t everyone_reads = 0644;
// Of those that are refused and of what failed, so many are told; the rest is counted.
constexpr std::size_t told = 20;

Value list_of(const std::vector<std::string>& texts) {
    Value list(Value::Array{});
    for (std::size_t i = 0; i < std::min(texts.size(), told); ++i) list.add(texts[i]);
    return list;
}

std::vector<std::string> texts_of(const std::vector<RefusedAccount>& refused) {
    std::vector<std::string> texts;
    for (const RefusedAccount& each : refused) texts.push_back(text_of(each));
    return texts;
}

}  // namespace

UsersKeeper::UsersKeeper(service::Users* users, service::LeaderAddress leader, std::string machine,
                         const std::string& run_dir, Mailbox& mailbox, std::function<void()> changed)
    : users_(users),
      leader_(std::move(leader)),
      machine_(std::move(machine)),
      path_(run_dir + "/users"),
      mailbox_(mailbox),
      changed_(std::move(changed)) {}

void UsersKeeper::settings_are(const ResolvedSettings& settings, bool withdrawn) {
    const bool wanted = users_ != nullptr && settings.wants_users_on(machine_) && !withdrawn;
    const bool different = wanted != wanted_ || !(settings == settings_);
    settings_ = settings;
    wanted_ = wanted;
    if (!wanted) {
        watcher_.reset();
        const bool had = outcome_.has_value();
        outcome_.reset();
        accounts_problem_.clear();
        apply_problem_.clear();
        if (had) changed_();
        return;
    }
    if (!watcher_) {
        watcher_.emplace(leader_, mailbox_,
                         [this](const Result<service::LeaderAccounts>& answer) { on_accounts(answer); });
    }
    if (different) look();
}

void UsersKeeper::say_problem(const std::string& problem) {
    if (problem == accounts_problem_) return;
    accounts_problem_ = problem;
    if (!problem.empty()) log(Level::error, problem);
    changed_();
}

void UsersKeeper::on_accounts(const Result<service::LeaderAccounts>& answer) {
    if (!wanted_) return;
    if (!answer) {
        // That the leader doesn't answer is told elsewhere, and the last accounts hold.
        if (answer.error().code == Code::invalid) say_problem(answer.error().message);
        return;
    }
    say_problem(answer.value().problem);
    if (users_->take(answer.value().accounts) || !outcome_) look();
}

void UsersKeeper::look() {
    if (!wanted_ || !users_->has_accounts()) return;
    again_ = working_;
    if (working_) return;
    working_ = true;
    work_.submit([this, settings = settings_](const std::stop_token& stop) {
        const auto begin = std::chrono::steady_clock::now();
        const Result<service::UsersOutcome> outcome = users_->apply(settings, stop);
        if (stop.stop_requested()) return;
        if (outcome && outcome.value().changes > 0) {
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::steady_clock::now() - begin);
            log(Level::info, "users: " + std::to_string(outcome.value().changes) + " changes were made in " +
                                 std::to_string(took.count()) + " ms");
        }
        mailbox_.post([this, outcome] { on_applied(outcome); });
    });
}

void UsersKeeper::on_applied(const Result<service::UsersOutcome>& outcome) {
    working_ = false;
    if (!wanted_) return;
    const std::string problem = outcome ? "" : outcome.error().message;
    if (problem != apply_problem_ && !problem.empty()) log(Level::error, "users: " + problem);
    bool different = problem != apply_problem_;
    apply_problem_ = problem;
    if (outcome) {
        different = different || outcome_ != outcome.value();
        outcome_ = outcome.value();
    }
    if (different) changed_();
    if (again_) look();
}

std::string UsersKeeper::present() const {
    return outcome_ ? outcome_->present.text(limits::report_users_bytes) : "";
}

void UsersKeeper::publish(const ResolvedSettings& settings, const std::optional<KnownMachines>& machines,
                          GateOverride forced) {
    if (users_ == nullptr || !wanted_ || settings.controller != machine_) {
        static_cast<void>(remove_file(path_));
        return;
    }
    // After a start an earlier decision stands until both are known.
    if (!machines || !outcome_) return;
    std::vector<Uid> refused;
    for (const RefusedAccount& each : outcome_->refused) refused.push_back(each.uid);
    const std::string text =
        format_users_state(assess_users(settings, *machines, users_->accounts(), refused, forced));
    if (state_file_says(path_, text)) return;
    const Result<void> written = write_file_atomically(path_, text, everyone_reads, Durability::volatile_);
    if (!written) log(Level::error, written.error().message);
}

Value UsersKeeper::describe() const {
    Value value(Value::Object{});
    value.set("llmgw", wanted_).set("problem", apply_problem_).set("accounts_problem", accounts_problem_);
    value.set("known", outcome_.has_value());
    if (!outcome_) return value;
    value.set("active", std::uint64_t{outcome_->active});
    value.set("refused", list_of(texts_of(outcome_->refused)));
    value.set("refused_count", std::uint64_t{outcome_->refused.size()});
    value.set("problems", list_of(outcome_->problems));
    return value;
}

}  // namespace llmgw::daemon
