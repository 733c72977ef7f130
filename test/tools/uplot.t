#!/bin/sh
# The charts of watchd's page: what tools/uplot.sh does without npm, without network, and with an
# archive that is another one; what the page is then. A fake npm stands in for npm's.
cd "$(dirname "$0")/../.."
work=$(mktemp -d "${TMPDIR:-/tmp}/vigil-uplot-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
count=0 failed=0
result() { # STATUS WHAT
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then echo "ok $count - $2"; else failed=1; echo "not ok $count - $2"; fi
}
# Programs that the script may find; npm is one of them where a test makes it.
mkdir "$work/bin"
for name in sh cat mkdir find mktemp rm touch sha256sum cut tar cp printf; do
	path=$(command -v $name)
	[ ! -x "$path" ] || ln -s "$path" "$work/bin/$name"
done
fake_npm() { # SHELL TEXT
	printf '#!/bin/sh\necho asked >>"%s/asked"\n%s\n' "$work" "$1" >"$work/bin/npm"
	chmod +x "$work/bin/npm"
}
uplot() { # DIR: leaves its status in $is, what it said in said
	is=0
	PATH=$work/bin tools/uplot.sh "$work/$1" >"$work/said" 2>&1 || is=$?
}
said() { # STATUS LINES REGEX WHAT
	r=0
	[ "$is" -eq "$1" ] && [ "$(wc -l <"$work/said")" -eq "$2" ] && grep -q -- "$3" "$work/said" || r=1
	[ "$2" -ne 0 ] || [ "$is" -ne "$1" ] || [ -s "$work/said" ] || r=0
	result $r "$4"
	[ $r -eq 0 ] || sed 's/^/# /' "$work/said"
}

uplot none
said 0 1 'npm is not installed' "without npm a line says so, and the build goes on"
uplot none
said 0 0 '' "... once"
fake_npm 'exit 1'
uplot net
said 0 1 'could not fetch' "without network a line says so, and the build goes on"
uplot net
said 0 0 '' "... once"
result "$([ "$(wc -l <"$work/asked")" -eq 1 ]; echo $?)" "... and npm is not asked in every build"
touch -d '2 hours ago' "$work/net/tried"
uplot net
result "$([ "$(wc -l <"$work/asked")" -eq 2 ]; echo $?)" "... but again after an hour"
fake_npm 'for d; do :; done; d=$4; for w; do [ "$p" != --pack-destination ] || d=$w; p=$w; done
echo other >"$d/uplot-1.6.32.tgz"'
uplot other
said 0 1 'not the known one' "an archive that is another one is not taken"
result "$([ ! -e "$work/other/uPlot.iife.min.js" ]; echo $?)" "... nothing of it is"

tools/page.sh apps/tools/watchd/page "$work/none" >"$work/page.html"
result "$([ -s "$work/page.html" ] && ! grep -q '^@include' "$work/page.html"; echo $?)" \
	"the page is made without charts"
result "$(grep -q 'This build has no charts' "$work/page.html"; echo $?)" "... and says so"
echo "1..$count"
exit $failed
