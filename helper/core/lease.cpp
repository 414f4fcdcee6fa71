#include "core/lease.hpp"

#include <algorithm>
#include <array>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::array<std::string_view, 4> states{"none", "draining", "free", "refused"};

Error wrong(std::string message) {
    return {Code::invalid, std::move(message)};
}

}  // namespace

bool is_lease_id(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::lease_id_bytes || !is_alphanumeric(text.front())) return false;
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

Result<void> check_lease_request(const LeaseRequest& request) {
    if (!is_lease_id(request.lease)) {
        return wrong("lease: " + shown(request.lease) +
                     " is none; use a letter or digit, then up to 63 of letters, digits, _ . -");
    }
    if (request.generation < 1 || request.generation > limits::lease_generation)
        return wrong("generation: a number from 1 to 2^53-1 is wanted");
    return {};
}

Result<void> check_reclaim(const Reclaim& reclaim) {
    if (reclaim.deadline < 0 || static_cast<std::uint64_t>(reclaim.deadline) > limits::lease_generation)
        return wrong("reclaim.deadline: seconds since 1970 are wanted");
    if (reclaim.then != "requeue" && reclaim.then != "cancel")
        return wrong("reclaim.then: use \"requeue\" or \"cancel\", and not " + shown(reclaim.then));
    return {};
}

Result<void> check_lease_answer(const LeaseAnswer& answer) {
    if (std::find(states.begin(), states.end(), answer.state) == states.end())
        return wrong("state: " + shown(answer.state) + " is none that is known here");
    if (!answer.lease.empty() && !is_lease_id(answer.lease))
        return wrong("lease: " + shown(answer.lease) + " is none");
    if (answer.generation > limits::lease_generation) return wrong("generation: it is out of range");
    if (answer.lease.empty() != (answer.generation == 0))
        return wrong("lease and generation: one is there without the other");
    if (answer.lease.empty() && answer.state != "none")
        return wrong("lease: missing, while the state is " + answer.state);
    if (answer.replicas > 0 && (answer.state == "free" || answer.state == "none"))
        return wrong("replicas: " + std::to_string(answer.replicas) + ", while the state is " + answer.state);
    if (answer.reason.size() > limits::message_bytes || has_control_characters(answer.reason))
        return wrong("reason: not one line of at most " + std::to_string(limits::message_bytes) + " bytes");
    return answer.reclaim ? check_reclaim(*answer.reclaim) : Result<void>();
}

}  // namespace llmgw
