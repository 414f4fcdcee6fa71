# The lab's places and the words for using it. Sourced by tests/lab and, through test.sh, by the tests; changes nothing.
# shellcheck shell=bash

LLMGW_SOURCE_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export LLMGW_BUILD_DIR=${LLMGW_BUILD_DIR:-$LLMGW_SOURCE_DIR/build}
export LLMGW_LAB_DIR=${LLMGW_LAB_DIR:-/var/tmp/llmgw-slurm-lab}
export LLMGW_LAB_PORT=${LLMGW_LAB_PORT:-16817} # slurmctld; slurmd of nI +I; leader +40; slurmrestd +41
export LLMGW_SOURCE_DIR LAB=$LLMGW_LAB_DIR
export LAB_USER=labuser
export LAB_IMAGE=$LAB/images/lab # a directory
export LAB_IMAGE_SQUASHFS=$LAB/images/lab.sqsh
export LAB_BUS=unix:path=$LAB/bus/socket
export LAB_LEADER=http://127.0.0.1:$((LLMGW_LAB_PORT + 40))
export LAB_REST=http://127.0.0.1:$((LLMGW_LAB_PORT + 41))

say() { printf 'lab: %s\n' "$*" >&2; }
die() {
    say "$*"
    exit 1
}

# The names of the compute nodes and of all machines of the lab that is up.
lab_nodes() { [[ ! -e $LAB/nodes ]] || cat "$LAB/nodes"; }
lab_machines() { echo ctl && lab_nodes; }

# Prints what a shell needs to use the lab as its submit host.
lab_env() {
    cat <<E
export LLMGW_BUILD_DIR='$LLMGW_BUILD_DIR' LLMGW_LAB_DIR='$LAB' LLMGW_LAB_PORT='$LLMGW_LAB_PORT'
export SLURM_CONF='$LAB/ctl/conf/slurm.conf' DBUS_SYSTEM_BUS_ADDRESS='$LAB_BUS'
export PATH='$LAB/bin:$LAB/ctl/bin:$(plain_path)'
E
}

# PATH without the lab's directories: one machine of the lab must not find another one's enroot.
plain_path() {
    local -a parts
    IFS=: read -r -a parts <<<"$PATH"
    printf '%s\n' "${parts[@]}" | grep -v "^$LAB/" | paste -sd:
}

# shellcheck source=tests/lib/wait.sh
. "$LLMGW_SOURCE_DIR/tests/lib/wait.sh"

# wait_job SECONDS JOB STATE: until scontrol shows the job in that state (a regular expression: 'COMPLETED|FAILED').
job_is() { [[ $(scontrol -o show job "$1" 2>/dev/null) =~ JobState=($2)( |$) ]]; }
wait_job() { wait_until "$1" job_is "$2" "$3"; }

# wait_node SECONDS NODE STATE: the same for a node, as sinfo prints it ('idle', 'drained').
node_is() { [[ $(sinfo -h -n "$1" -o %T) =~ ^($2)$ ]]; }
wait_node() { wait_until "$1" node_is "$2" "$3"; }

# as_user COMMAND...: as the unprivileged test user, in its home directory.
as_user() (
    local home=$LAB/home/$LAB_USER
    cd "$home" || exit 1
    HOME=$home USER=$LAB_USER LOGNAME=$LAB_USER exec setpriv --reuid="$LAB_USER" --regid="$LAB_USER" --init-groups \
        --inh-caps=-all "$@"
)

# on_node MACHINE COMMAND...: with that machine's Slurm configuration and its enroot.
on_node() (
    PATH=$LAB/$1/bin:$(plain_path)
    export PATH SLURM_CONF=$LAB/$1/conf/slurm.conf
    shift
    exec "$@"
)

# llmgw_slurm MACHINE ARGUMENT...: the command, talking to that machine's helper.
llmgw_slurm() { llmgw-slurm --bus-address "$LAB_BUS" --bus-name "org.llmgw.Slurm1.$1" "${@:2}"; }

# leader METHOD PATH [BODY]: asks the leader with the admin token; prints the body.
leader() {
    curl -sS -X "$1" -H "Authorization: Bearer $(<"$LAB/leader/token.admin")" ${3+-d "$3"} "$LAB_LEADER$2"
}

