// The table of leases. What is answered and what is done to nodes is on the disk before; how many replicas
// are left, and why it takes long, is only in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "leader/lease_rules.hpp"
#include "leader/revision.hpp"
#include "leader/site_commands.hpp"

namespace llmgw::leader {

// What is to be done to a node now.
struct LeaseTask {
    enum class Kind { nothing, drain, count, settle, release };
    Kind kind = Kind::nothing;
    std::uint64_t epoch = 0;  // another one: what was begun before is not wanted any more

    bool operator==(const LeaseTask&) const = default;
};

class LeaseStore {
  public:
    struct Outcome {
        std::optional<LeaseRefusal> refusal;
        LeaseAnswer answer;
        bool changed = false;
    };

    // invalid: a lease's file is broken.
    static Result<std::unique_ptr<LeaseStore>> open(const std::string& directory);

    // Of every node, whether it is known or not.
    [[nodiscard]] LeaseAnswer answer(const std::string& node) const;

    // too_large: limits::machines; internal: the disk.
    Result<Outcome> ask(const std::string& node, const LeaseRequest& request, const SiteCommands& commands);
    Result<Outcome> give_back(const std::string& node, const LeaseRequest& request,
                              const SiteCommands& commands);
    // For those with a lease; the nodes whose answer changed.
    Result<std::vector<std::string>> set_reclaim(const std::vector<std::string>& nodes,
                                                 const Reclaim& reclaim);
    Result<std::vector<std::string>> drop_reclaims(const std::vector<std::string>& nodes);

    [[nodiscard]] LeaseTask task(const std::string& node, const SiteCommands& commands) const;
    [[nodiscard]] std::vector<std::string> unsettled() const;
    // How a task of that epoch went; nothing happens if it is not wanted any more. True: the answer changed.
    bool note_drained(const std::string& node, std::uint64_t epoch);
    Result<bool> note(const std::string& node, std::uint64_t epoch, std::optional<std::uint32_t> replicas,
                      const std::string& reason);
    Result<bool> note_free(const std::string& node, std::uint64_t epoch);
    Result<bool> note_refused(const std::string& node, std::uint64_t epoch, const std::string& reason);
    Result<bool> note_released(const std::string& node, std::uint64_t epoch);

  private:
    struct Lease {
        LeaseRecord record;
        std::uint64_t revision = 0;
        std::uint64_t epoch = 0;
        bool drained = false;  // `drain` succeeded; count what is left
        std::uint32_t replicas = 0;
        std::string reason;
    };

    LeaseStore(std::string directory, Revision revision)
        : directory_(std::move(directory)), revision_(std::move(revision)), base_(revision_.value()) {}

    [[nodiscard]] LeaseRecord record_of(const std::string& node) const;
    // With writing_ held, as is everything that changes a record or an epoch.
    Result<Outcome> settle(const std::string& node, const LeaseDecision& decision);
    Result<void> keep(const std::string& node, const LeaseRecord& record);
    template <class Change>
    Result<bool> finish(const std::string& node, std::uint64_t epoch, LeaseState from, const Change& change);

    const std::string directory_;
    std::mutex writing_;  // taken first; held over disk writes, so that readers never wait for a disk
    mutable std::mutex mutex_;
    Revision revision_;
    std::uint64_t base_;  // the revision of nodes without a lease
    std::map<std::string, Lease> leases_;
};

}  // namespace llmgw::leader
