# Servers of Debian's packages as test/tools/servers.t and test/bench/servers.sh start them, each by
# a folder's socket or by TCP: over=unix, over=tcp.
#   debs SERVER              the packages of a server and its clients
#   place SERVER             where it listens: the path of its socket, or its port
#   server_command SERVER    its command
#   write_nginx_conf ROOT    the file of nginx's command, $conf
debs() {
	case $1 in
	redis) echo redis-server,redis-tools ;;
	memcached) echo memcached,libmemcached-tools ;;
	nginx) echo nginx-light,curl,nghttp2-client,wrk ;;
	esac
}
place() {
	case $over:$1 in
	unix:*) echo "/tmp/$1.sock" ;;
	tcp:redis) echo 6379 ;;
	tcp:memcached) echo 11211 ;;
	tcp:nginx) echo 8080 ;;
	esac
}
server_command() {
	at=$(place "$1")
	case $over:$1 in
	# The test that the warning names reads /proc/self/smaps, which there is not.
	unix:redis) echo "redis-server --port 0 --unixsocket $at --save '' --ignore-warnings ARM64-COW-BUG" ;;
	tcp:redis) echo "redis-server --bind 127.0.0.1 --port $at --save '' --ignore-warnings ARM64-COW-BUG" ;;
	unix:memcached) echo "memcached -u root -t ${threads:-4} -s $at" ;;
	tcp:memcached) echo "memcached -u root -t ${threads:-4} -l 127.0.0.1 -p $at" ;;
	*:nginx) echo "nginx -c $conf" ;;
	esac
}
write_nginx_conf() {
	case $over in
	unix) listen=unix:$(place nginx) ;;
	tcp) listen=127.0.0.1:$(place nginx) ;;
	esac
	sed "s,LISTEN,$listen,; s,ROOT,$1," test/bench/nginx.conf >"$conf"
}
