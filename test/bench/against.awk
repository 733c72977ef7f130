# The table of against.sh, from its lines: a row for each run and figure.
function figure(what) {
	if (what == "ops/s") return value["ops_per_s"]
	if (what == "remote/op") return value["all_remote"] / value["ops"]
	if (what == "kernel_%") return 100 * value["all_kernel_cycles"] / value["all_cycles"]
	if (what == "detect_%") return value["detections"] ? value["overhead_pct"] : ""
	if (what == "instructions") return value["all_instructions"] / 1000
	if (what == "cycles") return value["all_cycles"] / 1000
	if (what == "read") return value["disk_pages_read"]
	if (what == "out") return value["disk_pages_written"]
}

function sort(key,   i, j, t) {
	for (i = 2; i <= count[key]; i++)
		for (j = i; j > 1 && list[key, j - 1] > list[key, j]; j--) {
			t = list[key, j]; list[key, j] = list[key, j - 1]; list[key, j - 1] = t
		}
}
function median(key,   n) {
	n = count[key]
	return n % 2 ? list[key, (n + 1) / 2] : (list[key, n / 2] + list[key, n / 2 + 1]) / 2
}
function spread(key,   format, least, most) {
	least = list[key, 1]; most = list[key, count[key]]
	format = most < 100 ? "%.3f" : "%.0f"
	return least == most ? sprintf(format, least) : sprintf(format ".." format, least, most)
}
NF {
	delete value
	for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2) value[pair[1]] = pair[2]
	n = split(value["figures"], figures, ",")
	for (f = 1; f <= n; f++) {
		x = figure(figures[f])
		if (x == "") continue
		row = value["run"] " " figures[f]; key = row SUBSEP value["side"]
		if (!(row in known)) { known[row]; rows[++row_count] = row }
		list[key, ++count[key]] = x + 0
	}
}
END {
	printf "%-22s %-12s %22s %22s %9s\n", "run", "figure", "before", "after", "percent"
	for (r = 1; r <= row_count; r++) {
		b = rows[r] SUBSEP "before"; a = rows[r] SUBSEP "after"; split(rows[r], name, " ")
		sort(b); sort(a)
		printf "%-22s %-12s %22s %22s %9s\n", name[1], name[2], spread(b), spread(a),
			median(b) ? sprintf("%+.1f", 100 * (median(a) / median(b) - 1)) : "-"
	}
}
