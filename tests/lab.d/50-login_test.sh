#!/bin/bash
# The table of verdicts: who gets in to a machine by ssh, through a real sshd, when all is well and when something is not.
# Denials come first.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/login.sh
. "$(dirname "$0")/../lib/login.sh"

[[ -e $module ]] || skip "the PAM module is not built"
[[ -x /usr/sbin/sshd ]] || skip "there is no sshd here"

restore() {
    local machine
    for machine in n1 n2 n3 ctl host; do stop_sshd "$machine"; done
    for machine in slurmctld slurmd-n1 slurmd-n3; do alive "$machine" || start_daemon "$machine"; done
    squeue -h -o %A | xargs -r scancel -Q
    wait_until 30 no_jobs
    as_before
    remove_login_users
    rm -rf "$LOGIN" "$LAB/dev"
}
trap restore EXIT
export LOGIN LAB_USER LLMGW_LAB_PORT whereami
make_login_users && make_login_keys || exit 1
for_logins Contain
# A job that is not there is not waited for long; the wait has a test of its own.
login_words=wait=1

# Each user's job, all on n1 but one.
job_of "$LAB_USER" -w n1 && job_here=$job
job_of lab-other -w n2
job_of lab-two -w n1 && job_older=$job
job_of lab-array -w n1 --array=7 && job_array=$(squeue -h -u lab-array -o %A)
job_het=$(as lab-het sbatch --parsable -o /dev/null -w n2 : -w n1 <<<$'#!/bin/sh\nexec sleep infinity')
wait_job 30 "$job_het" RUNNING
job_het=$(squeue -h -u lab-het -w n1 -o %A)
job_of lab-suspended -w n1 && job_suspended=$job
job_of lab-ended -w n1 && job_ended=$job
sleep 1.1 # sockets' times, by which jobs are told apart, are the kernel's ticks
job_of lab-two -w n1 && job_newer=$job
for job in "$job_here" "$job_older" "$job_newer" "$job_array" "$job_het" "$job_suspended" "$job_ended"; do
    expect "the extern step of job $job" extern_on n1 "$job"
done
scontrol suspend "$job_suspended"
wait_until 30 is_frozen "$(extern_group "$job_suspended")"

# verdict USER@MACHINE: one line of what the login said.
verdict() { login "$1" "$whereami" 2>&1 | grep -E '^(in job|llmgw:)' | head -n 1; }

# table MACHINE, with lines of USER and a pattern on standard input: all of them at once.
table() {
    local user pattern file=$LOGIN/verdict
    local -a users=() patterns=()
    while read -r user pattern; do
        users+=("$user") patterns+=("$pattern")
        verdict "$user@$1" </dev/null >"$file.$user" &
    done
    wait $(jobs -p | grep -vxF "$(cat "$LAB"/pids/* | cut -d' ' -f1)")
    for user in "${!users[@]}"; do
        ran="login ${users[$user]}@$1" output=$(<"$file.${users[$user]}") status=-
        expect "${users[$user]} on $1: ${patterns[$user]}" _matches "$output" "^${patterns[$user]}$"
    done
}
no_job='llmgw: login refused on n1: no job of yours runs on this machine; .*'
# Freezer, memory and devices, or the one of cgroup v2.
groups='[1-9] groups'

start_sshd n1 && start_sshd n2 && start_sshd ctl || exit 1
scancel "$job_ended" # not yet a second ago when its login comes

test_case "all well"
table n1 <<EOF
lab-jobless $no_job
lab-other $no_job
lab-ended $no_job
lab-suspended llmgw: login refused on n1: your job $job_suspended is suspended here; .*
$LAB_USER in job $job_here, $groups
lab-two in job $job_newer, $groups
lab-array in job $job_array, $groups
lab-het in job $job_het, $groups
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
table n2 <<EOF
lab-jobless llmgw: login refused on n2: no job of yours .*
$LAB_USER llmgw: login refused on n2: no job of yours .*
lab-other in job [0-9]+, $groups
EOF

