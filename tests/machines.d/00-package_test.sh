#!/bin/bash
# The Debian package: what it installs, what it starts, who may do what then, and that nothing is left when it is gone.
# shellcheck disable=SC2317 # functions are called through run
# shellcheck source=tests/lib/machine-test.sh
. "$(dirname "$0")/../lib/machine-test.sh"

before=$(mktemp) after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT
package=$(ls "$MACHINES"/archive/llmgw-slurm_*.deb)
plugins=$(on n1 sh -c 'dirname /usr/lib/*/slurm-wlm/auth_munge.so')
# Where the helper puts its lines on Debian.
dropin=/etc/slurm/plugstack.conf.d/llmgw.conf

apt() { on "$1" env DEBIAN_FRONTEND=noninteractive apt-get -y -q "${@:2}"; }
slurm_files() { on "$1" sh -c 'cd /etc/slurm && find . -type f -exec sha256sum {} + | sort'; }
helper_pid() { on "$1" systemctl show -P MainPID llmgw-slurm-helper; }
# exposure NAME UNIT: as systemd-analyze judges a unit's sandbox, in tenths; 0 is best and 100 worst.
exposure() { on "$1" systemd-analyze security --no-pager "$2" | sed -nE 's/.*exposure level for .*: ([0-9]+)\.([0-9]).*/\1\2/p'; }

test_case "it is right by Debian's rules"
run lintian --no-cfg --fail-on error --allow-root "$package"
expect_status 0
run dpkg-deb --field "$package" Depends
expect_output 'slurm-wlm-basic-plugins \(>= 22\.05\), slurm-wlm-basic-plugins \(<< 22\.06~\)'
# By dpkg-shlibdeps.
expect_output 'libmicrohttpd12 \(>= .*libsystemd0 \(>= '

test_case "a machine whose Slurm is of another series doesn't take it"
series=$(mktemp -d)
mkdir "$series/DEBIAN"
printf '%s\n' 'Package: slurm-wlm-basic-plugins' 'Version: 24.11.5-1' 'Architecture: all' \
    'Maintainer: tests <tests@localhost>' 'Description: another Slurm' >"$series/DEBIAN/control"
dpkg-deb --root-owner-group --build "$series" "$series.deb" >/dev/null
on n1 sh -c 'cat >/tmp/series.deb' <"$series.deb"
rm -rf "$series" "$series.deb"
on n1 apt-get update -q >/dev/null 2>&1
run on n1 apt-get install -s /tmp/series.deb llmgw-slurm
expect_failure
expect_output 'Depends: slurm-wlm-basic-plugins \(<<? 22\.06~\)'

test_case "it installs on a controller and on nodes, and changes nothing of Slurm's"
other_service() { as_user_on n1 busctl set-property org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager LogLevel s debug; }
run other_service
other_service_before=$status:$output
file_listing n1 >"$before"
slurm_before=$(slurm_files controller)
for name in $(all_machines); do
    run install_package "$name"
    expect_status 0
    run on "$name" dpkg --audit
    expect_equal "$output" ""
done
expect_equal "$(slurm_files controller)" "$slurm_before"
expect "idle nodes" nodes_are idle
for file in "$plugins"/{spank_llmgw.so,spank_llmgw_options.so,job_submit_llmgw.so} /usr/bin/llmgw-slurm \
    /usr/sbin/llmgw-slurm-{helper,leader} /usr/libexec/llmgw-slurm/{proof-init,llmgw-slurm-login} /usr/share/llmgw-slurm/releases.json \
    "${plugins%/*}"/security/pam_llmgw_adopt.so /usr/share/pam-configs/llmgw-slurm{,-container} \
    /usr/share/man/man8/llmgw-slurm-helper.8.gz /usr/share/doc/llmgw-slurm/{copyright,changelog.gz}; do
    expect "$file" on n1 test -f "$file"
done
# Nobody's logins change by an installation.
run on n1 sh -c 'pam-auth-update --package && cat /etc/pam.d/common-*'
refute_output pam_llmgw_adopt

