#!/bin/sh
# Unmodified servers of Debian with clients of Debian, in Vigil: answers to the byte, and loads of
# several connections. Left out where packages cannot be fetched.
. "${0%/*}/../qemu/lib.sh"
. test/bench/servers-lib.sh

conf=$work/nginx.conf
head -c 100000 /dev/urandom | base64 >"$work/text.txt"
served() { # SERVER CLIENT word... ; leaves output in $console, standard error in $work/said
	server=$1
	shift
	booted=" ./vigil run $server: $*"
	status=0
	./vigil run --arch "$arch" --machine qemu --smp 2 --timeout 120 --deb "$(debs "$server")" \
		--file "$work/text.txt" --file "$conf" --beside "$(server_command "$server")" \
		--await "$(place "$server")" -- "$@" </dev/null >"$console" 2>"$work/said" || status=$?
}
same() { # WHAT: the console begins with the file
	r=0
	head -c "$(wc -c <"$work/text.txt")" "$console" | cmp -s - "$work/text.txt" || r=1
	result $r "$1"
}

for over in unix tcp; do
	write_nginx_conf "$work"
	case $over in
	unix)
		redis="-s $(place redis)" mem=$(place memcached) curl="--unix-socket $(place nginx) http://here"
		load="h2load --h1 -n 60 -c 6 --base-uri=unix:$(place nginx) http://here" \
			loaded=' 60 succeeded, 0 failed, 0 errored' ;;
	tcp)
		redis="-p $(place redis)" mem=127.0.0.1:$(place memcached) curl=http://127.0.0.1:$(place nginx)
		load="wrk -t 2 -c 6 -d 1s $curl" loaded=' [1-9][0-9]* requests in ' ;;
	esac

	# shellcheck disable=SC2086
	served redis redis-cli $redis set key 'the value' -- redis-cli $redis get key -- \
		redis-cli $redis eval "return redis.call('incrby', 'n', 41) + 1" 0 -- \
		redis-benchmark $redis -q -n 200 -c 8 -P 4 -t set,lpush,get,mset
	grep -q '^vigil: .*\(E: \|apt-get\|closure\)' "$work/said" && skip_all "no packages of Debian"
	status_is 0 "over $over: redis-server answers, and ends when it is told to"
	says '^the value' "... with the value that it has been given"
	says '^42' "... and that of a Lua script"
	r=0; [ "$(tr '\r' '\n' <"$console" | grep -c 'requests per second')" -eq 4 ] || r=1
	result $r "... redis-benchmark's eight connections get all their answers"

	served memcached memccp --servers="$mem" "$work/text.txt" -- \
		memccat --servers="$mem" text.txt -- \
		memcslap --servers="$mem" --concurrency=4 --execute-number=50 --test=get
	status_is 0 "over $over: memcached answers, and ends when it is told to"
	same "... with the file that it has been given, to the byte"
	says 'Time to get  *200 keys by  *4 threads' "... memcslap's four threads get all their keys"

	# shellcheck disable=SC2086
	served nginx curl -s $curl/text.txt -- curl -s -o /tmp/none -w '%{http_code}\n' $curl/none -- \
		$load/text.txt
	status_is 0 "over $over: nginx answers, and ends when it is told to"
	same "... with the file that lies there, to the byte"
	says '^404' "... with an error for one that does not"
	says "$loaded" "... ${load%% *}'s six connections get their answers"
	says_not 'Socket errors|Non-2xx' "... without an error"
done
done_testing
