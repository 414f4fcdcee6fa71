#!/bin/bash
# Every fault at every step, on n1. After each: the machine is as before or further, its status names the reason, plain
# jobs ran meanwhile, and `apply` later succeeds without help.
#   download   connection cut again and again; nothing there; wrong content; half a file; no space
#   packages   dpkg locked; a damaged package with a digest that fits; half-configured by a killed dpkg
#   pyxis      no compiler to be had; headers of another Slurm; a build that hangs
#   proof      a tool is missing
#   all steps  the helper killed as each step begins
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/machine-test.sh"
# shellcheck source=tests/lib/machine-containers.sh
. "$LLMGW_SOURCE_DIR/tests/lib/machine-containers.sh"

install_llmgw || exit 1
# The site's own here, so that each turn takes seconds; 20-ready has the helper bring and remove them.
tools=(gcc libc6-dev make libslurm-dev squashfs-tools)
on n1 env DEBIAN_FRONTEND=noninteractive apt-get install -y -q "${tools[@]}" >/dev/null || exit 1
containers on
machine_becomes n1 '^ready|uninstall' 600 || exit 1
make_image n1
start_faulty_mirror n1
set_option n1 mirror http://127.0.0.1:8099/
RUN_LIMIT=600

# Quiet: that it waits its turn behind a container's job is no failure.
plain_job() {
    local how
    how=$(as_user_on controller srun --quiet -w n1 true 2>&1) || { echo "$how" && return 1; }
    [[ -z $how ]]
}
# Plain jobs on n1, one after the other, as long as the file is there.
plain_jobs() {
    while [[ -e $MACHINES/plain-jobs ]]; do
        plain_job || echo "a plain job failed at $(date +%T)" >>"$MACHINES/plain-jobs.failed"
        echo >>"$MACHINES/plain-jobs.ran"
    done
}
bare() { take_back n1; }

# fails REASON: apply does, its last word and the status match, and no container starts.
fails() {
    run on n1 llmgw-slurm apply --wait
    expect_status 1
    expect_output "apply failed: .*$1"
    expect "the status to name it, not $(this_machine n1)" machine_is n1 "not-ready, .*$1"
    run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
    expect_failure
    refute_output 'NAME='
}
# succeeds: with the fault gone.
succeeds() {
    run on n1 llmgw-slurm apply --wait
    expect_status 0
    expect "it to become ready" machine_becomes n1 '^ready'
    run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
    expect_status 0
    expect_output 'Lab image'
}

rm -f "$MACHINES"/plain-jobs.{failed,ran}
touch "$MACHINES/plain-jobs"
plain_jobs &
jobs_running=$!

test_case "download: the connection is cut every 5,000 bytes"
bare
mirror_fault n1 "cut 5000"
succeeds

test_case "download: the files are not there"
bare
mirror_fault n1 missing
fails 'could not download what is pinned: .*404'
run on n1 dpkg-query -W enroot
expect_failure
mirror_fault n1 none
succeeds

test_case "download: wrong content"
bare
mirror_fault n1 flip
fails 'could not download what is pinned: .*SHA-256 [0-9a-f]{64} was expected'
expect "no file under its name" on n1 sh -c '! ls /var/cache/llmgw-slurm/*.deb 2>/dev/null'
mirror_fault n1 none
succeeds

test_case "download: half a file, said to be whole"
bare
mirror_fault n1 truncate
fails 'could not download what is pinned: '
mirror_fault n1 none
succeeds

test_case "download: no space"
bare
on n1 mkdir -p /var/cache/llmgw-slurm
on n1 mount -t tmpfs -o size=64k,mode=755 tmpfs /var/cache/llmgw-slurm
on n1 systemctl restart llmgw-slurm-helper
machine_becomes n1 'not-ready' 60
fails 'could not download what is pinned: .*no room'
on n1 umount /var/cache/llmgw-slurm
on n1 systemctl restart llmgw-slurm-helper
machine_becomes n1 '^ready' 300
succeeds

test_case "packages: dpkg is locked for 90 seconds"
bare
# dpkg itself, busy with somebody's package.
on n1 bash -euc 'mkdir -p /root/slow/DEBIAN && cd /root
    printf "Package: slow\nVersion: 1\nArchitecture: all\nMaintainer: t <t@t>\nDescription: t\n" >slow/DEBIAN/control
    printf "#!/bin/sh\n[ \"\$1\" != configure ] || sleep 90\n" >slow/DEBIAN/postinst
    chmod 755 slow/DEBIAN/postinst && dpkg-deb -b slow slow.deb >/dev/null'
on n1 systemd-run --quiet --unit=somebody apt-get install -y /root/slow.deb
expect "the lock to be held" wait_until 60 on n1 sh -c 'grep -q . /var/lib/dpkg/updates/* 2>/dev/null || pgrep -x dpkg >/dev/null'
run on n1 llmgw-slurm apply --wait
expect_status 0
expect_output 'waiting for [^'$'\n'']*\(PID [0-9]+\), which holds /var/lib/dpkg/lock'
succeeds
on n1 dpkg -P slow >/dev/null
on n1 rm -rf /root/slow /root/slow.deb

