// The check of the contract itself: what it would overlook, all tests of the leader would.
#include "unit/leader/contract.hpp"

namespace llmgw::test {
namespace {

const char* const lease =
    R"({"revision":1,"state":"none","lease":"","generation":0,"replicas":0,"reason":""})";
const http::Headers json_headers{{"Content-Type", "application/json"}, {"ETag", "\"1\""}};

std::string verdict(const std::string& method, const std::string& target, int status, const std::string& body,
                    const http::Headers& headers = json_headers, const std::string& sent = "") {
    http::Request request;
    request.method = method;
    request.url = "http://127.0.0.1:1/slurm/v1/" + target;
    request.body = sent;
    http::Response response;
    response.status = status;
    response.body = body;
    response.headers = headers;
    return Contract::violation(request, response);
}

TEST(ContractCheck, lets_through_what_the_document_knows) {
    EXPECT_EQ(verdict("GET", "nodes/n1/lease", 200, lease), "");
    EXPECT_EQ(verdict("GET", "nodes/n1/lease?wait=1", 304, "", {{"ETag", "\"1\""}}), "");
    EXPECT_EQ(verdict("GET", "nothing", 404, R"({"error":"e"})"), "");
    EXPECT_EQ(verdict("POST", "settings", 405, R"({"error":"e"})"), "");
    EXPECT_EQ(verdict("POST", "nodes/n1/lease", 200, lease, json_headers, R"({"lease":"a","generation":1})"),
              "");
    EXPECT_EQ(verdict("GET", "machines", 200, R"({"revision":1,"now":1,"machines":[]})"), "");
}

TEST(ContractCheck, finds_what_it_does_not_know) {
    const std::string text = lease;
    const auto with = [&](const std::string& part, const std::string& other) {
        std::string wrong = text;
        wrong.replace(wrong.find(part), part.size(), other);
        return wrong;
    };
    for (const std::string& body :
         {std::string(), std::string("{"), std::string("[]"), with(R"("none")", R"("gone")"),
          with(R"("reason":"")", R"("reason":"","later":1)"), with(R"("replicas":0,)", ""),
          with(R"("generation":0)", R"("generation":-1)"),
          with(R"("revision":1)", R"("revision":1,"revision":1)"),
          with(R"("lease":"")", R"("lease":"../x")")}) {
        EXPECT_NE(verdict("GET", "nodes/n1/lease", 200, body), "") << body;
    }
    EXPECT_NE(verdict("GET", "nodes/n1/lease", 204, ""), "");
    EXPECT_NE(verdict("GET", "nodes/n1/lease", 304, "x"), "");
    EXPECT_NE(verdict("GET", "nodes/n1/lease", 200, lease, {{"Content-Type", "application/json"}}), "");
    EXPECT_NE(
        verdict("GET", "nodes/n1/lease", 200, lease, {{"Content-Type", "text/html"}, {"ETag", "\"1\""}}), "");
    EXPECT_NE(
        verdict("GET", "nodes/n1/lease", 200, lease, {{"Content-Type", "application/json"}, {"ETag", "1"}}),
        "");
    EXPECT_NE(verdict("GET", "nothing", 200, "{}"), "");
    EXPECT_NE(verdict("PUT", "nodes/n1/lease", 200, lease), "");
    EXPECT_NE(verdict("POST", "nodes/n1/lease", 200, lease, json_headers, R"({"lease":"a"})"), "")
        << "a request that should have been refused";
    EXPECT_NE(verdict("GET", "machines", 200, R"({"revision":1,"now":1,"machines":[{"name":"n1"}]})"), "");
}

}  // namespace
}  // namespace llmgw::test
