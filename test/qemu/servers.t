#!/bin/sh
# The bundled servers and their users: what is said is heard, and the sites' sums hold.
. "${0%/*}/lib.sh"

use vigil-test
for over in local tcp; do
	boot smp=4 timeout=120 -- -- chat over=$over ms=300 ';' chat over=$over layout=mixed rooms=2 users=3 ms=100 ';' \
		auction over=$over ms=300
	status_is 0 "$over: chat, chat with data of all rooms together, auction"
	line "chat rooms=4 users=8 said=1.. delivered=8.. check=ok" "... what was said was delivered"
	line "chat rooms=2 users=3 said=1.. delivered=3.. check=ok" "... with the other layout, too"
	line "RESULT app=chat threads=32 groups=4 ops=1.. check=ok" "... users heard it in order"
	line "auction sites=2 users=8 requests=1.. changes=1.. check=ok" "... the sites' sums hold"
	line "RESULT app=auction threads=16 groups=2 ops=1.. check=ok" "... replies were right"
	no_line panic "... and the kernel did not panic"
done
boot smp=1 timeout=60 -- -- chat role=users ms=100
line "chat event=no_server" "users without a server end with a line"
status_is 1 "... and with status 1"
done_testing
