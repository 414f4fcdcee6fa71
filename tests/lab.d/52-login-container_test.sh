#!/bin/bash
# With container=join and llmgw-slurm-login as sshd's ForceCommand, a login is in the one container of its job; with more or
# none of them, and whatever its user says, it is on the host, in the job.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/jobs.sh
. "$(dirname "$0")/../lib/jobs.sh"
# shellcheck source=tests/lib/login.sh
. "$(dirname "$0")/../lib/login.sh"

[[ -e $module ]] || skip "the PAM module is not built"
[[ -x /usr/sbin/sshd ]] || skip "there is no sshd here"

restore() {
    [[ ! -S $LOGIN/mux ]] || login "$LAB_USER@n1" -S "$LOGIN/mux" -O exit &>/dev/null
    stop_sshd n1
    scancel -Q -u "$LAB_USER"
    scancel -Q -u lab-other
    wait_until 30 no_jobs
    as_before
    remove_login_users
    rm -rf "$LOGIN" "$LAB/dev" "$WORK/nested.sh"
}
trap restore EXIT
export LOGIN LAB_USER LLMGW_LAB_PORT whereami
make_login_users && make_login_keys || exit 1
for_logins Contain
daemons_before=$(slurm_daemons)
login_program=$LOGIN/llmgw-slurm-login
install -m 755 "$LLMGW_BUILD_DIR/helper/llmgw-slurm-login" "$login_program"
with_join='wait=1 container=join'
login_words=$with_join
# Clients may set the variable here, which no sshd lets them unless it is told so.
sshd_lines="AcceptEnv LLMGW_*
Match User *,!root Group *,!$admin_group
    ForceCommand $login_program"
start_sshd n1 || exit 1

inside=ID=llmgw-lab-image
host=$(grep ^ID= /etc/os-release)
ours=$(readlink /proc/self/ns/user)
where='grep ^ID= /etc/os-release'
export login_program where
# The way into the container of this process, as the module tells it.
way() { echo "$1:$(start_time "$1")"; }

# Processes of the user's that sleep for so long, in a container.
sleeping() {
    local pid
    for pid in $(pgrep -u "$LAB_USER" -f "(^|/)sleep $1\$"); do
        [[ $(readlink "/proc/$pid/ns/user") == "$ours" ]] || echo "$pid"
    done
}
contained() { [[ -n $(sleeping "$1") ]]; }

# job_with STEP...: a job of the lab's user, which runs these beside each other in it; sets `job`.
job_with() {
    local step steps=''
    for step; do steps+="srun -n1 --exact $step & "; done
    job=$(as_user sbatch --parsable -o /dev/null -w n1 -n4 --wrap "$steps exec sleep infinity") || return 1
    wait_job 30 "$job" RUNNING && extern_on n1 "$job"
}
step_for() { echo "--container-image=$LAB_IMAGE_SQUASHFS ${2-} sleep $1"; }
end_job() {
    scancel -Q -u "$LAB_USER"
    expect "no job of the user's" wait_until 60 job_ended "$job"
}

# as_told VALUE COMMAND [USER]: a login that sets the variable to that itself.
as_told() { login "${3-$LAB_USER}@n1" -o SetEnv="LLMGW_SLURM_CONTAINER=$1" "$2"; }
# What is typed into a login with a terminal.
typed() { printf '%s\nexit\n' "$1" | login "$LAB_USER@n1" -tt; }

test_case "a variable of the user's own leads nobody into what is not theirs"
job_of lab-other -w n1
extern_on n1 "$job"
job_other=$job
job_with "$(step_for 4001)"
expect "a container" wait_until 60 contained 4001
pid=$(sleeping 4001 | head -n 1)
batch_pid=$(pgrep -u "$LAB_USER" -f '(^|/)sleep infinity' | head -n 1)
run as_told "$(way "$pid")" "$where; $whereami" lab-other
expect_output "can't get into its container: process $pid is in no container of yours"
expect_output "$host"
expect_output "in job $job_other, [1-9] groups"
refute_output "$inside"
login_words='wait=1' pam_lines n1
run as_told "$(way "$batch_pid")" "$where; $whereami"
expect_output "process $batch_pid is in no container of yours"
expect_output "$host"
expect_output "in job $job, [1-9] groups"
run as_told "$pid:1" "$where; $whereami"
expect_output "the container of your job $job ended; this login is on the host, in the job"
expect_output "$host"
for value in "$pid" "$pid:" ":1" "0:1" "-1:1" "0$(way "$pid")" "1:1:1" "../1:1" "99999999999999999999:1" \
    "/proc/$pid/ns/user"; do
    run as_told "$value" "$where; $whereami"
    expect_output 'which names no container'
    expect_output "$host"
    expect_output "in job $job, [1-9] groups"
done
run as_told "1:$(start_time 1)" "$where"
expect_output 'process 1 is in no container of yours'
expect_output "$host"

test_case "without container=join: on the host, and nothing is said of containers"
run login "$LAB_USER@n1" "$where; $whereami"
expect_equal "$(grep -c "^$host\$\|^in job $job, [1-9] groups\$" <<<"$output")" 2
run typed "$where"
expect_output "$host"
refute_output "$inside|llmgw: " # sshd shows no words of PAM's with a ForceCommand
pam_lines n1

test_case "root and the admins stay where they are"
for user in root lab-admin; do
    run login "$user@n1" "$where; $whereami"
    expect_output "$host"
    expect_output 'in job none, 0 groups'
done

