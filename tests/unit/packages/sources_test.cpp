#include "packages/sources.hpp"

#include "unit/packages/machine.hpp"

namespace llmgw::packages {
namespace {

using Sources = std::vector<Source>;

TEST(AptList, HasASourceInEachLineThatIsInForce) {
    EXPECT_EQ(parse_apt_list("# deb http://off.org/debian stable main\n"
                             "deb http://a.org/debian bookworm main # why\n"
                             "deb-src http://a.org/debian bookworm main\n"
                             "  deb\t[ arch=amd64 signed-by=/k.asc ]   http://b.org/$(ARCH) /\r\n"
                             "deb [signed-by=/k]http://c.org ./\n"
                             "deb http://nosuite.org\ndeb [open\ndebug x y\n\n"),
              (Sources{{"http://a.org/debian", "bookworm", ""},
                       {"http://b.org/$(ARCH)", "/", ""},
                       {"http://c.org", "./", ""}}));
}

TEST(AptSources, HaveStanzasWithLinesThatGoOn) {
    EXPECT_EQ(parse_apt_sources(
                  "# comment\nTypes: deb deb-src\nURIs: http://a.org\n  http://b.org\nSuites: stable\n"
                  "# in it\n testing\nComponents: main\nSigned-By:\n -----BEGIN\n .\n x\n\n"
                  "Enabled: no\nTypes: deb\nURIs: http://off.org\nSuites: /\n\n"
                  "Types: deb-src\nURIs: http://src.org\nSuites: /\n \n"
                  "types: deb\nuris: http://c.org\nsuites: /\nenabled: yes"),
              (Sources{{"http://a.org", "stable", ""},
                       {"http://a.org", "testing", ""},
                       {"http://b.org", "stable", ""},
                       {"http://b.org", "testing", ""},
                       {"http://c.org", "/", ""}}));
    EXPECT_TRUE(parse_apt_sources("").empty());
    EXPECT_TRUE(parse_apt_sources("no colon\n x\n").empty());
}

TEST(YumRepositories, HaveSectionsThatAreEnabledUnlessTheySayNot) {
    EXPECT_EQ(
        parse_yum_repository("[one]\nname=x\nbaseurl = https://a.org/$basearch  https://b.org\n"
                             "[two]\nbaseurl=https://off.org\nenabled=0\n; comment\n#baseurl=https://no.org\n"
                             "[three]\nenabled=1\nbaseurl=https://c.org/"),
        (Sources{{"https://a.org/$basearch", "one", ""},
                 {"https://b.org", "one", ""},
                 {"https://c.org/", "three", ""}}));
}

TEST(PlainUri, IsTheSameForTwoWaysToWriteOneRepository) {
    const std::string plain = "https://nvidia.github.io/libnvidia-container/stable/deb/amd64";
    for (const char* way : {"https://nvidia.github.io/libnvidia-container/stable/deb/$(ARCH)",
                            "https://nvidia.github.io/libnvidia-container/stable/deb/amd64/",
                            "HTTPS://NVIDIA.github.io/libnvidia-container/stable/deb/amd64//"}) {
        EXPECT_EQ(plain_uri(way, Architecture::amd64), plain);
    }
    EXPECT_EQ(plain_uri("https://x.org/$basearch", Architecture::arm64), "https://x.org/aarch64");
    EXPECT_EQ(plain_uri("https://x.org/${basearch}/", Architecture::amd64), "https://x.org/x86_64");
    EXPECT_EQ(plain_uri("https://X.org/Path", Architecture::amd64), "https://x.org/Path");
    EXPECT_EQ(plain_uri("https://X.org", Architecture::amd64), "https://x.org");
    EXPECT_EQ(plain_uri("", Architecture::amd64), "");
}

TEST(ReadSources, FindsTheFilesThatAptAndDnfRead) {
    const test::TemporaryDirectory root;
    write(root.file("etc/apt/sources.list"), "deb http://a.org s main\n");
    write(root.file("etc/apt/sources.list.d/b.list"), "deb http://b.org s main\n");
    write(root.file("etc/apt/sources.list.d/c.sources"), "Types: deb\nURIs: http://c.org\nSuites: s\n");
    write(root.file("etc/apt/sources.list.d/d.list.disabled"), "deb http://d.org s main\n");
    write(root.file("etc/yum.repos.d/e.repo"), "[e]\nbaseurl=http://e.org\n");
    EXPECT_EQ(read_sources(Family::deb, root.path()),
              (Sources{{"http://a.org", "s", root.file("etc/apt/sources.list")},
                       {"http://b.org", "s", root.file("etc/apt/sources.list.d/b.list")},
                       {"http://c.org", "s", root.file("etc/apt/sources.list.d/c.sources")}}));
    EXPECT_EQ(read_sources(Family::rpm, root.path()),
              (Sources{{"http://e.org", "e", root.file("etc/yum.repos.d/e.repo")}}));
    EXPECT_TRUE(read_sources(Family::deb, root.file("none")).empty());
}

}  // namespace
}  // namespace llmgw::packages
