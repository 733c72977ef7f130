#!/bin/sh
# Prints the sharing results of both architectures side by side, from docs/results/sharing-*.txt.
#
#   test/bench/compare.sh >docs/results/architectures.txt
set -eu
cd "$(dirname "$0")/../.."
for arch in x86_64 aarch64; do
	file=docs/results/sharing-$arch.txt
	[ -s "$file" ] || { echo "compare.sh: $file is missing: make bench-sharing ARCH=$arch" >&2; \
		exit 1; }
	sed -n "1,2s/^# /# $arch: /p" "$file"
done
awk '
/^# percent/ { table = 1; arch++; next }
table && /^# [a-z0-9-]+ +-?[0-9.]+ / { if (!($2 in known)) { known[$2] = 1;
	names[++n] = $2 } row[$2, arch] = $0; next }
{ table = 0 }
END {
	split("3 5 7 10", field, " ") # of the rows: "#", name, removed, ..steady, of hand, ...
	printf "%-16s %21s %21s %21s %21s\n", "percent", "removed", "of hand", "gain", "to hand"
	printf "%-16s", ""; for (i = 1; i <= 4; i++) printf " %10s %10s", "x86_64", "aarch64"; print ""
	for (k = 1; k <= n; k++) {
		split(row[names[k], 1], x, " "); split(row[names[k], 2], a, " ")
		printf "%-16s", names[k]
		for (i = 1; i <= 4; i++) printf " %10s %10s", x[field[i]], a[field[i]]
		print ""
	}
}' docs/results/sharing-x86_64.txt docs/results/sharing-aarch64.txt