test_case "packages: a damaged package whose digest fits"
bare
on n1 cp /etc/llmgw-slurm/releases.json /root/releases.json
on n1 mkdir /root/mirror
on n1 sh -c 'cp /srv/mirror/* /root/mirror/ && truncate -s -1000 /root/mirror/enroot_*.deb'
good=$(on n1 sha256sum /srv/mirror/enroot_4.2.1-1_amd64.deb | cut -d' ' -f1)
bad=$(on n1 sha256sum /root/mirror/enroot_4.2.1-1_amd64.deb | cut -d' ' -f1)
on n1 sed -i "s/$good/$bad/" /etc/llmgw-slurm/releases.json
set_option n1 mirror /root/mirror
machine_becomes n1 'not-ready' 60
fails 'could not install enroot 4.2.1: '
run on n1 dpkg -l enroot
refute_output '^.[^n ] +enroot '
on n1 mv /root/releases.json /etc/llmgw-slurm/releases.json
on n1 rm -r /root/mirror
set_option n1 mirror http://127.0.0.1:8099/
machine_becomes n1 '^ready' 300
succeeds

test_case "packages: a dpkg that was killed left a package half configured"
bare
on n1 bash -euc 'mkdir -p /root/half/DEBIAN && cd /root
    printf "Package: half\nVersion: 1\nArchitecture: all\nMaintainer: t <t@t>\nDescription: t\n" >half/DEBIAN/control
    printf "#!/bin/sh\n[ \"\$1\" != configure ] || [ -e /root/go ] || { touch /root/go; kill -9 \$PPID; sleep 1; }\n" >half/DEBIAN/postinst
    chmod 755 half/DEBIAN/postinst && dpkg-deb -b half half.deb >/dev/null; dpkg -i half.deb || true' >/dev/null 2>&1
run on n1 dpkg-query -W -f '${Status}' half
refute_output 'ok installed'
succeeds
run on n1 dpkg-query -W -f '${Status}' half
expect_output 'ok installed'
on n1 dpkg -P half >/dev/null
on n1 rm -rf /root/half /root/half.deb /root/go

test_case "pyxis: no compiler to be had"
bare
on n1 dpkg -P --force-depends gcc >/dev/null 2>&1
on n1 apt-get -y -q -f install >/dev/null 2>&1
on n1 sh -c 'dpkg -P gcc 2>/dev/null; mv /etc/apt/sources.list /etc/apt/sources.list.away; apt-get update -q' >/dev/null 2>&1
run on n1 llmgw-slurm apply --wait
expect_status 1
expect_output 'apply failed: could not '
expect "the status to name it, not $(this_machine n1)" machine_is n1 'not-ready, could not '
on n1 sh -c 'mv /etc/apt/sources.list.away /etc/apt/sources.list; apt-get update -q' >/dev/null
succeeds

test_case "pyxis: headers of another Slurm in front"
bare
on n1 mkdir -p /usr/local/include/slurm
write_on n1 /usr/local/include/slurm/slurm_version.h <<<'#define SLURM_VERSION_NUMBER 0x150800'
write_on n1 /usr/local/include/slurm/slurm_errno.h <<<''
write_on n1 /usr/local/include/slurm/slurm.h <<<'#include <slurm/slurm_version.h>'
write_on n1 /usr/local/include/slurm/spank.h <<<'#include <slurm/slurm.h>'
fails '21\.08'
on n1 rm -r /usr/local/include/slurm
succeeds

test_case "pyxis: the build hangs"
bare
write_on n1 /usr/local/bin/make 755 <<<'#!/bin/sh
sleep 1000'
set_option n1 build-timeout 10
machine_becomes n1 '^(not-)?ready' 60
fails 'could not build pyxis 0.24.0: '
on n1 rm /usr/local/bin/make
set_option n1 build-timeout
machine_becomes n1 '^ready' 300
succeeds

test_case "proof: a tool is missing"
bare
on n1 mv /usr/bin/unsquashfs /usr/bin/unsquashfs.away
fails 'could not prove that a user.s container starts: .*unsquashfs'
run on n1 grep -r pyxis /etc/slurm/plugstack.conf.d
expect_failure
on n1 mv /usr/bin/unsquashfs.away /usr/bin/unsquashfs
succeeds

test_case "the helper is killed as each step begins"
bare
: >"$MACHINES/killed"
kill_at_each_step() {
    local line
    on n1 journalctl -f -n 0 -o cat --no-pager -u llmgw-slurm-helper | while read -r line; do
        line=${line%%:*}
        [[ $line =~ ^(download|install|write|build|prove|put) ]] || continue
        grep -qxF "$line" "$MACHINES/killed" && continue
        echo "$line" >>"$MACHINES/killed"
        kill_helper n1
    done
}
on n1 systemctl reset-failed llmgw-slurm-helper
kill_at_each_step &
killer=$!
run on n1 llmgw-slurm apply --wait
expect "it to become ready by itself" machine_becomes n1 '^ready' 600
pkill -P "$killer" || true
kill "$killer" 2>/dev/null
sed 's/^/   killed at: /' "$MACHINES/killed"
expect "a kill at each step" test "$(wc -l <"$MACHINES/killed")" -ge 7
run as_user_on controller srun -w n1 --container-image=/images/lab cat /etc/os-release
expect_status 0
expect_output 'Lab image'
succeeds

rm -f "$MACHINES/plain-jobs"
wait "$jobs_running"
test_case "plain jobs ran all the time, and none failed"
ran=$(wc -l <"$MACHINES/plain-jobs.ran")
echo "   $ran of them"
expect "more than 20 plain jobs" test "$ran" -gt 20
expect_equal "$(cat "$MACHINES/plain-jobs.failed" 2>/dev/null)" ""
expect_equal "$(on controller sinfo -h -n n1 -o %T)" idle

set_option n1 mirror /srv/mirror
stop_faulty_mirror n1
expect "it to be ready in the end" machine_becomes n1 '^ready'
finish
