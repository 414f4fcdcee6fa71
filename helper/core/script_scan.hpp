// What a batch script says about containers, found by reading it as text: the directives that sbatch honours
// and a REST client does not, and srun lines that job_submit can't see otherwise. Nothing is allocated, and
// the time grows with the bytes read, at most limits::script_scan_bytes.
#pragma once

#include <string_view>

#include "core/container_request.hpp"

namespace llmgw {

struct ScriptFindings {
    Request directive = Request::none;  // asked for by an #SBATCH line of the first het component
    unsigned directive_line = 0;        // counted from 1
    Request srun = Request::none;       // asked for by an option of an srun command
    unsigned srun_line = 0;
    bool cut = false;  // the script is longer than what was read

    bool operator==(const ScriptFindings&) const = default;
};

ScriptFindings scan_script(std::string_view script) noexcept;

// image_option or name_option for "--container-image", "--container-name=x" and the abbreviations that
// getopt_long takes for them ("--container-im"); none for every other word, "--container" (OCI) included.
Request request_in_option(std::string_view word) noexcept;

}  // namespace llmgw
