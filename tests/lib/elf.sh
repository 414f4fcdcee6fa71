# Reads and changes one number in a shared library. Sourced by tests.
# shellcheck shell=bash

# symbol_offset FILE SYMBOL: where in the file the symbol's value is.
symbol_offset() {
    local address offset start size
    address=$((16#$(readelf --dyn-syms -W "$1" | awk -v name="$2" '$8 == name { print $2; exit }')))
    ((address > 0)) || return 1
    # The loaded parts of the file: where each is in memory and in the file.
    while read -r offset start size; do
        ((address >= start && address < start + size)) || continue
        echo $((offset + address - start))
        return
    done < <(readelf -lW "$1" | awk '$1 == "LOAD" { print $2, $3, $5 }')
    return 1
}

# write_number FILE SYMBOL NUMBER: 32 bits, this machine's byte order being little-endian, as on all that we run on.
write_number() {
    local at bytes
    at=$(symbol_offset "$1" "$2") || return 1
    printf -v bytes '\\x%02x' $(($3 & 255)) $((($3 >> 8) & 255)) $((($3 >> 16) & 255)) $((($3 >> 24) & 255))
    printf '%b' "$bytes" | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
read_number() { od -An -tu4 -j "$(symbol_offset "$1" "$2")" -N4 "$1" | xargs; }