test_case "the helper runs, the leader waits for the admin"
for name in $(all_machines); do
    expect "the helper on $name" machine_wait 30 "$name" systemctl is-active --quiet llmgw-slurm-helper
    run on "$name" systemctl is-enabled llmgw-slurm-helper llmgw-slurm-leader
    expect_output $'^enabled\ndisabled$'
    run on "$name" systemctl is-active llmgw-slurm-leader
    expect_output '^inactive$'
    expect_equal "$(on "$name" systemctl show -P NRestarts llmgw-slurm-helper)" 0
    run on "$name" systemctl --failed --no-legend
    expect_equal "$output" ""
done
run exposure n1 llmgw-slurm-helper
expect "a small attack surface, not $output" test "$output" -le 40
run exposure n1 llmgw-slurm-leader
expect "a small attack surface, not $output" test "$output" -le 15

# arguments SIGNATURE: some that fit it.
arguments() {
    case $1 in
        -) ;;
        s) echo s auto ;;
        b) echo b true ;;
        ss) echo ss org.llmgw.Slurm1 State ;;
        sb) echo sb n1 true ;;
        asasxs) echo asasxs 0 0 0 requeue ;;
        ssv) echo ssv org.llmgw.Slurm1 State s ready ;;
        *) echo "$1" ;;
    esac
}
# bus_methods: INTERFACE METHOD SIGNATURE of all that the running object says it has.
bus_methods() {
    on n1 busctl introspect org.llmgw.Slurm1 /org/llmgw/Slurm1 | awk '$2 == "interface" { interface = $1 } $2 == "method" { print interface, substr($1, 2), $3 }'
}
call() {
    local user=$1 interface=$2 method=$3
    # shellcheck disable=SC2046
    MACHINE_USER=$user as_user_on n1 busctl call org.llmgw.Slurm1 /org/llmgw/Slurm1 "$interface" "$method" $(arguments "$4")
}
readable=" Introspectable.Introspect Peer.Ping Properties.Get Properties.GetAll Slurm1.Describe "

test_case "an ordinary user may read, and nothing else"
state_before=$(on n1 llmgw-slurm status --json)
methods=$(bus_methods)
expect "all methods of the interface's description to be there" test \
    "$(grep -c '^org.llmgw.Slurm1 ' <<<"$methods")" = "$(grep -c '<method ' "$LLMGW_SOURCE_DIR/docs/org.llmgw.Slurm1.xml")"
while read -r interface method signature; do
    run call ann "$interface" "$method" "$signature" </dev/null
    if [[ $readable == *" ${interface##*.}.$method "* ]]; then
        [[ $signature == s ]] && continue # Properties.GetAll with a name that is none
        expect_status 0
    else
        expect_failure
        expect_output '[Aa]ccess denied|[Rr]ejected|not permitted'
    fi
done <<<"$methods"
run as_user_on n1 llmgw-slurm status
expect_output 'this machine, n1: '
expect_equal "$(on n1 llmgw-slurm status --json)" "$state_before"

test_case "a member of the group llmgw-slurm may act"
on n1 usermod -aG llmgw-slurm bob
run call bob org.llmgw.Slurm1 Recheck -
expect_status 0
run call bob org.freedesktop.DBus.Properties Set ssv
expect_failure
on n1 gpasswd -d bob llmgw-slurm >/dev/null

test_case "a flood of calls doesn't stop the helper"
pid=$(helper_pid n1)
# shellcheck disable=SC2016
flood='for round in $(seq 20); do
    for call in $(seq 25); do busctl call org.llmgw.Slurm1 /org/llmgw/Slurm1 org.llmgw.Slurm1 Describe >/dev/null 2>&1 & done
    wait
done'
as_user_on n1 bash -c "$flood" &
flooding=$!
for _ in 1 2 3; do
    run on n1 llmgw-slurm recheck
    expect_status 0
