#!/bin/sh
# c2c on the simulated machine: planted false and true sharing has its name, a padded control has
# none, what padding and placement save is near what c2c predicts, and shares are as a record of
# each access says. SEEDS=N: with N seeds (2).
. "${0%/*}/lib.sh"
seeds=${SEEDS:-2}
apart=0,4,2,6 # CPUs of two chips in turn; the first two are on different ones
rounds=20000

# of_line WHAT COLUMN: of c2c's lines (CSV) of that variable the sum of a column: records accesses
# cycles modified store_cycles met crossed threads change saves saves_at_most are 6 to 16
of_lines() {
	awk -F, -v what="$1" -v column="$2" '$1 == "c2c" && $2 == "line" && $4 ~ "^(" what ")[+]" {
		n += $column } END { printf "%.0f\n", n }' "$3"
}
sharing_of() { # WHAT FILE: the verdicts of its lines with 20 records, each once
	awk -F, -v what="$1" '$1 == "c2c" && $2 == "line" && $4 ~ "^(" what ")[+]" && $6 >= 20 {
		print $5 }' "$2" | sort -u | paste -sd' ' -
}
is() { # VALUE WANTED WHAT
	r=0; [ "$1" = "$2" ] || r=1
	result $r "$3 ($1)"
}
# The runs of one console, a file each: $work/run.1, ...
split_runs() {
	rm -f "$work"/run.*
	awk -v to="$work/run." '/^run: / { n++ } n { print > (to n) }' "$console"
}
cycles_of() { # FILE: user cycles that hpmstat counted
	awk -F, '$1 == "hpmstat" && $2 == "value" && $8 == "cycles:u" { print $9 }' "$1"
}

# ---- What is refused -----------------------------------------------------------------------------
boot machine=openpower720 timeout=120 -- -- c2c period=0 -- hello ';' c2c lines=none -- hello ';' \
	c2c format=xml -- hello ';' c2c near=2000000 -- hello ';' c2c depth=1 -- hello ';' c2c ';' \
	c2c -- nothing ';' falseshare cpus=63 ';' falseshare threads=9
for what in "period reason=range" "lines reason=value" "format reason=value" "near reason=range" \
	"depth reason=unknown" "program reason=missing"; do
	line "c2c argument=$what" "refused: $what"
done
line "c2c argument=program reason=unknown" "refused: a program that there is not"
line "falseshare argument=cpus" "refused: a CPU that there is not"
line "falseshare argument=threads reason=range" "refused: too many threads"

# Where the kernel's variables begin and end.
address_of() { # SYMBOL
	readelf -sW "${kernel%.*}.elf" | awk -v name="$1" '$8 == name { print "0x" $2 }'
}
data=$(address_of data_start) stack=$(address_of boot_stack_guard)

