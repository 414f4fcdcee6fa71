# Writes the lab's files. Sourced by tests/lab.
# shellcheck shell=bash
# shellcheck disable=SC2154 # first_job and slurm_user are set by tests/lab

# without PART: was it asked to leave that part out?
without() { [[ " ${LLMGW_LAB_WITHOUT-} " == *" $1 "* ]]; }

# install_built PART FILE TARGET: copies what the build made, where it made it. A copy by rename, since a build that
# writes over a library which a daemon has mapped would crash it.
install_built() {
    local found
    ! without "$1" || { rm -f "$3"; return 0; }
    found=$(find "$LLMGW_BUILD_DIR" -maxdepth 4 -name "$2" -type f -print -quit 2>/dev/null || true)
    [[ -n $found ]] || return 0
    install -D -m 755 "$found" "$3.new"
    mv "$3.new" "$3"
}

# The project's own parts, as far as they are built.
install_parts() {
    install_built guard spank_llmgw.so "$LAB/lib/spank_llmgw.so"
    install_built guard spank_llmgw_options.so "$LAB/lib/spank_llmgw_options.so"
    install_built gate job_submit_llmgw.so "$LAB/plugins/job_submit_llmgw.so"
    install_built leader llmgw-slurm-leader "$LAB/bin/llmgw-slurm-leader"
    install_built helper llmgw-slurm-helper "$LAB/bin/llmgw-slurm-helper"
    install_built helper llmgw-slurm "$LAB/bin/llmgw-slurm"
}

# pyxis and enroot, the real ones where the machine has them, in LAB/standin or LAB/real.
real_pyxis=${LLMGW_LAB_PYXIS:-/usr/local/lib/slurm/spank_pyxis.so}
real_enroot=${LLMGW_LAB_ENROOT:-/usr/bin/enroot}

prepare_containers() {
    local out=$LAB/containers
    mkdir -p "$out"
    if [[ -e $real_pyxis && -x $real_enroot && ${LLMGW_LAB_STANDIN-} != 1 ]]; then
        say "containers by the real pyxis and enroot of this machine"
        cp "$real_pyxis" "$out/spank_pyxis.so"
        # Its configuration is the machine's; only where containers are kept differs from node to node.
        cat >"$out/enroot" <<EOF
#!/bin/sh
. "\$(dirname "\$0")/../etc/enroot/places"
export ENROOT_DATA_PATH ENROOT_CACHE_PATH ENROOT_RUNTIME_PATH PATH="\$PATH:${real_enroot%/*}"
exec $real_enroot "\$@"
EOF
        chmod 755 "$out/enroot"
        return
    fi
    local built=$LLMGW_BUILD_DIR/tests/standin
    if [[ ! -e $built/spank_pyxis.so || ! -e $built/enroot ]]; then
        built=$out
        [[ ! -d $LLMGW_BUILD_DIR ]] || built=$LLMGW_BUILD_DIR/lab-standin
        mkdir -p "$built"
        make -s -C "$LLMGW_SOURCE_DIR/tests/standin" OUT="$built" >&2 || die "could not build the stand-ins"
    fi
    [[ $built == "$out" ]] || cp "$built"/{spank_pyxis.so,enroot} "$out/"
}

# A machine's own pyxis and enroot, so that a test can take them away from it.
install_containers() {
    local base=$LAB/$1
    install -D -m 755 "$LAB/containers/spank_pyxis.so" "$base/lib/spank_pyxis.so"
    install -D -m 755 "$LAB/containers/enroot" "$base/bin/enroot"
    mkdir -p "$base/etc/enroot" "$base/pyxis"
    mkdir -p "$base"/enroot/{data,cache,run}
    chmod 1777 "$base"/enroot/{data,cache,run}
    cat >"$base/etc/enroot/enroot.conf" <<EOF
ENROOT_DATA_PATH $base/enroot/data/user-\$(id -u)
ENROOT_CACHE_PATH $base/enroot/cache/user-\$(id -u)
ENROOT_RUNTIME_PATH $base/enroot/run/user-\$(id -u)
ENROOT_ROOTFS_WRITABLE yes
EOF
    sed -n 's/ /=/; /PATH/p' "$base/etc/enroot/enroot.conf" >"$base/etc/enroot/places"
}

