// What a node does with a step: denials first. Each step runs in the child of a death test.
#include "guard.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/container_request.hpp"
#include "fake_node.hpp"

namespace llmgw {
namespace {

using fake::Node;
using fake::spank;
using testing::ExitedWithCode;

constexpr const char* image_option = "_SLURM_SPANK_OPTION_pyxis_container_image";

class GuardOnNode : public testing::Test {
  protected:
    void ask() { spank().environment[image_option] = "ubuntu"; }
    void expect_refused(const std::string& reason) {
        EXPECT_EXIT(node.run_step(), ExitedWithCode(1),
                    "error: llmgw: container step refused on n1: " + reason);
    }
    void expect_runs() { EXPECT_EXIT(node.run_step(), ExitedWithCode(0), "^the task runs\n$"); }
    Node node;
};

using GuardRefuses = GuardOnNode;
using GuardVerifies = GuardOnNode;
using GuardLetsRun = GuardOnNode;

class GuardRefusesWithoutPyxis : public GuardOnNode, public testing::WithParamInterface<RequestVariable> {};

TEST_P(GuardRefusesWithoutPyxis, a_step_with_the_variable) {
    node.pyxis_mapped = false;
    spank().environment[GetParam().name] = "x";
    expect_refused("pyxis is not loaded here. It was asked for by " +
                   std::string(describe(GetParam().request)));
}

TEST_P(GuardRefusesWithoutPyxis, a_step_with_the_variable_and_no_helper) {
    node.pyxis_mapped = false;
    node.lines = {{"alone"}, {"verify", "alone"}};
    spank().environment[GetParam().name] = std::string(100000, 'x');
    expect_refused("pyxis is not loaded here");
}

TEST_P(GuardRefusesWithoutPyxis, not_for_an_empty_variable) {
    node.pyxis_mapped = false;
    spank().environment[GetParam().name] = "";
    expect_runs();
}

TEST_F(GuardRefuses, a_step_whose_users_directory_another_user_made) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    const std::string parent = node.path("data");
    const std::string taken = parent + "/user-" + std::to_string(::geteuid());
    std::filesystem::create_directories(taken);
    ASSERT_EQ(::chown(taken.c_str(), 61001, 61001), 0);
    node.state.user_directories = {node.path("none"), parent};
    node.vouch();
    ask();
    expect_refused(taken + " belongs to UID 61001");
    spank().environment.clear();
    expect_runs();
}

TEST_F(GuardOnNode, gives_the_user_the_directories_before_pyxis_needs_them) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    std::filesystem::create_directories(node.path("data"));
    node.state.user_directories = {node.path("data")};
    node.vouch();
    expect_runs();
    EXPECT_FALSE(std::filesystem::exists(node.path("data/user-61001"))) << "not for a plain step";
    ask();
    spank().uid = 61001;
    node.pyxis_enters = [&] {
        struct stat status {};
        const bool there = ::stat(node.path("data/user-61001").c_str(), &status) == 0;
        if (!there || status.st_uid != 61001 || (status.st_mode & 07777) != 0700) ::_exit(3);
        ::_exit(4);
    };
    EXPECT_EXIT(node.run_step(), ExitedWithCode(4), "");
}

INSTANTIATE_TEST_SUITE_P(every, GuardRefusesWithoutPyxis, testing::ValuesIn(request_variables));

// 22.05 with --export=NONE.
TEST_F(GuardRefuses, an_image_that_only_the_options_know) {
    node.pyxis_mapped = false;
    spank().options["container-image"] = "ubuntu";
    expect_refused("pyxis is not loaded here. It was asked for by --container-image");
}

TEST_F(GuardRefuses, a_name_that_only_the_options_know) {
    node.pyxis_mapped = false;
    spank().options["container-name"] = "mine";
    expect_refused("pyxis is not loaded here. It was asked for by --container-name");
}

TEST_F(GuardRefuses, with_the_helpers_reason_when_pyxis_is_missing) {
    ask();
    node.pyxis_mapped = false;
    node.state.ready = false;
    node.state.reason = "enroot cannot be downloaded";
    node.vouch();
    expect_refused("pyxis is not loaded here \\(enroot cannot be downloaded\\)");
}

TEST_F(GuardRefuses, without_a_node_file) {
    ask();
    std::filesystem::remove(node.path("node"));
    expect_refused("nothing vouches for this machine .*No such file");
}

TEST_F(GuardRefuses, with_garbage_for_a_node_file) {
    ask();
    for (const std::string& content :
         {std::string(), std::string("\0\1\2\xff", 4), std::string("state ready\n"),
          format_node_state(node.state).substr(0, 80), std::string(70000, 'x')}) {
        node.write("node", content);
        expect_refused("nothing vouches for this machine");
    }
}

TEST_F(GuardRefuses, with_a_node_file_that_others_can_write) {
    ask();
    node.write("node", format_node_state(node.state), 0664);
    expect_refused("nothing vouches for this machine .*can be written by others");
}

