#include "core/node_hardware.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text) {
    Number number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
    return number;
}

template <class Number>
bool take(std::string_view word, std::string_view key, Number& into) {
    if (!word.starts_with(key)) return true;
    const std::optional<Number> number = number_in<Number>(word.substr(key.size()));
    if (number) into = *number;
    return number.has_value();
}

}  // namespace

Result<NodeHardware> parse_slurmd_hardware(std::string_view output) {
    for (std::string_view line : split(output, '\n')) {
        line = line.substr(0, line.find('\r'));
        if (!line.starts_with("NodeName=")) continue;
        NodeHardware hardware;
        bool good = true;
        for (const std::string_view word : split(line, ' ')) {
            good = good && take(word, "CPUs=", hardware.cpus) && take(word, "Boards=", hardware.boards) &&
                   take(word, "SocketsPerBoard=", hardware.sockets_per_board) &&
                   take(word, "CoresPerSocket=", hardware.cores_per_socket) &&
                   take(word, "ThreadsPerCore=", hardware.threads_per_core) &&
                   take(word, "RealMemory=", hardware.memory_mb);
        }
        if (!good) break;
        if (const Result<void> fine = check_hardware(hardware); !fine) return fine.error();
        return hardware;
    }
    return Error{Code::invalid, "slurmd -C says " + shown(output)};
}

Result<void> check_hardware(const NodeHardware& hardware) {
    const auto wrong = [](const char* what) {
        return Error{Code::invalid, std::string("hardware: ") + what};
    };
    if (hardware.cpus == 0 || hardware.memory_mb == 0) return wrong("no CPUs or no memory");
    // CPUs is what jobs get: cores or threads of them all, as slurmd counts them.
    std::uint64_t threads = 1;
    for (const std::uint32_t count : {hardware.boards, hardware.sockets_per_board, hardware.cores_per_socket,
                                      hardware.threads_per_core}) {
        if (count == 0 || count > limits::hardware_count) return wrong("a count is out of range");
        threads *= count;
    }
    if (hardware.cpus > threads || threads > limits::hardware_count) return wrong("the counts don't agree");
    if (hardware.memory_mb > limits::hardware_memory_mb) return wrong("more memory than there can be");
    if (hardware.gpus.size() > limits::hardware_gpus) return wrong("more GPUs than there can be");
    for (std::size_t i = 0; i < hardware.gpus.size(); ++i) {
        if (hardware.gpus[i] > limits::hardware_count) return wrong("a GPU's number is out of range");
        if (i > 0 && hardware.gpus[i] <= hardware.gpus[i - 1]) return wrong("the GPUs are not in order");
    }
    return {};
}

std::vector<std::uint32_t> gpus_in(const std::vector<std::string>& device_names) {
    constexpr std::string_view prefix = "nvidia";
    std::set<std::uint32_t> gpus;
    for (const std::string& name : device_names) {
        if (!name.starts_with(prefix)) continue;
        if (const auto number = number_in<std::uint32_t>(std::string_view(name).substr(prefix.size())))
            gpus.insert(*number);
    }
    return {gpus.begin(), gpus.end()};
}

std::string number_list(const std::vector<std::uint32_t>& numbers) {
    std::vector<std::string> pieces;
    for (std::size_t first = 0; first < numbers.size();) {
        std::size_t last = first;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        const std::string begin = std::to_string(numbers[first]);
        pieces.push_back(first == last ? begin : begin + "-" + std::to_string(numbers[last]));
        first = last + 1;
    }
    if (numbers.size() == 1) return pieces.front();
    return "[" + join(pieces, ",") + "]";
}

}  // namespace llmgw
