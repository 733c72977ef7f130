# Prints the lines of the console that have the subject and all keys of WANTED, or only the value of
# their key SHOWN. Form of lines and of WANTED: lib.sh.
BEGIN {
	n = split(ENVIRON["WANTED"], wanted, " ")
	shown = ENVIRON["SHOWN"]
}

# Is the value a number in the range, or does it match the pattern as a whole?
function fits(value, pattern, end) {
	if (pattern !~ /^[0-9.]*\.\.[0-9.]*$/ || pattern == "..")
		return value ~ "^(" pattern ")$"
	if (value !~ /^-?[0-9]+(\.[0-9]+)?$/)
		return 0
	end = index(pattern, "..")
	low = substr(pattern, 1, end - 1)
	high = substr(pattern, end + 2)
	return (low == "" || value + 0 >= low + 0) && (high == "" || value + 0 <= high + 0)
}

{
	subject = $1
	sub(/:$/, "", subject)
	if (subject != wanted[1])
		next
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
	for (i = 2; i <= n; i++) {
		equals = index(wanted[i], "=")
		key = substr(wanted[i], 1, equals - 1)
		if (!(key in has) || !fits(has[key], substr(wanted[i], equals + 1)))
			next
	}
	print shown == "" ? $0 : has[shown]
}
