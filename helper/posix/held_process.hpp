// A process of somebody else's, held by its directory in /proc: once it ended nothing can be read there any
// more, whoever has its number since.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

// Errors of all: missing (it ended), invalid (the kernel says something else than is known here), denied,
// internal.
class HeldProcess {
  public:
    static Result<HeldProcess> open(pid_t process);

    // Ticks since the boot.
    [[nodiscard]] Result<std::uint64_t> started() const;
    // denied: its real and effective user are two.
    [[nodiscard]] Result<uid_t> user() const;
    // "user", "mnt". The kernel's own link is followed, which leads to no file of anybody's.
    [[nodiscard]] Result<Descriptor> open_namespace(const char* kind) const;
    // NAME=VALUE, each ended by a zero byte.
    [[nodiscard]] Result<std::string> environment() const;

  private:
    HeldProcess(pid_t process, Descriptor directory);
    [[nodiscard]] Error failure(const std::string& what, int error_number) const;
    [[nodiscard]] Result<std::string> read(const char* name, std::size_t max_bytes) const;

    pid_t process_;
    Descriptor directory_;
};

// Namespaces by their inodes, which are all on one file system. 0: it can't be told.
std::uint64_t namespace_number(int file);

// Of a user namespace the one it was made in; of any other the user namespace that it belongs to
// (linux/nsfs.h). Not open: it is out of this process's sight.
Descriptor parent_namespace(int users);
Descriptor owning_namespace(int file);

}  // namespace llmgw
