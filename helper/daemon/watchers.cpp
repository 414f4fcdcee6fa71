#include "daemon/watchers.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "daemon/errands.hpp"

namespace llmgw::daemon {
namespace {

using namespace std::chrono_literals;

constexpr auto first_pause = 500ms;
constexpr auto longest_pause = 15000ms;

std::chrono::milliseconds longer(std::chrono::milliseconds pause) {
    return std::min<std::chrono::milliseconds>(pause * 2, longest_pause);
}

bool pause_until(const std::stop_token& stop, std::chrono::steady_clock::time_point then) {
    const auto left = then - std::chrono::steady_clock::now();
    return left <= 0ms || pause(stop, std::chrono::ceil<std::chrono::milliseconds>(left));
}

// `ask` is LeaderClient::settings or ::machines; both answer with a revision, or with missing when nothing
// changed. At most one question in first_pause, whatever the answers are.
template <class T, class Ask>
void watch(const std::stop_token& stop, Mailbox& mailbox, const std::function<void(Result<T>)>& callback,
           Ask ask) {
    std::uint64_t known = 0;
    std::chrono::milliseconds wait = first_pause;
    while (!stop.stop_requested()) {
        const auto asked = std::chrono::steady_clock::now();
        Result<T> answer = ask(known, stop);
        if (stop.stop_requested()) return;
        if (!answer && answer.error().code == Code::missing) {
            known = 0;  // a full answer, which also shows that the leader is there
            if (!pause_until(stop, asked + first_pause)) return;
            continue;
        }
        const bool fine = answer.ok();
        known = fine ? answer.value().revision : 0;
        mailbox.post([callback, answer = std::move(answer)] { callback(answer); });
        if (known > 0) {
            wait = first_pause;
            if (!pause_until(stop, asked + first_pause)) return;
        } else {
            if (!pause(stop, wait)) return;
            wait = longer(wait);
        }
    }
}

}  // namespace

SettingsWatcher::SettingsWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback)
    : thread_([leader, &mailbox, callback = std::move(callback)](const std::stop_token& stop) {
          service::LeaderClient client(leader);
          watch<service::LeaderSettings>(stop, mailbox, callback,
                                         [&](std::uint64_t known, const std::stop_token& token) {
                                             return client.settings(known, token);
                                         });
      }) {}

MachinesWatcher::MachinesWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback)
    : thread_([leader, &mailbox, callback = std::move(callback)](const std::stop_token& stop) {
          service::LeaderClient client(leader);
          watch<KnownMachines>(stop, mailbox, callback,
                               [&](std::uint64_t known, const std::stop_token& token) {
                                   return client.machines(known, token);
                               });
      }) {}

AccountsWatcher::AccountsWatcher(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback)
    : thread_([leader, &mailbox, callback = std::move(callback)](const std::stop_token& stop) {
          service::LeaderClient client(leader);
          watch<service::LeaderAccounts>(stop, mailbox, callback,
                                         [&](std::uint64_t known, const std::stop_token& token) {
                                             return client.accounts(known, token);
                                         });
      }) {}

Reporter::Reporter(const service::LeaderAddress& leader, Mailbox& mailbox, Callback callback)
    : thread_([this, leader, &mailbox, callback = std::move(callback)](const std::stop_token& stop) {
          work(stop, leader, mailbox, callback);
      }) {}

Reporter::~Reporter() {
    thread_.request_stop();
    thread_.join();
}

void Reporter::send(MachineReport report) {
    {
        const std::lock_guard lock(mutex_);
        report_ = std::move(report);
        fresh_ = true;
    }
    changed_.notify_one();
}

void Reporter::work(const std::stop_token& stop, const service::LeaderAddress& leader, Mailbox& mailbox,
                    const Callback& callback) {
    service::LeaderClient client(leader);
    std::chrono::milliseconds wait = limits::report_every;
    std::chrono::milliseconds retry = first_pause;
    while (!stop.stop_requested()) {
        std::optional<MachineReport> report;
        {
            std::unique_lock lock(mutex_);
            changed_.wait_for(lock, stop, wait, [this] { return fresh_; });
            fresh_ = false;
            report = report_;
        }
        if (stop.stop_requested()) return;
        if (!report) continue;
        Result<void> sent = client.report(*report, stop);
        if (stop.stop_requested()) return;
        wait = sent ? std::chrono::milliseconds(limits::report_every) : retry;
        retry = sent ? first_pause : longer(retry);
        mailbox.post([callback, sent = std::move(sent)] { callback(sent); });
    }
}

}  // namespace llmgw::daemon
