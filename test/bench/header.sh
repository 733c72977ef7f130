#!/bin/sh
# Prints the first lines of a file of results: the command, the commit and the compiler.
#
#   test/bench/header.sh COMMAND [name=value ...]
#
# COMMAND -: the output that follows names its command itself. A commit that ends in -dirty had
# changes outside docs that were not committed. arch=ARCH adds QEMU's version for it.
set -eu
cd "$(dirname "$0")/../.."
command=$1
shift
qemu=
for pair; do
	case $pair in
	arch=*)
		version=$("qemu-system-${pair#*=}" --version)
		qemu=", QEMU $(echo "$version" | sed -n 's/^QEMU emulator version \([^ ]*\).*/\1/p')" ;;
	esac
done
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain -- . ':!docs' 2>/dev/null)" ] || commit=$commit-dirty
compiler=$(gcc -dumpfullversion)
[ "$command" = - ] || printf '# %s\n' "$command"
printf '# commit %s%s; gcc %s%s\n' "$commit" "$([ $# -eq 0 ] || printf '; %s' "$*")" "$compiler" \
	"$qemu"
