#!/bin/sh
# Programs larger than memory: every page holds what was written to it, whatever happens to pages meanwhile.
. "${0%/*}/lib.sh"

paging() { # ARGUMENTS-FOR-THE-KERNEL ARGUMENTS WHAT
	boot smp=$smp mem=128M timeout=300 -- "disk.ram=32M swap=ram $1 -- paging $2 ; hello"
	says "^ok 1 - every page holds what was written" "$smp CPUs: $3"
	says "^exit: paging 0" "$smp CPUs: ... and the program ends well"
	says "^exit: hello 0" "$smp CPUs: ... and the next one runs"
}
for smp in 1 8; do
	paging mem.process=2M "pages=3000 threads=8 ops=${OPS:-300} seed=$smp" "a program five times as large as it may be"
	paging "mem.process=1M mem.policy=clock mem.accessed=off" "pages=1500 threads=3 ops=${OPS:-300} seed=2" "CLOCK, by faults alone"
done
smp=4
paging "mem.user=4M mem.pool=global" "pages=3000 threads=8 ops=${OPS:-300} seed=3" "one pool for all"
done_testing
