#include "core/job_containers.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

ProcessNamespaces process(std::int32_t number, std::uint64_t started, std::uint64_t users) {
    return {{number, started}, users, true, true};
}

TEST(JobContainers, are_none_where_nobody_made_one) {
    EXPECT_EQ(containers_among({}), JobContainers{});
    ProcessNamespaces nested = process(10, 5, 100);
    nested.below_ours = false;
    ProcessNamespaces without_mounts = process(11, 5, 101);
    without_mounts.own_mounts = false;
    EXPECT_EQ(containers_among({nested, without_mounts}), JobContainers{});
}

TEST(JobContainers, the_way_into_the_one_is_its_first_process) {
    ProcessNamespaces nested = process(9, 1, 101);
    nested.below_ours = false;
    const JobContainers found =
        containers_among({process(30, 300, 100), process(20, 200, 100), process(40, 400, 100), nested});
    EXPECT_EQ(found, (JobContainers{1, ContainerProcess{20, 200}}));
}

TEST(JobContainers, there_is_no_way_into_one_of_several) {
    const JobContainers found =
        containers_among({process(30, 300, 100), process(20, 200, 101), process(40, 400, 102)});
    EXPECT_EQ(found, (JobContainers{3, std::nullopt}));
}

TEST(JobContainers, are_counted_in_words) {
    EXPECT_EQ(why_on_host({}, 5), "it is on the host, since job 5 runs no container here");
    EXPECT_EQ(why_on_host({2, std::nullopt}, 7), "it is on the host, since job 7 runs 2 containers here");
}

TEST(ContainerVariable, is_nothing_but_two_numbers) {
    for (const char* text : {"",
                             ":",
                             "1",
                             "1:",
                             ":1",
                             "0:1",
                             "-1:1",
                             "+1:1",
                             "1:-1",
                             "1:+1",
                             "01:1",
                             "1:01",
                             " 1:1",
                             "1: 1",
                             "1:1 ",
                             "1:1\n",
                             "1:1:1",
                             "1.0:1",
                             "0x1:1",
                             "a:b",
                             "2147483648:1",
                             "1:18446744073709551616",
                             "/proc/1:1"}) {
        EXPECT_FALSE(parse_container(text)) << text;
    }
    EXPECT_FALSE(parse_container(std::string_view("1:1\0", 4)));
}

TEST(ContainerVariable, names_a_process_and_its_beginning) {
    for (const ContainerProcess& each : {ContainerProcess{1, 0}, ContainerProcess{4711, 123456},
                                         ContainerProcess{2147483647, 18446744073709551615ULL}}) {
        EXPECT_EQ(parse_container(format_container(each)), each);
    }
    EXPECT_EQ(format_container({4711, 123456}), "4711:123456");
}

TEST(ProcessNumber, is_one_that_can_be_seen) {
    for (const char* text : {"", "0", "-5", "5 ", "x", "2147483648"})
        EXPECT_FALSE(parse_process_number(text));
    EXPECT_EQ(parse_process_number("4711"), 4711);
}

constexpr std::string_view after_name =
    " S 1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0 987654 13 14 18446744073709551615\n";

TEST(ProcessStat, has_the_start_behind_whatever_the_program_is_called) {
    for (const char* name :
         {"sleep", "", "a b", ") S 1 2 3", "))) ((", "x) S 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 5"}) {
        EXPECT_EQ(start_of_process("4711 (" + std::string(name) + ")" + std::string(after_name)), 987654U)
            << name;
    }
}

TEST(ProcessStat, that_is_cut_or_strange_has_none) {
    for (const char* text : {"", "4711", "4711 (sleep)", "4711 (sleep) ", "4711 (sleep) S 1 2 3",
                             "4711 (x) S 1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0 -5 13",
                             "4711 (x) S 1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0 5x 13"}) {
        EXPECT_FALSE(start_of_process(text)) << text;
    }
}

TEST(ProcessStatus, tells_the_user_that_a_process_is_and_acts_as) {
    EXPECT_EQ(user_of_process("Name:\tsleep\nUid:\t20001\t20001\t20001\t20001\nGid:\t1\t1\t1\t1\n"), 20001U);
    // The kernel writes a line's end in a name as \n, with two characters.
    EXPECT_EQ(user_of_process("Name:\tx\\nUid:\t0\t0\t0\t0\nUid:\t20001\t20001\t20001\t20001\n"), 20001U);
}

TEST(ProcessStatus, of_two_users_or_none_tells_nobody) {
    for (const char* text : {"", "Name:\tx\n", "Uid:\t20001\t0\t0\t0\n", "Uid:\t0\t20001\t0\t0\n",
                             "Uid:\t20001\n", "Uid:\t\t\t\t\n", "Uid:\t-1\t-1\t-1\t-1\n",
                             "Uid:\t4294967296\t4294967296\t1\t1\n", " Uid:\t1\t1\t1\t1\n"}) {
        EXPECT_FALSE(user_of_process(text)) << text;
    }
}

}  // namespace
}  // namespace llmgw
