# Finds and ends everything that belongs to the lab, also after it was killed. Sourced by tests/lab.
# shellcheck shell=bash
# shellcheck disable=SC2154 # first_job and slurm_user are set by tests/lab

# What a lab leaves behind is found by the mark that its daemons have in their environment, not by lists that a killed
# script may not have written.
marked_processes() {
    grep -lzxF -- "LLMGW_LAB_MARK=$1" /proc/[0-9]*/environ 2>/dev/null | sed -E 's,/proc/([0-9]+)/.*,\1,'
}

# Is some other lab up on this machine? What labs share (the test user, a node's cgroup) is then left alone.
other_lab_runs() {
    grep -qzvxF -- "LLMGW_LAB_MARK=$LAB" < <(grep -hzE '^LLMGW_LAB_MARK=' /proc/[0-9]*/environ 2>/dev/null)
}

# with_descendants PID...: these processes and all below them. No argument: nothing.
with_descendants() {
    local -A ours=()
    local -a pairs
    local pid parent more=1
    (($#)) || return 0
    for pid in "$@"; do ours[$pid]=1; done
    mapfile -t pairs < <(grep -H '^PPid:' /proc/[0-9]*/status 2>/dev/null | sed -nE 's,/proc/([0-9]+)/status:PPid:\t,\1 ,p')
    while ((more)); do
        more=0
        for pair in "${pairs[@]}"; do
            read -r pid parent <<<"$pair"
            [[ -v ours[$parent] && ! -v ours[$pid] ]] || continue
            ours[$pid]=1
            more=1
        done
    done
    printf '%s\n' "${!ours[@]}"
}

# This script and what called it, up to init.
own_line() {
    local pid=$$
    while ((pid > 0)); do
        echo "$pid"
        pid=$(sed -n 's/^PPid:\t//p' "/proc/$pid/status" 2>/dev/null) || break
    done
}

# Jobs of this lab are known by their numbers (FirstJobId): other labs may have nodes of the same name.
job_cgroups() {
    local directory job
    for directory in /sys/fs/cgroup/*/slurm_*/uid_*/job_* /sys/fs/cgroup/*/*_slurmstepd.scope/job_* \
        /sys/fs/cgroup/*_slurmstepd.scope/job_* "$(cgroup2_mount)/llmgw-lab-$LLMGW_LAB_PORT"-*/*/*_slurmstepd.scope/*; do
        job=${directory##*/job_}
        [[ -d $directory && $job =~ ^[0-9]+$ ]] || continue
        ((job < first_job || job >= first_job + 5000)) || echo "$directory"
    done
}

# Commands such as srun that wait for this lab; a test or a shell that uses it is left alone.
clients() {
    local file
    for file in $(grep -lzE -- "^SLURM_CONF=$LAB/" /proc/[0-9]*/environ 2>/dev/null); do
        case $(readlink "${file%/environ}/exe") in
            */srun | */salloc | */sbatch | */scontrol | */squeue | */sinfo | */scancel | */sattach)
                file=${file%/environ}
                echo "${file#/proc/}"
                ;;
        esac
    done
}

lab_processes() {
    local -a roots
    # None of the three finding anything is no error.
    mapfile -t roots < <({
        marked_processes "$LAB" || true
        clients || true
        job_cgroups | while read -r directory; do
            find "$directory" -name cgroup.procs -exec cat {} + 2>/dev/null || true
        done
    } | sort -u)
    with_descendants "${roots[@]}"
}

kill_processes() {
    local directory
    for directory in $(job_cgroups); do
        # A frozen process can't die.
        find "$directory" -name freezer.state -exec sh -c 'echo THAWED >"$1"' sh {} \; 2>/dev/null || true
    done
    local -a pids
    mapfile -t pids < <(lab_processes)
    ((${#pids[@]})) || return 0
    # A mistake here would end the machine's other work: a list with one of our own ancestors in it can't be right.
    [[ -z $(comm -12 <(own_line | sort) <(printf '%s\n' "${pids[@]}" | sort)) ]] ||
        die "down was started from inside the lab's own daemons, or its list of processes is wrong: ${pids[*]}"
    kill -KILL "${pids[@]}" 2>/dev/null || true
    return 1
}

remove_cgroups() {
    local node directory
    job_cgroups | while read -r directory; do find "$directory" -depth -type d -exec rmdir {} +; done 2>/dev/null
    for node in $1; do
        directory=$(lab_cgroup "$node")
        [[ ! -d $directory ]] || find "$directory" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
    other_lab_runs && return 0
    for node in $1; do
        for directory in /sys/fs/cgroup/*/"slurm_$node" /sys/fs/cgroup/*/"${node}_slurmstepd.scope"; do
            [[ ! -d $directory ]] || find "$directory" -depth -type d -exec rmdir {} + 2>/dev/null || true
        done
    done
}

remove_mounts() {
    awk -v lab="$LAB/" 'index($5, lab) == 1 { print $5 }' /proc/self/mountinfo | sort -r | while read -r place; do
        umount -l "$place"
    done
}

lab_user_comment="test user of the llmgw-slurm lab"

add_user() {
    getent passwd "$LAB_USER" >/dev/null ||
        useradd -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 --uid 20001 --user-group --no-create-home --home-dir "$LAB/home/$LAB_USER" --shell /bin/bash \
            --comment "$lab_user_comment" "$LAB_USER" 2>/dev/null || die "could not make the user $LAB_USER"
    mkdir -p "$LAB/home/$LAB_USER"
    chown "$LAB_USER:" "$LAB/home/$LAB_USER"
    chmod 700 "$LAB/home/$LAB_USER"
}

remove_user() {
    [[ $(getent passwd "$LAB_USER" | cut -d: -f5) == "$lab_user_comment" ]] || return 0
    other_lab_runs || userdel "$LAB_USER" 2>/dev/null || say "could not remove the user $LAB_USER"
}
