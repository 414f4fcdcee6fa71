// Requests and answers in libmicrohttpd's terms.
#pragma once

#include <microhttpd.h>

#include "http/server.hpp"

namespace llmgw::http {

Headers headers_of(MHD_Connection* connection);

// What the body is going to have, as far as the client says; a chunked one says nothing (0).
std::size_t announced_size(const Headers& headers);

MHD_Result queue_answer(MHD_Connection* connection, const Answer& answer);

}  // namespace llmgw::http
