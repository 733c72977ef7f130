#!/bin/sh
# Fetches libfdt's sources, of which no binary package has any: from its own Debian source package,
# or where a mirror lacks that, from one that carries a copy.
#   tools/libfdt.sh OUT_DIR       leaves fdt.c, fdt_ro.c and their headers there; the header that
#                                 adapts them to where they run is
#                                 kernel/firmware/libfdt/libfdt_env.h
set -eu
out=$1
mkdir -p "$out/unpacked"
for package in device-tree-compiler arm-trusted-firmware; do
	if "$(dirname "$0")/source.sh" $package "$out/unpacked/archive" 2>>"$out/unpacked/errors"; then
		tar -xf "$out/unpacked/archive" -C "$out/unpacked" --wildcards '*/libfdt/*.[ch]'
		break
	fi
done
for name in fdt.c fdt_ro.c fdt.h libfdt_internal.h libfdt.h; do
	found=$(find "$out/unpacked" -name $name | head -n 1)
	[ -n "$found" ] || { cat "$out/unpacked/errors" >&2; echo "libfdt: error: no $name in the source package" >&2; exit 1; }
	mv "$found" "$out/$name"
done
rm -rf "$out/unpacked"
