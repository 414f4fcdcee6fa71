#include "core/job_containers.hpp"

#include <charconv>
#include <map>

#include "core/text.hpp"

namespace llmgw {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

JobContainers containers_among(const std::vector<ProcessNamespaces>& processes) {
    std::map<std::uint64_t, ContainerProcess> first;
    for (const ProcessNamespaces& each : processes) {
        if (!each.below_ours || !each.own_mounts) continue;
        const auto [at, is_new] = first.emplace(each.users, each.process);
        if (!is_new && each.process.started < at->second.started) at->second = each.process;
    }
    if (first.size() != 1) return {first.size(), std::nullopt};
    return {1, first.begin()->second};
}

std::string why_on_host(const JobContainers& containers, std::uint32_t job) {
    const std::string how_many =
        containers.count == 0 ? "no container" : std::to_string(containers.count) + " containers";
    return "it is on the host, since job " + std::to_string(job) + " runs " + how_many + " here";
}

std::string format_container(const ContainerProcess& container) {
    return std::to_string(container.process) + ":" + std::to_string(container.started);
}

std::optional<ContainerProcess> parse_container(std::string_view text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const auto process = whole_number<std::int32_t>(text.substr(0, colon));
    const auto started = whole_number<std::uint64_t>(text.substr(colon + 1));
    if (!process || !started || *process < 1) return std::nullopt;
    const ContainerProcess container{*process, *started};
    if (format_container(container) != text) return std::nullopt;
    return container;
}

std::optional<std::int32_t> parse_process_number(std::string_view text) {
    const auto process = whole_number<std::int32_t>(text);
    return process && *process > 0 ? process : std::nullopt;
}

std::optional<std::uint64_t> start_of_process(std::string_view stat) {
    const std::size_t name_end = stat.rfind(')');
    if (name_end == std::string_view::npos || name_end + 2 > stat.size()) return std::nullopt;
    // Field 3 comes first.
    const std::vector<std::string_view> fields = split(stat.substr(name_end + 2), ' ');
    constexpr std::size_t start = 22 - 3;
    if (fields.size() <= start) return std::nullopt;
    return whole_number<std::uint64_t>(fields[start]);
}

std::optional<std::uint32_t> user_of_process(std::string_view status) {
    constexpr std::string_view key = "Uid:\t";
    for (const std::string_view line : split(status, '\n')) {
        if (!line.starts_with(key)) continue;
        const std::vector<std::string_view> users = split(line.substr(key.size()), '\t');
        if (users.size() < 2 || users[0] != users[1]) return std::nullopt;
        return whole_number<std::uint32_t>(users[0]);
    }
    return std::nullopt;
}

}  // namespace llmgw
