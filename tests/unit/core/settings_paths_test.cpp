#include "core/settings_paths.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw {
namespace {

std::string components(std::size_t bytes) {
    return '/' + std::string(bytes - 1, 'x');
}

TEST(SharedPath, RefusesDirectoriesOfTheSystem) {
    for (const char* path : {"/", "/etc", "/usr", "/var", "/var/lib", "/home", "/root", "/boot", "/opt",
                             "/srv", "/tmp", "/proc", "/sys", "/dev", "/run"}) {
        const auto problem = shared_path_problem(path);
        ASSERT_TRUE(problem) << path;
        EXPECT_NE(problem->find("directory of the system"), std::string::npos) << *problem;
    }
}

TEST(SharedPath, RefusesWhatIsNotPlain) {
    for (const char* path :
         {"shared", "./shared", "//",    "//shared", "/shared/", "/shared//x", "/home/", "/etc/",
          "/./x",   "/../x",    "/x/..", "/x/.",     "/.x",      "/x/.hidden", "/a b",   "/a\nb",
          "/a:b",   "/ä",       "/$x",   "/x;y",     "/x\\y",    "/x*"}) {
        EXPECT_TRUE(shared_path_problem(path)) << path;
    }
}

TEST(SharedPath, AcceptsPlainOnes) {
    for (const char* path : {"/shared", "/a", "/home/shared", "/var/lib/x", "/srv/llmgw", "/a.b/c_d/e-f",
                             "/x..", "/mnt/x/y/z", "/etcetera", "/-x"}) {
        EXPECT_FALSE(shared_path_problem(path)) << path;
    }
}

TEST(SharedPath, HasALimit) {
    EXPECT_TRUE(shared_path_problem(components(limits::shared_path_bytes + 1)));
    EXPECT_FALSE(shared_path_problem(components(limits::shared_path_bytes)));
}

TEST(NfsSource, RefusesWhatIsNoHostAndPath) {
    for (const char* text :
         {"nas",      "nas:",    "nas:export", "/export",  ":/export",    "-nas:/x",  "_nas:/x",
          "[::1]:/x", ".nas:/x", "na s:/x",    "nas/x:/y", "user@nas:/x", "nas:/a b", "nas:/a:b",
          "nas:/a\n", "nas:/ä",  "nas:/a,rw",  "nas%1:/x", "näs:/x",      "a:/b:/c"}) {
        EXPECT_TRUE(nfs_source_problem(text)) << text;
    }
}

TEST(NfsSource, AcceptsNamesAndAddresses) {
    for (const char* text : {"nas:/export", "nas:/", "10.0.0.1:/x", "nas-1.example_net:/a/b.c-d_e",
                             "2001:db8::1:/x", "n[2001:db8::1]:/x", "nas:/a/../b", "nas:/a/"}) {
        EXPECT_FALSE(nfs_source_problem(text)) << text;
    }
}

TEST(NfsSource, HasLimits) {
    EXPECT_TRUE(nfs_source_problem(std::string(limits::nfs_host_bytes + 1, 'h') + ":/x"));
    EXPECT_FALSE(nfs_source_problem(std::string(limits::nfs_host_bytes, 'h') + ":/x"));
    EXPECT_TRUE(nfs_source_problem("nas:" + components(limits::shared_path_bytes + 1)));
    EXPECT_FALSE(nfs_source_problem("nas:" + components(limits::shared_path_bytes)));
}

TEST(NfsSource, IsSplitAtTheLastColon) {
    EXPECT_EQ(split_nfs_source("nas:/a/b"), (NfsSource{"nas", "/a/b"}));
    EXPECT_EQ(split_nfs_source("2001:db8::1:/x"), (NfsSource{"2001:db8::1", "/x"}));
    EXPECT_EQ(split_nfs_source("nas"), std::nullopt);
}

TEST(NfsSource, PutsAnIpv6AddressInBrackets) {
    EXPECT_EQ((NfsSource{"nas", "/x"}).mount_source(), "nas:/x");
    EXPECT_EQ((NfsSource{"2001:db8::1", "/x"}).mount_source(), "[2001:db8::1]:/x");
    EXPECT_EQ((NfsSource{"n[2001:db8::1]", "/x"}).mount_source(), "n[2001:db8::1]:/x");
}

}  // namespace
}  // namespace llmgw
