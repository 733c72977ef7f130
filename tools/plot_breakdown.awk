# For tools/plot_breakdown.sh: reads the lines BREAKDOWN of a console log, and writes to the folder
# `work`:
#   N.data  of series N: time, the upper edge of each area, stalls for data measured and estimated;
#           an interval is two rows, its begin and its end
#   plot    gnuplot's commands
#   size    size of the page
# Data-cache stalls are divided among their sources in proportion to the measured ones, so that the
# areas add up to the cycles.
function refuse(why) {
	print "line " NR ": " why >"/dev/stderr"
	failed = 1
	exit 1
}

function area(key, text, colour) {
	keys[++areas] = key
	name[key] = text
	rgb[key] = colour
}

BEGIN {
	# The areas, from the bottom up.
	area("completion", "completion", "#b8c4b0")
	area("rest", "all else", "#b8c4b0")
	area("instruction_cache", "instruction cache", "#8e6bb0")
	area("front_end", "front end", "#8e6bb0")
	area("branch", "branch misprediction", "#e8a33d")
	area("data_cache", "data cache", "#5b8db8")
	area("local_l2", "data: local L2", "#cfe2f0")
	area("local_l3", "data: local L3", "#9cc5e0")
	area("remote_l2", "data: remote L2", "#5b9bcb")
	area("remote_l3", "data: remote L3", "#3274a8")
	area("local_memory", "data: local memory", "#1f4e7a")
	area("remote_memory", "data: remote memory", "#0c2340")
	area("translation", "address translation", "#c0504d")
	area("back_end", "back end", "#5b8db8")
	area("other", "other", "#7f7f7f")
	sources = split("local_l2 local_l3 remote_l2 remote_l3 local_memory remote_memory", source, " ")
}

# Reads the words of this line into v.
function read_words(   i) {
	split("", v)
	for (i = 3; i <= NF; i++) {
		if (!match($i, /=/))
			refuse("no name=value: " $i)
		v[substr($i, 1, RSTART - 1)] = substr($i, RSTART + 1)
	}
	if (!("of" in v) || !("cycles" in v) || !("from_ms" in v) || !("to_ms" in v))
		refuse("an interval without its name, cycles or times")
}

# Adds up the measured and the estimated stalls. v holds the sources' parts of the measured ones.
function share_out_data(   i, sum) {
	measured = v["data_cache"] + 0
	sum = estimated = 0
	for (i = 1; i <= sources; i++) {
		sum += v[source[i]]
		estimated += v[source[i] "_estimated"]
	}
	for (i = 1; i <= sources; i++)
		v[source[i]] = sum ? measured * v[source[i]] / sum : 0
	if (sum)
		v["data_cache"] = 0
}

function series_of_line(   id) {
	id = v["of"] ("thread" in v ? ", thread " v["thread"] : "")
	if (!(id in number)) {
		number[id] = ++series
		title[series] = id
	}
	return number[id]
}

/^BREAKDOWN interval / {
	read_words()
	share_out_data()
	n = series_of_line()
	by_instructions = "instructions" in v
	all = v[by_instructions ? "instructions" : "cycles"] + 0
	line = ""
	height = 0
	for (i = 1; i <= areas; i++) {
		total[keys[i]] += v[keys[i]]
		height += all ? v[keys[i]] / all : 0
		line = line " " height
	}
	line = line " " (all ? measured / all : 0) " " (all ? estimated / all : 0)
	print v["from_ms"] line "\n" v["to_ms"] line >(work "/" n ".data")
	rows++
	cycles[rows] = v["cycles"] + 0
	high[rows] = height
	high_data[rows] = all ? (measured > estimated ? measured : estimated) / all : 0
	cycles_of[n] += v["cycles"]
	all_cycles += v["cycles"]
	estimates += estimated
	last_ms = v["to_ms"] + 0 > last_ms ? v["to_ms"] + 0 : last_ms
}

function put(line) {
	print line >(work "/plot")
}

function is_drawn(key) {
	return total[key] >= all_cycles / 1000
}

