// Who may call what: denied by the bus's policy, and by the methods whatever the policy says.
#include <sched.h>
#include <sys/mount.h>

#include "unit/bus/on_bus.hpp"

namespace llmgw::bus {
namespace {

using test::call;
using test::denied;
using test::OnBus;
using test::Said;

using Denied = OnBus;

// Every method that changes something, or makes the helper run programs.
const std::vector<std::vector<std::string>> for_admins{
    {"SetGate", "s", "open"},  {"SetContainers", "b", "true"}, {"Recheck"}, {"Plan"}, {"Doctor"}, {"Apply"},
    {"Uninstall", "b", "true"}};

TEST_F(Denied, by_the_policy_are_all_but_root_and_the_group) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    start(test::our_policy);
    test::as_user(test::nobody, {}, [&] {
        for (const std::vector<std::string>& method : for_admins) {
            const Said said =
                method.size() == 1 ? ask(method[0]) : ask(method[0], method[1].c_str(), method[2].c_str());
            EXPECT_EQ(said.error, denied) << method[0];
            EXPECT_EQ(said.text.find("Rejected send message"), 0U) << said.text;
        }
        for (const Said& said :
             {call(bus_->address(), default_name, "org.freedesktop.DBus.Peer", "GetMachineId"),
              call(bus_->address(), default_name, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"),
              call(bus_->address(), default_name, interface_name, "NoSuchMethod")}) {
            EXPECT_EQ(said.error, denied) << said.text;
            EXPECT_EQ(said.text.find("Rejected send message"), 0U) << said.text;
        }
        const Result<Connection> connection = open_connection(bus_->address());
        EXPECT_LT(::sd_bus_request_name(connection.value().get(), "org.llmgw.Slurm1", 0), 0);
        EXPECT_EQ(ask("Describe").text, "did describe");
        EXPECT_EQ(
            call(bus_->address(), default_name, "org.freedesktop.DBus.Properties", "Get", "ss", "State").text,
            "ready");
        EXPECT_EQ(call(bus_->address(), default_name, "org.freedesktop.DBus.Peer", "Ping").error, "");
    });
    test::as_user(test::nobody, {}, [&] {
        EXPECT_EQ(call_set_lent(helper(), {"n1"}, {}, std::nullopt).error().code, Code::denied);
        EXPECT_EQ(call_set_fence(helper(), "n1", false).error().code, Code::denied);
    });
    EXPECT_EQ(calls(), std::vector<std::string>{"describe"});
}

TEST_F(Denied, by_the_method_are_all_but_root_and_the_group) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    start(test::open_policy);
    test::as_user(test::nobody, {12345}, [&] {
        for (const std::vector<std::string>& method : for_admins) {
            const Said said =
                method.size() == 1 ? ask(method[0]) : ask(method[0], method[1].c_str(), method[2].c_str());
            EXPECT_EQ(said.error, denied) << method[0];
            EXPECT_EQ(said.text, "only root and members of the group llmgw-slurm may do this");
        }
        EXPECT_EQ(call_helper(helper(), "SetGate", std::string("open")).error().code, Code::denied);
        EXPECT_EQ(call_set_lent(helper(), {"n1"}, {"n2"}, Reclaim{1, "cancel"}).error().code, Code::denied);
        EXPECT_EQ(call_set_fence(helper(), "n1", false).error().code, Code::denied);
        EXPECT_EQ(ask("Describe").text, "did describe");
    });
    EXPECT_EQ(calls(), std::vector<std::string>{"describe"});
}

TEST_F(Denied, is_changing_a_property) {
    start();
    sd_bus_error error = SD_BUS_ERROR_NULL;
    const Result<Connection> connection = open_connection(bus_->address());
    EXPECT_LT(::sd_bus_set_property(connection.value().get(), default_name, object_path, interface_name,
                                    "State", &error, "s", "ready"),
              0);
    ::sd_bus_error_free(&error);
}

// The group is made for these threads and for this bus alone: /etc/group is covered in a mount namespace.
TEST_F(OnBus, members_of_the_group_may_act) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    constexpr gid_t group = 54321;
    const test::TemporaryDirectory directory;
    std::ifstream groups("/etc/group");
    std::ofstream(directory.file("group")) << groups.rdbuf() << "llmgw-slurm:x:54321:nobody\n";
    bool possible = false;
    std::thread([&] {
        // Threads and processes that are started in here have this namespace, too.
        possible = ::unshare(CLONE_NEWNS) == 0 &&
                   ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                   ::mount(directory.file("group").c_str(), "/etc/group", nullptr, MS_BIND, nullptr) == 0;
        if (!possible) return;
        start(test::our_policy);
        test::as_user(test::nobody, {1, group, 2}, [&] {
            EXPECT_EQ(ask("SetGate", "s", "open").text, "did gate open");
            EXPECT_EQ(ask("SetContainers", "b", "true").text, "did containers on");
            EXPECT_EQ(ask("Recheck").text, "did recheck");
        });
        // What counts are the groups that the process has, not those that its user would get today: bus and
        // method say the same.
        test::as_user(test::nobody, {1, 2}, [&] { EXPECT_EQ(ask("Recheck").error, denied); });
        test::as_user(1, {group}, [&] { EXPECT_EQ(ask("Recheck").text, "did recheck"); });
        test::as_user(1, {}, [&] { EXPECT_EQ(ask("Recheck").error, denied); });
    }).join();
    if (!possible) GTEST_SKIP() << "no mount namespaces here";
    EXPECT_EQ(calls(), (std::vector<std::string>{"gate open", "containers on", "recheck", "recheck"}));
}

}  // namespace
}  // namespace llmgw::bus
