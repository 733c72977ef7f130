#!/bin/sh
# Two cards, each with an address and an instance of lwIP of its own: a program of Linux's that is
# bound to one's address talks over the simulated machine's wire with one that listens at the
# other's, in model time.
. "${0%/*}/lib.sh"
use vigil

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -pthread -o "$work/across" test/bench/linux/across.c
tar -C "$work" -cf "$work/initrd.tar" across
with="net.ip=10.0.0.1/24 net.ip1=10.0.0.2/24"

across() { # WHAT MACHINE PLUGIN ARGUMENTS...
	what=$1 machine=$2 plugin=$3
	shift 3
	boot machine="$machine" plugin="$plugin" timeout=100 "initrd=$work/initrd.tar" -- $with "$@"
	status_is 0 "$what: bytes arrive as they were sent"
}

# 100 megabits a second and 0.1 ms: 1 MB in frames of at most 1538 bytes on the wire, 1460 of them
# data, takes 88.4 million cycles, and each way 64 bytes take 0.12.
across "a slow wire" openpower720 wire=8,wire_mbps=100,wire_latency=100000 \
	-- /across 10.0.0.1 0 10.0.0.2 4 50 1
line "net device=wire0 ip=10.0.0.1/24 by=argument instances=2" "... a line says what the first card is"
line "net device=wire1 ip=10.0.0.2/24 by=argument" "... and the second"
line "ACROSS cycles=222000..350000 from=10.0.0.2" "... a request takes the wire's time"
line "ACROSS bytes=1048576 wrong=0 transfer_cycles=88400000..95000000" \
	"... and a transfer has its bandwidth"
across "from the first card's address to the second's" openpower720 wire=8 \
	-- /across 10.0.0.2 4 10.0.0.1 0 50 1
line "ACROSS wrong=0 from=10.0.0.1 cycles=10000.." "... over the wire"
across "to a listener at all addresses" openpower720 wire=8 \
	-- /across 0.0.0.0 4 10.0.0.2 0 50 1
across "8 instances, a slower wire" openpower720 wire=8,wire_mbps=1000 net.instances=8 \
	-- /across 10.0.0.1 0 10.0.0.2 4 50 1
across "the second card's own address" openpower720 wire=1,wire_latency=1000000 \
	-- /across 10.0.0.2 4 10.0.0.2 0 50 1
line "ACROSS cycles=..200000 from=10.0.0.2" "... is reached without the wire"
across "after a bind to the other card's address, which was taken" openpower720 \
	wire=8,wire_latency=1000000 -- /across 10.0.0.2 4 10.0.0.1 0 20 1 taken
line "ACROSS wrong=0 from=10.0.0.1 cycles=2000000.." "... over the wire"
across "one CPU" uniprocessor wire=1 net.instances=2 -- /across 10.0.0.1 0 10.0.0.2 0 50 1
with="net.ip=10.0.0.2/24 net.ip1=10.0.0.1/24 net.device=wire1 net.device1=wire0"
across "cards by their names" openpower720 wire=2 -- /across 10.0.0.1 4 10.0.0.2 0 50 1
line "net device=wire1 ip=10.0.0.2/24" "... the first"
line "net device=wire0 ip=10.0.0.1/24" "... and the second"

use vigil-test
refused() { # "ARGUMENTS" LINE WHAT
	boot machine=openpower720 plugin=wire=1 timeout=60 -- $1 -- hello
	line "$2" "$3"
}
refused net.ip1=10.0.0.2 "boot event=refused argument=net.ip1 reason=value" \
	"an address without its network is refused"
says "none or A.B.C.D/N, N from 1 to 31" "... with what is accepted"
refused net.device1=wire7 "boot event=refused argument=net.device1 reason=value" \
	"a card that is never there"
refused "net.ip=10.0.0.1/24 net.ip1=10.0.0.1/8" "net event=refused reason=arguments" \
	"the first card's address"
refused "net.ip=10.0.0.1/24 net.device1=wire1" "net event=refused reason=arguments" \
	"a second card without an address"
refused "net.ip=10.0.0.1/24 net.ip1=10.0.0.2/24 net.device1=igb0" "net event=refused reason=device" \
	"a second card that is not there"
refused "net.ip=10.0.0.1/24 net.ip1=10.0.0.2/24 net.device1=wire0" \
	"net event=refused reason=device" "the first card as the second"
line "net device=wire0 ip=10.0.0.1/24" "... which works by itself"
done_testing
