#include "daemon/setup_jobs.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>

#include "unit/bus/support.hpp"
#include "unit/temporary.hpp"

namespace llmgw::daemon {
namespace {

using test::eventually;

// Works until it is told how it went.
class Worker final : public service::SetupPort {
  public:
    Result<Plan> plan(const ResolvedSettings&, bool thorough, const std::stop_token&) override {
        Step step;
        step.name = thorough ? "thorough" : "quick";
        return Plan{step};
    }
    Result<void> apply(const ResolvedSettings&, service::SetupObserver& observer,
                       const std::stop_token& stop) override {
        ++applied;
        Step step;
        step.title = "install enroot 4.2.1";
        observer.on_step(4, 12, step);
        observer.on_bytes(3, 9);
        observer.on_note("waiting for apt-get (PID 4711)");
        return wait(stop);
    }
    Result<std::vector<std::string>> uninstall(service::SetupObserver& observer,
                                               const std::stop_token& stop) override {
        ++uninstalled;
        Step step;
        step.title = "remove packages";
        observer.on_step(1, 6, step);
        const Result<void> done = wait(stop);
        if (!done) return done.error();
        anything = false;
        return std::vector<std::string>{"/etc/a was left: it was changed since we wrote it"};
    }
    [[nodiscard]] bool did_anything() const override { return anything; }
    [[nodiscard]] bool runs_cluster() const override { return cluster; }

    // From the test's thread.
    void finish(const Result<void>& how = {}) {
        const std::lock_guard lock(mutex_);
        outcomes_.push_back(how);
        came_.notify_all();
    }

    std::atomic<int> applied{0};
    std::atomic<int> uninstalled{0};
    std::atomic<bool> anything{true};
    std::atomic<bool> cluster{false};

  private:
    Result<void> wait(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        if (!came_.wait(lock, stop, [&] { return !outcomes_.empty(); }))
            return Error{Code::unavailable, "stopped"};
        Result<void> outcome = outcomes_.front();
        outcomes_.pop_front();
        return outcome;
    }

    std::mutex mutex_;
    std::condition_variable_any came_;
    std::deque<Result<void>> outcomes_;
};

MachineCheck machine(bool ready, const std::string& reason = "something") {
    MachineCheck check;
    check.node.machine = "n1";
    check.node.ready = ready;
    check.node.reason = reason;
    return check;
}

ResolvedSettings cluster(bool containers = true) {
    ResolvedSettings settings;
    settings.enabled = true;
    settings.controller = "ctl";
    settings.slurm_nodes = {"n1"};
    settings.containers = containers;
    return settings;
}

class SetupJobsTest : public testing::Test {
  protected:
    void SetUp() override { thread_.start(); }
    void TearDown() override {
        thread_.in_loop([this] { jobs_.reset(); });
        thread_.stop();
    }
    void start(bool with_worker = true) {
        thread_.in_loop([&] {
            jobs_.emplace(
                with_worker ? &worker_ : nullptr, state_.path(), thread_.mailbox(),
                SetupJobs::Events{[this](const Job&) { ++started_; }, [this](const Job&) { ++changed_; },
                                  [this](const Job&) { ++ended_; }});
        });
    }
    void settings(const ResolvedSettings& settings) {
        thread_.in_loop([&] { jobs_->settings_are(settings); });
    }
    void looked(const MachineCheck& check) {
        thread_.in_loop([&] { jobs_->machine_is(check); });
    }
    Result<Job> apply() {
        return thread_.in_loop([&] { return jobs_->apply(); });
    }
    Result<Job> uninstall(bool force = false) {
        return thread_.in_loop([&] { return jobs_->uninstall(force); });
    }
    Job last() {
        return thread_.in_loop([&] { return jobs_->jobs().empty() ? Job{} : jobs_->jobs().back(); });
    }
    std::string reason() {
        return thread_.in_loop([&] { return jobs_->reason(); });
    }
    bool ends(int count) {
        return eventually([&] { return ended_ == count; });
    }

