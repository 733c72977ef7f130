#!/bin/sh
# Runs a benchmark and shows its output. If the benchmark succeeds, keeps the output in FILE, after
# a line that names the commit.
#
#   test/bench/keep.sh FILE COMMAND [ARGUMENT ...]
set -eu
file=$1
shift
part=build/bench/$(basename "$file").part
mkdir -p build/bench
test/bench/header.sh - >"$part"
{ "$@" || echo $? >"$part.status"; } | tee -a "$part"
[ ! -e "$part.status" ] || { status=$(cat "$part.status"); rm -f "$part.status"; \
	echo "keep.sh: $file stays as it was: status $status" >&2; exit 1; }
mv "$part" "$file"
