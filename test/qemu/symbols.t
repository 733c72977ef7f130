#!/bin/sh
# From program counters to functions and lines: tables against binutils, and what the booted kernel
# says by them.
. "${0%/*}/lib.sh"
build=${B:-build}
case $arch in aarch64) cross=aarch64-linux-gnu- ;; *) cross= ;; esac

# agrees ELF TABLE: at the start of every function the table and binutils say the same function,
# file and line.  (Of a function out of a header binutils may name the file that includes it.)
# One of many addresses binutils 2.40 may not find though it does when it is asked for that alone.
# Copies of lwIP, which have no lines, are not asked for alone.
lines_of() { # ELF
	"${cross}addr2line" -e "$1" <"$work/addresses" | paste -d' ' "$work/functions" - |
		while read -r address name line; do
		case $name-$line in
		n[1-7]_*) ;;
		*\?*) line=$("${cross}addr2line" -e "$1" "$address") ;;
		esac
		echo "$line"
	done
}
agrees() {
	booted=" nothing, tools/symbols.c only" console=$work/differences
	: >"$work/stderr"
	"${cross}nm" -n --defined-only --format=sysv "$1" | tr -d ' ' |
		awk -F'|' '$4 == "FUNC" && $5 !~ /^0*$/ { print $2, $1 }' |
		sort -u -k1,1 >"$work/functions"
	cut -d' ' -f1 "$work/functions" >"$work/addresses"
	lines_of "$1" | sed -e "s,^$PWD/,," -e 's,^\./,,' -e 's/ (discriminator.*//' -e 's/:?$/:0/' \
		-e 's,^[/.].*/,,' -e 's/^.*:0$/??:0/' | paste -d' ' "$work/addresses" - >"$work/wanted"
	xargs "$build/symbols" -f "$2" <"$work/addresses" >"$work/all"
	cut -d' ' -f2 "$work/all" | paste -d' ' "$work/addresses" - >"$work/found"
	paste -d' ' "$work/wanted" "$work/found" | awk '
		function line(place) { sub(/.*:/, "", place); return place }
		$2 != $4 && ($4 !~ /\.h:/ || line($2) != line($4))' >"$console"
	r=0; [ ! -s "$console" ] && [ -s "$work/found" ] || r=1
	result $r "$1: $(wc -l <"$work/addresses") functions have the lines that addr2line finds"
	# Of several names for one address any will do.
	"${cross}nm" --defined-only "$1" | awk '{ print $1, $3 "+0" }' | sort -u >"$work/names"
	cut -d' ' -f1 "$work/all" | paste -d' ' "$work/addresses" - | sed 's/+0x0$/+0/' |
		sort -u >"$work/named"
	comm -13 "$work/names" "$work/named" >"$console"
	r=0; [ ! -s "$console" ] && [ -s "$work/named" ] || r=1
	result $r "... and the names that nm knows"
	console=$work/console
}
for file in "$arch/vigil-test.elf" "$arch/vigil-test.symbols" "$arch/bin/warehouse" \
	"$arch/apps/workloads/hello/hello.o"; do
	strings -a "$build/$file" | grep -F -e "$PWD" -e /source/newlib/ | sed "s,^,$file: ,"
done >"$console"
booted=" nothing"; : >"$work/stderr"
r=0; [ ! -s "$console" ] || r=1
result $r "neither programs nor tables remember the folder they were built in"
agrees "$build/$arch/vigil-test.elf" "$build/$arch/vigil-test.symbols"
agrees "$build/$arch/bin/places" "$build/$arch/symbols/places"
agrees "$build/$arch/bin/warehouse" "$build/$arch/symbols/warehouse"

# The kernel's variables are as far into their section as the table says.
"${cross}readelf" -sW "$build/$arch/vigil-test.elf" | python3 -c '
import sys
names, starts = {}, {}
for line in sys.stdin:
    f = line.split()
    if len(f) == 8 and f[7] in ("data_start", "bss_start", "image_end"):
        starts[f[7]] = int(f[1], 16)
    elif len(f) == 8 and f[3] == "OBJECT" and int(f[2], 0):
        names.setdefault(int(f[1], 16), set()).add(f[7])
data, bss, end = (starts[name] for name in ("data_start", "bss_start", "image_end"))
base = 0xffffffff80200000
for at, name in sorted(names.items()):
    if data <= at < end:
        place = at - bss + 0x60000000 if at >= bss else at - data + 0x40000000
        print("%x" % (base + place), *sorted(name))
' >"$work/variables"
cut -d' ' -f1 "$work/variables" | xargs "$build/symbols" -f "$build/$arch/vigil-test.symbols" |
	paste -d' ' - "$work/variables" | awk '{ sub(/[+]0x0$|[+]0$/, "", $1); for (i = 4; i <= NF; i++)
		if ($i == $1 && $2 == "??:0") next; print }' >"$console"
r=0; [ ! -s "$console" ] && [ "$(wc -l <"$work/variables")" -gt 500 ] || r=1
result $r "the kernel's $(wc -l <"$work/variables") variables have their names"

# Also code that no symbol names, as the jumps of .plt, has a name.
"${cross}readelf" -SW "$build/$arch/bin/ratio" | sed 's/^ *[[] *[0-9]*[]] //' |
	awk '$7 ~ /X/ { print $3 }' >"$work/addresses"
xargs "$build/symbols" -f "$build/$arch/symbols/ratio" <"$work/addresses" >"$console"
r=0; [ -s "$console" ] && ! grep -q '^??' "$console" || r=1
result $r "each section of code has a name at its beginning"

boot smp=2 timeout=60 -- -- places
status_is 0 "a program asks what is at its addresses"
guest_tap
boot smp=2 timeout=60 -- -- places wait '&' places 1
status_is 0 "... and at another one's"
guest_tap

line_of() { # TEXT FILE
	grep -nF -- "$1" "$2" | head -n 1 | cut -d: -f1
}
faults=test/qemu/apps/faults.c
boot smp=2 timeout=60 -- -- faults null-read ';' faults wild-write ';' faults null-jump ';' hello
says "^  in null_read\+0x[0-9a-f]+ $faults:$(line_of '*(volatile uint64_t *)near_null' $faults)$" \
	"a fault is reported with its function and line"
says "^  in wild_write\+0x[0-9a-f]+ $faults:$(line_of '*(volatile uint64_t *)0x700000000000' $faults)$" \
	"... another one with its own"
r=0; [ "$(grep -c '^  in ' "$console")" -eq 2 ] || r=1
result $r "... and a jump to nowhere with none"
line "exit app=hello status=0" "the next program runs"

boot smp=1 timeout=60 -- -- symbols/hello ';' nothing-like-it
line "process event=refused app=hello reason=file" "a table is no application"
says "^process: event=refused app=nothing-like-it reason=unknown: [^/]*[: ]hello [^/]*$" \
	"... and is not among them"

use vigil-suites
panics=test/qemu/kernel/panics.c
boot smp=2 timeout=60 -- -- panics 1
at=$(line_of '*HIDDEN((volatile int *)8) = 1' $panics)
says "^    [0-9a-f]{16} null_pointer\+0x[0-9a-f]+ $panics:$at$" "the kernel's backtrace says lines"
at=$(line_of 't->entry(t->arg);' sched/thread.c)
says "^    [0-9a-f]{16} run_thread\+0x[0-9a-f]+ sched/thread\.c:$at$" "... and of callers that of the call"
done_testing
