#!/bin/sh
# hpmstat: what it says of programs against the ground truth, what it refuses, and sessions that
# come and go under stress.
. "${0%/*}/lib.sh"

# Functions of awk: is a line a count, and is what it says true of a fact?
judge='
	function count_of(line, f) { split(line, f, " "); gsub(",", "", f[1]); return f[1] + 0 }
	function is_count() { return /^ +[0-9,]+  [^ ]+ +(exact|\+- )/ }
	function off(n, fact) { return n > fact ? n - fact : fact - n }
	function holds(n, fact, permille) {
		if (/ exact$/) return off(n, fact) * 1000 <= permille * fact
		return match($0, /\+- [0-9.]+ %/) && off(n, fact) * 100 <= fact * (1.5 * substr($0, RSTART + 3, RLENGTH - 5) + 1)
	}'

# counts_are_true "NAME=FACT ...": what was printed last by each name, for what happened between the
# marks that hpmstat set
counts_are_true() {
	tools/truth.sh "$work/truth.txt" reading:1 reading:2 >"$work/facts" || :
	for pair in $1; do
		name=${pair%=*} r=0
		grep -E "^ +[0-9,]+  $name +" "$console" | tail -n 1 >"$work/line"
		awk "$judge"'
			FNR == NR { for (i = 1; i <= NF; i++) { split($i, p, "="); fact[p[1]] = p[2] } next }
			is_count() && holds(count_of($0), fact[wanted], 1) { seen = 1 }
			END { exit !seen }' wanted="${pair#*=}" "$work/facts" "$work/line" || r=1
		result $r "$name: $(tr -s ' ' <"$work/line")"
	done
}

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=100000 -- \
	hpmstat per=machine marks=1 events=cycles,instructions,DCACHE:REMOTE_L2,LOADS,STORES:u,L1D_MISSES,SERVED:LOCAL_L2,STALL:BRANCH,ipc -- scoreboard ms=60
status_is 0 "the machine while a program runs"
says "^hpmstat: machine, [6-9][0-9]\.[0-9] ms$" "the program's time"
for name in cycles instructions DCACHE:REMOTE_L2; do
	says " $name +exact$" "$name are exact"
done
says "LOADS +\+- [0-9.]+ %, seen [1-9][0-9]?\.[0-9] %$" "others have an interval"
counts_are_true "cycles=cycles instructions=instructions DCACHE:REMOTE_L2=dcache_remote_l2 LOADS=loads L1D_MISSES=l1d_misses \
	SERVED:LOCAL_L2=local_l2 STALL:BRANCH=stall_branch"
r=0
awk '$2 == "cycles" { gsub(",", "", $1); c = $1 } $2 == "instructions" { gsub(",", "", $1); i = $1 }
	$2 == "ipc" { d = $1 - i / c; if (d < 0) d = -d; ok = d < 0.002 } END { exit !ok }' "$console" || r=1
result $r "instructions per cycle are those of the two"

boot machine=openpower720 timeout=300 -- -- \
	hpmstat per=thread interval=10 marks=1 events=cycles,instructions -- scoreboard ms=50 groups=2 threads=4
status_is 0 "threads, at intervals"
r=0
tools/truth.sh "$work/truth.txt" reading:1 exit tag >"$work/facts" || :
awk "$judge"'
	FNR == NR { for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] } fact[f["tag"]] = f["instructions"]; next }
	/^hpmstat: scoreboard, thread / { thread = $4 + 0; seen[thread]++ }
	/^hpmstat: scoreboard, [0-9.]+ ms$/ { thread = "all" }
	is_count() && $2 == "instructions" { sum[thread] += count_of($0) }
	END {
		for (t in seen) {
			threads++
			truth += fact[t]
			if (sum[t] > fact[t] || (fact[t] > 20000000 && sum[t] * 10 < fact[t] * 7)) { print "# thread " t ": " sum[t] ", truth " fact[t]; bad = 1 }
		}
		if (sum["all"] != truth) { print "# process: " sum["all"] ", truth " truth; bad = 1 }
		exit bad || threads != 9
	}' "$work/facts" "$console" >"$work/off" || r=1
