#include "json/releases_json.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "fuzz/releases_fuzz.hpp"
#include "fuzz/replay.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "json/settings_json.hpp"

namespace llmgw::json {
namespace {

std::string file(const std::string& path) {
    std::ifstream stream(LLMGW_SOURCE_DIR "/" + path);
    EXPECT_TRUE(stream.is_open()) << path;
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> errors_of(const std::string& text) {
    std::vector<std::string> lines;
    for (const SettingError& error : read_releases_text(text).errors) lines.push_back(text_of(error));
    return lines;
}

// The installed document with one text in it replaced.
std::vector<std::string> errors_with(const std::string& from, const std::string& to) {
    std::string text = file("conf/releases.json");
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at == std::string::npos) return {};
    return errors_of(text.replace(at, from.size(), to));
}

using Lines = std::vector<std::string>;

TEST(ReleasesDocument, MustBeADocument) {
    EXPECT_EQ(errors_of(""), Lines{"empty: not even {} is in it"});
    EXPECT_EQ(errors_of("[]"), Lines{"the document is a list: it must be an object with enroot, pyxis, "
                                     "nvidia-container-library"});
    EXPECT_EQ(errors_of("{").size(), 1U);
    EXPECT_EQ(errors_with("\"version\": \"4.2.1\",", R"("version": "4.2.1", "version": "4.2.1",)").size(),
              1U);
    EXPECT_EQ(errors_of(file("conf/releases.json") + "x").size(), 1U);
}

TEST(ReleasesDocument, SaysEverythingThatIsMissingAtOnce) {
    EXPECT_EQ(errors_of("{}"),
              (Lines{"enroot: missing", "pyxis: missing", "nvidia-container-library: missing"}));
    EXPECT_EQ(
        errors_of(R"({"enroot": {"files": {}}, "pyxis": {"source": {}}, "nvidia-container-library": {}})"),
        (Lines{"enroot.version: missing", "enroot.origin: missing", "pyxis.source.name: missing",
               "pyxis.source.url: missing", "pyxis.source.sha256: missing", "pyxis.version: missing",
               "nvidia-container-library.package: missing", "nvidia-container-library.key: missing",
               "nvidia-container-library.deb: missing", "nvidia-container-library.rpm: missing",
               "enroot.files: empty: no machine could get anything"}));
}

TEST(ReleasesDocument, SaysEveryWrongTypeAndUnknownKeyOnce) {
    EXPECT_EQ(errors_of(R"({"enroot": 5, "pyxis": {"version": 1, "source": [], "more": 1}, "x": {},
                            "nvidia-container-library": null})"),
              (Lines{"enroot: the number 5 is of the wrong type: use an object with version, origin, files",
                     "pyxis.version: the number 1 is of the wrong type: use text in quotes",
                     "pyxis.source: a list is of the wrong type: use an object with name, url, sha256",
                     "pyxis.more: unknown key: known are version, source",
                     "x: unknown key: known are enroot, pyxis, nvidia-container-library",
                     "nvidia-container-library: null is of the wrong type: use an object with package, "
                     "version, key, deb, rpm"}));
    EXPECT_EQ(errors_with("\"arm64\": [", "\"riscv64\": ["),
              Lines{"enroot.files.deb.riscv64: unknown key: known are amd64, arm64"});
    EXPECT_EQ(errors_with("\"deb\": {\n", "\"apk\": {\n"),
              Lines{"enroot.files.apk: unknown key: known are deb, rpm"});
}

TEST(ReleasesRules, Versions) {
    EXPECT_EQ(
        errors_with("\"0.24.0\"", "\"0.24 0\""),
        Lines{R"(pyxis.version: "0.24 0" is no version: use letters, digits and . + ~ -, such as 4.2.1)"});
    EXPECT_EQ(errors_with("\"0.24.0\"", "\"\"").size(), 1U);
    EXPECT_EQ(errors_with("\"0.24.0\"", "\"-1\"").size(), 1U);
    EXPECT_EQ(errors_with("\"package\": ", R"("version": "1;2", "package": )").size(), 1U);
    EXPECT_EQ(errors_with("\"package\": ", R"("version": "1:1.18.0~rc.1-1", "package": )"), Lines{});
}

TEST(ReleasesRules, Digests) {
    const std::string digest = "5955c51e88df0c5ed538d87abb5264609d4bad55fa8570745ed5d4ec66c8ab91";
    EXPECT_EQ(errors_with(digest, digest.substr(1)),
              Lines{"enroot.files.deb.amd64[0].sha256: \"" + digest.substr(1) +
                    "\" is no SHA-256: use its 64 digits, in lower case"});
    EXPECT_EQ(errors_with(digest, "5955C51E" + digest.substr(8)).size(), 1U);
    EXPECT_EQ(errors_with("9c4cdb79", "9c4cdb7g").front().substr(0, 21), "pyxis.source.sha256: ");
    EXPECT_EQ(errors_with("C95B321B", "c95b321b").size(), 1U);
    EXPECT_EQ(errors_with("C95B321B", "").front().substr(0, 42),
              "nvidia-container-library.key.fingerprint: ");
}

TEST(ReleasesRules, NamesOfFiles) {
    EXPECT_EQ(errors_with("\"pyxis-0.24.0.tar.gz\"", "\"../pyxis\"").size(), 1U);
    EXPECT_EQ(errors_with("\"pyxis-0.24.0.tar.gz\"", "\"libnvidia-container-gpgkey\""),
              Lines{"nvidia-container-library.key.name: \"libnvidia-container-gpgkey\" is already "
                    "pyxis.source.name: files share one directory"});
}

TEST(ReleasesRules, PackagesAreWhatTheirPlaceSays) {
    EXPECT_EQ(errors_with("enroot_4.2.1-1_arm64.deb", "enroot_4.2.1-2_amd64.deb"),
              Lines{"enroot.files.deb.arm64[0].name: \"enroot_4.2.1-2_amd64.deb\" is for amd64, and stands "
                    "under arm64"});
    EXPECT_EQ(errors_with("enroot+caps_4.2.1-1_amd64.deb", "enroot-caps_4.2.1-1_amd64.deb"),
              Lines{"enroot.files.deb.amd64[1].name: \"enroot-caps_4.2.1-1_amd64.deb\" is a package of "
                    "enroot-caps, and enroot+caps is wanted here"});
    EXPECT_EQ(errors_with("enroot_4.2.1-1_amd64.deb", "enroot_4.2.10-1_amd64.deb"),
              Lines{"enroot.files.deb.amd64[0].name: \"enroot_4.2.10-1_amd64.deb\" is not of enroot's "
                    "version 4.2.1"});
    EXPECT_EQ(errors_with("enroot_4.2.1-1_amd64.deb", "enroot.deb"),
              Lines{"enroot.files.deb.amd64[0].name: \"enroot.deb\" is no name of a deb package, such as "
                    "enroot_4.2.1-1_amd64.deb"});
    EXPECT_EQ(errors_with("enroot-4.2.1-1.el8.x86_64.rpm", "enroot-4.2.1-1.el8.aarch64.rpm").size(), 2U);
    EXPECT_EQ(errors_with("enroot-4.2.1-1.el8.x86_64.rpm", "enroot.x86_64.rpm").size(), 1U);
    EXPECT_EQ(errors_with("enroot-4.2.1-1.el8.x86_64.rpm", "enroot-4.2.1-1.el9.noarch.rpm"), Lines{});
    EXPECT_EQ(errors_with("enroot_4.2.1-1_amd64.deb", "enroot_4.2.1+site1-1_all.deb"), Lines{});
}

TEST(ReleasesRules, EnrootIsAlwaysBothPackages) {
    EXPECT_EQ(
        errors_with(R"("arm64": [
          {"name": "enroot_4.2.1-1_arm64.deb", "sha256": "267018b335815a6b32a562915de1f3fad579f7c9d6748e98c62e7369b40be421"},)",
                    "\"arm64\": ["),
        (Lines{"enroot.files.deb.arm64: 1 packages: two are needed, enroot and enroot+caps, in that order",
               "enroot.files.deb.arm64[0].name: \"enroot+caps_4.2.1-1_arm64.deb\" is a package of "
               "enroot+caps, and enroot is wanted here"}));
}

