// The steps for llmgw's users and the shared path: facts and actions.
#include "service/setup.hpp"

namespace llmgw::service {

void Setup::gather_users(SetupFacts& facts, const ResolvedSettings& settings) {
    facts.storage = storage_.look(settings);
    if (!settings.wants_users_on(options_.paths.machine)) return;
    facts.ssh = sshd_.look();
    facts.users = users_ == nullptr ? Result<UsersPlan>(Error{Code::internal, "this helper makes no users"})
                                    : users_->plan(settings);
}

Result<void> Setup::apply_users(const ResolvedSettings& settings, SetupObserver& observer,
                                const std::stop_token& stop) {
    if (users_ == nullptr) return Error{Code::internal, "this helper makes no users"};
    const Result<UsersOutcome> done = users_->apply(settings, stop);
    if (!done) return done.error();
    for (const std::string& problem : done.value().problems) observer.on_note(problem);
    if (done.value().problems.empty()) return {};
    return Error{Code::unavailable, done.value().problems.front()};
}

void Setup::take_back_users(std::vector<std::string>& left, Result<void>& done, const std::stop_token& stop) {
    const auto add = [&](const Result<std::vector<std::string>>& removed) {
        if (!removed && done) done = removed.error();
        if (removed) left.insert(left.end(), removed.value().begin(), removed.value().end());
    };
    add(sshd_.remove());
    if (users_ != nullptr) add(users_->remove(stop));
}

}  // namespace llmgw::service
