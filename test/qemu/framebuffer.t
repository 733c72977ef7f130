#!/bin/sh
# The display as console, under UEFI: pictures of it are read with the font that the kernel draws
# with.
. "${0%/*}/lib.sh"
font=${B:-build}/font/package/usr/share/consolefonts/Lat15-Fixed16.psf.gz
disk=$work/disk.img screen=$work/screen
case $arch in
aarch64) display=ramfb ;;
*) display=VGA ;;
esac
mkfifo "$work/monitor.in" "$work/monitor.out"

# A picture of the display as text, in $screen; fails if it cannot be read. QEMU writes the file
# bit by bit: it is whole when its size stays the same.
look() {
	rm -f "$work/shot.ppm"
	echo "screendump $work/shot.ppm" >&3
	size=
	for i in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.3
		now=$(stat -c %s "$work/shot.ppm" 2>/dev/null || :)
		[ -z "$now" ] || [ "$now" != "$size" ] || break
		size=$now
	done
	python3 test/qemu/screen_text.py "$work/shot.ppm" "$font" >"$screen" 2>/dev/null
}

# Boots from $disk with a display; what the serial port says goes to $console.  Ends when the
# display or the machine says that the run is over, or after five minutes.  One picture may be taken
# while the display is drawn: two in a row must be alike.
show() { # tools/qemu.sh arguments
	booted="$*"
	: >"$screen"
	tools/qemu.sh disk="$disk" out="$work" timeout=300 "$@" -- -device $display \
		-chardev pipe,id=monitor,path="$work/monitor" -mon chardev=monitor </dev/null >"$console" \
		2>"$work/stderr" &
	run=$!
	exec 3<>"$work/monitor.in" 4<>"$work/monitor.out"
	cat <&4 >/dev/null &
	drain=$!
	while kill -0 $run 2>/dev/null; do
		mv "$screen" "$work/earlier"
		look && grep -q '^end: ' "$screen" && cmp -s "$work/earlier" "$screen" && break
		sleep 1
	done
	echo quit >&3
	status=0
	wait $run || status=$?
	kill $drain
	{ wait $drain || :; } 2>/dev/null
	exec 3>&- 4>&-
	tr -d '\r' <"$console" >"$work/plain" && mv "$work/plain" "$console"
}
# The display has such a line, and the keys are in it before it is broken.
shows() { # "SUBJECT KEY=VALUE..." WHAT
	r=0
	(console=$screen && lines "$1") | grep -q . || r=1
	result $r "$2"
	[ $r -eq 0 ] || { echo "# missing on the display: $1" >&2; sed 's/^/#   /' "$screen" >&2; }
}

# What is on the display are the last lines that the serial port got.
shows_the_last() { # WHAT
	columns=$(sed -n 's/.* output=framebuffer.* characters=\([0-9]*\)x.*/\1/p' "$console")
	fold -w "${columns:-1}" "$console" | sed 's/ *$//' | tail -n "$(wc -l <"$screen")" >"$work/last"
	cmp "$work/last" "$screen" >"$work/off" 2>&1 && r=0 || r=1
	result $r "$1"
	[ $r -eq 0 ] || { cat "$work/off"; diff "$work/last" "$screen" | head -n 20; } | sed 's/^/# /' >&2
}

# Without a serial port, or with one that is left alone.
case $arch in
aarch64) silent="" only='console=framebuffer ' ;;
*) silent=serial=none only= ;;
esac
tools/espimage.sh "${B:-build}/$arch/vigil-test.efi" "$disk" \
	"$only-- hello display ; hello status=3"
# shellcheck disable=SC2086
show smp=4 $silent
shows "vigil event=start version=[0-9.]+ arch=$arch by=uefi" \
	"text is on the display from the first line on"
shows "console event=ready output=framebuffer pixels=[0-9]+x[0-9]+ bits=32" \
	"... which says what it is"
shows "hello pid=1.. cpus=4 arguments=1" "a program's text is on the display"
r=0; grep -q '^hello: .*\[display\]$' "$screen" || r=1
result $r "... to its end"
shows "end status=3 machine=on" "... where it can be read when the run is over"
no_line vigil "the serial port is silent"
no_line hello "... for programs, too"

# As many lines as do not fit.
tools/espimage.sh "${B:-build}/$arch/vigil-suites.efi" "$disk" 'console=both -- console'
show smp=4 thread=multi
whole=$(grep -Ec '^#line [0-9]+ [0-9]+ ([a-z])\1{59}$' "$console")
r=0; [ -s "$screen" ] && [ "$(wc -l <"$console")" -gt "$(wc -l <"$screen")" ] || r=1
result $r "they do not fit on the display"
r=0; grep -qx "#lines $whole" "$console" && [ "$(grep -c '#line ' "$console")" -eq "$whole" ] || r=1
result $r "of lines that all CPUs write at once none is lost or mixed with another ($whole)"
shows_the_last "... and the display has the same, character by character"

tools/espimage.sh "${B:-build}/$arch/vigil-suites.efi" "$disk" 'console=framebuffer -- panics 1'
show smp=4
shows "panic cpu=0..9 code=page-fault fault=null-pointer access=write at=0x8" \
	"a panic is on the display, whatever was printed after it"
r=0; grep -Eq '^ +[0-9a-f]{16} null_pointer' "$screen" || r=1
result $r "... with its backtrace"
shows "backtrace cpu=3" "... and those of other CPUs"
shows "end status=101 machine=on" "... and the machine waits for a reader"

tools/espimage.sh "${B:-build}/$arch/vigil-test.efi" "$disk" \
	'console=framebuffer no.such=thing -- hello'
show
shows "boot event=refused argument=no[.]such" "arguments that are refused are on the display"
line "boot event=refused argument=no.such" \
	"... and on the serial port, for it is not known what was meant"
no_line "hello pid=1.." "... and nothing is started"

tools/espimage.sh "${B:-build}/$arch/vigil-test.efi" "$disk" \
	'console=both end=poweroff -- hello status=5'
show
status_is 5 "end=poweroff ends the machine"
line "hello pid=1.." "... and the serial port got the text"

# No display, started directly.  uefi.t has none with firmware.
boot -- console=both -- hello
status_is 0 "without a display the serial port is used"
line "console event=missing output=framebuffer" "... and that is said"
done_testing
