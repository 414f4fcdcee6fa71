// sshd's drop-in that has it read the accounts' keys, too.
#pragma once

#include <string>
#include <string_view>

namespace llmgw {

inline constexpr const char* sshd_drop_in = "/etc/ssh/sshd_config.d/zz-llmgw-slurm.conf";

// sshd takes the first AuthorizedKeysFile that it meets (sshd_config(5)), so ours has to name the places that
// hold without it: those of the main file, which includes the drop-ins first, or sshd's own. Another drop-in
// that sets it comes before ours, which then is without effect: the caller looks at what sshd says.
[[nodiscard]] std::string sshd_drop_in_text(std::string_view main_file, const std::string& keys);

// Whether `sshd -T` says that keys are read from there.
[[nodiscard]] bool sshd_reads_keys(std::string_view effective, const std::string& keys);

}  // namespace llmgw
