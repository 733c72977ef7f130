#!/bin/sh
# Counts of a program whose threads live for a short while, of events that take turns, against the ground truth: of the sum, not of its
# parts, of which most never saw the event.
#   TIMES=N   runs of each; 2 in the tests
. "${0%/*}/lib.sh"
times=${TIMES:-2}
all=LOADS,STORES,MISPREDICTS,L1D_MISSES,TLB_MISSES,COMPLETION,SERVED:LOCAL_L2,STALL:BRANCH,STALL:DCACHE,L1I_MISSES
all=$all,STALL:TLB,STALL:OTHER,STALL:ICACHE,SERVED:LOCAL_L3,DCACHE:LOCAL_L2,DCACHE:LOCAL_L3,SERVED:LOCAL_MEMORY

# judge EVENTS: prints how many counts there are, their mean bias in percent, the worst, how many intervals, how many hold, how many counts
# had their turn never.  The truth is that of all threads that there were not when the run began: brief's, and one of hpmstat's that sleeps.
# Events with less than 2,000 are left out.
judge() {
	awk -v events="$1" '
	BEGIN { n = split(events, wanted, ","); for (i = 1; i <= n; i++) is_wanted[wanted[i]] = 1 }
	FNR == NR {
		if ($1 == "mark") { inside = $2 == "reading"; readings += inside }
		else if (inside && $1 == "tag" && readings % 2) old[$2, readings]
		else if (inside && $1 == "tag" && !(($2, readings - 1) in old))
			for (i = 3; i <= NF; i++) { split($i, p, "="); at[readings, p[1]] += p[2] }
		next
	}
	/^hpmstat: brief, / { runs++ }
	runs && is_wanted[$2] && /^ +[0-9,]+ / {
		gsub(",", "", $1)
		key = tolower($2)
		if (key ~ /^served:/) sub(/^served:/, "", key)
		gsub(":", "_", key)
		truth = at[2 * runs, key]
		if (/never seen/) { never++; next }
		if (truth < 2000) next
		off = ($1 - truth) / truth
		counts++
		bias += off
		if (off < 0) off = -off
		if (off > worst) { worst = off; worst_of = $2 " of run " runs }
		if (match($0, /\+- [0-9.]+ %/)) {
			intervals++
			half = substr($0, RSTART + 3, RLENGTH - 5) * $1 / 100
			holds += $1 - half * 1.05 <= truth && truth <= $1 + half * 1.35
		}
	}
	END { printf "runs=%d counts=%d bias_pct=%.2f worst_pct=%.1f worst_of=%s intervals=%d hold=%d never=%d\n", runs, counts,
		counts ? 100 * bias / counts : 0, 100 * worst, worst_of, intervals, holds, never }' "$work/truth.txt" "$console"
}

# lives SLICE EVENTS ARGUMENTS OF BRIEF
lives() {
	line= i=0
	while [ $i -lt "$times" ]; do
		line="$line${line:+ ; }hpmstat marks=1 events=$2 -- brief $3"
		i=$((i + 1))
	done
	boot machine=openpower720 timeout=900 -- "hpm.breakdown=off hpm.slice_cycles=$1" -- "$line"
	status_is 0 "brief $3, slices of $1 cycles"
	judge "$2" >"$work/judged"
	echo "# RESULT lives arch=$arch slice_cycles=$1 events=$(echo "$2" | tr ',' '\n' | wc -l) $(echo "$3" | tr ' ' ' ') $(cat "$work/judged")" >&2
	awk -v times="$times" '{ for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] } }
		END { b = f["bias_pct"]; exit !(f["runs"] == times && f["counts"] >= 3 * times && b < 6 && b > -6 &&
			f["hold"] * 100 >= f["intervals"] * 85) }' "$work/judged" && r=0 || r=1
	result $r "its counts are those of the truth: $(cat "$work/judged")"
}

lives 50000 $all "threads=500 work=6000"
lives 50000 "$(echo "$all" | cut -d, -f1-9)" "threads=400 work=7500 kinds=1"
done_testing