result $r "intervals of nine threads are parts of their truth, and the program's instructions are theirs to the last one"
cat "$work/off" >&2

boot machine=openpower720 timeout=300 -- -- "hpmstat list ; hpmstat list=REMOTE ; hpmstat list=nothing_of_the_kind ; hpmstat events=cycles:u -- hello"
says "^hpmstat: events that have one name everywhere$" "list: generic names"
says "^  l1d\.miss +lines that it was given because they were not there: L1D_MISSES; counters 1,3$" "... with what they are here"
says "^hpmstat: metrics$" "... metrics"
says "^  ipc +instructions per cycle: " "... with their units"
says "^hpmstat: events of this processor$" "... the processor's own"
says "^  DCACHE:REMOTE_L2 +counters 0,2$" "... and the counters that can count them"
within "$(grep -c '^  DCACHE:REMOTE_L2 ' "$console")" 2 2 "list=WORD has what there is of a word in either case"
within "$(grep -c '^  STALL:TLB ' "$console")" 1 1 "... and nothing else"
says "^hpmstat: list=nothing_of_the_kind: no event or metric of this machine has that" "... or says that there is none"
says "cycles:u +exact$" "cycles of one mode have a counter all the time"

# What takes turns is scaled by what the family saw of it.  Its truth is that of all threads that
# there were not when the run began, but for one of hpmstat's that sleeps.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=20000 -- \
	hpmstat marks=1 events=instructions,cycles,LOADS,STORES,COMPLETION,STALL:OTHER,STALL:DCACHE,L1D_MISSES -- sessions litter ';' \
	hpmstat per=process events=instructions -- sessions litter
status_is 0 "a program and all that it starts"
r=0
awk '
	FNR == NR {
		if ($1 == "mark") { inside = $2 == "reading"; readings += inside }
		else if (inside && $1 == "tag" && readings == 1) old[$2]
		else if (inside && $1 == "tag" && readings == 2 && !($2 in old))
			for (i = 3; i <= NF; i++) { split($i, p, "="); truth[p[1]] += p[2] }
		next
	}
	/^ +[0-9,]+  [^ ]+ +(exact|\+- |no interval)/ {
		name = tolower($2); gsub(":", "_", name); gsub(",", "", $1)
		if (name == "instructions" && ++runs == 2) { alone = $1 * 2 < last; next }
		if (name == "instructions") last = $1 + 0
		half = match($0, /\+- [0-9.]+ %/) ? substr($0, RSTART + 3, RLENGTH - 5) * 1.5 : 0
		if (/no interval/) { print "# " $2 " has no interval"; bad = 1 }
		off = ($1 - truth[name]) * 100 / truth[name]
		counts++
		printf "# %s: off by %.2f %%, %.2f allowed\n", $2, off, half + 0.2
		if (off * off > (half + 0.2) ^ 2) { print "# " $2 ": " $1 ", truth " truth[name]; bad = 1 }
	}
	END { exit bad || counts != 8 || !alone }' "$work/truth.txt" "$console" >"$work/off" || r=1
result $r "counts of a family are those of the truth, with intervals, whether its processes can still be waited for, and per=process those of one"
cat "$work/off" >&2

boot machine=openpower720 timeout=300 -- -- sessions hog '&' sessions beside
line "exit app=sessions status=7" "an application has sessions whatever number of processes another one has"
says "^ok 1 - an application and its children have 8 sessions" "... of which none has more than its family may have"

