#include "unit/core/lending_model.hpp"

#include <optional>
#include <unordered_set>
#include <utility>

#include "core/lending.hpp"

namespace llmgw::model {
namespace {

constexpr unsigned generations = 2;
constexpr int most_messages = 2;

// Who drained the node: nobody, us with that generation, or an admin.
enum Drain : std::uint8_t { open = 0, ours0 = 1, ours1 = 2, ours2 = 3, admins = 4 };
enum Job : std::uint8_t {
    no_job,
    allocated,  // slurmctld has given it the node; the guard has not been asked yet
    launching,  // the guard let it pass before its first step
    socket,     // its step is to be seen on the machine; the guard has not been asked again
    running,
};
enum Message : std::uint8_t { ask, give_back, drain, undrain, kinds };
enum View : std::uint8_t { none, draining, free_, views };

// What the helper believes; 0 each: unknown.
struct Facts {
    std::uint8_t wanted = 0;  // 1: gateway, 2: slurm
    std::uint8_t leader = 0;  // 1 + view + views * generation
    std::uint8_t slurm = 0;   // 1 + drain + 5 * idle
    std::uint8_t here = 0;    // 1 + job is seen + 2 * something else holds a GPU
};

struct World {
    std::uint8_t phase = 0, generation = 0, held = 0, closing = 0;  // the record
    std::uint8_t before_phase = 0, before_generation = 0, before_held = 0,
                 before_closing = 0;  // record_not_durable
    Facts facts;
    std::uint8_t drained = ours0, job = no_job, known_job = 0;  // Slurm
    std::uint8_t lease = 0, last = 0, replica = 0, orphan = 0;  // leader; lease: held
    std::uint8_t wanted = 0;                                    // the settings: lent
    std::uint16_t messages = 0;                                 // kind + kinds * (generation - 1)
};

template <class Pack>
void fields(World& w, Pack&& pack) {
    pack(w.phase, 3), pack(w.generation, 2), pack(w.held, 1), pack(w.closing, 1);
    pack(w.before_phase, 3), pack(w.before_generation, 2), pack(w.before_held, 1), pack(w.before_closing, 1);
    pack(w.facts.wanted, 2), pack(w.facts.leader, 4), pack(w.facts.slurm, 4), pack(w.facts.here, 3);
    pack(w.drained, 3), pack(w.job, 3), pack(w.known_job, 1);
    pack(w.lease, 1), pack(w.last, 2), pack(w.replica, 1), pack(w.orphan, 1), pack(w.wanted, 1);
    pack(w.messages, kinds * (generations + 1));
}

std::uint64_t packed(World world) {
    std::uint64_t bits = 0;
    fields(world, [&](auto& field, unsigned width) { bits = bits << width | field; });
    return bits;
}

World unpacked(std::uint64_t bits) {
    World world;
    unsigned total = 0;
    fields(world, [&](auto&, unsigned width) { total += width; });
    fields(world, [&](auto& field, unsigned width) {
        total -= width;
        field = static_cast<std::remove_reference_t<decltype(field)>>(bits >> total & ((1U << width) - 1));
    });
    return world;
}

LendingRecord record_of(const World& w) {
    LendingRecord record;
    record.phase = static_cast<LendingPhase>(w.phase);
    record.generation = w.generation;
    record.lease = w.generation == 0 ? "" : "L" + std::to_string(w.generation);
    record.held = w.held != 0;
    record.closing = w.closing != 0;
    return record;
}

class Explorer {
  public:
    explicit Explorer(Mutation mutation) : mutation_(mutation) {}

    Exploration run(unsigned depth) {
        World begin;
        begin.phase = begin.before_phase = static_cast<std::uint8_t>(LendingPhase::gateway);
        add(begin);
        World lent;
        lent.phase = static_cast<std::uint8_t>(LendingPhase::slurm);
        lent.generation = lent.held = lent.lease = lent.last = lent.wanted = 1;
        lent.drained = open;
        add(lent);
        lent.generation = lent.last = 2;
        lent.messages = bit(give_back, 1);
        add(lent);
        Exploration result;
        while (!fresh_.empty() && result.depth < depth && broken_.empty()) {
            std::vector<std::uint64_t> level = std::exchange(fresh_, {});
            for (const std::uint64_t bits : level) {
                step(unpacked(bits));
                if (!broken_.empty()) break;
            }
            ++result.depth;
        }
        result.states = seen_.size();
        result.complete = fresh_.empty();
        result.broken = broken_;
        return result;
    }

