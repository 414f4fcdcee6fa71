// Files of a machine that are written with what was there before kept in a ledger, and put back from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine_files.hpp"
#include "core/result.hpp"
#include "service/ledger_store.hpp"

namespace llmgw::service {

// Nothing: no such file, or none that can be read.
std::optional<MachineFile> machine_file_at(const std::string& path);

// What was there before goes into the ledger first. Error: something that can't be read is in its place; it
// is left alone.
Result<void> write_recorded(const LedgerStore& ledger, const MachineFile& file);

// Back to what was there, unless somebody wrote something else since, of which `left` gets a sentence.
Result<void> put_back(const LedgerFile& file, std::vector<std::string>& left);

// The same for the file of that path in the ledger, which is forgotten then.
Result<void> restore_recorded(const LedgerStore& ledger, const std::string& path,
                              std::vector<std::string>& left);

// The files in the ledger that are ours still and not among those that are wanted.
Result<std::vector<std::string>> unwanted_of(const LedgerStore& ledger,
                                             const std::vector<MachineFile>& wanted);

}  // namespace llmgw::service
