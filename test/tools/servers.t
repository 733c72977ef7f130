#!/bin/sh
# Unmodified servers of Debian with clients of Debian, in Vigil: answers to the byte, and loads of
# several connections. Left out where packages cannot be fetched.
. "${0%/*}/../qemu/lib.sh"
. test/bench/servers-lib.sh

over=${OVER:-unix} conf=$work/nginx.conf
head -c 100000 /dev/urandom | base64 >"$work/text.txt"
write_nginx_conf "$work"
served() { # SERVER CLIENT word... ; leaves output in $console, standard error in $work/said
	server=$1
	shift
	booted=" ./vigil run $server: $*"
	status=0
	./vigil run --arch "$arch" --machine qemu --smp 2 --timeout 120 --deb "$(debs "$server")" \
		--file "$work/text.txt" --file "$conf" --beside "$(server_command "$server")" \
		--await "$(place "$server")" -- "$@" </dev/null >"$console" 2>"$work/said" || status=$?
}
same() { # NAME OPTION... WHAT: the console begins with the file
	r=0
	head -c "$(wc -c <"$work/text.txt")" "$console" | cmp -s - "$work/text.txt" || r=1
	result $r "$1"
}
mem= redis="-s $(place redis)" curl="--unix-socket $(place nginx) http://here" \
	h2load="--base-uri=unix:$(place nginx) http://here"
[ "$over" = unix ] || redis="-p $(place redis)" curl="http://127.0.0.1:$(place nginx)" h2load=$curl mem=127.0.0.1:
mem=$mem$(place memcached)

# shellcheck disable=SC2086
served redis redis-cli $redis set key 'the value' -- redis-cli $redis get key -- \
	redis-cli $redis eval "return redis.call('incrby', 'n', 41) + 1" 0 -- \
	redis-benchmark $redis -q -n 200 -c 8 -P 4 -t set,lpush,get,mset
grep -q '^vigil: .*\(E: \|apt-get\|closure\)' "$work/said" && skip_all "no packages of Debian"
status_is 0 "redis-server answers, and ends when it is told to"
says '^the value' "... with the value that it has been given"
says '^42' "... and that of a Lua script"
r=0; [ "$(tr '\r' '\n' <"$console" | grep -c 'requests per second')" -eq 4 ] || r=1
result $r "... redis-benchmark's eight connections get all their answers"

served memcached memccp --servers="$mem" "$work/text.txt" -- memccat --servers="$mem" text.txt -- \
	memcslap --servers="$mem" --concurrency=4 --execute-number=50 --test=get
status_is 0 "memcached answers, and ends when it is told to"
same "... with the file that it has been given, to the byte"
says 'Time to get  *200 keys by  *4 threads' "... memcslap's four threads get all their keys"

# shellcheck disable=SC2086
served nginx curl -s $curl/text.txt -- curl -s -o /tmp/none -w '%{http_code}\n' $curl/none -- \
	h2load --h1 -n 60 -c 6 $h2load/text.txt
status_is 0 "nginx answers, and ends when it is told to"
same "... with the file that lies there, to the byte"
says '^404' "... with an error for one that does not"
says ' 60 succeeded, 0 failed, 0 errored' "... h2load's six connections get all their answers"
done_testing
