#include "leader/tokens.hpp"

#include <sys/stat.h>

#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

const Tokens tokens{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"};

TEST(Caller, IsNobodyWithoutTheWholeToken) {
    for (const std::string header :
         {"", "Bearer", "Bearer ", "Bearer a", "Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "Basic aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
          "Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
          "Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"}) {
        EXPECT_EQ(caller_of(tokens, header), Caller::nobody) << header;
    }
    EXPECT_EQ(caller_of({}, "Bearer x"), Caller::nobody);
}

TEST(Caller, IsKnownByItsToken) {
    EXPECT_EQ(caller_of(tokens, "Bearer " + tokens.admin), Caller::admin);
    EXPECT_EQ(caller_of(tokens, "bearer  " + tokens.machine), Caller::machine);
}

TEST(TokenFiles, AreRefusedWhenOthersMayKnowThem) {
    const test::TemporaryDirectory directory;
    ASSERT_TRUE(load_tokens(directory.path()).ok());
    ::chmod(directory.file("token.machine").c_str(), 0640);
    const Result<Tokens> loaded = load_tokens(directory.path());
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code, Code::denied);
    EXPECT_TRUE(has(loaded.error().message, "token.machine"));
}

TEST(TokenFiles, AreRefusedWhenWeakOrTheSame) {
    const test::TemporaryDirectory directory;
    const Tokens made = load_tokens(directory.path()).value();
    write_text(directory.file("token.machine"), "short\n");
    EXPECT_EQ(load_tokens(directory.path()).error().code, Code::invalid);
    write_text(directory.file("token.machine"), std::string(40, 'x') + " y\n");
    EXPECT_EQ(load_tokens(directory.path()).error().code, Code::invalid);
    write_text(directory.file("token.machine"), made.admin + "\n");
    const Result<Tokens> same = load_tokens(directory.path());
    EXPECT_EQ(same.error().code, Code::invalid);
    EXPECT_FALSE(has(same.error().message, made.admin));
}

TEST(TokenFiles, AreMadeOnceAndKept) {
    const test::TemporaryDirectory directory;
    const Tokens made = load_tokens(directory.path()).value();
    EXPECT_EQ(made.admin.size(), 64U);
    EXPECT_EQ(made.machine.size(), 64U);
    struct stat status {};
    ASSERT_EQ(::stat(directory.file("token.admin").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777U, 0600U);
    EXPECT_EQ(load_tokens(directory.path()).value().admin, made.admin);
}

}  // namespace
}  // namespace llmgw::leader
