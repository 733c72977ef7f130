#!/bin/sh
# The policies' library: installed, and used by the program that docs/extend/policies.md shows.  Nothing is
# booted.
. "${0%/*}/../qemu/lib.sh"

r=0
env -u MAKEFLAGS make --no-print-directory install-policy PREFIX="$work/prefix" >"$console" 2>&1 || r=1
result $r "the library is installed"
sed -n '/^```c$/,/^```$/p' docs/extend/policies.md | sed '/^```/d' >"$work/example.c"
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
r=0
(cd "$work" && gcc -Wall -Wextra -Werror example.c $(pkg-config --cflags --libs vigil-policy) -o example && ./example) >"$console" 2>&1 || r=1
result $r "the program of docs/extend/policies.md is built with it, and runs"
says '^lru 1000$' "... LRU misses every page of a loop over more than there is room for"
misses=$(sed -n 's/^mru //p' "$console")
r=0
[ "${misses:-1000}" -ge 280 ] && [ "${misses:-1000}" -le 300 ] || r=1
result $r "... MRU a fifth of them"
r=0
tools/install_policy.sh relative "$console" hpm/policy/mux.c >"$console" 2>&1 && r=1
result $r "a PREFIX that is no absolute path is refused"
says '^install_policy.sh: error: PREFIX=relative: expected an absolute path$' "... in one line"
done_testing
