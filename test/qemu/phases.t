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
	says "^RESULT app=phases kind=$kind threads=2 size=$size seed=7 rounds=4 ns=[1-9][0-9]* sum=$sum check=ok$" "$kind: the sum is the known one"
done <"$work/kinds"

if once; then
	boot smp=2 timeout=120 -- -- "$(awk '{ printf "%sphases kind=%s size=%s spoil=1", n++ ? " ; " : "", $1, $2 }' "$work/kinds")"
	while read -r kind _; do
		says "^RESULT app=phases kind=$kind .* check=[a-z_]+_[a-z_]+$" "$kind: a flipped bit of its result is named"
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

refused() { # ARGUMENTS REGEX
	boot smp=1 timeout=60 -- -- phases "$1"
	status_is 2 "phases $1 is refused"
	says "^phases: $2" "... by name"
}
if once; then
	refused kind=bogus "argument kind: 'bogus' is not accepted; use sort, matrix, chase, compress, graph, interp$"
	refused size=1 "argument size: '1' is not accepted for sort; use 2\.\.16777216 \(keys\)$"
	refused 'kind=graph size=21' "argument size: '21' is not accepted for graph; use 4\.\.20 "
	refused rounds=0 "argument rounds: '0' is not accepted; use 1\.\."
	refused threads=65 "argument threads: '65' is not accepted; use 1\.\.64$"
	refused speed=1 "unknown argument 'speed=1'; nearest: seed; accepted are kind="
fi
done_testing
