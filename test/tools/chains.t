#!/bin/sh
# Chains of calls by frame pointers: those of a program of which they are known, folded, as a flame
# graph, and as perf reads them; and of one whose frame pointers lead nowhere. Chains of bundled
# programs are compared with the calls that the simulated machine saw.
. "${0%/*}/../qemu/lib.sh"
HOME=$work/home data=$work/perf.data
export HOME
mkdir -p "$HOME"

# Boots; sections are those of this boot, as in test/qemu/hpmrec.t.
start() {
	boot "$@"
	cp "$console" "$work/whole"
}
section() {
	awk -v n="$1" '/^run: / { k++ } k == n' "$work/whole" >"$console"
}
head_of() { # CRITERION KEY
	lines "hpmrec criterion=$1" "$2"
}
# folded REGEX [ROOT]: the percentage of $program's own samples whose chain is that, from main on
program=nested
folded() {
	awk -v re="^$program;${2:-(_start;)?}__vigil_libc_start;main;$1\$" '
		$1 == "FOLDED" && $3 ~ /;(main|outer|left|right|again|work)$/ && /^FOLDED [^ ]* '"$program"';/ {
			all += $4; if ($3 ~ re) n += $4 }
		END { printf "%.2f", all ? n * 100 / all : 0 }' "$console"
}

start machine=openpower720 timeout=300 -- -- \
	hpmrec criteria=cycles@20k,time@20us limit=1000 chains=fp format=folded -- nested 1250 ';' \
	hpmrec criteria=cycles@20k:u limit=1000 chains=fp format=samples -- nested 375 ';' \
	hpmrec criteria=cycles@5k,time@20us limit=1000 chains=fp format=samples -- nested wild 2000 ';' \
	hpmrec criteria=cycles@5k:u limit=1000 chains=fp format=samples -- nested 20 200 ';' \
	hpmrec criteria=cycles@20k:u,access.any@100:u limit=1000 chains=fp -- scoreboard ms=5 ';' \
	hpmrec criteria=cycles@20k limit=1000 chains=table format=folded -- unframed 1250 ';' \
	hpmrec criteria=cycles@5k,time@20us limit=1000 chains=table format=samples -- unframed wild 2000 \
	';' hpmrec criteria=cycles@20k:u limit=1000 chains=table format=folded -- phases kind=sort ms=20
status_is 0 "recordings with chains"
section 1
cp "$console" "$work/folded"
for criterion in cycles time; do
	grep -v "^FOLDED" "$work/folded" >"$console"
	grep "^FOLDED $criterion " "$work/folded" >>"$console"
	wanted=$(head_of $criterion stand_for)
	is=$(awk '$1 == "FOLDED" { n += $4 } END { print n }' "$console")
	within "$is" "$wanted" "$wanted" "$criterion: the chains are all that there is"
	off=$(awk -v n="$(head_of $criterion samples)" 'BEGIN { printf "%.1f", 1 + 3 * sqrt(1875 / n) }')
	within "$(folded "outer;left;work")" "$(awk "BEGIN { print 75 - $off }")" \
		"$(awk "BEGIN { print 75 + $off }")" "... three quarters are of one"
	within "$(folded "outer;right;again;again;again;work")" \
		"$(awk "BEGIN { print 25 - $off }")" "$(awk "BEGIN { print 25 + $off }")" \
		"... and a quarter of the other"
	within "$(folded "outer(;left(;work)?|;right(;again(;again(;again(;work)?)?)?)?)?")" 97 100 \
		"... and few differ, in functions that do not have their frames yet"
done
r=0; grep -Eq '^FOLDED time nested;.*(syscall_enter|trap_user|trap_enter).*_\[k\];.*_\[k\] ' \
	"$work/folded" || r=1
result $r "the kernel's part comes behind the program's"

cp "$work/folded" "$console"
tools/flame.py "$console" time >"$work/flame.svg" 2>"$work/errors" || echo failed >>"$work/errors"
wanted=$(head_of time stand_for)
r=0; [ ! -s "$work/errors" ] && python3 - "$work/flame.svg" "$wanted" <<'END' || r=1
import re
import sys
import xml.dom.minidom

