#!/bin/sh
# tools/perf_data.py: Debian's perf reads what hpmrec printed and what a trace has, and its totals
# are hpmrec's.
. "${0%/*}/../qemu/lib.sh"
command -v perf >/dev/null || skip_all "there is no perf: package linux-perf"
use vigil
image=${B:-build}/$arch/vigil.elf data=$work/perf.data
home=$HOME HOME=$work/home
export HOME
mkdir -p "$HOME" # perf keeps copies of files there

# Boots with arguments as `boot`, and makes perf.data of the console.
recorded() {
	boot "$@"
	tools/perf_data.py "$console" "$data" "$image" "${B:-build}/$arch/bin" >"$work/said" 2>&1 ||
		echo failed >>"$work/said"
}
# perf_says SUBCOMMAND [options]: its tables, into $work/perf; its complaints, into $work/errors.
perf_says() {
	subcommand=$1
	shift
	case $subcommand in *' '*) set -- --stdio "$@" ;; report) set -- --stdio "$@" ;; esac
	# shellcheck disable=SC2086
	perf $subcommand -i "$data" "$@" >"$work/perf" 2>"$work/errors" </dev/null ||
		echo failed >>"$work/errors"
	# A host's perf says this of the other instruction set's programs, and needs it for none of ours.
	sed -i '/^unwind: target platform=.* is not supported$/d' "$work/errors"
}
# "EVENT FUNCTION SAMPLES PERIOD" of perf's report, and of the console's lines, sorted. The vDSO has
# two names for a function.
of_perf() {
	awk -F'|' '/^# Samples: / { split($0, quoted, "\047"); event = quoted[2] }
		!/^#/ && NF == 3 { gsub(/ /, "", $1); sub(/^ *\[.\] */, "", $3); sub(/ *$/, "", $3)
			sub(/^__vdso_/, "", $3); n[event " " $3] += $1; period[event " " $3] += $2 }
		END { for (k in n) printf "%s %d %.0f\n", k, n[k], period[k] }' "$work/perf" | sort
}
of_console() {
	awk '$1 == "SAMPLE" { sub(/\+0x[0-9a-f]*$/, "", $11); k = $7 " " $11; n[k]++; period[k] += $8 }
		END { for (k in n) printf "%s %d %.0f\n", k, n[k], period[k] }' "$console" | sort
}
quiet() { # WHAT
	r=0; [ ! -s "$work/errors" ] || r=1
	result $r "$1"
	[ $r -eq 0 ] || sed 's/^/# /' "$work/errors" >&2
}
sum_of() { # EVENT COLUMN FILE
	awk -v e="$1" -v c="$2" '$1 == e { n += $c } END { printf "%.0f", n }' "$3"
}
head_of() { # CRITERION KEY
	lines "hpmrec criterion=$1" "$2"
}

criteria="access.remote:u cycles time"
recorded machine=openpower720 timeout=300 -- -- hpmrec \
	criteria=access.remote:u@100,cycles@200k,time@100us limit=1000 format=samples -- scoreboard ms=20
status_is 0 "a recording"
r=0; [ "$(wc -l <"$work/said")" -eq 1 ] && grep -q "^perf_data: samples=[1-9]" "$work/said" || r=1
result $r "... is written: $(cat "$work/said")"

perf_says report -F sample,period,sym -t '|'
quiet "perf report: without a warning"
of_perf >"$work/is"
# The table that calls chosen functions has a name of its own in each.
grep -v ' \(0x[0-9a-f]*\|.*@plt\) [0-9]* [0-9]*$' "$work/is" >"$work/named"
of_console | grep -v ' [.?][a-z]* [0-9]* [0-9]*$' >"$work/wanted"
for criterion in $criteria; do
	wanted=$(head_of "$criterion" stand_for)
	within "$(sum_of "$criterion" 4 "$work/is")" "$wanted" "$wanted" \
		"perf report: $criterion: its total is what hpmrec's samples stand for"
	wanted=$(head_of "$criterion" samples)
	within "$(sum_of "$criterion" 3 "$work/is")" "$wanted" "$wanted" "... and its samples are as many"
done
r=0; [ "$(wc -l <"$work/is")" -gt 10 ] && cmp -s "$work/named" "$work/wanted" || r=1
result $r "... function by function, in the program, the kernel and the vDSO"
[ $r -eq 0 ] || diff "$work/named" "$work/wanted" | head -n 10 | sed 's/^/# /' >&2

perf_says script -F comm,tid,cpu,time,event,ip,sym,period
quiet "perf script: without a warning"
wanted=$(grep -c ^SAMPLE "$console")
within "$(grep -c '^ *scoreboard ' "$work/perf")" "$wanted" "$wanted" "... each sample is there"

perf_says report --sort srcline
awk '$1 == "SAMPLE" && $7 == "access.remote:u" { sub(/.*\//, "", $12); n[$12] += $8; all += $8 }
	END { delete n["?:0"]; for (k in n) if (n[k] > n[best]) best = k; printf "%.2f%% %s", n[best] * 100 / all, best }' \
	"$console" >"$work/line"
r=0; awk '{ $1 = $1 } 1' "$work/perf" | grep -qx "$(cat "$work/line")" || r=1
result $r "perf report: the same source line: $(cat "$work/line")"

