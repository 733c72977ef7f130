#!/bin/sh
# A machine that stands still for longer than the watchdog of debug builds waits goes on.
. "${0%/*}/lib.sh"
cp "$kernel" "$work/kernel"
kernel=$work/kernel

# Stops QEMU while programs run. Leaves "paused" in $work/paused if it did.
pause() {
	while ! grep -aq '^run: ' "$console"; do sleep 0.2; done 2>/dev/null
	sleep 1
	pid=$(pgrep -f "^qemu-system-.* $kernel( |\$)")
	kill -STOP "$pid"
	sleep 33
	kill -CONT "$pid" && echo paused >"$work/paused"
}
: >"$console"
pause &
boot smp=4 timeout=150 -- -- phases kind=sort size=10000 rounds=1000
wait
r=0
[ -s "$work/paused" ] || r=1
result $r "the machine stood still"
status_is 0 "... went on"
says '^RESULT app=phases .* check=ok$' "... and its program ended"
done_testing
