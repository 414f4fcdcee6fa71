#include "bus/manager.hpp"

#include "unit/bus/on_bus.hpp"

namespace llmgw::bus {
namespace {

using test::call;
using test::eventually;
using test::OnBus;
using test::Port;

TEST_F(OnBus, methods_reach_the_port_and_bring_its_answers) {
    start(test::our_policy);
    EXPECT_EQ(call_helper(helper(), "Describe").value(), "did describe");
    EXPECT_EQ(call_helper(helper(), "SetContainers", true).value(), "did containers on");
    EXPECT_EQ(call_helper(helper(), "SetContainers", false).value(), "did containers off");
    EXPECT_EQ(call_helper(helper(), "SetGate", std::string("auto")).value(), "did gate auto");
    EXPECT_EQ(call_helper(helper(), "Recheck").value(), "did recheck");
    EXPECT_EQ(call_set_lent(helper(), {"n1", "n2"}, {}, std::nullopt).value(), "did lend +n1 +n2");
    EXPECT_EQ(call_set_lent(helper(), {}, {"n3"}, Reclaim{1764541800, "requeue"}).value(),
              "did lend -n3 1764541800 requeue");
    EXPECT_EQ(call_set_fence(helper(), "n1", false).value(), "did fence n1 off");
    EXPECT_EQ(calls().size(), 8U);
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
    EXPECT_EQ(ask("SetLent", "s", "n1").error, "org.freedesktop.DBus.Error.InvalidArgs");
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
