#include "slurm/daemon_facts.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "posix/descriptor.hpp"
#include "unit/temporary.hpp"

namespace llmgw::slurm {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// A machine's /proc and configuration in a directory.
class ReadSlurmd : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"proc/net", "etc", "run", "spool"}) fs::create_directories(at(name));
        places_ = {"n1", at("proc"), at("etc/slurm.conf"), at("run/conf"), ""};
        put("etc/slurm.conf", "ClusterName=c\nSlurmdSpoolDir=" + at("spool") + "\n");
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    void put(const std::string& name, const std::string& text) const {
        fs::create_directories(fs::path(at(name)).parent_path());
        std::ofstream(at(name), std::ios::binary) << text;
    }
    // `ticks` since the machine was started.
    void process(int pid, const std::string& program, const Words& argv, long ticks = 100) const {
        const std::string directory = "proc/" + std::to_string(pid);
        std::string line;
        for (const std::string& word : argv) line += word + '\0';
        put(directory + "/cmdline", line);
        put(directory + "/comm", "slurmd\n");
        put(directory + "/status", "Name:\tslurmd\nNSpid:\t" + std::to_string(pid) + "\n");
        put(directory + "/stat", std::to_string(pid) + " (a ) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 " +
                                     std::to_string(ticks) + " 0 0\n");
        put(directory + "/environ", "");
        if (!program.empty()) fs::create_symlink(program, at(directory + "/exe"));
    }
    [[nodiscard]] SlurmdFacts read() const { return read_slurmd(places_); }
    test::TemporaryDirectory directory_;
    DaemonPlaces places_;
};

TEST_F(ReadSlurmd, says_what_one_would_read_where_none_runs) {
    const SlurmdFacts facts = read();
    EXPECT_FALSE(facts.running);
    EXPECT_EQ(facts.plugstack, at("etc/plugstack.conf"));
    EXPECT_EQ(facts.spool_dir, at("spool"));
    EXPECT_FALSE(facts.from_controller || facts.serves_configless);
    EXPECT_EQ(stack_place(facts).path, at("etc/plugstack.conf"));
}

TEST_F(ReadSlurmd, finds_it_by_its_program) {
    process(10, "/usr/sbin/slurmctld", {"slurmctld"});
    process(11, "/usr/sbin/slurmstepd-wlm", {"slurmstepd: [1.0]"});
    process(12, "/usr/bin/python3", {"slurmd"});
    EXPECT_FALSE(read().running);
    process(13, "/usr/sbin/slurmd-wlm", {"/usr/sbin/slurmd", "-D"});
    EXPECT_TRUE(read().running);
    EXPECT_FALSE(read().replaced);
}

TEST_F(ReadSlurmd, finds_it_by_its_name_where_the_program_cannot_be_seen) {
    process(10, "", {"/usr/sbin/slurmd"});
    EXPECT_TRUE(read().running);
}

TEST_F(ReadSlurmd, sees_that_it_was_replaced) {
    process(10, "/usr/sbin/slurmd-wlm (deleted)", {"slurmd"});
    EXPECT_TRUE(read().running && read().replaced);
}

TEST_F(ReadSlurmd, leaves_those_of_containers_alone) {
    process(10, "/usr/sbin/slurmd", {"slurmd"});
    put("proc/10/status", "NSpid:\t10\t7\n");
    EXPECT_FALSE(read().running);
}

TEST_F(ReadSlurmd, takes_the_one_of_this_machine) {
    put("other/slurm.conf", "SlurmdSpoolDir=/other\n");
    process(10, "/usr/sbin/slurmd", {"slurmd", "-N", "n2", "-f", at("other/slurm.conf")});
    EXPECT_FALSE(read().running) << "another node's, on the same host";
    process(11, "/usr/sbin/slurmd", {"slurmd", "-N", "n1", "-f", at("other/slurm.conf")});
    EXPECT_TRUE(read().running);
    EXPECT_EQ(read().spool_dir, "/other");
    EXPECT_EQ(read().plugstack, at("other/plugstack.conf"));
}

