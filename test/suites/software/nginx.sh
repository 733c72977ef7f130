# nginx with a master and two workers: requests while workers are replaced (reload), and an end.
set -eu
mkdir -p /tmp/www /var/lib/nginx /var/log/nginx
head -c 300000 /dev/urandom >/tmp/www/file
cat >/tmp/nginx.conf <<'.'
user root;
worker_processes 2;
pid /tmp/nginx.pid;
error_log stderr;
events { worker_connections 64; }
http {
	access_log off;
	server { listen 127.0.0.1:8080; root /tmp/www; }
	server { listen unix:/tmp/nginx.sock; root /tmp/www; }
}
.
nginx -c /tmp/nginx.conf
workers() { pgrep -P "$(cat /tmp/nginx.pid)" | sort | tr '\n' ' '; }
sleep 1
before=$(workers)
echo "workers=$(echo $before | wc -w)"
curl -s http://127.0.0.1:8080/file | cmp - /tmp/www/file
curl -s --unix-socket /tmp/nginx.sock http://here/file | cmp - /tmp/www/file
h2load --h1 -n 200 -c 8 http://127.0.0.1:8080/file | grep '^requests:'
nginx -c /tmp/nginx.conf -s reload
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 1
	after=$(workers)
	[ "$(echo $after | wc -w)" != 2 ] || [ "$before" = "$after" ] || break
done
[ "$before" != "$after" ]
echo "reloaded=$(echo $after | wc -w)"
kill -KILL ${after%% *}
sleep 1
echo "restarted=$(workers | wc -w)"
curl -s http://127.0.0.1:8080/file | cmp - /tmp/www/file
nginx -c /tmp/nginx.conf -s quit
while [ -e /tmp/nginx.pid ]; do sleep 0.2; done
sleep 0.5
echo "left=$(pgrep -c -r R,S,D,T nginx || :)" # but no zombies
