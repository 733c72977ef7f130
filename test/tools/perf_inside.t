#!/bin/sh
# Debian's perf, unmodified, in Vigil on the simulated machine: what perf stat prints of a program
# whose instructions are known, and of events that take turns.
. "${0%/*}/../qemu/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
# A program of LOOPS times 2 instructions, and a few around them; then it ends.
cat >"$work/known.c" <<'END'
#include <sys/syscall.h>
void _start(void)
{
	long loops = LOOPS;
#ifdef __x86_64__
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(loops));
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(0));
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(loops) : : "cc");
	register long x8 __asm__("x8") = SYS_exit_group, x0 __asm__("x0") = 0;
	__asm__ volatile("svc #0" : : "r"(x8), "r"(x0));
#endif
	__builtin_unreachable();
}
END
for loops in 100000 400000; do
	"$compiler" -O1 -static -nostdlib -DLOOPS=$loops -o "$work/known$loops" "$work/known.c"
done

stat() { # ARGS OF perf stat ...: its lines, "VALUE;;EVENT;RUN-TIME;PERCENT", into $work/stat
	status=0
	booted=" ./vigil run -- perf stat -x; $*"
	./vigil run --arch "$arch" --smp 2 --kernel-args hpm.slice_cycles=20000 --deb linux-perf \
		--file "$work/known100000" --file "$work/known400000" -- \
		perf stat -x ';' "$@" </dev/null >"$console" 2>"$work/stat" || status=$?
	status_is 0 "perf stat $*"
}
value() { awk -F';' -v e="$1" '$3 == e { print $1 }' "$work/stat"; }
percent() { awk -F';' -v e="$1" '$3 == e { print $5 }' "$work/stat"; }

stat -e instructions:u,cycles,task-clock,page-faults "$work/known100000"
few=$(value instructions:u) few_percent=$(percent instructions:u)
within "$(percent cycles)" 100.00 100.00 "cycles are counted all the time"
within "$(percent page-faults)" 100.00 100.00 "... and page faults"
within "$(value page-faults)" 1 20 "the program has few pages"
# Pinned, they are exact.
stat -e instructions:uD "$work/known100000"
few=$(value instructions:uD)
within "$(percent instructions:uD)" 100.00 100.00 "pinned events are counted all the time"
stat -e instructions:uD "$work/known400000"
within $(($(value instructions:uD) - few)) 600000 600000 \
	"300,000 loops more are 600,000 instructions more ($few)"
# A group is counted at the same time.
stat -e '{cycles,instructions}' "$work/known400000"
within "$(value instructions)" 800000 3000000 "a group's instructions"
# More than fit: each says how much of the time it was seen.
stat -d -e branches,branch-misses "$work/known400000"
r=0
awk -F';' '$1 ~ /^[0-9]/ && ($5 < 0 || $5 > 100) { bad = 1 } $1 ~ /^[0-9]/ && $5 < 100 { some = 1 }
	END { exit bad || !some }' "$work/stat" || r=1
result $r "events take turns, and perf has the part of the time"
# perf record and perf report, with a program of two functions: 3 of 4 loops are one's.
cat >"$work/two.c" <<'END'
__attribute__((always_inline)) static inline void loops(long n)
{
#ifdef __x86_64__
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n));
#else
	__asm__ volatile("1: subs %0, %0, #1; b.ne 1b" : "+r"(n) : : "cc");
#endif
}
__attribute__((noinline)) void often(void) { loops(15000); __asm__ volatile(""); }
__attribute__((noinline)) void seldom(void) { loops(5000); __asm__ volatile(""); }
int main(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		often();
		seldom();
	}
	return 0;
}
END
"$compiler" -O1 -DROUNDS=500 -fno-omit-frame-pointer -fno-optimize-sibling-calls -static \
	-o "$work/two" "$work/two.c"
"$compiler" -O1 -DROUNDS=3000 -fomit-frame-pointer -fno-optimize-sibling-calls \
	-o "$work/frameless" "$work/two.c"
cat >"$work/record.sh" <<END
perf record --call-graph \$3 -e \$1 -c \$2 -o /tmp/perf.data \$4 || exit
perf report -i /tmp/perf.data --no-inline --stdio --no-children -F overhead,period,sym -t '|' \
	-g none
