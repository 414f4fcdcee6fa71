// The rules for shared.path and shared.nfs.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace llmgw {

// What is wrong with a non-empty path for the shared file system and what is allowed; nothing when it is
// fine. The path is later mounted over, exported and created by root on every machine, which is why it must
// be plain: nothing to quote in fstab, exports, a unit's name or a shell, and no way back up.
[[nodiscard]] std::optional<std::string> shared_path_problem(std::string_view path);

struct NfsSource {
    std::string host;
    std::string path;

    bool operator==(const NfsSource&) const = default;
    // `host:/path` as mount(8) takes it: an IPv6 address in brackets.
    [[nodiscard]] std::string mount_source() const;
};

// At the last colon, since the path can't have one and the host can. Nothing when there is no `:/`.
[[nodiscard]] std::optional<NfsSource> split_nfs_source(std::string_view text);

// As shared_path_problem(), for `host:/path`.
[[nodiscard]] std::optional<std::string> nfs_source_problem(std::string_view text);

}  // namespace llmgw
