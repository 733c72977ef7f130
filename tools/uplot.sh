#!/bin/sh
# Fetches uPlot, which draws the charts of watchd's page, from npm's registry.
#   tools/uplot.sh DIR     leaves uPlot.iife.min.js, uPlot.min.css and LICENSE there, and in
#                          DIR/found the version. Without npm or network DIR/found says why, and so
#                          does a line: the page is built without charts. npm is then asked again
#                          after an hour
set -eu
version=1.6.32
sum=4b8a8191e425658e3ea8c8c1314b0fc679c861ee3a1af2b20c7b16ba50b5133d
dir=$1
mkdir -p "$dir"
found() { # TEXT: notes it where it is new
	[ "$(cat "$dir/found" 2>/dev/null)" = "$1" ] || printf '%s\n' "$1" >"$dir/found"
}
miss() { # WHY
	[ "$(cat "$dir/found" 2>/dev/null)" = "$1" ] ||
		printf 'uplot: event=missing: %s: the page of watchd is built without charts\n' "$1" >&2
	found "$1"
	exit 0
}
[ ! -s "$dir/uPlot.iife.min.js" ] || [ "$(cat "$dir/found")" != "$version" ] || exit 0
# Asking a registry that does not answer takes npm a while: not in every build.
[ -z "$(find "$dir/tried" -mmin -60 2>/dev/null)" ] || exit 0
command -v npm >/dev/null 2>&1 || miss "npm is not installed (Debian's package npm)"
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-uplot.XXXXXX")
trap 'rm -rf "$work"' EXIT
touch "$dir/tried"
npm pack --silent --fetch-retries=0 --fetch-timeout=20000 --pack-destination "$work" "uplot@$version" >"$work/log" 2>&1 ||
	miss "npm could not fetch uplot@$version"
archive=$work/uplot-$version.tgz
[ "$(sha256sum "$archive" | cut -d ' ' -f 1)" = "$sum" ] || miss "uplot@$version is not the known one"
tar -xzf "$archive" -C "$work"
cp "$work/package/dist/uPlot.iife.min.js" "$work/package/dist/uPlot.min.css" \
	"$work/package/LICENSE" "$dir"
rm "$dir/tried"
found "$version"
