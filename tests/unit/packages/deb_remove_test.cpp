// Removing and holding, with the real dpkg and apt, in a root of their own.
#include "unit/packages/deb_root.hpp"

namespace llmgw::packages {
namespace {

class DebRemove : public DebRoot {};

TEST_F(DebRemove, PurgesWhatItIsToldAndLeavesTheTreeAsItWas) {
    ASSERT_FINE(manager().install({{deb({"site", "1.0", "", "site\n"})}, {}}, {}, never_));
    const std::string before = listing(root_ + "/usr") + listing(root_ + "/etc");
    const std::string tool = deb({"enroot", "4.2.1-1", "Depends: curl\n", "setting\n"});
    const std::string caps = deb({"enroot+caps", "4.2.1-1", "Depends: enroot\n"});
    const std::string curl = deb({"curl", "8.0"});
    ASSERT_FINE(manager().install({{tool, caps, curl}, {}}, {}, never_));
    write(root_ + "/etc/enroot.conf", "changed\n");
    ASSERT_FINE(manager().remove({"enroot", "enroot+caps", "curl", "nosuch"}, watched_.progress, never_));
    EXPECT_EQ(listing(root_ + "/usr") + listing(root_ + "/etc"), before);
    EXPECT_EQ(manager().installed().value().versions, (std::map<std::string, std::string>{{"site", "1.0"}}));
    EXPECT_TRUE(mentions(watched_.sentences, "Removing enroot+caps (4.2.1-1)"));
    ASSERT_FINE(manager().remove({"enroot", "enroot+caps", "curl"}, {}, never_));
}

TEST_F(DebRemove, TakesConfigurationThatSomebodyElseLeft) {
    ASSERT_FINE(manager().install({{deb({"enroot", "1.0", "", "setting\n"})}, {}}, {}, never_));
    must_run({"/usr/bin/dpkg", "--root=" + root_, "--remove", "enroot"});
    ASSERT_TRUE(there(root_ + "/etc/enroot.conf"));
    EXPECT_TRUE(manager().installed().value().broken.empty());
    ASSERT_FINE(manager().remove({"enroot"}, {}, never_));
    EXPECT_FALSE(there(root_ + "/etc/enroot.conf"));
}

TEST_F(DebRemove, RefusesToTakeOthersWithIt) {
    ASSERT_FINE(manager().install(
        {{deb({"enroot", "1.0"}), deb({"site-tool", "1.0", "Depends: enroot\n"})}, {}}, {}, never_));
    const std::string before = database();
    const Result<void> refused = manager().remove({"enroot"}, {}, never_);
    ASSERT_REFUSED(refused, Code::conflict);
    EXPECT_TRUE(mentions(refused.error().message, "site-tool would go with it")) << refused.error().message;
    EXPECT_EQ(database(), before);
}

TEST_F(DebRemove, LeavesWhatWasOnlyNeeded) {
    offer({deb({"curl", "8.0"})});
    ASSERT_FINE(manager().install({{deb({"enroot", "1.0", "Depends: curl\n"})}, {}}, {}, never_));
    ASSERT_FINE(manager().remove({"enroot"}, {}, never_));
    EXPECT_EQ(version_of("curl"), "8.0");
}

TEST_F(DebRemove, RemovesWhatDpkgLostHalfOf) {
    ASSERT_FINE(manager().install({{deb({"enroot", "1.0-1"}), deb({"jq", "1.0"})}, {}}, {}, never_));
    std::string status = read(root_ + "/var/lib/dpkg/status");
    const std::size_t place = status.find("install ok installed", status.find("Package: enroot\n"));
    status.replace(place, 20, "install reinstreq half-installed");
    write(root_ + "/var/lib/dpkg/status", status);
    ASSERT_FINE(manager().remove({"enroot", "jq"}, {}, never_));
    EXPECT_EQ(manager().installed().value(), Installed{});
}

TEST_F(DebRemove, HoldsAndLetsGo) {
    ASSERT_FINE(manager().install({{deb({"enroot", "1.0"}), deb({"site", "1.0"})}, {}}, {}, never_));
    must_run({"/usr/bin/apt-mark", "-o", "Dir=" + root_, "-o",
              "Dir::State::status=" + root_ + "/var/lib/dpkg/status", "-o", "Dpkg::Options::=--root=" + root_,
              "hold", "site"});
    ASSERT_FINE(manager().hold({"enroot"}, true, never_));
    EXPECT_EQ(manager().held().value(), (std::vector<std::string>{"enroot", "site"}));
    ASSERT_FINE(manager().hold({"enroot"}, true, never_));
    const Result<void> removed = manager().remove({"enroot"}, {}, never_);
    ASSERT_REFUSED(removed, Code::conflict);
    EXPECT_TRUE(mentions(removed.error().message, "enroot is held"));
    ASSERT_FINE(manager().hold({"enroot", "nosuch"}, false, never_));
    EXPECT_EQ(manager().held().value(), (std::vector<std::string>{"site"}));
    ASSERT_REFUSED(manager().hold({"nosuch"}, true, never_), Code::missing);
}

}  // namespace
}  // namespace llmgw::packages
