// DIR/leases/NODE.json: one node's lease, so that many nodes don't wait for each other's disk writes.
#pragma once

#include <map>
#include <string>

#include "leader/lease_rules.hpp"

namespace llmgw::leader {

// Kept for good before it returns.
Result<void> keep_lease(const std::string& directory, const std::string& node, const LeaseRecord& record);

// All of them. A file that is no lease is an error that names it and the remedy: forgetting a lease would let
// replicas start beside jobs.
Result<std::map<std::string, LeaseRecord>> load_leases(const std::string& directory);

}  // namespace llmgw::leader