test_case "one container: in it, in the job, with the job's variables and what the container's own programs have"
run login "$LAB_USER@n1" "$where; $whereami; pwd; id -u; env"
expect_status 0
expect_output "$inside"
expect_output "in job $job, [1-9] groups"
expect_output "SLURMD_NODENAME=n1"
expect_output "SSH_CONNECTION="
expect_output 'SLURM_JOB_PARTITION=' # of the task's own
expect_output "SHELL=/bin/sh"
expect_output "$(id -u "$LAB_USER")"
expect_output "(^|"$'\n'")/($|"$'\n'")" # the user's home is not in the image
refute_output "$host"
refute_output 'SLURM_PROCID|SLURM_STEP|PYXIS_|ENROOT_|LLMGW_SLURM_CONTAINER|SSH_ORIGINAL_COMMAND'
run typed "$where"
expect_output "this login is in the container of your job $job on n1 and ends with it"
expect_output "$inside"
run as_told "1:1" "$where" # the module's is what counts
expect_output "$inside"
refute_output "llmgw: |$host"

test_case "exit status and standard input are the shell's inside"
run login "$LAB_USER@n1" 'exit 7'
expect_status 7
through() { echo 'from here' | login "$LAB_USER@n1" 'cat; exit 0'; }
run through
expect_output 'from here'

test_case "sftp serves the host's files"
files() {
    sftp -q -F none -i "$LOGIN/key" -P "$(login_port n1)" -o BatchMode=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -b - "$LAB_USER@127.0.0.1" <<<"get /etc/os-release $LOGIN/fetched"
}
run files
expect_status 0
expect_equal "$(grep ^ID= "$LOGIN/fetched")" "$host"

test_case "as a login shell: the same, and without the variable an ordinary one"
shell_of() { as_user env "LLMGW_SLURM_CONTAINER=$1" SHELL="$login_program" "$login_program" -c "$where"; }
run shell_of "$(way "$pid")"
expect_equal "$output" "$inside"
run shell_of ''
expect_equal "$output" "$host"
run as_user "$login_program" --help
expect_status 2
expect_output 'usage: llmgw-slurm-login'

test_case "a connection that outlives its container: later sessions are on the host, and say so"
run login "$LAB_USER@n1" -M -S "$LOGIN/mux" -f -N
run login "$LAB_USER@n1" -S "$LOGIN/mux" "$where"
expect_equal "$output" "$inside"
scancel "$job.0"
no_container() { ! contained 4001; }
expect "the container to end" wait_until 60 no_container
run login "$LAB_USER@n1" -S "$LOGIN/mux" "$where; $whereami"
expect_output "the container of your job $job ended; this login is on the host, in the job. Start a container in it"
expect_output "$host"
expect_output "in job $job, [1-9] groups"
login "$LAB_USER@n1" -S "$LOGIN/mux" -O exit &>/dev/null

test_case "no container: on the host"
run typed "$where"
expect_output "in your job $job on n1 and ends with it; it is on the host, since job $job runs no container here"
expect_output "$host"
run login "$LAB_USER@n1" "$where; exit 5"
expect_status 5
expect_output "$host"
refute_output 'llmgw: ' # nobody types there

if [[ -d /sys/fs/cgroup/freezer ]]; then
    test_case "a job that can't be looked through: on the host, and nobody is kept out"
    many=$(extern_group "$job") && many=${many%/*}/many
    mkdir "$many" && (cd "$many" && seq 4100 | xargs mkdir)
    run typed "$where"
    expect_output "it is on the host, since it can't be told which containers job $job runs here"
    expect_output "$host"
    (cd "$many" && seq 4100 | xargs rmdir) && rmdir "$many"
fi
end_job

test_case "two containers: on the host"
job_with "$(step_for 4002)" "$(step_for 4003)"
expect "a container" wait_until 60 contained 4002
expect "another one" wait_until 60 contained 4003
run typed "$where"
expect_output "it is on the host, since job $job runs 2 containers here"
expect_output "$host"
refute_output "$inside"
run login "$LAB_USER@n1" "$where; $whereami"
expect_output "$host"
expect_output "in job $job, [1-9] groups"
end_job

test_case "a container with the user's home and with root's number in it, whose program makes namespaces of its own: one"
printf '#!/bin/sh\nbusybox unshare --user --mount sleep 4004 &\nexec sleep 4005\n' >"$WORK/nested.sh"
chmod 755 "$WORK/nested.sh"
job_with "--container-image=$LAB_IMAGE_SQUASHFS --container-remap-root --container-mounts=$WORK:$WORK $WORK/nested.sh"
for seconds in 4004 4005; do expect "sleep $seconds in the container" wait_until 60 contained "$seconds"; done
namespaces=$(for pid in $(sleeping 400[45]); do readlink "/proc/$pid/ns/user"; done | sort -u | wc -l)
expect_equal "$namespaces" 2
run login "$LAB_USER@n1" "$where; id -u; pwd; $whereami"
expect_output "$inside"$'\n'"0"$'\n'"$WORK"$'\n'"in job $job, [1-9] groups"

test_case "scancel ends the login in the container with all that it started"
login "$LAB_USER@n1" 'sleep 4011 & sleep 4012' &>/dev/null &
for seconds in 4011 4012; do expect "sleep $seconds in the container" wait_until 30 contained "$seconds"; done
end_job
nothing_left() { ! pgrep -u "$LAB_USER" -f '(^|/)sleep 40' >/dev/null; }
expect "nothing left" wait_until 60 nothing_left
scancel -Q -u lab-other
expect_unharmed
finish
