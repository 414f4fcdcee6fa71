// The whole plan on a machine of the rpm family: what is pinned is fetched, checked, installed in one
// transaction by the real dnf, and taken back. The rest of the machine is a directory.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "built_paths.hpp"
#include "crypto/digest.hpp"
#include "service/setup.hpp"
#include "unit/packages/rpm_root.hpp"
#include "unit/service/machine.hpp"

namespace llmgw::packages {
namespace {

class Steps final : public service::SetupObserver {
  public:
    void on_step(int, int, const Step& step) override { names.push_back(step.name); }
    void on_bytes(std::uint64_t, std::uint64_t) override {}
    void on_note(const std::string&) override {}
    std::vector<std::string> names;
};

class SetupWithRpm : public RpmRoot {
  protected:
    void SetUp() override {
        RpmRoot::SetUp();
        if (IsSkipped()) return;
        if (!test::Machine::has_slurm()) GTEST_SKIP() << "no slurmd here";
        // Programs are asked as nobody.
        ASSERT_EQ(::chmod(place_.path().c_str(), 0755), 0);
        offer({rpm({"parallel"})});
        pin({"enroot", "4.2.1", "parallel", "", "1.el8", true});
        pin({"enroot+caps", "4.2.1", "enroot = 4.2.1-1.el8", "", "1.el8"});
        releases_.enroot.version = "4.2.1";
        releases_.enroot.packages[platform_] = enroot_;
        write(place_.file("mirror/pyxis-0.24.0.tar.gz"), "not built here");
        releases_.pyxis.version = "0.24.0";
        releases_.pyxis.source = pinned(place_.file("mirror/pyxis-0.24.0.tar.gz"));
        // Where the plan ends here: the steps behind it are the same for every family, and the machine's own.
        write(root_ + "/etc/enroot/enroot.conf", "ENROOT_DATA_PATH /proc/none/user-$(id -u)\n");
        for (const char* directory : {"run", "state"}) {
            std::filesystem::create_directory(place_.file(directory));
        }
        settings_.enabled = settings_.containers = true;
        settings_.controller = "n1";
        settings_.slurm_nodes = {"n1"};
    }

    static PinnedFile pinned(const std::string& path) {
        return {std::filesystem::path(path).filename(), "https://nowhere.invalid/" + path,
                crypto::sha256_hex(read(path)).value()};
    }
    void pin(const Rpm& wanted) {
        const std::string built = rpm(wanted);
        std::filesystem::create_directories(place_.file("mirror"));
        const std::string there =
            place_.file("mirror/" + std::string(std::filesystem::path(built).filename()));
        std::filesystem::copy_file(built, there);
        enroot_.push_back(pinned(there));
    }

    service::Setup setup() {
        service::SetupOptions options;
        options.paths.machine = "n1";
        options.paths.plugstack = place_.file("plugstack.conf");
        options.paths.slurm_conf_dir = place_.file("slurm");
        options.paths.enroot = root_ + "/usr/bin/enroot";
        options.paths.enroot_conf_dir = root_ + "/etc/enroot";
        options.paths.slurm_library = "/nonexistent/libslurmfull.so";
        options.paths.inspector = LLMGW_HELPER_PROGRAM;
        options.paths.pyxis = place_.file("spank_pyxis.so");
        options.paths.proof = place_.file("proven");
        options.run_dir = place_.file("run");
        options.state_dir = place_.file("state");
        options.fetch.cache = place_.file("cache");
        options.fetch.mirror = place_.file("mirror");
        options.packages = {root_, std::chrono::seconds(60)};
        options.platform = platform_;
        return {options, releases_, runner_};
    }

    const Platform platform_{Family::rpm, platform_of_this_machine().value().architecture};
    std::vector<PinnedFile> enroot_;
    Releases releases_;
    ResolvedSettings settings_;
    Steps steps_;
};

using Versions = std::map<std::string, std::string>;

TEST_F(SetupWithRpm, FetchesInstallsAndTakesBackWhatIsPinned) {
    const std::string before = tree();
    const Result<Plan> plan = setup().plan(settings_, true, never_);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    ASSERT_NE(next_step(plan.value()), nullptr);
    EXPECT_EQ(next_step(plan.value())->finding,
              "not here yet: " + enroot_[0].name + ", " + enroot_[1].name + ", pyxis-0.24.0.tar.gz");

    const Result<void> applied = setup().apply(settings_, steps_, never_);
    ASSERT_FALSE(applied.ok());
    EXPECT_TRUE(mentions(applied.error().message, "/proc/none")) << applied.error().message;
    EXPECT_EQ(steps_.names, (std::vector<std::string>{"download", "enroot-packages"}));
    EXPECT_EQ(versions(),
              (Versions{{"enroot", "4.2.1-1.el8"}, {"enroot+caps", "4.2.1-1.el8"}, {"parallel", "1.0-1"}}));

    const Result<std::vector<std::string>> left = setup().uninstall(steps_, never_);
    ASSERT_TRUE(left.ok()) << left.error().message;
    EXPECT_EQ(left.value(), std::vector<std::string>{});
    EXPECT_EQ(versions(), Versions{});
    EXPECT_EQ(tree(), before);
    EXPECT_FALSE(std::filesystem::exists(place_.file("cache")));
}

TEST_F(SetupWithRpm, InstallsNothingThatIsNotExactlyWhatWasPinned) {
    const std::string before = tree();
    std::string changed = read(place_.file("mirror/" + enroot_[0].name));
    changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
    write(place_.file("mirror/" + enroot_[0].name), changed);
    const Result<void> applied = setup().apply(settings_, steps_, never_);
    ASSERT_FALSE(applied.ok());
    EXPECT_TRUE(mentions(applied.error().message, enroot_[0].sha256 + " was expected"))
        << applied.error().message;
    EXPECT_EQ(versions(), Versions{});
    EXPECT_EQ(tree(), before);
}

TEST_F(SetupWithRpm, KeepsWhatTheSiteHadInstalled) {
    ASSERT_FINE(manager().install({{}, {"parallel"}}, {}, never_));
    ASSERT_FALSE(setup().apply(settings_, steps_, never_).ok());
    EXPECT_EQ(versions().size(), 3U);
    ASSERT_TRUE(setup().uninstall(steps_, never_).ok());
    EXPECT_EQ(versions(), (Versions{{"parallel", "1.0-1"}}));
}

}  // namespace
}  // namespace llmgw::packages
