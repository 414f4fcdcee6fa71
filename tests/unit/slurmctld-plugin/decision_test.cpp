// What a descriptor asks for, and the decision as a pure function.
#include "decision.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"
#include "job.hpp"

namespace llmgw::gate {
namespace {

using fake::Job;

const Result<GateState> open_gate = GateState{true, 1, false, "containers are ready"};
const Result<GateState> closed_gate = GateState{false, 2, false, "llmgw: not yet"};
const Result<GateState> no_gate = Error{Code::missing, "cannot stat /run/llmgw-slurm/gate"};

std::string entry(const RequestVariable& variable) {
    return std::string(variable.name) + "=x";
}

TEST(RequestOf, finds_every_variable_in_the_environment_only) {
    for (const RequestVariable& variable : request_variables) {
        EXPECT_EQ(request_of(*Job().environment({"PATH=/bin", entry(variable)}).get()), variable.request);
    }
}

TEST(RequestOf, finds_every_variable_in_the_job_control_environment_only) {
    for (const RequestVariable& variable : request_variables) {
        EXPECT_EQ(request_of(*Job().job_control({"OTHER=1", entry(variable)}).get()), variable.request);
    }
}

TEST(RequestOf, takes_the_job_control_environment_first) {
    Job job;
    job.environment({"PYXIS_CONTAINER_NAME=x"}).job_control({"LLMGW_CONTAINER=--container-image"});
    EXPECT_EQ(request_of(*job.get()), Request::mark);
}

TEST(RequestOf, sees_an_oci_bundle_last) {
    EXPECT_EQ(request_of(*Job().container("/bundle").get()), Request::oci);
    EXPECT_EQ(request_of(*Job().container("").get()), Request::none);
    EXPECT_EQ(request_of(*Job().container("/bundle").environment({"PYXIS_CONTAINER_IMAGE=x"}).get()),
              Request::image_variable);
}

TEST(RequestOf, is_none_for_plain_jobs) {
    EXPECT_EQ(request_of(*Job().get()), Request::none);
    Job job;
    job.environment({"PATH=/bin", "PYXIS_CONTAINER_IMAGE=", "PYXIS_CONTAINER_MOUNTS=/a:/b"})
        .job_control({"A=b"});
    EXPECT_EQ(request_of(*job.get()), Request::none);
}

TEST(RequestOf, looks_at_entries_up_to_the_limit) {
    std::vector<std::string> entries(limits::environment_entries, "A=b");
    entries.back() = "PYXIS_CONTAINER_IMAGE=x";
    EXPECT_EQ(request_of(*Job().environment(entries).get()), Request::image_variable);
    entries.insert(entries.begin(), "A=b");
    EXPECT_EQ(request_of(*Job().environment(entries).get()), Request::none);
}

TEST(ScriptOf, is_no_longer_than_what_is_scanned) {
    EXPECT_EQ(script_of(*Job().get()), "");
    EXPECT_EQ(script_of(*Job().script("true\n").get()), "true\n");
    EXPECT_EQ(script_of(*Job().script(std::string(limits::script_scan_bytes, '#')).get()).size(),
              limits::script_scan_bytes);
    // One more byte, by which the scan knows that the script goes on.
    EXPECT_EQ(script_of(*Job().script(std::string(10 * limits::script_scan_bytes, '#')).get()).size(),
              limits::script_scan_bytes + 1);
}

TEST(Directive, counts_as_dropped_unless_the_client_forwarded_one) {
    const ScriptFindings script = scan_script("#!/bin/sh\n#SBATCH --container-image=x\n");
    EXPECT_TRUE(directive_was_dropped(*Job().get(), script));
    EXPECT_TRUE(directive_was_dropped(*Job().job_control({"A=b"}).get(), script));
    EXPECT_FALSE(directive_was_dropped(
        *Job().job_control({"_SLURM_SPANK_OPTION_pyxis_container_image=x"}).get(), script));
    EXPECT_FALSE(directive_was_dropped(*Job().get(), scan_script("srun --container-image=x true\n")));
}

TEST(LaterComponent, counts_as_dropped_unless_the_first_one_asks_too) {
    const std::string option = "_SLURM_SPANK_OPTION_pyxis_container_image=x";
    Job job;
    job.environment({"PATH=/bin"}).job_control({option, "LLMGW_CONTAINER=--container-image"});
    job->het_job_offset = 1;
    EXPECT_TRUE(later_component_was_dropped(*job.get(), Request::image_option));
    EXPECT_NE(
        refuse_later_component(*job.get(), Request::image_option).message.find("component 1 of this het job"),
        std::string::npos);
    EXPECT_FALSE(later_component_was_dropped(*job.get(), Request::none));
    EXPECT_FALSE(later_component_was_dropped(*job.get(), Request::oci));
    job->het_job_offset = 0;
    EXPECT_FALSE(later_component_was_dropped(*job.get(), Request::image_option));
    job->het_job_offset = NO_VAL;
    EXPECT_FALSE(later_component_was_dropped(*job.get(), Request::image_option));

    Job marked;
    marked.environment({"PATH=/bin"}).job_control({option, std::string(mark_of_later_component) + "=yes"});
    marked->het_job_offset = 1;
    EXPECT_FALSE(later_component_was_dropped(*marked.get(), Request::image_option));
}

TEST(LaterComponent, of_srun_and_salloc_hands_its_options_on) {
    Job job;
    job.job_control({"_SLURM_SPANK_OPTION_pyxis_container_image=x"});
    job->het_job_offset = 1;
    EXPECT_FALSE(later_component_was_dropped(*job.get(), Request::image_option));
}

TEST(Decide, refuses_a_dropped_directive_whatever_the_gate_says) {
    const ScriptFindings script = scan_script("#!/bin/sh\n#SBATCH --container-name=x\n");
    for (const auto* state : {&open_gate, &closed_gate, &no_gate}) {
        const Decision decision = decide(Request::none, script, true, *state);
        EXPECT_EQ(decision.kind, Decision::Kind::refuse);
        EXPECT_NE(decision.message.find("line 2 of the script asks for --container-name"), std::string::npos);
    }
}

TEST(Decide, is_the_gates_word_for_every_request) {
    for (const Request request : {Request::image_option, Request::name_option, Request::image_variable,
                                  Request::name_variable, Request::mark}) {
        EXPECT_EQ(decide(request, {}, false, closed_gate).kind, Decision::Kind::refuse);
        EXPECT_EQ(decide(request, {}, false, closed_gate).message, "llmgw: not yet");
        EXPECT_EQ(decide(request, {}, false, no_gate).kind, Decision::Kind::refuse);
        EXPECT_EQ(decide(request, {}, false, open_gate).kind, Decision::Kind::admit);
    }
}

TEST(Decide, lets_oci_through_only_where_a_runtime_is) {
    for (const bool open : {true, false}) {
        EXPECT_EQ(decide(Request::oci, {}, false, GateState{open, 1, false, "m"}).kind,
                  Decision::Kind::refuse);
        EXPECT_EQ(decide(Request::oci, {}, false, GateState{open, 1, true, "m"}).kind, Decision::Kind::admit);
    }
    EXPECT_EQ(decide(Request::oci, {}, false, no_gate).kind, Decision::Kind::refuse);
}

TEST(Decide, warns_of_srun_lines_unless_the_gate_is_open) {
    const ScriptFindings script = scan_script("true\nsrun --container-image=x true\n");
    EXPECT_EQ(decide(Request::none, script, false, open_gate), (Decision{}));
    for (const auto* state : {&closed_gate, &no_gate}) {
        const Decision decision = decide(Request::none, script, false, *state);
        EXPECT_EQ(decision.kind, Decision::Kind::admit_with_warning);
        EXPECT_NE(decision.message.find("line 2 of the script runs srun with --container-image"),
                  std::string::npos);
    }
}

TEST(Decide, admits_plain_jobs_in_every_state) {
    for (const auto* state : {&open_gate, &closed_gate, &no_gate}) {
        EXPECT_EQ(decide(Request::none, {}, false, *state).kind, Decision::Kind::admit);
    }
}

}  // namespace
}  // namespace llmgw::gate
