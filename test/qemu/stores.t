#!/bin/sh
# Samples of a loop whose eight stores all miss the first-level cache: as many of each, unless their
# period is in step with the loop.
. "${0%/*}/lib.sh"

# WHAT MOST: no store has more than MOST samples for 10 of the least sampled one's.  A run may be
# short enough that one prime between 1,873 and 2,129 serves all of it: 1,539 to 1,750 samples of
# 3,276,800 stores.
even() {
	line "RESULT app=stores elsewhere=0..4 lost=0 throttled=0 check=ok" "$1: nothing is lost, all but a few of the program's start are stores"
	r=0; [ "$(sed -n 's/^RESULT app=stores .* samples=\([0-9]*\) .* most=\([0-9]*\) least=\([0-9]*\) .*/\1 \2 \3/p' "$console" |
		awk -v most="$2" '{ print ($1 > 1535 && $1 < 1755 && $2 * 10 <= $3 * most) }')" = 1 ] || r=1
	result $r "$1: each store has its share"
}
for criterion in l1d.miss:u access.any:u; do
	boot machine=openpower720 smp=1 timeout=120 -- hpm.breakdown=off -- stores criteria=$criterion@2000 passes=400
	status_is 0 "$criterion, random primes"
	even "$criterion" 11
	once || continue
	boot machine=openpower720 smp=1 timeout=120 -- hpm.breakdown=off hpm.primes=off -- stores criteria=$criterion@2000 passes=400
	line "RESULT app=stores by_store=(0,)*[0-9]+(,0)* most=0.. least=0 check=ok" "$criterion, always 2,000: one store has all samples"
	boot machine=openpower720 smp=1 timeout=120 -- hpm.breakdown=off hpm.primes=off -- stores criteria=$criterion@2001 passes=400
	even "$criterion, always 2,001" 11
done

boot smp=1 timeout=60 ${no_pmu:+$no_pmu} -- -- stores
status_is 2 "without counters stores refuses"
line "stores argument=criteria reason=no-device" "... and says why"
boot machine=openpower720 smp=1 timeout=60 -- -- stores criteria=l1d.mist:u
status_is 2 "a criterion that there is not is refused"
line "stores argument=criteria reason=unknown" "... by name"
done_testing
