#!/bin/bash
# Whatever is in the place of the gate file: slurmctld lives, plain jobs run, container jobs get an answer.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"

file=$LAB/ctl/run/gate
restore() {
    [[ -z ${changer-} ]] || kill "$changer" 2>/dev/null
    scancel -Q -u "$LAB_USER"
    rm -rf "$file"
    "$lab" start helper-ctl
    wait_gate open
    rm -f "$WORK"/*.{sh,out}
}
trap restore EXIT
"$lab" stop helper-ctl

unknown='error: llmgw: container jobs are refused, because the state of this cluster is unknown: [^'$'\n'']*gate'
# broken WHAT: with the file as it is now.
broken() {
    test_case "the gate file is $1"
    run as_user sbatch --container-image="$LAB_IMAGE" --wrap true
    expect_failure
    expect_output "$unknown"
    expect_output 'Is llmgw-slurm-helper running on the controller\? Plain jobs run\.'
    run timeout 30 setpriv --reuid="$LAB_USER" --regid="$LAB_USER" --clear-groups srun -D / true
    expect_status 0
    refute_output llmgw
    rm -rf "$file"
}
rm -rf "$file"
broken missing
write_gate open
good=$(<"$file")
printf '%s' "${good%end}" >"$file" && broken "cut off before its last line"
printf '%s' "${good:0:30}" >"$file" && broken "cut off in a line"
: >"$file" && broken empty
head -c 4000 /dev/urandom >"$file" && broken "random bytes"
{ echo "$good" && head -c 10485760 /dev/zero; } >"$file" && broken "of 10 MB"
echo "${good/gate 1/gate 2}" >"$file" && broken "of a newer format"
mkdir "$file" && broken "a directory"
mkfifo "$file" && broken "a FIFO"
if getent passwd slurm >/dev/null; then # else slurmctld is root's
    echo "$good" >"$file" && chmod 600 "$file" && broken "readable by root only"
fi
ln -s gate "$file" && broken "a link to itself"

test_case "the gate file is good again: no restart is needed"
write_gate open
run as_user srun --container-image="$LAB_IMAGE" true
expect_status 0
write_gate closed "llmgw: closed by a test"
run as_user srun --container-image="$LAB_IMAGE" true
expect_output 'error: llmgw: closed by a test'

test_case "the gate file changes a thousand times a second: every submission gets a clear answer"
# Torn writes included, as no helper of ours makes them.
change_all_the_time() {
    local good=$1 closed=${1/state open/state closed} i
    for ((i = 0; ; ++i)); do
        case $((i % 4)) in
            0) echo "$good" >"$file" ;;
            1) echo "${good:0:$((i % 90))}" >"$file" ;;
            2) echo "$closed" >"$file" ;;
            3) printf '\377\0%d\n' "$i" >"$file" ;;
        esac
        # By rename: a reader must not see it empty.
        ((i % 100)) || { echo "$i" >"$LAB/changes.new" && mv "$LAB/changes.new" "$LAB/changes"; }
        read -rt 0.0005 <>"$LAB/never" || true
    done
}
mkfifo "$LAB/never"
rm -f "$file"
change_all_the_time "$good" &
changer=$!
# At least 100, and until the file has changed often enough, however slow this machine is.
enough=3000
submit_many() {
    local i
    for ((i = 0; i < 100 || $(cat "$LAB/changes" || echo 0) < enough; ++i)); do
        as_user sbatch --parsable --hold "$@" --wrap true 2>&1 | paste -sd'|'
    done
}
echo 0 >"$LAB/changes"
submit_many --comment=plain >"$LAB/plain.out" &
submit_many --container-image="$LAB_IMAGE" >"$LAB/container.out"
wait $!
kill "$changer" && wait "$changer" 2>/dev/null
expect_equal "$(grep -vcE '^[0-9]+$' "$LAB/plain.out")" 0
expect "at least 100 plain jobs" test "$(wc -l <"$LAB/plain.out")" -ge 100
output=$(grep -vE '^[0-9]+$|^sbatch: error: llmgw: [^|]+\|sbatch: error: Batch job submission failed: System submissions disabled$' \
    "$LAB/container.out")
expect_equal "$output" ""
expect "at least 100 container jobs" test "$(wc -l <"$LAB/container.out")" -ge 100
rm -f "$LAB"/{changes,never,plain.out,container.out}
scancel -Q -u "$LAB_USER"

test_case "the cluster is as before"
expect_unharmed
finish