# ---- What is planted is named, and what a change saves -------------------------------------------
seed=0
while [ $((seed += 1)) -le "$seeds" ]; do
	shared="falseshare rounds=$rounds seed=$seed"
	boot machine=openpower720 plugin=seed=$seed timeout=300 -- hpm.breakdown=off -- \
		c2c period=30 near=60 lines=100000 format=csv -- $shared cpus=$apart ';' \
		c2c period=30 near=60 lines=100000 format=csv -- $shared cpus=$apart pad=1 ';' \
		c2c period=30 near=60 lines=100000 format=csv -- $shared cpus=0,4 threads=2 pad=1 ';' \
		hpmstat events=cycles,cycles:u format=csv -- $shared cpus=$apart ';' \
		hpmstat events=cycles,cycles:u format=csv -- $shared cpus=$apart pad=1 ';' \
		hpmstat events=cycles,cycles:u format=csv -- $shared cpus=0,4 threads=2 pad=1 ';' \
		hpmstat events=cycles,cycles:u format=csv -- $shared cpus=0,2 threads=2 pad=1
	status_is 0 "seed $seed: falseshare under c2c, and counted"
	split_runs
	is "$(grep -c 'check=ok' "$console")" 7 "... seven programs did their work"
	is "$(sharing_of statistics "$work/run.1")" FALSE "... statistics: false sharing"
	is "$(sharing_of arrays "$work/run.1")" FALSE "... arrays: false sharing"
	is "$(sharing_of counter "$work/run.1")" TRUE "... counter: true sharing"
	is "$(sharing_of counter "$work/run.2")" TRUE "... and in the padded control"
	is "$(awk -F, '$2 == "line" && $5 == "FALSE"' "$work/run.2" | wc -l)" 0 \
		"... which has no false sharing at all"
	before=$(of_lines "statistics|arrays" 7 "$work/run.1")
	after=$(of_lines "statistics|arrays" 7 "$work/run.2")
	within "$after" 0 $((before / 20)) "... padding removes 95 of 100 remote accesses there"
	# The kernel's variables have names; its constants and memory that it allocates have none.
	is "$(awk -F, -v from="$data" -v to="$stack" '$2 == "line" && length($3) == 18 && $3 >= from &&
		$3 < to && $4 ~ /^\[/' "$work/run.1" | wc -l)" 0 \
		"... no variable of the kernel is without a name"
	r=0; awk -F, '$2 == "line" && $3 ~ /^0xffffffff8/ && $4 ~ /^[a-z_.0-9]+[+]0x/ { n++ }
		END { exit !n }' "$work/run.1" || r=1
	result $r "... of several lines ($(awk -F, '$2 == "line" && $3 ~ /^0xffffffff8/ {
		sub(/[+].*/, "", $4); print $4 }' "$work/run.1" | sort -u | paste -sd' ' -))"
	r=0; awk -F, '$2 == "row" && $8 == "use_statistics" && $9 ~ /falseshare.c$/ && $10 > 0 {
			chips[$4] = 1; kinds[$6] = 1 }
		END { exit !(chips[0] && chips[1] && kinds["read"] && kinds["write"]) }' "$work/run.1" || r=1
	result $r "... rows name both chips, reads and writes, function and line"

	# Both are counted without c2c. Stores that the store buffer hides may cost something, too.
	predicted=$(of_lines "statistics|arrays" 15 "$work/run.1")
	most=$(of_lines "statistics|arrays" 16 "$work/run.1")
	saved=$(($(cycles_of "$work/run.4") - $(cycles_of "$work/run.5")))
	together=$(of_lines counter 15 "$work/run.3")
	moved=$(($(cycles_of "$work/run.6") - $(cycles_of "$work/run.7")))
	within "$saved" $((predicted * 3 / 4)) "$most" "... what padding saves is about as predicted"
	within "$moved" $((together * 3 / 4)) $((together * 4 / 3)) \
		"... and what placement on one chip saves"
	echo "$arch $seed $predicted $most $saved $together $moved" | awk '{
		printf "# RESULT arch=%s seed=%s padding_predicted=%d at_most=%d saved=%d off_pct=%.1f " \
			"placement_predicted=%d saved=%d off_pct=%.1f\n", $1, $2, $3, $4, $5, 100 * ($3 / $5 - 1),
			$6, $7, 100 * ($6 / $7 - 1) }'
done

# ---- The same run, with a record of each access --------------------------------------------------
# hpmrec records them all, while c2c takes one in 20.
boot machine=openpower720 mem=1G timeout=400 -- hpm.samples=65536 hpm.records=16384 -- hpmrec \
	criteria=access.remote:u@1 all=1 limit=1000 format=samples -- c2c period=20 near=0 limit=1000 \
	lines=100000 format=csv -- falseshare rounds=3000 cpus=$apart
