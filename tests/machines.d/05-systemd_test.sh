#!/bin/bash
# The unit tests that need systemd as PID 1: transient units, that they outlive the helper, and how they end.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"

install_llmgw || exit 1
write_on controller /root/unit_tests 755 <"$LLMGW_BUILD_DIR/tests/unit_tests"

test_case "tasks as transient units of a real systemd"
run on controller /root/unit_tests --gtest_filter='OnSystemd.*' --gtest_brief=1
expect_status 0
expect_output '\[  PASSED  \] [1-9][0-9]* tests'
refute_output 'SKIPPED'
echo "$output" | tail -n 3
on controller rm /root/unit_tests
finish
