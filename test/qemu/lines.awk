# Behind keys.awk: prints the lines of the console that have the subject and all keys of WANTED, or
# only the value of their key SHOWN.
BEGIN {
	n = split(ENVIRON["WANTED"], wanted, " ")
	shown = ENVIRON["SHOWN"]
}
read_line(has) == wanted[1] && has_all(has, wanted, 2, n) {
	if (shown == "")
		print
	else if (shown in has)
		print has[shown]
}
