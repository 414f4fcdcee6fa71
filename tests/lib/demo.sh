# What demos show and promise. Sourced by tests/demo and machine-demo.sh.
# shellcheck shell=bash

failed=0
output=""

step() { printf '\n== %s\n' "$*"; }

# show WANTED-STATUS COMMAND...: prints the command as one would type it, runs it, prints what it printed. A demo whose words are not
# what one would type has an `as_typed` of its own.
show() {
    local wanted=$1 status=0 typed word
    shift
    typed=""
    for word in "$@"; do
        [[ $word != *[[:space:]\;]* ]] || word="'$word'"
        typed+=" $word"
    done
    as_typed "\$$typed"
    output=$("$@" 2>&1 </dev/null) || status=$?
    [[ -z $output ]] || as_typed "$output"
    [[ $status == "$wanted" ]] || promise "exit code $wanted, not $status" false
}
as_typed() { printf '%s\n' "$1"; }

# promise WHAT COMMAND...: what the demo says must be so.
promise() {
    "${@:2}" && return
    printf 'NOT AS PROMISED: %s\n' "$1"
    failed=$((failed + 1))
}
says() { [[ $output == *"$1"* ]]; }

# end_of_demo: the last line; 1 when anything was not as promised.
end_of_demo() {
    if ((failed)); then
        printf 'demo: %d things were not as promised\n' "$failed"
        return 1
    fi
    echo "demo: everything was as promised"
}
