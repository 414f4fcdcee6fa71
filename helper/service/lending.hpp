// Lends this node and takes it back: gathers what core/lending decides on, writes its record down, does what
// it says. One thread at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/lending.hpp"
#include "core/report.hpp"
#include "core/result.hpp"
#include "posix/gpu_holders.hpp"
#include "service/leader.hpp"
#include "slurm/daemon_facts.hpp"

namespace llmgw::service {

struct LendingOptions {
    std::string machine;       // the node's name in Slurm and at the leader
    std::string state_dir;     // the record is `lending` in it
    std::string run_dir;       // jobs that the fence stopped are in `fence` in it
    std::string node_program;  // llmgw-slurm-node
    slurm::DaemonPlaces slurmd;
    GpuRules gpus;
    LeaderAddress leader;
};

struct LendingWish {
    WantedOwner wanted = WantedOwner::unknown;
    std::string unfit;  // why Slurm can't have it now, as far as others know; empty: it can
    bool ask_again = false;
};

struct LendingOutcome {
    LendingRecord record;
    std::vector<std::string> waiting;  // for people
    bool soon = false;                 // Slurm is about to be done with the node
    bool failed = false;               // something did not answer

    bool operator==(const LendingOutcome&) const = default;
};

class Lending {
  public:
    explicit Lending(LendingOptions options);

    // Until there is nothing more to do now. A record that can't be read is an error, and nothing is done.
    Result<LendingOutcome> go_on(const LendingWish& wish, const std::stop_token& stop);
    // What the fence stopped is sent away: the node drained, each job put back in the queue or cancelled, its
    // user told; the guard then lets go of it.
    Result<void> send_away(const std::stop_token& stop);
    // The admin's way round: with it off, jobs start here whoever has the node.
    Result<void> set_fence(bool on);

    // As if this node had never taken part: no fence, no record. Slurm and the leader are left as they are.
    Result<void> forget();

    // Whether this node has ever taken part.
    [[nodiscard]] bool has_record() const;
    [[nodiscard]] std::string fence_dir() const { return options_.run_dir + "/fence"; }
    // Where steps' sockets come and go.
    [[nodiscard]] std::string spool_dir() const;

  private:
    Result<LendingRecord> load() const;
    Result<void> save(const LendingRecord& record) const;
    Result<LendingFacts> gather(const LendingRecord& record, const LendingWish& wish, LendingOutcome& outcome,
                                const std::stop_token& stop);
    std::optional<NodeHere> look_here(const LendingWish& wish, const SlurmdFacts& slurmd, bool with_times,
                                      LendingOutcome& outcome);
    Result<void> carry_out(LendingEffect effect, const LendingRecord& record, const std::stop_token& stop);
    Result<void> end_jobs(const Reclaim& reclaim);
    Result<std::string> ask_slurm(std::vector<std::string> words) const;
    [[nodiscard]] SlurmdFacts slurmd_here() const { return slurm::read_slurmd(options_.slurmd); }

    const LendingOptions options_;
    LeaderClient leader_;
    std::mutex writing_;  // the record is changed by one at a time
};

// For the leader and for status.
LendingReport report_of(const LendingOutcome& outcome);

}  // namespace llmgw::service
