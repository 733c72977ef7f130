#!/bin/sh
# hpmstat: what it says of programs against the ground truth, what it refuses, and sessions that
# come and go under stress.
. "${0%/*}/lib.sh"

# counts_are_true "NAME=FACT ...": what was printed last by each name, for what happened between the
# marks that hpmstat set: exact counts to a thousandth, others to 1.5 times their interval and 1 %.
counts_are_true() {
	tools/truth.sh "$work/truth.txt" reading:1 reading:2 >"$work/facts" || :
	for pair in $1; do
		name=${pair%=*} r=0
		value=$(cell "hpmstat of=.*" "name=$name" value | tail -n 1)
		interval=$(cell "hpmstat of=.*" "name=$name" interval | tail -n 1)
		awk -v value="$value" -v interval="$interval" -v wanted="${pair#*=}" '
			{ for (i = 1; i <= NF; i++) { split($i, p, "="); fact[p[1]] = p[2] } }
			END {
				off = value > fact[wanted] ? value - fact[wanted] : fact[wanted] - value
				if (value == "" || !(wanted in fact)) exit 1
				if (interval == "exact") exit !(off * 1000 <= fact[wanted])
				if (!sub(/^\+-_/, "", interval)) exit 1
				exit !(off * 100 <= fact[wanted] * (1.5 * interval + 1))
			}' "$work/facts" || r=1
		result $r "$name: $value $interval"
	done
}

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=100000 -- \
	hpmstat per=machine marks=1 \
	events=cycles,instructions,DCACHE:REMOTE_L2,LOADS,STORES:u,L1D_MISSES,SERVED:LOCAL_L2,STALL:BRANCH,ipc -- scoreboard ms=60
status_is 0 "the machine while a program runs"
line "hpmstat of=machine ms=60..99.9" "the program's time"
for name in cycles instructions DCACHE:REMOTE_L2; do
	has_cell "hpmstat of=machine" "name=$name" interval=exact "$name are exact"
done
has_cell "hpmstat of=machine" "name=LOADS seen=1..99.9" "interval=[+]-_[0-9.]+" \
	"others have an interval"
counts_are_true "cycles=cycles instructions=instructions DCACHE:REMOTE_L2=dcache_remote_l2 LOADS=loads L1D_MISSES=l1d_misses \
	SERVED:LOCAL_L2=local_l2 STALL:BRANCH=stall_branch"
r=0
for name in cycles instructions ipc; do cell "hpmstat of=machine" "name=$name" value; done |
	awk '{ v[NR] = $1 } END { d = v[3] - v[2] / v[1]; exit !(NR == 3 && d * d < 0.002 * 0.002) }' ||
		r=1
result $r "instructions per cycle are those of the two"

# Weights, pins, braces and a round.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=50000 -- \
	hpmstat per=machine marks=1 round=3000000 \
	"events=LOADS!,STORES!,{L1D_MISSES,cycles},MISPREDICTS*4" -- scoreboard ms=40 ';' \
	hpmstat events=DCACHE:REMOTE_L2 -- hello
status_is 0 "weights, pins and braces"
line "hpm event=scaled figures=remote" "a pinned event outranks the breakdown's, which is said"
line "hpmstat groups=2.. round=3000000.. remote=scaled" "... by hpmstat, too, with the round"
has_cell "hpmstat groups=2.." "name=LOADS turns=100.0" as=pinned "what is pinned"
has_cell "hpmstat groups=2.." "name=cycles turns=1..50" as=tied_1 "... and what is tied"
within "$(cell "hpmstat groups=2.." "name=MISPREDICTS" turns | cut -d. -f1)" 20 60 \
	"a weight of 4 is a third or more of the slices"
has_cell "hpmstat of=machine" name=LOADS interval=exact "pinned events are exact"
counts_are_true "LOADS=loads STORES=stores MISPREDICTS=mispredicts L1D_MISSES=l1d_misses"
r=0
[ "$(cell "hpmstat of=machine" name=L1D_MISSES seen)" = \
	"$(cell "hpmstat of=machine" name=cycles seen)" ] || r=1
result $r "tied events are seen for the same part of the time"
line "hpm event=exact figures=remote" "with the session the pins go"
has_cell "hpmstat of=hello" name=DCACHE:REMOTE_L2 interval=exact "... and remote stalls are exact"

# Records for programs.
records() { # FORMAT
	echo "hpmstat list=l1d format=$1 ; hpmstat breakdown=1 format=$1 -- hello ; hpmstat format=$1" \
		"per=machine interval=10 events=LOADS*2,ipc,STORES!,TLB_MISSES -- scoreboard ms=20"
}
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=50000 -- \
	"$(records csv) ; $(records json) ; hpmstat list=l1d format=series"
