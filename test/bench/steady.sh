#!/bin/sh
# When three programs become steady: ten boots each, on the simulated machine (./vigil phases).
#
#   test/bench/steady.sh [name=value ...]
#
#   arch=ARCH     x86_64 or aarch64  (x86_64)
#   boots=N       with seeds of the machine 1 to N  (10)
#   results=FILE  (docs/results/steady-ARCH.txt); the last program's picture goes beside it
#
# The programs: `phases`, of Vigil's own, whose marks name its rounds; a Python program and one of a
# shell, of Debian, whose iterations are lines that they print. The shell's is made to slow down.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'steady.sh: error: %s\n' "$*" >&2; exit 1; }

arch=x86_64 boots=10 results=
for argument; do
	case $argument in
	arch=* | boots=* | results=*) eval "${argument%%=*}=\${argument#*=}" ;;
	*) die "unknown argument '$argument' (arch= boots= results=)" ;;
	esac
done
case $arch in
x86_64 | aarch64) ;;
*) die "arch=$arch: accepted are x86_64, aarch64" ;;
esac
: "${results:=docs/results/steady-$arch.txt}"
out=build/bench/steady-$arch
. test/bench/phases-lib.sh
begin "test/bench/steady.sh arch=$arch boots=$boots"
report "-r $boots" phases -- phases kind=sort size=300 rounds=2000 marks=1
report "-r $boots" python -i ^iteration --deb python3-minimal \
	--file test/bench/steady/bodies.py -- python3 test/bench/steady/bodies.py 500
report "-r $boots" shell -i ^iteration --deb dash --file test/bench/steady/filling.sh -- \
	dash test/bench/steady/filling.sh 1000
mv "$out/text" "$results"
cp "$out/shell/phases.svg" "${results%.txt}.svg"
