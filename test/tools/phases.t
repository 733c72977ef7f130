#!/bin/sh
# ./vigil phases: changepoints and verdicts (steady_check.py) and recorded calls (calls_check.py)
# against oracles, what is refused, and on the simulated machine a program with marks, one whose
# printed lines are its iterations, and functions against the program's own marks.
. "${0%/*}/../qemu/lib.sh"
booted=" nothing" # shown when a check fails
console=$work/said
: >"$work/stderr"

python3 -B test/tools/steady_check.py >"$console" 2>&1 ||
	echo "not ok 1 - the checker ends: $(tail -n 1 "$console")" >>"$console"
guest_tap
python3 -B test/tools/calls_check.py >"$console" 2>&1 ||
	echo "not ok 1 - the checker ends: $(tail -n 1 "$console")" >>"$console"
guest_tap

vigil() { # WORDS... ; leaves output in $work/stdout, standard error in $console
	booted=" ./vigil phases $*"
	status=0
	./vigil phases "$@" </dev/null >"$work/stdout" 2>"$console" || status=$?
}
refused() { # REGEX WORDS...
	regex=$1
	shift
	vigil -o "$work/phases" "$@"
	r=0
	[ $status -eq 125 ] && [ "$(wc -l <"$console")" -eq 1 ] || r=1
	result $r "refused in one line: $*"
	says "^vigil: $regex" "... which says what is wrong"
}
refused "-r: plain QEMU has no seeds" -r 2 --machine qemu -- hello
refused "-r 0: expected a number of boots" -r 0 -- hello
refused "-i \[: is no regular expression" -i '[' -- hello
refused "-e, -b: go with -f" -e cycles -- hello
refused "-f: goes without -r and -i" -f -r 2 -- hello
refused "-f: plain QEMU has no counters" -f --machine qemu -- hello
refused "--share: phases -f has a folder of its own" -f --share /tmp -- hello
refused "-b: phases is built by make" -f -b true -- phases
refused "sh -c false failed" -f -b false -- ./none
refused "unknown option '-x'; ./vigil help phases lists them" -x -- hello

two="--arch $arch --smp 2"
# shellcheck disable=SC2086
{
	refused "iterations.py: .* no mark comes often" $two -- hello
	vigil $two -r 2 -o "$work/phases" -- phases kind=sort size=300 rounds=40 marks=1
	status_is 0 "a program with marks"
	says "^iterations: 40, each begins at 'fill'$" "... its rounds are its iterations"
	says '^ +2  time +(flat|warm-up|slowdown|unsteady) ' "... a row for each boot"
	verdict='(steady from iteration [0-9]+ of|not steady within) 40 '
	says "^by operations: $verdict" "... the verdict by operations"
	says "^vigil: machine=openpower720 arch=$arch cpus=2 seed=1\.\.2 boots=2$" "... and what it ran on"
	r=0
	tail -n 1 "$console" | grep -Eq "^$verdict.*\([12] of 2 " || r=1
	result $r "... the last line is the verdict by time"
	# The rounds' time is that which the program says, but for its start and its end.
	r=0
	ns=$(sed -n '1s/.* ns=\([0-9]*\) .*/\1/p' "$work/stdout")
	awk -F, -v ns="$ns" '$1 == 1 { sum += $3 } END { exit !(sum <= ns && sum > 0.98 * ns) }' \
		"$work/phases/iterations.csv" || r=1
	result $r "... its iterations take the time that the program says"
	r=0
	[ "$(grep -c '<rect x' "$work/phases/phases.svg")" = 4 ] || r=1
	result $r "... and are drawn"
	vigil $two -i '^RESULT' -o "$work/phases" -- hello
	result $((status != 125)) "too few lines are refused"
	says "'\^RESULT' is found in [0-9]+ marks and lines" "... with their number"
	vigil $two -i '^  [a-z]' -o "$work/phases" -- hpmstat list=miss
	status_is 0 "a program's lines"
	r=0
	found=$(sed -n 's/^iterations: \([0-9]*\), .*/\1/p' "$console")
	[ "$found" -ge "$(($(grep -c '^  [a-z]' "$work/stdout") - 1))" ] || r=1
	result $r "... are its iterations, though its output is no terminal here"

	sort="phases kind=sort size=10000 rounds=4 marks=1"
	vigil $two -f -o "$work/calls" -- $sort
	status_is 0 "functions"
	says '^ +[0-9.]+ +4 +[0-9,]+ +[0-9.]+ +[0-9.]+  merge_sort' "... a phase that has marks, too"
	cp "$console" "$work/functions"
	vigil $two -i '^(merge|quick)$' -o "$work/phases" -- build/$arch/selected/$sort
	status_is 0 "... that program without recording, which marks begin and end of that phase"
	marked=$(awk -F, '$2 % 2 == 1 { sum += $4; n++ } END { printf "%.0f", sum / n }' \
		"$work/phases/iterations.csv")
	cp "$work/functions" "$console"
	r=0
	awk -v marked="$marked" '$6 == "merge_sort" && $2 == 4 {
		gsub(",", "", $3); n = $3 / $4 }
		END { exit !(n > 0.98 * marked && n < 1.02 * marked) }' "$console" || r=1
	result $r "... with as many instructions as between its marks, $marked"
	r=0
	sed -n 's/^whole: the phases have \([0-9.]*\) %.*/\1/p' "$console" |
		awk '{ ok = $1 > 97 && $1 < 103 } END { exit !ok }' || r=1
	result $r "... phases sum up to the program without recording"
	r=0
	sed -n 's/^overhead: predicted \([0-9.]*\) %, measured \([0-9.-]*\) %.*/\1 \2/p' "$console" |
		awk '{ d = $2 - $1; ok = d > -2 && d < 2 } END { exit !ok }' || r=1
	result $r "... what recording takes is about what was predicted"
	r=0
	grep -q '>merge_sort<' "$work/calls/functions.svg" || r=1
	result $r "... and are drawn"
}

# A program of Linux that forks, and whose threads end.
cc=gcc
[ "$arch" = "$(uname -m)" ] || cc=$arch-linux-gnu-gcc
$cc -O2 -finstrument-functions -pthread -static -o "$work/forks" test/tools/forks.c \
	"$B/$arch/libvigil-calls.a"
booted=" ./vigil run forks"
./vigil run --no-report $two --share "$work:rw=/out" --env VIGIL_CALLS=/out/recorded -- "$work/forks" \
	>"$console" 2>&1
says '^children=4 ' "children of a program that is recorded run on"
r=0
[ "$(sed -n 's/.* kb=//p' "$console")" -lt 1500 ] || r=1
result $r "... its threads leave their memory to the next ones"
python3 -B tools/calls.py program="$work/forks" calls="$work/recorded" >"$console" 2>&1
says '^functions: 5 called, 4,[0-9]+ calls, [0-9,]+ cycles in 401 threads$' \
	"... and children record nothing"
done_testing