line "hpmstat argument=format reason=value" "a list is no series"
r=0
python3 test/qemu/hpmstat_check.py "$console" LOADS ipc STORES TLB_MISSES >"$work/off" 2>&1 || r=1
result $r "csv and json have the same columns, and values within their limits"
[ $r -eq 0 ] || tail -n 1 "$work/off" | sed 's/^/# /' >&2

boot machine=openpower720 timeout=300 -- -- \
	hpmstat per=thread interval=10 marks=1 events=cycles,instructions -- scoreboard ms=100 \
	groups=2 threads=4
status_is 0 "threads, at intervals"
r=0
tools/truth.sh "$work/truth.txt" reading:1 exit tag >"$work/facts" || :
for thread in $(lines "hpmstat of=scoreboard thread=1.." thread | sort -u); do
	cell "hpmstat of=scoreboard thread=$thread" name=instructions value | sed "s/^/$thread /"
done >"$work/counted"
cell "hpmstat of=scoreboard ms=0.." name=instructions value | sed "s/^/all /" >>"$work/counted"
awk '
	FNR == NR {
		for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] }
		fact[f["tag"]] = f["instructions"]
		next
	}
	{ sum[$1] += $2 }
	$1 != "all" { seen[$1]++ }
	END {
		for (t in seen) {
			threads++
			truth += fact[t]
			if (sum[t] > fact[t] || (fact[t] > 20000000 && sum[t] * 10 < fact[t] * 7)) {
				print "# thread " t ": " sum[t] ", truth " fact[t]
				bad = 1
			}
		}
		if (sum["all"] != truth) { print "# process: " sum["all"] ", truth " truth; bad = 1 }
		exit bad || threads != 9
	}' "$work/facts" "$work/counted" >"$work/off" || r=1
result $r "intervals of nine threads are parts of their truth, and the program's instructions are" \
	"theirs to the last one"
cat "$work/off" >&2

boot machine=openpower720 timeout=300 -- -- "hpmstat list ; hpmstat list=REMOTE" \
	"; hpmstat list=nothing_of_the_kind ; hpmstat events=cycles:u -- hello"
line "hpmstat kind=generic" "list: generic names"
has_cell "hpmstat kind=generic" "name=l1d.miss here=L1D_MISSES meaning=.*" counters=1,3 \
	"... with what they are here"
line "hpmstat kind=metric" "... metrics"
has_cell "hpmstat kind=metric" "name=ipc meaning=.*" unit=instructions_per_cycle \
	"... with their units"
line "hpmstat kind=own" "... the processor's own"
has_cell "hpmstat kind=own" name=DCACHE:REMOTE_L2 counters=0,2 \
	"... and the counters that can count them"
has_cell "hpmstat kind=own" "name=DCACHE:REMOTE_L2 counters=0,2" groups=[+]0 \
	"... and the groups that there would be more"
has_cell "hpmstat kind=metric" name=remote_pct groups=never "... or that it cannot be counted now"
within "$(cell "hpmstat kind=own" name=DCACHE:REMOTE_L2 name | wc -l)" 2 2 \
	"list=WORD has what there is of a word in either case"
within "$(cell "hpmstat kind=own" name=STALL:TLB name | wc -l)" 1 1 "... and nothing else"
line "hpmstat argument=list reason=unknown" "... or says that there is none"
has_cell "hpmstat of=hello" name=cycles:u interval=exact \
	"cycles of one mode have a counter all the time"

# What takes turns is scaled by what the family saw of it.  Its truth is that of all threads that
# there were not when the run began, but for one of hpmstat's that sleeps.
#
# Six counts are judged together, by T: the sum of the squares of their errors, each divided by its
# standard deviation, which is the interval's half, of 95 %, by 1.96.  A count is the sum of some
# thousand passes, so its error is normal, and T would be chi-square of six degrees if the six were
# independent.  They are not quite, so the limit is for the worst case.  LOADS and COMPLETION have
# one group, and so the same slices: at worst they are one, and count twice.  All others have groups
# of their own, ten with those of the breakdown.  Slices of different groups are drawn from one pass
# without being put back, which adds at most a ninth to the variance of any combination.  So T is at
# most 10/9 of 2 chi2(1) + chi2(4), which exceeds 36 with a probability of 0.0001: T is above 40 no
# oftener.  0.2 % of a count and the interval's last digit are let pass besides.  Where intervals
# are so wide that a fifth more of one count would not be seen, the check says nothing and fails.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=10000 -- \
	hpmstat marks=1 \
	events=instructions,cycles,LOADS,STORES,COMPLETION,STALL:OTHER,STALL:DCACHE,L1D_MISSES -- \
	sessions litter 3 ';' \
	hpmstat per=process events=instructions -- sessions litter 1
