#include "bus/manager.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "bus/client.hpp"
#include "unit/bus/support.hpp"

namespace llmgw::bus {
namespace {

using test::call;
using test::eventually;
using test::Said;

constexpr const char* denied = "org.freedesktop.DBus.Error.AccessDenied";

// Remembers what it was asked, and answers at once or when it is told to.
class Port : public ManagerPort {
  public:
    void describe(Answer<std::string> answer) override {
        ++describes;
        take("describe", std::move(answer));
    }
    void set_containers(bool on, Answer<std::string> answer) override {
        take(on ? "containers on" : "containers off", std::move(answer));
    }
    void set_gate(const std::string& mode, Answer<std::string> answer) override {
        take("gate " + mode, std::move(answer));
    }
    void recheck(Answer<std::string> answer) override { take("recheck", std::move(answer)); }
    [[nodiscard]] std::string machine() const override { return "n1"; }
    [[nodiscard]] std::string state() const override { return state_text; }
    [[nodiscard]] std::string reason() const override { return "because"; }

    // Only from the loop's thread.
    std::vector<std::string> calls;
    std::deque<Answer<std::string>> held;
    std::optional<Error> refuse;
    bool hold = false;
    bool twice = false;
    bool throws = false;
    std::string state_text = "ready";
    std::atomic<int> describes{0};

