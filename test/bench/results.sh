#!/bin/sh
# `make results`: makes docs/results anew. A part is one command and the files it makes. A part
# already made by the present sources is not made again, so an interrupted run goes on. Parts that
# fail leave their files as they were, and are named at the end.
#
#   test/bench/results.sh [parts='NAME ...'] [again=1]
#
# parts=list shows the parts. again=1: also those that are up to date. Sources are all files but
# docs; they must be committed, for the files name the commit.
set -eu
cd "$(dirname "$0")/../.."
die() { printf 'results.sh: error: %s\n' "$*" >&2; exit 1; }

# Name | command. The parts that take minutes first, those that take hours last.
parts() {
	cat <<-'END'
		mux           | make bench-mux
		lives         | make bench-lives
		lives-guest   | make machine && make ARCH=x86_64 build/x86_64/vigil-test.elf && make ARCH=aarch64 build/aarch64/vigil-test.img && { test/bench/header.sh 'TIMES=12 test/qemu/lives.t'; for arch in x86_64 aarch64; do ARCH=$arch TIMES=12 test/qemu/lives.t 2>&1 | sed -n 's/^# RESULT/RESULT/p'; done; } >build/results/lives-guest.txt && mv build/results/lives-guest.txt docs/results
		c2c           | make machine && make ARCH=x86_64 build/x86_64/vigil-test.elf && make ARCH=aarch64 build/aarch64/vigil-test.img && { test/bench/header.sh 'SEEDS=6 test/qemu/c2c.t'; for arch in x86_64 aarch64; do ARCH=$arch SEEDS=6 test/qemu/c2c.t 2>/dev/null | sed -n 's/^# RESULT/RESULT/p'; done; } >build/results/c2c.txt && mv build/results/c2c.txt docs/results
		period        | make bench-period
		mrc           | make bench-mrc
		pools         | make bench-pools
		prefetch      | make bench-prefetch
		clustering    | make bench-clustering
		programs      | make bench-programs
		twins         | make kernel && test/bench/keep.sh docs/results/twins.txt test/bench/twins.py
		sharing-x86_64  | make bench-sharing ARCH=x86_64 SEEDS=3
		sharing-aarch64 | make bench-sharing ARCH=aarch64 SEEDS=3
		sharing-8chip | make bench-sharing ARCH=x86_64 MACHINE=openpower-8chip SEEDS=3
		architectures | test/bench/compare.sh >build/results/architectures.txt && mv build/results/architectures.txt docs/results
		strings       | make machine && make ARCH=x86_64 build/x86_64/vigil-test.elf && make ARCH=aarch64 build/aarch64/vigil-test.img build/aarch64/vigil-glibc.img && test/bench/keep.sh docs/results/strings.txt test/bench/strings.sh
		quantum       | make kernel machine && test/bench/keep.sh docs/results/quantum.txt test/bench/quantum.sh policies='roundrobin hand' quanta='500 1000 2000 4000 8000' program='scoreboard groups=4 threads=4 ms=40'
		cachegrind    | make machine && test/bench/keep.sh docs/results/cachegrind.txt test/machine/compare_cachegrind.sh
		breakdown     | make run BOOTARGS='hpm.slice_cycles=50000 -- hpmstat breakdown=1 format=series interval=4 -- phases kind=sort rounds=2' && make plot-breakdown && cp build/out/breakdown.svg docs/results/breakdown-sort.svg
		hpm-x86_64    | make bench-hpm ARCH=x86_64 SEEDS=3
		hpm-aarch64   | make bench-hpm ARCH=aarch64 SEEDS=3
		servers       | make ARCH=x86_64 kernel machine && make ARCH=aarch64 kernel && for over in tcp unix; do for arch in x86_64 aarch64; do test/bench/servers.sh arch=$arch over=$over || exit; done; done
		linux         | test/bench/linux.sh results=docs/results/linux.txt
		swap          | test/bench/swap.sh results=docs/results/swap.txt
		mm-x86_64     | make bench-mm ARCH=x86_64 SMALL=1 RESUME=1 RESULTS=docs/results/mm-x86_64.txt && test/bench/mm_plot.py docs/results/mm-x86_64.txt docs/results/mm-x86_64
		mm-aarch64    | make bench-mm ARCH=aarch64 SMALL=1 RESUME=1 RESULTS=docs/results/mm-aarch64.txt && test/bench/mm_plot.py docs/results/mm-aarch64.txt docs/results/mm-aarch64
		regret        | make bench-regret
		track-x86_64  | make kernel machine ARCH=x86_64 && ARCH=x86_64 test/bench/track.sh kernel=build/x86_64/vigil.elf
		track-aarch64 | make kernel machine ARCH=aarch64 && ARCH=aarch64 test/bench/track.sh kernel=build/aarch64/vigil.img
		page-ins      | make test-page-ins >build/results/page-ins.txt && { test/bench/header.sh 'make test-page-ins'; sed -n 's/^# RESULT/RESULT/p' build/results/page-ins.txt; } >docs/results/page-ins.txt
		mm-replay     | make bench-mm ARCH=x86_64 PARTS=replay RESUME=1 RESULTS=docs/results/mm-replay.txt && test/bench/mm_plot.py docs/results/mm-replay.txt docs/results/mm
		mm-large      | make bench-mm ARCH=x86_64 PARTS=policy,pools,prefetch,pab RESUME=1 RESULTS=docs/results/mm-large.txt
	END
}

parts='' again=0
for argument; do
	case $argument in
	parts=* | again=*) value=${argument#*=}; eval "${argument%%=*}=\$value" ;;
	*) die "unknown argument '$argument' (parts= again=)" ;;
	esac
done
[ "$parts" != list ] || { parts; exit; }
: "${parts:=$(parts | awk '{ print $1 }')}"
for part in $parts; do
	parts | grep -q "^$part " || die "'$part' is no part; PARTS=list names them"
done
[ -z "$(git status --porcelain -- . ':!docs')" ] || \
	die "sources have changes that are not committed: git status"
sources=$(git log -1 --format=%h -- . ':!docs')
mkdir -p build/results
failed=
for part in $parts; do
	command=$(parts | sed -n "s/^$part *| //p") done=build/results/$part.done
	if [ "$again" = 0 ] && [ "$(cat "$done" 2>/dev/null)" = "$sources" ]; then
		echo "results: $part is of commit $sources already"
		continue
	fi
	echo "results: $part: $command"
	began=$(date +%s)
	if sh -ec "$command" >"build/results/$part.log" 2>&1; then
		echo "$sources" >"$done"
		echo "results: $part: done in $(($(date +%s) - began)) s"
	else
		failed="$failed $part"
		echo "results: $part FAILED: build/results/$part.log"
	fi
done
[ -z "$failed" ] || die "failed:$failed"
