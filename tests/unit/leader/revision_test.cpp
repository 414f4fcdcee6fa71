#include "leader/revision.hpp"

#include "unit/leader/support.hpp"

namespace llmgw::leader {
namespace {

TEST(Revision, RefusesGarbage) {
    const test::TemporaryDirectory directory;
    for (const std::string text :
         {"", "\n", "x\n", "-1\n", "7", "7 \n", "18446744073709551615\n", "18446744073709551616\n"}) {
        write_text(directory.file("r"), text);
        EXPECT_EQ(Revision::open(directory.file("r"), 1).error().code, Code::invalid) << text;
    }
}

TEST(Revision, NeverGivesAValueTwice) {
    const test::TemporaryDirectory directory;
    for (const std::uint64_t stride : {1U, 4U}) {
        const std::string path = directory.file(std::to_string(stride));
        std::uint64_t last = 0;
        for (int start = 0; start < 5; ++start) {
            Revision revision = Revision::open(path, stride).value();
            for (int i = 0; i < 6; ++i) {
                ASSERT_TRUE(revision.raise().ok());
                EXPECT_GT(revision.value(), last);
                last = revision.value();
            }
        }
    }
}

TEST(Revision, StaysWhereItCannotBeKept) {
    const test::TemporaryDirectory directory;
    Revision revision = Revision::open(directory.file("missing/r"), 1).value();
    EXPECT_FALSE(revision.raise().ok());
    EXPECT_EQ(revision.value(), 0U);
}

}  // namespace
}  // namespace llmgw::leader