TEST_F(ReadSlurmd, knows_since_when_it_runs) {
    process(10, "/usr/sbin/slurmd", {"slurmd"}, 0);
    process(11, "/usr/sbin/slurmd", {"slurmd", "-N", "n1"}, 3 * ::sysconf(_SC_CLK_TCK));
    timespec now{};
    timespec up{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    const double boot =
        static_cast<double>(now.tv_sec - up.tv_sec) + static_cast<double>(now.tv_nsec - up.tv_nsec) * 1e-9;
    EXPECT_NEAR(static_cast<double>(read().started_ns) * 1e-9, boot + 3, 1);
}

TEST_F(ReadSlurmd, follows_slurm_conf) {
    put("etc/slurm.conf", "Include more.conf\nSlurmctldParameters=idle_on_node_suspend,Enable_Configless\n");
    put("etc/more.conf", "SlurmdSpoolDir=/spool/%n\n");
    EXPECT_EQ(read().spool_dir, "/spool/n1");
    EXPECT_TRUE(read().serves_configless);
    EXPECT_TRUE(stack_place(read()).published);
    put("etc/slurm.conf", "SlurmctldParameters=enable_configless\nPlugStackConfig=/site/stack.conf\n");
    EXPECT_EQ(read().plugstack, "/site/stack.conf");
    EXPECT_FALSE(read().serves_configless) << "a file that slurmctld gives to nobody";
    EXPECT_EQ(read().spool_dir, "/var/spool/slurmd");
}

TEST_F(ReadSlurmd, follows_its_environment) {
    put("other/slurm.conf", "");
    process(10, "/usr/sbin/slurmd", {"slurmd"});
    put("proc/10/environ", std::string("A=b\0SLURM_CONF=", 15) + at("other/slurm.conf") + '\0');
    EXPECT_EQ(read().plugstack, at("other/plugstack.conf"));
}

TEST_F(ReadSlurmd, follows_a_configless_one_to_its_copy) {
    put("spool/conf-cache/slurm.conf", "SlurmdSpoolDir=" + at("spool") + "\n");
    fs::create_symlink(at("spool/conf-cache"), at("run/conf"));
    process(10, "/usr/sbin/slurmd", {"slurmd"});
    EXPECT_FALSE(read().from_controller)
        << "a local slurm.conf comes first; the link is from an earlier time";
    process(11, "/usr/sbin/slurmd", {"slurmd", "-N", "n1", "--conf-server", "ctl"});
    EXPECT_TRUE(read().from_controller);
    EXPECT_EQ(read().plugstack, at("spool/conf-cache/plugstack.conf"));
    EXPECT_TRUE(stack_place(read()).from_controller);
    // By DNS, without a local file.
    fs::remove_all(at("proc/11"));
    fs::remove(at("etc/slurm.conf"));
    EXPECT_TRUE(read().from_controller);
    EXPECT_EQ(read().spool_dir, at("spool"));
}

TEST_F(ReadSlurmd, reads_what_it_is_told_to) {
    places_.plugstack = at("stack.conf");
    put("etc/slurm.conf", "SlurmctldParameters=enable_configless\n");
    EXPECT_EQ(read().plugstack, at("stack.conf"));
    EXPECT_FALSE(stack_place(read()).published);
}

TEST_F(ReadSlurmd, counts_steps_whose_sockets_somebody_listens_on) {
    for (const char* name : {"n1_7.0", "n1_8.4294967291", "n2_9.0", "cred_state"})
        put(std::string("spool/") + name, "");
    put("proc/net/unix",
        "Num RefCount\n0000: 00000002 00000000 00010000 0001 01 1 " + at("spool/n1_7.0") + "\n");
    EXPECT_EQ(read().steps, Words{"7.0"});
    fs::remove(at("proc/net/unix"));
    EXPECT_EQ(read().steps, (Words{"7.0", "8.batch"})) << "where that can't be told, they run";
}

TEST_F(ReadSlurmd, sees_a_real_socket) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = at("spool/n1_7.0");
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.data(), path.size());
    const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(socket.get(), 1), 0);
    fs::remove_all(at("proc"));
    fs::create_directory_symlink("/proc/self", at("proc"));
    EXPECT_EQ(read().steps, Words{"7.0"});
}

}  // namespace
}  // namespace llmgw::slurm
