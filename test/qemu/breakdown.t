#!/bin/sh
# Where cycles went, as hpmstat says it at the end and as a series over time, against the ground
# truth; and pictures of that.
. "${0%/*}/lib.sh"

# says_truth CAUSE=FACT PERMILLE: the part printed by that name, for what happened between the two
# marks, is the fact
says_truth() {
	r=0
	tools/truth.sh "$work/truth.txt" reading:1 reading:2 >"$work/facts" || :
	said=$(cell "hpmstat of=machine" "cause=${1%=*}" cycles)
	awk -v said="$said" -v wanted="${1#*=}" -v permille="$2" '
		{ for (i = 1; i <= NF; i++) { split($i, p, "="); fact[p[1]] = p[2] } }
		END {
			off = said - fact[wanted]
			found = said != "" && wanted in fact
			exit !(found && (off < 0 ? -off : off) * 1000 <= permille * fact[wanted])
		}' "$work/facts" || r=1
	result $r "$1: $said"
}

# series_holds WHAT EXPRESSION: true, in awk, of each interval's words, v["cycles"]; sum has what
# they come to, all what the total says
series_holds() {
	r=0
	awk -v rows=0 '
		/^BREAKDOWN / {
			split("", v)
			for (i = 3; i <= NF; i++) { split($i, p, "="); v[p[1]] = p[2] }
			stalls = v["instruction_cache"] + v["branch"] + v["data_cache"] + v["translation"] + v["other"] + v["front_end"] + v["back_end"]
		}
		/^BREAKDOWN interval / { rows++; for (k in v) sum[k] += v[k]; if (!('"${3:-1}"')) { print "# " $0; bad = 1 } last = v["to_ms"] }
		/^BREAKDOWN total / { for (k in v) all[k] = v[k] }
		END { if (bad || !('"$2"')) exit 1 }' "$console" >"$work/off" || r=1
	result $r "$1"
	cat "$work/off" >&2
}

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=50000 -- hpmstat breakdown=1 per=machine \
	marks=1 -- scoreboard ms=60
status_is 0 "the machine while a program runs"
line "hpmstat of=machine ms=60..99.9 cycles=1.. instructions=1.. cpi=0.. seen_pct=10..11.9" \
	"what it is of"
says_truth "completion=completion" 30
says_truth "branch_misprediction=stall_branch" 50
says_truth "data_cache=stall_dcache" 50
says_truth "local_L2=dcache_local_l2" 50
says_truth "remote_L2=dcache_remote_l2" 10
has_cell "hpmstat of=machine" "cause=remote_L2 share=0.. CPI=0.. estimated=0.." error=-4.9..4.9 \
	"beside each source what accesses and latency make one expect, and how far that is off"

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=50000 -- hpmstat breakdown=1 \
	format=series interval=5 -- phases kind=sort size=20000 rounds=3
status_is 0 "a series of a program"
no_line hpmstat "... and nothing else"
series_holds "completion and stalls are the cycles of each interval" "rows >= 5" \
	'v["of"] == "phases" && (stalls > v["cycles"] ? !v["completion"] : v["completion"] + stalls == v["cycles"]) && v["completion"] <= v["instructions"]'
series_holds "intervals follow one another, and come to all of it but for freeing its memory" \
	'sum["cycles"] <= all["cycles"] && sum["cycles"] > 0.98 * all["cycles"] && sum["instructions"] <= all["instructions"] && last <= all["to_ms"]' \
	'v["from_ms"] == last + 0 && v["to_ms"] > v["from_ms"]'
series_holds "each has what it takes to compare stalls by source with estimates" \
	'sum["local_l2"] && sum["local_l2_estimated"]' '"remote_memory_estimated" in v'

r=0
tools/plot_breakdown.sh "$console" "$work/one" >"$work/said" 2>&1 || r=1
result $r "it can be drawn"
r=0
{ head -c 8 "$work/one.png" | grep -q PNG && grep -q '<svg' "$work/one.svg" &&
	grep -q 'branch misprediction' "$work/one.svg"; } || r=1
result $r "... as PNG, and as SVG with the causes by name"

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=50000 -- hpmstat breakdown=1 per=thread \
	format=series interval=10 -- scoreboard ms=50 groups=2 threads=4
status_is 0 "a series of each thread"
r=0
awk '/^BREAKDOWN interval / { for (i = 3; i <= NF; i++) if ($i ~ /^thread=/) seen[$i] = 1 } END { for (t in seen) n++; exit n != 9 }' "$console" || r=1
result $r "nine threads"
series_holds "their cycles are parts of the program's" \
	'sum["cycles"] <= all["cycles"] && sum["cycles"] > 0.7 * all["cycles"]' '"thread" in v'
r=0
{ tools/plot_breakdown.sh "$console" "$work/threads" >"$work/said" 2>&1 &&
	[ -s "$work/threads.png" ] &&
	[ "$(grep -c 'scoreboard, thread ' "$work/threads.svg")" -ge 8 ]; } || r=1
result $r "a panel for each that ran, on one page"

r=0
! tools/plot_breakdown.sh "$work/said" "$work/none" 2>"$work/refused" || r=1
grep -q 'no series of breakdowns.*hpmstat breakdown=1 format=series' "$work/refused" || r=1
result $r "a log without a series is refused, with how to get one"

boot machine=openpower720 timeout=300 -- -- hpmstat breakdown=1 events=cycles -- hello
status_is 2 "either events or the breakdown"
line "hpmstat argument=events reason=conflict" "... which is said"

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- hpmstat breakdown=1 -- hello
status_is 2 "without counters it ends"
line "hpmstat argument=breakdown reason=no-device" "... and says why"

if [ "$arch" = aarch64 ]; then
	boot smp=1 icount=0 cpu=max timeout=60 -- -- hpmstat breakdown=1 -- known 1000000 ';' hpmstat \
		breakdown=1 format=series interval=1 -- known 3000000
	status_is 0 "a PMU that knows the halves of the pipeline only"
	for name in completion front_end back_end; do
		has_cell "hpmstat of=known" "cause=$name" cycles=0.. "... $name"
	done
	r=0; [ -z "$(cell "hpmstat of=known" cause=data_cache cycles)" ] || r=1
	result $r "... and no cause that it does not know"
	series_holds "... over time" 'rows >= 2' \
		'"front_end" in v && "back_end" in v && !/ branch=/ && v["completion"] + stalls == v["cycles"]'
	boot smp=1 icount=0 cpu=cortex-a72 timeout=60 -- -- hpmstat breakdown=1 -- known 1000000
	has_cell "hpmstat of=known" cause=all_else cycles=0.. "a PMU that knows no stalls: all else"
fi
done_testing
