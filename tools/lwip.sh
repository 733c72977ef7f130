#!/bin/sh
# Fetches lwIP 2.2.1 with Debian's patches, of which no binary package has the sources: from the
# source package of Debian 13, on Debian 12 as well, whose own is older. Then applies the kernel's
# changes, kernel/net/lwip/lwip.patch.
#   tools/lwip.sh OUT_DIR       leaves lwIP's src/ and test/ in OUT_DIR, and its version there
set -eu
out=$1
here=$(dirname "$0")
mkdir -p "$out/unpacked"
"$here/source.sh" lwip "$out/unpacked/archive" trixie
tar -xf "$out/unpacked/archive" -C "$out/unpacked" --strip-components=1
mkdir "$out/unpacked/packaging"
tar -xf "$out/unpacked/archive.debian" -C "$out/unpacked/packaging"
series=$out/unpacked/packaging/debian/patches/series
[ ! -f "$series" ] || sed 's/#.*//' "$series" | while read -r name _; do
	[ -z "$name" ] || patch -d "$out/unpacked" -p1 -s <"$out/unpacked/packaging/debian/patches/$name" ||
		{ echo "lwip: error: Debian's patch $name does not fit" >&2; exit 1; }
done
patch -d "$out/unpacked" -p1 -s --no-backup-if-mismatch <"$here/../kernel/net/lwip/lwip.patch" ||
	{ echo "lwip: error: kernel/net/lwip/lwip.patch does not fit" >&2; exit 1; }
rm -rf "$out/src" "$out/test"
mv "$out/unpacked/src" "$out/unpacked/test" "$out"
mv "$out/unpacked/archive.debian.version" "$out/version"
rm -rf "$out/unpacked"
