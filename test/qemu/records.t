#!/bin/sh
# CSV and JSON of the tables of hpmrec, hpmtop and memstat: both can be read, have the same columns,
# limits where a figure is uncertain, and nothing where nothing is known.
. "${0%/*}/lib.sh"

# Both forms of each command, separated by "|".
both() { # COMMANDS
	echo "$1" | tr '|' '\n' | while read -r words; do
		for form in csv json; do
			echo "$words ; " | sed "s/FORMAT/$form/g"
		done
	done | tr -d '\n'
}
valid() { # TOOL WHAT
	r=0
	grep "^{\"$1\"" "$console" >"$work/lines" &&
		python3 -m json.tool --json-lines "$work/lines" >/dev/null || r=1
	result $r "$2 is JSON, line by line"
}
holds() { # WHAT TOOL [KIND|KIND.COLUMN|limits]...
	what=$1
	shift
	r=0
	python3 -B test/qemu/records_check.py "$console" "$@" >"$work/off" 2>&1 || r=1
	result $r "$what"
	[ $r -eq 0 ] || tail -n 1 "$work/off" | sed 's/^/# /' >&2
}
# Prints a column of the CSV records in which another column has that value.
of_csv() { # TOOL KIND COLUMN=VALUE COLUMN
	awk -F, -v tool="$1" -v kind="$2" -v where="${3%%=*}" -v value="${3#*=}" -v column="$4" '
		$1 == tool && $2 == kind && !named++ { for (i = 3; i <= NF; i++) at[$i] = i; next }
		$1 == tool && $2 == kind && $at[where] == value { print $at[column] }' "$console"
}

boot machine=openpower720 timeout=300 -- -- "$(both "hpmrec limit=1000 rows=2 format=FORMAT \
	criteria=cycles@20k,time@100us -- ratio 20000|hpmrec rows=3 by=line format=FORMAT \
	criteria=LOADS,L1D_MISSES,STORES,TLB_MISSES,MISPREDICTS -- scoreboard ms=10|hpmrec by=thread \
	format=FORMAT -- ratio 9000 4|hpmrec by=region criteria=access.any:u@20 chains=fp limit=1000 \
	format=FORMAT -- ratio pages 100|hpmrec criteria=cycles format=samples heads=FORMAT -- hello")" \
	"hpmtop format=csv times=2 interval=20 metrics=ipc,LOADS,STORES,L1D_MISSES -- ratio 30000 2 ;" \
	"hpmtop format=json times=2 interval=20 metrics=ipc,LOADS,STORES,L1D_MISSES -- ratio 30000 2"
status_is 0 "hpmrec, hpmtop"
for tool in hpmrec hpmtop; do valid $tool "$tool"; done
holds "hpmrec: runs, criteria and their tables, by function, line, thread and region" hpmrec \
	run criterion share rest limits share.function share.region share.line share.thread \
	share.events share.ns share.events_low run.chains_cut criterion.mean_ns criterion.lengthened
holds "hpmtop: pictures, criteria, functions, threads and what they counted" hpmtop \
	picture criterion share thread value limits share.ns value.low value.unit value.counted
r=0
[ "$(grep -c '^hpmtop,picture,[0-9]' "$console") $(grep -c '^{"hpmtop":"picture"' "$console")" = \
	"2 2" ] && ! grep -q "$(printf '\033')" "$console" || r=1
result $r "... as many pictures as asked for, without escape sequences"
# A quarter of the cycles of both functions is in one_part: within twice the limits of 95 percent.
r=0
for column in share_pct share_low_pct share_high_pct; do
	for function in one_part three_parts; do
		of_csv hpmrec share "function=$function" $column | head -n 1
	done
done | paste -sd ' ' | awk '
	{
		part = 100 / ($1 + $2)
		print "# " $0
		exit !(NF == 6 && $1 * part - 25 < 2 * ($1 - $3) + 1 && 25 - $1 * part < 2 * ($5 - $1) + 1)
	}' || r=1
result $r "a share that is known is within its limits"

boot machine=openpower720 smp=2 mem=128M timeout=300 -- "disk.ram=32M swap=ram mem.process=640K" \
	"mem.policy=chooser mem.pab=128 mem.track=always mem.epoch_ms=20 mem.goal=throughput --" \
	"$(both "memstat interval=30 format=FORMAT -- lu n=384 block=16 rounds=1")" \
	"memstat format=csv -- hello ; memstat format=json -- hello"
status_is 0 "memstat"
line "RESULT app=lu check=ok" "... the program's own lines are among the records"
valid memstat "memstat"
holds "memstat: memory, pool, prefetching, policies, division, tracker, curve, regions, processes" \
	memstat memory pool prefetching expert division swap tracker curve region process \
	pool.waited_each_us
faults=$(of_csv memstat pool of=lu major_faults | tail -n 1)
within "$faults" 1 1000000000 "... and how often the program waited for a page"

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=100 -- -- "$(both "hpmrec format=FORMAT -- ratio 20000|hpmtop times=1 \
	interval=20 format=FORMAT -- ratio 20000|memstat regions=0 format=FORMAT -- hello")" hello
status_is 0 "without counters, a tracker or a limit"
holds "... hpmrec's are of time" hpmrec run criterion share share.events
holds "... hpmtop has threads, and nothing that they counted" hpmtop picture criterion thread
holds "... memstat has memory" memstat memory
r=0
! grep -Eq '^(hpmtop,value|memstat,pool|.*"(value|pool)")' "$console" || r=1
result $r "... and no record of what there is not"
done_testing
