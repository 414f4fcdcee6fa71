#include "core/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace llmgw {
namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t byte_at(std::string_view bytes, std::size_t place) {
    return place < bytes.size() ? static_cast<unsigned char>(bytes[place]) : 0U;
}

}  // namespace

std::string base64_of(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::uint32_t group =
            byte_at(bytes, i) << 16U | byte_at(bytes, i + 1) << 8U | byte_at(bytes, i + 2);
        for (unsigned part = 0; part < 4; ++part) {
            text += i + part > bytes.size() ? '=' : digits[group >> (18U - 6U * part) & 63U];
        }
    }
    return text;
}

Result<std::string> from_base64(std::string_view text) {
    const Error wrong{Code::invalid, "it is no base64"};
    if (text.size() % 4 != 0) return wrong;
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::string_view group = text.substr(i, 4);
        if (i + 4 == text.size()) {
            while (group.size() > 2 && group.back() == '=') group.remove_suffix(1);
        }
        std::uint32_t value = 0;
        for (const char digit : group) {
            const std::size_t found = digits.find(digit);
            if (found == std::string_view::npos) return wrong;
            value = value << 6U | static_cast<std::uint32_t>(found);
        }
        value <<= 6U * static_cast<unsigned>(4 - group.size());
        // What the padding stands for must be zero, or two texts would mean the same.
        if ((group.size() == 2 && (value & 0xffffU) != 0) || (group.size() == 3 && (value & 0xffU) != 0))
            return wrong;
        for (std::size_t byte = 0; byte + 1 < group.size(); ++byte) {
            bytes += static_cast<char>(value >> (16U - 8U * static_cast<unsigned>(byte)) & 0xffU);
        }
    }
    return bytes;
}

}  // namespace llmgw
