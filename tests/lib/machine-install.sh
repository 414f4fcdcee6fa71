# Our package on the machines, and what an admin would configure then. Sourced by tests/machines and the tests.
# shellcheck shell=bash
# shellcheck disable=SC2153 # MACHINES and LLMGW_BUILD_DIR are set by machines.sh

export MACHINES_LEADER=https://controller:8470

# prepare_archive: our package, in an archive that the machines see, and the mirror of enroot's and pyxis's stand-ins.
prepare_archive() {
    local build
    build=$(cd "$LLMGW_BUILD_DIR" && pwd) || return 1
    mkdir -p "$MACHINES"/{archive,mirror}
    # One for another Debian is packed where it is built, since its dependencies are looked up there.
    if [[ $MACHINES_RELEASE == bookworm ]]; then
        rm -rf "$build/package"
        cpack --config "$build/CPackConfig.cmake" -B "$build/package" >"$MACHINES/cpack.log" 2>&1 ||
            { tail -n 20 "$MACHINES/cpack.log" && return 1; }
    fi
    publish "$build"/package/*.deb
    bash "$LLMGW_SOURCE_DIR/tests/standin/mirror" "$MACHINES/mirror" "$build/tests/standin/enroot"
    certificates
}

# publish PACKAGE...: puts package files where the machines' apt finds them after its next update.
publish() {
    cp "$@" "$MACHINES/archive/"
    index_archive "$MACHINES/archive"
}

# An authority of our own, and a certificate for the leader.
certificates() (
    mkdir -p "$MACHINES/tls" && cd "$MACHINES/tls" && exec >openssl.log 2>&1
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=test authority" \
        -keyout ca.key -out ca.pem
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=controller" -keyout leader.key -out leader.csr
    openssl x509 -req -in leader.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -out leader.pem \
        -extfile <(echo "subjectAltName=DNS:controller,IP:$(machine_address controller)")
)

# install_package NAME...: with apt, as a site would. Needs no configuration.
install_package() {
    local name failed=0
    local -a jobs=()
    for name in "$@"; do
        { on "$name" apt-get update -q && on "$name" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q llmgw-slurm; } \
            </dev/null >"$MACHINES/$name/install.log" 2>&1 &
        jobs+=("$!")
    done
    for name in "$@"; do
        wait "${jobs[0]}" || { failed=1 && echo "$name:" && tail -n 20 "$MACHINES/$name/install.log"; }
        jobs=("${jobs[@]:1}")
    done
    return "$failed"
}

# configure_leader: on the controller, for three machines, with containers off.
configure_leader() {
    local state=/var/lib/llmgw-slurm-leader nodes
    write_on controller /etc/llmgw-slurm/leader.pem <"$MACHINES/tls/leader.pem"
    write_on controller /etc/llmgw-slurm/leader.key 600 <"$MACHINES/tls/leader.key"
    on controller mkdir -p /etc/systemd/system/llmgw-slurm-leader.service.d
    write_on controller /etc/systemd/system/llmgw-slurm-leader.service.d/listen.conf <<EOF
[Service]
LoadCredential=cert.pem:/etc/llmgw-slurm/leader.pem
LoadCredential=key.pem:/etc/llmgw-slurm/leader.key
Environment="LLMGW_LEADER_OPTIONS=--listen=$(machine_address controller):8470 --tls-cert=%d/cert.pem --tls-key=%d/key.pem"
EOF
    on controller systemctl daemon-reload
    on controller systemctl enable --quiet --now llmgw-slurm-leader || return 1
    nodes=$(machine_nodes | sed 's/.*/"&"/' | paste -sd, -)
    write_on controller "$state/settings.json" <<EOF
{"enabled": true, "cluster_name": "llmgw", "controller": "controller", "nodes": [$nodes], "lent": [$nodes], "containers": false}
EOF
}

# configure_helper NAME...: tokens, the leader's address and certificate, and the mirror.
configure_helper() {
    local name token
    token=$(on controller cat /var/lib/llmgw-slurm-leader/token.machine) || return 1
    for name in "$@"; do
        write_on "$name" /etc/llmgw-slurm/ca.pem <"$MACHINES/tls/ca.pem"
        write_on "$name" /etc/llmgw-slurm/token 600 <<<"$token"
        write_on "$name" /etc/llmgw-slurm/releases.json <"$MACHINES/mirror/releases.json"
        {
            echo "leader = $MACHINES_LEADER"
            echo "ca-file = /etc/llmgw-slurm/ca.pem"
            echo "mirror = /srv/mirror"
            [[ $name != controller ]] || echo "admin-token-file = /etc/llmgw-slurm/token.admin"
        } | write_on "$name" /etc/llmgw-slurm/helper.conf
        [[ $name != controller ]] || on controller cat /var/lib/llmgw-slurm-leader/token.admin |
            write_on controller /etc/llmgw-slurm/token.admin 600
        on "$name" systemctl restart llmgw-slurm-helper || return 1
    done
}

# use_gate / leave_gate: has slurmctld load the gate, or not any more.
use_gate() {
    local name
    for name in $(all_machines); do
        on "$name" sh -c "grep -q '^JobSubmitPlugins=' /etc/slurm/slurm.conf || echo JobSubmitPlugins=llmgw >>/etc/slurm/slurm.conf"
    done
    on controller systemctl restart slurmctld && wait_until 60 nodes_are idle
}
leave_gate() {
    local name
    for name in $(all_machines); do on "$name" sed -i '/^JobSubmitPlugins=llmgw$/d' /etc/slurm/slurm.conf; done
    on controller systemctl restart slurmctld && wait_until 60 nodes_are idle
}

# install_llmgw: all of that, on all machines; what is there already stays.
install_llmgw() {
    local name
    local -a missing=()
    for name in $(all_machines); do
        on "$name" dpkg-query -W -f='${db:Status-Status}' llmgw-slurm 2>/dev/null | grep -qx installed || missing+=("$name")
    done
    ((${#missing[@]} == 0)) || install_package "${missing[@]}" || return 1
    on controller systemctl is-active --quiet llmgw-slurm-leader || configure_leader || return 1
    for name in $(all_machines); do
        on "$name" test -e /etc/llmgw-slurm/helper.conf || configure_helper "$name" || return 1
    done
    use_gate
}