perf script -i /tmp/perf.data --no-inline -F ip,sym
END
record() { # EVENT PERIOD CALL-GRAPH PROGRAM
	status=0
	booted=" ./vigil run -- perf record -e $1"
	./vigil run --arch "$arch" --smp 2 --deb linux-perf,dash --file "$work/$4" \
		--file "$work/record.sh" -- sh "$work/record.sh" "$1" "$2" "$3" "$work/$4" </dev/null \
		>"$console" 2>"$work/errors" || status=$?
	status_is 0 "perf record --call-graph $3 -e $1"
	r=0; ! grep -qi "out of order" "$work/errors" || r=1
	result $r "... without events out of order"
	# Chains: innermost first, an empty line behind each.
	awk 'BEGIN { RS = "" } !/main/ { next } / often/ { often++ } / seldom/ { seldom++ }
		END { printf "%d %d\n", often + seldom, often * 1000 / (often + seldom + !often) }' \
		"$console" >"$work/parts"
	read -r samples part <"$work/parts"
	within "$samples" 100 100000 "... samples in functions that main has called"
	within "$part" 680 820 "... of which three of four are of the function with three loops of four"
}
record cycles:u 40000 fp two
record cpu-clock:u 40000 fp two
# perf unwinds registers and stacks that samples have: 64 at a time, a hundred times a second.
record cycles:u 300000 dwarf frameless
# Two threads on two chips, which count in their own halves of one line; and a line of each.
cat >"$work/lines.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
static struct { volatile long mine; char pad[PAD]; volatile long yours; } planted
	__attribute__((aligned(128)));
static void go(int cpu)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}
__attribute__((noinline)) static void count_mine(void) { planted.mine++; }
__attribute__((noinline)) static void count_yours(void) { planted.yours++; }
static void *first(void *p) { go(0); for (int i = 0; i < 200000; i++) count_mine(); return p; }
static void *second(void *p) { go(4); for (int i = 0; i < 200000; i++) count_yours(); return p; }
int main(void)
{
	pthread_t t[2];
	pthread_create(t, 0, first, 0);
	pthread_create(t + 1, 0, second, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
	return 0;
}
END
"$compiler" -O1 -static -pthread -DPAD=24 -o "$work/shared" "$work/lines.c"
"$compiler" -O1 -static -pthread -DPAD=248 -o "$work/apart" "$work/lines.c"
# perf c2c record finds no events on AArch64, where it knows Arm's SPE only.
pmu=armv8_pmuv3_0
case $arch in
x86_64) how="c2c record" ;;
aarch64)
	how="record -d -W --phys-data --sample-cpu -e $pmu/mem-loads,ldlat=30/ -e $pmu/mem-stores/" ;;
esac
cat >"$work/c2c.sh" <<END
for program; do
	perf $how -c 200 -o /tmp/perf.data "\$program" || exit
	perf c2c report -i /tmp/perf.data --stdio -d tot || exit
	perf mem -i /tmp/perf.data report --stdio --sort mem,sym,snoop || exit
done
END
booted=" ./vigil run -- perf $how" status=0
./vigil run --arch "$arch" --smp 8 --deb linux-perf,dash,binutils --file "$work/shared" \
	--file "$work/apart" --file "$work/c2c.sh" -- sh "$work/c2c.sh" "$work/shared" "$work/apart" \
	</dev/null >"$console" 2>"$work/errors" || status=$?
status_is 0 "perf c2c and perf mem of two programs"
# The worst line's rows: offset and function.
awk '/Shared Cache Line Distribution Pareto/ { n++; on = 1 } /^# Samples/ { on = 0 }
	on && NF == 7 && $7 ~ /^0x/ { line = $1 }
	on && match($0, /count_(mine|yours)/) {
		print n, line ? "other" : "worst", $6, substr($0, RSTART, RLENGTH)
	}' "$console" | sort -u >"$work/lines"
is=$(grep '^1 ' "$work/lines" | paste -sd, -)
r=0
[ "$is" = "1 worst 0x0 count_mine,1 worst 0x20 count_yours" ] || r=1
result $r "perf c2c report names the line that two functions share, and where in it ($is)"
r=0; ! grep -q '^2 ' "$work/lines" || r=1
result $r "... and none if each function has a line of its own"
says "Remote Cache .* count_mine +HitM" "perf mem report names loads of lines that others modified"
done_testing
