#!/bin/sh
# Counts of a program whose threads live for a short while, of events that take turns, against the
# ground truth: of the sum, not of its parts, of which most never saw the event.
#   TIMES=N   runs of each; 2 in the tests
. "${0%/*}/lib.sh"
times=${TIMES:-2}
runs_max=4 # of one boot: the truth has some thousand threads
all=LOADS,STORES,MISPREDICTS,L1D_MISSES,TLB_MISSES,COMPLETION,SERVED:LOCAL_L2,STALL:BRANCH,STALL:DCACHE,L1I_MISSES
all=$all,STALL:TLB,STALL:OTHER,STALL:ICACHE,SERVED:LOCAL_L3,DCACHE:LOCAL_L2,DCACHE:LOCAL_L3,SERVED:LOCAL_MEMORY

# judge EVENTS: a line of all counts, and one of each event's: how many there are, their mean bias
# in percent and its standard error, the worst, how many intervals, how many hold, how many counts
# had their turn never.  The truth is that of all threads that there were not when the run began:
# brief's, and one of hpmstat's that sleeps.  Events with less than 2,000 are left out.
judge() {
	awk -v events="$1" '
	function line(what, of,   n, mean, variance) {
		n = counts[of]
		mean = n ? sum[of] / n : 0
		variance = n > 1 ? (squares[of] - n * mean * mean) / (n - 1) / n : 0
		printf "%s counts=%d bias_pct=%.2f error_pct=%.2f worst_pct=%.1f worst_run=%d intervals=%d hold=%d never=%d\n", what, n, 100 * mean,
			100 * sqrt(variance > 0 ? variance : 0), 100 * worst[of], worst_run[of], intervals[of], holds[of], never[of]
	}
	function note(of, off, interval, hold,   size) {
		counts[of]++; sum[of] += off; squares[of] += off * off; intervals[of] += interval; holds[of] += hold
		size = off < 0 ? -off : off
		if (size > worst[of]) { worst[of] = size; worst_run[of] = runs }
	}
	BEGIN { n = split(events, wanted, ","); for (i = 1; i <= n; i++) is_wanted[wanted[i]] = 1 }
	FNR == NR {
		if ($1 == "mark") { inside = $2 == "reading"; readings += inside }
		else if (inside && $1 == "tag" && readings % 2) old[$2, readings]
		else if (inside && $1 == "tag" && !(($2, readings - 1) in old))
			for (i = 3; i <= NF; i++) { split($i, p, "="); at[readings, p[1]] += p[2] }
		next
	}
	/^hpmstat: of=brief / { runs++ }
	runs && is_wanted[$2] && /^ +[0-9,]+ / {
		gsub(",", "", $1)
		key = tolower($2)
		if (key ~ /^served:/) sub(/^served:/, "", key)
		gsub(":", "_", key)
		truth = at[2 * runs, key]
		if (/never seen/) { never["all"]++; never[$2]++; next }
		if (truth < 2000) next
		hold = interval = 0
		if (match($0, /\+- [0-9.]+ %/)) {
			interval = 1
			half = substr($0, RSTART + 3, RLENGTH - 5) * $1 / 100
			hold = $1 - half * 1.05 <= truth && truth <= $1 + half * 1.35
		}
		note("all", ($1 - truth) / truth, interval, hold)
		note($2, ($1 - truth) / truth, interval, hold)
	}
	END { line("event=all runs=" runs, "all"); for (i = 1; i <= n; i++) if (counts[wanted[i]]) line("event=" wanted[i], wanted[i]) }' \
		"$work/truths" "$work/consoles"
}

# lives SLICE EVENTS ARGUMENTS OF BRIEF
lives() {
	: >"$work/truths" >"$work/consoles"
	i=0
	while [ $i -lt "$times" ]; do
		line=
		while line="$line${line:+ ; }hpmstat marks=1 events=$2 -- brief $3" i=$((i + 1)); [ $i -lt \
			"$times" ] && [ $((i % runs_max)) -ne 0 ]; do :; done
		boot machine=openpower720 timeout=900 plugin=seed=$i -- "hpm.breakdown=off hpm.slice_cycles=$1" \
			-- "$line"
		status_is 0 "brief $3, slices of $1 cycles"
		cat "$work/truth.txt" >>"$work/truths"
		cat "$console" >>"$work/consoles"
	done
	judge "$2" >"$work/judged"
	[ "$times" -gt 2 ] && show=. || show='event=all '
	grep "$show" "$work/judged" |
		sed "s/^/# RESULT lives arch=$arch slice_cycles=$1 events=$(echo "$2" | tr ',' '\n' | wc -l) $3 /" >&2
	# Few runs say little: the mean may be off by two of its standard errors more than 2 %, and so
	# may be the part of 93 % that holds.
	awk -v times="$times" 'NR == 1 { for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] } }
		END {
			b = f["bias_pct"]; if (b < 0) b = -b
			n = f["intervals"]
			exit !(f["runs"] == times && f["counts"] >= 7 * times && b <= 2 + 2 * f["error_pct"] &&
				f["hold"] >= 0.93 * n - 2 * sqrt(n * 0.93 * 0.07))
		}' "$work/judged" && r=0 || r=1
	result $r "its counts are those of the truth: $(head -n 1 "$work/judged")"
}

lives 50000 $all "threads=500 work=6000"
lives 50000 "$(echo "$all" | cut -d, -f1-9)" "threads=400 work=7500 kinds=1"
done_testing
