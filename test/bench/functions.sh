#!/bin/sh
# Phases of five programs by their functions (./vigil phases -f): four of Vigil's own and one of
# Linux, compiled by the ordinary gcc.
#
#   test/bench/functions.sh [name=value ...]
#
#   arch=ARCH     x86_64 or aarch64  (x86_64)
#   results=FILE  (docs/results/functions-ARCH.txt); the Linux program's picture goes beside it
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'functions.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 results=
for argument; do
	case $argument in
	arch=* | results=*) eval "${argument%%=*}=\${argument#*=}" ;;
	*) die "unknown argument '$argument' (arch= results=)" ;;
	esac
done
case $arch in
x86_64) cc=gcc ;;
aarch64) cc=aarch64-linux-gnu-gcc ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/functions-$arch.txt}"
out=build/bench/functions-$arch
. test/bench/phases-lib.sh
one() { # NAME WORDS...
	report -f "$@"
	rm -f "$out/$1/calls"
}
begin "test/bench/functions.sh arch=$arch"
one sort -- phases kind=sort size=30000 rounds=8
one matrix -- phases kind=matrix rounds=2
one interp -- phases kind=interp size=20000 rounds=2
one cg -- cg threads=2
build="$cc -O2 \$CALLS_FLAGS -static -o $out/words.bin test/bench/calls/words.c"
one words -b "$build build/$arch/libvigil-calls.a -pthread" -- "$out/words.bin" 3
mv "$out/text" "$results"
cp "$out/words/functions.svg" "${results%.txt}.svg"
