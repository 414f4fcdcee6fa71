// A system bus of a test's own, an event loop in a thread, and callers that are somebody else.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bus/connection.hpp"
#include "bus/event_loop.hpp"
#include "bus/manager.hpp"
#include "daemon/mailbox.hpp"
#include "unit/temporary.hpp"

namespace llmgw::test {

inline constexpr const char* dbus_daemon = "/usr/bin/dbus-daemon";
inline constexpr const char* our_policy = LLMGW_SOURCE_DIR "/conf/org.llmgw.Slurm1.conf";

// As Debian's system.conf: nothing may be called but the bus itself, unless a service's file allows it.
inline constexpr const char* system_policy = R"(<policy context="default">
    <allow user="*"/><deny own="*"/><deny send_type="method_call"/>
    <allow send_type="signal"/><allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/><allow receive_type="method_return"/>
    <allow receive_type="error"/><allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus"/>
  </policy>)";
inline constexpr const char* open_policy =
    R"(<policy context="default"><allow user="*"/><allow own="*"/><allow send_destination="*"/>
    <allow receive_sender="*"/></policy>)";

class PrivateBus {
  public:
    // `policy`: XML, or our_policy behind the system's.
    explicit PrivateBus(const std::string& policy) {
        ::chmod(directory_.path().c_str(), 0755);
        const std::string rules = policy == our_policy
                                      ? std::string(system_policy) + "<include>" + our_policy + "</include>"
                                      : policy;
        std::ofstream(directory_.file("bus.conf"))
            << R"(<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><auth>EXTERNAL</auth><listen>unix:path=)"
            << socket() << "</listen>" << rules << "</busconfig>";
        std::string program = dbus_daemon;
        std::string config = "--config-file=" + directory_.file("bus.conf");
        std::string foreground = "--nofork";
        std::string quiet = "--nopidfile";
        std::array<char*, 5> argv{program.data(), config.data(), foreground.data(), quiet.data(), nullptr};
        std::array<char*, 1> environment{nullptr};
        if (::posix_spawn(&pid_, dbus_daemon, nullptr, nullptr, argv.data(), environment.data()) != 0)
            pid_ = -1;
        EXPECT_TRUE(eventually([this] { return bus::open_connection(address()).ok(); }));
    }
    ~PrivateBus() { stop(); }
    PrivateBus(const PrivateBus&) = delete;
    PrivateBus& operator=(const PrivateBus&) = delete;

    void stop() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
        pid_ = -1;
    }
    [[nodiscard]] std::string address() const { return "unix:path=" + socket(); }

  private:
    [[nodiscard]] std::string socket() const { return directory_.file("bus"); }
    TemporaryDirectory directory_;
    pid_t pid_ = -1;
};

// Runs an event loop in a thread of its own; what the test does with it happens in there.
class LoopThread {
  public:
    LoopThread() : mailbox_(daemon::Mailbox::create().value()), loop_(bus::EventLoop::create().value()) {
        EXPECT_TRUE(loop_.on_readable(mailbox_->fd(), [this] { mailbox_->deliver(); }).ok());
    }
    ~LoopThread() { stop(); }
    LoopThread(const LoopThread&) = delete;
    LoopThread& operator=(const LoopThread&) = delete;

    void start() {
        thread_ = std::thread([this] { result_ = loop_.run(); });
    }
    void stop() {
        if (!thread_.joinable()) return;
        mailbox_->post([this] { loop_.exit(); });
        thread_.join();
    }
    // What run() returned, once the loop ended by itself.
    int ended() {
        thread_.join();
        return result_;
    }
    // In the loop's thread; what `body` returns.
    template <class Body>
    auto in_loop(Body body) {
        const auto task = std::make_shared<std::packaged_task<decltype(body())()>>(std::move(body));
        auto result = task->get_future();
        mailbox_->post([task] { (*task)(); });
        return result.get();
    }
    daemon::Mailbox& mailbox() { return *mailbox_; }
    bus::EventLoop& loop() { return loop_; }

  private:
    std::unique_ptr<daemon::Mailbox> mailbox_;
    bus::EventLoop loop_;
    std::thread thread_;
    int result_ = 0;
};

inline constexpr uid_t nobody = 65534;

// In a thread that is another user for as long as it runs: the system call changes the calling thread alone.
inline void as_user(uid_t user, const std::vector<gid_t>& groups, const std::function<void()>& body) {
    std::thread([&] {
        ASSERT_EQ(::syscall(SYS_setgroups, groups.size(), groups.data()), 0);
        ASSERT_EQ(::syscall(SYS_setresgid, user, user, user), 0);
        ASSERT_EQ(::syscall(SYS_setresuid, user, user, user), 0);
        body();
    }).join();
}

// One call on a connection of its own. "" and the answer, or the error's name and text.
struct Said {
    std::string error;
    std::string text;
};
inline Said call(const std::string& address, const std::string& destination, const std::string& interface,
                 const std::string& method, const char* types = "", const char* argument = nullptr) {
    const Result<bus::Connection> connection = bus::open_connection(address);
    if (!connection) return {"connection", connection.error().message};
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message* reply = nullptr;
    Said said;
    int result = 0;
    if (std::string(types) == "b") {
        result = ::sd_bus_call_method(connection.value().get(), destination.c_str(), bus::object_path,
                                      interface.c_str(), method.c_str(), &error, &reply, "b",
                                      std::string(argument) == "true" ? 1 : 0);
    } else if (std::string(types) == "ss") {
        result = ::sd_bus_call_method(connection.value().get(), destination.c_str(), bus::object_path,
                                      interface.c_str(), method.c_str(), &error, &reply, "ss",
                                      bus::interface_name, argument);
    } else {
        result = ::sd_bus_call_method(connection.value().get(), destination.c_str(), bus::object_path,
                                      interface.c_str(), method.c_str(), &error, &reply, types, argument);
    }
    if (result < 0) {
        said = {error.name == nullptr ? "?" : error.name, error.message == nullptr ? "" : error.message};
    } else {
        const char* text = "";
        if (::sd_bus_message_has_signature(reply, "v") != 0) {
            ::sd_bus_message_enter_container(reply, 'v', "s");
        }
        if (::sd_bus_message_read(reply, "s", &text) >= 0) said.text = text;
    }
    ::sd_bus_error_free(&error);
    ::sd_bus_message_unref(reply);
    return said;
}

}  // namespace llmgw::test
