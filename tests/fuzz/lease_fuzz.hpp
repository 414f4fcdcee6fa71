// Attack surface: what the leader answers about a lease, and what a node asks, both over the network.
// Whatever the bytes are, reading them ends, and either refuses with one printable line or gives what is
// written and read back the same; a state that is none of the four, and a free node with replicas, never get
// through. The corpus runs as an ordinary test too.
#pragma once

#include <string_view>

#include "fuzz/promise.hpp"
#include "json/lease_json.hpp"

namespace llmgw::fuzz {

inline void lease(std::string_view text) {
    const Result<LeaseRequest> request = json::read_lease_request(text);
    if (request) {
        must(is_lease_id(request.value().lease) && request.value().generation > 0);
        must(json::read_lease_request(json::text_of(request.value())).value() == request.value());
    } else {
        must(one_printable_line(request.error().message) && !request.error().message.empty());
    }
    const Result<LeaseAnswer> answer = json::read_lease_answer(text);
    if (answer) {
        const LeaseAnswer& said = answer.value();
        must(said.state == "none" || said.state == "draining" || said.state == "free" ||
             said.state == "refused");
        must(said.state != "free" || (said.replicas == 0 && is_lease_id(said.lease) && said.generation > 0));
        must(one_printable_line(said.reason));
        must(json::read_lease_answer(json::text_of(said)).value() == said);
    } else {
        must(one_printable_line(answer.error().message) && !answer.error().message.empty());
    }
}

}  // namespace llmgw::fuzz
