#include "packages/rpm_holds.hpp"

#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

using Words = std::vector<std::string>;

constexpr const char* file = "# ours\n[one]\nname=one\nenabled=1\n[two]\nname=two\n";

TEST(ExcludeLine, ComesIntoEachSectionAndGoesWithItsLastName) {
    const std::string held = with_excluded(file, {"a", "b"}, true);
    EXPECT_EQ(held,
              "# ours\n[one]\nname=one\nenabled=1\nexcludepkgs=a,b\n[two]\nname=two\nexcludepkgs=a,b\n");
    EXPECT_EQ(with_excluded(held, {"a", "b"}, true), held);
    EXPECT_EQ(excluded_in(held), (Words{"a", "b"}));
    EXPECT_EQ(with_excluded(held, {"a"}, false),
              "# ours\n[one]\nname=one\nenabled=1\nexcludepkgs=b\n[two]\nname=two\nexcludepkgs=b\n");
    EXPECT_EQ(with_excluded(held, {"a", "b", "c"}, false), file);
    EXPECT_EQ(with_excluded("# nothing\n", {"a"}, true), "# nothing\n");
}

class RpmHolds : public ::testing::Test {
  protected:
    test::TemporaryDirectory root_;
};

TEST_F(RpmHolds, AreReadWhereverTheyAre) {
    EXPECT_EQ(read_holds(root_.path()).value(), Words{});
    write(root_.file("etc/dnf/plugins/versionlock.list"), "jq-0:1.6-1.*\n");
    write(root_.file("etc/dnf/versionlock.toml"), "[[packages]]\nname = \"curl\"\n");
    write(root_.file("etc/yum.repos.d/llmgw-x.repo"), "[x]\nexcludepkgs=a, jq\n");
    write(root_.file("etc/yum.repos.d/site.repo"), "[site]\nexcludepkgs=other\n");
    EXPECT_EQ(read_holds(root_.path()).value(), (Words{"jq", "curl", "a"}));
}

TEST_F(RpmHolds, GoIntoOurOwnFilesOnly) {
    write(root_.file("etc/yum.repos.d/site.repo"), file);
    const Result<void> none = exclude_in_our_repositories(root_.path(), {"a"}, true);
    ASSERT_REFUSED(none, Code::missing);
    EXPECT_TRUE(mentions(none.error().message, "python3-dnf-plugin-versionlock"));
    ASSERT_FINE(exclude_in_our_repositories(root_.path(), {"a"}, false));
    write(root_.file("etc/yum.repos.d/llmgw-x.repo"), file);
    ASSERT_FINE(exclude_in_our_repositories(root_.path(), {"a"}, true));
    EXPECT_EQ(read(root_.file("etc/yum.repos.d/llmgw-x.repo")), with_excluded(file, {"a"}, true));
    EXPECT_EQ(read(root_.file("etc/yum.repos.d/site.repo")), file);
}

TEST_F(RpmHolds, KnowWhetherThePluginIsThere) {
    EXPECT_FALSE(has_versionlock_plugin(root_.path()));
    write(root_.file("etc/dnf/plugins/versionlock.conf"), "[main]\nenabled = 1\n");
    EXPECT_TRUE(has_versionlock_plugin(root_.path()));
    write(root_.file("etc/dnf/plugins/versionlock.conf"), "[main]\nenabled=0\n");
    EXPECT_FALSE(has_versionlock_plugin(root_.path()));
}

}  // namespace
}  // namespace llmgw::packages