TEST_F(GuardRefuses, with_a_link_for_a_node_file) {
    ask();
    std::filesystem::rename(node.path("node"), node.path("elsewhere"));
    std::filesystem::create_symlink(node.path("elsewhere"), node.path("node"));
    expect_refused("nothing vouches for this machine");
}

TEST_F(GuardRefuses, without_waiting_with_a_pipe_for_a_node_file) {
    ask();
    std::filesystem::remove(node.path("node"));
    ASSERT_EQ(::mkfifo(node.path("node").c_str(), 0644), 0);
    expect_refused("nothing vouches for this machine .*not a regular file");
}

TEST_F(GuardRefuses, on_a_machine_that_is_not_ready) {
    ask();
    node.state.ready = false;
    node.state.reason = "the proof failed";
    node.vouch();
    expect_refused("this machine is not ready: the proof failed");
}

TEST_F(GuardRefuses, what_another_boot_verified) {
    ask();
    node.state.boot = "11111111-2222-3333-4444-555555555555";
    node.vouch();
    expect_refused("this machine was not verified since it booted");
}

TEST_F(GuardRefuses, pyxis_from_another_path) {
    ask();
    node.state.pyxis_path = "/elsewhere/spank_pyxis.so";
    node.vouch();
    expect_refused(
        "pyxis was loaded from .*/spank_pyxis.so, but the verified one is /elsewhere/spank_pyxis.so");
}

TEST_F(GuardRefuses, a_replaced_pyxis) {
    ask();
    std::filesystem::copy_file(node.path("spank_pyxis.so"), node.path("new"));
    std::filesystem::rename(node.path("new"), node.path("spank_pyxis.so"));
    expect_refused(".*/spank_pyxis.so was replaced since it was verified");
}

TEST_F(GuardRefuses, a_pyxis_written_over) {
    ask();
    std::ofstream(node.path("spank_pyxis.so"), std::ios::app) << "x";
    expect_refused(".*/spank_pyxis.so was replaced since it was verified");
}

TEST_F(GuardRefuses, without_enroot) {
    ask();
    std::filesystem::remove(node.path("enroot"));
    expect_refused("enroot is gone");
}

TEST_F(GuardRefuses, enroot_that_is_not_executable) {
    ask();
    ASSERT_EQ(::chmod(node.path("enroot").c_str(), 0644), 0);
    expect_refused("enroot is gone");
}

TEST_F(GuardRefuses, a_replaced_enroot) {
    ask();
    node.write("enroot", "#!/bin/sh\n", 0755);
    expect_refused(".*/enroot was replaced since it was verified");
}

TEST_F(GuardRefuses, alone_without_enroot) {
    ask();
    node.lines = {{"alone", "enroot=/nowhere/enroot"}, {"verify", "alone"}};
    expect_refused("enroot is not installed \\(/nowhere/enroot\\)");
}

TEST_F(GuardRefuses, without_a_verify_line) {
    ask();
    node.lines.pop_back();
    expect_refused("plugstack.conf has no line \"optional spank_llmgw.so verify\"");
}

TEST_F(GuardRefuses, without_a_first_line) {
    ask();
    node.lines.erase(node.lines.begin());
    node.lines_before_pyxis = 0;
    expect_refused("plugstack.conf has no line \"optional spank_llmgw.so\" in front");
}

TEST_F(GuardRefuses, an_option_without_a_first_line) {
    spank().options["container-image"] = "ubuntu";
    node.lines.erase(node.lines.begin());
    node.lines_before_pyxis = 0;
    expect_refused("plugstack.conf has no line \"optional spank_llmgw.so\" in front");
}

TEST_F(GuardRefuses, an_oci_bundle_without_a_runtime) {
    spank().environment["SLURM_CONTAINER"] = "/bundle";
    expect_refused("Slurm has no OCI runtime here");
}

TEST_F(GuardRefuses, on_one_line_without_control_characters) {
    ask();
    node.pyxis_mapped = false;
    spank().environment["SLURMD_NODENAME"] = "n1\n\x1b[2Jx";
    EXPECT_EXIT(node.run_step(), ExitedWithCode(1),
                "^error: llmgw: container step refused on n1  \\[2Jx: .*\n$");
}

TEST_F(GuardRefuses, and_ends_a_step_that_runs_on_other_nodes_too) {
    ask();
    node.pyxis_mapped = false;
    spank().nodes = 2;
    EXPECT_EXIT(node.run_step(), ExitedWithCode(1), "refused on n1.*\nstep 7.0 killed");
}

TEST_F(GuardRefuses, and_leaves_a_step_on_one_node_to_itself) {
    ask();
    node.pyxis_mapped = false;
    EXPECT_EXIT(node.run_step(), ExitedWithCode(1), "^error: [^\n]*\n$");
}

TEST_F(GuardRefuses, a_batch_step_without_ending_the_job) {
    ask();
    node.pyxis_mapped = false;
    spank().nodes = 2;
    spank().step = 0xfffffffb;
    EXPECT_EXIT(node.run_step(), ExitedWithCode(1), "^error: [^\n]*\n$");
}

