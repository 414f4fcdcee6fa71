// Attack surface: the batch script of a job, read inside slurmctld under its locks. Any user can submit one,
// of any size and any bytes. Reading it must end, must not look past its end, and must not claim a line that
// says nothing of the kind.
#pragma once

#include <string_view>

#include "core/limits.hpp"
#include "core/script_scan.hpp"
#include "core/text.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline void check_finding(Request request, unsigned number, const std::vector<std::string_view>& lines,
                          std::string_view begins_with) {
    must((request == Request::none) == (number == 0));
    if (request == Request::none) return;
    must(request == Request::image_option || request == Request::name_option);
    must(number <= lines.size());
    // A command may go on for lines; the one that is named is its first.
    std::size_t line = number - 1;
    must(lines[line].starts_with(begins_with));
    while (lines[line].ends_with('\\') && line + 1 < lines.size() &&
           lines[line].find("--container-") == std::string_view::npos) {
        ++line;
    }
    must(lines[line].find("--container-") != std::string_view::npos);
}

inline void script_scan(std::string_view text) {
    const ScriptFindings findings = scan_script(text);
    must(findings.cut == (text.size() > limits::script_scan_bytes));
    const std::vector<std::string_view> lines = split(text, '\n');
    check_finding(findings.directive, findings.directive_line, lines, "#SBATCH");
    check_finding(findings.srun, findings.srun_line, lines, "");
    must(request_in_option(text) == Request::none || text.starts_with("--container-"));
    must(scan_script(text) == findings);
}

}  // namespace llmgw::fuzz
