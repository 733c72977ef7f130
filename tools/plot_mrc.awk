# For tools/plot_mrc.sh: reads the lines MRC of a console log or of tools/trace_mrc.py, and writes
# to the folder `work`:
#   N.POLICY.K  curve K, by time, of process N under POLICY: memory in KB, per cent of the accesses
#               to pages used before that miss
#   plot        gnuplot's commands: a panel for each process, early curves pale, the last one in
#               full colour
#   size        size of the page
function refuse(why) {
	print "line " NR ": " why >"/dev/stderr"
	failed = 1
	exit 1
}

$1 == "MRC" {
	split("", v)
	for (i = 2; i <= NF; i++) {
		if (!match($i, /=/))
			refuse("no name=value: " $i)
		v[substr($i, 1, RSTART - 1)] = substr($i, RSTART + 1)
	}
	if (!("pid" in v) || !("pages" in v) || !("accesses" in v) || !("first" in v) || !("lru" in v))
		refuse("a curve without its pid, pages, accesses, first uses or points")
	again = v["accesses"] - v["first"]
	if (again <= 0 || v["pages"] <= 0)
		next
	if (!(v["pid"] in number)) {
		number[v["pid"]] = ++processes
		title[processes] = v["program"] " " v["pid"]
	}
	n = number[v["pid"]]
	k = ++curves[n]
	limit[n] = v["limit_kb"]
	most[n] = v["pages"] * 4 > most[n] ? v["pages"] * 4 : most[n]
	for (p = 1; p <= 2; p++) {
		policy = p == 1 ? "lru" : "mru"
		if (!(policy in v))
			continue
		has[n, policy, k] = 1
		file = work "/" n "." policy "." k
		points = split(v[policy], misses, ",")
		print 0, 100 >file
		for (i = 1; i <= points; i++) {
			if (misses[i] !~ /^[0-9]+$/)
				refuse("no count: " misses[i])
			print v["pages"] * 4 * i / points, 100 * misses[i] / again >file
		}
		close(file)
	}
}

END {
	if (failed || !processes)
		exit 1
	columns = processes > 1 ? 2 : 1
	rows = int((processes + columns - 1) / columns)
	print columns * 560 "," rows * 360 >(work "/size")
	plot = work "/plot"
	print "set multiplot layout " rows "," columns >plot
	print "set yrange [0:105]; set xlabel 'memory, KB'; set ylabel 'misses, % of accesses to pages used before'; set grid; set key bottom left" >plot
	for (n = 1; n <= processes; n++) {
		print "set title '" title[n] ", " curves[n] " epochs' noenhanced; set xrange [0:" most[n] "]; unset arrow" >plot
		if (limit[n] > 0 && limit[n] < most[n])
			print "set arrow from " limit[n] ",0 to " limit[n] ",105 nohead dashtype 2 linecolor rgb '#7f7f7f'" >plot
		line = "plot"
		for (k = 1; k <= curves[n]; k++)
			for (p = 1; p <= 2; p++) {
				policy = p == 1 ? "lru" : "mru"
				if (!((n, policy, k) in has))
					continue
				last = k == curves[n]
				colour = p == 1 ? (last ? "#3274a8" : "#cfe2f0") : (last ? "#c0504d" : "#f0d5d4")
				line = line (k + p > 2 ? "," : "") " '" work "/" n "." policy "." k "' with lines linewidth " (last ? 2 : 1) " linecolor rgb '" colour "' " \
					(last ? "title '" toupper(policy) "'" : "notitle")
			}
		print line >plot
	}
}
