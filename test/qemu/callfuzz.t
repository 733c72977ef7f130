#!/bin/sh
# System calls with random and half-right arguments, and returns from signals to broken frames, by
# several processes of several threads, beside one that looks after its memory; then as much memory
# and as many threads as before. The long form is callfuzz.long.t.
. "${0%/*}/lib.sh"

use vigil-test
initrd=${B:-build}/$arch/callfuzz.tar
fuzzed() { # WHAT
	tr -cd '\11\12\40-\176' <"$console" >"$work/plain" && mv "$work/plain" "$console"
	status_is 0 "$1"
	guest_tap
	no_line panic "... and the kernel did not panic"
}
boot smp=2 timeout=200 "initrd=$initrd" -- proc.visible=own -- /callfuzz calls \
	seed="${SEED:-1}" calls=60000 jobs=3 threads=5
fuzzed "calls on 2 CPUs"
boot smp=4 timeout=200 "initrd=$initrd" -- net.instances=2 proc.visible=own -- /callfuzz calls \
	seed="${SEED:-1}" calls=60000 jobs=3 threads=5 sockets=13
fuzzed "calls of sockets on 4 CPUs"
boot smp=2 timeout=200 "initrd=$initrd" -- proc.visible=own -- /callfuzz frames \
	seed="${SEED:-1}" frames=8000
fuzzed "frames of signals"
boot smp=1 timeout=60 "initrd=$initrd" -- -- /callfuzz found
fuzzed "what calls have found before"
done_testing
