#!/bin/bash
# The power fails in the middle of a step, on n1: after the next boot the machine becomes ready without help.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-containers.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-containers.sh"

install_llmgw || exit 1
containers on
make_image n1
expect "n1 to be ready" machine_becomes n1 '^ready' 600

# times_begun STEP: since the machine booted.
times_begun() { on n1 journalctl -b -o cat --no-pager -u llmgw-slurm-helper | grep -c "^$1"; }
begun_again() { (($(times_begun "$1") > $2)); }

for step in 'install enroot' 'build pyxis' 'prove that'; do
    test_case "the machine crashes at the step \"$step\""
    take_back n1
    before=$(times_begun "$step")
    run on n1 llmgw-slurm apply
    expect "the step to begin" wait_until 300 begun_again "$step" "$before"
    run crash_machine n1
    expect_status 0
    expect "it to become ready by itself" machine_becomes n1 '^ready' 600
    expect "its node to come back" wait_until 120 nodes_are idle
    run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
    expect_status 0
    expect_output 'Lab image'
done

finish
