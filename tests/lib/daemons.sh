# Starts and ends the lab's daemons. Sourced by tests/lab.
# A daemon is known by its name: munged, bus, slurmctld, slurmd-n1, leader, helper-ctl, helper-n1, slurmrestd.
# shellcheck shell=bash

daemon_pid() { sed 's/ .*//' "$LAB/pids/$1" 2>/dev/null; }

# A process number alone may be somebody else's by now, so its start time is kept beside it.
start_time() {
    local line
    read -r line <"/proc/$1/stat" || return 1
    # shellcheck disable=SC2086
    set -- ${line##*) }
    [[ $1 != Z ]] && echo "${20}" # one that its parent has not buried yet is gone all the same
} 2>/dev/null
register() { echo "$2 $(start_time "$2")" >"$LAB/pids/$1"; }
alive() {
    local pid start
    read -r pid start <"$LAB/pids/$1" && [[ $(start_time "$pid") == "$start" ]]
} 2>/dev/null

daemon_logs() {
    case $1 in
        slurmctld) ls "$LAB/ctl/log/slurmctld.log" "$LAB/ctl/log/slurmctld.out" ;;
        slurmd-*) ls "$LAB/${1#slurmd-}"/log/slurmd.{log,out} ;;
        *) ls "$LAB/log/$1.out" ;;
    esac 2>/dev/null
}

# failed DAEMON WHAT: ends with the daemon's last words.
failed() {
    local log
    say "$1: $2"
    for log in $(daemon_logs "$1"); do
        say "the end of $log:"
        tail -n 15 "$log" | sed 's/^/    /' >&2
    done
    exit 1
}

# ready DAEMON SECONDS COMMAND...: waits for the command to succeed; gives up early if the daemon ends. The seconds are
# generous, since they only matter on a machine that is busy or when something is broken.
ready() {
    local name=$1 seconds=$2
    shift 2
    # shellcheck disable=SC2317
    up_or_gone() { "$@" || ! alive "$name"; }
    wait_until "$seconds" up_or_gone "$@" || failed "$name" "not ready after $seconds s"
    "$@" >/dev/null 2>&1 || failed "$name" "it ended"
}

# spawn DAEMON HOSTNAME OUTPUT COMMAND...: in the background, in its own session and with its own host name.
spawn() {
    local name=$1 host=$2 out=$3
    shift 3
    # The lock's descriptor stays here: a daemon that kept it would lock out every later lab.
    LLMGW_LAB_MARK=$LAB setsid unshare --uts sh -c 'echo "$0" >/proc/sys/kernel/hostname; exec "$@"' "$host" "$@" \
        </dev/null >>"$out" 2>&1 9>&- &
    register "$name" $!
}

is_controller_up() { scontrol ping | grep -q 'is UP'; }
# Looks instead of connecting: a daemon logs an error for a connection that says nothing.
port_open() { grep -qiE "^ *[0-9]+: [0-9A-F]+:$(printf %04X "$1") [0-9A-F]+:0000 0A " /proc/net/tcp /proc/net/tcp6; }

start_munged() {
    # It answers only once it is ready; the key and the directories are root's.
    LLMGW_LAB_MARK=$LAB munged --force --key-file="$LAB/munge/key" --socket="$LAB/munge/socket" \
        --pid-file="$LAB/munge/pid" --log-file="$LAB/log/munged.out" --seed-file="$LAB/munge/seed" --num-threads=4 \
        9>&- 2>>"$LAB/log/munged.out" || failed munged "it did not start"
    register munged "$(<"$LAB/munge/pid")"
}

start_bus() {
    LLMGW_LAB_MARK=$LAB dbus-daemon --config-file="$LAB/bus/bus.conf" --fork --nopidfile --print-pid \
        9>&- >"$LAB/bus/pid" 2>>"$LAB/log/bus.out" || failed bus "it did not start"
    register bus "$(<"$LAB/bus/pid")"
}

start_slurmctld() {
    LLMGW_SLURM_RUN_DIR=$LAB/ctl/run SLURM_CONF=$LAB/ctl/conf/slurm.conf \
        spawn slurmctld ctl "$LAB/ctl/log/slurmctld.out" slurmctld -D -f "$LAB/ctl/conf/slurm.conf"
    ready slurmctld 60 is_controller_up
}

# Where cgroup v2 is mounted, on a host with v1 beside it: /sys/fs/cgroup/unified.
cgroup2_mount() { awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts; }

lab_cgroup() { echo "$(cgroup2_mount)/llmgw-lab-$LLMGW_LAB_PORT-$1"; }

# start_slurmd NODE [PROGRAM...]: started by that program.
# With LLMGW_LAB_CGROUP=v2 slurmd and what it starts read of v2 alone where they are, since they refuse a host that has both.
start_slurmd() {
    local shim=$LAB/lib/only_cgroup2.so group
    local -a own=()
    if [[ ${LLMGW_LAB_CGROUP-} == v2 ]]; then
        [[ -e $shim ]] || "${CC:-cc}" -shared -fPIC -O1 -o "$shim" "$LLMGW_SOURCE_DIR/tests/lib/only_cgroup2.c" || return 1
        # One of its own, as systemd's for a service: since 24.11 slurmd moves whatever else is in its group away.
        group=$(lab_cgroup "$1")
        mkdir -p "$(cgroup2_mount)/system.slice" "$group"
        # shellcheck disable=SC2016
        own=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group")
    else
        shim=
    fi
    SLURM_CONF=$LAB/$1/conf/slurm.conf PATH=$LAB/$1/bin:$(plain_path) \
        spawn "slurmd-$1" "$1" "$LAB/$1/log/slurmd.out" "${own[@]}" env ${shim:+"LD_PRELOAD=$shim"} "${@:2}" slurmd -D -N "$1" -f "$LAB/$1/conf/slurm.conf"
}

