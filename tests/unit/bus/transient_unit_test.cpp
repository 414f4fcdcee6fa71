#include "bus/transient_unit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <optional>

namespace llmgw::bus {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Task task() {
    Task task;
    task.unit = "llmgw-slurm-test";
    task.description = "llmgw-slurm: a test";
    task.argv = {"/bin/sh", "-c", "true"};
    task.environment = {"PATH=/usr/bin:/bin", "A=1"};
    task.deadline = 90s;
    return task;
}

std::optional<UnitProperty> find(const std::vector<UnitProperty>& properties, const std::string& name) {
    const auto found = std::find_if(properties.begin(), properties.end(),
                                    [&](const UnitProperty& property) { return property.name == name; });
    if (found == properties.end()) return std::nullopt;
    return *found;
}

template <class T>
void expect(const std::vector<UnitProperty>& properties, const std::string& name, const T& value) {
    const std::optional<UnitProperty> property = find(properties, name);
    ASSERT_TRUE(property) << name;
    const T* has = std::get_if<T>(&property->value);
    ASSERT_NE(has, nullptr) << name << " is of another type";
    EXPECT_EQ(*has, value) << name;
}

TEST(TransientUnit, says_all_of_a_plain_task_in_order) {
    const std::vector<UnitProperty> expected = {
        {"Description", std::string("llmgw-slurm: a test")},
        {"Type", std::string("exec")},
        {"ExecStart", ExecStart{"/bin/sh", {"/bin/sh", "-c", "true"}}},
        {"WorkingDirectory", std::string("/")},
        {"Environment", Texts{"PATH=/usr/bin:/bin", "A=1"}},
        {"UnsetEnvironment",
         Texts{"LANG", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "INVOCATION_ID", "JOURNAL_STREAM",
               "SYSTEMD_EXEC_PID", "SYSTEMD_LOG_LEVEL", "MANAGERPID", "MANAGERPIDFDID",
               "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "TMPDIR"}},
        {"StandardInput", std::string("null")},
        {"StandardOutputFileDescriptor", OutputFile{}},
        {"StandardErrorFileDescriptor", OutputFile{}},
        {"UMask", std::uint32_t{022}},
        {"IgnoreSIGPIPE", false},
        {"KillMode", std::string("control-group")},
        {"RuntimeMaxUSec", std::uint64_t{90'000'000}},
        {"TimeoutStopUSec", std::uint64_t{10'000'000}},
        {"AddRef", true},
        {"CollectMode", std::string("inactive-or-failed")},
        {"OOMPolicy", std::string("continue")},
    };
    EXPECT_EQ(unit_properties(task(), {252, {}}), expected);
}

TEST(TransientUnit, keeps_arguments_from_being_expanded) {
    Task with_dollars = task();
    with_dollars.argv = {"/bin/echo", "$HOME ${A} $", "%n", "a b"};
    expect(unit_properties(with_dollars, {252, {}}), "ExecStart",
           ExecStart{"/bin/echo", {"/bin/echo", "$$HOME $${A} $$", "%n", "a b"}});
}

TEST(TransientUnit, takes_the_manager_s_own_variables_away_but_not_those_that_are_asked_for) {
    const auto properties = unit_properties(task(), {252, {"PATH=/sbin", "LANG=C", "A=2", "http_proxy=x"}});
    const std::optional<UnitProperty> property = find(properties, "UnsetEnvironment");
    ASSERT_TRUE(property);
    const auto& names = std::get<Texts>(property->value);
    EXPECT_EQ(std::count(names.begin(), names.end(), "PATH"), 0);
    EXPECT_EQ(std::count(names.begin(), names.end(), "A"), 0);
    EXPECT_EQ(std::count(names.begin(), names.end(), "LANG"), 1);
    EXPECT_EQ(std::count(names.begin(), names.end(), "http_proxy"), 1);
}

TEST(TransientUnit, restricts_an_unprivileged_task) {
    Task build = task();
    build.unprivileged = build.no_network = build.read_only = true;
    build.writable = {"/var/lib/x"};
    build.memory_bytes = 1024;
    const auto properties = unit_properties(build, {252, {}});
    expect(properties, "User", std::string("65534"));
    expect(properties, "Group", std::string("65534"));
    expect(properties, "NoNewPrivileges", true);
    expect(properties, "PrivateNetwork", true);
    expect(properties, "ProtectSystem", std::string("strict"));
    expect(properties, "ReadWritePaths", Texts{"/var/lib/x"});
    expect(properties, "PrivateTmp", true);
    expect(properties, "MemoryMax", std::uint64_t{1024});
    expect(properties, "LimitAS", std::uint64_t{1024});
    expect(properties, "OOMPolicy", std::string("stop"));
}

TEST(TransientUnit, lets_file_capabilities_work_where_they_are_kept) {
    Task proof = task();
    proof.unprivileged = proof.keep_capabilities = proof.private_tmp = true;
    const auto properties = unit_properties(proof, {252, {}});
    EXPECT_FALSE(find(properties, "NoNewPrivileges"));
    EXPECT_FALSE(find(properties, "ProtectSystem"));
    expect(properties, "PrivateTmp", true);
}

TEST(TransientUnit, says_nothing_that_an_old_systemd_does_not_know) {
    const auto properties = unit_properties(task(), {239, {}});
    expect(properties, "Type", std::string("simple"));
    EXPECT_FALSE(find(properties, "OOMPolicy"));
    EXPECT_FALSE(find(unit_properties(task(), {242, {}}), "OOMPolicy"));
    expect(unit_properties(task(), {240, {}}), "Type", std::string("exec"));
}

TEST(TransientUnit, knows_a_version) {
    EXPECT_EQ(systemd_version("252.39-1~deb12u2"), 252U);
    EXPECT_EQ(systemd_version("systemd 239 (239-82.el8)"), 239U);
    EXPECT_EQ(systemd_version("v257"), 257U);
    EXPECT_EQ(systemd_version(""), 0U);
}

TEST(UnitEnd, is_a_result) {
    const Result<TaskResult> fine = task_result(task(), {"success", CLD_EXITED, 0}, "out\n");
    ASSERT_TRUE(fine);
    EXPECT_TRUE(fine.value().success());
    EXPECT_EQ(fine.value().output, "out\n");
    EXPECT_EQ(task_result(task(), {"exit-code", CLD_EXITED, 7}, "").value().exit_code, 7);
    EXPECT_EQ(task_result(task(), {"signal", CLD_KILLED, SIGKILL}, "").value().exit_code, 128 + SIGKILL);
    EXPECT_EQ(task_result(task(), {"core-dump", CLD_DUMPED, SIGSEGV}, "").value().exit_code, 128 + SIGSEGV);
    EXPECT_EQ(task_result(task(), {"exit-code", CLD_EXITED, 226}, "says something").value().exit_code, 226);
}

TEST(UnitEnd, is_an_error_where_the_program_never_ran_or_took_too_long) {
    EXPECT_EQ(
        task_result(task(), {"timeout", CLD_KILLED, SIGTERM}, "a\nworking\n").error(),
        (Error{Code::timeout, "/bin/sh took longer than 90 s and was ended; its last line: \"working\""}));
    EXPECT_EQ(task_result(task(), {"resources", 0, 0}, "").error(),
              (Error{Code::internal,
                     "systemd did not start /bin/sh (llmgw-slurm-test.service: resources); see "
                     "\"journalctl -u llmgw-slurm-test\""}));
    EXPECT_EQ(task_result(task(), {"exit-code", CLD_EXITED, 226}, "").error(),
              (Error{Code::internal,
                     "systemd could not start /bin/sh as it should (exit code 226); see "
                     "\"journalctl -u llmgw-slurm-test\""}));
}

TEST(UnitEnd, says_that_memory_ran_out) {
    Task build = task();
    build.memory_bytes = 64 * 1024 * 1024;
    const Result<TaskResult> result = task_result(build, {"oom-kill", CLD_KILLED, SIGKILL}, "cc1: killed");
    EXPECT_EQ(result.value().exit_code, 128 + SIGKILL);
    EXPECT_EQ(result.value().output, "cc1: killed\nit was ended because it needed more memory than 64 MiB\n");
}

}  // namespace
}  // namespace llmgw::bus
