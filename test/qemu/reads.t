#!/bin/sh
# Counts that programs read by themselves where user mode can read counters, and by a system call
# where it cannot.
. "${0%/*}/lib.sh"

if [ "$arch" = aarch64 ]; then
	boot smp=1 icount=0 timeout=120 -- -- reads exact
	status_is 0 "exact"
	guest_tap
	for model in cpu=cortex-a72 cpu=max; do
		boot smp=4 $model timeout=120 -- -- reads ghz
		status_is 0 "$model"
		says_not "stepped back" "$model: no counter goes back"
		guest_tap
	done
	boot smp=1 icount=0 timeout=120 -- hpm.accounts=on hpm.slice_cycles=10000 -- reads exact
	status_is 0 "short slices, interrupts counted apart"
	guest_tap
	boot smp=1 timeout=60 -- -- reads closed
	line "exit app=reads status=(132|139)" "a thread that has closed its session reads no counter"
fi
# The simulated machine's counters are read in memory.
boot machine=openpower720 timeout=300 -- hpm.breakdown=off hpm.slice_cycles=20000 -- \
	hpmstat events=LOADS,STORES,MISPREDICTS,TLB_MISSES,STALL:BRANCH,STALL:OTHER -- reads exact
status_is 0 "simulated machine: exact while other events take short turns"
has_cell "hpmstat of=reads" "name=TLB_MISSES seen=1..60" "interval=.*" "... as these did"
guest_tap
boot machine=openpower720 timeout=120 -- hpm.breakdown=off -- reads memory ';' reads memory
status_is 0 "... across migrations and closing"
guest_tap
boot machine=openpower720 timeout=120 -- -- reads cost
status_is 0 "... what a reading costs"
guest_tap
for round in $(seq 21); do
	for label in few many; do
		tools/truth.sh "$work/truth.txt" $label:$round end total |
			sed -n "s/^/$label /; s/ .* cycles=\([0-9]*\).*/ \1/p"
	done
done | awk '$1 == "few" { few = $2 } $1 == "many" { print ($2 - few) / 1000 }' |
	sort -n >"$work/cost"
within "$(sed -n '11s/[.].*//p' "$work/cost")" 50 80 \
	"model cycles of a reading, the median of 21 times a thousand"
echo "# RESULT reading arch=$arch $(sed -n 11p "$work/cost") cycles" >&2
# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- reads call
line "# session=-19" "without counters there is nothing to read"
done_testing
