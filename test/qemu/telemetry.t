#!/bin/sh
# The telemetry stream: what the guest records is read back by babeltrace2, whole and accounted for.
. "${0%/*}/lib.sh"
stream=$work/stream trace=$work/trace

# record WHAT qemu.sh's arguments -- boot arguments
record() {
	what=$1
	shift
	rm -rf "$stream" "$trace"
	boot telemetry="$stream" "$@"
	status_is "${expected:-0}" "$what: the run ends"
	r=0
	tools/trace_split.py "$stream" "$trace" >"$work/split" 2>&1 || r=1
	result $r "$what: every byte of the stream is of a whole packet"
	[ $r -eq 0 ] || sed 's/^/# /' "$work/split" >&2
	cp "$work/split" "$work/split.whole"
}
lines_of() { # WHAT COMMAND...: the TAP lines it prints become ours
	what=$1
	shift
	"$@" >"$work/tap" 2>&1 || echo "not ok 1 - the checker ends: $(tail -n 1 "$work/tap")" >>"$work/tap"
	r=0
	grep -q '^ok' "$work/tap" || r=1
	result $r "$what: there is something to check"
	grep -E '^(not )?ok' "$work/tap" >"$work/lines" || :
	while read -r line; do
		r=0
		case $line in not*) r=1 ;; esac
		result $r "$what: $(printf '%s\n' "$line" | sed -E 's/^(not )?ok [0-9]+ - //')"
	done <"$work/lines"
}
checked() { # WHAT ARGUMENTS
	what=$1
	shift
	lines_of "$what" test/qemu/trace_check.py "$trace" "$(grep '^telemetry: taken=' "$console" || :)" "$@"
}
recorded() { # EVENT WHAT
	r=0
	grep '^# events:' "$work/tap" | grep -qw "$1" || r=1
	result $r "$2"
}

efi=${B:-build}/$arch/vigil-test.efi
record "simulated machine" machine=openpower720 timeout=200 -- telemetry=all telemetry.kb=1024 sched.policy=cluster -- scoreboard ms=30
checked "simulated machine"
for event in thread_start thread_exit process_start process_exit sched_switch sched_migrate sharing_watch sharing_decision counters sample mark; do
	recorded $event "simulated machine: $event is among them"
done
tools/trace_json.py "$trace" >"$work/json" 2>"$work/errors" && python3 -m json.tool "$work/json" >"$work/pretty" 2>>"$work/errors" || echo failed >>"$work/errors"
r=0; [ ! -s "$work/errors" ] || r=1
result $r "JSON: it is valid"
lines_of "JSON" test/qemu/json_check.py "$work/json" 8 scoreboard
tools/trace_script.py "$trace" "${B:-build}/$arch/vigil-test.elf" "${B:-build}/$arch/bin" >"$work/samples" 2>&1 || echo failed >>"$work/samples"
r=0
awk '/^scoreboard [0-9]+\/[0-9]+ \[0[0-9]+\] [0-9.]+: [0-9]+ remote_l[23]: $/ { n++; next }
	/^\t +[0-9a-f]+ [A-Za-z_0-9.]+\+0x[0-9a-f]+ \((scoreboard|\[kernel\])\)$/ { m++; next }
	/./ { print "# " $0; other++ }
	END { exit !(n > 100 && n == m && !other) }' "$work/samples" || r=1
result $r "samples: each with its thread and function"

record "logs" machine=openpower720 timeout=200 -- telemetry=values,sched telemetry.kb=1024 hpm.slice_cycles=20000 -- hpmstat format=log interval=1 events=cycles,LOADS -- scoreboard ms=20
checked "logs"
for event in value value_name; do
	recorded $event "logs: $event is among them"
done
r=0
babeltrace2 "$trace" | grep ' value: ' | sed 's/[{},]//g' >"$work/values"
for name in cycles LOADS; do
	awk -v figure=${figure:-0} '{ for (i = 1; i < NF; i++) if ($(i + 1) == "=") f[$i] = $(i + 2) }
		f["figure"] == figure && f["counted"] > most[f["tid"]] { most[f["tid"]] = f["counted"] }
		END { for (t in most) sum += most[t]; printf "%d\n", sum }' "$work/values" >"$work/sum"
	[ "$(cat "$work/sum")" = "$(lines "hpmstat log=$name check=ok" final)" ] || r=1
	figure=1
done
result $r "logs: the threads' last values add up to the final reading"
tools/trace_json.py "$trace" >"$work/json" 2>"$work/errors" || echo failed >>"$work/errors"
python3 - "$work/json" <<'END' >>"$work/errors" 2>&1 || echo failed >>"$work/errors"
import json, sys
rows = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if "per 1,000 cycles" in e["name"]]
cycles = [e["args"]["cycles"] for e in rows if "cycles" in e["args"]]
loads = [e["args"]["LOADS"] for e in rows if "LOADS" in e["args"]]
assert len(cycles) > 20 and set(cycles) == {1000} and len(loads) > 20 and 0 < max(loads) <= 1000
END
r=0; [ ! -s "$work/errors" ] || r=1
result $r "logs: each thread's figures are counters"
[ $r -eq 0 ] || sed 's/^/# /' "$work/errors" >&2

record "memory" machine=openpower720 smp=4 mem=128M timeout=300 -- telemetry=sched,memory telemetry.kb=1024 telemetry.ms=5 \
	"swap=ram disk.ram=32M disk.delay_us=1000 mem.user=2000K mem.pab=128 mem.track=always mem.epoch_ms=20 mem.goal=throughput mem.curves=on -- mem.policy=region mem.prefetch=spatial mem.process=1200K cg rounds=1 & cg rounds=1"