# Draws the highest areas first: the lower ones are drawn over them.
function put_areas(n, has_key,   i, line) {
	for (i = areas; i >= 1; i--)
		if (is_drawn(keys[i]))
			line = line (line ? ", " : "plot ") "\"" work "/" n ".data\" using 1:" (i + 1) \
				" with filledcurves y=0 linecolor rgb \"" rgb[keys[i]] "\" title \"" (has_key ? name[keys[i]] : "") "\""
	put(line)
}

# Returns the height that at most one cycle in twenty exceeds.
function scale_of(height,   i, best, left, used) {
	for (left = all_cycles / 20; left >= 0; left -= cycles[best]) {
		best = 0
		for (i = 1; i <= rows; i++)
			if (!(i in used) && (!best || height[i] > height[best]))
				best = i
		if (!best)
			return 1
		used[best]
	}
	return height[best] * 1.04
}

# Returns 1, 2 or 5 times a power of ten, which divides the scale into two or three parts.
function step_of(scale,   step) {
	for (step = 0.001; step * 10 < scale / 3; step *= 10)
		;
	return step * (step * 2 >= scale / 3 ? 2 : step * 5 >= scale / 3 ? 5 : 10)
}

function put_common() {
	put("set style fill solid noborder\nset border 3\nset tics nomirror out")
	put("set xrange [0:" last_ms "]\nset yrange [0:" scale_of(high) "]")
	put("set key outside right top Left reverse samplen 1 spacing 1.1")
}

function put_one(   has_data) {
	has_data = estimates > 0
	put("set multiplot\nset lmargin 9\nset rmargin 27\nset tmargin 3\nset bmargin " (has_data ? 2 : 4))
	put("set title \"" title[1] ": " unit ", by cause" cut "\"\nset ylabel \"" unit "\"")
	put("set origin 0," (has_data ? 0.3 : 0) "\nset size 1," (has_data ? 0.7 : 1) (has_data ? "" : "\nset xlabel \"ms\""))
	put_areas(1, 1)
	if (has_data) {
		put("set origin 0,0\nset size 1,0.32\nset bmargin 4\nset xlabel \"ms\"\nset yrange [0:" scale_of(high_data) "]\nset ytics " step_of(scale_of(high_data)))
		put("set title \"stalls for data, " unit "\"\nunset ylabel")
		put("plot \"" work "/1.data\" using 1:" (areas + 2) " with filledcurves y=0 linecolor rgb \"#9cc5e0\" title \"measured\", " \
			"\"\" using 1:" (areas + 3) " with lines linewidth 1.5 linecolor rgb \"#c0504d\" title \"accesses x latency\"")
	}
	print "1000," (has_data ? 620 : 440) >(work "/size")
}

function put_key_panel(   i, line) {
	put("set key inside center center maxrows 4 maxcols 3\nunset border\nunset tics\nunset title\nset yrange [0:1]")
	for (i = areas; i >= 1; i--)
		if (is_drawn(keys[i]))
			line = line (line ? ", " : "plot ") "-1 with lines linewidth 8 linecolor rgb \"" rgb[keys[i]] "\" title \"" name[keys[i]] "\""
	put(line)
}

# Leaves out threads that hardly ran.
function put_threads(   n, most, panels, list, columns, lines) {
	for (n = 1; n <= series; n++)
		most = cycles_of[n] > most ? cycles_of[n] : most
	for (n = 1; n <= series; n++)
		if (cycles_of[n] * 100 >= most && panels < panels_max)
			list[++panels] = n
	columns = panels > 4 ? 2 : 1
	lines = int((panels + columns) / columns) # one for the key
	put("set multiplot layout " lines "," columns " title \"" unit ", by cause: " panels " of " series " threads, over ms" cut "\"")
	put("set lmargin 6\nset rmargin 2\nset tmargin 2\nset bmargin 2\nunset key\nset ytics " step_of(scale_of(high)))
	for (n = 1; n <= panels; n++) {
		put("set title \"" title[list[n]] "\" offset 0,-0.6")
		put_areas(list[n], 0)
	}
	put_key_panel()
	print "1000," (60 + 130 * lines) >(work "/size")
}

END {
	if (failed || !series)
		exit 1
	panels_max = 20
	cut = " (of the cycles, up to a twentieth may be above the scale)"
	unit = by_instructions ? "cycles per instruction" : "share of the cycles"
	put_common()
	if (series == 1)
		put_one()
	else
		put_threads()
	put("unset multiplot")
}
