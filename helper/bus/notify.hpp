// Telling the service manager how this program is doing. Nothing happens where nobody asked to be told.
#pragma once

#include <string>

namespace llmgw {

// The program does what it is for; `status` is one line for people.
void notify_ready(const std::string& status);
void notify_status(const std::string& status);
void notify_stopping();

}  // namespace llmgw
