#!/bin/sh
# ./vigil stat, record, top, mem, trace, list and compare, on the simulated machine: what they refuse,
# that their reports are right, and that the program's output stays as it is.
. "${0%/*}/../qemu/lib.sh"

vigil() { # WORDS... ; leaves output in $work/stdout, standard error in $console
	booted=" ./vigil $*"
	status=0
	./vigil "$@" </dev/null >"$work/stdout" 2>"$console" || status=$?
}
refused() { # REGEX WORDS...
	regex=$1
	shift
	vigil "$@"
	r=0
	[ $status -eq 125 ] && [ "$(wc -l <"$console")" -eq 1 ] || r=1
	result $r "refused in one line: $*"
	says "^vigil: $regex" "... which says what is wrong"
}
ok() { # CONDITION WHAT
	r=0
	eval "$1" || r=1
	result $r "$2"
}
plain="--arch $arch --smp 2"
echo text >"$work/text"

refused "unknown option '-x'; ./vigil help stat lists them" stat -x 3 -- hello
refused "unknown option '-r'; ./vigil help top lists them" top -r 3 -- hello
refused "-r 0: expected a number of boots" stat -r 0 -- hello
refused "-e: its value is missing" stat -e
for verb in top mem c2c record; do
	refused "-F xml: expected text, csv or json" $verb -F xml -- hello
done
refused "-o /no/folder/a.csv: No such file or directory" mem -F csv -o /no/folder/a.csv -- hello
refused "no program is named" stat -e cycles
refused "-r: plain QEMU has no seeds" stat -r 2 --machine qemu -- hello
refused "--kernel linux: Vigil's tools run under Vigil only" top --kernel linux -- hello
refused "list: one word is looked for, and 2 are given" list l1d miss
refused "-o /no/folder/a.json: No such file or directory" stat -o /no/folder/a.json -- hello
refused "-o $work/text/deeper: Not a directory" record -o "$work/text/deeper" -- hello
refused "--out x: the folder is given by -o" trace --out x -- hello
refused "compare: expected two files" compare one
refused "/no/file: No such file" compare /no/file /no/file
echo '{"vigil": 3}' >"$work/bad.json"
refused "$work/bad.json: is no report of" compare "$work/bad.json" "$work/bad.json"
for verb in stat record top c2c mem trace phases list compare; do
	./vigil help $verb >"$console"
	says "^example: ./vigil $verb " "help $verb has an example"
done

