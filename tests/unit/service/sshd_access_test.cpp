#include "service/sshd_access.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

// sshd is a script that answers as the test says.
class SshdAccessTest : public testing::Test {
  protected:
    SshdAccessTest() {
        std::ofstream(directory_.file("sshd_config")) << "Include x\nAuthorizedKeysFile /site/%u\n";
        sshd("cat " + directory_.file("drop-in") + " 2>/dev/null; exit 0");
    }
    void sshd(const std::string& text) const {
        const std::string path = directory_.file("sshd");
        std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
        ::chmod(path.c_str(), 0755);
    }
    SshdAccess access() const {
        SshdOptions options;
        options.state_dir = directory_.path();
        options.keys = "/k";
        options.program = directory_.file("sshd");
        options.main_file = directory_.file("sshd_config");
        options.drop_in = directory_.file("drop-in");
        options.systemctl = "/bin/false";
        return SshdAccess(options);
    }
    bool there() const { return std::filesystem::exists(directory_.file("drop-in")); }

    test::TemporaryDirectory directory_;
};

TEST_F(SshdAccessTest, is_not_wanted_without_sshd) {
    std::filesystem::remove(directory_.file("sshd"));
    EXPECT_FALSE(access().look().installed);
}

TEST_F(SshdAccessTest, writes_and_takes_back) {
    SshFacts facts = access().look();
    EXPECT_FALSE(facts.there.has_value());
    ASSERT_TRUE(access().write(facts.wanted).ok());
    facts = access().look();
    EXPECT_EQ(facts.there, facts.wanted);
    EXPECT_EQ(facts.problem, "");
    EXPECT_NE(facts.wanted.content.find("AuthorizedKeysFile /site/%u /k/%u"), std::string::npos);
    EXPECT_TRUE(access().did_anything());
    ASSERT_TRUE(access().remove().ok());
    EXPECT_FALSE(there());
    EXPECT_FALSE(access().did_anything());
}

TEST_F(SshdAccessTest, counts_only_if_sshd_takes_it) {
    const MachineFile wanted = access().look().wanted;
    sshd("[ -e " + directory_.file("drop-in") + " ] && echo 'line 2: bad' && exit 1; exit 0");
    const Result<void> written = access().write(wanted);
    ASSERT_FALSE(written.ok());
    EXPECT_NE(written.error().message.find("line 2: bad"), std::string::npos);
    EXPECT_FALSE(there());
    sshd("echo authorizedkeysfile /site/only");
    const Result<void> without_effect = access().write(wanted);
    ASSERT_FALSE(without_effect.ok());
    EXPECT_NE(without_effect.error().message.find("another file sets AuthorizedKeysFile"), std::string::npos);
    EXPECT_FALSE(there());
    EXPECT_FALSE(access().did_anything());
}

TEST_F(SshdAccessTest, adds_nothing_to_settings_that_are_wrong_already) {
    sshd("echo 'no hostkeys available'; exit 1");
    EXPECT_FALSE(access().write(access().look().wanted).ok());
    EXPECT_FALSE(there());
}

TEST_F(SshdAccessTest, sees_that_it_lost_its_effect) {
    ASSERT_TRUE(access().write(access().look().wanted).ok());
    sshd("echo authorizedkeysfile /other");
    EXPECT_NE(access().look().problem.find("does not read"), std::string::npos);
}

TEST_F(SshdAccessTest, leaves_what_an_admin_made_of_it) {
    ASSERT_TRUE(access().write(access().look().wanted).ok());
    std::ofstream(directory_.file("drop-in")) << "# mine\n";
    const Result<std::vector<std::string>> left = access().remove();
    ASSERT_TRUE(left.ok());
    EXPECT_EQ(left.value().size(), 1U);
    EXPECT_TRUE(there());
}

}  // namespace
}  // namespace llmgw::service
