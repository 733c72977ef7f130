#!/bin/sh
# Memory divided among pools by every goal, at length: what divide.t leaves out.
. "${0%/*}/lib.sh"

loop="memstat regions=0 -- cg rounds=2"
for goal in fairness maxmin; do
	boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2700K mem.pab=128 mem.track=always" \
		"mem.prefetch=none mem.epoch_ms=50 mem.goal=$goal -- $loop & $loop"
	r=0
	[ "$(grep -c '^RESULT app=cg .*check=ok' "$console")" -eq 2 ] || r=1
	result $r "goal $goal: both programs end with the right result"
	line "memory t=0.. goal=$goal pages=654 moved=0.. plan=[0-9]+:[0-9]+,.*" \
		"goal $goal: each plan is said"
done

# A loop that would fit beside a program which still misses: maxmin gives it what it needs, fairness
# has it miss, too.
waits= # of the loop
for goal in fairness maxmin; do
	boot machine=openpower720 smp=4 mem=128M timeout=300 \
		plugin=tlb=16,disk=64M,disk_latency=1000000,disk_page=4096 -- \
		"swap=model mem.user=5048K mem.pab=128 mem.track=always mem.prefetch=none mem.epoch_ms=30" \
		"mem.goal=$goal -- memstat regions=0 -- sp mb=2 rounds=6" \
		"& warehouse warehouses=1 threads=1 scale=12 ms=800"
	waits="$waits $(lines faults major)"
done
r=0
echo "$waits" | awk '{ exit !(NF == 2 && $1 > 5 * $2) }' || r=1
result $r "fairness: a loop misses though it fits, as long as another program does" \
	"(waits with fairness, maxmin:$waits)"

# The same program twice; one of them counts more: it has more, whichever of both it is.
for heavy in 1 2; do
	first= second=
	[ $heavy -eq 1 ] && first=mem.weight=8 || second=mem.weight=8
	boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2700K mem.pab=128 mem.track=always" \
		"mem.prefetch=none mem.epoch_ms=50 mem.goal=throughput -- $first cg rounds=3" \
		"& $second cg rounds=3"
	r=0
	lines "memory t=0.." plan | sed -n 's/^1:\([0-9]*\),2:\([0-9]*\)$/\1 \2/p' >"$work/plans"
	awk -v heavy=$heavy \
		'{ of[1] = $1; of[2] = $2 } END { exit !(NR >= 2 && of[heavy] * 4 > of[3 - heavy] * 5) }' \
		"$work/plans" || r=1
	result $r "mem.weight: the heavier of two has more, given to number $heavy:" \
		"$(tr '\n' ',' <"$work/plans")"
done

# Of a program that the page access buffer holds whole nothing is logged: its 500 pages are known as
# hot all the same.  One that it does not hold has few of them.
hot() { # boot arguments, MB
	boot machine=openpower720 smp=2 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M mem.user=$(($2 * 5 / 2 + 3))M mem.track=always mem.prefetch=none $1" \
		"mem.goal=throughput -- memstat regions=0 -- sp mb=$2 rounds=6"
	lines division hot_kb
}
within "$(hot "mem.pab=128 mem.epoch_ms=50" 2)" 0 400 \
	"pages that do not stay in the page access buffer are not taken for hot"
within "$(hot "mem.pab=4096 mem.epoch_ms=400" 9)" 5000 8900 \
	"... and those that stay are known where they are too many for all of them to be asked about, too"
within "$(hot "mem.tracker=soft mem.active_pages=1024 mem.epoch_ms=50" 2)" 1900 2060 \
	"... and those of an active set"

boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
	"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=4700K mem.pab=1024 mem.track=always" \
	"mem.prefetch=none mem.epoch_ms=50 mem.goal=throughput" \
	"-- warehouse warehouses=1 threads=1 scale=12 ms=2400 & memstat regions=0 -- sp mb=2 rounds=32"
within "$(lines faults major)" 0 700 \
	"such a program keeps its memory beside one that wants all: it seldom waits"

# Both loops fit, but not together, and each is all but stopped without: one of them has what it
# needs.
boot machine=openpower720 smp=4 mem=128M timeout=300 \
	plugin=tlb=16,disk=64M,disk_latency=1000000,disk_page=4096 -- \
	"swap=model mem.user=4036K mem.pab=128 mem.track=always mem.prefetch=none mem.epoch_ms=30" \
	"mem.goal=throughput -- memstat regions=0 -- warehouse warehouses=1 threads=1 scale=12 ms=800" \
	"& memstat regions=0 -- sp mb=2 rounds=12"
within "$(lines faults major | sort -n | head -n 1)" 0 500 \
	"throughput: one of two loops that do not fit together does not wait"
done_testing
