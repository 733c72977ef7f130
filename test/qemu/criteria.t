#!/bin/sh
# Accesses by four criteria beside the detector of sharing, on the simulated machine: each is as
# often as the ground truth says, threads are clustered as without, and sampling costs no more than
# its limit.
. "${0%/*}/lib.sh"

# true_accesses FILTER: the accesses between the recording's marks for which the awk expression
# holds: of mode, source, latency with the page walk, walk
true_accesses() {
	tools/truth.sh "$work/truth.txt" recording recorded accesses | awk '{
		for (i = 1; i <= NF; i++) { split($i, pair, "="); is[pair[1]] = pair[2] }
		mode = is["mode"]; source = is["source"]; walk = is["walk"]
		latency = is["latency"] + walk
		if ('"$1"') n += is["accesses"]
	} END { print n + 0 }'
}
# estimated CRITERION PERIOD FILTER [SIGMAS]: what the samples stand for is within a period of each
# CPU and half a hundredth of the truth, or, of a sampler that is shared, within SIGMAS standard
# deviations of as many accesses drawn at random
estimated() {
	truth=$(true_accesses "$3")
	off=$(awk -v n="$truth" -v p="$2" -v sigmas="${4:-0}" \
		'BEGIN { printf "%d", 8 * p + (sigmas ? sigmas * sqrt(n * p) : n / 200) }')
	within "$(lines "hpmrec criterion=$1" stand_for | head -n 1)" $((truth - off)) \
		$((truth + off)) "$1 is what there was"
	within "$(lines "hpmrec criterion=$1" samples | head -n 1)" 100 1000000 "... by enough samples"
	within "$(lines "hpmrec criterion=$1" lost | head -n 1)" 0 0 "... of which none is lost"
}

boot machine=openpower720 timeout=400 -- -- sched.policy=cluster scoreboard ms=120 ';' \
	sched.policy=cluster hpmrec \
	'criteria=access.remote:u@100,access.memory@60,access.walk@50,access.any>=200@100' \
	all=1 limit=100 rows=3 marks=1 -- scoreboard ms=120
status_is 0 "scoreboard, alone and recorded"
estimated access.remote:u 100 'mode == "user" && source ~ /remote_l/'
estimated access.memory 60 'source ~ /memory/'
estimated access.walk 50 'walk > 0'
estimated 'access.any>=200' 100 'latency >= 200 && source != "l1"' 3
clusters=$(lines "sharing clusters=2..4 wrong=0" pid | wc -l)
within "$clusters" 2 2 "the clusters are groups of the program's, recorded or not"
within "$(lines hpmrec cost_pct)" 0.1 10 "sampling costs no more than its limit"

# Five and the detector are more than there are samplers; walks for instructions.
boot machine=openpower720 timeout=400 -- -- sched.policy=cluster hpmrec \
	'criteria=access.l2:u@3000,access.l3@50,access.beyond_l1>=100:k@100,fetch.walk:k@10,access.walk:u@20' \
	all=1 limit=1000 rows=3 marks=1 -- scoreboard ms=30
status_is 0 "more criteria than samplers"
estimated access.l2:u 3000 'mode == "user" && source == "local_l2"'
estimated access.l3 50 'source == "local_l3"'
estimated 'access.beyond_l1>=100:k' 100 'mode == "kernel" && latency >= 100 && source != "l1"'
estimated access.walk:u 20 'mode == "user" && walk > 0' 3
truth=$(tools/truth.sh "$work/truth.txt" recording recorded cpu |
	sed -n 's/.*mode=kernel .* itlb_misses=\([0-9]*\).*/\1/p' | awk '{ n += $1 } END { print n }')
within "$(lines "hpmrec criterion=fetch.walk:k" stand_for | head -n 1)" \
	"$(awk -v n="$truth" 'BEGIN { printf "%d", n - 80 - 3 * sqrt(10 * n) }')" \
	"$(awk -v n="$truth" 'BEGIN { printf "%d", n + 80 + 3 * sqrt(10 * n) }')" \
	"fetch.walk:k is what there was"

# More samples than a session's buffer holds at once, each of which is there at the end. With a
# smaller TLB hpmrec itself walks more than once for each sample that it notes, and is most of them.
boot machine=openpower720 mem=1G timeout=400 plugin=tlb=32 -- hpm.samples=65536 hpm.records=16384 \
	-- hpmrec criteria=access.walk:u@1 all=1 limit=1000 rows=1 marks=1 -- scoreboard ms=20
status_is 0 "every page walk"
estimated access.walk:u 1 'mode == "user" && walk > 0'

# Where the machine says that it walked: each record is of a page that its CPU had no translation
# of, at that time. The list's clock began at power-on, the samples' at boot: how much earlier tells
# a page that was missing once. An atomic access is made, and recorded, when the 16 stores before it
# have left the store buffer, each after at most 265 cycles.
boot machine=openpower720 timeout=400 plugin=pages="$work/pages",tlb=32 -- mem.tracker=path \
	mem.track=always hpm.samples=16384 -- hpmrec criteria=access.walk:u@7,fetch.walk:u@7 \
	format=samples limit=1000 rows=1 -- scoreboard ms=10
status_is 0 "page walks, each a line"
od -An -v -tu8 -w24 -j32 "$work/pages" | awk '
	function page_of(address,    i, v) {
		for (i = 1; i <= length(address) - 3; i++)
			v = v * 16 + index("0123456789abcdef", substr(address, i, 1)) - 1
		return sprintf("%.0f", v)
	}
	FILENAME == "-" { key = int($3 / 4294967296) % 65536 " " $1; at[key, ++count[key]] = $2; next }
	$1 == "SAMPLE" {
		sample[++samples] = key = $3 " " page_of($13); ns[samples] = $2
		late[samples] = $NF ~ /atomic/ ? 16 * 265 : 500
		if (count[key] == 1 && !began) began = at[key, 1] - $2
	}
	END {
		for (k = 1; k <= samples; k++) {
			near = 0
			for (i = 1; i <= count[sample[k]]; i++) {
				off = ns[k] + began - at[sample[k], i]
				near += off > -500 && off < late[k]
			}
			wrong += !near
		}
		print samples, wrong + 0
	}' - "$console" >"$work/walks"
within "$(cut -d' ' -f1 "$work/walks")" 2000 100000 "... several thousand"
within "$(cut -d' ' -f2 "$work/walks")" 0 0 "... all of pages that were walked for, when they were"
done_testing