status_is 0 "falseshare under c2c and under hpmrec"
cp "$console" "$work/run.1"
within "$(lines "hpmrec criterion=access.remote:u" lost)" 0 0 "... none of all accesses is lost"
within "$(awk -F, '$2 == "run" && $9 ~ /^[0-9]/ { print $9 }' "$console")" 0 0 "... nor of c2c's"
# "VARIABLE TRUE STANDS_FOR": the lines of variables, of c2c, and what was recorded of them
# hpmrec and c2c are the first processes.
awk '$1 == "SAMPLE" && $4 > 2 { data = $13; while (length(data) < 16) data = "0" data
		last = index("0123456789abcdef", substr(data, 15, 1)) - 1
		true[substr(data, 1, 14) (last < 8 ? "00" : "80")] += $8 }
	/^c2c,line,0x/ { split($0, f, ","); data = substr(f[3], 3)
		while (length(data) < 16) data = "0" data
		sub(/[+].*/, "", f[4]); what[data] = f[4]; stands[data] = f[7] }
	/^SAMPLE/ { all++ }
	END { for (d in what) if (true[d] > 1000) print what[d], true[d], stands[d] }' "$console" |
	sort >"$work/lines"
is "$(cut -d' ' -f1 "$work/lines" | paste -sd' ' -)" "arrays counter statistics" \
	"... three lines have over 1,000 accesses"
while read -r what true stands; do
	off=$(awk -v n="$true" 'BEGIN { printf "%d", 4 * 20 + 3 * sqrt(n * 20) }')
	within "$stands" $((true - off)) $((true + off)) "... $what: within three deviations"
done <"$work/lines"

# ---- Text and JSON -------------------------------------------------------------------------------
boot machine=openpower720 timeout=200 -- -- c2c period=50 lines=3 rows=2 -- falseshare \
	rounds=$rounds cpus=$apart ';' c2c period=50 lines=2 format=json -- falseshare rounds=$rounds \
	cpus=$apart
says '^line 0x[0-9a-f]+  statistics\+0x0  FALSE sharing  [0-9,]+ accesses' "text: a line"
says '^  chip [01] t[0-9]+ t[0-9]+ +(read|write) +use_statistics falseshare.c:[0-9]+  \+' "... its rows"
line "c2c line=0x[0-9a-f]+ padding_saves=1..  at_most=1.." "... what padding saves"
line "c2c lines=3.. shown=3 lost=0 cost_pct=[0-9.]+ line_bytes=128 cpus=8 chips=2" "... and its end"
r=0; grep '^{"c2c"' "$console" | python3 -c '
import json, sys
kinds = {}
for text in sys.stdin:
    record = json.loads(text)
    kinds.setdefault(record["c2c"], []).append(record)
assert len(kinds["run"]) == 1 and len(kinds["line"]) == 2 and kinds["row"], kinds
assert kinds["run"][0]["line_bytes"] == 128 and kinds["run"][0]["records"] > 100
assert all(r["sharing"] in ("TRUE", "FALSE") and r["saves"] > 0 for r in kinds["line"])
' 2>"$work/json" || r=1
result $r "JSON: a run, lines and rows"
[ $r -eq 0 ] || sed 's/^/# /' "$work/json" >&2

# Shorter lines, more chips.
if once; then
	boot machine=epyc-like timeout=200 -- -- c2c period=50 format=csv -- falseshare rounds=$rounds \
		cpus=0,4,8,12
	is "$(sharing_of "statistics|arrays" "$console")" FALSE "lines of 64 bytes: false sharing"
	is "$(sharing_of counter "$console")" TRUE "... and true sharing"
fi

# Nothing is remote on one chip, and without records of accesses there is nothing to see.
boot machine=onechip timeout=200 -- -- c2c -- falseshare rounds=1000
status_is 0 "one chip"
line "c2c lines=0 shown=0 lost=0 chips=1" "... no line is contended"
boot machine=qemu timeout=200 -- -- c2c -- hello
line "c2c argument=criteria reason=(no-device|unsupported)" "no records of accesses: refused"
done_testing
