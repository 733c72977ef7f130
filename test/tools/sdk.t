#!/bin/sh
# Programs built outside this tree, with the installed SDK: newlib's by the compiler's wrapper and by
# CMake, the C library's of this system with vigil.h. They run in Vigil, and where Linux can: on this
# machine, and on Linux in the same machine if that has been fetched (tools/linux-guest.sh).
. "${0%/*}/../qemu/lib.sh"
case $arch in aarch64) glibc=aarch64-linux-gnu-gcc ;; *) glibc=gcc ;; esac
prefix=$work/prefix away=$work/away
here=no
[ "$(uname -m)" != "$arch" ] || here=yes

run() { # COMMAND...; output in $console
	booted=" $*"
	status=0
	"$@" </dev/null >"$console" 2>"$work/stderr" || status=$?
}
run env -u MAKEFLAGS make --no-print-directory install-sdk ARCH="$arch" PREFIX="$prefix"
status_is 0 "the SDK is installed"
cp -R apps/sdk/example "$away"
cd "$away" || exit 1
run make CC="$prefix/bin/$arch-vigil-cc -Wall -Wextra -Werror"
status_is 0 "a program is built with newlib"
if command -v cmake >/dev/null; then
	run cmake -S . -B cmake -DCMAKE_TOOLCHAIN_FILE="$prefix/share/vigil/$arch.cmake"
	status_is 0 "CMake knows the toolchain"
	run cmake --build cmake
	status_is 0 "... and builds the program"
else
	cp groups cmake
fi
flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" pkg-config --cflags vigil)
# shellcheck disable=SC2086
run "$glibc" -std=c11 -O2 -Wall -Wextra -Werror -static -pthread $flags groups.c -o groups.glibc
status_is 0 "... and with this system's C library"
cd - >/dev/null || exit 1

# Its calls can be recorded.
run env INSTRUMENT=1 "$prefix/bin/$arch-vigil-cc" -O2 -o "$away/called" "$away/groups.c"
status_is 0 "INSTRUMENT=1 builds a program whose calls can be recorded"
booted=" ./vigil phases -f"
status=0
./vigil phases -f --arch "$arch" -o "$work/calls" -- "$away/called" </dev/null >/dev/null \
	2>"$console" || status=$?
status_is 0 "... and are"
says '^phases: [1-9][0-9]* functions, [1-9][0-9,]+ cycles; ' "... its phases are shown"

# What it allocates is known.
run "$prefix/bin/$arch-vigil-cc" -O1 -o "$away/heapshare" test/linux/heapshare.c
status_is 0 "a program with a heap is built"
run ./vigil c2c --arch "$arch" -- "$away/heapshare"
status_is 0 "... and its lines are watched"
r=0; grep -A5 " FALSE sharing " "$work/stderr" | grep -q "  8 bytes allocated by make_left" &&
	grep -A5 " FALSE sharing " "$work/stderr" | grep -q "  8 bytes allocated by make_right" || r=1
result $r "... by which code their objects were allocated"

for program in groups groups.glibc; do
	if [ $here = yes ]; then
		run "$away/$program"
		status_is 0 "$program runs on this machine's Linux"
		says '^groups: vigil=no total=400000$' "... and Vigil's calls do nothing there"
	fi
	run ./vigil run --arch "$arch" --machine openpower720 -- "$away/$program"
	status_is 0 "$program runs in Vigil"
	says '^groups: vigil=yes total=400000$' "... which answers"
	says '^groups: instructions=[1-9][0-9]{4,} cycles=[1-9][0-9]{4,}' "... and counts"
	[ -f build/linux/package ] && [ "$arch" = x86_64 ] || continue
	run ./vigil run --arch "$arch" --kernel linux --machine qemu -- "$away/$program"
	status_is 0 "$program runs on Linux in the machine"
	says '^groups: vigil=no total=400000$' "... without Vigil"
done

# Programs of the bundle are the same files on Linux.
bin=${B:-build}/$arch/bin
if [ $here = yes ]; then
	for program in libctest standard; do
		run "$bin/$program"
		status_is 0 "$program runs on this machine's Linux"
		guest_tap
	done
	run "$bin/hello" status=7
	status_is 7 "so does hello"
	run "$bin/hpmstat" -- hello
	status_is 2 "hpmstat has nothing to measure with"
	r=0; [ "$(cat "$console" "$work/stderr" | wc -l)" -eq 1 ] || r=1
	result $r "... and says so in one line"
fi
r=0
tools/install_sdk.sh relative "$arch" gcc '' "$work" x x >"$console" 2>&1 && r=1
result $r "a PREFIX that is no absolute path is refused"
says '^install_sdk.sh: error: PREFIX=relative: expected an absolute path$' "... in one line"
done_testing
