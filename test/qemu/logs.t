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

# The same for programs.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=20000 -- \
	hpmstat format=log-csv interval=1 events=LOADS,STORES -- scoreboard ms=4 groups=1 threads=2 ';' \
	hpmstat format=log-json interval=1 events=LOADS,STORES -- scoreboard ms=4 groups=1 threads=2
status_is 0 "hpmstat format=log-csv, format=log-json"
r=0; awk -F, '/^hpmstat,log,at_ms,/ { named = $9 == "name" && $10 == "counted" }
	/^hpmstat,log,[0-9]/ { sum[$9] += $10; n++ }
	/^hpmstat,account,(LOADS|STORES),/ { if ($4 != sum[$3] || $8 != "ok") bad = 1; accounts++ }
	END { exit !named || n < 6 || bad || accounts != 2 }' "$console" || r=1
result $r "... CSV: a line for each figure of a record, and what they add up to"
r=0; grep '^{"hpmstat"' "$console" | python3 -c '
import json, sys
kinds, sums = {}, {}
for text in sys.stdin:
    record = json.loads(text)
    kinds.setdefault(record["hpmstat"], []).append(record)
for record in kinds["log"]:
    assert record["why"] in ("time", "left", "ended", "asked")
    assert record["seen"] <= record["length"]
    sums[record["name"]] = sums.get(record["name"], 0) + record["counted"]
assert len(kinds["logged"]) == 1 and len(kinds["account"]) == 2
assert all(a["check"] == "ok" and a["sum"] == sums[a["name"]] for a in kinds["account"])
' 2>"$work/json" || r=1
result $r "... and JSON"
[ $r -eq 0 ] || sed 's/^/# /' "$work/json" >&2

# Weights by measured variances.
boot machine=openpower720 timeout=300 -- hpm.slice_cycles=10000 -- \
	hpmstat round=300000 "events={LOADS,STORES}*auto,MISPREDICTS*auto,TLB_MISSES*auto,STALL:TLB*auto" \
	-- phases kind=sort rounds=1
status_is 0 "automatic weights"
within "$(cell "hpmstat groups=2.." "name=STALL:TLB" weight)" 2 8 "... give more to what varies much"
within "$(cell "hpmstat groups=2.." "name=MISPREDICTS" weight)" 1 1 "... than to what does not"
has_cell "hpmstat groups=2.." "name=MISPREDICTS" as=auto "... and are said to be automatic"
done_testing
