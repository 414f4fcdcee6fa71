// Reports in JSON: PUT /slurm/v1/machines/NAME, the leader's files, and GET /slurm/v1/machines.
#pragma once

#include <string>
#include <string_view>

#include "core/report.hpp"
#include "core/value.hpp"

namespace llmgw::json {

// Keys that this version doesn't know are passed over: helpers and leader are not upgraded in one moment.
// Everything else is checked with check_report(). At most limits::report_bytes.
Result<MachineReport> read_report(std::string_view text);
// One line; equal reports give equal text.
std::string text_of(const MachineReport& report);

// What GET /slurm/v1/machines answers with.
Result<KnownMachines> read_machines(std::string_view text);

// The same answer in pieces, so that the leader renders a report once and not once per reader: `report` is
// what text_of() gave.
std::string machines_head(std::uint64_t revision, std::int64_t now);
void add_machine(std::string& text, std::string_view report, std::int64_t received);
void close_machines(std::string& text);

// As it stands in a report, for those who show it elsewhere.
Value value_of(const LendingReport& lending);

}  // namespace llmgw::json
