#include "leader/lease_store.hpp"

#include "core/limits.hpp"
#include "leader/lease_file.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

// Answers change with each replica that ends.
constexpr std::uint64_t stride = 256;
const char* const not_counted = "it is not known yet how many replicas are left";

}  // namespace

Result<std::unique_ptr<LeaseStore>> LeaseStore::open(const std::string& directory) {
    const std::string leases = directory + "/leases";
    if (Result<void> made = make_directories(leases, 0755); !made) return made.error();
    Result<std::map<std::string, LeaseRecord>> records = load_leases(leases);
    if (!records) return records.error();
    Result<Revision> revision = Revision::open(directory + "/revision.leases", stride);
    if (!revision) return revision.error();
    // Past all that were given out before: what was not kept may have been answered with any of them.
    if (Result<void> raised = revision.value().raise(); !raised) return raised.error();
    std::unique_ptr<LeaseStore> store(new LeaseStore(leases, std::move(revision).value()));
    for (auto& [node, record] : records.value()) {
        const bool draining = record.state == LeaseState::draining;
        store->leases_.emplace(
            node, Lease{std::move(record), store->base_, 1, false, 0, draining ? not_counted : ""});
    }
    return store;
}

LeaseAnswer LeaseStore::answer(const std::string& node) const {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(node);
    if (found == leases_.end()) return {base_, name_of(LeaseState::none), "", 0, 0, "", {}};
    const Lease& lease = found->second;
    const LeaseRecord& record = lease.record;
    const bool refused = record.state == LeaseState::refused;
    return {lease.revision,    name_of(record.state), record.lease,
            record.generation, lease.replicas,        refused ? record.refusal : lease.reason,
            record.reclaim};
}

LeaseRecord LeaseStore::record_of(const std::string& node) const {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(node);
    return found == leases_.end() ? LeaseRecord{} : found->second.record;
}

Result<LeaseStore::Outcome> LeaseStore::ask(const std::string& node, const LeaseRequest& request,
                                            const SiteCommands& commands) {
    const std::lock_guard one_writer(writing_);
    const bool at_once = commands.drain.empty() && commands.replicas.empty();
    return settle(node, asked(record_of(node), request, at_once));
}

Result<LeaseStore::Outcome> LeaseStore::give_back(const std::string& node, const LeaseRequest& request,
                                                  const SiteCommands& commands) {
    const std::lock_guard one_writer(writing_);
    return settle(node, given_back(record_of(node), request, !commands.release.empty()));
}

Result<LeaseStore::Outcome> LeaseStore::settle(const std::string& node, const LeaseDecision& decision) {
    if (const auto* const refusal = std::get_if<LeaseRefusal>(&decision))
        return Outcome{*refusal, answer(node), false};
    const LeaseRecord& next = *std::get_if<LeaseRecord>(&decision);
    if (record_of(node) == next) return Outcome{{}, answer(node), false};
    if (Result<void> kept = keep(node, next); !kept) return kept.error();
    return Outcome{{}, answer(node), true};
}

Result<void> LeaseStore::keep(const std::string& node, const LeaseRecord& record) {
    {
        const std::lock_guard lock(mutex_);
        if (leases_.size() >= limits::machines && !leases_.contains(node)) {
            return Error{Code::too_large,
                         "there are leases of " + std::to_string(limits::machines) +
                             " nodes already: stop the leader, and remove the files of nodes that are gone "
                             "for good"};
        }
    }
    if (Result<void> kept = keep_lease(directory_, node, record); !kept) return kept;
    const std::lock_guard lock(mutex_);
    if (Result<void> raised = revision_.raise(); !raised) return raised;
    Lease& lease = leases_[node];
    lease.revision = revision_.value();
    if (lease.record.state != record.state || lease.record.release_due != record.release_due) {
        ++lease.epoch;
        lease.drained = false;
        lease.replicas = 0;
        lease.reason = record.state == LeaseState::draining ? not_counted : "";
    }
    lease.record = record;
    return {};
}

