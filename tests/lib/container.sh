#!/bin/bash
# The first process in a tree's own namespaces: mounts what a container has and makes the tree the root. Used by in_tree.
# container.sh TREE SOURCE BUILD own|shared COMMAND... (the fourth: the network)
set -euo pipefail

tree=$1 source=$2 build=$3 network=$4
shift 4

mount --make-rprivate /
mount --bind "$tree" "$tree"
cd "$tree"
mkdir -p source build
mount --bind "$source" source
mount -o remount,bind,ro source
mount --bind "$build" build
mount -t proc proc proc
mount -t sysfs sysfs sys 2>/dev/null || mount --rbind /sys sys
for directory in run tmp var/tmp; do mount -t tmpfs -o mode=1777 tmpfs "$directory"; done
chmod 755 run

mount -t tmpfs -o mode=755 tmpfs dev
mkdir dev/pts dev/shm
for device in null zero full random urandom tty; do
    touch "dev/$device"
    mount --bind "/dev/$device" "dev/$device"
done
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
ln -s /proc/self/fd/0 dev/stdin
ln -s /proc/self/fd/1 dev/stdout
ln -s /proc/self/fd/2 dev/stderr

# The hierarchies as this machine has them, each from our own directory down.
if [[ $(awk '$3 == "cgroup2" { print $2 }' /proc/mounts | head -n 1) == /sys/fs/cgroup ]]; then
    mount -t cgroup2 cgroup2 sys/fs/cgroup
    # Controllers are handed down only by a directory that holds no process.
    mkdir sys/fs/cgroup/first && echo $$ >sys/fs/cgroup/first/cgroup.procs
    sed 's/\(^\| \)/\1+/g' sys/fs/cgroup/cgroup.controllers >sys/fs/cgroup/cgroup.subtree_control
else
    mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
    while IFS=: read -r _ controllers _; do
        if [[ -z $controllers ]]; then
            mkdir sys/fs/cgroup/unified && mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
            continue
        fi
        directory=sys/fs/cgroup/${controllers#name=}
        mkdir "$directory"
        mount -t cgroup -o "${controllers/#name=/none,name=}" cgroup "$directory"
    done </proc/self/cgroup
fi

hostname "matrix-${tree##*/}"
if [[ $network == own ]]; then
    # slurmctld looks up where srun waits, and 24.11 stands still for ten seconds when it can't.
    printf '127.0.0.1 localhost matrix-%s\n' "${tree##*/}" >etc/hosts
    mount --bind /dev/null etc/resolv.conf
    ip link set lo up
    # Slurm's daemons ask getaddrinfo for the families that this machine has (AI_ADDRCONFIG), and 127.0.0.1 counts as none.
    ip address add 192.0.2.1/32 dev lo
fi
mkdir -p .old
pivot_root . .old
cd /
umount -l /.old
# Its own environment: only proxies, for apt, come from outside, and what is meant for the tests.
# The lab's place is its own, since a lab outside ends what belongs to a lab of its name, in here, too.
environment=(PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
    LLMGW_BUILD_DIR=/build "LLMGW_LAB_DIR=/var/tmp/matrix-${tree##*/}")
while IFS= read -r -d '' variable; do
    case $variable in
        http_proxy=* | https_proxy=* | no_proxy=* | LLMGW_LAB_DEBUG=*) environment+=("$variable") ;;
    esac
done </proc/self/environ
# Not exec: the first process has to bury those that daemons leave behind, which bash does.
env -i "${environment[@]}" "$@"