# What a session costs to open, in a debug kernel: all CPUs' instructions.
boot machine=openpower720 timeout=300 -- -- costs open 1 ';' costs none 1 ';' costs open 11 ';' costs ';' costs fly 3 ';' costs read x ';' costs none 0
for n in 1 2 3; do
	tools/truth.sh "$work/truth.txt" costs-begin:$n costs-end:$n total | sed -n 's/.* instructions=\([0-9]*\).*/\1/p'
done >"$work/opened"
within "$(awk 'NR == 1 { first = $1 } END { print int(($1 - first) / 10) }' "$work/opened")" 10000 700000 "instructions of opening and closing a session"
echo "# RESULT opening arch=$arch $(paste -sd ' ' "$work/opened")" >&2
line "costs argument=what reason=missing" "costs without arguments is refused"
line "costs argument=what reason=value" "... with a word that is none of its"
r=0; [ "$(lines "costs argument=times reason=range" | wc -l)" -eq 2 ] || r=1
result $r "... with a number that is none, and with 0"

# To the last instruction: what is done on the way out, and freeing the memory.
boot machine=openpower720 timeout=300 -- -- hpmstat events=instructions,cycles marks=1 -- hello
r=0
tools/truth.sh "$work/truth.txt" reading:1 exit tag >"$work/facts" || :
awk "$judge"'
	FNR == NR { for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] } is[f["instructions"]]; next }
	is_count() && $2 == "instructions" && count_of($0) in is { found = 1 }
	END { exit !found }' "$work/facts" "$console" || r=1
result $r "a program's instructions are those of a thread in the truth, to the last one"

boot machine=openpower720 timeout=300 -- hpm.accounts=on -- \
	hpmstat per=machine marks=1 events=cycles,instructions,DCACHE:REMOTE_L2,LOADS -- scoreboard ms=60
status_is 0 "interrupts and monitoring apart"
counts_are_true "cycles=cycles instructions=instructions DCACHE:REMOTE_L2=dcache_remote_l2"
says "^  of these +threads +idle +interrupts +monitoring$" "four accounts"
r=0
awk '/ exact$/ { gsub(",", ""); all[$2] = $1 }
	/ of [A-Za-z0-9_:]+$/ && NF == 6 { gsub(",", ""); n++; if ($1 + $2 + $3 + $4 != all[$6] || !$1 || !$2 || !$3 || !$4) bad = 1 }
	END { exit bad || n != 3 }' "$console" || r=1
result $r "they add up to the machine, for each exact count"

# The instructions of two loops differ by what is known, in user mode.
#   loops_differ WHAT QEMU ARGUMENTS
loops_differ() {
	what=$1
	shift
	boot "$@" timeout=300 -- hpm.modes=user -- \
		hpmstat events=instructions:u -- known 1000000 ';' hpmstat events=ipc:u,instructions:u,cycles:u -- known 3000007
	status_is 7 "$what: the program's exit status is hpmstat's"
	r=0
	awk '$2 == "instructions:u" && /exact$/ { gsub(",", "", $1); n[++k] = $1 } END { exit n[2] - n[1] != 4000014 }' "$console" || r=1
	result $r "$what: two millions of rounds more are 4000014 instructions more"
}
loops_differ "simulated machine" machine=openpower720

boot machine=openpower720 timeout=300 -- -- hpmstat -- hello status=3
status_is 3 "what is counted if nothing is asked for"
says "^hpmstat: hello, [0-9.]+ ms$" "... says of whom"
for name in cycles instructions ipc branch.miss l1d.miss tlb.miss mem.remote_cache mem.remote; do
	says "^ +[0-9,.]+  $name +" "... $name"
done
says_not "llc.miss" "... and not what this machine has no event for"

