#!/bin/sh
# Debian's ip, unmodified: interfaces, addresses and routes; loopback as the host's Linux has it.
. "${0%/*}/../qemu/lib.sh"

asked() { # WORDS... ; leaves what ip says in $console
	booted=" ip $*"
	status=0
	./vigil run --arch "$arch" --machine qemu --smp 2 --net user --deb iproute2 --timeout 120 \
		-- ip "$@" >"$console" 2>"$work/stderr" || status=$?
}
asked link
status_is 0 "ip link"
says '^1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN' "... loopback"
says '^2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 .* state UP' "... a card"
says '^    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff$' "... with its address"
asked address
status_is 0 "ip address"
says '^    inet 127.0.0.1/8 scope host lo$' "... of loopback"
says '^    inet 10.0.2.15/24 brd 10.0.2.255 scope global eth0$' "... of the card"
asked -4 -br addr show dev eth0
says '^eth0 +UP +10.0.2.15/24' "... of a card by name, in short"
asked route
status_is 0 "ip route"
says '^default via 10.0.2.2 dev eth0 proto dhcp' "... the way out"
says '^10.0.2.0/24 dev eth0 proto kernel scope link src 10.0.2.15' "... the card's network"
asked route add 10.9.0.0/16 via 10.0.2.2
status_is 2 "ip route add"
mv "$work/stderr" "$console" && : >"$work/stderr"
says 'Operation not supported' "... is refused"
asked link show dev lo
if command -v ip >/dev/null 2>&1 && [ "$(uname -m)" = "$arch" ]; then
	ip link show dev lo >"$work/linux"
	r=0
	cmp -s "$work/linux" "$console" || r=1
	result $r "loopback is shown as Linux shows it"
fi
done_testing
