#!/bin/sh
# Fetches libpfm4's private event tables, which no binary package has: from its Debian source
# package.
#   tools/libpfm4.sh OUT_DIR       leaves *.h, events/*.h, perfmon/*.h and version there, and
#   found.h: HAVE_name for each
#                                  table of a core's events, since which there are depends on the
#                                  version
# Where no mirror has it found.h and version are left empty: the kernel is then built without
# vendors' events.
set -eu
out=$1
mkdir -p "$out/unpacked"
if ! "$(dirname "$0")/source.sh" libpfm4 "$out/unpacked/archive" 2>/dev/null; then
	: >"$out/found.h"
	: >"$out/version"
	echo "libpfm4: cannot be fetched (log in build/apt/source/log): building without vendors' names of events; to try again: rm -r $out build/events" >&2
	exit 0
fi
tar -xf "$out/unpacked/archive" -C "$out/unpacked" --wildcards '*/lib/*_priv.h' '*/include/perfmon/*.h' \
	'*/lib/events/intel_*.h' '*/lib/events/amd64_*.h' '*/lib/events/arm_*.h'
source=$(dirname "$(find "$out/unpacked" -maxdepth 2 -name lib)")
[ -d "$source/lib/events" ] || { echo "libpfm4: error: no lib/events in the source package" >&2; exit 1; }
rm -rf "$out/events" "$out/perfmon"
mv "$source"/lib/*_priv.h "$source/lib/events" "$source/include/perfmon" "$out"
mv "$out/unpacked/archive.version" "$out/version"
sed -nE 's/^static (const )?[a-z0-9_]+_entry_t ([a-z0-9_]+)\[\].*/#define HAVE_\2 1/p' "$out"/events/*.h | grep -v unc_ >"$out/found.h"
rm -rf "$out/unpacked"
