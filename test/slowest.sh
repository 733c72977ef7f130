#!/bin/sh
# Says which test files took longest, from the notes that `make test` has prove make:
# test/slowest.sh FOLDER [NUMBER]
set -eu
for notes in "$1"/*.yml; do
	awk -v of="$(basename "$notes" .yml)" '
		/^  [^ ].*:$/ { sub(/:$/, ""); gsub(/[ "]/, ""); sub(/.*\//, ""); file = $0 }
		/^    elapsed: / { printf "%8.0f s  %-16s %s\n", $2, of, file }' "$notes"
done | sort -rn | head -n "${2:-10}" | { echo "test: the files that took longest:"; cat; }
