#include "http/mhd.hpp"

#include <charconv>
#include <cstdint>
#include <memory>

namespace llmgw::http {
namespace {

constexpr std::size_t headers_kept = 64;

MHD_Result keep_header(void* context, MHD_ValueKind, const char* name, const char* value) {
    auto& headers = *static_cast<Headers*>(context);
    if (headers.size() >= headers_kept) return MHD_NO;
    if (name != nullptr && value != nullptr) headers.emplace_back(name, value);
    return MHD_YES;
}

void let_go(void* body) {
    delete static_cast<std::shared_ptr<const std::string>*>(body);
}

struct ResponseFreed {
    void operator()(MHD_Response* response) const noexcept { MHD_destroy_response(response); }
};

}  // namespace

Headers headers_of(MHD_Connection* connection) {
    Headers headers;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &keep_header, &headers);
    return headers;
}

std::size_t announced_size(const Headers& headers) {
    const std::string text = header(headers, "Content-Length");
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (text.empty() || error == std::errc::invalid_argument) return 0;
    return error == std::errc{} ? size : SIZE_MAX;
}

MHD_Result queue_answer(MHD_Connection* connection, const Answer& answer) {
    const auto status = static_cast<unsigned>(answer.status);
    const std::size_t size = answer.body ? answer.body->size() : 0;
    std::unique_ptr<MHD_Response, ResponseFreed> response;
    if (size > 0) {
        auto body = std::make_unique<std::shared_ptr<const std::string>>(answer.body);
        // The interface has no const; nothing writes to it.
        response.reset(MHD_create_response_from_buffer_with_free_callback_cls(
            size, const_cast<char*>((*body)->data()), &let_go, body.get()));
        if (response) static_cast<void>(body.release());
    } else {
        response.reset(MHD_create_response_from_buffer(0, nullptr, MHD_RESPMEM_PERSISTENT));
    }
    if (!response) return MHD_NO;
    bool good = MHD_add_response_header(response.get(), "Cache-Control", "no-store") == MHD_YES;
    if (size > 0)
        good = good && MHD_add_response_header(response.get(), "Content-Type", "application/json") == MHD_YES;
    for (const auto& [name, value] : answer.headers) {
        good = good && MHD_add_response_header(response.get(), name.c_str(), value.c_str()) == MHD_YES;
    }
    return good ? MHD_queue_response(connection, status, response.get()) : MHD_NO;
}

}  // namespace llmgw::http
