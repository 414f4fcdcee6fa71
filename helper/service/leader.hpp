// The helper's side of the contract with the leader (docs/contract.openapi.yaml): one call each, made by a
// worker.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/accounts.hpp"
#include "core/lease.hpp"
#include "core/report.hpp"
#include "core/result.hpp"
#include "core/settings.hpp"
#include "core/value.hpp"
#include "http/client.hpp"

namespace llmgw::service {

struct LeaderAddress {
    std::string url;               // https://host:port, or http:// towards loopback
    std::string token_file;        // the machine token, read anew for each call
    std::string admin_token_file;  // empty: this machine changes no settings
    std::string ca_file;           // empty: the system's
};

struct LeaderSettings {
    std::uint64_t revision = 0;
    Settings settings;
    std::string problem;  // why newer settings are not in force; empty: none
    std::string text;     // the settings as JSON, to be kept for a start without the leader
};

struct LeaderAccounts {
    std::uint64_t revision = 0;
    std::vector<Account> accounts;
    std::string problem;  // why newer accounts are not in force; empty: none
};

// One connection, one thread at a time.
class LeaderClient {
  public:
    explicit LeaderClient(LeaderAddress address) : address_(std::move(address)) {}

    // Waits until the revision is another than `known` (0: answers at once). missing: nothing came in time.
    Result<LeaderSettings> settings(std::uint64_t known, const std::stop_token& stop);
    // The same, with a shorter wait: reports that only say "still here" don't raise the revision, so the list
    // must be asked for anew before the last one calls a living machine silent.
    Result<KnownMachines> machines(std::uint64_t known, const std::stop_token& stop);
    // As settings().
    Result<LeaderAccounts> accounts(std::uint64_t known, const std::stop_token& stop);
    Result<void> report(const MachineReport& report, const std::stop_token& stop);
    // The cluster's munge key. denied: over plain HTTP that leaves this machine, before anything is sent.
    Result<std::string> munge_key(const std::stop_token& stop);
    // By how many seconds this machine's clock was ahead of the leader's when that answered last; nothing: it
    // has not answered, or says no time.
    [[nodiscard]] std::optional<std::int64_t> clock_ahead() const { return clock_ahead_; }
    // With the admin token.
    Result<void> set_containers(bool on, const std::stop_token& stop);
    // With the admin token. `reclaim` is for the nodes in `remove`.
    Result<void> set_lent(const std::vector<std::string>& add, const std::vector<std::string>& remove,
                          const std::optional<Reclaim>& reclaim, const std::stop_token& stop);

    // Asks llmgw for the node, or for how far it is. conflict: the leader knows a later generation, or
    // another lease of this one; lease() says which. unavailable: also an answer that makes no sense.
    Result<LeaseAnswer> ask_lease(const std::string& node, const std::string& lease, std::uint64_t generation,
                                  const std::stop_token& stop);
    // Errors as above.
    Result<LeaseAnswer> give_back_lease(const std::string& node, const std::string& lease,
                                        std::uint64_t generation, const std::stop_token& stop);
    // Waits until the revision is another than `seen_revision` (0: answers at once). Nothing: it is the same
    // after `wait`. Never conflict.
    Result<std::optional<LeaseAnswer>> lease(const std::string& node, std::uint64_t seen_revision,
                                             std::chrono::seconds wait, const std::stop_token& stop);

  private:
    struct Call {
        std::string method;
        std::string path;
        std::string body;
        const std::string& token_file;
        std::uint64_t known = 0;  // revision that the caller has; 0: no long poll
        std::chrono::seconds wait{0};
    };
    Result<http::Response> send(const Call& call, const std::stop_token& stop);
    Result<LeaseAnswer> send_lease(const std::string& method, const std::string& node,
                                   const LeaseRequest& request, const std::stop_token& stop);
    Result<void> change_settings(const Value& change, const std::stop_token& stop);

    LeaderAddress address_;
    http::Client client_;
    std::optional<std::int64_t> clock_ahead_;
};

// Settings from their JSON text, with every error in one line. For the answer above and for the kept copy.
Result<Settings> settings_from(const std::string& text);

}  // namespace llmgw::service
