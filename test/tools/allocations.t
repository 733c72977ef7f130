#!/bin/sh
# The log of allocations of programs of Linux: C++, many threads, no memory, no room.
. "${0%/*}/../qemu/lib.sh"
[ "$arch" = "$(uname -m)" ] || skip_all "g++ is this machine's"
g++ -std=c++17 -O2 -I. -pthread -o "$work/allocations" test/tools/allocations.cc >"$console" 2>&1 ||
	{ cat "$console"; exit 1; }
library=$B/$arch/libvigil-allocations.so
booted=" ./vigil run allocations"
./vigil run --machine qemu --arch "$arch" --smp 4 --timeout 120 --file "$library" -- \
	"$work/allocations" "$PWD/$library" >"$console" 2>"$work/stderr" || :
guest_tap
done_testing