forty=$(for e in LOADS STORES L1D_MISSES L1I_MISSES MISPREDICTS TLB_MISSES COMPLETION EXCEPTIONS STALL:ICACHE STALL:BRANCH STALL:DCACHE \
	STALL:TLB STALL:OTHER DCACHE:LOCAL_L2 DCACHE:LOCAL_L3 SERVED:LOCAL_L2 SERVED:LOCAL_L3 SERVED:REMOTE_L3 CYCLES INSTRUCTIONS; do
	printf '%s:u,%s:k,' "$e" "$e"
done)
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=10000 -- \
	hpmstat events=cycles -- scoreboard ms=20 '&' hpmstat "events=${forty%,}" -- scoreboard ms=40 '&' hpmstat per=machine ms=50 interval=20 events=ipc
status_is 0 "three side by side"
r=0
[ "$(grep -Ec '^ +[0-9,]+  [A-Z0-9_:]+:[uk] +.*seen [0-9]+\.[0-9] %(, fitted)?$' "$console")" -eq 40 ] || r=1
result $r "forty events at a time"
says "^ +[0-9,]+  cycles +exact$" "... do not disturb what is exact"
r=0
[ "$(grep -c '^hpmstat: machine, at [0-9.]* ms, since the last$' "$console")" -ge 2 ] || r=1
result $r "... and 50 ms are several intervals"

boot machine=openpower720 timeout=300 -- hpm.breakdown=0 -- \
	hpmstat per=machine events=topdown.retiring,topdown.bad_speculation,topdown.frontend,topdown.backend -- scoreboard ms=40
status_is 0 "where the cycles went"
r=0
awk '/topdown\.[a-z_]+ +% of cycles/ { n++; sum += $1 } END { exit !(n == 4 && sum > 95 && sum < 105) }' "$console" || r=1
result $r "... is four shares that make up the whole"

refusals() {
	while IFS='|' read -r arguments keys; do
		line "hpmstat $keys" "refused: $arguments ($keys)"
	done
	r=0
	[ "$(lines "exit app=hpmstat status=2" | wc -l)" -eq "$(wc -l <"$work/refused")" ] || r=1
	result $r "each is an error exit"
}
cat >"$work/refused" <<'END'
events=l1d.mis -- hello|argument=events reason=unknown
events=llc.miss -- hello|argument=events reason=unsupported
events=remote_pct -- hello|argument=events reason=many
events=topdown.backend -- hello|argument=events reason=many
events=cycles:z -- hello|argument=events reason=value
events=, -- hello|argument=events reason=value
events=cycles|argument=program reason=missing
events=cycles --|argument=program reason=missing
per=thread -- hello|argument=interval reason=missing
per=all -- hello|argument=per reason=value
speed=1 -- hello|argument=speed reason=unknown
events=cycles -- nosuch|argument=program reason=unknown
END
if once; then
	boot machine=openpower720 timeout=300 -- -- "$(sed 's/|.*//; s/^/hpmstat /' "$work/refused" | paste -sd ';' | sed 's/;/ ; /g')"
	refusals <"$work/refused"
fi

# shellcheck disable=SC2086
boot smp=1 $no_pmu timeout=60 -- -- hpmstat -- hello
status_is 2 "without counters it ends"
line "hpmstat argument=events reason=no-device" "... and says why"

boot machine=openpower720 timeout=300 -- -- badcalls
status_is 0 "system calls about sessions that must be refused"
guest_tap

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=20000 -- sessions 24 8 '&' stress 24 5 8
status_is 0 "simulated machine: sessions come and go under stress"
guest_tap
if [ "$arch" = aarch64 ]; then
	for model in cpu=cortex-a72 cpu=max; do
		loops_differ "$model" smp=1 icount=0 $model
	done
	boot smp=1 cpu=cortex-a72 -- -- hpmstat events=topdown.frontend -- hello ';' hpmstat events=topdown.retiring -- hello
	status_is 2 "what a PMU cannot measure"
	line "hpmstat argument=events reason=unsupported" "... is refused with what it lacks"
	boot smp=8 thread=multi timeout=300 -- -- sessions 24 20 '&' stress 24 5 8
	status_is 0 "8 CPUs at once: sessions come and go under stress"
	guest_tap
fi
done_testing
