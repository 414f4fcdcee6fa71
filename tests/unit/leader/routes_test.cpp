#include "leader/routes.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw::leader {
namespace {

std::optional<Route> route(const std::string& target) {
    return route_of(http::parse_target(target).value());
}

TEST(Routes, LeadNowhereElse) {
    for (const std::string target :
         {"/", "/slurm", "/slurm/v1", "/slurm/v1/", "/slurm/v2/settings", "/slurm/v1/settings/",
          "//slurm/v1/settings", "/slurm/v1/machines/n1/x", "/slurm/v1/nodes", "/slurm/v1/nodes/n1",
          "/slurm/v1/nodes/n1/lease/", "/slurm/v1/nodes/n1/leases", "/slurm/v1/machines/n1/lease",
          "/slurm/v1/SETTINGS"}) {
        EXPECT_FALSE(route(target).has_value()) << target;
    }
}

TEST(Routes, GiveMachinesNoMoreThanTheyNeed) {
    EXPECT_TRUE(permission_for(*route("/slurm/v1/settings"), "PATCH")->admin_only);
    EXPECT_TRUE(permission_for(*route("/slurm/v1/machines/n1"), "DELETE")->admin_only);
    EXPECT_FALSE(permission_for(*route("/slurm/v1/machines/n1"), "PUT")->admin_only);
    for (const std::string method : {"HEAD", "POST", "OPTIONS", "TRACE", "get", ""}) {
        for (const std::string target :
             {"/slurm/v1/settings", "/slurm/v1/machines", "/slurm/v1/machines/n1"}) {
            EXPECT_FALSE(permission_for(*route(target), method).has_value()) << method << target;
        }
    }
    EXPECT_FALSE(permission_for(*route("/slurm/v1/settings"), "PUT").has_value());
    for (const std::string method : {"GET", "POST", "DELETE"})
        EXPECT_FALSE(permission_for(*route("/slurm/v1/nodes/n1/lease"), method)->admin_only);
    EXPECT_FALSE(permission_for(*route("/slurm/v1/nodes/n1/lease"), "PUT").has_value());
}

TEST(Routes, WaitNoLongerThanTheLimit) {
    const auto wait = [](const std::string& query) {
        return wait_of(http::parse_target("/" + query).value());
    };
    for (const std::string query :
         {"?wait", "?wait=-1", "?wait=1s", "?wait=0x1", "?wait=99999999999999999999", "?wait=%20"}) {
        EXPECT_FALSE(wait(query).ok()) << query;
    }
    EXPECT_EQ(wait("").value().count(), 0);
    EXPECT_EQ(wait("?wait=60").value(), limits::long_poll);
    EXPECT_EQ(wait("?wait=61").value(), limits::long_poll);
}

TEST(Routes, ReadETags) {
    const auto seen = [](const std::string& tags) { return has_seen({{"if-none-match", tags}}, 17); };
    for (const std::string tags : {"", "17", "\"\"", "\"1\"", "\"17", "\"171\"", "*", "\"-17\""})
        EXPECT_FALSE(seen(tags)) << tags;
    for (const std::string tags : {"\"17\"", "W/\"17\"", "\"1\", \"17\""}) EXPECT_TRUE(seen(tags)) << tags;
    EXPECT_FALSE(expected_revision({{"If-Match", "17"}}).ok());
    EXPECT_EQ(expected_revision({{"If-Match", "\"17\""}}).value(), 17U);
    EXPECT_EQ(expected_revision({}).value(), std::nullopt);
}

}  // namespace
}  // namespace llmgw::leader