slurm_plugin_directory() {
    local file
    for file in /usr/lib/*/slurm-wlm/auth_munge.so /usr/lib{,64}/slurm{,-wlm}/auth_munge.so \
        /usr/local/lib{,64}/slurm/auth_munge.so; do
        [[ ! -e $file ]] || { dirname "$file"; return; }
    done
    die "Slurm's plugins are missing: tests/lib/packages.sh lab"
}

# The newest version of the REST interface that this Slurm's slurmrestd speaks, such as v0.0.38.
rest_version() {
    find "$(slurm_plugin_directory)" -name 'openapi_v0_0_*.so' -o -name 'data_parser_v0_0_*.so' |
        sed -E 's,.*_(v0_0_[0-9]+)\.so,\1,; s,_,.,g' | sort -V | tail -n 1
}

# rest METHOD PATH [BODY]: asks slurmrestd (tests/lab start slurmrestd) as the test user, for instance
# `rest GET /slurm/VERSION/ping`; prints the body.
rest() {
    local token
    token=$(scontrol token username="$LAB_USER" lifespan=300) || return 1
    curl -sS -X "$1" -H "X-SLURM-USER-NAME: $LAB_USER" -H "X-SLURM-USER-TOKEN: ${token#SLURM_JWT=}" \
        ${3+-H 'Content-Type: application/json' -d "$3"} "$LAB_REST${2/VERSION/$(rest_version)}"
}

# The two state files as a helper would write them, for tests of guard and gate that run without helpers.
# write_gate open|closed [MESSAGE]
write_gate() {
    local file=$LAB/ctl/run/gate
    printf '%s\n' 'llmgw-slurm-gate 1' "state $1" "revision ${EPOCHREALTIME/[.,]/}" 'oci no' \
        "message ${2:-llmgw: containers are not ready on this cluster: written by a test}" end >"$file.new"
    mv "$file.new" "$file"
}

# fingerprint FILE: dev:ino:size:mtime_ns:ctime_ns
fingerprint() { stat -L -c '%d:%i:%s:%.9Y:%.9Z' "$1" | tr -d .; }

# write_node MACHINE ready|not-ready [REASON]
write_node() {
    local base=$LAB/$1 file=$LAB/$1/run/node
    {
        printf '%s\n' 'llmgw-slurm-node 1' "machine $1" "state $2" "reason ${3:-pyxis 0.24.0, enroot 4.2.1}" \
            "boot $(</proc/sys/kernel/random/boot_id)" 'oci no'
        printf '%s\n' "pyxis.path $base/lib/spank_pyxis.so" "pyxis.fingerprint $(fingerprint "$base/lib/spank_pyxis.so")"
        printf '%s\n' "enroot.path $base/bin/enroot" "enroot.fingerprint $(fingerprint "$base/bin/enroot")" end
    } >"$file.new"
    mv "$file.new" "$file"
}

# What a test takes away from one machine and gives back. The library's line in plugstack.conf stays: see plugstack.
remove_pyxis() { mv "$LAB/$1/lib/spank_pyxis.so" "$LAB/$1/lib/away.spank_pyxis.so"; }
add_pyxis() { mv "$LAB/$1/lib/away.spank_pyxis.so" "$LAB/$1/lib/spank_pyxis.so"; }
remove_enroot() { mv "$LAB/$1/bin/enroot" "$LAB/$1/bin/away.enroot"; }
add_enroot() { mv "$LAB/$1/bin/away.enroot" "$LAB/$1/bin/enroot"; }

# plugstack MACHINE [with-pyxis|without-pyxis|without-guard|empty]: writes the machine's plugstack.conf, each line only
# where its library is there.
plugstack() {
    local base=$LAB/$1 mode=${2:-with-pyxis} lines=""
    local guard=$LAB/lib/spank_llmgw.so options=$LAB/lib/spank_llmgw_options.so pyxis=$base/lib/spank_pyxis.so
    case $mode in
        with-pyxis) ;;
        without-pyxis) pyxis='' ;;
        without-guard) guard='' options='' ;;
        empty) guard='' options='' pyxis='' ;;
        *) die "plugstack: no such form: $mode" ;;
    esac
    [[ ! -e $guard ]] || lines+="optional $guard run_dir=$base/run state_dir=$base/state"$'\n'
    [[ ! -e $options ]] || lines+="optional $options"$'\n'
    [[ ! -e $pyxis ]] || lines+="optional $pyxis runtime_path=$base/pyxis"$'\n'
    [[ ! -e $guard ]] || lines+="optional $guard verify run_dir=$base/run"$'\n'
    printf '%s' "$lines" >"$base/conf/plugstack.conf.new"
    mv "$base/conf/plugstack.conf.new" "$base/conf/plugstack.conf"
}
