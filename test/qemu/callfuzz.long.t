#!/bin/sh
# callfuzz.t by the million.
#   CALLS=N      calls, and ten times as many as frames  (1000000)
#   FUZZ_SMP=N   CPUs  (8)
#   SEED=N       of the first process  (1)
. "${0%/*}/lib.sh"

use vigil-test
initrd=${B:-build}/$arch/callfuzz.tar
calls=${CALLS:-1000000} smp=${FUZZ_SMP:-8}
fuzzed() { # WHAT
	tr -cd '\11\12\40-\176' <"$console" >"$work/plain" && mv "$work/plain" "$console"
	status_is 0 "$1"
	guest_tap
	grep -a '^callfuzz: \|^# .*free_kb' "$console" | sed 's/^# */# /; s/^callfuzz/# callfuzz/'
	no_line panic "... and the kernel did not panic"
}
boot smp="$smp" timeout=36000 "initrd=$initrd" -- proc.visible=own -- /callfuzz calls \
	seed="${SEED:-1}" calls="$calls" jobs=6 threads=8
fuzzed "$calls calls on $smp CPUs"
boot smp="$smp" timeout=36000 "initrd=$initrd" -- net.instances=2 proc.visible=own -- \
	/callfuzz calls seed="${SEED:-1}" calls="$calls" jobs=6 threads=8 sockets=13
fuzzed "$calls calls, of sockets above all, on $smp CPUs"
boot smp="$smp" timeout=36000 "initrd=$initrd" -- proc.visible=own -- /callfuzz frames \
	seed="${SEED:-1}" frames=$((calls / 10))
fuzzed "$((calls / 10)) frames of signals on $smp CPUs"
done_testing