  private:
    [[nodiscard]] bool is(Mutation mutation) const { return mutation_ == mutation; }

    // ---- the rules

    void add(const World& world) {
        if (!broken_.empty() || !seen_.insert(packed(world)).second) return;
        fresh_.push_back(packed(world));
        if (world.job == running && (world.replica != 0 || world.orphan != 0))
            return break_("two owners of a GPU", world);
        const bool slurm_may_start = world.drained == open && admits(world);
        if (slurm_may_start && world.lease == 0) return break_("both may start something", world);
        for (const auto wanted : {std::uint8_t{0}, std::uint8_t{1}}) {
            if (!settles(world, wanted)) return break_("it never reaches an owner", world);
        }
    }

    void break_(const std::string& what, const World& w) {
        broken_ = what + ": phase " + text_of(static_cast<LendingPhase>(w.phase)) + ", generation " +
                  std::to_string(w.generation) + ", drain " + std::to_string(w.drained) + ", job " +
                  std::to_string(w.job) + ", lease " + std::to_string(w.lease) + "/" +
                  std::to_string(w.last) + ", replica " + std::to_string(w.replica) + ", orphan " +
                  std::to_string(w.orphan);
    }

    [[nodiscard]] bool admits(const World& w) const {
        if (is(Mutation::no_fence)) return true;
        LendingRecord record = record_of(w);
        if (is(Mutation::fence_open_while_closing)) record.closing = false;
        return record.admits_jobs();
    }

    // With no more crashes, losses and hands, is there one owner, and the one that is wanted?
    [[nodiscard]] bool settles(World w, std::uint8_t wanted) const {
        w.wanted = wanted;
        w.messages = 0;
        constexpr int most_rounds = 60;
        for (int round = 0; round < most_rounds && !settled(w); ++round) {
            w.job = no_job;
            w.known_job = 0;
            w.orphan = 0;
            if (w.lease != 0) w.replica = 0;
            look_at_all(w);
            std::optional<World> next = decided(w);
            if (!next) return true;  // this small world has no generation left to ask with
            w = *next;
            for (std::uint8_t kind = 0; kind < kinds; ++kind) {
                for (unsigned generation = 0; generation <= generations; ++generation) {
                    if ((w.messages & bit(kind, generation)) != 0) deliver(w, kind, generation);
                }
            }
            w.messages = 0;
        }
        return settled(w);
    }

    [[nodiscard]] static bool settled(const World& w) {
        const auto phase = static_cast<LendingPhase>(w.phase);
        if (w.wanted == 0) return phase == LendingPhase::gateway && w.lease == 0 && w.drained != open;
        return phase == LendingPhase::slurm && w.lease != 0 && (w.drained == open || w.drained == admins);
    }

    // ---- the helper

    void look_at_leader(World& w) const {
        const View view = w.lease == 0 ? none : w.replica == 0 ? free_ : draining;
        w.facts.leader = static_cast<std::uint8_t>(1 + view + views * w.last);
    }
    static void look_at_slurm(World& w) {
        const unsigned idle = w.known_job == 0 ? 5 : 0;
        w.facts.slurm = static_cast<std::uint8_t>(1 + w.drained + idle);
    }
    static void look_here(World& w) {
        const unsigned job = w.job >= socket ? 1 : 0;
        const unsigned gpu = w.replica != 0 || w.orphan != 0 ? 2 : 0;
        w.facts.here = static_cast<std::uint8_t>(1 + job + gpu);
    }
    static void look_at_settings(World& w) { w.facts.wanted = static_cast<std::uint8_t>(1 + w.wanted); }
    void look_at_all(World& w) const {
        look_at_leader(w), look_at_slurm(w), look_here(w), look_at_settings(w);
    }