boxes = {}  # widths by name
for g in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName("g"):
    title = g.getElementsByTagName("title")[0].firstChild.data
    rect = g.getElementsByTagName("rect")[0]
    name, count = re.match(r"(.*): ([0-9,]+) \(", title).groups()
    boxes.setdefault(name, []).append((int(count.replace(",", "")),
                                       *(float(rect.getAttribute(a)) for a in ("x", "y", "width"))))
(total, x, y, width), = boxes["all"]
assert total == int(sys.argv[2]) and x == 0 and width == 1200
# Samples in its first instructions lack its caller, and are a box of their own.
left, left_x, left_y, left_width = max(boxes["left"])
assert abs(left / total * 1200 - left_width) < 0.1 and left_y < y
works = [b for b in boxes["work"]
         if left_x - 0.1 <= b[1] and b[1] + b[3] <= left_x + left_width + 0.1]
assert len(works) == 1 and works[0][0] > 0.9 * left and works[0][2] < left_y
END
result $r "a flame graph: boxes stand on those that called them, as wide as what they stand for"
tools/flame.py --folded "$console" cycles >"$work/stacks" 2>"$work/errors" ||
	echo failed >>"$work/errors"
wanted=$(head_of cycles stand_for)
within "$(awk '{ n += $2 } END { print n }' "$work/stacks")" "$wanted" "$wanted" \
	"... and folded stacks for other tools"
r=0; ! tools/flame.py "$console" nosuch >"$work/said" 2>&1 &&
	grep -q "argument=$console reason=value" "$work/said" || r=1
result $r "... what has no chains is refused"

section 2
if command -v perf >/dev/null; then
	tools/perf_data.py "$console" "$data" "${B:-build}/$arch/vigil-test.elf" \
		"${B:-build}/$arch/bin" >"$work/said" 2>&1 || :
	perf report -i "$data" --stdio --no-children -g folded,0,caller,period,period \
		>"$work/perf" 2>"$work/errors" || echo failed >>"$work/errors"
	awk '$1 == "CHAIN" { length_of[$2] = NF - 2; first[$2] = $3 }
		$1 == "SAMPLE" && $11 ~ /^work[+]/ {
			sub(/chain=/, "", $NF); n += length_of[$NF] >= 5 ? $8 : 0 }
		END { printf "%.0f", n }' "$console" >"$work/wanted"
	wanted=$(cat "$work/wanted")
	is=$(awk '/;main;outer;(left|right;again;again;again);work$/ && $1 + 0 { n += $1 }
		END { printf "%.0f", n }' "$work/perf")
	within "$is" "$((wanted * 99 / 100))" "$((wanted * 101 / 100))" \
		"perf report has the chains of calls"
fi

section 3
line "exit app=hpmrec status=0" "frame pointers that lead nowhere, in circles, to the kernel"
line "hpmrec of=nested chains_cut=100.. chains_full=0" "... chains that they cut are counted"
r=0; awk '$1 == "CHAIN" { chains++
		user = 0
		for (i = 3; i <= NF; i++) {
			kernel = length($i) == 16
			if (user && kernel) bad = 1
			user = !kernel
		}
	}
	END { exit bad || !chains }' "$console" || r=1
result $r "... no chain of a program's goes on in the kernel"
section 4
r=0
awk '$1 == "CHAIN" { if (NF - 2 > most) most = NF - 2 } END { exit most != 127 }' "$console" || r=1
result $r "a longer chain has 127 addresses"
section 5
line "hpmrec criterion=access.any:u samples=1.." "accesses are recorded beside, without chains"
section 6
program=unframed
wanted=$(head_of cycles stand_for)
is=$(awk '$1 == "FOLDED" { n += $4 } END { print n }' "$console")
within "$is" "$wanted" "$wanted" "by tables of frames: the chains are all that there is"
off=$(awk -v n="$(head_of cycles samples)" 'BEGIN { printf "%.1f", 1 + 3 * sqrt(1875 / n) }')
within "$(folded "outer;left;work" "_start;")" "$(awk "BEGIN { print 75 - $off }")" \
	"$(awk "BEGIN { print 75 + $off }")" "... three quarters are of one"
within "$(folded "outer;right;again;again;again;work" "_start;")" \
	"$(awk "BEGIN { print 25 - $off }")" "$(awk "BEGIN { print 25 + $off }")" \
	"... and a quarter of the other"
