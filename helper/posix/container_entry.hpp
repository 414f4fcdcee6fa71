// Into a container of this process's user, as that user: whoever made a user namespace has every right in it,
// and in the mounts that belong to it.
#pragma once

#include <string>

#include "core/job_containers.hpp"
#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw {

struct OpenContainer {
    std::string environment;  // of the process, as the kernel keeps it; "": it can't be read
    Descriptor users;
    Descriptor mounts;
};

// Errors: missing (the process ended), denied (it is another user's, or in no container), internal.
Result<OpenContainer> open_container(const ContainerProcess& container);

// This process, which has one thread. Nothing has changed after an error, unless `half_way`: then only the
// user namespace is the container's, and there is no way back.
struct Entry {
    Result<void> result;
    bool half_way = false;
};
Entry enter(const OpenContainer& container);

}  // namespace llmgw