status_is 0 "a program and all that it starts"
r=0
for column in name value interval; do
	cell "hpmstat of=sessions" "interval=exact|[+]-_.*|no_interval" $column >"$work/$column"
done
paste -d' ' "$work/name" "$work/value" "$work/interval" >"$work/counted"
awk -v limit=40 '
	function errors(value, truth, half) { # in standard deviations
		off = (value - truth) * 100 / truth
		off = off < 0 ? -off : off
		return off < 0.2 ? 0 : (off - 0.2) * 1.96 / (half + 0.05)
	}
	FNR == NR {
		if ($1 == "mark") { inside = $2 == "reading"; readings += inside }
		else if (inside && $1 == "tag" && readings == 1) old[$2]
		else if (inside && $1 == "tag" && readings == 2 && !($2 in old))
			for (i = 3; i <= NF; i++) { split($i, p, "="); truth[p[1]] += p[2] }
		next
	}
	{
		name = tolower($1); gsub(":", "_", name)
		if (name == "instructions" && ++runs == 2) { alone = $2 * 2 < last; next }
		if (name == "instructions") last = $2 + 0
		counts++
		if ($3 == "exact") {
			off = ($2 - truth[name]) * 100 / truth[name]
			if (off * off > 0.2 ^ 2) { print "# " $1 ": " $2 ", truth " truth[name]; bad = 1 }
		} else if (sub(/^\+-_/, "", $3)) {
			z = errors($2, truth[name], $3)
			more[$1] = errors($2 + truth[name] / 5, truth[name], $3) ^ 2 - z ^ 2
			T += z ^ 2
			scaled++
			printf "# %s: %s, truth %s, +-%s %%, %.1f deviations\n", $1, $2, truth[name], $3, z
		} else { print "# " $1 " has no interval"; bad = 1 }
	}
	END {
		printf "# T = %.1f of %d counts, %.0f allowed\n", T, scaled, limit
		for (name in more)
			if (T + more[name] <= limit) { print "# a fifth more " name " is not seen"; bad = 1 }
		exit bad || T > limit || scaled != 6 || counts != 8 || !alone
	}' "$work/truth.txt" "$work/counted" >"$work/off" || r=1
result $r "counts of a family are those of the truth, with intervals, whether its processes can" \
	"still be waited for, and per=process those of one"
cat "$work/off" >&2

boot machine=openpower720 timeout=300 -- -- sessions hog '&' sessions beside
line "exit app=sessions status=7" \
	"an application has sessions whatever number of processes another one has"
guest_ok 1 "... of which none has more than its family may have"

# What a session costs to open, in a debug kernel: all CPUs' instructions.
boot machine=openpower720 timeout=300 -- -- costs open 1 ';' costs none 1 ';' costs open 11 ';' \
	costs ';' costs fly 3 ';' costs read x ';' costs none 0
for n in 1 2 3; do
	tools/truth.sh "$work/truth.txt" costs-begin:$n costs-end:$n total |
		sed -n 's/.* instructions=\([0-9]*\).*/\1/p'
done >"$work/opened"
within "$(awk 'NR == 1 { first = $1 } END { print int(($1 - first) / 10) }' "$work/opened")" 10000 \
	700000 "instructions of opening and closing a session"
echo "# RESULT opening arch=$arch $(paste -sd ' ' "$work/opened")" >&2
line "costs argument=what reason=missing" "costs without arguments is refused"
line "costs argument=what reason=value" "... with a word that is none of its"
r=0; [ "$(lines "costs argument=times reason=range" | wc -l)" -eq 2 ] || r=1
result $r "... with a number that is none, and with 0"

# To the last instruction: what is done on the way out, and freeing the memory.
boot machine=openpower720 timeout=300 -- -- hpmstat events=instructions,cycles marks=1 -- hello
r=0
tools/truth.sh "$work/truth.txt" reading:1 exit tag >"$work/facts" || :
counted=$(cell "hpmstat of=hello" name=instructions value)
awk -v counted="${counted:-none}" '
	{ for (i = 1; i <= NF; i++) { split($i, p, "="); f[p[1]] = p[2] } is[f["instructions"]] }
	END { exit !(counted in is) }' "$work/facts" || r=1
result $r "a program's instructions are those of a thread in the truth, to the last one"

boot machine=openpower720 timeout=300 -- hpm.accounts=on -- \
	hpmstat per=machine marks=1 events=cycles,instructions,DCACHE:REMOTE_L2,LOADS -- scoreboard ms=60
