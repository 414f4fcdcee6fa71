#!/bin/bash
# Runs in a machine: prints every file with type, mode, owner and what is in it, sorted. Left out is what changes by
# itself or only keeps records: logs, caches, saved copies of databases, and what the tests bring along.
set -euo pipefail
cd /
left_out=(./proc ./sys ./dev ./run ./tmp ./srv ./root/.cache ./etc/.pwd.lock './etc/*-' ./etc/.updated ./var/.updated
    ./var/tmp ./var/log ./var/cache ./var/backups ./var/spool ./var/lib/systemd/timers ./var/lib/slurm ./var/lib/munge
    ./var/lib/apt/lists ./var/lib/apt/periodic './var/lib/dpkg/*-old' './var/lib/dpkg/lock*' ./var/lib/dpkg/triggers
    './home/*/.*')
expression=()
for path in "${left_out[@]}"; do expression+=(-path "$path" -o); done
unset 'expression[-1]'
{
    # A file's size is in its digest, a directory's means nothing.
    find . \( "${expression[@]}" \) -prune -o -printf '%p %y %m %U:%G %l\n'
    find . \( "${expression[@]}" \) -prune -o -type f -print0 | xargs -0 -P2 -n500 sha256sum | sed -E 's/^(\S+) [ *](.*)/\2 sha256 \1/'
} | LC_ALL=C sort
