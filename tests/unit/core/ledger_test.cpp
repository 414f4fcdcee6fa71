#include "core/ledger.hpp"

#include <gtest/gtest.h>

namespace llmgw {
namespace {

Ledger full() {
    Ledger ledger;
    ledger.add_packages({"enroot", "enroot+caps"});
    ledger.add_held({"libnvidia-container1"});
    ledger.add_file({"/etc/a", std::nullopt, 0644, "ours"});
    ledger.add_file({"/etc/b", "theirs", 0600, "ours"});
    ledger.add_directory("/run/enroot");
    ledger.pyxis = "/usr/local/lib/slurm/spank_pyxis.so";
    ledger.nvidia_repository = true;
    ledger.plugstack = true;
    return ledger;
}

TEST(Ledger, comes_back_from_its_value) {
    for (const Ledger& ledger : {Ledger{}, full()}) {
        const Result<Ledger> back = ledger_from(value_of(ledger));
        ASSERT_TRUE(back.ok()) << back.error().message;
        EXPECT_EQ(back.value(), ledger);
    }
    EXPECT_TRUE(Ledger{}.empty());
    EXPECT_FALSE(full().empty());
}

// What was there before us is known from the first time alone.
TEST(Ledger, keeps_what_it_knew_first) {
    Ledger ledger = full();
    ledger.add_file({"/etc/b", "ours", 0644, "ours of another version"});
    ledger.add_packages({"enroot"});
    ledger.add_directory("/run/enroot");
    Ledger wanted = full();
    wanted.files[1].after = "ours of another version";
    EXPECT_EQ(ledger, wanted);
}

TEST(Ledger, another_format_is_an_error) {
    Value value = value_of(full());
    value.set("format", "llmgw-slurm-ledger 2");
    EXPECT_EQ(ledger_from(value).error().code, Code::invalid);
    EXPECT_FALSE(ledger_from(Value()).ok());
    for (const char* key : {"packages", "held", "files", "directories"}) {
        Value broken = value_of(full());
        broken.set(key, 5);
        EXPECT_FALSE(ledger_from(broken).ok()) << key;
    }
}

}  // namespace
}  // namespace llmgw
