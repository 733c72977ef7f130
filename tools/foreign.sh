#!/bin/sh
# Unpacks a Debian package of another architecture, from the mirror the machine is configured for;
# nothing is installed.
#   tools/foreign.sh PACKAGE DEBIAN_ARCHITECTURE DIR       the package's files end up below DIR;
#   architecture all: one
#                                                          that is for every architecture
set -eu
package=$1 architecture=$2 out=$3
cd "$(dirname "$0")/.."
apt_dir=$PWD/build/apt/$architecture
. tools/apt.sh
die() { printf 'foreign: error: %s\n' "$*" >&2; exit 1; }
command -v apt-get >/dev/null 2>&1 || die "no apt-get to fetch the $architecture package $package with"

work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-foreign.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$apt_dir/cache/archives/partial"
listed=$architecture
[ "$architecture" != all ] || listed=amd64 # mirrors list them with each architecture
apt_lists "$apt_dir" deb
# What is installed here is of no interest there.
fetch() {
	apt_private "$apt_dir" -o APT::Architecture="$listed" -o APT::Architectures="$listed" \
		-o Dir::State::status=/dev/null -o Dir::Cache="$apt_dir/cache" -o APT::Sandbox::User=root "$@"
}

printf 'foreign: fetching %s for %s (log in build/apt/%s/log)\n' "$package" "$architecture" "$architecture"
(fetch update && cd "$work" && fetch download "$package") >"$apt_dir/log" 2>&1 ||
	{ tail -n 20 "$apt_dir/log" >&2; die "$package could not be fetched (see above, and $apt_dir/log)"; }
rm -rf "$out"
mkdir -p "$(dirname "$out")"
dpkg-deb -x "$work"/*.deb "$work/unpacked"
mv "$work/unpacked" "$out"
