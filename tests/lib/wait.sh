# Waiting for what no file or process announces. Sourced.
# shellcheck shell=bash

# wait_until SECONDS COMMAND...: asks the command again until it succeeds; 1 when the time is over. It returns within a
# twentieth of a second of their happening.
wait_until() {
    local -i end=$((${EPOCHREALTIME/[.,]/} + $1 * 1000000))
    shift
    until "$@" >/dev/null 2>&1; do
        ((${EPOCHREALTIME/[.,]/} < end)) || return 1
        sleep 0.05
    done
}

# wait_log SECONDS FILE REGEX: until a line of the file matches (extended regular expression).
wait_log() { wait_until "$1" grep -qsE -- "$3" "$2"; }

# wait_file SECONDS FILE / wait_no_file SECONDS FILE
wait_file() { wait_until "$1" test -e "$2"; }
wait_no_file() { wait_until "$1" test ! -e "$2"; }
