# Programs that make pseudo-terminals: script, which records a session, and tmux, whose server keeps
# shells on them: typing, a job that is stopped and goes on, a window that changes, an end.
set -eu
export TERM=linux LC_ALL=C.UTF-8
cd /tmp
script -q -e -c 'stty -a | grep -c speed; tty; exit 3' out >/dev/null || echo "script=$?"
grep -a -o '/dev/pts/[0-9]*' out
tmux -f /dev/null new-session -d -x 80 -y 24 'PS1="ready> " bash --norc --noprofile'
shown() { # TEXT: waits until the last lines show it
	for _ in $(seq 100); do
		tmux capture-pane -p | grep -q -- "$1" && return
		sleep 0.2
	done
	echo "not shown: $1"
	tmux capture-pane -p
	exit 1
}
shown 'ready>'
tmux send-keys 'stty size; sleep 1000' Enter
shown '^24 80'
tmux send-keys C-z
shown Stopped
tmux send-keys 'fg' Enter
sleep 0.5
tmux send-keys C-c
tmux send-keys 'echo status=$?' Enter
shown 'status=130'
tmux split-window -v 'stty size; sleep 1000'
tmux select-pane -t 0
tmux send-keys 'stty size' Enter
shown '^12 80'
echo "panes=$(tmux list-panes | wc -l)"
tmux kill-server
living() { pgrep -c -r R,S,D,T -f "$1" || :; } # but no zombies
for _ in $(seq 50); do
	[ "$(living 'sleep 1000')" != 0 ] || break
	sleep 0.2
done
echo "left=$(living 'sleep 1000')"
