#include "posix/gpu_holders.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>

#include "core/text.hpp"
#include "posix/descriptor.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw {
namespace {

// A process that does something and then stands still.
class Holder {
  public:
    explicit Holder(const std::function<void()>& act) {
        std::array<int, 2> ready{};
        EXPECT_EQ(::pipe(ready.data()), 0);
        child_ = ::fork();
        if (child_ == 0) {
            act();
            if (::write(ready[1], "x", 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
        ::close(ready[1]);
    }
    ~Holder() { end(); }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
    void end() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = -1;
    }
    [[nodiscard]] std::string pid() const { return std::to_string(child_); }

  private:
    pid_t child_ = -1;
};

std::string first_process() {
    const Result<std::string> name = read_file("/proc/1/comm", 64);
    return name ? name.value().substr(0, name.value().find('\n')) : "";
}

class GpuHolders : public testing::Test {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root to see what others have open";
        device = directory.path() + "/gpu0";
        ASSERT_TRUE(write_file_atomically(device, std::string(4096, 'x'), 0666, Durability::volatile_).ok());
        rules.devices = {directory.path() + "/gpu[0-9]*"};
        // The machine of the test may be a container, whose first process is another one's.
        rules.unseen = {first_process()};
    }
    test::TemporaryDirectory directory;
    std::string device;
    GpuRules rules;
};

TEST_F(GpuHolders, are_none_where_nobody_has_one_open) {
    EXPECT_EQ(gpu_holders(rules).value(), std::vector<std::string>{});
    rules.devices = {"/dev/no-such-gpu*"};
    EXPECT_EQ(gpu_holders(rules).value(), std::vector<std::string>{});
}

TEST_F(GpuHolders, are_named_with_number_program_and_device) {
    Holder holder([&] { ::open(device.c_str(), O_RDONLY); });
    const std::vector<std::string> found = gpu_holders(rules).value();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].find("pid " + holder.pid() + " ("), 0U) << found[0];
    EXPECT_NE(found[0].find(") has " + device + " open"), std::string::npos) << found[0];
    holder.end();
    EXPECT_TRUE(gpu_holders(rules).value().empty());
}

TEST_F(GpuHolders, hold_what_they_have_mapped_and_closed) {
    const Holder holder([&] {
        const int file = ::open(device.c_str(), O_RDONLY);
        ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0);
        ::close(file);
    });
    const std::vector<std::string> found = gpu_holders(rules).value();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find(" mapped"), std::string::npos) << found[0];
}

TEST_F(GpuHolders, are_found_by_the_device_and_not_by_its_name) {
    // A real character device, under a name of its own, as in a container.
    const std::string other = directory.path() + "/card";
    if (::mknod(other.c_str(), S_IFCHR | 0600, ::makedev(1, 7)) != 0)
        GTEST_SKIP() << "no devices can be made here";
    const Holder holder([&] { ::open("/dev/full", O_WRONLY); });
    rules.devices = {other};
    const std::vector<std::string> found = gpu_holders(rules).value();
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found[0].find(holder.pid()), std::string::npos) << found[0];
}

TEST_F(GpuHolders, may_be_programs_that_are_allowed) {
    const Holder holder([&] { ::open(device.c_str(), O_RDONLY); });
    std::array<char, 4096> self{};
    ASSERT_GT(::readlink("/proc/self/exe", self.data(), self.size() - 1), 0);
    rules.allowed = {"/usr/bin/other", self.data()};
    EXPECT_TRUE(gpu_holders(rules).value().empty());
}

}  // namespace
}  // namespace llmgw