checked "memory"
tools/trace_json.py "$trace" >"$work/json" 2>"$work/errors" || echo failed >>"$work/errors"
lines_of "memory" test/qemu/memory_check.py "$trace" "$console" "$work/json"
r=0
tools/plot_mrc.sh "$trace" "$work/mrc" >"$work/said" 2>&1 && [ -s "$work/mrc.png" ] && [ -s "$work/mrc.svg" ] || r=1
result $r "memory: its curves are drawn"
[ $r -eq 0 ] || sed 's/^/# /' "$work/said" >&2
boot machine=uniprocessor mem=128M timeout=200 -- mem.track=always mem.track_permille=1000 mem.pab=128 mem.epoch_ms=20 -- memstat format=series interval=3 -- fft log2n=14
r=0
tools/plot_mrc.sh "$console" "$work/mrc" >"$work/said" 2>&1 && [ "$(grep -c '^MRC program=fft ' "$console")" -gt 0 ] || r=1
result $r "memory: those that memstat prints are, too"
tr -d '\r' <"$console" | awk '/^MEMORY program=fft / { for (i = 2; i <= NF; i++) { split($i, v, "="); f[v[1]] = v[2] }
		if (n++ && (f["clock_ms"] - clock < f["ms"] - ms - 1 || f["clock_ms"] - clock > f["ms"] - ms + 1 || f["ms"] < ms)) bad = 1
		bad += f["clock_ms"] < f["ms"]; clock = f["clock_ms"]; ms = f["ms"] }
	END { exit n < 3 || bad }' || r=1
result $r "looks follow one another, since the program's start and since the boot"
r=0
! tools/plot_mrc.sh "$work/said" "$work/none" 2>"$work/refused" && grep -q "no curves" "$work/refused" || r=1
result $r "... and what has none is refused"

record "ample memory" machine=openpower720 smp=1 mem=128M timeout=300 plugin=tlb=16 -- telemetry=sched,memory mem.track=always mem.pab=128 mem.track_permille=1 -- fft log2n=15 rounds=3
checked "ample memory"
recorded tracker_sample "ample memory: how many pages are logged, when that changes"

# Two ways out for the same samples: the stream, and the lines that hpmrec prints.
record "samples by criteria" machine=openpower720 timeout=200 -- telemetry=samples -- \
	hpmrec criteria=time@100us,L1D_MISSES@500,access.any@500 limit=1000 format=samples -- scoreboard ms=10
tools/trace_script.py "$trace" "${B:-build}/$arch/vigil-test.elf" "${B:-build}/$arch/bin" >"$work/samples" 2>&1 || echo failed >>"$work/samples"
tools/trace_script.py "$console" >"$work/lines" 2>&1 || echo failed >>"$work/lines"
# "EVENT PERIOD PC FUNCTION+OFFSET (FILE)" of the program, sorted.
flat() { awk '/^[^\t]/ { sub(":$", "", $NF); event = $NF " " $(NF - 1); wanted = $1 == "scoreboard" } /^\t/ && wanted { print event, $1, $2, $3 }' "$1" | sort; }
flat "$work/samples" >"$work/flat" && flat "$work/lines" >"$work/printed"
r=0; [ "$(wc -l <"$work/flat")" -gt 100 ] && cmp -s "$work/flat" "$work/printed" || r=1
result $r "samples by criteria: the stream has what hpmrec has ($(wc -l <"$work/flat") and $(wc -l <"$work/printed"))"
[ $r -eq 0 ] || diff "$work/flat" "$work/printed" | head -n 10 | sed 's/^/# /' >&2
for event in "time [0-9]{5,}" "L1D_MISSES [45][0-9]{2}" "(remote_l2|local_l2) [0-9]+"; do
	r=0; grep -Eq "^$event [0-9a-f]+ operate\+0x[0-9a-f]+ \(scoreboard\)\$" "$work/flat" || r=1
	result $r "samples by criteria: $event"
done

# Rubbish in front, a damaged length within, an end that is missing: what is whole is found again.
perl -e 'local $/; $_ = <STDIN>; my $magic = pack("V", 0xC1FC1FC1);
	my $second = index($_, $magic, 1 + index($_, $magic)); substr($_, $second + 48, 8) = "\xff" x 8;
	print "rubbish" x 10, substr($_, 0, -9)' <"$stream" >"$work/damaged"
status=0
tools/trace_split.py "$work/damaged" "$work/rest" >"$work/split" 2>&1 || status=$?
status_is 1 "a damaged stream: it is said"
whole=$(sed -n 's/.* \([0-9]*\) packets, 0 bytes skipped$/\1/p' "$work/split.whole")
left=$(sed -n 's/.* \([0-9]*\) packets, [1-9][0-9]* bytes skipped$/\1/p' "$work/split")
r=0; [ "$((whole - 2))" -eq "${left:-0}" ] || r=1
result $r "... and all but the damaged packets are there (${left:-none} of $whole)"
r=0; babeltrace2 "$work/rest" >"$work/text" 2>&1 || r=1
result $r "... which babeltrace2 reads"

record "UEFI" efi="$efi" smp=2 timeout=120 -- telemetry=sched -- hello
checked "UEFI"

use vigil-suites
record "a flood" smp=4 timeout=120 -- telemetry=marks telemetry.kb=16 -- telemetry
checked "a flood" flood
expected=101
record "a panic" smp=2 timeout=120 -- telemetry=sched -- panics 1
checked "a panic"
expected=0

use vigil-test
boot smp=1 timeout=60 -- telemetry=sched -- hello
status_is 0 "without a port: all else works"
line "telemetry event=refused" "... and a line says so"
rm -f "$stream"
boot smp=1 telemetry="$stream" timeout=60 -- -- hello
no_line telemetry "not asked for: not a word"
r=0; [ ! -s "$stream" ] || r=1
result $r "... and nothing is written"
done_testing