TEST_F(GuardVerifies, and_refuses_a_task_that_pyxis_left_where_it_was) {
    ask();
    expect_refused("pyxis did not put the task in a container; its own messages above say why");
}

TEST_F(GuardVerifies, and_says_what_export_can_have_done) {
    spank().environment[mark_in_environment] = "the variable PYXIS_CONTAINER_IMAGE";
    expect_refused(
        "pyxis did not put the task in a container; .* --export kept the request from it. It was asked for "
        "by the "
        "variable PYXIS_CONTAINER_IMAGE");
}

// Users can set the mark to anything.
TEST_F(GuardVerifies, and_repeats_no_text_that_it_would_not_have_written) {
    spank().environment[mark_in_environment] = "root; call 555";
    expect_refused("pyxis did not .* It was asked for by a container option or variable\\. Plain");
}

TEST_F(GuardVerifies, lines_in_the_wrong_order) {
    ask();
    std::swap(node.lines[0], node.lines[1]);
    expect_refused("plugstack.conf has no line");
}

TEST_F(GuardVerifies, that_pyxis_stands_between_the_lines) {
    if (!fake::may_enter_container()) GTEST_SKIP() << "needs root";
    ask();
    node.pyxis_enters = [this] {
        fake::enter_mount_namespace();
        fake::enter_root(node.path("root"));
    };
    node.lines_before_pyxis = 2;
    expect_refused("pyxis did not put the task in a container");
}

TEST_F(GuardVerifies, that_the_root_changed_with_the_namespace) {
    if (!fake::may_enter_container()) GTEST_SKIP() << "needs root";
    ask();
    node.pyxis_enters = fake::enter_mount_namespace;
    expect_refused("pyxis did not put the task in a container");
}

TEST_F(GuardVerifies, that_the_namespace_changed_with_the_root) {
    if (!fake::may_enter_container()) GTEST_SKIP() << "needs root";
    ask();
    node.pyxis_enters = [this] { fake::enter_root(node.path("root")); };
    expect_refused("pyxis did not put the task in a container");
}

class GuardLetsRunInContainer : public GuardOnNode, public testing::WithParamInterface<RequestVariable> {};

TEST_P(GuardLetsRunInContainer, a_step_with_the_variable) {
    if (!fake::may_enter_container()) GTEST_SKIP() << "needs root";
    spank().environment[GetParam().name] = "x";
    node.pyxis_enters = [this] {
        fake::enter_mount_namespace();
        fake::enter_root(node.path("root"));
    };
    expect_runs();
    spank().nodes = 2;
    expect_runs();
    node.lines = {{"alone", "enroot=" + node.path("enroot")}, {"alone", "verify"}};
    expect_runs();
}

INSTANTIATE_TEST_SUITE_P(every, GuardLetsRunInContainer, testing::ValuesIn(request_variables));

TEST_F(GuardLetsRun, plain_steps_whatever_pyxis_is) {
    expect_runs();
    node.pyxis_mapped = false;
    expect_runs();
    node.state.ready = false;
    node.vouch();
    expect_runs();
    std::filesystem::remove(node.path("node"));
    expect_runs();
    node.lines.clear();
    expect_runs();
}

TEST_F(GuardLetsRun, the_extern_step_of_a_container_job) {
    ask();
    node.pyxis_mapped = false;
    spank().options["container-image"] = "ubuntu";
    spank().environment["SLURM_CONTAINER"] = "/bundle";
    spank().step = SLURM_EXTERN_CONT;
    expect_runs();
}

TEST_F(GuardLetsRun, an_oci_bundle_where_slurm_has_a_runtime) {
    spank().environment["SLURM_CONTAINER"] = "/bundle";
    node.state.oci = true;
    node.vouch();
    expect_runs();
}

TEST_F(GuardLetsRun, steps_with_options_that_only_shape_a_container) {
    node.pyxis_mapped = false;
    spank().environment["_SLURM_SPANK_OPTION_pyxis_container_mounts"] = "/a:/b";
    spank().environment["PYXIS_CONTAINER_MOUNTS"] = "/a:/b";
    spank().options["container-mounts"] = "/a:/b";
    expect_runs();
}

TEST(GuardArguments, are_read_and_unknown_ones_ignored) {
    fake::reset();
    char words[][32] = {"verify", "alone", "run_dir=/r", "enroot=/e", "", "what\nis=this"};
    char* pointers[] = {words[0], words[1], words[2], words[3], words[4], words[5], nullptr};
    const guard::Arguments arguments = guard::parse_arguments(7, pointers);
    EXPECT_TRUE(arguments.verify);
    EXPECT_TRUE(arguments.alone);
    EXPECT_EQ(arguments.run_directory, "/r");
    EXPECT_EQ(arguments.enroot, "/e");
    EXPECT_NE(spank().log.at(1).find("\"what?is=this\""), std::string::npos);
}

}  // namespace
}  // namespace llmgw
