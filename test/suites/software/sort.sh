# A file of twice the program's memory is sorted with little of its own, and is seen to be sorted.
set -eu
mb=$1
seq $((mb * 1000000 / 8)) | shuf --random-source=/bin/bash >/tmp/in
sort -n -S 8M -T /tmp /tmp/in >/tmp/out
sort -n -c /tmp/out && echo sorted
wc -l </tmp/out
