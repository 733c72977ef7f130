#!/bin/sh
# Unmodified servers of Debian in Vigil under loads from this host, through QEMU's user network:
# redis-benchmark, wrk and iperf3. Left out where packages cannot be fetched.
. "${0%/*}/../qemu/lib.sh"

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# Starts a server whose port in the machine is this host's $port, and waits for READY here.
serve() { # PORT PACKAGES READY, options of ./vigil run -- the server's command
	port=$(free_port) guest=$1 packages=$2 ready=$3
	shift 3
	./vigil run --arch "$arch" --machine qemu --smp 4 --timeout 180 --net "$port:$guest" \
		--deb "$packages" "$@" </dev/null >"$console" 2>"$work/said" &
	server=$!
	tries=0
	until $ready >/dev/null 2>&1; do
		kill -0 $server 2>/dev/null && [ $((tries += 1)) -le 120 ] || break
		sleep 1
	done
	grep -q '^vigil: .*\(E: \|apt-get\|closure\)' "$work/said" && skip_all "no packages of Debian"
}
finish() {
	kill $server 2>/dev/null
	wait $server
}
load() { # WHAT command...
	what=$1 r=0
	shift
	timeout 60 "$@" >"$work/load" 2>&1 </dev/null || r=$?
	result $r "$what"
	[ $r -eq 0 ] || sed 's/^/#   /' "$work/load" "$work/said" "$console" >&2
}

# QEMU takes connections at once, which then wait for the server.
answers() { timeout 2 redis-cli -p "$port" ping | grep -q PONG; }
serve 6379 redis-server answers -- redis-server --save '' --protected-mode no \
	--ignore-warnings ARM64-COW-BUG
load "redis-benchmark's connections from this host get their answers" \
	redis-benchmark -p "$port" -c 2 -n 500 -q -t set,get,lpush
within "$(tr '\r' '\n' <"$work/load" | grep -c 'requests per second')" 3 3 "... of three kinds"
finish

echo 'a page' >"$work/page.txt"
sed "s,LISTEN,8080,; s,ROOT,$work," test/bench/nginx.conf >"$work/nginx.conf"
answers() { curl -s -m 2 "http://127.0.0.1:$port/page.txt" | grep -qx 'a page'; }
serve 8080 nginx-light answers --file "$work/nginx.conf" --file "$work/page.txt" \
	-- nginx -c "$work/nginx.conf"
load "wrk's connections get their pages from nginx" \
	wrk -t 1 -c 2 -d 2s "http://127.0.0.1:$port/page.txt"
within "$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' "$work/load")" 10 10000000 "... some of them"
grep -q 'Socket errors\|Non-2xx' "$work/load"
result $((!$?)) "... without an error"
finish

answers() { timeout 20 iperf3 -c 127.0.0.1 -p "$port" -n 100K; }
# iperf3 -J: the bytes that its two ends have counted.
counted() {
	python3 -c 'import json, sys
end = json.load(open(sys.argv[1]))["end"]
print(end["sum_sent"]["bytes"], end["sum_received"]["bytes"])' "$work/load"
}
serve 5201 iperf3 answers -- iperf3 -s
# What is on its way when the client has sent all does not count, says iperf3.
for way in '' -R; do
	# shellcheck disable=SC2086
	load "iperf3 sends 32 MB ${way:+back }over two connections" \
		iperf3 -c 127.0.0.1 -p "$port" -n 32M -P 2 -J $way
	counts=$(counted)
	least=$([ "$way" ] && echo $((32 << 20)) || echo $((16 << 20)))
	within "${counts#* }" "$least" "$((${counts% *} + 0))" "... which arrive: ${counts% *} sent"
done
finish
done_testing
