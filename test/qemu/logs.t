#!/bin/sh
# Logs of counts over time (hpm_log), on the simulated machine.
. "${0%/*}/lib.sh"

boot machine=openpower720 timeout=300 -- hpm.slice_cycles=20000 -- logs
status_is 0 "logs: what records say is what readings say"
guest_tap
grep -a '^# ' "$console" >&2 || :

# As hpmstat prints it.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=20000 -- \
	hpmstat format=log interval=1 events=cycles,ipc,LOADS,L1D_MISSES -- scoreboard ms=20 ';' \
	hpmstat format=log buffer=4 interval=1 \
	events=LOADS,STORES,TLB_MISSES,L1D_MISSES,MISPREDICTS,STALL:TLB,COMPLETION -- logs brood 2
status_is 0 "hpmstat format=log"
r=0
[ "$(lines "hpmstat log=.* check=ok" | wc -l)" -eq 10 ] || r=1
result $r "differences add up to the final reading, of each figure of both"
r=0
lines "hpmstat logged=1.." lost >"$work/lost"
awk 'NR == 1 && $1 + 0 { bad = 1 } NR == 2 && !$1 { bad = 1 } END { exit bad || NR != 2 }' \
	"$work/lost" || r=1
result $r "nothing is lost with the usual buffer, and counted with a small one"

# Weights by measured variances.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=10000 -- \
	hpmstat round=300000 "events={LOADS,STORES}*auto,MISPREDICTS*auto,TLB_MISSES*auto,STALL:TLB*auto" \
	-- phases kind=sort rounds=1
status_is 0 "automatic weights"
within "$(cell "hpmstat groups=2.." "name=STALL:TLB" weight)" 2 8 "... give more to what varies much"
within "$(cell "hpmstat groups=2.." "name=MISPREDICTS" weight)" 1 1 "... than to what does not"
has_cell "hpmstat groups=2.." "name=MISPREDICTS" as=auto "... and are said to be automatic"
done_testing
