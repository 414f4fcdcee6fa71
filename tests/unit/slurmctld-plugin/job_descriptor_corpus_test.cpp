#include <gtest/gtest.h>

#include "fuzz/job_descriptor_fuzz.hpp"
#include "fuzz/replay.hpp"

namespace llmgw::gate {
namespace {

TEST(Corpus, of_job_descriptors_keeps_the_promises) {
    EXPECT_GE(fuzz::replay(LLMGW_SOURCE_DIR "/tests/fuzz/corpus/job_descriptor", fuzz::job_descriptor), 15U);
}

}  // namespace
}  // namespace llmgw::gate