perf_says "mem report"
quiet "perf mem report: without a warning"
wanted=$(awk '$1 == "SAMPLE" && NF == 20 { n += $16 + $18 } END { print n }' "$console")
is=$(awk '/^# Samples/ { mine = /access/ } /^# Total weight/ && mine { print $5 }' "$work/perf")
within "$is" "$wanted" "$wanted" "... its weight is the latencies' sum"
r=0; grep -q "Remote Cache.*operate .*scoreboard .*\[malloc\] *HitM" "$work/perf" || r=1
result $r "... it names the source, the function and the memory"

# The order is the same on both instruction sets: perf has another one for AArch64.
perf_says "c2c report" --show-all -d tot
# Loads, or reads of a write, of lines that another chip's cache had modified: perf's HITM; by lines
# of 64 bytes, as perf takes them on its host.
awk 'BEGIN { for (i = 0; i < 16; i++) digit[sprintf("%x", i)] = i }
	$1 == "SAMPLE" && $15 != "fetch" && $17 ~ /^remote_l/ && $20 ~ /^modified/ &&
		($15 == "load" || $20 ~ /atomic/) {
		n++
		l = length($13)
		k = substr($13, 1, l - 2) sprintf("%x", int(digit[substr($13, l - 1, 1)] / 4) * 4) 0
		of[k]++
	}
	END { for (k in of) if (of[k] > most) most = of[k]
		print n, most; for (k in of) if (of[k] == most) print k }' "$console" >"$work/hitm"
wanted=$(sed -n '1s/ .*//p' "$work/hitm")
within "$(sed -n 's/^ *Load Remote HITM *: *//p' "$work/perf")" "$wanted" "$wanted" \
	"perf c2c report: loads of modified lines of another chip ($wanted)"
wanted=$(awk '$1 == "SAMPLE" && $20 ~ /atomic/ { n++ } END { print n }' "$console")
within "$(sed -n 's/^ *Locked Load\/Store Operations *: *//p' "$work/perf")" "$wanted" "$wanted" \
	"... and accesses that read and write in one"
# shellcheck disable=SC2046
set -- $(awk '/Shared Data Cache Line/ { on = 1 } on && $1 == "0" { print $2, $6; exit }' "$work/perf")
r=0; grep -qx "${1#0x}" "$work/hitm" && [ "$2" = "$(sed -n '1s/.* //p' "$work/hitm")" ] || r=1
result $r "... and the line that has most of them: $*"
r=0; grep -q "operate .*scoreboard *scoreboard.c:" "$work/perf" || r=1
result $r "... with the code that uses it"

# A trace of the same has at least what hpmrec took: it goes on to the end.
boot machine=openpower720 timeout=300 telemetry="$work/stream" -- telemetry=samples -- hpmrec \
	criteria=access.remote:u@100,cycles@200k limit=1000 format=samples -- scoreboard ms=10
tools/trace_split.py "$work/stream" "$work/trace" >"$work/split" 2>&1 || :
tools/perf_data.py "$work/trace" "$data" "$image" "${B:-build}/$arch/bin" >"$work/said" 2>&1 || :
perf_says report -F sample,period,sym -t '|'
quiet "a trace: without a warning"
of_perf >"$work/is"
for criterion in access.remote:u cycles; do
	wanted=$(head_of "$criterion" stand_for)
	within "$(sum_of "$criterion" 4 "$work/is")" "$wanted" "$((wanted * 102 / 100))" \
		"... and $criterion: its total"
done
perf_says "c2c report"
r=0; [ "$(sed -n 's/^ *Load Remote HITM *: *//p' "$work/perf")" -gt 10 ] || r=1
result $r "... and it tells modified lines"

echo "no samples" >"$work/none"
r=0; ! tools/perf_data.py "$work/none" "$data" >"$work/said" 2>&1 &&
	grep -q "argument=$work/none reason=value: it has no samples" "$work/said" || r=1
result $r "what has no samples is refused"
r=0; ! tools/perf_data.py "$console" "$data" "$work/none" >"$work/said" 2>&1 &&
	grep -q "argument=$work/none reason=value: no ELF file" "$work/said" || r=1
result $r "... and a kernel that is no ELF file"

# A Linux program and its libraries, of which perf finds the files.
HOME=$home ./vigil record -g --arch "$arch" --smp 4 --deb sqlite3 -o "$work/record" -- \
	/usr/bin/sqlite3 :memory: "with recursive c(x) as (select 1 union all select x+1 from c
		limit 20000) select sum(length(hex(x))) from c" </dev/null >"$console" 2>"$work/said" || {
	grep -q '^vigil: .*\(E: \|apt-get\|closure\)' "$work/said" && done_testing
	sed 's/^/# /' "$work/said"
}
data=$work/record/perf.data
perf_says report --no-children -g none -F sample,dso,sym -t '|'
n=$(awk -F'|' '/libsqlite3/ && / sqlite3[A-Z]/ { n += $1 } END { print n + 0 }' "$work/perf")
within "$n" 5 100000 "samples of a library of Debian have its functions' names"
perf_says report --no-children -g folded,0,caller,count -F sample,sym
r=0; grep -q "main;.*;sqlite3VdbeExec" "$work/perf" ||
	grep -q "sqlite3_step;.*sqlite3VdbeExec" "$work/perf" || r=1
result $r "... and their callers"
perf_says "buildid-list"
library=$(find "$data.files" -name 'libsqlite3.so.0.*')
id=$(readelf -n "$library" | sed -n 's/.*Build ID: *//p')
r=0; [ -n "$id" ] && grep -q "^$id .*libsqlite3" "$work/perf" || r=1
result $r "... and the build ids of the files"
done_testing
