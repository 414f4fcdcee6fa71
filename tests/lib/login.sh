# Words for the tests of logins: an sshd for a machine of the lab, with PAM's lines of its own. Sourced behind jobs.sh.
# shellcheck shell=bash

LOGIN=$LAB/login
module=$LLMGW_BUILD_DIR/plugins/pam_llmgw_adopt.so
admin_group=llmgw-lab-admin
# Besides the lab's own user, who has a job on n1: one for each row of the table of verdicts.
login_users="lab-other:20011 lab-jobless:20012 lab-admin:20013 lab-two:20014 lab-array:20015 lab-het:20016
    lab-suspended:20017 lab-ended:20018"
known_as="test user of the llmgw-slurm lab's logins"

remove_login_users() {
    local user
    for user in $login_users; do
        [[ $(getent passwd "${user%:*}" | cut -d: -f5) != "$known_as" ]] || userdel "${user%:*}" 2>/dev/null
    done
    ! getent group $admin_group >/dev/null || groupdel $admin_group
}

make_login_users() {
    local user home
    getent group $admin_group >/dev/null || groupadd --system $admin_group
    for user in $login_users; do
        home=$LAB/home/${user%:*}
        getent passwd "${user%:*}" >/dev/null ||
            useradd -K SUB_UID_COUNT=0 -K SUB_GID_COUNT=0 --uid "${user#*:}" --user-group --no-create-home --home-dir "$home" \
                --shell /bin/bash --comment "$known_as" "${user%:*}" || return 1
        mkdir -p "$home"
        chown "${user%:*}:" "$home"
    done
    usermod -aG $admin_group lab-admin
    chmod 755 "$LAB/home"
}

# Keys of a client that may log in as anyone, and a host key.
make_login_keys() {
    local user
    mkdir -p "$LOGIN/keys" /run/sshd
    [[ -e $LOGIN/key ]] || ssh-keygen -q -t ed25519 -N '' -f "$LOGIN/key"
    [[ -e $LOGIN/host_key ]] || ssh-keygen -q -t ed25519 -N '' -f "$LOGIN/host_key"
    for user in root "$LAB_USER" $login_users; do cp "$LOGIN/key.pub" "$LOGIN/keys/${user%:*}"; done
    chmod 711 "$LOGIN"
    chmod 755 "$LOGIN/keys"
}

# Slurm knows its processes by cgroup v2 here.
cgroups_are_v2() { [[ ${LLMGW_LAB_CGROUP-} == v2 || ! -d /sys/fs/cgroup/freezer ]]; }
# extern_group JOB: the directory of its extern step, in the hierarchy by which Slurm knows it, as its slurmstepd is in it: how
# Slurm names directories of jobs depends on its version.
extern_group() {
    local pid path
    pid=$(pgrep -o -f "slurmstepd: \[$1.extern\]") || return 1
    if cgroups_are_v2; then
        path=$(sed -n 's,^0::,,p' "/proc/$pid/cgroup")
        echo "$(cgroup2_mount)${path%/slurm}"
    else
        path=$(sed -nE 's,^[0-9]+:freezer:,,p' "/proc/$pid/cgroup")
        echo "/sys/fs/cgroup/freezer${path%/step_extern}/step_extern"
    fi
}
# nobody_in GROUP: but a slurmstepd.
nobody_in() { [[ -z $(find "$1" -name slurm -prune -o -name cgroup.procs -exec cat {} + 2>/dev/null) ]]; }
is_frozen() { grep -qE 'FROZEN|^frozen 1' "$1"/freezer.state "$1"/cgroup.events 2>/dev/null; }

# for_logins: Slurm as logins need it, with memory and devices constrained and four GPUs that are none on each node; the
# daemons' files are put back by as_before.
for_logins() {
    local machine i
    mkdir -p "$LAB/dev"
    for i in 0 1 2 3; do [[ -e $LAB/dev/gpu$i ]] || mknod -m 666 "$LAB/dev/gpu$i" c 240 "$i"; done
    for machine in $(lab_machines); do
        local conf=$LAB/$machine/conf
        [[ -e $conf/slurm.conf.before ]] || cp "$conf/slurm.conf" "$conf/slurm.conf.before"
        [[ -e $conf/cgroup.conf.before ]] || cp "$conf/cgroup.conf" "$conf/cgroup.conf.before"
        sed -E "s/^(NodeName.*) CPUs=4 /\\1 Gres=gpu:4 CPUs=32 /; /^PrologFlags=/d" "$conf/slurm.conf.before" >"$conf/slurm.conf"
        printf 'PrologFlags=%s\nGresTypes=gpu\n' "${1-Contain}" | sed '/=$/d' >>"$conf/slurm.conf"
        [[ -z ${2-} ]] || echo "$2" >>"$conf/slurm.conf"
        # Memory's controller is v1's on a host that has both.
        { cat "$conf/cgroup.conf.before" && echo ConstrainDevices=yes && { cgroups_are_v2 || echo ConstrainRAMSpace=yes; }; } >"$conf/cgroup.conf"
        echo "Name=gpu File=$LAB/dev/gpu[0-3]" >"$conf/gres.conf"
    done
    restart_slurm
}

as_before() {
    local machine
    for machine in $(lab_machines); do
        [[ -e $LAB/$machine/conf/slurm.conf.before ]] || continue
        mv "$LAB/$machine/conf/slurm.conf.before" "$LAB/$machine/conf/slurm.conf"
        mv "$LAB/$machine/conf/cgroup.conf.before" "$LAB/$machine/conf/cgroup.conf"
        rm -f "$LAB/$machine/conf/gres.conf"
    done
    restart_slurm
}

