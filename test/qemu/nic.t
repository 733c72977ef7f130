#!/bin/sh
# Network cards, opposite QEMU's user network: frames of all sizes arrive as they were sent,
# thousands of them, buffers run out, cards are reset; and what the card has sent is looked at from
# outside. On the simulated machine's wire, in model time, one port is opposite the other.
. "${0%/*}/lib.sh"
use vigil-suites
efi=${B:-build}/$arch/vigil-suites.efi

suite() { # WHAT qemu.sh's arguments
	what=$1
	shift
	boot "$@" timeout=200 -- net=off -- nic
	status_is 0 "$what: the suite ends"
	guest_tap
}
good() { # WHAT qemu.sh's arguments
	suite "$@" net=user
}

# Frames from outside, as tshark decodes them: "FILTER" LEAST MOST WHAT
frames() {
	within "$(tshark -n -r "$dump" -Y "$1" 2>/dev/null | wc -l)" "$2" "$3" "$4"
}

dump=$work/dump
good "virtio" smp=2 netdump="$dump"
line "nic event=found name=virtio0 kind=virtio mac=52:54:00:12:34:56 mtu=1500 queues=1" \
	"a line says which card there is"
line "nic event=link name=virtio0 state=up" "... and that its link is up"
frames "arp.opcode == 1" 4000 6000 "tshark sees the requests"
frames "arp.opcode == 2" 4000 6000 "... and the answers"
frames "icmp.type == 8" 1505 1505 "... each ping"
frames "icmp.type == 0" 1505 1505 "... with its answer"
frames "_ws.malformed || icmp.checksum.status == 0" 0 0 "... and nothing malformed"
good "virtio, one CPU" smp=1
good "virtio, UEFI" efi="$efi" smp=4
good "virtio, each frame in a buffer of its own" smp=2 nic=virtio-net-pci,mrg_rxbuf=off
good "virtio without indirect descriptors" smp=2 nic=virtio-net-pci,indirect_desc=off
good "virtio, one interrupt" smp=2 nic=virtio-net-pci,vectors=1
good "virtio, frames up to 9000 bytes" smp=2 nic=virtio-net-pci,host_mtu=9000
line "nic event=found name=virtio0 mtu=9000" "... which a line says"

for card in e1000e:1 e1000e:2 igb:1 igb:8; do
	good "${card%:*}, ${card#*:} CPUs" smp=${card#*:} nic=${card%:*} netdump="$dump"
	line "nic event=found kind=${card%:*} queues=${card#*:} sums=device" "... which is found"
	frames "icmp.type == 0" 1505 1505 "... and every ping has its answer"
done

suite "wire, 8 queues" machine=openpower720 plugin=wire=8
line "nic event=found name=wire0 kind=wire mac=52:54:00:56:57:00 mtu=1500 queues=8" \
	"a line says which ports there are"
line "nic event=found name=wire1 mac=52:54:00:56:57:01" "... both"
line "nic event=timing kind=wire latency_cycles=5000 mbps=10000" "... and how fast the wire is"
suite "wire, one slow queue" machine=uniprocessor plugin=wire=1,wire_mbps=100,wire_latency=100000
suite "wire, 4 queues" machine=onechip plugin=wire=4,wire_mbps=1000
suite "wire, no time at all" machine=openpower720 smp=2 plugin=wire=2,wire_mbps=0,wire_latency=0

boot smp=1 net=user nic=virtio-net-pci,vectors=0 timeout=60 -- net=off -- nic 1
line "virtio event=refused device=nic reason=interrupts" "no message interrupts: a line says so"
line "# nic=virtio0 open=-5" "... and the card does not open"
boot smp=1 net=user nic=virtio-net-pci,disable-modern=on,disable-legacy=off timeout=60 -- net=off -- nic 1
line "virtio event=refused device=nic reason=interface" "no modern interface: a line says so"
no_line "nic event=found" "... and there is no card"
done_testing