  private:
    void take(const std::string& what, Answer<std::string> answer) {
        calls.push_back(what);
        if (throws) throw std::runtime_error("it broke");
        if (hold) return held.push_back(std::move(answer));
        answer(refuse ? Result<std::string>(*refuse) : Result<std::string>("did " + what));
        if (twice) answer(std::string("again"));
    }
};

class OnBus : public testing::Test {
  protected:
    void SetUp() override {
        if (::access(test::dbus_daemon, X_OK) != 0) GTEST_SKIP() << "no dbus-daemon here";
    }
    void TearDown() override {
        thread_.stop();
        manager_.reset();
    }
    void start(const std::string& policy = test::open_policy) {
        bus_.emplace(policy);
        Result<Manager> manager = Manager::connect(thread_.loop(), bus_->address(), default_name, port_);
        ASSERT_TRUE(manager.ok()) << manager.error().message;
        manager_.emplace(std::move(manager).value());
        thread_.start();
    }
    [[nodiscard]] HelperAddress helper() const { return {bus_->address(), default_name}; }
    [[nodiscard]] Said ask(const std::string& method, const char* types = "",
                           const char* argument = nullptr) const {
        return call(bus_->address(), default_name, interface_name, method, types, argument);
    }
    std::vector<std::string> calls() {
        return thread_.in_loop([this] { return port_.calls; });
    }
    Port port_;
    test::LoopThread thread_;
    std::optional<test::PrivateBus> bus_;
    std::optional<Manager> manager_;
};

using Denied = OnBus;

TEST_F(Denied, by_the_policy_are_all_but_root_and_the_group) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    start(test::our_policy);
    test::as_user(test::nobody, {}, [&] {
        for (const Said& said :
             {ask("SetGate", "s", "open"), ask("SetContainers", "b", "true"), ask("Recheck"),
              call(bus_->address(), default_name, "org.freedesktop.DBus.Peer", "GetMachineId"),
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
    EXPECT_EQ(calls(), std::vector<std::string>{"describe"});
}

TEST_F(Denied, by_the_method_are_all_but_root_and_the_group) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to be somebody else";
    start(test::open_policy);
    test::as_user(test::nobody, {12345}, [&] {
        for (const Said& said :
             {ask("SetGate", "s", "open"), ask("SetContainers", "b", "true"), ask("Recheck")}) {
            EXPECT_EQ(said.error, denied);
            EXPECT_EQ(said.text, "only root and members of the group llmgw-slurm may do this");
        }
        EXPECT_EQ(call_helper(helper(), "SetGate", std::string("open")).error().code, Code::denied);
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

TEST_F(OnBus, methods_reach_the_port_and_bring_its_answers) {
    start(test::our_policy);
    EXPECT_EQ(call_helper(helper(), "Describe").value(), "did describe");
    EXPECT_EQ(call_helper(helper(), "SetContainers", true).value(), "did containers on");
    EXPECT_EQ(call_helper(helper(), "SetContainers", false).value(), "did containers off");
    EXPECT_EQ(call_helper(helper(), "SetGate", std::string("auto")).value(), "did gate auto");
    EXPECT_EQ(call_helper(helper(), "Recheck").value(), "did recheck");
    EXPECT_EQ(calls().size(), 5U);
}

TEST_F(OnBus, errors_arrive_as_what_they_are) {
    start();
    const auto answered = [&](const Error& error) {
        thread_.in_loop([&] { return port_.refuse = error; });
        return call_helper(helper(), "Recheck").error();
    };
    EXPECT_EQ(answered({Code::invalid, "no such mode"}), (Error{Code::invalid, "no such mode"}));
    EXPECT_EQ(answered({Code::unavailable, "no leader 100%s"}), (Error{Code::internal, "no leader 100%s"}));
    EXPECT_EQ(answered({Code::timeout, "too long"}), (Error{Code::timeout, "too long"}));
    // Why, and not only that: it may be the leader that denies, or a token that is missing.
    EXPECT_EQ(answered({Code::denied, "this machine has no admin token"}),
              (Error{Code::denied, "this machine has no admin token"}));
}

TEST_F(OnBus, wrong_arguments_are_refused) {
    start();
    EXPECT_EQ(ask("SetGate").error, "org.freedesktop.DBus.Error.InvalidArgs");
    EXPECT_EQ(ask("SetContainers", "s", "true").error, "org.freedesktop.DBus.Error.InvalidArgs");
    EXPECT_EQ(ask("Describe", "s", "x").error, "org.freedesktop.DBus.Error.InvalidArgs");
    EXPECT_EQ(ask("Other").error, "org.freedesktop.DBus.Error.UnknownMethod");
    EXPECT_TRUE(calls().empty());
}

TEST_F(OnBus, what_a_port_throws_becomes_an_error) {
    start();
    thread_.in_loop([&] { return port_.throws = true; });
    EXPECT_EQ(call_helper(helper(), "Describe").error(), (Error{Code::internal, "it broke"}));
    thread_.in_loop([&] { return port_.throws = false; });
    EXPECT_TRUE(call_helper(helper(), "Describe").ok());
}

TEST_F(OnBus, properties_say_what_the_port_says) {
    start(test::our_policy);
    const auto property = [&](const char* name) {
        return call(bus_->address(), default_name, "org.freedesktop.DBus.Properties", "Get", "ss", name).text;
    };
    EXPECT_EQ(property("Machine"), "n1");
    EXPECT_EQ(property("State"), "ready");
    EXPECT_EQ(property("Reason"), "because");
    EXPECT_EQ(property("Version"), LLMGW_VERSION);
}

TEST_F(OnBus, a_change_is_told_with_the_new_values) {
    start(test::our_policy);
    Result<Connection> listener = open_connection(bus_->address());
    ASSERT_TRUE(listener.ok());
    std::string told;
    const auto on_change = [](sd_bus_message* message, void* data, sd_bus_error*) {
        const char* interface = nullptr;
        const char* key = nullptr;
        const char* value = nullptr;
        auto& text = *static_cast<std::string*>(data);
        ::sd_bus_message_read(message, "s", &interface);
        ::sd_bus_message_enter_container(message, 'a', "{sv}");
        while (::sd_bus_message_read(message, "{sv}", &key, "s", &value) > 0) {
            text += std::string(key) + "=" + value + ";";
        }
        return 0;
    };
    ASSERT_GE(::sd_bus_match_signal(listener.value().get(), nullptr, default_name, object_path,
                                    "org.freedesktop.DBus.Properties", "PropertiesChanged", on_change, &told),
              0);
    thread_.in_loop([&] {
        port_.state_text = "not-ready";
        manager_->changed();
        return 0;
    });
    EXPECT_TRUE(eventually([&] {
        while (::sd_bus_process(listener.value().get(), nullptr) > 0) {
        }
        return !told.empty();
    }));
    EXPECT_EQ(told, "State=not-ready;Reason=because;");
}

TEST_F(OnBus, introspection_is_the_documented_one) {
    start(test::our_policy);
    std::string shown =
        call(bus_->address(), default_name, "org.freedesktop.DBus.Introspectable", "Introspect").text;
    // Our interface alone: what sd-bus adds differs from version to version.
    const std::size_t begin = shown.find(" <interface name=\"org.llmgw.Slurm1\">");
    const std::size_t end = shown.find("</interface>", begin);
    ASSERT_NE(begin, std::string::npos) << shown;
    shown = shown.substr(begin, end - begin) + "</interface>\n";
    std::ifstream file(LLMGW_SOURCE_DIR "/docs/org.llmgw.Slurm1.xml");
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(document.find(shown), std::string::npos) << shown;
}

TEST_F(OnBus, a_name_has_one_owner) {
    start(test::our_policy);
    Port other;
    EventLoop loop = EventLoop::create().value();
    const Result<Manager> second = Manager::connect(loop, bus_->address(), default_name, other);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, Code::conflict);
    EXPECT_NE(second.error().message.find("cannot take the name org.llmgw.Slurm1 on the bus"),
              std::string::npos);
}

TEST_F(OnBus, no_bus_is_an_error_and_so_is_no_helper) {
    EventLoop loop = EventLoop::create().value();
    EXPECT_EQ(Manager::connect(loop, "unix:path=/nonexistent", default_name, port_).error().code,
              Code::unavailable);
    EXPECT_EQ(call_helper({"unix:path=/nonexistent", default_name}, "Describe").error().code,
              Code::unavailable);
    start();
    EXPECT_EQ(call_helper({bus_->address(), "org.llmgw.Other"}, "Describe").error().code, Code::unavailable);
    EXPECT_EQ(call_helper({bus_->address(), "not a name"}, "Describe").error().code, Code::invalid);
}

TEST_F(OnBus, a_bus_that_goes_ends_the_loop_with_an_error) {
    start();
    bus_->stop();
    EXPECT_LT(thread_.ended(), 0);
}

TEST_F(OnBus, callers_that_leave_at_once_do_no_harm) {
    start(test::our_policy);
    constexpr int callers = 1000;
    for (int i = 0; i < callers; ++i) {
        Result<Connection> connection = open_connection(bus_->address());
        ASSERT_TRUE(connection.ok()) << connection.error().message;
        ASSERT_GE(::sd_bus_call_method_async(connection.value().get(), nullptr, default_name, object_path,
                                             interface_name, "Describe", nullptr, nullptr, ""),
                  0);
        ::sd_bus_flush(connection.value().get());
    }
    EXPECT_EQ(call_helper(helper(), "Describe").value(), "did describe");
    EXPECT_TRUE(eventually([&] { return port_.describes == callers + 1; }));
}

TEST_F(OnBus, callers_may_leave_before_their_answer_comes) {
    start(test::our_policy);
    thread_.in_loop([&] { return port_.hold = true; });
    for (int i = 0; i < 20; ++i) {
        Result<Connection> connection = open_connection(bus_->address());
        ::sd_bus_call_method_async(connection.value().get(), nullptr, default_name, object_path,
                                   interface_name, "Describe", nullptr, nullptr, "");
        ::sd_bus_flush(connection.value().get());
    }
    ASSERT_TRUE(eventually([&] { return port_.describes == 20; }));
    thread_.in_loop([&] {
        for (const Answer<std::string>& answer : port_.held) answer(std::string("late"));
        port_.held.clear();
        return port_.hold = false;
    });
    EXPECT_EQ(call_helper(helper(), "Describe").value(), "did describe");
}

TEST_F(OnBus, many_callers_each_get_their_answer) {
    start(test::our_policy);
    thread_.in_loop([&] { return port_.hold = true; });
    std::vector<std::future<Result<std::string>>> answers;
    for (int i = 0; i < 20; ++i) {
        answers.push_back(std::async(std::launch::async, [&] { return call_helper(helper(), "Describe"); }));
    }
    ASSERT_TRUE(eventually([&] { return port_.describes == 20; }));
    thread_.in_loop([&] {
        int number = 0;
        for (const Answer<std::string>& answer : port_.held) answer(std::to_string(number++));
        return port_.held.size();
    });
    std::vector<std::string> got;
    for (auto& answer : answers) got.push_back(answer.get().value());
    std::sort(got.begin(), got.end());
    EXPECT_EQ(std::unique(got.begin(), got.end()), got.end());
}

TEST_F(OnBus, a_call_is_answered_once) {
    start(test::our_policy);
    Result<Connection> connection = open_connection(bus_->address());
    int replies = 0;
    const auto count = [](sd_bus_message* message, void* data, sd_bus_error*) {
        std::uint8_t type = 0;
        ::sd_bus_message_get_type(message, &type);
        if (type == SD_BUS_MESSAGE_METHOD_RETURN) ++*static_cast<int*>(data);
        return 0;
    };
    ASSERT_GE(::sd_bus_add_filter(connection.value().get(), nullptr, count, &replies), 0);
    thread_.in_loop([&] { return port_.twice = true; });
    const auto describe = [&] {
        return ::sd_bus_call_method(connection.value().get(), default_name, object_path, interface_name,
                                    "Describe", nullptr, nullptr, "");
    };
    EXPECT_GE(describe(), 0);
    EXPECT_GE(describe(), 0);
    for (int i = 0; i < 20; ++i) {
        while (::sd_bus_process(connection.value().get(), nullptr) > 0) {
        }
        ::sd_bus_wait(connection.value().get(), 5000);
    }
    EXPECT_EQ(replies, 0) << "sd_bus_call takes what it waits for; the filter sees what is left over";
}

// Workers hold copies of answers and drop them whenever they like: that must not touch the connection.
TEST_F(OnBus, answers_may_be_dropped_in_any_thread_and_after_the_manager) {
    start(test::our_policy);
    thread_.in_loop([&] { return port_.hold = true; });
    std::vector<std::future<Result<std::string>>> callers;
    for (int i = 0; i < 8; ++i) {
        callers.push_back(std::async(std::launch::async, [&] { return call_helper(helper(), "Describe"); }));
    }
    ASSERT_TRUE(eventually([&] { return port_.describes == 8; }));
    std::vector<std::thread> workers;
    std::deque<Answer<std::string>> copies = thread_.in_loop([&] { return port_.held; });
    for (Answer<std::string>& copy : copies) {
        workers.emplace_back([dropped = std::move(copy)]() mutable { dropped = {}; });
    }
    thread_.in_loop([&] {
        for (int i = 0; i < 7; ++i) {
            port_.held.front()(std::string("late"));
            port_.held.pop_front();
        }
        return 0;
    });
    for (std::thread& worker : workers) worker.join();
    thread_.stop();
    manager_.reset();
    port_.held.front()(std::string("too late"));
    port_.held.clear();
    int answered = 0;
    for (auto& caller : callers) answered += caller.get().ok() ? 1 : 0;
    EXPECT_EQ(answered, 7);
}

}  // namespace
}  // namespace llmgw::bus
