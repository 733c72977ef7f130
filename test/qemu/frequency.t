#!/bin/sh
# The frequency of CPUs: by cycles and what is told of frequencies the time comes out as the clock
# has it; a program that is made slow half way is slower by time and the same by operations; P-states
# are chosen at the boot and while programs run, for all CPUs or one, and refused where there are none.
. "${0%/*}/lib.sh"
stream=$work/stream trace=$work/trace said=$work/said

record() { # WHAT qemu.sh's arguments -- boot arguments
	what=$1
	shift
	rm -rf "$stream" "$trace"
	boot timeout=400 telemetry="$stream" "$@"
	status_is 0 "$what: the run ends"
	r=0
	tools/trace_split.py "$stream" "$trace" >"$work/split" 2>&1 || r=1
	result $r "$what: the stream is whole"
	r=0
	tools/quanta.py "$trace" json="$work/json" >"$said" 2>&1 || r=1
	result $r "$what: quanta add up, the reference too"
}
told() { # REGEX WHAT
	r=0
	grep -Eq -- "$1" "$said" || r=1
	result $r "$2"
	[ $r -eq 0 ] || { echo "# missing: $1" >&2; sed 's/^/#   /' "$said" >&2; }
}
ppm() { # by which way: how far the time that it makes is from the clock's, in millionths
	sed -n "s/^frequency: time of quanta: .*$1 \\([-+][0-9.]*\\) %.*/\\1/p" "$said" |
		awk '{ printf "%d", ($1 < 0 ? -$1 : $1) * 10000 }'
}
close_to_the_clock() {
	within "$(ppm 'frequencies')" 0 1000 "$1: cycles and the trace of frequencies make the time, within 0.1 %"
	within "$(ppm 'reference')" 0 1000 "... and so does the reference"
}
# CPU P: its time in P-state P by the ground truth, ms; a CPU that was never in another has no line
in_pstate() {
	awk -v cpu="$1" -v p="$2" '$1 == "pstate" && $2 == cpu { ns = $(3 + p) } END { printf "%d", ns / 1e6 }' "$work/truth.txt"
}

# ---- A forced drop ----
# When the 200th of 400 rounds is about, by a run without: boots differ by instruction set.
work_of="phases kind=sort size=300 rounds=400 marks=1"
record "at full speed" machine=onechip smp=2 -- telemetry=quanta,marks trace.frequency=on telemetry.kb=1024 -- "$work_of"
says '^frequency: driver=model counts=yes reference_hz=[0-9]{9,10} pstates=4 khz=1000000,800000,666666,500000' "what there is, is said"
close_to_the_clock "at full speed"
told '^frequency: cpu=[01] told=1 mhz=1000\.0$' "one frequency is told"
half=$(babeltrace2 "$trace" 2>/dev/null | awk '/ mark: / && /"fill"/ && ++n == 200 { gsub(/[][]/, "", $1); split($1, t, ":"); printf "%d", t[3] * 1000; exit }')

record "a drop" machine=onechip smp=2 -- telemetry=quanta,marks trace.frequency=on telemetry.kb=1024 freq.then=3 \
	freq.then_ms="$half" -- "$work_of"
close_to_the_clock "a drop"
told '^frequency: cpu=[01] told=2 mhz=(1000\.0|999\.[0-9]|1000\.[0-9]),500\.0$' "both frequencies are told"
told '^phases .* [5-9][0-9]{2}\.[0-9]$' "the program's is between them"
python3 -B tools/iterations.py csv="$work/csv" "$trace" >"$said" 2>&1
told '^ +1  time +slowdown ' "by time the program slows down"
told '^ +operations +flat +1 ' "by operations it is flat"
told '^frequency: seed=1 cpu=[01] mhz=500\.0 from iteration (1[89][0-9]|2[0-4][0-9])$' "and the cause is named"
r=0; awk -F, '$2 > 50 && $2 <= 170 { a += $3 } $2 > 280 { b += $3 } END { exit !(b / a > 1.95 && b / a < 2.05) }' "$work/csv" || r=1
result $r "rounds take twice as long"
r=0; python3 -c '
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
rows = {}
for e in events:
    if e["ph"] == "C" and "frequency" in e["name"]:
        rows.setdefault(e["name"], []).append(e["args"]["MHz"])
assert any(len(r) == 2 and r[1] == 500 for r in rows.values()), rows
mhz = [e["args"]["mhz"] for e in events if e["ph"] == "X" and "mhz" in e.get("args", {}) and e["dur"] > 50]
assert min(mhz) < 501 and max(mhz) > 999, (min(mhz), max(mhz))' "$work/json" 2>"$work/errors" || r=1
result $r "JSON: CPUs have rows, and quanta their frequency"
tools/trace_json.py "$trace" >"$said" 2>&1
told '"CPU [01]: frequency, MHz".*"MHz": 500\.0' "... in the timeline of all events, too"