TEST(ReleasesRules, OriginsAreVerifiedOrOnThisMachine) {
    EXPECT_EQ(errors_with("https://github.com/NVIDIA/enroot/", "http://mirror.example/"),
              Lines{"enroot.origin: plain http is only used towards loopback, and \"mirror.example\" is "
                    "elsewhere: use an https:// URL"});
    EXPECT_EQ(errors_with("v4.2.1/\"", "v4.2.1\"").size(), 1U);
    EXPECT_EQ(errors_with("https://nvidia.github.io/libnvidia-container/stable/deb/", "ftp://h/").size(), 1U);
    EXPECT_EQ(
        errors_with("https://nvidia.github.io/libnvidia-container/stable/rpm/", "https://u:p@h/").size(), 1U);
    EXPECT_EQ(errors_with("https://nvidia.github.io/libnvidia-container/gpgkey", "http://[::1]:8000/key"),
              Lines{});
    EXPECT_EQ(errors_with("\"suite\": \"/\"", R"("suite": "/ [trusted=yes]")").size(), 1U);
    EXPECT_EQ(errors_with("libnvidia-container-tools", "-o=x").size(), 1U);
}

TEST(ReleasesDocument, NeedNotHaveEveryPlatform) {
    const ReadReleases read = read_releases_text(file("tests/fuzz/corpus/releases/small.json"));
    ASSERT_TRUE(read.ok()) << text_of(read.errors.front());
    EXPECT_EQ(read.releases.enroot.packages.size(), 1U);
    EXPECT_EQ(read.releases.enroot.packages.begin()->second.at(1).url,
              "http://127.0.0.1:1/enroot%2Bcaps_1_all.deb");
}

TEST(ReleasesCorpus, EveryDocumentKeepsThePromises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/releases", fuzz::releases), 15U);
    fuzz::releases(file("conf/releases.json"));
}

}  // namespace
}  // namespace llmgw::json
