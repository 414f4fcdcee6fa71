#include "service/path_check.hpp"

#include <cstdio>

#include "core/shown.hpp"
#include "posix/path_probe.hpp"

namespace llmgw::service {
namespace {

constexpr std::chrono::seconds deadline{60};

std::string last_words(const std::string& output) {
    const std::size_t end = output.find_last_not_of('\n');
    if (end == std::string::npos) return "it said nothing";
    const std::size_t begin = output.rfind('\n', end);
    return shown(std::string_view(output).substr(begin == std::string::npos ? 0 : begin + 1, end - begin));
}

// The state texts among what else was printed.
Result<std::vector<PathFinding>> findings_in(const std::string& output) {
    constexpr std::string_view first = "llmgw-slurm-path ";
    constexpr std::string_view last = "\nend\n";
    std::vector<PathFinding> findings;
    for (std::size_t begin = output.find(first); begin != std::string::npos;) {
        const std::size_t end = output.find(last, begin);
        const std::size_t behind = end == std::string::npos ? output.size() : end + last.size();
        Result<PathFinding> finding =
            path_finding_from(std::string_view(output).substr(begin, behind - begin));
        if (!finding) return finding.error();
        findings.push_back(std::move(finding).value());
        begin = output.find(first, behind);
    }
    return findings;
}

}  // namespace

Result<std::vector<PathFinding>> probe_paths(const std::vector<PathNeed>& needs, const std::string& prober,
                                             TaskRunner& runner, const std::stop_token& stop) {
    if (needs.empty()) return std::vector<PathFinding>{};
    Task task;
    task.unit = "llmgw-slurm-probe";
    task.description = "llmgw-slurm: tries what the file systems for containers can do";
    task.argv = {prober};
    for (const PathNeed& need : needs) {
        task.argv.emplace_back("--probe-path");
        task.argv.push_back(std::string(text_of(need.use)) + "=" + need.path);
    }
    task.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    task.deadline = deadline;
    const Result<TaskResult> ran = runner.run(task, stop);
    if (!ran) return ran.error().within("cannot probe the paths of containers");
    Result<std::vector<PathFinding>> findings = findings_in(ran.value().output);
    if (!ran.value().success() || !findings || findings.value().size() != needs.size()) {
        return Error{Code::internal,
                     "cannot probe the paths of containers: " + last_words(ran.value().output)};
    }
    return findings;
}

std::string first_unfit(const std::vector<PathFinding>& findings) {
    for (const PathFinding& finding : findings) {
        if (std::optional<std::string> reason = unfit(finding)) return *reason;
    }
    return {};
}

int probe_here(const std::vector<std::string>& needs) {
    for (const std::string& need : needs) {
        const std::size_t equals = need.find('=');
        if (equals == std::string::npos) return 2;
        PathUse use = PathUse::data;
        for (const PathUse each : {PathUse::cache, PathUse::runtime, PathUse::temp, PathUse::shared}) {
            if (need.compare(0, equals, text_of(each)) == 0) use = each;
        }
        std::fputs(state_text_of(probe_path(use, need.substr(equals + 1))).c_str(), stdout);
    }
    return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace llmgw::service
