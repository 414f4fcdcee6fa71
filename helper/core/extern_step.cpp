#include "core/extern_step.hpp"

#include <algorithm>
#include <charconv>

#include "core/limits.hpp"
#include "core/names.hpp"

namespace llmgw {
namespace {

constexpr std::string_view extern_suffix = ".4294967292";  // slurm.h: SLURM_EXTERN_CONT
constexpr std::uint32_t no_value = 0xfffffffe;             // slurm.h: NO_VAL; no job has it or more

bool is_node_name(std::string_view text) {
    return !text.empty() && text.size() <= limits::node_name_bytes && is_alphanumeric(text.front()) &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_alphanumeric(c) || c == '_' || c == '.' || c == '-'; });
}

}  // namespace

std::string ExternStep::socket() const {
    return directory + "/" + node + "_" + std::to_string(job) + std::string(extern_suffix);
}

std::optional<std::uint32_t> parse_job_number(std::string_view text) {
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // Slurm writes no leading zeros, and a name that isn't exactly its own is somebody else's file.
    const bool whole = error == std::errc() && end == text.data() + text.size() && !text.starts_with('0');
    if (!whole || number >= no_value) return std::nullopt;
    return number;
}

std::optional<ExternStep> parse_extern_socket(std::string_view name) {
    if (!name.ends_with(extern_suffix)) return std::nullopt;
    name.remove_suffix(extern_suffix.size());
    // Nodes' names may have underscores; jobs' numbers have none.
    const std::size_t underscore = name.rfind('_');
    if (underscore == std::string_view::npos || !is_node_name(name.substr(0, underscore))) {
        return std::nullopt;
    }
    const std::optional<std::uint32_t> job = parse_job_number(name.substr(underscore + 1));
    if (!job) return std::nullopt;
    return ExternStep{"", std::string(name.substr(0, underscore)), *job, 0};
}

void sort_newest_first(std::vector<ExternStep>& steps) {
    std::sort(steps.begin(), steps.end(), [](const ExternStep& one, const ExternStep& other) {
        if (one.born_ns != other.born_ns) return one.born_ns > other.born_ns;
        if (one.job != other.job) return one.job > other.job;
        return one.socket() < other.socket();
    });
}

}  // namespace llmgw
