#include "posix/step_sockets.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>

#include "posix/descriptor.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

class StepSockets : public testing::Test {
  protected:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(place.file(name)) << text;
    }
    // A socket's name stays when nobody listens any more.
    void make_socket(const std::string& name) const {
        const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = place.file(name);
        ASSERT_LT(path.size(), sizeof address.sun_path);
        path.copy(address.sun_path, path.size());
        ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    }
    [[nodiscard]] SlurmPlaces places() const { return {{}, {place.file("slurm.conf")}}; }

    test::TemporaryDirectory place;
};

TEST_F(StepSockets, that_are_no_sockets_are_no_steps) {
    write("n1_5.4294967292", "");
    std::filesystem::create_directory(place.file("n1_6.4294967292"));
    std::filesystem::create_symlink("n1_8.4294967292", place.file("n1_7.4294967292"));
    EXPECT_TRUE(find_extern_steps({place.path()}).extern_steps.empty());
}

TEST_F(StepSockets, are_found_in_every_slurmds_directory_whatever_its_node_is_called) {
    std::filesystem::create_directory(place.file("a"));
    std::filesystem::create_directory(place.file("b"));
    make_socket("a/gpu_a_5.4294967292");
    make_socket("b/other_6.4294967292");
    const StepsHere here = find_extern_steps({place.path() + "/*"});
    ASSERT_EQ(here.extern_steps.size(), 2U);
    EXPECT_EQ(here.extern_steps[0].job + here.extern_steps[1].job, 11U);
    EXPECT_GT(here.extern_steps[0].born_ns, 0);
    EXPECT_FALSE(here.without_extern);
}

TEST_F(StepSockets, of_other_steps_alone_mean_that_contain_is_missing) {
    make_socket("n1_5.4294967291");
    EXPECT_TRUE(find_extern_steps({place.path()}).without_extern);
    make_socket("n1_5.4294967292");
    EXPECT_FALSE(find_extern_steps({place.path()}).without_extern);
    EXPECT_FALSE(find_extern_steps({place.file("missing")}).without_extern);
}

TEST_F(StepSockets, a_host_is_a_node_once_slurmd_left_something_there) {
    std::filesystem::create_directory(place.file("spool"));
    write("slurm.conf", "SlurmctldHost=ctl\nInclude more.conf\n");
    write("more.conf", "SlurmdSpoolDir=" + place.file("spool") + "\n");
    EXPECT_EQ(read_slurm_here(places(), "n1").host, HostFacts{});
    write("spool/cred_state", "");
    EXPECT_EQ(read_slurm_here(places(), "n1").host, (HostFacts{false, true, ""}));
    EXPECT_EQ(read_slurm_here(places(), "ctl.example.org").host, (HostFacts{true, true, ""}));
}

TEST_F(StepSockets, a_slurm_conf_that_cannot_be_read_is_not_a_missing_one) {
    EXPECT_EQ(read_slurm_here({{place.file("none")}, {place.file("slurm.conf")}}, "n1").host.unknown, "");
    std::filesystem::create_directory(place.file("slurm.conf"));
    EXPECT_NE(read_slurm_here(places(), "n1").host.unknown, "");
}

TEST_F(StepSockets, an_endless_include_ends) {
    write("slurm.conf", "Include slurm.conf\n");
    EXPECT_NE(read_slurm_here(places(), "n1").host.unknown, "");
}

}  // namespace
}  // namespace llmgw
