#!/bin/sh
# Checks a vDSO: it needs no relocation and no other object, is one segment, and fits its pages.
#
#   tools/vdso_check.sh FILE
set -eu
die() { printf 'vdso_check.sh: %s: %s\n' "$1" "$2" >&2; exit 1; }
pages=$(sed -n 's/^#define VDSO_PAGES_MAX *\([0-9]*\).*/\1/p' "${0%/*}/../kernel/vdso/vdso.h")
readelf -rW "$1" | grep -q 'no relocations' || die "$1" "has relocations"
readelf -dW "$1" | grep -qE 'NEEDED|TEXTREL' && die "$1" "needs another object or relocation"
readelf --dyn-syms -W "$1" | awk '$7 == "UND" && $8 { exit 1 }' || die "$1" "has an undefined symbol"
[ "$(readelf -lW "$1" | grep -c '^ *LOAD')" = 1 ] || die "$1" "has not one segment"
[ "$(wc -c <"$1")" -le $((pages * 4096)) ] || die "$1" "is larger than $pages pages (VDSO_PAGES_MAX)"
