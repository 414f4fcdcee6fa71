# Words for the tests of lending. Sourced behind test.sh and jobs.sh. llmgw's replicas are files, replicas/NODE/NAME; its leader
# drains with a program of the test's (fake-llmgw), which holds on while LAB/hold-drain exists.
# shellcheck shell=bash
# shellcheck disable=SC2154 # lab is set by jobs.sh

replicas=$LAB/replicas

# begin_lending: llmgw has replicas on every node, nothing is lent, the helpers of the nodes lend.
begin_lending() {
    local node
    mkdir -p "$replicas"
    cat >"$LAB/bin/fake-llmgw" <<'E'
#!/bin/sh
# drain|release|replicas NODE DIRECTORY: a replica ends when it is drained, one is started when its node is released
here=$3/$2
mkdir -p "$here"
case $1 in
    drain) while [ -e "$3/../hold-drain" ]; do sleep 0.05; done; rm -f "$here"/* ;;
    release) touch "$here/model" ;;
    replicas) ls "$here" | wc -l ;;
esac
E
    chmod 755 "$LAB/bin/fake-llmgw"
    for node in $(lab_nodes); do
        mkdir -p "$replicas/$node" "$LAB/$node/dev"
        touch "$replicas/$node/model" "$LAB/$node/dev/gpu0"
    done
    jq -n --arg p "$LAB/bin/fake-llmgw" --arg d "$replicas" \
        '[["drain", "release", "replicas"][] | {(.): [$p, ., "{node}", $d]}] | add' >"$LAB/leader/leader.json.new"
    chmod 600 "$LAB/leader/leader.json.new"
    mv "$LAB/leader/leader.json.new" "$LAB/leader/leader.json"
    export LLMGW_LAB_LEND=1
    for node in $(lab_nodes); do "$lab" restart "helper-$node" 2>/dev/null; done
}

# end_lending: as if there had never been any.
end_lending() {
    local node
    unset LLMGW_LAB_LEND
    rm -f "$LAB/hold-drain"
    for daemon in slurmctld leader; do "$lab" start "$daemon" 2>/dev/null; done
    for node in $(lab_nodes); do
        "$lab" stop "helper-$node" 2>/dev/null
        rm -rf "${LAB:?}/$node"/{state/lending,run/fence,dev}
        # Slurm 24.11 keeps a reason; a lab is to be left with none.
        scontrol update nodename="$node" state=resume 2>/dev/null
        "$lab" start "helper-$node" 2>/dev/null
    done
    "$lab" stop leader 2>/dev/null
    rm -rf "$LAB/leader/leader.json" "$LAB/leader/leases" "$replicas"
    jq 'del(.lent)' "$LAB/leader/settings.json" >"$LAB/settings.new"
    cat "$LAB/settings.new" >"$LAB/leader/settings.json"
    "$lab" start leader 2>/dev/null
}

# record NODE KEY: of the durable record.
record() { sed -n "s/^$2 //p" "$LAB/$1/state/lending" 2>/dev/null; }
phase_is() { [[ $(record "$1" phase) == "$2" && $(record "$1" closing) == no ]]; }
# wait_phase NODE PHASE [SECONDS]
wait_phase() { wait_until "${3:-60}" phase_is "$1" "$2"; }
all_in_phase() {
    local node
    for node in $(lab_nodes); do phase_is "$node" "$1" || return 1; done
}
lease() { leader GET "/slurm/v1/nodes/$1/lease"; }
lease_is() { [[ $(lease "$1" | jq -r .state) == "$2" ]]; }
reason_of_node() { scontrol -o show node "$1" | sed -n 's/.* Reason=\(.*\) \[.*@.*\].*/\1/p'; }
drained() { scontrol -o show node "$1" | grep -q ' State=[A-Z*]*+DRAIN'; }
not_drained() { ! drained "$1"; }
lend() { llmgw_slurm ctl lend "$@"; }
reclaim() { llmgw_slurm ctl reclaim "$@"; }

# One owner: Slurm can start a job only where the leader holds the node for it and llmgw has no replica.
expect_one_owner() {
    local node
    for node in "$@"; do
        if phase_is "$node" slurm; then
            expect "the leader to hold $node for Slurm" lease_is "$node" free
            expect "no replica on $node" test -z "$(ls "$replicas/$node")"
        else
            expect "$node to be drained" drained "$node"
            expect "the leader to have $node" lease_is "$node" none
        fi
    done
}
