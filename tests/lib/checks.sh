# Checks for tests: each test is a bash script that checks things and ends with `finish`. Sourced by test.sh and
# machine-test.sh.
# shellcheck shell=bash

failures=0
checks=0
current=""
output=""
status=0
ran=""

# test_case NAME: a heading for the checks that follow.
test_case() {
    current=$*
    printf '== %s\n' "$current"
}

# run COMMAND...: runs it, RUN_LIMIT seconds at most, and sets `status` and `output` (both streams). The command may be
# a function; it sees exported variables only.
run() {
    ran="$*"
    status=0
    output=$(timeout --kill-after=5 "${RUN_LIMIT:-60}" bash -c "$(declare -f)"$'\n"$@"' - "$@" 2>&1 </dev/null) || status=$?
}

_check() {
    checks=$((checks + 1))
    if "${@:2}"; then return 0; fi
    failures=$((failures + 1))
    printf 'FAILED: %s: %s\n  ran: %s\n  status: %s\n' "$current" "$1" "$ran" "$status"
    printf '%s\n' "$output" | sed 's/^/  | /'
    return 1
}
_matches() { [[ $1 =~ $2 ]]; }
_no_match() { ! [[ $1 =~ $2 ]]; }

# Patterns are bash's extended regular expressions; ^ and $ are the ends of the whole output, not of a line.
# Each tells what is wrong with the last `run`, counts it and lets the test go on.
expect_status() { _check "expected status $1" test "$status" = "$1"; }
expect_failure() { _check "expected it to fail" test "$status" != 0; }
expect_output() { _check "expected output to match: $1" _matches "$output" "$1"; }
refute_output() { _check "expected output not to match: $1" _no_match "$output" "$1"; }
# expect WHAT COMMAND...: any other condition.
expect() { _check "expected $1" "${@:2}"; }
expect_equal() { _check "expected '$2', got '$1'" test "$1" = "$2"; }

skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}

finish() {
    printf '%s: %d passed, %d failed\n' "$(basename "$0")" $((checks - failures)) "$failures"
    exit $((failures > 0))
}
