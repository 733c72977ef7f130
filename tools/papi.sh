#!/bin/sh
# Runs tests of PAPI, Debian's packages papi-examples and libpapi-dev, in Vigil on the simulated
# machine: a line for each, its name and what it says of itself (PASSED, FAILED, SKIPPED), or
# `ended` and its exit status.
#
#   tools/papi.sh ARCH [TEST ...]    without a TEST: all of ctests/ but those that PAPI's own list
#                                    leaves out (run_tests_exclude.txt)
#
# LOOPS: how much floating-point work a test does (2000000; PAPI's own number is 20000000): the
# threshold of overflows is a twentieth of it, as PAPI has it. WORK_SECONDS of the machine's time
# are filled by the mixed work of some tests, each time (0, once through; PAPI's own number is 2).
# SECONDS_EACH of it end a test (10). What each has printed is in build/ARCH/papi/suite/out.
#
# Vigil's breakdown is off: its own events must have turns on the counters, so that not all sets fit
# that the counters alone could hold.
set -eu
cd "$(dirname "$0")/.."
arch=$1
shift
case $arch in
x86_64) debian=amd64 ;;
aarch64) debian=arm64 ;;
*) echo "papi: argument=ARCH reason=value: $arch: expected x86_64 or aarch64" >&2; exit 1 ;;
esac
loops=${LOOPS:-2000000}
dir=build/$arch/papi
compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null || { echo "papi: no $compiler" >&2; exit 1; }
tools/closure.sh $debian "$dir/packages" papi-examples libpapi-dev papi-tools
root=$PWD/$dir/packages/root
rm -rf "$dir/suite"
mkdir -p "$dir"
cp -r "$root/usr/share/doc/papi-examples/examples" "$dir/suite"
suite=$PWD/$dir/suite
mkdir "$suite/out"
find "$suite" -name '*.gz' -exec gunzip {} +
sed -i "s/\(NUM_FLOPS *\)20000000/\1$loops/; s/\(THRESHOLD *\)1000000/\1$((loops / 20))/
	s/\(NUM_WORK_SECONDS \)2/\1${WORK_SECONDS:-0}/" "$suite/testlib/do_loops.h"
flags="-O1 -w -DPAPI_NUM_COMP=5 -I$root/usr/include"
(
	cd "$suite/testlib"
	for f in test_utils do_loops clockcore; do $compiler $flags -c $f.c; done
	ar rcs libtestlib.a test_utils.o
	cd ../validation_tests
	for f in flops_testcode instructions_testcode; do $compiler $flags -I../testlib -c $f.c; done
)
library=$root/usr/lib/$arch-linux-gnu
# Not all can be built: some are for other machines.
make -k -C "$suite/ctests" CC="$compiler" CFLAGS="$flags" \
	INCLUDE="-I. -I../testlib -I../validation_tests" PAPILIB="$library/libpapi.so" \
	LDFLAGS="-Wl,--allow-shlib-undefined -Wl,-rpath-link,$library" testlibdir=../testlib \
	validationlibdir=../validation_tests TESTLIB=../testlib/libtestlib.a \
	DOLOOPS=../testlib/do_loops.o CLOCKCORE=../testlib/clockcore.o \
	TESTFLOPS=../validation_tests/flops_testcode.o \
	TESTINS=../validation_tests/instructions_testcode.o papi_api serial forkexec_tests \
	overflow_tests profile_tests attach multiplex_and_pthreads >"$dir/log" 2>&1 || true
[ $# -gt 0 ] || set -- $(
	find "$suite/ctests" -maxdepth 1 -type f -perm -100 ! -name '*.*' -printf '%f\n' | sort |
		while read -r t; do grep -qx "ctests/$t" "$suite/run_tests_exclude.txt" || echo "$t"; done
)
cat >"$dir/run.sh" <<'END'
cd /suite/ctests
for t; do
	status=0
	timeout SECONDS ./$t TESTS_QUIET >/suite/out/$t 2>&1 </dev/null || status=$?
	said=$(grep -aoE 'PASSED|FAILED|SKIPPED' /suite/out/$t | tail -n 1)
	echo "$t ${said:-ended $status}"
done
END
sed -i "s/SECONDS/${SECONDS_EACH:-10}/" "$dir/run.sh"
exec ./vigil run --arch "$arch" --kernel-args hpm.breakdown=off --smp "${CPUS:-4}" --no-report \
	--deb papi-tools,dash,coreutils,grep --share "$suite:rw=/suite" --file "$PWD/$dir/run.sh" \
	--timeout "${TIMEOUT:-3000}" -- sh "$PWD/$dir/run.sh" "$@" </dev/null
