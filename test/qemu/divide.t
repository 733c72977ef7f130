#!/bin/sh
# Memory divided among pools: two loops that both fit half are both starved by even parts; one that
# gets all it needs is not. divide.long.t has the other goals.
. "${0%/*}/lib.sh"

loop="memstat regions=0 -- cg rounds=1"
waits= # for pages to be read, of both
goals=throughput
! once || goals="even throughput"
for goal in $goals; do
	boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2700K mem.pab=128 mem.track=always" \
		"mem.prefetch=none mem.epoch_ms=20 mem.goal=$goal -- $loop & $loop"
	r=0
	[ "$(grep -c '^RESULT app=cg .*check=ok' "$console")" -eq 2 ] || r=1
	result $r "goal $goal: both programs end with the right result"
	waits="$waits $(lines faults major | awk '{ sum += $1 } END { print sum }')"
	[ $goal = even ] ||
		line "memory t=0.. goal=$goal pages=654 moved=0.. plan=[0-9]+:[0-9]+,.*" \
			"goal $goal: each plan is said"
done
if once; then
	r=0
	echo "$waits" | awk '{ exit !(NF == 2 && $2 * 10 < $1 * 8) }' || r=1
	result $r "throughput: fewer waits than with even parts (even, throughput:$waits)"
fi

if once; then
	# The program that asks for few misses has them, at the cost of the other one. It is the one
	# that memstat starts.
	boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2700K mem.pab=128 mem.track=always" \
		"mem.prefetch=none mem.epoch_ms=20 mem.goal=service -- mem.rate=50 mem.weight=2 $loop & $loop"
	r=0
	lines faults major >"$work/waits"
	lines "division by=service" weight | tr '\n' ' ' >"$work/weights"
	[ "$(cat "$work/weights")" = "2 1 " ] || r=1
	result $r "service: the asker ends first, its child had its arguments, the other's its own" \
		"(weights: $(cat "$work/weights"))"
	r=0
	awk '{ w[NR] = $1 } END { exit !(NR == 2 && w[1] * 2 < w[2]) }' "$work/waits" || r=1
	result $r "service: it waited less than half as often (waits: $(tr '\n' ' ' <"$work/waits"))"
	line "memory t=0.. goal=service" "service: each plan is said"
fi

boot machine=openpower720 smp=4 mem=128M timeout=300 -- \
	"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2700K mem.pab=128 mem.track=always" \
	"mem.prefetch=none mem.epoch_ms=20 mem.goal=throughput -- memstat interval=30 regions=0 curve=0" \
	"-- cg rounds=1 & cg rounds=1"
line "pools by=throughput" "a look at pools says how memory is divided"
has_cell "pools by=throughput" \
	"pid=1.. program=cg has=0.. limit=2700 target=0.. weight=1 lost=0.. if_more=..100 if_less=..100" \
	planned=1.. "... what each has, is to have, and would gain and lose"
line "division by=throughput kept_kb=0.. planned_kb=0.. weight=1" \
	"... and that of the program, at its end"

# Of a program that the page access buffer holds whole nothing is logged: its 500 pages are known as
# hot all the same.
hot() { # boot arguments, MB
	boot machine=openpower720 smp=2 mem=128M timeout=300 -- \
		"swap=ram disk.ram=32M mem.user=$(($2 * 5 / 2 + 3))M mem.track=always mem.prefetch=none $1" \
		"mem.goal=throughput -- memstat regions=0 -- sp mb=$2 rounds=6"
	lines division hot_kb
}
within "$(hot "mem.pab=1024 mem.epoch_ms=50" 2)" 1900 2060 \
	"pages that stay in the page access buffer are known"
done_testing