# ---- One core of several, and threads of one ----
record "one CPU" machine=onechip smp=4 -- telemetry=quanta trace.frequency=on telemetry.kb=1024 freq.pstate=2 freq.cpu=1 \
	-- phases kind=matrix size=60 rounds=8 threads=4
close_to_the_clock "one CPU"
within "$(in_pstate 1 2)" 1 100000 "one CPU: it is slow"
within "$(($(in_pstate 0 2) + $(in_pstate 2 2) + $(in_pstate 3 2)))" 0 0 "... and it alone"
record "threads of cores" machine=openpower720 -- telemetry=quanta trace.frequency=on telemetry.kb=1024 freq.pstate=1 \
	-- phases kind=matrix size=60 rounds=8 threads=8
close_to_the_clock "threads of cores"

# ---- While programs run, without counting ----
boot machine=onechip smp=2 timeout=200 -- -- vigil-ctl freq.pstate=3 ";" phases kind=sort size=3000 rounds=3 ";" vigil-ctl freq.pstate=0 ";" \
	phases kind=sort size=3000 rounds=3
status_is 0 "vigil-ctl"
says '^knob: .* was=255 now: freq.pstate=3' "vigil-ctl: the change is said"
r=0; sed -n 's/^RESULT app=phases .* ns=\([0-9]*\) .*/\1/p' "$console" | awk '{ n[NR] = $1 } END { exit !(NR == 2 && n[1] > 1.7 * n[2] && n[1] < 2.1 * n[2]) }' || r=1
result $r "vigil-ctl: the program is slower while it is in force"
boot machine=onechip smp=1 timeout=100 -- freq.pstate=4 -- hello
line "frequency event=refused argument=freq.pstate reason=value" "a P-state that the machine has not is refused"
boot machine=onechip smp=1 timeout=100 -- telemetry=quanta trace.frequency=on hpm.modes=user -- hello
line "frequency event=refused argument=trace.frequency reason=hpm.modes" "counts of one mode are no frequency, which is said"
boot smp=2 timeout=100 -- telemetry=quanta trace.frequency=on freq.pstate=1 -- hello
status_is 0 "without P-states the program runs"
line "frequency event=refused argument=trace.frequency reason=no-device" "... what is not counted is said"
line "frequency event=refused argument=freq.pstate reason=(no-device|hypervisor)" "... and what cannot be chosen"
r=0; [ "$(lines "frequency argument=freq.pstate" | wc -l)" -eq 1 ] || r=1
result $r "... once"
boot smp=1 timeout=60 -- -- hello
no_line frequency "not asked for: not a word"
# ---- Beside cycles ----
# Cycles by the time on a CPU, of programs with one thread and with several; half of it is half.
for p in 0 3; do
	ghz=$([ $p = 0 ] && echo 1 || echo 0.5)
	boot machine=onechip smp=2 timeout=200 -- freq.pstate=$p -- hpmstat events=cycles,ipc -- phases \
		kind=sort size=300 rounds=100 ';' hpmstat format=json events=cycles -- scoreboard ms=20 ';' \
		hpmstat events=cycles:u,instructions -- hello ';' hpmstat per=machine ms=5 events=cycles
	status_is 0 "P-state $p: hpmstat"
	at=$(awk -v g=$ghz 'BEGIN { print g * 0.999, g * 1.001 }')
	# shellcheck disable=SC2086
	within "$(cell "hpmstat of=phases" name=frequency value)" $at "P-state $p: the frequency, in GHz"
	# shellcheck disable=SC2086
	within "$(sed -n 's/^{.*"name":"frequency","value":\([0-9.]*\),"unit":"GHz".*/\1/p' "$console")" \
		$at "... of several threads, to be read by programs"
	within "$(cell "hpmstat" name=frequency value | wc -l)" 1 1 \
		"... not of one mode, nor without cycles, nor of the machine"
done
for what in hpm.modes=user hpm.accounts=on; do
	boot machine=onechip smp=1 timeout=100 -- $what -- hpmstat events=cycles -- hello
	has_cell "hpmstat of=hello" name=cycles value=1.. "$what: cycles are counted"
	r=0; [ -z "$(cell "hpmstat of=hello" name=frequency value)" ] || r=1
	result $r "... which are not all of the time on a CPU: no frequency"
done
done_testing
