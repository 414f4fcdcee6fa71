#!/bin/bash
# What becomes of a login: it ends with its job and leaves nothing, the user's other job and its login live on; it waits for
# a step that is on its way; many come at once; it knows the job's GPUs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/login.sh
. "$(dirname "$0")/../lib/login.sh"

[[ -e $module ]] || skip "the PAM module is not built"
[[ -x /usr/sbin/sshd ]] || skip "there is no sshd here"

restore() {
    stop_sshd n1
    scancel -Q -u "$LAB_USER"
    wait_until 30 no_jobs
    as_before
    remove_login_users
    rm -rf "$LOGIN" "$LAB/dev" "$LAB/prolog"
}
trap restore EXIT
export LOGIN LAB_USER LLMGW_LAB_PORT whereami
make_login_users && make_login_keys || exit 1
printf '#!/bin/sh\n[ ! -e "%s" ] || sleep 3\n' "$LAB/prolog-slow" >"$LAB/prolog"
chmod 755 "$LAB/prolog"
for_logins Contain "Prolog=$LAB/prolog"
daemons_before=$(slurm_daemons)
start_sshd n1 || exit 1

# Processes of the user's whose command has this word.
living() { pgrep -u "$LAB_USER" -f "$1" | wc -l; }
nobody_lives() { [[ $(living "$1") == 0 ]]; }
lives() { [[ $(living "$1") -ge $2 ]]; }

# A shell, a child in a session of its own, a tmux server and a daemon that forked twice, each known by the word.
script_of() {
    cat <<EOF
exec >/dev/null 2>&1 </dev/null
cd "$WORK"
setsid bash -c 'exec -a $1-setsid sleep 4000' &
tmux -L $1 -f /dev/null new-session -d 'exec -a $1-tmux sleep 4000'
(bash -c '(setsid bash -c "exec -a $1-daemon sleep 4000") &' &)
exec -a $1-shell sleep 4000
EOF
}
start_login() {
    login "$LAB_USER@n1" "bash -c $(printf %q "$(script_of "$1")")" >/dev/null 2>&1 &
    for word in setsid tmux daemon shell; do
        expect "$1-$word" wait_until 30 lives "^$1-$word" 1
    done
}

test_case "scancel ends the login with everything it started; the other job and its login live on"
job_of "$LAB_USER" -w n1 && job_one=$job
extern_on n1 "$job_one"
start_login lifeone
sleep 1.1
job_of "$LAB_USER" -w n1 && job_two=$job
extern_on n1 "$job_two"
start_login lifetwo
group=$(extern_group "$job_two")
for word in setsid tmux daemon shell; do
    for pid in $(pgrep -f "^lifetwo-$word"); do
        # With cgroup v2 "user/task_N" in it, of which the host's path has other beginnings in a container.
        expect "process $pid in job $job_two" grep -qxF "$pid" <(find "$group" -name cgroup.procs -exec cat {} +)
    done
done
scancel "$job_two"
expect "nothing left of the login of job $job_two" wait_until 60 nobody_lives lifetwo
expect "job $job_two to end" wait_until 60 job_ended "$job_two"
for word in setsid tmux daemon shell; do expect "lifeone-$word still" lives "^lifeone-$word" 1; done
expect "job $job_one still" job_is "$job_one" RUNNING
run login "$LAB_USER@n1" "$whereami"
expect_output "in job $job_one, [1-9] groups"
group=$(extern_group "$job_one")
scancel "$job_one"
expect "nothing left of the login of job $job_one" wait_until 60 nobody_lives lifeone
# Slurm 24.11's slurmstepd may crash behind its last step's end (a thread of its own waits for the login), and leave empty
# directories and its socket behind.
expect "nobody left in the job's cgroup" wait_until 30 nobody_in "${group%/*}"
expect "no slurmstepd left" wait_until 30 bash -c "! pgrep -f 'slurmstepd: .$job_one[.]extern'"
run login "$LAB_USER@n1" "$whereami"
expect_failure
expect_output 'no job of yours runs on this machine'
expect_unharmed

test_case "too early: the job is granted, its prolog still runs, and the login waits for the step"
touch "$LAB/prolog-slow"
early() {
    as_user salloc -w n1 --no-shell 2>&1 &
    until [[ $(squeue -h -u "$LAB_USER" -o %T) =~ RUNNING|CONFIGURING ]]; do sleep 0.05; done
    login "$LAB_USER@n1" "$whereami"
}
run early
expect_output 'in job [0-9]+, [1-9] groups'
scancel -Q -u "$LAB_USER"
rm "$LAB/prolog-slow"
expect "no job" wait_until 60 no_jobs

test_case "the job's GPUs and variables"
job_of "$LAB_USER" -w n1 --gres=gpu:2
extern_on n1 "$job"
run login "$LAB_USER@n1" "env; head -c0 $LAB/dev/gpu3"
expect_output "SLURM_JOB_ID=$job"
expect_output 'SLURMD_NODENAME=n1'
expect_output 'SLURM_JOB_GPUS=0,1'
expect_output 'CUDA_VISIBLE_DEVICES=0,1'
expect_output 'gpu3.* Operation not permitted'
run login "$LAB_USER@n1" "head -c0 $LAB/dev/gpu1"
refute_output 'not permitted'

test_case "what a user's own variables and files say is nothing to the module"
run login "$LAB_USER@n1" -o SetEnv=SLURM_CONF=/tmp/mine -o SetEnv=SLURM_JOB_ID=1 true
expect_status 0
job_elsewhere=$job

test_case "a login with a terminal is told which job it is in"
with_terminal() { echo exit | login "$LAB_USER@n1" -tt; }
run with_terminal
expect_output "this login is in your job $job_elsewhere on n1"

test_case "two hundred logins at once: each in the job, none left behind"
many() {
    local i
    for i in {1..200}; do
        login "$LAB_USER@n1" "$whereami" 2>/dev/null &
    done
    wait
}
RUN_LIMIT=400 run many
expect_equal "$(grep -cE "^in job $job, [1-9] groups$" <<<"$output")" 200
no_login() { ! pgrep -f "^sshd: $LAB_USER" >/dev/null; }
expect "no sshd of the user's" wait_until 60 no_login
scancel "$job"
expect_unharmed
finish
