// The editor on a disk: what it has to know, and the edits done for real.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "posix/apply_edits.hpp"
#include "posix/file.hpp"
#include "slurm/plugstack_files.hpp"
#include "unit/temporary.hpp"

namespace llmgw::slurm {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

class StackOnDisk : public testing::Test {
  protected:
    void SetUp() override {
        fs::create_directories(at("slurm/plugstack.conf.d"));
        fs::create_directories(at("lib"));
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    void put(const std::string& name, const std::string& text) const {
        std::ofstream(at(name), std::ios::binary) << text;
    }
    [[nodiscard]] std::string main() const { return at("slurm/plugstack.conf"); }
    [[nodiscard]] std::string include() const {
        return "include " + at("slurm/plugstack.conf.d/*.conf") + "\n";
    }
    [[nodiscard]] StackLibraries libraries() const {
        return {at("lib/spank_llmgw.so"), at("lib/spank_llmgw_options.so"), at("lib/spank_pyxis.so"), ""};
    }
    [[nodiscard]] StackSite site(StackPlace place = {}) const {
        place.path = main();
        Result<StackSite> site = read_stack_site(place, libraries());
        EXPECT_TRUE(site.ok()) << site.error().message;
        return site ? std::move(site).value() : StackSite{};
    }
    static void apply(const Result<FileEdits>& edits) {
        ASSERT_TRUE(edits.ok()) << edits.error().message;
        const Result<void> done = apply_edits(edits.value());
        EXPECT_TRUE(done.ok()) << done.error().message;
    }
    [[nodiscard]] Files files() const {
        Files files;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(at("slurm"))) {
            if (entry.is_regular_file()) files[entry.path()] = read_file(entry.path(), 1 << 20).value();
        }
        return files;
    }
    [[nodiscard]] Plugstack stack() const { return read_plugstack(main()).value().stack; }
    test::TemporaryDirectory directory_;
};

TEST_F(StackOnDisk, is_made_and_undone) {
    const std::vector<Files> sites{{},
                                   {{"slurm/plugstack.conf", include()}},
                                   {{"slurm/plugstack.conf", "include plugstack.conf.d/*.conf"}},
                                   {{"slurm/plugstack.conf", "# mine\noptional /s/a.so"}},
                                   {{"slurm/plugstack.conf", "optional spank_pyxis.so\n" + include()}},
                                   {{"slurm/plugstack.conf", include()},
                                    {"slurm/plugstack.conf.d/pyxis.conf", "optional spank_pyxis.so\n"},
                                    {"slurm/plugstack.conf.d/llmgw.conf.bak", "mine"}}};
    for (const Files& own : sites) {
        for (const auto& [name, text] : own) put(name, text);
        const Files before = files();
        apply(stack_edits(site(), libraries(), true));
        EXPECT_EQ(unsafe_stack(stack()), std::nullopt);
        EXPECT_TRUE(pyxis_in(stack()).has_value());
        EXPECT_TRUE(stack_edits(site(), libraries(), true).value().empty());
        const Files made = files();
        apply(without_pyxis(site()));
        apply(stack_edits(site(), libraries(), true));
        EXPECT_EQ(files(), made);
        apply(without_us(site()));
        EXPECT_EQ(files(), before);
        for (const auto& [name, text] : own) fs::remove(at(name));
    }
}

TEST_F(StackOnDisk, says_that_a_link_is_not_to_be_edited) {
    put("shared.conf", "optional /s/a.so\n");
    fs::create_symlink(at("shared.conf"), main());
    EXPECT_EQ(site().main_locked, "is a symbolic link to \"" + at("shared.conf") + "\"");
    EXPECT_FALSE(stack_edits(site(), libraries(), true).ok());
    put("shared.conf", include());
    apply(stack_edits(site(), libraries(), true));
    EXPECT_TRUE(fs::exists(at("slurm/plugstack.conf.d/llmgw.conf")));
    EXPECT_TRUE(fs::is_symlink(main()));
}

TEST_F(StackOnDisk, says_that_the_controllers_copy_is_not_to_be_edited) {
    StackPlace place;
    place.from_controller = true;
    EXPECT_EQ(site(place).main_locked,
              "comes from the controller, whose own is the one to edit before \"scontrol reconfigure\"");
    place = {};
    place.published = true;
    EXPECT_TRUE(site(place).published);
}

TEST_F(StackOnDisk, takes_no_directory_that_others_can_write) {
    put("slurm/plugstack.conf", include());
    const std::string dropins = at("slurm/plugstack.conf.d");
    EXPECT_EQ(site().directories, std::set<std::string>{dropins});
    ::chmod(dropins.c_str(), 0777);
    EXPECT_EQ(site().directories, std::set<std::string>{});
    EXPECT_EQ(site().unfit_directories,
              (std::map<std::string, std::string>{{dropins, "can be written by others than its owner"}}));
    fs::remove(dropins);
    fs::create_directory_symlink(at("lib"), dropins);
    EXPECT_EQ(site().unfit_directories.at(dropins), "is a symbolic link");
    fs::remove(dropins);
    put("slurm/plugstack.conf.d", "");
    EXPECT_EQ(site().unfit_directories.at(dropins), "is not a directory");
}

TEST_F(StackOnDisk, makes_the_directory_that_is_included_and_missing) {
    put("slurm/plugstack.conf", include());
    fs::remove(at("slurm/plugstack.conf.d"));
    apply(stack_edits(site(), libraries(), true));
    EXPECT_EQ(unsafe_stack(stack()), std::nullopt);
    EXPECT_TRUE(fs::exists(at("slurm/plugstack.conf.d/llmgw.conf")));
}

TEST_F(StackOnDisk, takes_no_directory_of_another_user) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    put("slurm/plugstack.conf", include());
    ASSERT_EQ(::chown(at("slurm/plugstack.conf.d").c_str(), 1234, 1234), 0);
    EXPECT_EQ(site().unfit_directories.at(at("slurm/plugstack.conf.d")), "does not belong to root");
    // All of /etc/slurm is SlurmUser's: that user can do what it likes there anyway.
    ASSERT_EQ(::chown(at("slurm").c_str(), 1234, 1234), 0);
    EXPECT_TRUE(site().unfit_directories.empty());
}