within "$(folded "outer(;left(;work)?|;right(;again(;again(;again(;work)?)?)?)?)?" "_start;")" 99.9 100 \
	"... each is whole, in functions that do not have their frames yet as well"
section 7
line "exit app=hpmrec status=0" "... frame pointers that lead nowhere"
line "hpmrec of=unframed chains_cut=1.. chains_full=0" "... chains that they cut are counted"
r=0; awk '$1 == "CHAIN" { chains++; for (i = 3; i <= NF; i++) {
			kernel = length($i) == 16; if (user && kernel) bad = 1; user = !kernel }; user = 0 }
	END { exit bad || chains < 2 }' "$console" || r=1
result $r "... no chain of a program's goes on in the kernel"
section 8
is=$(awk '$1 == "FOLDED" { all += $4
		if ($3 ~ /^phases;(_start;__vigil_libc_start;main|__vigil_clone;)/) n += $4 }
	END { printf "%.1f", n * 100 / all }' "$console")
within "$is" 97 100 "... chains of a program of several threads begin where these did"
line "hpmrec of=phases chains_cut=0..2 chains_full=0" "... and few are cut"

# Each sample's chain, whole, against the calls that the machine saw.
#   same WHAT EQUAL_LEAST [OUTERMOST]   of the section: EQUAL_LEAST of 100 are equal, all others lack
#                                       only the caller of the function that runs
same() {
	test/tools/calls.py "$console" "$work/truth.txt.calls" ${3:-} >"$work/same" 2>"$work/errors" ||
		echo "samples=0 joined=0 equal=0 lacking=0" >"$work/same"
	echo "# $1: $(cat "$work/same")"
	sed 's/^/# /' "$work/errors"
	within "$(sed 's/.*joined=\([0-9.]*\).*/\1/' "$work/same")" 99.9 100 \
		"$1: samples are those of interrupts of that thread and address"
	within "$(sed 's/.*equal=\([0-9.]*\).*/\1/' "$work/same")" "$2" 100 "... $2 % have all calls"
	within "$(awk -F '[= ]' '{ print $6 + $8 }' "$work/same")" 99.5 100.01 \
		"... others lack only the caller of the function that runs"
}
# libc keeps no frame pointers on x86-64, so what called it is not in chains of the program.
libc_frames=0
[ "$arch" = aarch64 ] || libc_frames=1
user="hpmrec criteria=cycles@20k:u limit=1000 format=samples"
start machine=openpower720 plugin=calls=1 timeout=300 -- -- $user chains=fp -- nested 5000 ';' \
	$user chains=table -- unframed 5000 ';' $user chains=table -- phases kind=sort ms=20 ';' \
	$user chains=table -- scoreboard ms=5
status_is 0 "recordings beside the ground truth of calls"
section 1
same "by frame pointers, a program that keeps them" 97 $libc_frames
section 2
same "by tables of frames, a program that keeps none" 99.9
section 3
same "... a sort" 99.9
section 4
same "... a program of 16 threads" 99.9

# Programs of Debian, that were compiled without frame pointers: one with shared libraries, one with
# an address of its own.
select='with/**/recursive/**/c(x)as(select/**/1/**/union/**/all/**/select/**/x+1/**/from/**/c'
select="$select/**/limit/**/20000)select/**/count(distinct/**/x%77),sum(length(hex(x)))/**/from/**/c"
./vigil run --machine qemu --arch "$arch" --deb sqlite3,python3-minimal --out "$work/debian" -- \
	/usr/bin/sqlite3 --version </dev/null >"$console" 2>"$work/errors" || {
	grep -q '^vigil: .*\(E: \|apt-get\|closure\)' "$work/errors" && done_testing
	sed 's/^/# /' "$work/errors"
}
start machine=openpower720 smp=4 mem=1G initrd="$work/debian/vigil.tar" plugin=calls=1 \
	timeout=400 -- -- \
	$user chains=table -- /usr/bin/sqlite3 :memory: "$select" ';' \
	$user chains=table -- /usr/bin/python3 -S -c \
	'print(sorted([str(i)[::-1]for(i)in(range(3000))])[5])'
status_is 0 "recordings of programs of Debian"
section 1
same "a program with shared libraries, by their .eh_frame" 99.9
section 2
same "... Python" 99.9
done_testing
