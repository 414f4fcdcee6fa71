#include "slurm/plugstack_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/limits.hpp"
#include "unit/temporary.hpp"

namespace llmgw::slurm {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class ReadPlugstack : public testing::Test {
  protected:
    std::string put(const std::string& name, const std::string& text) const {
        fs::create_directories(fs::path(at(name)).parent_path());
        std::ofstream(at(name)) << text;
        return at(name);
    }
    [[nodiscard]] std::string at(const std::string& name) const { return directory_.file(name); }
    static Words paths(const PlugstackFiles& files) {
        Words paths;
        for (const PlugstackLine& line : files.stack) paths.push_back(line.path);
        return paths;
    }
    // Of the stack that begins in plugstack.conf.
    [[nodiscard]] PlugstackFiles read() const {
        Result<PlugstackFiles> files = read_plugstack(at("plugstack.conf"));
        EXPECT_TRUE(files.ok()) << files.error().message;
        return files ? std::move(files).value() : PlugstackFiles{};
    }
    test::TemporaryDirectory directory_;
};

TEST_F(ReadPlugstack, takes_a_missing_file_for_an_empty_stack) {
    const PlugstackFiles files = read();
    EXPECT_TRUE(files.stack.empty());
    EXPECT_EQ(files.directories, Words{directory_.path()});
}

TEST_F(ReadPlugstack, gives_plugins_in_their_order_and_nothing_else) {
    put("plugstack.conf", "# first\noptional a.so x=1\n\nnonsense b.so\n\trequired c.so\noptional d.so");
    const PlugstackFiles files = read();
    EXPECT_EQ(paths(files), (Words{"a.so", "c.so", "d.so"}));
    EXPECT_EQ(files.stack.at(0).arguments, Words{"x=1"});
    EXPECT_TRUE(files.stack.at(1).required);
}

TEST_F(ReadPlugstack, follows_an_include_in_its_place_and_sorted) {
    put("plugstack.conf", "optional first.so\ninclude " + at("d/*.conf") + "\noptional last.so\n");
    put("d/20.conf", "optional 20.so\n");
    put("d/10.conf", "optional 10.so\n");
    put("d/15.conf.disabled", "optional 15.so\n");
    const PlugstackFiles files = read();
    EXPECT_EQ(paths(files), (Words{"first.so", "10.so", "20.so", "last.so"}));
    EXPECT_EQ(files.directories, (Words{directory_.path(), at("d")}));
}

TEST_F(ReadPlugstack, takes_an_include_as_relative_to_its_own_file) {
    put("plugstack.conf", "include sub/one.conf\n");
    put("sub/one.conf", "include deeper/*.conf\n");
    put("sub/deeper/two.conf", "optional two.so\n");
    put("deeper/two.conf", "optional wrong.so\n");
    const PlugstackFiles files = read();
    EXPECT_EQ(paths(files), Words{"two.so"});
    EXPECT_EQ(files.directories, (Words{directory_.path(), at("sub"), at("sub/deeper")}));
}

TEST_F(ReadPlugstack, takes_an_include_that_matches_nothing_for_nothing) {
    put("plugstack.conf", "include none.conf\ninclude d/*.conf\ninclude [\noptional a.so\n");
    const PlugstackFiles files = read();
    EXPECT_EQ(paths(files), Words{"a.so"});
    // Where it could match one day.
    EXPECT_EQ(files.directories, (Words{directory_.path(), at("d")}));
}

TEST_F(ReadPlugstack, reads_a_file_as_often_as_it_is_included) {
    put("plugstack.conf", "include a.conf\ninclude a.conf\n");
    put("a.conf", "optional a.so\n");
    EXPECT_EQ(paths(read()), (Words{"a.so", "a.so"}));
}

TEST_F(ReadPlugstack, refuses_includes_that_never_end) {
    put("plugstack.conf", "include plugstack.conf\n");
    Result<PlugstackFiles> files = read_plugstack(at("plugstack.conf"));
    ASSERT_FALSE(files.ok());
    EXPECT_EQ(files.error(), (Error{Code::invalid, at("plugstack.conf") + " is included too deeply"}));
    put("plugstack.conf", "include a.conf\n");
    put("a.conf", "include plugstack.conf\n");
    EXPECT_FALSE(read_plugstack(at("plugstack.conf")).ok());
    // As a tree: each file twice, which would be 2^8 files at the deepest.
    put("plugstack.conf", "include *.conf\n");
    EXPECT_FALSE(read_plugstack(at("plugstack.conf")).ok());
}

TEST_F(ReadPlugstack, follows_includes_to_their_limit) {
    const auto chain = [&](std::size_t depth) {
        put("plugstack.conf", "include c1\n");
        for (std::size_t i = 1; i < depth; ++i) {
            put("c" + std::to_string(i), "include c" + std::to_string(i + 1) + "\n");
        }
        put("c" + std::to_string(depth), "optional deep.so\n");
    };
    chain(limits::plugstack_depth);
    EXPECT_EQ(paths(read()), Words{"deep.so"});
    chain(limits::plugstack_depth + 1);
    EXPECT_FALSE(read_plugstack(at("plugstack.conf")).ok());
}

TEST_F(ReadPlugstack, reads_lines_to_their_limit) {
    std::string lines;
    for (std::size_t i = 0; i < limits::plugstack_lines; ++i) lines += "\n";
    lines.pop_back();
    put("plugstack.conf", lines + "#");
    EXPECT_TRUE(read_plugstack(at("plugstack.conf")).ok());
    put("plugstack.conf", lines + "\n#");
    EXPECT_EQ(read_plugstack(at("plugstack.conf")).error().code, Code::too_large);
}

TEST_F(ReadPlugstack, says_what_it_cannot_read) {
    fs::create_directory(at("plugstack.conf"));
    const Result<PlugstackFiles> files = read_plugstack(at("plugstack.conf"));
    ASSERT_FALSE(files.ok());
    EXPECT_NE(files.error().message.find(at("plugstack.conf")), std::string::npos);
}

// Not "" for a file in the root directory, which nothing could watch.
TEST_F(ReadPlugstack, watches_the_root_directory_by_its_name) {
    EXPECT_EQ(read_plugstack("/llmgw-test-no-such-plugstack.conf").value().directories, Words{"/"});
}

}  // namespace
}  // namespace llmgw::slurm
