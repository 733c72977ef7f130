#!/bin/sh
# The application `phases`: every kind computes the same everywhere, sees what is wrong, and names
# its phases.
. "${0%/*}/lib.sh"

# Kind, a small size, and the sum of two threads' two rounds by seed 7, as any machine computes it.
cat >"$work/kinds" <<'END'
sort 3000 01b6633f7fc44a20
matrix 40 4eb1a9cf196f4e84
chase 100 5580e9f1cbc66b21
compress 40 24e205dcb92a4581
graph 9 31f1b42dda8b0738
interp 5000 a9e5a037dd856dab
END
boot smp=4 timeout=120 -- -- "$(awk '{ printf "%sphases kind=%s size=%s rounds=2 threads=2 seed=7", n++ ? " ; " : "", $1, $2 }' "$work/kinds")"
status_is 0 "every kind ends"
while read -r kind size sum; do
	line "RESULT app=phases kind=$kind threads=2 size=$size seed=7 rounds=4 ns=1.. sum=$sum check=ok" "$kind: the sum is the known one"
done <"$work/kinds"

if once; then
	boot smp=2 timeout=120 -- -- "$(awk '{ printf "%sphases kind=%s size=%s spoil=1", n++ ? " ; " : "", $1, $2 }' "$work/kinds")"
	while read -r kind _; do
		line "RESULT app=phases kind=$kind check=[a-z_]+_[a-z_]+" "$kind: a flipped bit of its result is named"
	done <"$work/kinds"
	r=0; [ "$(lines "exit app=phases status=1" | wc -l)" -eq 6 ] || r=1
	result $r "... and is an error exit"
fi

boot smp=2 timeout=120 -- -- phases kind=sort size=1000 ms=300
status_is 0 "by time"
r=0; [ "$(sed -n 's/.* rounds=\([0-9]*\) ns=\([0-9]*\) .*/\1 \2/p' "$console" | awk '{ print ($1 > 1 && $2 >= 300000000) }')" = 1 ] || r=1
result $r "... it lasts that long, in several rounds"

# The marks of a simulated machine's ground truth, in order.
boot machine=openpower720 smp=2 timeout=120 -- -- phases kind=interp size=5000 threads=2 rounds=1 marks=1
r=0; [ "$(awk '$1 == "mark" { printf " %s", $2 }' "$work/truth.txt")" = " start fill sieve fib hash sort check end exit" ] || r=1
result $r "one thread names its phases by marks"
boot machine=openpower720 smp=2 timeout=120 -- -- phases kind=interp size=5000 rounds=1
r=0; [ "$(awk '$1 == "mark" { printf " %s", $2 }' "$work/truth.txt")" = " start end exit" ] || r=1
result $r "... only if asked to"

refused() { # ARGUMENT REASON VALUE...
	name=$1 reason=$2
	shift 2
	boot smp=1 timeout=60 -- -- phases "$*"
	status_is 2 "phases $* is refused"
	line "phases argument=$name reason=$reason" "... by name, as $reason"
}
if once; then
	refused kind value kind=bogus
	refused size range size=1
	refused size range kind=graph size=21
	refused rounds range rounds=0
	refused threads range threads=65
	refused speed unknown speed=1
fi
done_testing
