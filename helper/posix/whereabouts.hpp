// Where a process is: its mount namespace and its root directory. A task that pyxis put in a container
// differs in both from what it was before; a task that another plugin only gave a private /tmp differs in
// one.
#pragma once

#include <cstdint>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

struct Whereabouts {
    std::uint64_t namespace_device = 0;
    std::uint64_t namespace_inode = 0;
    std::uint64_t root_device = 0;
    std::uint64_t root_inode = 0;
};

// Holds /proc open, since a container need not have one.
Result<Descriptor> open_proc();

// Of this process, looked up through a descriptor of open_proc().
Result<Whereabouts> whereabouts(const Descriptor& proc);

// True only if both the mount namespace and the root directory are others.
bool moved_into_container(const Whereabouts& before, const Whereabouts& after) noexcept;

}  // namespace llmgw