status_is 0 "interrupts and monitoring apart"
counts_are_true "cycles=cycles instructions=instructions DCACHE:REMOTE_L2=dcache_remote_l2"
line "hpmstat accounts=4" "four accounts"
r=0
{
	for name in $(cell "hpmstat accounts=4" "" of); do
		printf '%s' "$(cell "hpmstat of=machine" "name=$name interval=exact" value)"
		for account in threads idle interrupts monitoring; do
			printf ' %s' "$(cell "hpmstat accounts=4" "of=$name" $account)"
		done
		echo
	done
} >"$work/accounts"
awk 'NF != 5 || $2 + $3 + $4 + $5 != $1 || !$2 || !$3 || !$4 || !$5 { bad = 1 }
	END { exit bad || NR != 3 }' "$work/accounts" || r=1
result $r "they add up to the machine, for each exact count"

# The instructions of two loops differ by what is known, in user mode.
#   loops_differ WHAT QEMU ARGUMENTS
loops_differ() {
	what=$1
	shift
	boot "$@" timeout=300 -- hpm.modes=user -- \
		hpmstat events=instructions:u -- known 1000000 ';' hpmstat events=ipc:u,instructions:u,cycles:u \
		-- known 3000007
	status_is 7 "$what: the program's exit status is hpmstat's"
	r=0
	cell "hpmstat of=known" "name=instructions:u interval=exact" value |
		awk '{ n[NR] = $1 } END { exit n[2] - n[1] != 4000014 }' || r=1
	result $r "$what: two millions of rounds more are 4000014 instructions more"
}
loops_differ "simulated machine" machine=openpower720

boot machine=openpower720 timeout=300 -- -- hpmstat -- hello status=3
status_is 3 "what is counted if nothing is asked for"
line "hpmstat of=hello ms=0.." "... says of whom"
for name in cycles instructions ipc branch.miss l1d.miss tlb.miss mem.remote_cache mem.remote; do
	has_cell "hpmstat of=hello" "name=$name" value=0.. "... $name"
done
says_not "llc.miss" "... and not what this machine has no event for"

forty=$(for e in LOADS STORES L1D_MISSES L1I_MISSES MISPREDICTS TLB_MISSES COMPLETION EXCEPTIONS STALL:ICACHE STALL:BRANCH STALL:DCACHE \
	STALL:TLB STALL:OTHER DCACHE:LOCAL_L2 DCACHE:LOCAL_L3 SERVED:LOCAL_L2 SERVED:LOCAL_L3 \
	SERVED:REMOTE_L3 CYCLES INSTRUCTIONS; do
	printf '%s:u,%s:k,' "$e" "$e"
done)
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=10000 -- \
	hpmstat events=cycles -- scoreboard ms=20 '&' hpmstat "events=${forty%,}" -- scoreboard ms=40 '&' \
	hpmstat per=machine ms=50 interval=20 events=ipc
status_is 0 "three side by side"
r=0
[ "$(cell "hpmstat of=scoreboard" "name=[A-Z0-9_:]+:[uk] value=0.. seen=0.." name | wc -l)" -eq 40 \
	] || r=1
result $r "forty events at a time"
has_cell "hpmstat of=scoreboard" "name=cycles value=0.." interval=exact \
	"... do not disturb what is exact"
r=0
[ "$(lines "hpmstat of=machine at_ms=0.. since_ms=0.." | wc -l)" -ge 2 ] || r=1
result $r "... and 50 ms are several intervals"

boot machine=openpower720 timeout=300 -- hpm.breakdown=0 -- \
	hpmstat per=machine \
	events=topdown.retiring,topdown.bad_speculation,topdown.frontend,topdown.backend -- scoreboard \
	ms=40
status_is 0 "where the cycles went"
r=0
cell "hpmstat of=machine" "name=topdown[.][a-z_]+" value |
	awk '{ sum += $1 } END { exit !(NR == 4 && sum > 95 && sum < 105) }' || r=1
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
events=LOADS*9 -- hello|argument=events reason=value
events={LOADS -- hello|argument=events reason=value
events=LOADS!,STORES!,L1D_MISSES!,MISPREDICTS!,TLB_MISSES! -- hello|argument=events reason=many
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
	boot machine=openpower720 timeout=300 -- -- \
		"$(sed 's/|.*//; s/^/hpmstat /' "$work/refused" | paste -sd ';' | sed 's/;/ ; /g')"
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
	boot smp=1 cpu=cortex-a72 -- -- hpmstat events=topdown.frontend -- hello ';' hpmstat \
		events=topdown.retiring -- hello
	status_is 2 "what a PMU cannot measure"
	line "hpmstat argument=events reason=unsupported" "... is refused with what it lacks"
	rounds=10
	[ -z "${EVERYWHERE:-}" ] || rounds=20
	boot smp=8 thread=multi timeout=300 -- -- sessions 24 $rounds '&' stress 24 5 8
	status_is 0 "8 CPUs at once: sessions come and go under stress"
	guest_tap
fi
done_testing
