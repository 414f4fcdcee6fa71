#!/bin/bash
# Lending under load: short jobs in a loop while all nodes go back and forth; and how long the way back takes.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/lending.sh
. "$(dirname "$0")/../lib/lending.sh"

[[ -e $LAB/bin/llmgw-slurm-helper ]] || skip "the helper is not built"
rounds=20 jobs=200 returns=50
observer=0
trap 'kill "$observer" 2>/dev/null; end_lending' EXIT
begin_lending
mapfile -t nodes < <(lab_nodes)
for node in "${nodes[@]}"; do expect "$node to be llmgw's" wait_phase "$node" gateway 180; done

# Both sides, again and again: a replica of llmgw's and a job's step on one node are two owners. A replica that is seen
# before and after the steps was there all the time.
observe() {
    local node before steps after
    while :; do
        for node in "${nodes[@]}"; do
            before=$(stat -c %i:%Z "$replicas/$node/model" 2>/dev/null)
            steps=$(find "$LAB/$node/spool" -maxdepth 1 -type s -name "${node}_*" | head -n 1)
            after=$(stat -c %i:%Z "$replicas/$node/model" 2>/dev/null)
            echo look >>"$LAB/observed"
            [[ -z $before || $before != "$after" || -z $steps ]] || echo "$node: $before and $steps" >>"$LAB/two-owners"
        done
    done
}

test_case "$jobs jobs while ${#nodes[@]} nodes are lent and taken back $rounds times: none lost, none failed, no moment with two owners"
rm -f "$LAB"/{two-owners,observed} "$WORK"/done
observe &
observer=$!
(for ((i = 0; i < jobs; ++i)); do
    as_user sbatch --parsable -o /dev/null --wrap "echo \$SLURM_JOB_ID >>$WORK/done" >>"$LAB/submitted"
    sleep 0.1
done) &
submitter=$!
started=$SECONDS
for ((i = 0; i < rounds; ++i)); do
    run lend "${nodes[@]}" --wait
    [[ $status == 0 ]] || expect_status 0
    run reclaim "${nodes[@]}" --wait
    [[ $status == 0 ]] || expect_status 0
done
echo "   $rounds rounds took $((SECONDS - started)) s"
wait "$submitter"
run lend "${nodes[@]}" --wait
expect_status 0
expect "the queue to empty" wait_until 120 no_jobs
kill "$observer" 2>/dev/null
expect_equal "$(wc -l <"$LAB/submitted")" "$jobs"
expect_equal "$(sort -u "$WORK/done" | wc -l)" "$jobs"
# Each ran once: a job that was sent away would have been started again.
expect_equal "$(wc -l <"$WORK/done")" "$jobs"
expect_equal "$(scontrol -o show job | grep -cE 'JobState=(FAILED|CANCELLED|NODE_FAIL|TIMEOUT)')" 0
expect "no two owners, in $(wc -l <"$LAB/observed") looks" test ! -s "$LAB/two-owners"
rm -f "$LAB/submitted" "$LAB/observed"

test_case "from the end of the last job to the leader's record: $returns times"
times=()
for ((i = 0; i < returns; ++i)); do
    node=${nodes[i % ${#nodes[@]}]}
    lend "$node" --wait >/dev/null
    wait_until 30 not_drained "$node"
    rm -f "$WORK/go" "$WORK/ended"
    job=$(as_user sbatch --parsable -w "$node" -o /dev/null --wrap "while [ ! -e $WORK/go ]; do sleep 0.02; done; date +%s%N >$WORK/ended")
    wait_job 30 "$job" RUNNING || { expect "job $job to run" false && break; }
    reclaim "$node" >/dev/null
    wait_phase "$node" emptying || { expect "$node to be emptied" false && break; }
    seen=$(lease "$node" | jq .revision)
    touch "$WORK/go"
    # A long poll of the leader's, as another one who waits for this node would have it.
    until answer=$(curl -sS -H "Authorization: Bearer $(<"$LAB/leader/token.admin")" -H "If-None-Match: \"$seen\"" \
        "$LAB_LEADER/slurm/v1/nodes/$node/lease?wait=60") && [[ $answer == *'"state":"none"'* ]]; do
        seen=$(jq .revision <<<"$answer" 2>/dev/null || echo "$seen")
    done
    times+=($((($(date +%s%N) - $(<"$WORK/ended")) / 1000000)))
done
expect_equal "${#times[@]}" "$returns"
mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
echo "   median ${times[${#times[@]} / 2]} ms, worst ${times[-1]} ms, best ${times[0]} ms"
finish
