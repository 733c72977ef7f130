#!/bin/sh
# watchd's page in headless Chromium: a recording of a booted run is served to it, so that the
# browser, which runs in the host's time, sees the same every time.
. "${0%/*}/lib.sh"

once || skip_all "the page is the same on every architecture"
playwright=${B:-build}/web/playwright
version=1.65.1
command -v npm >/dev/null && [ -x /usr/bin/chromium ] || skip_all "no npm or no chromium"
[ -s "${B:-build}/web/uplot/uPlot.iife.min.js" ] || skip_all "the page was built without charts"
[ -d "$playwright/node_modules/playwright-core" ] ||
	npm install --silent --prefix "$playwright" "playwright-core@$version" >"$work/npm" 2>&1 ||
	skip_all "npm could not fetch playwright-core"

boot machine=openpower720 timeout=200 -- -- sched.policy=cluster watchd over=local \
	token=0123456789abcdef '&' scoreboard ms=250 '&' watchask 18 /events GET /api/state
status_is 0 "a run is recorded"
mkfifo "$work/end"
python3 test/qemu/watch_replay.py "${B:-build}/web/page.html" "$console" 0 50 <"$work/end" \
	>"$work/url" &
exec 7>"$work/end"
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -s "$work/url" ] || sleep 0.5; done
pictures=${B:-build}/out/watch
mkdir -p "$pictures"
NODE_PATH=$playwright/node_modules timeout 200 node test/qemu/watch_page.js \
	"$(cat "$work/url")" recorded-token-1 "$pictures" >"$work/checked" 2>"$work/failed" || :
exec 7>&-
cat "$work/failed" >&2
while read -r verdict what; do
	r=1
	[ "$verdict" != ok ] || r=0
	result $r "$what"
done <"$work/checked"
within "$(wc -l <"$work/checked")" 20 40 "all was checked"
done_testing
