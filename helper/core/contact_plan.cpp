#include "core/contact_plan.hpp"

#include <cstdlib>

#include "core/limits.hpp"
#include "core/plan_steps.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::int64_t most_ahead = limits::clock_differs.count();

// "600 s ahead of the leader's"
std::string difference(std::int64_t ahead) {
    return std::to_string(std::abs(ahead)) + " s " + (ahead < 0 ? "behind" : "ahead of") + " the leader's";
}

const char* const set_it =
    "; munge's credentials are good for 300 s on either side: set the clock, and have it kept (timedatectl "
    "status)";

}  // namespace

SlurmContact read_contact(bool success, std::string_view output) {
    using State = SlurmContact::State;
    if (success) return {State::answers, {}};
    std::string_view said;
    for (const std::string_view line : split(output, '\n')) {
        if (!trimmed(line).empty()) said = trimmed(line);
    }
    // This machine's own munged gave none.
    const bool no_credential = contains(output, "Munge encode failed");
    const bool refused = contains(output, "Zero Bytes were transmitted or received") ||
                         contains(output, "Protocol authentication error") ||
                         contains(output, "Munge decode failed");
    return {refused && !no_credential ? State::refuses : State::silent,
            printable(said, limits::last_words_bytes)};
}

Step clock_step(const ClusterFacts& facts) {
    Step made = step("clock", "have the leader's time");
    if (!facts.clock_ahead) return is_done(std::move(made), "not compared: the leader does not answer");
    const std::string is = "this machine's clock is " + difference(*facts.clock_ahead);
    if (std::abs(*facts.clock_ahead) <= most_ahead) return is_done(std::move(made), is);
    made.advisory = true;
    return is_missing(std::move(made), is + set_it, {});
}

Step contact_step(const ClusterFacts& facts, const std::string& controller) {
    using State = SlurmContact::State;
    Step made = step("slurm-contact", "have slurmctld take this machine's credentials");
    switch (facts.contact.state) {
        case State::unasked:
            return is_done(std::move(made), "not tried: munge does not run");
        case State::answers:
            return is_done(std::move(made), "slurmctld answers, so munge's key and the clock are right");
        case State::silent:
            // It may be booting; nothing here can be done about it, and slurmd waits for it.
            made.advisory = true;
            return is_missing(std::move(made),
                              "slurmctld on " + controller + " does not answer: " + facts.contact.said, {});
        case State::refuses:
            break;
    }
    const std::string refuses = "slurmctld on " + controller + " does not take this machine's credentials: ";
    if (!facts.clock_ahead) {
        return is_missing(
            std::move(made),
            refuses +
                "munge has another key there, or one of the two clocks is wrong; slurmctld's log "
                "says which",
            {});
    }
    if (std::abs(*facts.clock_ahead) > most_ahead)
        return is_missing(std::move(made),
                          refuses + "this machine's clock is " + difference(*facts.clock_ahead) + set_it, {});
    return is_missing(std::move(made),
                      refuses + "munge has another key there (this machine's clock is " +
                          difference(*facts.clock_ahead) + "), or " + controller +
                          "'s clock is wrong; \"llmgw-slurm doctor\" there tells, and \"systemctl "
                          "restart munge\" there has it read its key again",
                      {});
}

}  // namespace llmgw
