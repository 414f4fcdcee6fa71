#include "core/releases.hpp"

#include <algorithm>

#include "core/limits.hpp"
#include "core/names.hpp"
#include "core/text.hpp"

namespace llmgw {

std::string_view text_of(Family family) {
    return family == Family::deb ? "deb" : "rpm";
}

std::string_view text_of(Architecture architecture) {
    return architecture == Architecture::amd64 ? "amd64" : "arm64";
}

bool is_pinned_name(std::string_view text) noexcept {
    if (text.empty() || text.size() > limits::file_name_bytes || !is_alphanumeric(text.front())) return false;
    // What the cache itself puts behind the name of a file.
    if (text.ends_with(".part") || text.ends_with(".from") || text.ends_with(".rejected")) return false;
    return std::all_of(text.begin(), text.end(), [](char c) {
        return is_alphanumeric(c) || std::string_view("._+~-").find(c) != std::string_view::npos;
    });
}

bool is_sha256(std::string_view text) noexcept {
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
           });
}

Result<std::vector<PinnedFile>> enroot_packages(const Releases& releases, const Platform& platform) {
    if (const auto found = releases.enroot.packages.find(platform); found != releases.enroot.packages.end())
        return found->second;
    std::vector<std::string> known;
    for (const auto& [other, files] : releases.enroot.packages) {
        known.push_back(std::string(text_of(other.family)) + " " + std::string(text_of(other.architecture)));
    }
    return Error{Code::invalid,
                 "the releases have no enroot " + releases.enroot.version + " for " +
                     std::string(text_of(platform.family)) + " packages on " +
                     std::string(text_of(platform.architecture)) + ", only for " +
                     (known.empty() ? "nothing" : join(known, ", ")) +
                     ": add its packages to releases.json, or keep containers off this machine"};
}

}  // namespace llmgw
