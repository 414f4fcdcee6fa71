#include "core/node_hardware.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

TEST(NodeHardware, refuses_what_slurmd_does_not_say) {
    for (const char* wrong :
         {"", "slurmd: error", "NodeName=n1", "NodeName=n1 CPUs=x RealMemory=1000",
          "NodeName=n1 CPUs=2 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1",
          "NodeName=n1 CPUs=4 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000",
          "NodeName=n1 CPUs=2 SocketsPerBoard=0 CoresPerSocket=2 ThreadsPerCore=1 RealMemory=1000",
          "NodeName=n1 CPUs=-2 RealMemory=1000"}) {
        EXPECT_EQ(parse_slurmd_hardware(wrong).error().code, Code::invalid) << wrong;
    }
}

TEST(NodeHardware, is_read_from_the_line_among_others) {
    const Result<NodeHardware> hardware = parse_slurmd_hardware(
        "hwloc/linux: failed to find sysfs cpu topology directory, aborting linux discovery.\n"
        "NodeName=gpu1 CPUs=64 Boards=1 SocketsPerBoard=2 CoresPerSocket=16 ThreadsPerCore=2 "
        "RealMemory=515000\n"
        "UpTime=0-08:24:16\n");
    ASSERT_TRUE(hardware.ok()) << hardware.error().message;
    EXPECT_EQ(hardware.value(), (NodeHardware{64, 1, 2, 16, 2, 515000, {}}));
}

TEST(NodeHardware, keeps_its_limits) {
    NodeHardware hardware{limits::hardware_count,     1, limits::hardware_count, 1, 1,
                          limits::hardware_memory_mb, {}};
    EXPECT_TRUE(check_hardware(hardware).ok());
    ++hardware.memory_mb;
    EXPECT_FALSE(check_hardware(hardware).ok());
    hardware.memory_mb = 1000;
    hardware.boards = 2;
    EXPECT_FALSE(check_hardware(hardware).ok());
    hardware = {2, 1, 1, 2, 1, 1000, {}};
    for (std::uint32_t gpu = 0; gpu < limits::hardware_gpus; ++gpu) hardware.gpus.push_back(gpu);
    EXPECT_TRUE(check_hardware(hardware).ok());
    hardware.gpus.push_back(100);
    EXPECT_FALSE(check_hardware(hardware).ok());
    hardware.gpus = {1, 1};
    EXPECT_FALSE(check_hardware(hardware).ok());
}

TEST(NodeHardware, counts_devices_with_a_number) {
    EXPECT_EQ(
        gpus_in({"nvidia10", "nvidiactl", "nvidia-uvm", "nvidia2", "tty1", "nvidia", "nvidia0", "nvidia2x"}),
        (std::vector<std::uint32_t>{0, 2, 10}));
}

TEST(NodeHardware, writes_numbers_as_slurm_reads_them) {
    EXPECT_EQ(number_list({3}), "3");
    EXPECT_EQ(number_list({0, 1, 2, 3}), "[0-3]");
    EXPECT_EQ(number_list({0, 1, 5, 7, 8}), "[0-1,5,7-8]");
}

}  // namespace
}  // namespace llmgw