test_case "each controller that Slurm uses holds the login, and a GPU that the job does not have can't be opened"
run login "$LAB_USER@n1" "cat /proc/self/cgroup; head -c0 $LAB/dev/gpu0"
if cgroups_are_v2; then
    expect_output "0::.*/step_extern/"
else
    for controller in freezer memory devices; do
        expect_output ":$controller:/slurm_n1/uid_[0-9]+/job_$job_here/step_extern"
    done
fi
expect_output 'gpu0.* Operation not permitted'

test_case "the controller, which is no node: everybody as ever"
table ctl <<EOF
lab-jobless in job none, 0 groups
root in job none, 0 groups
EOF

test_case "a host without slurmd: everybody as ever"
mkdir -p "$LAB/host/conf"
sed "s,^SlurmdSpoolDir=.*,SlurmdSpoolDir=$LAB/host/spool," "$LAB/n1/conf/slurm.conf" >"$LAB/host/conf/slurm.conf"
start_sshd host
table host <<EOF
lab-jobless in job none, 0 groups
$LAB_USER in job none, 0 groups
EOF
stop_sshd host

# Where nothing but the daemons is missing, the verdicts are the same.
same_as_ever() {
    table n1 <<EOF
lab-jobless $no_job
lab-other $no_job
lab-ended $no_job
lab-suspended llmgw: login refused on n1: your job $job_suspended is suspended here; .*
$LAB_USER in job $job_here, $groups
lab-two in job $job_newer, $groups
lab-array in job $job_array, $groups
lab-het in job $job_het, $groups
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
}
# Its slurmstepd goes on trying to tell slurmctld that it ended, and would take a login.
test_case "a job that is ending, whose slurmstepd can't tell slurmctld: no job"
job_of lab-other -w n1 && job_ending=$job
expect "the extern step of job $job_ending" extern_on n1 "$job_ending"
group=$(extern_group "$job_ending")
scancel "$job_ending"
wait_until 30 nobody_in "$group"
stop_daemon slurmctld
table n1 <<EOF
lab-other $no_job
EOF

test_case "slurmctld down"
same_as_ever
test_case "slurmctld and slurmd down"
stop_daemon slurmd-n1
same_as_ever
test_case "slurmd down"
start_slurmctld
same_as_ever
start_daemon slurmd-n1

test_case "an older job, when the newer one ends"
scancel "$job_newer"
expect "job $job_newer to end" wait_until 30 job_ended "$job_newer"
table n1 <<EOF
lab-two in job $job_older, $groups
EOF

test_case "Slurm's library hidden: users out with a sentence, root and admins in"
stop_sshd n1
# shellcheck disable=SC2046
start_sshd n1 $(ldconfig -p | sed -n 's,.*=> \(.*/libslurm\.so\.[0-9]*\)$,\1,p')
table n1 <<EOF
lab-jobless llmgw: login refused on n1: .*libslurm.*
$LAB_USER llmgw: login refused on n1: .*libslurm.*
lab-two llmgw: login refused on n1: .*libslurm.*
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
stop_sshd n1

test_case "a module that is not there: nobody but by the distribution's rule"
pam_lines n1 module=/nonexistent/pam_llmgw_adopt.so
start_sshd n1
table n1 <<EOF
lab-jobless
$LAB_USER
EOF

test_case "an argument that is none: users out, root and admins in"
login_words='wait=1 waits=2' pam_lines n1
table n1 <<EOF
$LAB_USER llmgw: login refused on n1: the argument "waits=2" is none of .*
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
pam_lines n1