    [[nodiscard]] LendingFacts facts_of(const World& w) const {
        LendingFacts facts;
        facts.wanted = static_cast<WantedOwner>(w.facts.wanted);
        facts.fresh_lease = "fresh";
        if (w.facts.leader != 0) {
            const unsigned view = (w.facts.leader - 1U) % views;
            const unsigned generation = (w.facts.leader - 1U) / views;
            facts.leader.emplace();
            facts.leader->state = view == none ? "none" : view == draining ? "draining" : "free";
            facts.leader->generation = generation;
            facts.leader->lease = generation == 0 ? "" : "L" + std::to_string(generation);
            facts.leader->replicas = view == draining ? 1 : 0;
        } else if (is(Mutation::unknown_is_free)) {
            facts.leader =
                LeaseAnswer{0, "free", "L" + std::to_string(w.generation), w.generation, 0, "", {}};
        }
        if (w.facts.slurm != 0) {
            const unsigned drained = (w.facts.slurm - 1U) % 5;
            facts.slurm.emplace();
            facts.slurm->registered = true;
            facts.slurm->drained = drained != open || is(Mutation::no_drain);
            facts.slurm->idle = w.facts.slurm > 5;
            if (drained != open && drained != admins) facts.slurm->reason = drain_reason(drained - ours0);
            if (drained == admins) facts.slurm->reason = "broken fan";
        }
        if (w.facts.here != 0) {
            facts.here.emplace();
            if (((w.facts.here - 1U) & 1U) != 0) facts.here->jobs = {"job"};
            if (((w.facts.here - 1U) & 2U) != 0) facts.here->gpu_holders = {"pid"};
            // What a job has open is the job's.
            if (is(Mutation::undrain_before_check)) facts.here->gpu_holders.clear();
            if (is(Mutation::jobs_ignored)) facts.here->jobs.clear();
        } else if (is(Mutation::unknown_is_empty)) {
            facts.here.emplace();
        }
        if (is(Mutation::jobs_ignored) && facts.slurm) facts.slurm->idle = true;
        return facts;
    }

    static constexpr std::uint16_t bit(unsigned kind, unsigned generation) {
        return static_cast<std::uint16_t>(1U << (kind + kinds * generation));
    }

    // nullopt: this world has no generation left.
    [[nodiscard]] std::optional<World> decided(World w) const {
        const LendingRecord before = record_of(w);
        LendingDecision decision = decide_lending(before, facts_of(w));
        if (is(Mutation::no_last_look) && decision.next.closing) {
            decision.next.phase = LendingPhase::handing_back;
            decision.next.closing = false;
        }
        if (is(Mutation::give_back_first) && decision.next.phase == LendingPhase::emptying &&
            w.facts.wanted == 1)
            decision.effect = decision.next == before ? LendingEffect::give_back : LendingEffect::none;
        if (!(decision.next == before)) {
            if (decision.next.generation > generations) return std::nullopt;
            w.before_phase = w.phase, w.before_generation = w.generation;
            w.before_held = w.held, w.before_closing = w.closing;
            if (!is(Mutation::record_not_durable)) {
                w.before_phase = w.before_generation = w.before_held = w.before_closing = 0;
            }
            w.phase = static_cast<std::uint8_t>(decision.next.phase);
            w.generation = static_cast<std::uint8_t>(decision.next.generation);
            w.held = decision.next.held ? 1 : 0;
            w.closing = decision.next.closing ? 1 : 0;
            if (!is(Mutation::stale_facts)) w.facts = {};
            return w;
        }
        switch (decision.effect) {
            case LendingEffect::ask:
                send(w, ask);
                break;
            case LendingEffect::give_back:
                send(w, give_back);
                break;
            case LendingEffect::drain:
                send(w, drain);
                break;
            case LendingEffect::undrain:
                send(w, undrain);
                break;
            case LendingEffect::end_jobs:
            case LendingEffect::none:
                return w;
        }
        if (!is(Mutation::stale_facts)) w.facts = {};
        return w;
    }

    static void send(World& w, Message kind) { w.messages |= bit(kind, w.generation); }

    // ---- what others do

    void deliver(World& w, unsigned kind, unsigned generation) const {
        const bool old = generation < w.last && !is(Mutation::old_requests_count);
        switch (kind) {
            case ask:
                if (old || (generation == w.last && w.lease == 0 && !is(Mutation::old_requests_count)))
                    return;
                w.lease = 1;
                w.last = static_cast<std::uint8_t>(generation);
                return;
            case give_back:
                if (old) return;
                w.lease = 0;
                w.last = static_cast<std::uint8_t>(generation);
                return;
            case drain:
                // The node is looked at first; an admin's drain stays.
                if (w.drained != admins) w.drained = static_cast<std::uint8_t>(ours0 + generation);
                return;
            default:
                // So it is here, but the look and the change are two things: it may meet any drain but an
                // admin's, which model and helper leave alone.
                if (w.drained != admins) w.drained = open;
                return;
        }
    }

