#!/bin/sh
# Prints the events between two marks, from the simulated machine's ground truth (its format:
# test/machine/truth.c).
#
#   tools/truth.sh FILE FROM TO [total|cpu|tag|shared|accesses]
#
#   FROM  a mark's label, LABEL:N for its N-th occurrence (programs of one boot set the same marks),
#         or boot: power-on
#   TO    likewise; without :N the first such mark behind FROM
#
# Prints name=value pairs: one line for the total, one for each CPU and mode, each thread tag, each
# pair of tags that met in another chip's cache, or each kind of data access that missed the L1D or
# the TLB: by mode, source, latency and page walk. Besides the events there are:
#   time, host_ms                            passed between the marks, in model cycles and in
#                                            milliseconds of the host (total only)
#   user_cycles, kernel_cycles, user_remote  (total only)
#   remote                                   loads and reads for ownership that another chip's
#                                            caches served: remote_l2 + remote_l3
set -eu
die() { printf 'truth.sh: error: %s\n' "$*" >&2; exit 1; }
[ $# -ge 3 ] && [ $# -le 4 ] || die "usage: truth.sh FILE FROM TO [total|cpu|tag|shared]"
[ -r "$1" ] || die "$1 cannot be read"
kind=${4:-total}
case $kind in total | cpu | tag | shared | accesses) ;;
*) die "'$kind' is not accepted; use total, cpu, tag, shared, accesses" ;; esac

exec awk -v from="$2" -v to="$3" -v kind="$kind" -v file="$1" '
function fail(text) { printf "truth.sh: error: %s: %s\n", file, text > "/dev/stderr"; failed = 1;
	exit 1 }

# Returns whether this occurrence of a label is the wanted one: "LABEL:N", or the first "LABEL".
function is_wanted(wanted, label) { return wanted == label ":" seen[label] || wanted == label }

# Notes a value: subtracted at the first mark, added at the second.
function note(record, name, value) {
	if (!((record, name) in sum)) {
		if (!(record in names)) records[++record_count] = record
		names[record] = names[record] " " name
	}
	sum[record, name] += side * value
}

function note_pairs(record, first,    i, pair) {
	for (i = first; i <= NF; i++) {
		split($i, pair, "=")
		note(record, pair[1], pair[2])
		if (pair[1] == "remote_l2" || pair[1] == "remote_l3") note(record, "remote", pair[2])
	}
}

BEGIN { state = from == "boot" ? "inside" : "before" }

$1 == "mark" {
	seen[$2]++
	side = 0
	if (state == "before" && is_wanted(from, $2)) { side = -1; state = "inside" }
	else if (state == "inside" && is_wanted(to, $2)) { side = 1; state = "after" }
	if (side && kind == "total") note_pairs("total", 3)
}
$1 == "end" {
	if (side && $2 != "") complete++
	side = 0
	if (state == "after") exit
}
side == 0 { next }
$1 == "total" && kind == "total" { note_pairs("total", 2) }
$1 == "cpu" && kind == "cpu" { note_pairs("cpu=" $2 " mode=" $3, 4) }
$1 == "cpu" && kind == "total" {
	for (i = 4; i <= NF; i++) {
		split($i, pair, "=")
		if (pair[1] == "cycles") note("total", $3 "_cycles", pair[2])
		if ($3 == "user" && pair[1] ~ /^remote_l[23]$/) note("total", "user_remote", pair[2])
	}
}
$1 == "tag" && kind == "tag" { note_pairs("tag=" $2, 3) }
$1 == "shared" && kind == "shared" { note("reader=" $2 " writer=" $3, "accesses", $4) }
$1 == "access" && kind == "accesses" {
	note("mode=" $2 " source=" $3 " latency=" $4 " walk=" $5, "accesses", $6)
}

END {
	if (failed) exit 1
	if (state == "before") fail("no mark " from)
	if (state == "inside") fail("no mark " to (from == "boot" ? "" : " behind " from))
	if (complete < (from == "boot" ? 1 : 2)) fail("ends in the middle of a mark")
	for (r = 1; r <= record_count; r++) {
		count = split(names[records[r]], name, " ")
		line = records[r] == "total" ? "from=" from " to=" to : records[r]
		for (i = 1; i <= count; i++) line = line sprintf(" %s=%.0f", name[i], sum[records[r], name[i]])
		print line
	}
}' "$1"