slurm_conf() {
    local machine=$1 plugins=$2 address=127.0.0.1 i=0 node
    cat <<EOF
ClusterName=llmgw-lab
SlurmctldHost=ctl($address)
SlurmctldPort=$LLMGW_LAB_PORT
SlurmUser=$slurm_user
AuthType=auth/munge
AuthInfo=socket=$LAB/munge/socket
StateSaveLocation=$LAB/ctl/spool
SlurmdSpoolDir=$LAB/$machine/spool
SlurmctldPidFile=$LAB/ctl/slurmctld.pid
SlurmdPidFile=$LAB/$machine/slurmd.pid
SlurmctldLogFile=$LAB/ctl/log/slurmctld.log
SlurmdLogFile=$LAB/$machine/log/slurmd.log
SlurmctldDebug=${LLMGW_LAB_DEBUG:-verbose}
SlurmdDebug=${LLMGW_LAB_DEBUG:-verbose}
# Every machine has its own copy of this file, with its own places.
DebugFlags=NO_CONF_HASH
PluginDir=$plugins:$LAB/plugins
PlugStackConfig=$LAB/$machine/conf/plugstack.conf
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
ReturnToService=1
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_min_interval=1000,bf_interval=1
FirstJobId=$first_job
MinJobAge=300
KillWait=2
InactiveLimit=0
MessageTimeout=20
SlurmdTimeout=60
EOF
    [[ -z ${LLMGW_LAB_PROLOG_FLAGS-} ]] || echo "PrologFlags=$LLMGW_LAB_PROLOG_FLAGS"
    [[ ! -e $LAB/plugins/job_submit_llmgw.so ]] || echo "JobSubmitPlugins=llmgw"
    [[ ! -e $plugins/auth_jwt.so ]] ||
        printf 'AuthAltTypes=auth/jwt\nAuthAltParameters=jwt_key=%s\n' "$LAB/ctl/jwt.key"
    for node in $(lab_nodes); do
        i=$((i + 1))
        # More CPUs than the machine may have: jobs share it.
        echo "NodeName=$node NodeHostname=$node NodeAddr=$address Port=$((LLMGW_LAB_PORT + i)) CPUs=4 RealMemory=2000"
    done
    echo "PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP"
    printf '%s' "${LLMGW_LAB_SLURM_CONF-}"
}

cgroup_conf() {
    if [[ ${LLMGW_LAB_CGROUP-} == v2 ]]; then
        printf 'CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nCgroupMountpoint=%s\n' "$(cgroup2_mount)"
    elif [[ -d /sys/fs/cgroup/freezer ]]; then
        printf 'CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n'
    else
        printf 'CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n'
    fi
}

bus_conf() {
    cat <<EOF
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>$LAB_BUS</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Introspectable"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Properties"/>
  </policy>
  <includedir>$LAB/bus/system.d</includedir>
</busconfig>
EOF
}

# The project's bus policy, once for every machine of the lab with that machine's bus name in place of the real one.
bus_policies() {
    local policy=$LLMGW_SOURCE_DIR/conf/org.llmgw.Slurm1.conf machine
    mkdir -p "$LAB/bus/system.d"
    for machine in $(lab_machines); do
        if [[ -e $policy ]]; then
            sed -E "s/(own|send_destination|receive_sender)=\"org\.llmgw\.Slurm1\"/\1=\"org.llmgw.Slurm1.$machine\"/g" "$policy"
        else
            printf '<busconfig><policy user="root"><allow own="%s"/></policy>\n' "org.llmgw.Slurm1.$machine"
            printf '<policy context="default"><allow send_destination="%s"/></policy></busconfig>\n' \
                "org.llmgw.Slurm1.$machine"
        fi >"$LAB/bus/system.d/$machine.conf"
    done
}

leader_settings() {
    local nodes
    nodes=$(lab_nodes | sed 's/.*/"&"/' | paste -sd, -)
    printf '{"enabled": true, "cluster_name": "llmgw-lab", "controller": "ctl", "nodes": [%s], "containers": true}\n' \
        "$nodes"
}

write_configuration() {
    local machine plugins
    plugins=$(slurm_plugin_directory)
    for machine in $(lab_machines); do
        mkdir -p "$LAB/$machine"/{conf,run,state,spool,log,lib,bin}
        slurm_conf "$machine" "$plugins" >"$LAB/$machine/conf/slurm.conf"
        cgroup_conf >"$LAB/$machine/conf/cgroup.conf"
        install_containers "$machine"
        plugstack "$machine"
    done
    chown "$slurm_user:" "$LAB/ctl/spool" "$LAB/ctl/log"
    (umask 077 && head -c 32 /dev/urandom >"$LAB/ctl/jwt.key" && head -c 128 /dev/urandom >"$LAB/munge/key")
    chown "$slurm_user:" "$LAB/ctl/jwt.key"
    bus_conf >"$LAB/bus/bus.conf"
    bus_policies
    leader_settings >"$LAB/leader/settings.json"
}