# shellcheck disable=SC2086
{
	vigil stat $plain -r 3 -e cycles,instructions,ipc -o "$work/a.json" -- hello one
	status_is 0 "stat: three boots"
	ok '[ "$(grep -c "^hello: .*\[one\]$" "$work/stdout")" = 3 ] && [ "$(wc -l <"$work/stdout")" = 3 ]' \
		"... standard output is the program's alone"
	says '^ +[0-9,]+  instructions +\+- [0-9.]+ % \(3 boots\) +100\.0 %$' "... a row with its interval over boots"
	says '^ +(0\.99[89]|1\.00[012])  frequency +\+- [0-9.]+ % \(3 boots\) +100\.0 %  GHz$' "... how fast the CPUs were"
	says "^vigil: machine=openpower720 arch=$arch cpus=2 seed=1\.\.3 boots=3 cost_pct=[0-9]+\.[0-9]{2}$" \
		"... and what it ran on, and what counting cost"
	vigil compare "$work/a.json" "$work/a.json"
	status_is 0 "compare: a report with itself"
	cp "$work/stdout" "$console"
	says "  instructions +no difference shown \[" "... shows no difference"
	vigil stat $plain -r 3 -e cycles,instructions,ipc -o "$work/b.json" -- phases kind=sort size=5000 rounds=1
	status_is 0 "stat: another program"
	vigil compare "$work/a.json" "$work/b.json"
	cp "$work/stdout" "$console"
	says '  instructions +\+[0-9.]+ % \[\+[0-9.]+, \+[0-9.]+\]$' "compare: more instructions, with an interval"
	says "^vigil: program differs: " "... and what else differs"
	vigil stat $plain -e cycles -- hello status=7
	status_is 7 "stat: the program's exit status"
	says '^ +[0-9,]+  cycles +exact, of this boot +100\.0 %$' "... one boot's count is exact for that boot"
	vigil stat $plain -- no-such-program
	status_is 125 "stat: a program that there is not"
	vigil stat $plain -r 3 -e no.event -- hello
	ok '[ $status = 125 ] && [ "$(grep -c "no.event. is no event" "$console")" = 1 ]' \
		"stat: an event that there is not, said once"

	vigil top $plain -e cycles -- private threads=2 ms=5
	status_is 0 "top"
	says '^ +[0-9.]+ % +[0-9]+ +[0-9,]+  [a-z_]+ +private ' "... a function of the program"
	for form in csv json; do
		vigil top $plain -F $form -o "$work/top.$form" -e cycles -- private threads=2 ms=5
		ok '[ "$status" = 0 ] && cmp -s "$console" "$work/top.$form"' \
			"top -F $form: the report is in the file, too"
		vigil mem $plain -F $form -o "$work/mem.$form" --policy memory=2M -- sweep pages=1000
		ok '[ "$status" = 0 ] && cmp -s "$console" "$work/mem.$form"' "mem -F $form"
		vigil record $plain -F $form -o "$work/rec" -- private threads=2 ms=5
		cp "$work/rec/report.$form" "$work/record.$form"
		ok '[ "$status" = 0 ] && cmp -s "$console" "$work/record.$form" &&
			[ "$(head -c 8 "$work/rec/perf.data")" = PERFILE2 ]' "record -F $form: beside perf.data"
		vigil c2c --arch "$arch" -F $form -o "$work/c2c.$form" -- falseshare cpus=0,4,2,6
		ok '[ "$status" = 0 ] && cmp -s "$console" "$work/c2c.$form"' "c2c -F $form"
	done
	for verb in top:hpmrec mem:memstat record:hpmrec c2c:c2c; do
		file=$work/${verb%:*} tool=${verb#*:}
		cat "$file.csv" "$file.json" >"$console"
		ok 'python3 -m json.tool --json-lines "$file.json" >/dev/null' "${verb%:*}: JSON, line by line"
		ok 'python3 -B test/qemu/records_check.py "$console" "$tool"' "... of the columns of its CSV"
		ok 'python3 -B test/qemu/records_check.py "$console" vigil machine' "... with the machine"
	done
	vigil record $plain -g -o "$work/rec" -- private threads=2 ms=5
	status_is 0 "record"
	ok '[ "$(head -c 8 "$work/rec/perf.data")" = PERFILE2 ] && grep -q "<svg" "$work/rec/flame.svg"' \
		"... perf.data and a flame graph"
	vigil c2c --arch "$arch" -- falseshare cpus=0,4,2,6
	status_is 0 "c2c"
	says '^line 0x[0-9a-f]+  statistics\+0x0  FALSE sharing ' "... a variable that is falsely shared"
	if "$arch-linux-gnu-gcc" -O1 -pthread -o "$work/heapshare" test/linux/heapshare.c; then
		vigil c2c --arch "$arch" -- "$work/heapshare"
		status_is 0 "c2c: a program of Linux"
		ok 'grep -A3 " FALSE sharing " "$console" | grep -q "  8 bytes allocated by make_left+" &&
			grep -A3 " FALSE sharing " "$console" | grep -q "  8 bytes allocated by make_right+"' \
			"... by which code the objects of a line were allocated"
		vigil c2c --arch "$arch" -- "$work/heapshare" apart
		ok '[ "$status" = 0 ] && ! grep -q " FALSE sharing " "$console"' \
			"... and none shares a line if they are larger"
	fi
	if "$arch-linux-gnu-gcc" -O1 -static -o "$work/kinshare" test/linux/kinshare.c; then
		vigil c2c --arch "$arch" -- "$work/kinshare"
		says '^line 0x[0-9a-f]+  \[/memfd:shared\]  FALSE sharing .* processes=2$' \
			"c2c: two processes that map a line at different addresses"
		ok '[ "$status:$(grep -c "FALSE sharing" "$console")" = 0:1 ] && ! grep -q "TRUE sharing" "$console"' \
			"... and nothing that is not shared"
		says '^  chip 1 t[0-9]+ +write count\+0x' "... the code of the child"
		vigil c2c --arch "$arch" -- "$work/kinshare" apart
		ok '[ "$status" = 0 ] && ! grep -Eq " (FALSE|TRUE) sharing " "$console"' \
			"... and no line if they do not share one"
	fi
	vigil mem $plain --policy memory=2M -- sweep pages=1000
	status_is 0 "mem"
	says '^  faults: major=[1-9]' "... waits for pages"
	vigil trace $plain -o "$work/trace" -- private threads=2 ms=5
	status_is 0 "trace"
	says '^critical path: ns=[1-9]' "... the critical path"
	ok 'python3 -m json.tool "$work/trace/trace.json" >/dev/null' "... a timeline"
	vigil list $plain l1d.miss
	cp "$work/stdout" "$console"
	says '^  l1d\.miss +[0-9,]+ +\+0 ' "list: an event, its counters and its cost"
}

python3 -B - <<'P' >"$console" 2>&1
import math, random, sys
sys.path.insert(0, "tools/launch")
import inference as i
near = lambda a, b, by: abs(a - b) <= by
# Student's t, from tables: two tails of 5 % and 1 %.
assert near(i.student_quantile(1), 12.7062, 1e-3) and near(i.student_quantile(4), 2.77645, 1e-4)
assert near(i.student_quantile(30, 0.01), 2.74999, 1e-4) and near(i.student_quantile(10**6), 1.95997, 1e-4)
assert near(i.student_tails(2.2281, 10), 0.05, 1e-5) and i.student_tails(0, 3) == 1
# Of 2,000 pairs of samples intervals of 95 percent hold the true mean and ratio in that part.
r, held, ratio_held = random.Random(1), 0, 0
for _ in range(2000):
    a = [r.gauss(50, 5) for _ in range(5)]
    b = [r.gauss(75, 5) for _ in range(5)]
    held += abs(i.mean(a) - 50) <= i.interval(a)
    f = i.Ratio(a, b)
    ratio_held += f.low <= 1.5 <= f.high
assert near(held / 2000, 0.95, 0.015) and near(ratio_held / 2000, 0.95, 0.015), (held, ratio_held)
# Of 400 tables of 10 rows that do not differ, at most 5 percent have a row that is said to.
wrong = 0
for _ in range(400):
    ps = [i.Ratio([r.gauss(9, 1) for _ in range(4)], [r.gauss(9, 1) for _ in range(4)]).p for _ in range(10)]
    wrong += any(i.holm(ps))
assert wrong / 400 < 0.05 + 0.03, wrong
assert i.holm([0.01, 0.04, 0.03]) == [True, False, False]
assert i.holm([0.001, 0.02, 0.01]) == [True, True, True]
assert i.Ratio([0, 0], [1, 1]).ratio is None and i.Ratio([2, 2], [2, 2]).p == 1
assert i.Ratio([1, -1], [1, 2]).low is None
print("statistics: ok")
P
says "^statistics: ok$" "intervals, ratios and tests of many rows hold what they say"
done_testing
