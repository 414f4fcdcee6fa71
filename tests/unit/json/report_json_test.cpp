#include "json/report_json.hpp"

#include <gtest/gtest.h>

#include "core/limits.hpp"

namespace llmgw::json {
namespace {

const char* const text =
    R"({"name":"n1","state":"ready","reason":"pyxis 0.24.0, enroot 4.2.1","versions":{"enroot":"4.2.1","pyxis":"0.24.0"},)"
    R"("boot":"b00t","helper":"0.1.0"})";

MachineReport report() {
    return {
        "n1", true, "pyxis 0.24.0, enroot 4.2.1", {{"pyxis", "0.24.0"}, {"enroot", "4.2.1"}}, "b00t", "0.1.0",
        {},   {}};
}

TEST(ReportJson, RefusesWhatIsNoReport) {
    for (
        const std::string wrong :
        {"", "[]", "null", "{}", R"({"name":"n1"})",
         R"({"name":"../x","state":"ready","reason":"r","versions":{},"boot":"b","helper":"h"})",
         R"({"name":"n1\u0000","state":"ready","reason":"r","versions":{},"boot":"b","helper":"h"})",
         R"({"name":"n1","state":"fine","reason":"r","versions":{},"boot":"b","helper":"h"})",
         R"({"name":"n1","state":"ready","reason":1,"versions":{},"boot":"b","helper":"h"})",
         R"({"name":"n1","state":"ready","reason":"r","versions":[],"boot":"b","helper":"h"})",
         R"({"name":"n1","state":"ready","reason":"r","versions":{"slurm":1},"boot":"b","helper":"h"})",
         R"({"name":"n1","name":"n2","state":"ready","reason":"r","versions":{},"boot":"b","helper":"h"})"}) {
        EXPECT_FALSE(read_report(wrong).ok()) << wrong;
    }
    EXPECT_FALSE(read_report(std::string(text) + "x").ok());
    EXPECT_EQ(read_report(std::string(text) + std::string(limits::report_bytes, ' ')).error().code,
              Code::too_large);
}

TEST(ReportJson, ReadsBackWhatItWrote) {
    EXPECT_EQ(text_of(report()), text);
    EXPECT_EQ(read_report(text).value(), report());
}

TEST(ReportJson, CarriesHardware) {
    MachineReport with = report();
    with.hardware = NodeHardware{64, 1, 2, 16, 2, 515000, {0, 1, 7}};
    const std::string said = text_of(with);
    EXPECT_NE(said.find(R"("hardware":{"cpus":64,)"), std::string::npos) << said;
    EXPECT_NE(said.find(R"("gpus":[0,1,7])"), std::string::npos) << said;
    EXPECT_EQ(read_report(said).value(), with);
}

TEST(ReportJson, RefusesHardwareThatIsNone) {
    const std::string good =
        R"({"cpus":2,"boards":1,"sockets_per_board":1,"cores_per_socket":2,"threads_per_core":1,"memory_mb":1000,"gpus":[0]})";
    const auto with = [](const std::string& hardware) {
        return read_report(R"({"hardware":)" + hardware + "," + std::string(text).substr(1));
    };
    EXPECT_TRUE(with(good).ok());
    for (const auto& [part, other] : {std::pair{R"("cpus":2)", R"("cpus":0)"},
                                      {R"("cpus":2)", R"("cpus":"2 Gres=x")"},
                                      {R"("boards":1)", R"("boards":-1)"},
                                      {R"("memory_mb":1000)", R"("memory_mb":-1)"},
                                      {R"([0])", R"(["0] Name=x"])"},
                                      {R"([0])", R"([1,0])"},
                                      {R"([0])", R"({})"},
                                      {R"("threads_per_core":1,)", ""}}) {
        std::string wrong = good;
        wrong.replace(wrong.find(part), std::string(part).size(), other);
        EXPECT_FALSE(with(wrong).ok()) << wrong;
    }
    EXPECT_FALSE(with("null").ok());
}

TEST(ReportJson, CarriesLending) {
    MachineReport with = report();
    with.lending = LendingReport{"emptying", 7, 1'700'000'000, {"job 12 of ann", "GPU 0: nvidia-smi"}, true};
    const std::string said = text_of(with);
    EXPECT_NE(
        said.find(
            R"("lending":{"phase":"emptying","generation":7,"since":1700000000,"waiting":["job 12 of ann","GPU 0: nvidia-smi"],"fence":true}})"),
        std::string::npos)
        << said;
    EXPECT_EQ(read_report(said).value(), with);
}

TEST(ReportJson, RefusesLendingThatIsNone) {
    const std::string good = R"({"phase":"asking","generation":0,"since":0,"waiting":["w"],"fence":false})";
    const auto with = [](const std::string& lending) {
        return read_report(R"({"lending":)" + lending + "," + std::string(text).substr(1));
    };
    EXPECT_TRUE(with(good).ok()) << with(good).error().message;
    for (const auto& [part, other] : {std::pair{R"("asking")", R"("lent")"},
                                      {R"("asking")", "1"},
                                      {R"("generation":0)", R"("generation":-1)"},
                                      {R"("generation":0)", R"("generation":9007199254740992)"},
                                      {R"("generation":0)", R"("generation":1.0)"},
                                      {R"("since":0,)", ""},
                                      {R"(["w"])", R"("w")"},
                                      {R"(["w"])", "[1]"},
                                      {"false", "0"}}) {
        std::string wrong = good;
        wrong.replace(wrong.find(part), std::string(part).size(), other);
        EXPECT_FALSE(with(wrong).ok()) << wrong;
    }
    EXPECT_FALSE(with("null").ok());
}

// The check of each part must not let through what is then too large as a whole.
TEST(ReportJson, HasRoomForEverythingThatAReportMayHave) {
    MachineReport most = report();
    most.name = std::string(limits::name_bytes, 'n');
    most.reason = std::string(limits::message_bytes, '"');
    most.boot = most.helper = std::string(limits::report_word_bytes, '"');
    most.versions.clear();
    for (std::size_t i = 0; i < limits::report_versions; ++i) {
        const std::string number = std::to_string(i);
        most.versions[std::string(limits::name_bytes - number.size(), 'v') + number] =
            std::string(limits::report_word_bytes, '"');
    }
    for (int i = 0; i < 1000; ++i) most.users += (i > 0 ? "," : "") + std::to_string(200000 + 2 * i);
    most.hardware = NodeHardware{4096, 1, 64, 64, 1, limits::hardware_memory_mb, {}};
    for (std::uint32_t i = 0; i < limits::hardware_gpus; ++i) most.hardware->gpus.push_back(60000 + i);
    most.lending = LendingReport{"handing-back", limits::lease_generation, 1, {}, true};
    most.lending->waiting.assign(limits::lending_waiting, std::string(limits::lending_waiting_bytes, '"'));
    ASSERT_TRUE(check_report(most).ok()) << check_report(most).error().message;
    EXPECT_EQ(read_report(text_of(most)).value(), most);
}

TEST(ReportJson, PassesOverKeysOfANewerHelper) {
    EXPECT_EQ(read_report(R"({"later":[1],)" + std::string(text).substr(1)).value(), report());
}

TEST(ReportJson, CarriesAllMachines) {
    std::string all = machines_head(7, 100);
    close_machines(all);
    EXPECT_EQ(read_machines(all).value(), (KnownMachines{7, 100, {}}));
    all = machines_head(7, 100);
    MachineReport other = report();
    other.name = "n2";
    add_machine(all, text, 90);
    add_machine(all, text_of(other), 91);
    close_machines(all);
    EXPECT_EQ(read_machines(all).value(), (KnownMachines{7, 100, {{report(), 90}, {other, 91}}}));
    EXPECT_FALSE(read_machines(R"({"revision":7,"now":1,"machines":[{}]})").ok());
    EXPECT_FALSE(read_machines(R"({"revision":-7,"now":1,"machines":[]})").ok());
    EXPECT_FALSE(read_machines("7").ok());
}

TEST(ReportJson, users_are_there_only_where_there_are_some) {
    MachineReport with_users = report();
    EXPECT_EQ(text_of(with_users).find("users"), std::string::npos);
    with_users.users = "200000-200003";
    const Result<MachineReport> read = read_report(text_of(with_users));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read.value(), with_users);
    with_users.users = "3,2";
    EXPECT_FALSE(read_report(text_of(with_users)).ok());
}

}  // namespace
}  // namespace llmgw::json
