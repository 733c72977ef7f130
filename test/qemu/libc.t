#!/bin/sh
# The C library: its lower half, on one CPU and on several; what standards promise; its names; what
# strings and malloc cost.
. "${0%/*}/lib.sh"
build=${B:-build}
case $arch in aarch64) cross=aarch64-linux-gnu- ;; *) cross= ;; esac

# Names that programs could want are not the library's: its own are reserved ones, POSIX's are weak,
# and it calls none of those.
objects=$(for source in apps/libc/*.c apps/libc/"$arch"/*.[cS]; do echo "$build/$arch/${source%.*}.o"; done)
booted=" nothing, object files of apps/libc only"
: >"$work/stderr"
# shellcheck disable=SC2086
"${cross}nm" --extern-only --defined-only $objects | awk 'NF == 3 && $2 !~ /[WV]/ { print $3 }' |
	grep -Ev '^(_.*|aligned_alloc|calloc|clock|free|malloc|raise|realloc|signal|(mem|str)[a-z]+|pthread_[a-z_]+)$' >"$console" || :
r=0; [ ! -s "$console" ] || r=1
result $r "each name of the library is reserved, the standard's or weak"
# shellcheck disable=SC2086
"${cross}nm" --defined-only $objects | awk 'NF == 3 && $2 ~ /[WV]/ { print $3 }' | sort -u >"$work/weak"
# shellcheck disable=SC2086
"${cross}nm" --undefined-only $objects | awk 'NF == 2 { print $2 }' | sort -u | comm -12 - "$work/weak" >"$console"
r=0; [ -s "$work/weak" ] && [ ! -s "$console" ] || r=1
result $r "... and it calls no weak one"

for smp in 1 8; do
	boot smp=$smp timeout=120 -- -- libctest
	status_is 0 "$smp CPUs"
	guest_tap
done
boot smp=2 timeout=60 -- -- libctest last
says "^written by the last thread, ended in order" "the end of the last thread is a program's orderly end"
line "exit app=libctest status=0" "... and its status is 0"

boot smp=2 timeout=120 -- -- standard ';' names ';' strings ';' standard closes
status_is 0 "what standards promise"
guest_tap
says_not "^(written|buffered)" "what is closed is not written to"
says "^closed" "... and what is open is"
boot smp=2 timeout=60 -- -- standard ends
line "exit app=standard status=143" "a signal without a handler ends the process"

boot smp=2 mem=64M timeout=120 -- -- standard memory ';' mem.process=2M standard memory
status_is 0 "malloc is refused where memory ends, and at a limit"
guest_tap
boot smp=2 mem=64M timeout=120 -- disk.ram=8M swap=ram -- mem.process=2M standard memory
status_is 0 "... and where the swap disk does"
guest_tap

boot machine=openpower720 smp=2 timeout=300 -- -- standard times ';' strings costs
status_is 0 "the clocks of processors' time"
guest_tap
# costs_at_most NAME CYCLES...: for 64, 256, 1024, 4096 and 16384 bytes.  glibc 2.36 on the same
# machine is what they are compared with (docs/results/strings.txt).  All five together may be 48
# above: three mispredictions, for where an image is linked decides which blocks share a counter of
# the machine's predictor (docs/trust/machine.md).
costs_at_most() {
	name=$1
	shift
	costs=$(awk -v name="$name" '$1 == "cost" && $2 == name { print $4 }' "$console" | tr '\n' ' ')
	r=$(awk -v cost="$costs" -v most="$*" 'BEGIN { n = split(most, limit); bad = split(cost, c) < n
		for (i = 1; i <= n; i++) above += c[i] > limit[i] ? c[i] - limit[i] : 0; print (bad || above > 48) ? 1 : 0 }')
	result "$r" "$name takes $costs cycles, at most $*"
}
case $arch in
x86_64)
	costs_at_most memcpy 15 50 81 25 25
	costs_at_most memmove-up 15 50 79 274 963
	costs_at_most memmove-down 15 50 75 270 958
	costs_at_most memset 15 21 52 16 16
	costs_at_most memcmp 25 70 120 373 1350
	costs_at_most memchr 31 49 100 312 1057
	costs_at_most strlen 30 48 84 252 825
	costs_at_most strchr 36 70 142 453 1600
	costs_at_most strrchr 36 67 177 520 1897
	costs_at_most strcmp 36 81 163 556 1996
	costs_at_most strncmp 27 73 163 588 2148
	costs_at_most strcpy 42 80 138 405 1380 ;;
aarch64)
	costs_at_most memcpy 16 32 100 310 1300
	costs_at_most memset 13 22 60 145 480
	costs_at_most memcmp 32 85 212 716 2736
	costs_at_most strlen 35 66 210 715 2735
	costs_at_most strcmp 55 156 493 1840 7225 ;;
esac
costs_at_most malloc-free 81 81 81 171 174 194 181
done_testing