start_leader() {
    [[ -e $LAB/bin/llmgw-slurm-leader ]] || return 0
    spawn leader leader "$LAB/log/leader.out" "$LAB/bin/llmgw-slurm-leader" --directory "$LAB/leader" \
        --listen "127.0.0.1:$((LLMGW_LAB_PORT + 40))"
    ready leader 30 port_open $((LLMGW_LAB_PORT + 40))
}

start_helper() {
    [[ -e $LAB/bin/llmgw-slurm-helper && -e $LAB/bin/llmgw-slurm-leader ]] || return 0
    local base=$LAB/$1 releases=$LLMGW_SOURCE_DIR/conf/releases.json
    local -a options=(--machine "$1" --leader "$LAB_LEADER" --token-file "$LAB/leader/token.machine"
        --run-dir "$base/run" --state-dir "$base/state" --plugstack "$base/conf/plugstack.conf"
        --slurm-conf-dir "$base/conf" --enroot "$base/bin/enroot" --bus-address "$LAB_BUS"
        --observe --pyxis "$base/lib/spank_pyxis.so" --enroot-conf-dir "$base/etc/enroot" --own-releases "$base/no-releases.json"
        --proof-init "$LLMGW_BUILD_DIR/helper/proof-init"
        --bus-name "org.llmgw.Slurm1.$1")
    # Lending drains nodes that are not lent: for the tests of it alone.
    [[ -z ${LLMGW_LAB_LEND-} || $1 == ctl ]] || options+=(--lend --gpu-device "$base/dev/gpu*" --gpu-unseen "$(</proc/1/comm)"
        --node-program "$LLMGW_BUILD_DIR/helper/llmgw-slurm-node")
    [[ $1 != ctl ]] || options+=(--admin-token-file "$LAB/leader/token.admin")
    [[ ! -e $releases ]] || options+=(--releases "$releases")
    SLURM_CONF=$base/conf/slurm.conf PATH=$base/bin:$(plain_path) \
        spawn "helper-$1" "$1" "$LAB/log/helper-$1.out" "$LAB/bin/llmgw-slurm-helper" "${options[@]}"
}

on_bus() {
    [[ $(busctl --address="$LAB_BUS" call org.freedesktop.DBus / org.freedesktop.DBus NameHasOwner s "$1") == "b true" ]]
}
helper_answers() {
    on_bus "org.llmgw.Slurm1.$1" && [[ -e $LAB/$1/run/node && ($1 != ctl || -e $LAB/ctl/run/gate) ]] &&
        ! grep -qE '^reason (no container was started|prove that)' "$LAB/$1/run/node"
}
helper_ready() {
    [[ ! -e $LAB/pids/helper-$1 ]] || ready "helper-$1" 60 helper_answers "$1"
}

slurmd_answers() {
    local port
    port=$(sed -n "s/^NodeName=$1 .* Port=\([0-9]*\) .*/\1/p" "$LAB/ctl/conf/slurm.conf")
    port_open "$port" && node_is "$1" 'idle|mixed|allocated|drained|draining|reserved|maint'
}
slurmd_ready() { ready "slurmd-$1" 60 slurmd_answers "$1"; }

# On demand only: slurmrestd may not run as root nor as SlurmUser, and takes tokens from `scontrol token`. The service
# that asks slurmdbd is left out, since the lab has none.
start_slurmrestd() {
    local plugins service
    plugins=$(slurm_plugin_directory)
    service=slurmctld
    [[ -e $plugins/openapi_slurmctld.so ]] || service=openapi/$(rest_version)
    SLURM_CONF=$LAB/ctl/conf/slurm.conf SLURM_JWT=daemon spawn slurmrestd ctl "$LAB/log/slurmrestd.out" \
        setpriv --reuid=nobody --regid=nogroup --clear-groups slurmrestd -a rest_auth/jwt -s "$service" \
        "${LAB_REST#http://}"
    ready slurmrestd 30 port_open $((LLMGW_LAB_PORT + 41))
}

start_daemon() {
    case $1 in
        munged | bus | slurmctld | leader | slurmrestd) "start_$1" ;;
        slurmd-*) start_slurmd "${1#slurmd-}" && slurmd_ready "${1#slurmd-}" ;;
        helper-*) start_helper "${1#helper-}" && helper_ready "${1#helper-}" ;;
        *) die "no such daemon: $1 (munged bus slurmctld slurmd-n1... leader helper-ctl helper-n1... slurmrestd)" ;;
    esac
}

stop_daemon() {
    alive "$1" || return 0
    kill -TERM "$(daemon_pid "$1")"
    # shellcheck disable=SC2317
    gone() { ! alive "$1"; }
    wait_until "${2:-10}" gone "$1" || { say "$1 does not end, killing it" && kill -KILL "$(daemon_pid "$1")"; }
    rm -f "$LAB/pids/$1"
}
