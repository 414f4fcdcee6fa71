#include "core/netstrings.hpp"

#include <charconv>

namespace llmgw {

std::string pack_netstrings(const std::vector<std::string>& texts) {
    std::string packed;
    for (const std::string& text : texts) packed += std::to_string(text.size()) + ":" + text + ",";
    return packed;
}

std::optional<std::vector<std::string>> unpack_netstrings(std::string_view packed) {
    std::vector<std::string> texts;
    while (!packed.empty()) {
        std::size_t size = 0;
        const auto [end, error] = std::from_chars(packed.data(), packed.data() + packed.size(), size);
        const auto used = static_cast<std::size_t>(end - packed.data());
        // One way only to write a number, so that what is packed again is the same.
        const bool plain = error == std::errc() && (packed[0] != '0' || used == 1);
        if (!plain || used >= packed.size() || packed[used] != ':') return std::nullopt;
        packed.remove_prefix(used + 1);
        if (size >= packed.size() || packed[size] != ',') return std::nullopt;
        texts.emplace_back(packed.substr(0, size));
        packed.remove_prefix(size + 1);
    }
    return texts;
}

}  // namespace llmgw
