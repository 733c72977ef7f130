#!/bin/sh
# A flood from outside: SYNs, ACKs, resets and fragments of addresses that are not there arrive by
# the second card as fast as QEMU passes them on, while others are served by the first.
#   FRAMES=N   of each flood
. "${0%/*}/lib.sh"

compiler=$arch-linux-gnu-gcc
command -v "$compiler" >/dev/null 2>&1 || skip_all "no $compiler"
"$compiler" -O1 -static -o "$work/web" test/linux/web.c
tar -C "$work" -cf "$work/initrd.tar" web
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
port=$(free_port)
at=http://127.0.0.1:$port

outside() {
	tries=0
	until curl -s -m 2 "$at/" >/dev/null 2>&1 || [ $((tries += 1)) -gt 60 ]; do sleep 0.2; done
	python3 test/qemu/flood.py "$work/outside" "$work/qemu" "${FRAMES:-30000}" >"$work/flood" &
	flood=$!
	sleep 1
	for _ in $(seq 20); do curl -s -m 30 "$at/"; done | sort | uniq -c >"$work/during"
	wait $flood
	seq 40 | xargs -P 8 -I X curl -s -m 30 "$at/" | sort | uniq -c >"$work/after"
	curl -s -m 10 "$at/end" >/dev/null 2>&1
}
served() { # FILE N WHAT
	r=0
	[ "$(awk '{ print $1, $2 }' "$work/$1")" = "$2 vigil" ] || r=1
	result $r "$3"
	[ $r -eq 0 ] || sed 's/^/#   /' "$work/$1" >&2
}

for fragments in off on; do
	rm -f "$work/outside" "$work/qemu"
	more="-netdev dgram,id=flood,local.type=unix,local.path=$work/qemu"
	more="$more,remote.type=unix,remote.path=$work/outside"
	more="$more -device virtio-net-pci,netdev=flood,mac=52:54:00:12:34:99,romfile="
	outside &
	boot smp=2 net=user,"$port":80 timeout=200 "initrd=$work/initrd.tar" -- net.ip1=10.9.0.1/24 \
		net.fragments=$fragments -- /web serve
	wait
	more=
	status_is 0 "a flood, net.fragments=$fragments: the server ends when it is told to"
	line "net device=virtio1 ip=10.9.0.1/24" "... the second card has its address"
	sed 's/^/# /' "$work/flood"
	within "$(sed -n 's/.*sent=\([0-9]*\).*/\1/p' "$work/flood")" "${FRAMES:-30000}" \
		"${FRAMES:-30000}" "... all of it was sent"
	within "$(sed -n 's/.*answered=//p' "$work/flood")" 2000 1000000 \
		"... SYNs are answered, more than half-open connections are kept"
	served during 20 "... 20 requests are answered meanwhile"
	served after 40 "... and 40 afterwards"
	line "net event=dropped frames=100.." "... what is no packet is dropped"
	no_line panic "... and the kernel did not panic"
done
done_testing
