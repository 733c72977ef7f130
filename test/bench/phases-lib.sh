# Reports of ./vigil phases, for functions.sh and steady.sh. The caller has set $out, a folder, and
# $arch. The reports are in $out/text.
#   begin COMMAND                what made the results
#   report HOW NAME WORDS...     runs ./vigil phases with the options HOW; the rest of it is in
#                                $out/NAME
begin() {
	mkdir -p "$out"
	test/bench/header.sh "$1" arch="$arch" >"$out/text"
}
report() {
	how=$1 name=$2
	shift 2
	printf '\n# ./vigil phases %s --smp 2 --arch %s %s\n' "$how" "$arch" "$*" >>"$out/text"
	# shellcheck disable=SC2086
	./vigil phases $how -o "$out/$name" --smp 2 --arch "$arch" "$@" 2>"$out/said" >/dev/null \
		</dev/null || { cat "$out/said" >&2; die "$name failed"; }
	grep -v '^vigil: wrote' "$out/said" >>"$out/text"
}
