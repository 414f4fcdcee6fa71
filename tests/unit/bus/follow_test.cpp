#include "bus/follow.hpp"

#include <condition_variable>
#include <mutex>

#include "unit/bus/on_bus.hpp"

namespace llmgw::bus {
namespace {

using test::OnBus;

Job running(std::uint32_t id, const std::string& kind) {
    Job job;
    job.id = id;
    job.kind = kind;
    return job;
}

// What follow_job() told, for another thread to wait for.
class Told {
  public:
    void operator()(const Job& job) {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(job);
        came_.notify_all();
    }
    bool has(const std::function<bool(const Job&)>& wanted) {
        std::unique_lock lock(mutex_);
        return came_.wait_for(lock, std::chrono::seconds(30),
                              [&] { return std::any_of(jobs_.begin(), jobs_.end(), wanted); });
    }

  private:
    std::mutex mutex_;
    std::condition_variable came_;
    std::vector<Job> jobs_;
};

class Follow : public OnBus {
  protected:
    void change(std::uint32_t id, const std::function<void(Job&)>& how) {
        thread_.in_loop([&] {
            how(port_.known_jobs[id]);
            manager_->job_changed(port_.known_jobs[id]);
        });
    }
    void end(std::uint32_t id, const std::string& state, const std::string& message) {
        thread_.in_loop([&] {
            Job& job = port_.known_jobs[id];
            job.state = state;
            job.message = message;
            manager_->job_ended(job);
        });
    }
};

TEST(JobPath, is_that_of_a_number_and_nothing_else) {
    EXPECT_EQ(job_path(7), "/org/llmgw/Slurm1/jobs/7");
    EXPECT_EQ(job_in("/org/llmgw/Slurm1/jobs/7"), std::optional<std::uint32_t>(7));
    for (const char* other : {"/org/llmgw/Slurm1/jobs", "/org/llmgw/Slurm1/jobs/", "/org/llmgw/Slurm1/jobs/x",
                              "/org/llmgw/Slurm1/jobs/7/8", "/org/llmgw/Slurm1/jobs/07",
                              "/org/llmgw/Slurm1/jobs/-1", "/org/llmgw/Slurm1/jobs/4294967296", "/"}) {
        EXPECT_FALSE(job_in(other)) << other;
    }
}

TEST_F(Follow, the_same_call_while_one_runs_gets_that_job) {
    start(test::our_policy);
    const Result<std::uint32_t> first = start_job(helper(), "Apply");
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(start_job(helper(), "Apply").value(), first.value());
    end(first.value(), "done", "fine");
    EXPECT_EQ(start_job(helper(), "Uninstall", true).value(), first.value() + 1);
    EXPECT_EQ(calls(), (std::vector<std::string>{"apply", "apply", "uninstall by force"}));
}

TEST_F(Follow, a_refusal_comes_with_its_sentence) {
    start(test::our_policy);
    thread_.in_loop([this] { port_.refuse = Error{Code::invalid, "containers are off"}; });
    EXPECT_EQ(start_job(helper(), "Apply").error(), (Error{Code::invalid, "containers are off"}));
}

TEST_F(Follow, tells_each_change_and_the_end) {
    start(test::our_policy);
    const std::uint32_t id = start_job(helper(), "Apply").value();
    Told told;
    Result<Job> last = Error{};
    std::thread follower([&] { last = follow_job(helper(), id, [&](const Job& job) { told(job); }); });
    EXPECT_TRUE(told.has([](const Job& job) { return job.kind == "apply" && job.step_number == 0; }));
    change(id, [](Job& job) {
        job.step = "download what is pinned";
        job.step_number = 3;
        job.step_count = 12;
        job.bytes_done = 5;
        job.bytes_total = 5'000'000'000;
        job.note = "waiting for apt-get (PID 4711)";
    });
    EXPECT_TRUE(told.has([](const Job& job) {
        return job.step == "download what is pinned" && job.step_number == 3 && job.step_count == 12 &&
               job.bytes_done == 5 && job.bytes_total == 5'000'000'000 &&
               job.note == "waiting for apt-get (PID 4711)";
    }));
    end(id, "failed", "no space");
    follower.join();
    ASSERT_TRUE(last.ok()) << last.error().message;
    EXPECT_EQ(last.value().state, "failed");
    EXPECT_EQ(last.value().message, "no space");
}

TEST_F(Follow, goes_on_with_a_helper_that_was_started_again) {
    start(test::our_policy);
    const std::uint32_t id = start_job(helper(), "Apply").value();
    Told told;
    Result<Job> last = Error{};
    std::thread follower([&] { last = follow_job(helper(), id, [&](const Job& job) { told(job); }); });
    EXPECT_TRUE(told.has([](const Job& job) { return job.running(); }));
    thread_.in_loop([this] { manager_.reset(); });
    // The new one has a job of its own, of the same kind.
    thread_.in_loop([this] {
        port_.known_jobs.clear();
        port_.known_jobs[1] = running(1, "apply");
        port_.known_jobs[1].note = "after the start";
        manager_.emplace(Manager::connect(thread_.loop(), bus_->address(), default_name, port_).value());
    });
    EXPECT_TRUE(told.has([](const Job& job) { return job.note == "after the start"; }));
    end(1, "done", "fine");
    follower.join();
    ASSERT_TRUE(last.ok()) << last.error().message;
    EXPECT_EQ(last.value().message, "fine");
}

TEST_F(Follow, a_helper_that_does_not_come_back_is_an_error) {
    start(test::our_policy);
    const std::uint32_t id = start_job(helper(), "Apply").value();
    Told told;
    Result<Job> last = Error{};
    std::thread follower([&] {
        last = follow_job(
            helper(), id, [&](const Job& job) { told(job); }, std::chrono::seconds(1));
    });
    EXPECT_TRUE(told.has([](const Job& job) { return job.running(); }));
    thread_.in_loop([this] { manager_.reset(); });
    follower.join();
    ASSERT_FALSE(last.ok());
    EXPECT_EQ(last.error().code, Code::unavailable);
}

TEST_F(Follow, a_job_that_there_is_not_is_an_error) {
    start(test::our_policy);
    EXPECT_FALSE(read_job(helper(), 9).ok());
    EXPECT_FALSE(follow_job(helper(), 9, [](const Job&) {}).ok());
}

TEST_F(Follow, watching_hears_of_state_and_status) {
    start(test::our_policy);
    std::atomic<int> changes{0};
    std::thread watcher([&] { EXPECT_TRUE(watch_helper(helper(), [&] { return ++changes < 3; }).ok()); });
    EXPECT_TRUE(test::eventually([&] { return changes == 1; }));
    thread_.in_loop([this] { manager_->changed(); });
    EXPECT_TRUE(test::eventually([&] { return changes == 2; }));
    thread_.in_loop([this] { manager_->status_changed(); });
    watcher.join();
    EXPECT_EQ(changes, 3);
}

TEST_F(Follow, jobs_introspect_as_documented) {
    start(test::our_policy);
    const std::uint32_t id = start_job(helper(), "Apply").value();
    const Result<Connection> connection = open_connection(bus_->address());
    sd_bus_message* raw = nullptr;
    ASSERT_GE(::sd_bus_call_method(connection.value().get(), default_name, job_path(id).c_str(),
                                   "org.freedesktop.DBus.Introspectable", "Introspect", nullptr, &raw, ""),
              0);
    const Message reply(raw);
    const char* text = "";
    ::sd_bus_message_read(reply.get(), "s", &text);
    std::string shown = text;
    const std::size_t begin = shown.find(" <interface name=\"org.llmgw.Slurm1.Job\">");
    ASSERT_NE(begin, std::string::npos) << shown;
    shown = shown.substr(begin, shown.find("</interface>", begin) - begin) + "</interface>\n";
    std::ifstream file(LLMGW_SOURCE_DIR "/docs/org.llmgw.Slurm1.Job.xml");
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    EXPECT_NE(document.find(shown), std::string::npos) << shown;
}

}  // namespace
}  // namespace llmgw::bus
