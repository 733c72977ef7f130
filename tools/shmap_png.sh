#!/bin/sh
# Draws the shMap pictures of a console log as PREFIX-1.png, PREFIX-2.png, ... A picture is a line
# "shmap: pid=.. ..." and after it a line "shmap: tid=.. cluster=.. counts=.." for each thread.
#
#   tools/shmap_png.sh LOG PREFIX
set -eu
. "${0%/*}/plot.sh"

plot_begin LOG "$@"
# Writes for each picture N: N.matrix, rows of numbers with an empty row between clusters, and
# N.labels, the clusters' positions.
tr -d '\r' <"$from" | awk -v work="$work" '
function value(name,   i) {
	for (i = 1; i <= NF; i++)
		if (index($i, name "=") == 1)
			return substr($i, length(name) + 2)
	return ""
}
function hex(text) { return 16 * index(digits, substr(text, 1, 1)) + index(digits, substr(text, 2,
	1)) - 17 }
function refuse(why) {
	print "line " NR ": " why >"/dev/stderr"
	failed = 1
	exit 1
}
function row(counts,   c, line) {
	line = ""
	for (c = 0; c < width; c++)
		line = line (counts == "" ? 0 : hex(substr(counts, 2 * c + 1, 2))) " "
	print line >(work "/" pictures ".matrix")
	y++
}
function finish(   name, line) {
	if (rows == 0)
		return
	for (name in sum)
		line = line (line == "" ? "" : ", ") "\"" name "\" " sum[name] / members[name]
	print line >(work "/" pictures ".labels")
	split("", sum)
	split("", members)
	rows = 0
}
BEGIN { digits = "0123456789abcdef" }
/^shmap: pid=/ { finish() }
/^shmap: tid=/ {
	counts = value("counts")
	name = value("cluster") == "-1" ? "none" : value("cluster")
	if (counts == "" || counts !~ /^([0-9a-f][0-9a-f])+$/ || (rows && length(counts) != 2 * width))
		refuse("a picture row whose counts are missing or of another length than the one before")
	if (rows == 0) {
		pictures++
		y = 0
		width = length(counts) / 2
	} else if (name != last)
		row("")
	sum[name] += y
	members[name]++
	row(counts)
	last = name
	rows++
}
END {
	if (failed)
		exit 1
	finish()
	print pictures + 0 >(work "/pictures")
}' || { echo "$0: $from: damaged picture" >&2; exit 1; }

pictures=$(cat "$work/pictures")
[ "$pictures" -gt 0 ] || { echo "$0: $from has no shMap picture" >&2; exit 1; }
n=1
while [ "$n" -le "$pictures" ]; do
	gnuplot <<END
set terminal pngcairo size 1000,600 font "sans,11"
set output "$prefix-$n.png"
set palette defined (0 "#ffffff", 1 "#d0d8e8", 4 "#6080b0", 16 "#101830")
set title "shMaps: samples served from other chips"
set xlabel "lines, global ones left out"
set ylabel "threads by cluster"
set ytics ($(cat "$work/$n.labels"))
set yrange [*:*] reverse
set autoscale xfix
set autoscale yfix
unset key
plot "$work/$n.matrix" matrix with image pixels
END
	n=$((n + 1))
done
echo "shMap pictures: $prefix-1.png to $prefix-$pictures.png"
