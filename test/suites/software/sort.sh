# A file of numbers, twice as large as a program's memory, is sorted, and is seen to be sorted.
#   sort.sh MB
set -eu
head -c $(($1 * 1000000 / 11 * 4)) /dev/urandom | od -An -v -t u4 -w4 >/tmp/in
sort -n -S 8M -T /tmp /tmp/in >/tmp/out
sort -n -c /tmp/out && echo sorted
echo "lines=$(($(wc -l </tmp/out) - $(wc -l </tmp/in)))"
