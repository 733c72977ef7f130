# Functions for scripts that read the console: lines with keys (lines.awk), and tables behind such
# lines (cells.awk). Form of lines, of tables and of what is wanted of them: lib.sh.

# Returns whether the value is a number in the range, or matches the pattern as a whole.
function fits(value, pattern, end, low, high) {
	if (pattern !~ /^[-0-9.]*\.\.[-0-9.]*$/ || pattern == "..")
		return value ~ "^(" pattern ")$"
	if (value !~ /^[-+]?[0-9]+(\.[0-9]+)?$/)
		return 0
	end = index(pattern, "..")
	low = substr(pattern, 1, end - 1)
	high = substr(pattern, end + 2)
	return (low == "" || value + 0 >= low + 0) && (high == "" || value + 0 <= high + 0)
}

# Reads the line's subject and its keys, into `has`. Returns the subject, without a colon.
function read_line(has, subject, i, equals, value, last) {
	subject = $1
	sub(/:$/, "", subject)
	split("", has)
	for (i = 2; i <= NF; i++) {
		equals = index($i, "=")
		if (!equals)
			continue
		value = substr($i, equals + 1)
		last = sub(/:$/, "", value)
		has[substr($i, 1, equals - 1)] = value
		if (last)
			break # the sentence follows
	}
	return subject
}

# Returns whether `has` has each KEY=PATTERN of wanted[from..to].
function has_all(has, wanted, from, to, i, equals, key) {
	for (i = from; i <= to; i++) {
		equals = index(wanted[i], "=")
		key = substr(wanted[i], 1, equals - 1)
		if (!(key in has) || !fits(has[key], substr(wanted[i], equals + 1)))
			return 0
	}
	return 1
}
