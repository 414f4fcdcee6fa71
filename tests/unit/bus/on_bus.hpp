// The helper's object on a bus of a test's own, over a port that remembers.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>

#include "bus/client.hpp"
#include "unit/bus/support.hpp"

namespace llmgw::test {

inline constexpr const char* denied = "org.freedesktop.DBus.Error.AccessDenied";

// Remembers what it was asked, and answers at once or when it is told to.
class Port : public bus::ManagerPort {
  public:
    void describe(bus::Answer<std::string> answer) override {
        ++describes;
        take("describe", std::move(answer));
    }
    void set_containers(bool on, bus::Answer<std::string> answer) override {
        take(on ? "containers on" : "containers off", std::move(answer));
    }
    void set_gate(const std::string& mode, bus::Answer<std::string> answer) override {
        take("gate " + mode, std::move(answer));
    }
    void recheck(bus::Answer<std::string> answer) override { take("recheck", std::move(answer)); }
    void set_lent(std::vector<std::string> add, std::vector<std::string> remove,
                  std::optional<Reclaim> reclaim, bus::Answer<std::string> answer) override {
        std::string what = "lend";
        for (const std::string& node : add) what += " +" + node;
        for (const std::string& node : remove) what += " -" + node;
        if (reclaim) what += " " + std::to_string(reclaim->deadline) + " " + reclaim->then;
        take(what, std::move(answer));
    }
    void set_fence(const std::string& node, bool on, bus::Answer<std::string> answer) override {
        take("fence " + node + (on ? " on" : " off"), std::move(answer));
    }
    void plan(bool thorough, bus::Answer<std::string> answer) override {
        take(thorough ? "doctor" : "plan", std::move(answer));
    }
    Result<std::uint32_t> apply() override { return start("apply"); }
    Result<std::uint32_t> uninstall(bool force) override {
        return start(force ? "uninstall by force" : "uninstall");
    }
    [[nodiscard]] const Job* job(std::uint32_t id) const override {
        const auto found = known_jobs.find(id);
        return found == known_jobs.end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::vector<std::uint32_t> jobs() const override {
        std::vector<std::uint32_t> ids;
        for (const auto& [id, job] : known_jobs) ids.push_back(id);
        return ids;
    }
    [[nodiscard]] std::string machine() const override { return "n1"; }
    [[nodiscard]] std::string state() const override { return state_text; }
    [[nodiscard]] std::string reason() const override { return "because"; }

    // Only from the loop's thread.
    std::vector<std::string> calls;
    std::map<std::uint32_t, Job> known_jobs;
    std::deque<bus::Answer<std::string>> held;
    std::optional<Error> refuse;
    std::optional<std::string> says;
    bool hold = false;
    bool twice = false;
    bool throws = false;
    std::string state_text = "ready";
    std::atomic<int> describes{0};

  private:
    Result<std::uint32_t> start(const std::string& what) {
        calls.push_back(what);
        if (throws) throw std::runtime_error("it broke");
        if (refuse) return *refuse;
        if (known_jobs.empty() || !known_jobs.rbegin()->second.running()) {
            Job job;
            job.id = static_cast<std::uint32_t>(known_jobs.size()) + 1;
            job.kind = what;
            known_jobs[job.id] = job;
        }
        return known_jobs.rbegin()->first;
    }
    void take(const std::string& what, bus::Answer<std::string> answer) {
        calls.push_back(what);
        if (throws) throw std::runtime_error("it broke");
        if (hold) return held.push_back(std::move(answer));
        answer(refuse ? Result<std::string>(*refuse) : Result<std::string>(says.value_or("did " + what)));
        if (twice) answer(std::string("again"));
    }
};

class OnBus : public testing::Test {
  protected:
    void SetUp() override {
        if (::access(dbus_daemon, X_OK) != 0) GTEST_SKIP() << "no dbus-daemon here";
    }
    void TearDown() override {
        thread_.stop();
        manager_.reset();
    }
    void start(const std::string& policy = open_policy) {
        bus_.emplace(policy);
        Result<bus::Manager> manager =
            bus::Manager::connect(thread_.loop(), bus_->address(), bus::default_name, port_);
        ASSERT_TRUE(manager.ok()) << manager.error().message;
        manager_.emplace(std::move(manager).value());
        thread_.start();
    }
    [[nodiscard]] bus::HelperAddress helper() const { return {bus_->address(), bus::default_name}; }
    [[nodiscard]] Said ask(const std::string& method, const char* types = "",
                           const char* argument = nullptr) const {
        return call(bus_->address(), bus::default_name, bus::interface_name, method, types, argument);
    }
    std::vector<std::string> calls() {
        return thread_.in_loop([this] { return port_.calls; });
    }
    Port port_;
    LoopThread thread_;
    std::optional<PrivateBus> bus_;
    std::optional<bus::Manager> manager_;
};

}  // namespace llmgw::test