    Worker worker_;
    test::TemporaryDirectory state_;
    test::LoopThread thread_;
    std::optional<SetupJobs> jobs_;
    std::atomic<int> started_{0};
    std::atomic<int> changed_{0};
    std::atomic<int> ended_{0};
};

TEST_F(SetupJobsTest, a_machine_that_is_not_ready_is_made_ready) {
    start();
    settings(cluster());
    EXPECT_EQ(started_, 0);  // nobody has looked yet
    looked(machine(false));
    EXPECT_EQ(started_, 1);
    EXPECT_TRUE(eventually([&] { return last().note == "waiting for apt-get (PID 4711)"; }));
    EXPECT_EQ(last().kind, "apply");
    EXPECT_EQ(last().bytes_done, 3U);
    EXPECT_EQ(reason(), "install enroot 4.2.1 (step 4 of 12)");
    worker_.finish();
    ASSERT_TRUE(ends(1));
    EXPECT_EQ(last().state, "done");
    EXPECT_EQ(last().message, "this machine is as the settings say");
    looked(machine(true));
    looked(machine(true));
    EXPECT_EQ(started_, 1);
}

TEST_F(SetupJobsTest, nothing_happens_on_a_machine_that_is_no_part_of_the_cluster) {
    start();
    looked(machine(false));
    settings({});
    EXPECT_NE(apply().error().message.find("switched off"), std::string::npos);
    ResolvedSettings other = cluster();
    other.slurm_nodes = {"n2"};
    settings(other);
    EXPECT_EQ(started_, 0);
    EXPECT_EQ(apply().error().code, Code::invalid);
}

TEST_F(SetupJobsTest, without_containers_slurm_is_set_up_once) {
    start();
    looked(machine(false));
    settings(cluster(false));
    EXPECT_EQ(started_, 1);
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    looked(machine(false, "another reason why containers would not work"));
    EXPECT_EQ(started_, 1);
    // Somebody changed a file of Slurm's.
    MachineCheck changed = machine(false);
    changed.cluster = "/etc/slurm/slurm.conf=1:2:3:4:5";
    looked(changed);
    EXPECT_EQ(started_, 2);
    worker_.finish(Error{Code::invalid, "slurmctld does not start with it"});
    ASSERT_TRUE(ends(2));
    looked(changed);
    looked(changed);
    EXPECT_EQ(started_, 2);
}

TEST_F(SetupJobsTest, what_runs_here_is_stopped_when_the_settings_have_it_no_more) {
    worker_.cluster = true;
    start();
    looked(machine(false));
    settings({});
    EXPECT_EQ(started_, 1);
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    EXPECT_EQ(started_, 1);
}

TEST_F(SetupJobsTest, a_machine_of_the_cluster_is_not_taken_back_by_mistake) {
    worker_.cluster = true;
    start();
    settings(cluster(false));
    looked(machine(false));
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    EXPECT_NE(uninstall().error().message.find("part of the cluster"), std::string::npos);
    EXPECT_TRUE(uninstall(true).ok());
    worker_.finish();
    ASSERT_TRUE(ends(2));
}

TEST_F(SetupJobsTest, without_a_worker_it_only_looks) {
    start(false);
    settings(cluster());
    looked(machine(false));
    EXPECT_EQ(started_, 0);
    EXPECT_EQ(apply().error().message, "this helper only looks at its machine");
    EXPECT_EQ(uninstall(true).error().message, "this helper only looks at its machine");
}

TEST_F(SetupJobsTest, the_same_request_while_one_runs_gets_that_job) {
    start();
    settings(cluster());
    looked(machine(false));
    EXPECT_EQ(apply().value().id, last().id);
    EXPECT_EQ(apply().value().id, last().id);
    EXPECT_EQ(uninstall(true).error().code, Code::conflict);
    worker_.finish();
    ASSERT_TRUE(ends(1));
    EXPECT_EQ(worker_.applied, 1);
}

TEST_F(SetupJobsTest, a_failure_is_the_reason_and_is_not_tried_again_until_something_changed) {
    start();
    settings(cluster());
    looked(machine(false));
    worker_.finish(Error{Code::unavailable, "no space"});
    ASSERT_TRUE(ends(1));
    EXPECT_EQ(last().state, "failed");
    EXPECT_EQ(reason(), "no space");
    looked(machine(false));
    looked(machine(false));
    EXPECT_EQ(started_, 1);
    looked(machine(false, "something else"));
    EXPECT_EQ(started_, 2);
    worker_.finish();
    ASSERT_TRUE(ends(2));
    looked(machine(true));
    // An admin who asks is never told to wait.
    EXPECT_TRUE(apply().ok());
    worker_.finish();
    ASSERT_TRUE(ends(3));
}

TEST_F(SetupJobsTest, other_settings_are_applied_to_a_machine_that_is_ready) {
    start();
    settings(cluster());
    looked(machine(true));
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(true));
    ResolvedSettings other = cluster();
    other.shared_path = "/shared";
    settings(other);
    EXPECT_EQ(started_, 2);
    worker_.finish();
    ASSERT_TRUE(ends(2));
}

TEST_F(SetupJobsTest, settings_that_come_while_a_job_runs_are_applied_after_it) {
    start();
    settings(cluster(false));
    looked(machine(false));
    ResolvedSettings other = cluster(false);
    other.hardware["n2"] = {2, 1, 1, 2, 1, 4000, {}};
    settings(other);
    EXPECT_EQ(started_, 1);
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    EXPECT_EQ(started_, 2);
    worker_.finish();
    ASSERT_TRUE(ends(2));
    looked(machine(false));
    EXPECT_EQ(started_, 2);
}

TEST_F(SetupJobsTest, taking_back_holds_until_apply) {
    start();
    settings(cluster());
    looked(machine(true));
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(true));
    EXPECT_EQ(uninstall().error().code, Code::invalid);  // containers are on
    ASSERT_TRUE(uninstall(true).ok());
    EXPECT_TRUE(thread_.in_loop([&] { return jobs_->withdrawn(); }));
    EXPECT_TRUE(eventually([&] { return reason() == "being taken back: remove packages"; })) << reason();
    EXPECT_EQ(apply().error().code, Code::conflict);
    worker_.finish();
    ASSERT_TRUE(ends(2));
    EXPECT_EQ(last().message,
              "this machine is as it was before; /etc/a was left: it was changed since we wrote it");
    looked(machine(false));
    EXPECT_EQ(started_, 2);
    // Also after a restart.
    start();
    settings(cluster());
    looked(machine(false));
    EXPECT_EQ(started_, 2);
    EXPECT_NE(reason().find("taken back"), std::string::npos);
    EXPECT_TRUE(apply().ok());
    EXPECT_FALSE(thread_.in_loop([&] { return jobs_->withdrawn(); }));
    worker_.finish();
    ASSERT_TRUE(ends(3));
}

