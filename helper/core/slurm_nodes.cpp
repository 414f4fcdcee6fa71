#include "core/slurm_nodes.hpp"

#include <algorithm>
#include <charconv>

#include "core/text.hpp"

namespace llmgw {
namespace {

// The word behind " KEY=".
std::string_view word_of(std::string_view line, std::string_view key) {
    const std::size_t begin = line.find(key);
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin + key.size());
    return line.substr(0, line.find(' '));
}

// The reason is the only field with spaces in it; " [root@2026-11-30T18:40:53]" ends it.
std::string reason_of(std::string_view line) {
    constexpr std::string_view key = " Reason=";
    const std::size_t begin = line.find(key);
    if (begin == std::string_view::npos) return {};
    line.remove_prefix(begin + key.size());
    return std::string(trimmed(line.substr(0, line.rfind(" ["))));
}

}  // namespace

bool SlurmNode::is(std::string_view flag) const {
    return std::find(state.begin(), state.end(), flag) != state.end();
}

std::vector<SlurmNode> parse_slurm_nodes(std::string_view text) {
    std::vector<SlurmNode> nodes;
    for (const std::string_view line : split(text, '\n')) {
        if (!line.starts_with("NodeName=")) continue;
        SlurmNode node;
        node.name = word_of(line, "NodeName=");
        // "DOWN*+DRAIN": the star says that it doesn't answer.
        for (const std::string_view word : split(word_of(line, " State="), '+')) {
            node.state.emplace_back(word.substr(0, word.find_first_of("*~#!%$@^-")));
        }
        const std::string_view cpus = word_of(line, " CPUAlloc=");
        std::from_chars(cpus.data(), cpus.data() + cpus.size(), node.cpus_in_use);
        node.reason = reason_of(line);
        nodes.push_back(std::move(node));
    }
    return nodes;
}

}  // namespace llmgw