TEST_F(StackOnDisk, knows_pyxis_by_its_file) {
    put("lib/spank_pyxis.so", "library");
    fs::create_symlink("spank_pyxis.so", at("lib/link.so"));
    fs::create_hard_link(at("lib/spank_pyxis.so"), at("lib/hard.so"));
    put("lib/other.so", "library");
    for (const auto& [name, is_pyxis] : std::map<std::string, bool>{
             {"lib/link.so", true}, {"lib/hard.so", true}, {"lib/other.so", false}, {"lib/none.so", false}}) {
        put("slurm/plugstack.conf", "optional " + at(name) + "\n");
        EXPECT_EQ(site().aliases.contains(at(name)), is_pyxis) << name;
        EXPECT_EQ(stack_edits(site(), libraries(), true).ok(), !is_pyxis) << name;
    }
}

TEST_F(StackOnDisk, finds_a_file_of_ours_that_nothing_includes) {
    put("slurm/plugstack.conf", include());
    apply(stack_edits(site(), libraries(), true));
    put("slurm/plugstack.conf", "optional /s/a.so\n");
    apply(without_us(site()));
    EXPECT_EQ(files(), (Files{{main(), "optional /s/a.so\n"}}));
}

TEST_F(StackOnDisk, is_not_edited_when_somebody_was_faster) {
    put("slurm/plugstack.conf", "optional /s/a.so\n");
    const Result<FileEdits> edits = stack_edits(site(), libraries(), true);
    put("slurm/plugstack.conf", "optional /s/b.so\n");
    EXPECT_EQ(apply_edits(edits.value()).error().code, Code::conflict);
    EXPECT_EQ(files(), (Files{{main(), "optional /s/b.so\n"}}));
}

// The values that the editor simulates with say what the disk says.
TEST_F(StackOnDisk, is_resolved_the_same_as_a_tree) {
    put("slurm/plugstack.conf",
        "optional a.so\ninclude plugstack.conf.d/*\ninclude ../more/[a-c]?.conf\noptional z.so\n");
    fs::create_directories(at("more"));
    for (const char* name :
         {"slurm/plugstack.conf.d/10.conf", "slurm/plugstack.conf.d/.hidden", "slurm/plugstack.conf.d/Z",
          "slurm/plugstack.conf.d/_", "more/a1.conf", "more/d1.conf", "more/c.conf"}) {
        put(name, "optional /x/" + fs::path(name).filename().string() + ".so\n");
    }
    const PlugstackFiles files = read_plugstack(main()).value();
    EXPECT_EQ(resolve_stack(files.tree).value(), files.resolved);
    std::string order;
    for (const PlacedLine& placed : files.resolved.lines) order += placed.line.path + " ";
    EXPECT_EQ(order, "a.so /x/10.conf.so /x/Z.so /x/_.so /x/a1.conf.so z.so ");
    EXPECT_EQ(files.resolved.lines[4].place(), at("slurm/../more/a1.conf") + ":1");
}

}  // namespace
}  // namespace llmgw::slurm
