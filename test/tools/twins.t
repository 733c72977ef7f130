#!/bin/sh
# The same seeded calls in Vigil and under Linux: results and outputs are equal, but for what
# test/linux/callfuzz/differences.txt lists with reasons. On Linux if that has been fetched
# (tools/linux-guest.sh).
#   ROUNDS=N  of twelve calls; 300 in the tests      SEED=N
. "${0%/*}/../qemu/lib.sh"

linux=build/linux
[ "$arch" = x86_64 ] || linux=build/linux-$arch
[ -e "$linux/vmlinux" ] || skip_all "no Linux kernel in $linux"
program=${B:-build}/$arch/callfuzz/callfuzz
[ -x "$program" ] || skip_all "no $program"
for kernel in linux vigil; do
	status=0
	./vigil run --kernel $kernel --arch "$arch" --machine qemu --smp 1 --timeout 500 -- "$program" \
		twins seed="${SEED:-1}" rounds="${ROUNDS:-300}" </dev/null >"$work/$kernel" 2>"$work/stderr" || status=$?
	booted="calls under $kernel"
	status_is 0 "$kernel"
done
r=0
test/linux/callfuzz/compare.py "$work/linux" "$work/vigil" test/linux/callfuzz/differences.txt >"$console" || r=1
sed 's/^# */# /; s/^twins/# twins/' "$console"
result $r "the same calls have the same results"
done_testing
