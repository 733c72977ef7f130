#!/bin/sh
# Replacement policies in the kernel, on a loop that is a little larger than memory: those that know
# loops miss far less than LRU.
. "${0%/*}/lib.sh"

misses() { # POLICY KB [PROGRAM [PAB]]: into $n, how often a page had to be read
	boot machine=openpower720 smp=1 mem=128M plugin=tlb=32,disk=64M timeout=300 -- \
		"swap=model mem.pab=${4:-128} mem.process=$2K mem.policy=$1 mem.prefetch=none -- memstat" \
		"-- ${3:-cg rounds=1}"
	line "RESULT app=.* check=ok" "$1: the result is right"
	n=$(lines faults major)
}
cat >"$work/policies" <<END
chooser 1500 50
END
! once || cat >>"$work/policies" <<END
lirs 1500 50
gap 1500 50
region 1500 75
END
misses lru 1500
lru=$n
while read -r policy kb percent; do # of LRU's misses, at most
	misses "$policy" "$kb"
	r=0
	[ -n "$lru" ] && [ -n "$n" ] && [ $((100 * n)) -lt $((percent * lru)) ] || r=1
	result $r "$policy: less than $percent % of LRU's misses ($n of $lru)"
	case $policy in
	chooser)
		line "policy name=chooser in_force=wtinylfu-margin|lirs-recent|mru|gap changes=0.." \
			"the expert in force is said"
		line "experts lru=0.. wtinylfu-margin=0.. lirs-recent=0.. gap=0.. arc=0.. mru=0.." \
			"... and what each would have missed"
		line "curve pages=100..999 again=1000.. epoch_ms=1000 epochs=1.." "there is a curve"
		has_cell curve "KB=1.." LRU=90..99.9 "... on which LRU misses nearly always"
		says "[|]#{20,} *[|]" "... by a long bar"
		line "tracker records=0.. lost=0 interrupts=0.." "what the tracker logged is said"
		line "tracking unit=cycles cost=0.. per_record=0.. logging=0.. using=0.. permille=0.." \
			"... and what it costs"
		;;
	region) has_cell regions "region=cg.matrix access=rw-" policy=mru \
		"the policy of each region is said" ;;
	esac
done <"$work/policies"

# Pages made before a tracker watches, as memory was not short yet: the first use that it sees of
# them is a second one. (The policy it begins with misses six times as often as LIRS there, LRU four
# times.)
if once; then
	lu="lu layout=contiguous n=448 block=8"
	misses lirs 1300 "$lu"
	lirs=$n
	misses chooser 1300 "$lu"
	r=0
	[ -n "$lirs" ] && [ -n "$n" ] && [ $((100 * n)) -lt $((140 * lirs)) ] || r=1
	result $r "chooser: on LU less than 140 % of the misses of LIRS, to which it has to change" \
		"($n of $lirs)"
fi

loop="loop pages=512 rounds=16"
if once; then
	# MRU is made for a loop and for nothing else; what it misses of CG is decided by where the
	# program's few hot pages happen to lie.
	misses lru 1500 "$loop"
	lru=$n
	misses mru 1500 "$loop"
	r=0
	[ -n "$lru" ] && [ -n "$n" ] && [ $((100 * n)) -lt $((60 * lru)) ] || r=1
	result $r "mru: on a loop less than 60 % of LRU's misses ($n of $lru)"
fi

# What wanders: LRU is best, ARC and gap are alike by the chooser's own figures, and what it begins
# with keeps what is over. It has to change.
if once; then
	wander="loop pages=512 window=256 step=64 rounds=64"
	misses lru 1500 "$wander"
	lru=$n
	misses wtinylfu-margin 1500 "$wander"
	r=0
	[ -n "$lru" ] && [ -n "$n" ] && [ $((100 * n)) -gt $((140 * lru)) ] || r=1
	result $r "wtinylfu-margin: on what wanders more than 140 % of LRU's misses ($n of $lru)"
	misses chooser 1500 "$wander"
	r=0
	[ -n "$lru" ] && [ -n "$n" ] && [ $((100 * n)) -lt $((115 * lru)) ] || r=1
	result $r "chooser: less than 115 % ($n of $lru)"
	line "policy name=chooser in_force=lru|arc|gap changes=1.." "... as it has changed"
fi

# The page access buffer has room for all of the program, and still the use that brings a page back
# is one that the log has.
misses lru 1500 "$loop" 1024
records=$(lines "tracker lost=0" records)
r=0
[ -n "$records" ] && [ "${n:-0}" -ge 4096 ] && [ "$records" -ge $((n * 9 / 10)) ] || r=1
result $r "a page that comes back is logged, though the buffer kept what it knew of it" \
	"($records records, $n came back)"
done_testing