restart_slurm() {
    local node
    for node in $(lab_nodes); do stop_daemon "slurmd-$node"; done
    stop_daemon slurmctld
    start_slurmctld
    for node in $(lab_nodes); do start_slurmd "$node"; done
    for node in $(lab_nodes); do slurmd_ready "$node"; done
    wait_until 30 nodes_fine
}

# login_port NAME: of the sshd for that machine; labs beside each other are 50 apart.
login_port() {
    case $1 in
        n1) echo $((LLMGW_LAB_PORT + 42)) ;;
        n2) echo $((LLMGW_LAB_PORT + 43)) ;;
        n3) echo $((LLMGW_LAB_PORT + 44)) ;;
        ctl) echo $((LLMGW_LAB_PORT + 45)) ;;
        *) echo $((LLMGW_LAB_PORT + 46)) ;;
    esac
}

# module_words MACHINE: the arguments that tell the lab's machines apart, which share one host.
module_words() { echo "conf=$LAB/$1/conf/slurm.conf admin_group=$admin_group ${login_words-}"; }

# pam_lines MACHINE [before=LINE] [after=LINE] [auth]: the machine's sshd lines, with more session lines before or after
# the module's. Written in place, since sshd has the file itself mounted.
pam_lines() {
    local machine=$1 before='' after='' auth='' line="$module"
    shift
    while (($#)); do
        case $1 in
            before=*) before=${1#before=} ;;
            after=*) after=${1#after=} ;;
            module=*) line=${1#module=} ;;
            auth) auth="auth optional $module" ;;
        esac
        shift
    done
    local words=''
    [[ $line != "$module" ]] || words=$(module_words "$machine")
    [[ -z $auth ]] || auth+=" $words"
    mkdir -p "$LOGIN/$machine"
    cat >"$LOGIN/$machine/pam" <<EOF
auth required pam_unix.so
$auth
account required pam_nologin.so
account required pam_unix.so
account required $line $words
session required pam_limits.so
$before
session required $line $words
$after
EOF
}

# Since 9.8 sshd hangs up on an address from which too many were refused, and here all come from one.
penalties() {
    echo "PerSourcePenalties no" >"$LOGIN/penalties"
    ! /usr/sbin/sshd -t -h "$LOGIN/host_key" -f "$LOGIN/penalties" 2>/dev/null || cat "$LOGIN/penalties"
}

# start_sshd MACHINE [HIDDEN...]: with those files hidden from it, and the lines of `sshd_lines` at the end of its
# configuration.
start_sshd() {
    local machine=$1 base=$LOGIN/$1 port
    port=$(login_port "$1")
    [[ -e $base/pam ]] || pam_lines "$machine"
    mkdir -p "$base"
    cat >"$base/sshd_config" <<EOF
Port $port
ListenAddress 127.0.0.1
HostKey $LOGIN/host_key
PidFile none
UsePAM yes
PermitRootLogin yes
StrictModes no
AuthorizedKeysFile $LOGIN/keys/%u
PasswordAuthentication no
KbdInteractiveAuthentication yes
AcceptEnv SLURM_* LANG
MaxStartups 1000
MaxSessions 1000
LogLevel VERBOSE
UseDNS no
X11Forwarding no
PrintMotd no
Subsystem sftp internal-sftp
$(penalties)
${sshd_lines-}
EOF
    ! port_open "$port" || { say "port $port is taken" && return 1; }
    # The lines are those of the one service that the module acts for.
    # shellcheck disable=SC2016
    LLMGW_LAB_MARK=$LAB SLURM_CONF=/nonexistent/slurm.conf setsid unshare --uts --mount bash -c '
        echo "$1" >/proc/sys/kernel/hostname
        mount --bind "$2/pam" /etc/pam.d/sshd
        for file in "${@:3}"; do mount --bind /dev/null "$file"; done
        exec /usr/sbin/sshd -D -e -f "$2/sshd_config"' - "$machine" "$base" "${@:2}" </dev/null >>"$base/log" 2>&1 9>&- &
    register "sshd-$machine" $!
    wait_until 30 port_open "$port"
}

stop_sshd() { stop_daemon "sshd-$1"; }

# as USER COMMAND...: as_user for any of the users.
as() (
    LAB_USER=$1
    as_user "${@:2}"
)

# job_of USER ARGUMENT...: a job that runs until it is cancelled; sets `job` once it runs and takes logins.
job_of() {
    job=$(as "$1" sbatch --parsable -o /dev/null "${@:2}" --wrap 'exec sleep infinity') || return 1
    job=${job%%;*}
    wait_job 30 "$job" RUNNING
}

# extern_on NODE JOB: until its extern step is there.
extern_on() { wait_until 30 test -S "$LAB/$1/spool/$1_$2.4294967292"; }

# login USER@MACHINE COMMAND...: one login by key; its words, the module's sentences included.
login() {
    ssh -F none -i "$LOGIN/key" -p "$(login_port "${1#*@}")" -o BatchMode=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o LogLevel=INFO -o ConnectTimeout=60 ${login_option-} \
        -l "${1%@*}" 127.0.0.1 "${@:2}"
}

# What a login says of where it is: its job, and in how many hierarchies it is in an extern step.
# shellcheck disable=SC2016
whereami='echo "in job ${SLURM_JOB_ID-none}, $(grep -c /step_extern /proc/self/cgroup) groups"'

