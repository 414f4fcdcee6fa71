// llmgw-slurm-node: what the helper asks of slurmctld about its own node, one question a process. libslurm
// ends the process it is in when it can't read its configuration, and waits as long as it likes: here it may.
#include <charconv>
#include <iostream>
#include <string_view>

#include "core/slurm_node_text.hpp"
#include "slurm-node/jobs.hpp"
#include "slurm-node/node.hpp"
#include "slurm-node/slurm_api.hpp"

using namespace llmgw;

namespace {

constexpr int usage_error = 2;

constexpr const char* usage =
    "usage: llmgw-slurm-node show NODE | drain NODE GENERATION | undrain NODE GENERATION\n"
    "                        jobs NUMBER... | jobs-on NODE | end requeue|cancel MESSAGE NUMBER...\n"
    "The helper's questions to slurmctld; nothing for people, who have scontrol.\n";

template <class Number>
bool reads(std::string_view text, Number& into) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
    return problem == std::errc() && end == text.data() + text.size();
}

int fail(const Error& error) {
    std::cout << error.message << '\n';
    return 1;
}

int done(const Result<void>& result) {
    return result ? 0 : fail(result.error());
}

int tell(const Result<std::vector<SlurmJob>>& jobs) {
    if (!jobs) return fail(jobs.error());
    for (const SlurmJob& job : jobs.value()) std::cout << format_slurm_job(job);
    return 0;
}

int answer(const std::vector<std::string>& words) {
    const std::string& what = words[0];
    if (what == "show" && words.size() == 2) {
        const Result<NodeInSlurm> node = slurm_node::look_at(words[1]);
        if (!node) return fail(node.error());
        std::cout << format_node_in_slurm(node.value(), words[1]);
        return 0;
    }
    if ((what == "drain" || what == "undrain") && words.size() == 3) {
        std::uint64_t generation = 0;
        if (!reads(words[2], generation)) return usage_error;
        return done(what == "drain" ? slurm_node::drain(words[1], generation)
                                    : slurm_node::undrain(words[1], generation));
    }
    if (what == "jobs-on" && words.size() == 2) return tell(slurm_node::jobs_on(words[1]));
    std::size_t first = 0;
    if (what == "jobs") first = 1;
    if (what == "end" && words.size() > 3 && (words[1] == "requeue" || words[1] == "cancel")) first = 3;
    if (first == 0) return usage_error;
    std::vector<std::uint32_t> numbers(words.size() - first);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        if (!reads(words[first + i], numbers[i])) return usage_error;
    }
    if (what == "jobs") return tell(slurm_node::jobs_by_number(numbers));
    for (const std::uint32_t number : numbers) {
        if (const Result<void> ended = slurm_node::end_job(number, words[1] == "requeue", words[2]); !ended)
            return fail(ended.error());
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.empty() || words[0] == "--help" || words[0] == "-h") {
        std::cout << usage;
        return words.empty() ? usage_error : 0;
    }
    slurm_init(nullptr);
    const int code = answer(words);
    if (code == usage_error) std::cerr << usage;
    return std::cout.flush() ? code : 1;
}
