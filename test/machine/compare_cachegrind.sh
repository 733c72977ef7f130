#!/bin/sh
# Runs a few programs under valgrind's cachegrind, and feeds the same programs' memory traces
# (valgrind's lackey) to the caches of test/machine, both with the same geometry, and prints the two
# sets of counts one above the other.
#
# Where the last level is large enough to evict no line that an L1 holds, the counts must be equal;
# the script fails if they are not. Where it is small they may differ a little: the machine's L2 takes
# its victims from the L1s, too, which cachegrind's last level does not. With L1s of two lines there
# are hardly any such lines: that compares the L2s.
#
#   test/machine/compare_cachegrind.sh      (from the top folder; needs valgrind, gcc, sort, gzip
#                                           and awk)
set -eu

for tool in valgrind gcc sort gzip awk; do
    command -v $tool >/dev/null || { echo "compare_cachegrind: $tool is not installed" >&2; \
    	exit 2; }
done
dir=build/compare-cachegrind
machine=test/machine
mkdir -p $dir
gcc -std=gnu11 -O2 -I. $machine/trace_cache.c $machine/topology.c $machine/cache.c \
	$machine/cache_array.c \
    $machine/cache_check.c -o $dir/trace_cache
seq 1 5000 | awk '{ print ($1 * 7919) % 5003, $1 }' >$dir/numbers
seq 1 9000 >$dir/text

# run NAME VALGRIND-OPTION...: with an empty environment, so that the stack is always in the same
# place.
run() {
    program=$1
    shift
    case $program in
    sort) env -i valgrind --quiet "$@" /usr/bin/sort -n --parallel=1 $dir/numbers ;;
    gzip) env -i valgrind --quiet "$@" /usr/bin/gzip -6 -c $dir/text ;;
    awk) env -i valgrind --quiet "$@" /usr/bin/awk \
    	'{ s[$1 % 997] += $2 } END { for (k in s) print s[k] }' $dir/numbers ;;
    esac >/dev/null
}

# compare NAME equal|close LINE I1-SIZE I1-WAYS D1-SIZE D1-WAYS LL-SIZE LL-WAYS
compare() {
    name=$1 wanted=$2
    shift 2
    run $name --tool=cachegrind --cache-sim=yes --I1=$2,$3,$1 --D1=$4,$5,$1 --LL=$6,$7,$1 \
    	--log-file=/dev/null \
        --cachegrind-out-file=$dir/out
    theirs=$(sed -n 's/^summary: *//p' $dir/out)
    ours=$(run $name --tool=lackey --trace-mem=yes --log-fd=9 9>&1 | $dir/trace_cache "$@")
    verdict=equal
    [ "$theirs" = "$ours" ] || verdict=differs
    printf '%s, lines of %s, I1 %s/%s, D1 %s/%s, LL %s/%s: %s\n  cachegrind %s\n  ours       %s\n' \
        $name "$@" $verdict "$theirs" "$ours"
    [ $wanted = close ] || [ $verdict = equal ] || failed=1
}

failed=0
echo "Counts: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw"
for name in sort gzip awk; do
    compare $name equal 64 32768 8 32768 8 16777216 16
    compare $name equal 128 65536 4 65536 4 16777216 16
    compare $name equal 64 8192 2 8192 2 16777216 16
    compare $name close 64 16384 4 16384 4 131072 8
    compare $name close 64 128 2 128 2 65536 8
done
[ $failed = 0 ] || echo "compare_cachegrind: counts differ where they must be equal" >&2
exit $failed
