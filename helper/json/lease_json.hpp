// Leases in JSON: what POST, GET and DELETE /slurm/v1/nodes/NAME/lease take and answer.
#pragma once

#include <string>
#include <string_view>

#include "core/lease.hpp"
#include "core/value.hpp"

namespace llmgw::json {

// Strict about types and with the checks of core/lease.hpp; keys that this version doesn't know are passed
// over. At most limits::lease_bytes. Errors: invalid, too_large.
Result<LeaseRequest> read_lease_request(std::string_view text);
Result<LeaseAnswer> read_lease_answer(std::string_view text);
Result<Reclaim> reclaim_of(const Value& value);

// One line; equal ones give equal text.
std::string text_of(const LeaseRequest& request);
std::string text_of(const LeaseAnswer& answer);
Value value_of(const Reclaim& reclaim);

}  // namespace llmgw::json