done
wait "$flooding"
expect_equal "$(helper_pid n1)" "$pid"
expect_equal "$(on n1 systemctl show -P NRestarts llmgw-slurm-helper)" 0

test_case "nobody else can have the helper's name, and other services are as guarded as before"
on n1 systemctl stop llmgw-slurm-helper
run as_user_on n1 busctl call org.freedesktop.DBus /org/freedesktop/DBus org.freedesktop.DBus RequestName su org.llmgw.Slurm1 0
expect_failure
expect_output 'not allowed to own|[Aa]ccess denied'
on n1 systemctl start llmgw-slurm-helper
expect "the helper" machine_wait 30 n1 systemctl is-active --quiet llmgw-slurm-helper
run other_service
expect_equal "$status:$output" "$other_service_before"

test_case "an upgrade restarts the helper and takes nothing out of Slurm's configuration"
write_on n1 "$dropin" <<EOF
# llmgw-slurm: containers in Slurm jobs: guard in front, pyxis, guard again to verify; written by llmgw-slurm-helper
optional $plugins/spank_llmgw.so
optional $plugins/spank_llmgw_options.so
optional $plugins/spank_llmgw.so verify
EOF
pid=$(helper_pid n1)
slurm_before=$(slurm_files n1)
run apt n1 install --reinstall llmgw-slurm
expect_status 0
expect "the helper" machine_wait 30 n1 systemctl is-active --quiet llmgw-slurm-helper
expect "another process" test "$(helper_pid n1)" != "$pid"
expect_equal "$(slurm_files n1)" "$slurm_before"

test_case "while slurm.conf names the gate, the controller keeps the package"
expect "slurmctld with the gate" use_gate
run apt controller remove llmgw-slurm
expect_failure
expect_output 'llmgw-slurm: not removed: JobSubmitPlugins in /etc/slurm/slurm.conf names llmgw'
expect "the package" on controller test -e /usr/sbin/llmgw-slurm-leader
expect "the helper" machine_wait 30 controller systemctl is-active --quiet llmgw-slurm-helper
expect "slurmctld" as_user_on controller srun -N2 true
expect "slurmctld without the gate" leave_gate

test_case "with lines of somebody else's among its own it stays, too"
on n1 sh -c "echo optional /opt/site.so >>$dropin"
run apt n1 remove llmgw-slurm
expect_failure
expect_output "$dropin"
expect_output "llmgw-slurm: not removed: its lines are still in Slurm's plugstack.conf"
expect "the helper" machine_wait 30 n1 systemctl is-active --quiet llmgw-slurm-helper
on n1 sed -i /site.so/d "$dropin"

test_case "before it goes, its lines go, and no command of Slurm's ever notices"
on n1 touch /run/go-on
# shellcheck disable=SC2016
on n1 setpriv --reuid=ann --regid=ann --init-groups bash -c 'cd /; while test -e /run/go-on; do srun -w n1 true; done' >"$MACHINES/srun.log" 2>&1 &
running=$!
run apt n1 remove llmgw-slurm
expect_status 0
on n1 rm /run/go-on
expect "all steps to run" wait "$running"
expect_equal "$(<"$MACHINES/srun.log")" ""
expect "its lines to be gone" on n1 test ! -e "$dropin"
expect "no state for the guard" on n1 test ! -e /run/llmgw-slurm
expect "state and configuration to stay" on n1 test -d /var/lib/llmgw-slurm -a -d /etc/llmgw-slurm
run on n1 systemctl is-active llmgw-slurm-helper
expect_output '^inactive$'

test_case "purged, nothing is left"
for name in $(all_machines); do
    run apt "$name" purge llmgw-slurm
    expect_status 0
    run apt "$name" autoremove --purge
    expect_status 0
done
file_listing n1 >"$after"
run diff "$before" "$after"
expect_equal "$output" ""
run on n1 getent group llmgw-slurm
expect_failure
run on n1 sh -c 'dpkg -l | grep -v ^ii | tail -n +6'
expect_equal "$output" ""
finish
