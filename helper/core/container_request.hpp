// How a job or a step asks for a container. One list for the guard and the gate, so that they can't disagree.
// Source: pyxis 0.24.0 args.c (options and PYXIS_ variables; a container is asked for by an image or a name,
// all other options only shape it) and Slurm 22.05 plugstack.c, 24.11 and 26.05 spank.c (the variables that
// carry options from a client to slurmctld, to slurmstepd and to jobs submitted from within a job).
#pragma once

#include <array>
#include <string_view>

namespace llmgw {

enum class Request {
    none,
    image_option,
    name_option,
    image_variable,
    name_variable,
    oci,
    mark,  // the guard of the submit host saw one of the above
};

struct RequestVariable {
    const char* name;  // of an environment variable; a value that is not empty asks for a container
    Request request;
};

// The option as Slurm forwards it from the client, the option as inherited by Slurm commands inside a job,
// pyxis's own variables, and our mark.
inline constexpr const char* mark_in_environment = "SLURM_LLMGW_CONTAINER";  // SLURM_: survives --export=NONE
inline constexpr const char* mark_in_job_control =
    "LLMGW_CONTAINER";  // prologs see it as SPANK_LLMGW_CONTAINER
// Beside the mark of a later component of a het job whose first one asks, too.
inline constexpr const char* mark_of_later_component = "LLMGW_FIRST_COMPONENT_ASKS";
inline constexpr std::array<RequestVariable, 8> request_variables{{
    {"_SLURM_SPANK_OPTION_pyxis_container_image", Request::image_option},
    {"_SLURM_SPANK_OPTION_pyxis_container_name", Request::name_option},
    {"SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_image", Request::image_option},
    {"SLURM_SPANK__SLURM_SPANK_OPTION_pyxis_container_name", Request::name_option},
    {"PYXIS_CONTAINER_IMAGE", Request::image_variable},
    {"PYXIS_CONTAINER_NAME", Request::name_variable},
    {mark_in_environment, Request::mark},
    {mark_in_job_control, Request::mark},
}};

// What "NAME=VALUE" asks for. An entry without '=' or with an empty value asks for nothing.
Request request_in_entry(std::string_view entry) noexcept;

// The same for an entry of an environment, read no further than needed: a job may have thousands, of any
// length.
Request request_in_entry(const char* entry) noexcept;

// As people know it: "--container-image", "PYXIS_CONTAINER_NAME", ... Static text.
const char* describe(Request request) noexcept;

}  // namespace llmgw
