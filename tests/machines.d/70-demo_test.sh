#!/bin/bash
# `tests/machines demo` on the machines that are there: what README promises, and what it shows, is so.
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"

# On machines of their own kind, as the demo has them; the demo's functions bring words that mean others here.
demo() (
    # shellcheck source=tests/lib/machine-demo.sh
    . "$LLMGW_SOURCE_DIR/tests/lib/machine-demo.sh"
    machine_demo
)

for name in $(all_machines); do fresh_machine "$name" bare & done
wait
for name in $(all_machines); do wait_booted "$name" || exit 1; done

test_case "the demo: from bare machines to an account's jobs"
status=0 ran=demo
output=$(demo 2>&1 </dev/null) || status=$?
expect_status 0
expect_output 'ada-lovelace@controller\$ srun --container-image=/images/lab'
expect_output 'everything was as promised'
refute_output 'NOT AS PROMISED'
sed -nE 's/^(ready after .*)/   \1/p' <<<"$output"

test_case "the machines stay usable: doctor finds nothing to do"
for name in $(all_machines); do
    run on "$name" llmgw-slurm doctor
    refute_output '[0-9]  (to do|cannot) '
done

test_case "systemd finds nothing wrong with the units, ours and those that we add to"
for name in $(all_machines); do
    units=(munge.service llmgw-slurm-helper.service slurmd.service)
    [[ $name != controller ]] || units[2]=slurmctld.service
    run on "$name" systemd-analyze verify --man=no "${units[@]}"
    expect_equal "$output" ""
done

for name in $(all_machines); do fresh_machine "$name" & done
wait
finish