test_case "another module moves the login before ours, or after it: put back"
cat >"$LOGIN/move" <<'EOF'
#!/bin/sh
# As pam_systemd does by way of logind: out of every group that it manages.
for group in /sys/fs/cgroup/*/cgroup.procs /sys/fs/cgroup/cgroup.procs; do
    [ ! -e "$group" ] || echo "$PPID" >"$group"
done
EOF
chmod 755 "$LOGIN/move"
for options in "before=session required pam_exec.so seteuid $LOGIN/move" "after=session required pam_exec.so seteuid $LOGIN/move"; do
    pam_lines n1 "$options" auth
    table n1 <<EOF
lab-jobless $no_job
$LAB_USER in job $job_here, $groups
lab-array in job $job_array, $groups
root in job none, 0 groups
EOF
    run login "$LAB_USER@n1" "grep -c /step_extern /proc/self/cgroup"
    expect_equal "${output##*$'\n'}" "$(cgroups_are_v2 && echo 1 || echo 3)"
done
# That this module moves anything at all: without the line in the auth section it gets the login out.
pam_lines n1 "after=session required pam_exec.so seteuid $LOGIN/move"
table n1 <<EOF
$LAB_USER in job $job_here, 0 groups
EOF
pam_lines n1

test_case "moved, and slurmstepd does not take it back: out"
pam_lines n1 "before=session required pam_exec.so seteuid $LOGIN/move_and_stop" auth
daemon=$(pgrep -f "slurmstepd: \[$job_here.extern\]")
{ cat "$LOGIN/move" && echo "kill -STOP $daemon"; } >"$LOGIN/move_and_stop"
chmod 755 "$LOGIN/move_and_stop"
run login "$LAB_USER@n1" "$whereami"
kill -CONT "$daemon"
expect_failure
refute_output 'in job'
pam_lines n1

test_case "slurmstepd hangs: its job takes no login, other jobs do"
kill -STOP "$daemon"
table n1 <<EOF
$LAB_USER llmgw: login refused on n1: the slurmstepd of job $job_here doesn't answer
lab-two in job $job_older, $groups
root in job none, 0 groups
EOF
kill -CONT "$daemon"

test_case "cgroups that can't be written: users out, root and admins in"
stop_daemon slurmd-n3
start_slurmd n3 unshare --mount
slurmd_ready n3
job_of lab-two -w n3 && job_unwritable=$job
extern_on n3 "$job_unwritable"
for group in /sys/fs/cgroup /sys/fs/cgroup/memory /sys/fs/cgroup/freezer /sys/fs/cgroup/unified; do
    [[ ! -d $group ]] || nsenter --target "$(daemon_pid slurmd-n3)" --mount mount -o remount,bind,ro "$group"
done
start_sshd n3
table n3 <<EOF
lab-jobless llmgw: login refused on n3: no job of yours .*
lab-two llmgw: login refused on n3: job $job_unwritable (could not take|took) the login[:,] .*
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
stop_sshd n3

test_case "a password's login, whose account phase is in another process: in the job all the same"
echo "$LAB_USER:secret of the lab" | chpasswd
printf '#!/bin/sh\necho "secret of the lab"\n' >"$LOGIN/askpass"
chmod 755 "$LOGIN/askpass"
by_password() {
    SSH_ASKPASS=$LOGIN/askpass SSH_ASKPASS_REQUIRE=force DISPLAY=none ssh -F none -p "$(login_port n1)" \
        -o PreferredAuthentications=keyboard-interactive -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -l "$LAB_USER" 127.0.0.1 "$whereami"
}
run by_password
expect_output "in job $job_here, $groups"

test_case "Contain unset: users are told what is missing, root and admins get in"
squeue -h -o %A | xargs -r scancel -Q
expect "no job" wait_until 60 no_jobs
for_logins ''
job_of "$LAB_USER" -w n1
expect "the job's step" wait_until 30 test -S "$LAB/n1/spool/n1_$job.4294967291"
table n1 <<EOF
lab-jobless llmgw: login refused on n1: the jobs here have no step that takes logins; .*PrologFlags=Contain.*
$LAB_USER llmgw: login refused on n1: the jobs here have no step that takes logins; .*PrologFlags=Contain.*
root in job none, 0 groups
lab-admin in job none, 0 groups
EOF
finish
