#!/bin/sh
# The network from outside, through QEMU's user network: addresses by DHCP and by argument, curl
# against a server in the guest, a client in the guest against a server here; tshark judges what the
# card has sent.
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/web" test/linux/web.c
tar -C "$work" -cf "$work/initrd.tar" web
dump=$work/dump

# A port of this host that is free now.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Boots the server and does COMMANDS against it, at $at, when it answers.
against() { # COMMANDS, tools/qemu.sh arguments
	commands=$1
	shift
	port=$(free_port)
	at=http://127.0.0.1:$port
	( # curl connects to QEMU at once, and has its answer when the server listens
		tries=0
		until curl -s -m 2 "$at/" >/dev/null 2>&1 || [ $((tries += 1)) -gt 60 ]; do sleep 0.2; done
		$commands >"$work/outside" 2>&1
		curl -s -m 10 "$at/end" >/dev/null 2>&1
	) &
	boot "$@" net=user,"$port":80 netdump="$dump" timeout=120 "initrd=$work/initrd.tar" \
		-- -- /web serve
	wait
}
outside() { # LINE WHAT
	r=0
	grep -qxF -- "$1" "$work/outside" || r=1
	result $r "$2"
	[ $r -eq 0 ] || sed 's/^/#   /' "$work/outside" >&2
}
frames() { # FILTER LEAST MOST WHAT
	within "$(tshark -n -r "$dump" -o tcp.check_checksum:TRUE -o ip.check_checksum:TRUE \
		-Y "$1" 2>/dev/null | wc -l)" "$2" "$3" "$4"
}

head -c 2000000 /dev/urandom >"$work/up"
expected=$(python3 - "$work/up" <<-'EOF'
	import sys
	total = 0
	for byte in open(sys.argv[1], "rb").read():
	    total = (total * 31 + byte) % 2**64
	print(2000000, total)
EOF
)
large=$(python3 -c 'import hashlib
print(hashlib.md5(bytes(97 + i * 7 % 26 for i in range(4 << 20))).hexdigest())')

whole() {
	curl -s -m 10 "$at/"
	curl -s -m 60 "$at/large" | md5sum | cut -d ' ' -f 1
	curl -s -m 60 --data-binary "@$work/up" -H Expect: "$at/sum"
	seq 40 | xargs -P 8 -I X curl -s -m 30 "$at/" | sort | uniq -c | awk '{ print $1, $2 }'
}
against whole smp=2
status_is 0 "virtio: the server ends when it is told to"
line "net device=virtio0 mac=52:54:00:12:34:56 ip=10.0.2.15/24 by=dhcp gateway=10.0.2.2" \
	"a line says which address a server gave"
outside vigil "a page"
outside "$large" "4 MB out, as they were"
outside "$expected" "2 MB in, as they were"
outside "40 vigil" "40 connections, 8 at once"
frames "_ws.malformed" 0 0 "tshark sees nothing malformed"
frames "ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0" 0 0 \
	"... and no wrong checksum"
frames "dhcp.option.dhcp == 3" 1 2 "... a request for an address"
# What comes before the server listens is refused, with the sequence number 0.
frames "tcp.flags.reset == 1 && tcp.seq_raw != 0 && ip.src == 10.0.2.15" 0 0 \
	"... no connection that was reset"

for card in e1000e:1 igb:8; do
	against whole smp=${card#*:} nic=${card%:*}
	status_is 0 "${card%:*}, ${card#*:} CPUs"
	outside "$large" "... 4 MB out"
	outside "$expected" "... 2 MB in"
	outside "40 vigil" "... 40 connections"
done

# A server here, and a client in the guest with an address of its own.
port=$(free_port)
mkdir "$work/pages"
cp "$work/up" "$work/pages/up"
python3 -m http.server --bind 127.0.0.1 --directory "$work/pages" "$port" >/dev/null 2>&1 &
server=$!
trap 'kill $server; rm -rf "$work"' EXIT
tries=0
until curl -s -m 2 "http://127.0.0.1:$port/" >/dev/null 2>&1 || [ $((tries += 1)) -gt 100 ]; do
	sleep 0.1
done
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" \
	-- net.ip=10.0.2.20/24 net.gateway=10.0.2.2 -- /web fetch 10.0.2.2 "$port" /up
status_is 0 "an address by argument"
line "net device=virtio0 ip=10.0.2.20/24 by=argument gateway=10.0.2.2" "... which a line says"
line "web bytes=2000000 sum=${expected#* }" "... and a file from outside, as it is there"
kill $server
trap 'rm -rf "$work"' EXIT
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" -- -- /web fetch 10.0.2.2 "$port" /up
status_is 1 "a server that is not there"
says "Connection refused" "... refuses"
boot smp=1 net=user timeout=60 "initrd=$work/initrd.tar" -- net=off -- /web fetch 10.0.2.2 80 /
status_is 1 "no network"
says "Network is unreachable" "... leads nowhere"
no_line "net device=virtio0" "... and the card is left alone"

refused() { # ARGUMENT "KEYS" WHAT
	boot smp=1 net=user timeout=60 -- "$1" -- hello
	status_is 2 "$3"
	line "boot event=refused argument=${1%%=*} $2" "... is named"
}
refused net.ip=10.0.2.300/24 reason=value "an address that is none"
refused net.ip=10.0.2.3 reason=value "an address without its network"
refused net.ip=10.0.2.3/32 reason=value "a network without hosts"
refused net.gateway=10.0.2.2/24 reason=value "a gateway that is a network"
boot smp=1 net=user timeout=60 -- net.ip=10.0.2.20/24 net.gateway=10.0.3.2 -- hello
line "net event=refused reason=arguments" "a gateway outside of the network"
boot smp=1 net=user timeout=60 -- net.device=igb0 -- hello
line "net event=refused reason=device" "a card that is not there"
done_testing