Result<std::vector<std::string>> LeaseStore::set_reclaim(const std::vector<std::string>& nodes,
                                                         const Reclaim& reclaim) {
    const std::lock_guard one_writer(writing_);
    std::vector<std::string> changed;
    for (const std::string& node : nodes) {
        LeaseRecord record = record_of(node);
        if (!is_held(record) || record.reclaim == reclaim) continue;
        record.reclaim = reclaim;
        if (Result<void> kept = keep(node, record); !kept) return kept.error();
        changed.push_back(node);
    }
    return changed;
}

Result<std::vector<std::string>> LeaseStore::drop_reclaims(const std::vector<std::string>& nodes) {
    const std::lock_guard one_writer(writing_);
    std::vector<std::string> changed;
    for (const std::string& node : nodes) {
        LeaseRecord record = record_of(node);
        if (!record.reclaim) continue;
        record.reclaim.reset();
        if (Result<void> kept = keep(node, record); !kept) return kept.error();
        changed.push_back(node);
    }
    return changed;
}

LeaseTask LeaseStore::task(const std::string& node, const SiteCommands& commands) const {
    using Kind = LeaseTask::Kind;
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(node);
    if (found == leases_.end()) return {};
    const Lease& lease = found->second;
    if (lease.record.release_due)
        return {commands.release.empty() ? Kind::settle : Kind::release, lease.epoch};
    if (lease.record.state != LeaseState::draining) return {Kind::nothing, lease.epoch};
    if (!commands.drain.empty() && !lease.drained) return {Kind::drain, lease.epoch};
    return {commands.replicas.empty() ? Kind::settle : Kind::count, lease.epoch};
}

std::vector<std::string> LeaseStore::unsettled() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> nodes;
    for (const auto& [node, lease] : leases_) {
        if (lease.record.state == LeaseState::draining || lease.record.release_due) nodes.push_back(node);
    }
    return nodes;
}

bool LeaseStore::note_drained(const std::string& node, std::uint64_t epoch) {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(node);
    if (found == leases_.end() || found->second.epoch != epoch) return false;
    found->second.drained = true;
    return true;
}

Result<bool> LeaseStore::note(const std::string& node, std::uint64_t epoch,
                              std::optional<std::uint32_t> replicas, const std::string& reason) {
    const std::lock_guard lock(mutex_);
    const auto found = leases_.find(node);
    if (found == leases_.end() || found->second.epoch != epoch) return false;
    Lease& lease = found->second;
    const std::uint32_t left = replicas.value_or(lease.replicas);
    if (lease.replicas == left && lease.reason == reason) return false;
    if (Result<void> raised = revision_.raise(); !raised) return raised.error();
    lease.revision = revision_.value();
    lease.replicas = left;
    lease.reason = reason;
    return true;
}

template <class Change>
Result<bool> LeaseStore::finish(const std::string& node, std::uint64_t epoch, LeaseState from,
                                const Change& change) {
    const std::lock_guard one_writer(writing_);
    {
        const std::lock_guard lock(mutex_);
        const auto found = leases_.find(node);
        if (found == leases_.end() || found->second.epoch != epoch || found->second.record.state != from)
            return false;
    }
    LeaseRecord record = record_of(node);
    change(record);
    if (Result<void> kept = keep(node, record); !kept) return kept.error();
    return true;
}

Result<bool> LeaseStore::note_free(const std::string& node, std::uint64_t epoch) {
    return finish(node, epoch, LeaseState::draining,
                  [](LeaseRecord& record) { record.state = LeaseState::free; });
}

Result<bool> LeaseStore::note_refused(const std::string& node, std::uint64_t epoch,
                                      const std::string& reason) {
    return finish(node, epoch, LeaseState::draining, [&](LeaseRecord& record) {
        record.state = LeaseState::refused;
        record.refusal = reason;
        record.reclaim.reset();
    });
}

Result<bool> LeaseStore::note_released(const std::string& node, std::uint64_t epoch) {
    return finish(node, epoch, LeaseState::none, [](LeaseRecord& record) { record.release_due = false; });
}

}  // namespace llmgw::leader