TEST_F(SetupJobsTest, a_helper_that_was_killed_while_it_took_back_goes_on) {
    start();
    ASSERT_TRUE(uninstall().ok());
    EXPECT_TRUE(eventually([&] { return worker_.uninstalled == 1; }));
    start();  // the first one is stopped in the middle
    looked(machine(false));
    EXPECT_TRUE(eventually([&] { return worker_.uninstalled == 2; }));
    worker_.finish();
    ASSERT_TRUE(ends(1));
}

TEST_F(SetupJobsTest, a_plan_is_shown_when_nothing_is_under_way) {
    start();
    settings(cluster());
    std::promise<Result<std::string>> first;
    thread_.in_loop(
        [&] { jobs_->plan(true, [&](Result<std::string> text) { first.set_value(std::move(text)); }); });
    const Result<std::string> text = first.get_future().get();
    ASSERT_TRUE(text.ok());
    EXPECT_NE(text.value().find("thorough"), std::string::npos);
    looked(machine(false));
    std::promise<Result<std::string>> second;
    thread_.in_loop(
        [&] { jobs_->plan(false, [&](Result<std::string> said) { second.set_value(std::move(said)); }); });
    EXPECT_EQ(second.get_future().get().error().code, Code::conflict);
    worker_.finish();
    ASSERT_TRUE(ends(1));
}

TEST_F(SetupJobsTest, keeps_the_last_jobs) {
    start();
    settings(cluster());
    for (int i = 1; i <= 20; ++i) {
        looked(machine(false, "reason " + std::to_string(i)));
        worker_.finish();
        ASSERT_TRUE(ends(i));
        looked(machine(false, "left " + std::to_string(i)));
        if (last().running()) worker_.finish();
        ASSERT_TRUE(eventually([&] { return !last().running(); }));
        if (ended_ != i) break;
    }
    EXPECT_LE(thread_.in_loop([&] { return jobs_->jobs().size(); }), 16U);
}

ResolvedSettings cluster_with_users() {
    ResolvedSettings settings = cluster(false);
    settings.users = Users::llmgw;
    return settings;
}

TEST_F(SetupJobsTest, other_users_and_another_shared_path_are_reasons_to_work_without_containers) {
    start();
    settings(cluster(false));
    looked(machine(false));
    EXPECT_EQ(started_, 1) << "Slurm itself";
    worker_.finish();
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    settings(cluster_with_users());
    EXPECT_EQ(started_, 2);
    worker_.finish();
    ASSERT_TRUE(ends(2));
    looked(machine(false));
    ResolvedSettings shared = cluster(false);
    shared.shared = SharedSource::site;
    settings(shared);
    EXPECT_EQ(started_, 3);
    worker_.finish();
    ASSERT_TRUE(ends(3));
}

TEST_F(SetupJobsTest, users_keep_an_uninstall_from_going_unnoticed) {
    start();
    settings(cluster_with_users());
    looked(machine(false));
    worker_.finish();
    ASSERT_TRUE(ends(1));
    const Result<Job> refused = uninstall();
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.error().message.find("users or its shared path"), std::string::npos)
        << refused.error().message;
    EXPECT_TRUE(uninstall(true).ok());
    worker_.finish();
    ASSERT_TRUE(ends(2));
}

TEST_F(SetupJobsTest, what_failed_is_tried_again_when_it_may_work) {
    start();
    settings(cluster_with_users());
    looked(machine(false));
    worker_.finish(Error{Code::unavailable, "there are no accounts yet"});
    ASSERT_TRUE(ends(1));
    looked(machine(false));
    EXPECT_EQ(started_, 1);
    thread_.in_loop([&] { jobs_->may_work_now(); });
    EXPECT_EQ(started_, 2);
    worker_.finish();
    ASSERT_TRUE(ends(2));
    looked(machine(false));
    thread_.in_loop([&] { jobs_->may_work_now(); });
    EXPECT_EQ(started_, 2);
}

}  // namespace
}  // namespace llmgw::daemon
