#include "service/enroot_layout.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ReadEnrootLayout : public testing::Test {
  protected:
    void SetUp() override {
        for (const char* name : {"etc", "tmpfiles.d", "bin", "local"}) fs::create_directories(at(name));
        places_.program = at("bin/enroot");
        places_.directory = at("etc");
        places_.tmpfiles_directory = at("tmpfiles.d");
        places_.path = {at("local"), at("bin"), at("sbin")};
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    void put(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        fs::create_directories(fs::path(at(name)).parent_path());
        std::ofstream(at(name), std::ios::binary) << text;
        ::chmod(at(name).c_str(), mode);
    }
    [[nodiscard]] EnrootLayout read() const {
        Result<EnrootLayout> layout = read_enroot_layout(places_);
        EXPECT_TRUE(layout.ok()) << layout.error().message;
        return layout ? std::move(layout).value() : EnrootLayout{};
    }
    test::TemporaryDirectory directory_;
    EnrootPlaces places_;
};

TEST_F(ReadEnrootLayout, takes_a_machine_without_enroot_for_what_the_package_will_make_of_it) {
    const EnrootLayout layout = read();
    EXPECT_TRUE(layout.reads_dropins);
    EXPECT_EQ(layout.config, std::nullopt);
    EXPECT_TRUE(layout.set_by_others.empty() && layout.programs.empty() && layout.foreign.empty());
}

TEST_F(ReadEnrootLayout, tells_whether_dropins_are_read) {
    put("bin/enroot", "#!/bin/bash\nconfig::init \"/etc/enroot/enroot.conf\"\n", 0755);
    EXPECT_FALSE(read().reads_dropins) << "enroot 3.3 and earlier";
    put("bin/enroot", "#!/bin/bash\n  if [ -d \"${file}.d\" ]; then\n", 0755);
    EXPECT_TRUE(read().reads_dropins);
    put("bin/enroot",
        "\x7f"
        "ELF enroot.conf.d",
        0755);
    EXPECT_TRUE(read().reads_dropins);
    put("bin/enroot", "#!/bin/bash\n", 0755);
    fs::create_directory(at("etc/enroot.conf.d"));
    EXPECT_TRUE(read().reads_dropins);
}

TEST_F(ReadEnrootLayout, keeps_the_first_value_as_enroot_does) {
    put("etc/enroot.conf", "ENROOT_DATA_PATH /first\nENROOT_DATA_PATH /second\nENROOT_FOO x\n", 0640);
    put("etc/enroot.conf.d/10-site.conf", "ENROOT_DATA_PATH /third\nENROOT_TEMP_PATH /fast\n");
    put("etc/enroot.conf.d/zz-llmgw.conf", "# llmgw-slurm: ours\nENROOT_CACHE_PATH /ours\n");
    put("etc/enroot.conf.d/README", "ENROOT_CACHE_PATH /readme\n");
    const EnrootLayout layout = read();
    EXPECT_EQ(layout.set_by_others,
              (std::map<std::string, EnrootValue>{
                  {"ENROOT_DATA_PATH", {"/first", at("etc/enroot.conf")}},
                  {"ENROOT_FOO", {"x", at("etc/enroot.conf")}},
                  {"ENROOT_TEMP_PATH", {"/fast", at("etc/enroot.conf.d/10-site.conf")}}}));
    EXPECT_EQ(layout.doubts,
              Words{at("etc/enroot.conf") + ": line 3 sets ENROOT_FOO, which is no setting of enroot's "
                                            "that is known here"});
    EXPECT_EQ(layout.config_mode, 0640U);
    EXPECT_TRUE(layout.foreign.empty());
}

TEST_F(ReadEnrootLayout, is_the_same_after_our_own_files) {
    put("bin/enroot", "#!/bin/bash\n", 0755);
    put("etc/enroot.conf", "ENROOT_TEMP_PATH /fast\n");
    const EnrootLayout before = read();
    const std::vector<MachineFile> files = enroot_files({}, before, false).value();
    for (const MachineFile& file : files) {
        fs::create_directories(fs::path(file.path).parent_path());
        std::ofstream(file.path, std::ios::binary) << file.content;
    }
    const EnrootLayout after = read();
    EXPECT_EQ(after.set_by_others, before.set_by_others);
    EXPECT_EQ(enroot_files({}, after, false).value(), files);
}

TEST_F(ReadEnrootLayout, finds_what_is_in_the_way) {
    put("etc/mounts.d/50-llmgw-shared.fstab", "/x /x none bind\n");
    fs::create_symlink(at("elsewhere"), at("tmpfiles.d/llmgw-enroot.conf"));
    EXPECT_EQ(read().foreign,
              (Words{at("tmpfiles.d/llmgw-enroot.conf"), at("etc/mounts.d/50-llmgw-shared.fstab")}));
}

TEST_F(ReadEnrootLayout, finds_every_enroot_once) {
    put("bin/enroot", "#!/bin/bash\n", 0755);
    fs::create_directory_symlink(at("bin"), at("sbin"));
    EXPECT_EQ(read().programs, Words{at("bin/enroot")});
    put("local/enroot", "#!/bin/bash\n", 0644);
    EXPECT_EQ(read().programs, Words{at("bin/enroot")}) << "one that can't be run is none";
    put("local/enroot", "#!/bin/bash\n", 0755);
    EXPECT_EQ(read().programs, (Words{at("local/enroot"), at("bin/enroot")}));
}

TEST_F(ReadEnrootLayout, says_what_it_cannot_read) {
    put("etc/enroot.conf", "# llmgw-slurm begin: x\n");
    const Result<EnrootLayout> cut = read_enroot_layout(places_);
    ASSERT_FALSE(cut.ok());
    EXPECT_TRUE(cut.error().message.starts_with(at("etc/enroot.conf") + ": line 1 ")) << cut.error().message;
    fs::remove(at("etc/enroot.conf"));
    fs::create_directory(at("etc/enroot.conf"));
    EXPECT_FALSE(read_enroot_layout(places_).ok());
}

}  // namespace
}  // namespace llmgw::service
