// One version for all packages of NVIDIA's container library, whatever the repositories have.
#include <set>

#include "service/nvidia_repository.hpp"
#include "unit/packages/machine.hpp"

namespace llmgw::service {
namespace {

using packages::Installed;
using packages::Offer;
using packages::Preview;
using packages::Progress;
using packages::Wanted;
using Words = std::vector<std::string>;

// Remembers what is offered, installed and held.
class FakeManager : public packages::Manager {
  public:
    [[nodiscard]] Family family() const override { return Family::deb; }
    Result<Installed> installed() override { return there; }
    Result<Preview> preview(const Wanted&, const std::stop_token&) override { return Preview{}; }
    Result<std::vector<Offer>> offers(const std::string& name, const std::stop_token&) override {
        if (stale) return std::vector<Offer>{};
        const auto found = repository.find(name);
        return found == repository.end() ? std::vector<Offer>{} : found->second;
    }
    Result<void> refresh(const Progress&, const std::stop_token&) override {
        stale = false;
        return {};
    }
    Result<void> read_source(const std::string&, const std::string&, const Progress&,
                             const std::stop_token&) override {
        return {};
    }
    Result<void> repair(const Progress&, const std::stop_token&) override { return {}; }
    Result<void> install(const Wanted& wanted, const Progress&, const std::stop_token&) override {
        for (const std::string& pin : wanted.names) {
            const std::string name = pin.substr(0, pin.find('='));
            if (holds.contains(name)) return Error{Code::conflict, name + " is held"};
        }
        if (fails) return Error{Code::unavailable, "no network"};
        for (const std::string& pin : wanted.names) {
            there.versions[pin.substr(0, pin.find('='))] = pin.substr(pin.find('=') + 1);
        }
        ++installs;
        return {};
    }
    Result<void> remove(const Words&, const Progress&, const std::stop_token&) override { return {}; }
    Result<void> hold(const Words& names, bool held, const std::stop_token&) override {
        for (const std::string& name : names) {
            if (held)
                holds.insert(name);
            else
                holds.erase(name);
        }
        return {};
    }
    Result<Words> held() override { return Words(holds.begin(), holds.end()); }

    std::map<std::string, std::vector<Offer>> repository;
    Installed there;
    std::set<std::string> holds;
    bool stale = false, fails = false;
    int installs = 0;
};

class NvidiaPackages : public ::testing::Test {
  protected:
    NvidiaPackages() {
        release_.package = "libnvidia-container-tools";
        const std::string source = "libnvidia-container";
        const auto needs = [](const char* name) { return Words{name, "libc6"}; };
        manager_.repository["libnvidia-container-tools"] = {{"1.2-1", source, needs("libnvidia-container1")},
                                                            {"1.1-1", source, needs("libnvidia-container1")}};
        manager_.repository["libnvidia-container1"] = {
            {"1.3-1", source, {}}, {"1.2-1", source, {"libnvidia-container-common"}}, {"1.1-1", source, {}}};
        // It needs what needs it.
        manager_.repository["libnvidia-container-common"] = {
            {"1.2-1", source, {"libnvidia-container-tools"}}};
        manager_.repository["libc6"] = {{"2.36-9", "glibc", {"libgcc-s1"}}};
    }
    Words chosen() {
        const Result<Wanted> wanted = nvidia_packages(release_, manager_, {});
        return wanted ? wanted.value().names : Words{wanted.error().message};
    }

    FakeManager manager_;
    Releases::NvidiaRepository release_;
};

const Words at_1_1{"libnvidia-container-tools=1.1-1", "libnvidia-container1=1.1-1"};
const Words at_1_2{"libnvidia-container-common=1.2-1", "libnvidia-container-tools=1.2-1",
                   "libnvidia-container1=1.2-1"};

TEST_F(NvidiaPackages, AreTheNewestThatAllOfThemHave) {
    EXPECT_EQ(chosen(), at_1_2);
    manager_.repository["libnvidia-container-common"].clear();
    EXPECT_EQ(chosen(), (Words{"libnvidia-container-tools=1.2-1", "libnvidia-container1=1.2-1"}));
    std::erase_if(manager_.repository["libnvidia-container1"],
                  [](const Offer& o) { return o.version == "1.2-1"; });
    EXPECT_EQ(chosen(), at_1_1);
}

TEST_F(NvidiaPackages, AreThePinnedOnesOrNone) {
    release_.version = "1.1-1";
    EXPECT_EQ(chosen(), at_1_1);
    release_.version = "1.0-1";
    EXPECT_EQ(chosen(),
              Words{"the package sources don't have all of libnvidia-container-tools 1.0-1 at one version; "
                    "they have it at 1.2-1, 1.1-1"});
    manager_.repository.clear();
    EXPECT_EQ(chosen(), Words{"no package source of this machine has libnvidia-container-tools 1.0-1"});
}

TEST_F(NvidiaPackages, StayAsTheyAreIfTheyAreOneSet) {
    manager_.there.versions = {{"libnvidia-container-tools", "1.1-1"}, {"libnvidia-container1", "1.1-1"}};
    EXPECT_EQ(chosen(), at_1_1);
    manager_.there.versions["libnvidia-container1"] = "1.3-1";  // drifted
    EXPECT_EQ(chosen(), at_1_2);
    release_.version = "1.2-1";
    manager_.there.versions["libnvidia-container1"] = "1.1-1";
    EXPECT_EQ(chosen(), at_1_2);
}

TEST_F(NvidiaPackages, AreLookedForWithAFreshIndex) {
    manager_.stale = true;
    EXPECT_EQ(chosen(), at_1_2);
}

TEST_F(NvidiaPackages, AreInstalledOnceAndHeld) {
    const Wanted wanted{{}, at_1_2};
    ASSERT_FINE(install_nvidia_packages(wanted, {}, manager_, {}, {}));
    EXPECT_EQ(manager_.holds.size(), 3U);
    manager_.holds.erase("libnvidia-container1");
    ASSERT_FINE(install_nvidia_packages(wanted, {}, manager_, {}, {}));
    EXPECT_EQ(manager_.holds.size(), 3U);
    EXPECT_EQ(manager_.installs, 1);
}

TEST_F(NvidiaPackages, LetGoOfOurHoldsAloneAndTakeThemBackOnAnError) {
    const Words ours{"libnvidia-container-tools", "libnvidia-container1"};
    manager_.there.versions = {{ours[0], "1.1-1"}, {ours[1], "1.1-1"}};
    manager_.holds = {ours[0], ours[1]};
    const Wanted wanted{{}, at_1_2};
    ASSERT_REFUSED(install_nvidia_packages(wanted, {}, manager_, {}, {}), Code::conflict);
    ASSERT_REFUSED(install_nvidia_packages(wanted, {ours[0]}, manager_, {}, {}), Code::conflict);
    manager_.fails = true;
    ASSERT_REFUSED(install_nvidia_packages(wanted, ours, manager_, {}, {}), Code::unavailable);
    EXPECT_EQ(manager_.holds, (std::set<std::string>{ours[0], ours[1]}));
    manager_.fails = false;
    ASSERT_FINE(install_nvidia_packages(wanted, ours, manager_, {}, {}));
    EXPECT_EQ(manager_.holds.size(), 3U);
}

}  // namespace
}  // namespace llmgw::service
