#!/bin/sh
# c2c of a program of Linux, in ./vigil shell: variables and functions by the file's symbols; by
# regions and addresses where it was stripped.
. "${0%/*}/../qemu/lib.sh"
case $arch in aarch64) cross=aarch64-linux-gnu- ;; *) cross= ;; esac
"${cross}gcc" -g -O2 -static -pthread -I. -o "$work/contend" apps/workloads/falseshare/*.c \
	apps/common/args.c apps/linux/hpm_linux.c -lm >"$console" 2>&1 || { cat "$console"; exit 1; }
"${cross}strip" -o "$work/stripped" "$work/contend"
what="cpus=0,4,2,6 rounds=20000"
booted=" ./vigil shell" status=0
printf '%s\n' "c2c period=50 lines=3 -- $work/contend $what" \
	"c2c period=50 lines=3 -- $work/stripped $what" | ./vigil shell --arch "$arch" --timeout 200 \
	--file "$work/contend" --file "$work/stripped" >"$console" 2>"$work/stderr" || status=$?
status_is 0 "a shell with two runs of c2c"
awk -v to="$work/part." '/^RESULT/ { n++ } n { print > (to n) }' "$console"
for of in "statistics FALSE" "arrays FALSE" "counter TRUE"; do
	r=0; grep -Eq "^line 0x[0-9a-f]+  ${of% *}[+]0x[0-9a-f]+  ${of#* } sharing" "$work/part.1" || r=1
	result $r "with symbols: $of"
done
r=0; grep -Eq '^  chip 1 t[0-9]+ t[0-9]+ +(read|write) +use_statistics falseshare.c:[0-9]+  ' \
	"$work/part.1" || r=1
result $r "... with the function and the line"
at=$(sed -n 's/.* use_statistics falseshare.c:\([0-9]*\)  .*/\1/p' "$work/part.1" | sort -u |
	paste -sd' ' -)
r=0; for n in $at; do
	sed -n "${n}p" apps/workloads/falseshare/falseshare.c | grep -q 'mine->' || r=1
done; [ -n "$at" ] || r=1
result $r "... which uses it ($at)"
is=$(sed -n 's/^line 0x[0-9a-f]*  \([^ ]*\)  \([A-Z]*\) sharing.*/\1 \2/p' "$work/part.2" | sort |
	paste -sd, -)
r=0; [ "$is" = "[data] FALSE,[data] FALSE,[data] TRUE" ] || r=1
result $r "stripped: regions ($is)"
r=0; grep -Eq '^  chip 1 .* (read|write) +0x[0-9a-f]+ \[code\]' "$work/part.2" || r=1
result $r "... and addresses of code"

# A program that ends within ms, whose variable begins amid a line.
cat >"$work/short.c" <<-'C'
	#include <pthread.h>
	__asm__(".data\n.balign 128\n.type before, %object\n.size before, 64\nbefore: .zero 64\n"
	        ".globl shared\n.type shared, %object\n.size shared, 16\nshared: .zero 64\n.text\n");
	extern volatile long shared[2];
	static void *use(void *p) { for (long i = 0; i < 600000; i++) (*(volatile long *)p)++; return p; }
	int main(void) {
	    pthread_t t[4];
	    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, use, (void *)&shared[i % 2]);
	    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	}
C
"${cross}gcc" -O1 -static -pthread -o "$work/short" "$work/short.c" || exit 1
# Without its own symbols, but with those that it exports.
sed -e 's/^static void \*use/void *use/' -e 's/i < 600000/i < 2000000/' "$work/short.c" \
	>"$work/exports.c"
"${cross}gcc" -O1 -s -rdynamic -pthread -o "$work/exports" "$work/exports.c" || exit 1
booted=" ./vigil c2c" status=0
./vigil c2c --arch "$arch" -- "$work/short" </dev/null >"$work/stdout" 2>"$console" || status=$?
status_is 0 "./vigil c2c of a short program"
says '^  chip [01] t[0-9]+ +(read|write) +use[+]0x' "... its function has its name"
says '^line 0x[0-9a-f]+  shared[+]0x[08]  ' "... and its variable"
# Linked statically, with the log of allocations.
make -s ARCH="$arch" "build/$arch/libvigil-allocations.a" >"$console" 2>&1 &&
	"${cross}gcc" -g -O1 -static -pthread -o "$work/linked" test/linux/heapshare.c \
		"@build/$arch/libvigil-allocations.link" "build/$arch/libvigil-allocations.a" \
		>>"$console" 2>&1 || { cat "$console"; exit 1; }
booted=" ./vigil c2c" status=0
./vigil c2c --arch "$arch" -- "$work/linked" </dev/null >"$work/stdout" 2>"$console" || status=$?
status_is 0 "./vigil c2c of a static program that was linked with the log"
line_of() { # TEXT
	grep -nF "$1" test/linux/heapshare.c | cut -d: -f1
}
at=$(line_of "return malloc(bytes)") other=$(line_of "return calloc(1, bytes)")
r=0; grep -A3 " FALSE sharing " "$console" | grep -Eq \
	"  8 bytes allocated by make_left heapshare.c:($at|$((at + 1)))$" || r=1
grep -A3 " FALSE sharing " "$console" | grep -Eq \
	"  8 bytes allocated by make_right heapshare.c:($other|$((other + 1)))$" || r=1
result $r "... which code has allocated, by its line"

status=0
./vigil c2c --arch "$arch" -- "$work/exports" </dev/null >"$work/stdout" 2>"$console" || status=$?
status_is 0 "./vigil c2c of a stripped program that exports its names"
says '^  chip [01] t[0-9 t]+ +(read|write) +use[+]0x' "... its function has its name"
says '^line 0x[0-9a-f]+  shared[+]0x[08]  ' "... and its variable"
# The log is no line that threads share but for taking a block.
cat >"$work/many.c" <<-'C'
	#define _GNU_SOURCE
	#include <pthread.h>
	#include <sched.h>
	#include <stdlib.h>
	static void *work(void *p) {
	    cpu_set_t cpus;
	    CPU_ZERO(&cpus);
	    CPU_SET((int)(long)p, &cpus);
	    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
	    for (int i = 0; i < 20000; i++) {
	        void *volatile at = malloc(24);
	        free(at);
	    }
	    return p;
	}
	int main(void) {
	    static const long at[4] = {0, 4, 2, 6};
	    pthread_t t[4];
	    for (int i = 0; i < 4; i++) pthread_create(t + i, 0, work, (void *)at[i]);
	    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
	}
C
"${cross}gcc" -O1 -pthread -o "$work/many" "$work/many.c" || exit 1
status=0
./vigil c2c --arch "$arch" -- "$work/many" </dev/null >"$work/stdout" 2>"$console" || status=$?
status_is 0 "./vigil c2c of threads that allocate only"
line "c2c allocations=80000..80100 not_noted=0" "... all is noted"
says_not '^line 0x[0-9a-f]+  \[vigil.alloc[a-z]*\]  FALSE' "... in a log that is not falsely shared"
done_testing
