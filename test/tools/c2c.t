#!/bin/sh
# c2c of a program of Linux, in ./vigil shell: variables and functions by the file's symbols; by
# regions and addresses where it was stripped.
. "${0%/*}/../qemu/lib.sh"
case $arch in aarch64) cross=aarch64-linux-gnu- ;; *) cross= ;; esac
"${cross}gcc" -O2 -static -pthread -I. -o "$work/contend" apps/workloads/falseshare/*.c \
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
r=0; grep -Eq '^  chip 1 t[0-9]+ t[0-9]+ +(read|write) +use_statistics[+]0x' "$work/part.1" || r=1
result $r "... with the function"
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
booted=" ./vigil c2c" status=0
./vigil c2c --arch "$arch" -- "$work/short" </dev/null >"$work/stdout" 2>"$console" || status=$?
status_is 0 "./vigil c2c of a short program"
says '^  chip [01] t[0-9]+ +(read|write) +use[+]0x' "... its function has its name"
says '^line 0x[0-9a-f]+  shared[+]0x[08]  ' "... and its variable"
done_testing
