#!/bin/sh
# Replacement policies in the kernel, on a loop that is a little larger than memory: those that know loops miss far less than LRU.
. "${0%/*}/lib.sh"

misses() { # POLICY: into $n, how often a page had to be read
	boot machine=openpower720 smp=1 mem=128M plugin=tlb=32,disk=64M timeout=300 -- "swap=model mem.pab=128 mem.process=1500K mem.policy=$1 -- memstat regions=0 -- cg rounds=1"
	says "^RESULT app=cg .*check=ok" "$1: the result is right"
	n=$(sed -n 's/^  faults: \([0-9]*\) major,.*/\1/p' "$console")
}
misses lru
lru=$n
for at_most in lirs=50 mru=75 gap=50 region=75 chooser=50; do # per cent of LRU's misses
	policy=${at_most%=*}
	misses "$policy"
	r=0
	[ -n "$lru" ] && [ -n "$n" ] && [ $((100 * n)) -lt $((${at_most#*=} * lru)) ] || r=1
	result $r "$policy: less than ${at_most#*=} % of LRU's misses ($n of $lru)"
done
done_testing
