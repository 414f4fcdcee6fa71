#include "service/releases.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "core/limits.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"
#include "unit/temporary.hpp"

namespace llmgw::service {
namespace {

constexpr const char* ours = LLMGW_SOURCE_DIR "/conf/releases.json";

TEST(Releases, of_this_version_want_these) {
    const Result<WantedVersions> wanted = read_wanted_versions(ours);
    ASSERT_TRUE(wanted.ok()) << wanted.error().message;
    EXPECT_EQ(wanted.value(), (WantedVersions{"0.24.0", "4.2.1"}));
}

class BrokenReleases : public testing::Test {
  protected:
    std::string refusal(const std::string& text) const {
        std::ofstream(path_) << text;
        const Result<WantedVersions> wanted = read_wanted_versions(path_);
        if (wanted.ok()) {
            ADD_FAILURE() << "takes " << text;
            return "";
        }
        EXPECT_EQ(wanted.error().message.find(path_ + ": "), 0U) << wanted.error().message;
        return wanted.error().message.substr(path_.size() + 2);
    }
    test::TemporaryDirectory directory_;
    std::string path_ = directory_.file("releases.json");
};

TEST_F(BrokenReleases, are_refused_with_the_file_s_name) {
    EXPECT_EQ(read_wanted_versions(path_).error().code, Code::missing);
    EXPECT_EQ(refusal("{}"), "has no version of pyxis");
    EXPECT_EQ(refusal(R"({"pyxis":{"version":"1"}})"), "has no version of enroot");
    EXPECT_EQ(refusal(R"({"enroot":{"version":"1"}})"), "has no version of pyxis");
    EXPECT_EQ(refusal(R"({"pyxis":{"version":""},"enroot":{"version":"1"}})"), "has no version of pyxis");
    EXPECT_EQ(refusal(R"({"pyxis":{"version":1},"enroot":{"version":"1"}})"), "has no version of pyxis");
    EXPECT_EQ(refusal(R"({"pyxis":"0.24.0","enroot":"4.2.1"})"), "has no version of pyxis");
    EXPECT_EQ(refusal("[]"), "has no version of pyxis");
    EXPECT_NE(refusal(""), "");
    EXPECT_NE(refusal("{"), "");
    EXPECT_NE(refusal(R"({"pyxis":{"version":"1"},"enroot":{"version":"1"}} x)"), "");
    EXPECT_NE(refusal(R"({"pyxis":{"version":"1","version":"2"},"enroot":{"version":"1"}})"), "");
    EXPECT_NE(refusal(R"({"pyxis":{"version":"1\n"},"enroot":{"version":"1"}})"), "");
}

struct Pin {
    const char* family;
    const char* architecture;
    const char* file;
    const char* digest;
};

// Written down a second time, so that a slip in the file that everything is checked against shows.
constexpr Pin enroot_pins[] = {
    {"deb", "amd64", "enroot_4.2.1-1_amd64.deb",
     "5955c51e88df0c5ed538d87abb5264609d4bad55fa8570745ed5d4ec66c8ab91"},
    {"deb", "amd64", "enroot+caps_4.2.1-1_amd64.deb",
     "ca22652dcbdd3ebb6e2c68df781ef4301647c79dd7a41ed62899c2fd0f692750"},
    {"deb", "arm64", "enroot_4.2.1-1_arm64.deb",
     "267018b335815a6b32a562915de1f3fad579f7c9d6748e98c62e7369b40be421"},
    {"deb", "arm64", "enroot+caps_4.2.1-1_arm64.deb",
     "12b811d0c95e879e42e4ac762fa85869a5f3cc9dbb06ab483c01e12e911284a1"},
    {"rpm", "amd64", "enroot-4.2.1-1.el8.x86_64.rpm",
     "6749195e37e3a98071ec349884900b12de7677332599da0fd5d8afb5bed9233c"},
    {"rpm", "amd64", "enroot+caps-4.2.1-1.el8.x86_64.rpm",
     "56321a03a1f6c4e4273bf664917eb9a174714499d5506c498db4b64275a2b9c0"},
    {"rpm", "arm64", "enroot-4.2.1-1.el8.aarch64.rpm",
     "6b6bc2526f0f0daa7d3cebe6dd33c0468b209e81eebd92def5777520042ec6fe"},
    {"rpm", "arm64", "enroot+caps-4.2.1-1.el8.aarch64.rpm",
     "38cf9ae9602a9a8c3e94637bc1b34e736e8176bda656ba71d371f5e1d1e1eed9"},
};

Value releases() {
    const Result<std::string> text = read_file(ours, limits::settings_bytes);
    EXPECT_TRUE(text.ok());
    const Result<Value> value = json::parse(text ? text.value() : "");
    EXPECT_TRUE(value.ok());
    return value ? value.value() : Value{};
}

Value at(const Value& value, const std::vector<std::string>& path) {
    const Value* found = &value;
    for (const std::string& key : path) {
        found = found->find(key);
        if (found == nullptr) {
            ADD_FAILURE() << "no " << key;
            return {};
        }
    }
    return *found;
}

TEST(Pins, of_enroot_are_these_and_no_others) {
    const Value all = releases();
    EXPECT_EQ(at(all, {"enroot", "origin"}),
              Value("https://github.com/NVIDIA/enroot/releases/download/v4.2.1/"));
    std::size_t files = 0;
    const Value families = at(all, {"enroot", "files"});
    for (const auto& [family, architectures] : *families.object()) {
        for (const auto& [architecture, list] : *architectures.object()) files += list.array()->size();
    }
    EXPECT_EQ(files, std::size(enroot_pins));
    for (const Pin& pin : enroot_pins) {
        Value expected(Value::Object{});
        expected.set("name", pin.file).set("sha256", pin.digest);
        const Value list = at(all, {"enroot", "files", pin.family, pin.architecture});
        ASSERT_NE(list.array(), nullptr);
        EXPECT_EQ(std::count(list.array()->begin(), list.array()->end(), expected), 1) << pin.file;
    }
}

TEST(Pins, of_pyxis_and_of_nvidia_s_key) {
    const Value all = releases();
    EXPECT_EQ(at(all, {"pyxis", "source", "url"}),
              Value("https://github.com/NVIDIA/pyxis/archive/refs/tags/v0.24.0.tar.gz"));
    EXPECT_EQ(at(all, {"pyxis", "source", "sha256"}),
              Value("9c4cdb79a67301d8ea05951aa4d2c205f40cf6145e338214b0191add8b36d6c4"));
    const Value nvidia = at(all, {"nvidia-container-library"});
    EXPECT_EQ(at(nvidia, {"package"}), Value("libnvidia-container-tools"));
    EXPECT_EQ(at(nvidia, {"key", "url"}), Value("https://nvidia.github.io/libnvidia-container/gpgkey"));
    EXPECT_EQ(at(nvidia, {"key", "sha256"}),
              Value("c880576d6cf75a48e5027a871bac70fd0421ab07d2b55f30877b21f1c87959c9"));
    EXPECT_EQ(at(nvidia, {"deb", "uri"}),
              Value("https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)"));
    EXPECT_EQ(at(nvidia, {"deb", "suite"}), Value("/"));
    EXPECT_EQ(at(nvidia, {"rpm", "baseurl"}),
              Value("https://nvidia.github.io/libnvidia-container/stable/rpm/$basearch"));
}

}  // namespace
}  // namespace llmgw::service
