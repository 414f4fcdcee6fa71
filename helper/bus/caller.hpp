// Who called a method, as the bus daemon says it.
#pragma once

#include <sys/types.h>
#include <systemd/sd-bus.h>

#include <vector>

#include "core/result.hpp"

namespace llmgw::bus {

struct Caller {
    uid_t uid = 0;
    std::vector<gid_t>
        groups;  // of the process when it connected, its own first; none where the bus can't tell
};

// Asks the bus (GetConnectionCredentials), which took both from the caller's socket. PIDs are not looked at:
// by the time one is looked up it can be another process. sd_bus_query_sender_creds() is no way to the
// groups: it passes UnixGroupIDs over and reads /proc (systemd 252, bus-control.c).
Result<Caller> caller_of(sd_bus_message* message);

}  // namespace llmgw::bus