    void step(const World& world) {
        const auto with = [&](auto change) {
            World next = world;
            change(next);
            add(next);
        };
        // The helper, one look or one decision at a time; it may end at any point.
        with([&](World& w) { look_at_leader(w); });
        with([](World& w) { look_at_slurm(w); });
        with([](World& w) { look_here(w); });
        with([](World& w) { look_at_settings(w); });
        with([&](World& w) {
            if (const std::optional<World> next = decided(w)) w = *next;
        });
        with([&](World& w) {
            w.facts = {};
            if (is(Mutation::record_not_durable) &&
                w.before_phase + w.before_generation + w.before_held > 0) {
                w.phase = w.before_phase, w.generation = w.before_generation;
                w.held = w.before_held, w.closing = w.before_closing;
            }
        });
        // Messages: they arrive, arrive and come again, or don't arrive.
        for (unsigned kind = 0; kind < kinds; ++kind) {
            for (unsigned generation = 0; generation <= generations; ++generation) {
                const std::uint16_t message = bit(kind, generation);
                if ((world.messages & message) == 0) continue;
                with([&](World& w) { deliver(w, kind, generation); });
                with([&](World& w) {
                    deliver(w, kind, generation);
                    w.messages = static_cast<std::uint16_t>(w.messages & ~message);
                });
                with([&](World& w) { w.messages = static_cast<std::uint16_t>(w.messages & ~message); });
            }
        }
        if (__builtin_popcount(world.messages) > most_messages) return;
        // Slurm: a job gets the node, passes the guard or doesn't, and ends; slurmctld's end may cost it what
        // it had not saved.
        if (world.job == no_job && world.drained == open)
            with([](World& w) { w.job = allocated, w.known_job = 1; });
        if (world.job == allocated)
            with([&](World& w) { w.job = admits(w) ? launching : no_job, w.known_job = w.job != no_job; });
        if (world.job == launching) with([](World& w) { w.job = socket; });
        if (world.job == socket) {
            with([&](World& w) {
                const bool passes = is(Mutation::no_step_fence) || admits(w);
                w.job = passes ? running : no_job;
                if (!passes) w.known_job = 0;
            });
        }
        if (world.job == running) with([](World& w) { w.job = no_job; });
        if (world.job == no_job && world.known_job != 0) with([](World& w) { w.known_job = 0; });
        if (world.known_job != 0) with([](World& w) { w.known_job = 0; });
        with([](World& w) {
            if (w.drained != admins) w.drained = open;  // a drain that slurmctld had not saved
        });
        // An admin.
        with([](World& w) { w.drained = open; });
        with([](World& w) { w.drained = admins; });
        with([](World& w) { w.wanted ^= 1U; });
        // llmgw: replicas start where no lease is held, end where one is, and may leave something behind.
        if (world.lease == 0 && world.replica == 0) with([](World& w) { w.replica = 1; });
        if (world.replica != 0) {
            with([](World& w) { w.replica = 0; });
            with([](World& w) { w.replica = 0, w.orphan = 1; });
        }
        if (world.orphan != 0) with([](World& w) { w.orphan = 0; });
        if (is(Mutation::leader_takes_back) && world.lease != 0) with([](World& w) { w.lease = 0; });
    }

    const Mutation mutation_;
    std::unordered_set<std::uint64_t> seen_;
    std::vector<std::uint64_t> fresh_;
    std::string broken_;
};

constexpr std::pair<Mutation, const char*> names[] = {
    {Mutation::undrain_before_check, "undrain_before_check"},
    {Mutation::unknown_is_empty, "unknown_is_empty"},
    {Mutation::unknown_is_free, "unknown_is_free"},
    {Mutation::no_last_look, "no_last_look"},
    {Mutation::no_fence, "no_fence"},
    {Mutation::fence_open_while_closing, "fence_open_while_closing"},
    {Mutation::no_step_fence, "no_step_fence"},
    {Mutation::stale_facts, "stale_facts"},
    {Mutation::record_not_durable, "record_not_durable"},
    {Mutation::jobs_ignored, "jobs_ignored"},
    {Mutation::no_drain, "no_drain"},
    {Mutation::leader_takes_back, "leader_takes_back"},
    {Mutation::old_requests_count, "old_requests_count"},
    {Mutation::give_back_first, "give_back_first"},
};

}  // namespace

const char* text_of(Mutation mutation) {
    for (const auto& [each, name] : names) {
        if (each == mutation) return name;
    }
    return "none";
}

std::vector<Mutation> all_mutations() {
    std::vector<Mutation> all;
    for (const auto& [each, name] : names) all.push_back(each);
    return all;
}

Exploration explore(Mutation mutation, unsigned depth) {
    return Explorer(mutation).run(depth);
}

}  // namespace llmgw::model
