# Medians of the runs of sharing.sh, its RESULT lines, and the summary.
function value(name,   i, pair) {
	for (i = 1; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == name) return pair[2]
	return ""
}
function note(what, x) { list[key, what, ++count[key, what]] = x }
function sort(what,   i, j, t, n) {
	n = count[key, what]
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && list[key, what, j - 1] + 0 > list[key, what, j] + 0; j--) {
			t = list[key, what, j]; list[key, what, j] = list[key, what, j - 1]; list[key, what, j - 1] = t
		}
	return n
}
function median(k, what,   n) {
	key = k; n = sort(what)
	return !n ? "" : n % 2 ? list[k, what, (n + 1) / 2] : (list[k, what, n / 2] + list[k, what,
		n / 2 + 1]) / 2
}
function spread(k, what, format,   n) {
	key = k; n = sort(what)
	return sprintf(format ".." format, list[k, what, 1], list[k, what, n])
}
function absolute(x) { return x < 0 ? -x : x }

{
	name = value("name"); policy = value("policy"); seed = value("seed") % 1000;
		key = name SUBSEP policy
	if (!(name in known)) { known[name] = 1; names[++name_count] = name }
	note("remote", value("all_remote") / value("ops"))
	note("remote_late", value("late_remote") / value("ops_steady"))
	note("cycles", value("all_cycles") / value("ops"))
	note("ops", value("ops"))
	note("rate", value("ops_per_s"))
	note("rate_late", value("ops_per_s_steady"))
	rate[name, policy, seed] = value("ops_per_s"); seeds[seed] = 1
	rate_late[name, policy, seed] = value("ops_per_s_steady")
	if (value("samples") != "") note("samples", value("samples"))
	if (value("overhead_pct") != "") note("overhead", value("overhead_pct"))
	if (value("wrong") != "") note("wrong", value("wrong"))
	if (value("migrations") != "") note("migrations", value("migrations"))
	seen[name, policy] = 1
}
# Returns the percent by which cluster differs from hand, paired by seed: the median.
function to_hand(name, rates,   s) {
	key = "to_hand" SUBSEP name; delete count[key, "delta"]
	for (s in seeds) if (((name, "cluster", s) in rates) && ((name, "hand", s) in rates))
		note("delta", 100 * (rates[name, "cluster", s] / rates[name, "hand", s] - 1))
	return median(key, "delta")
}
END {
	split("default default2 roundrobin hand cluster", order, " ")
	for (i = 1; i <= name_count; i++) for (p = 1; p <= 5; p++) {
		name = names[i]; k = name SUBSEP order[p]
		if (!seen[name, order[p]]) continue
		printf "RESULT sharing arch=%s machine=%s app=%s policy=%s remote_per_op=%.3f remote_spread=%s remote_per_op_steady=%.3f cycles_per_op=%.0f cycles_spread=%s ops=%d ops_per_s=%d ops_per_s_steady=%d detect_overhead_pct=%s samples=%s wrong_clusters=%s migrations=%s\n",
			arch, machine, name, order[p], median(k, "remote"), spread(k, "remote", "%.3f"), median(k,
				"remote_late"),
			median(k, "cycles"), spread(k, "cycles", "%.0f"), median(k, "ops"), median(k, "rate"),
				median(k, "rate_late"),
			median(k, "overhead") == "" ? "0" : median(k, "overhead"), median(k,
				"samples") == "" ? "0" : median(k, "samples"),
			median(k, "wrong") == "" ? "-" : spread(k, "wrong", "%d"), median(k,
				"migrations") == "" ? "-" : median(k, "migrations")
	}
	print ""
	removed_min = of_hand_min = gain_min = 1e9; gain_max = -1e9; overhead_max = 0
	printf "# %-16s %10s %10s %10s %10s %10s %10s %10s %10s %10s\n", "percent", "removed",
		"..steady", "of hand", "..steady", "gain", "..steady",
		"hand gains", "to hand", "..steady"
	for (i = 1; i <= name_count; i++) {
		name = names[i]; d = name SUBSEP "default"; h = name SUBSEP "hand"; c = name SUBSEP "cluster"
		if (!seen[name, "hand"] || !seen[name, "cluster"]) continue
		removed = 100 * (1 - median(c, "remote") / median(d, "remote"))
		removed_late = 100 * (1 - median(c, "remote_late") / median(d, "remote_late"))
		by_hand = median(d, "remote") - median(h, "remote");
			by_hand_late = median(d, "remote_late") - median(h, "remote_late")
		of_hand = by_hand > 0 ? 100 * (median(d, "remote") - median(c, "remote")) / by_hand : 0
		of_hand_late = by_hand_late > 0 ? 100 * (median(d, "remote_late") - median(c,
			"remote_late")) / by_hand_late : 0
		gain = 100 * (median(c, "rate") / median(d, "rate") - 1)
		gain_late = 100 * (median(c, "rate_late") / median(d, "rate_late") - 1)
		control_row = name ~ /^private/ # shares nothing: there is nothing to remove
		printf "# %-16s " (control_row ? "%10s %10s %10s %10s" : "%10.1f %10.1f %10.1f %10.1f"), name,
			control_row ? "-" : removed,
			control_row ? "-" : removed_late, control_row ? "-" : of_hand, control_row ? "-" : of_hand_late
		printf " %10.1f %10.1f %10.1f %10.1f %10.1f\n", gain, gain_late, 100 * (median(h,
			"rate") / median(d, "rate") - 1),
			to_hand(name, rate), to_hand(name, rate_late)
		key = c; n = sort("overhead"); if (n &&
			list[c, "overhead", n] + 0 > overhead_max) overhead_max = list[c, "overhead", n] + 0
		if (control_row) continue
		shapes++
		if (removed < removed_min) { removed_min = removed; removed_worst = name }
		if (of_hand < of_hand_min) { of_hand_min = of_hand; of_hand_worst = name }
		if (gain < gain_min) { gain_min = gain; gain_worst = name }
		if (gain > gain_max) { gain_max = gain; gain_best = name }
	}
	for (i = 1; i <= name_count; i++) if (names[i] ~ /^private/) control = names[i]
	for (s in seeds) if (((control, "cluster", s) in rate) && ((control, "default", s) in rate)) {
		key = "control"; note("delta", 100 * (rate[control, "cluster", s] / rate[control, "default",
			s] - 1))
		if ((control, "default2", s) in rate) {
			key = "aa"; note("delta", 100 * (rate[control, "default2", s] / rate[control, "default", s] - 1))
		}
	}
	if (!shapes) exit # none of the programs it is about was run
	printf "# of the summary: all %d shapes that share, none left out; control: %s paired by seed, cluster against default, and default against itself\n", shapes, control
	printf "RESULT sharing.summary arch=%s machine=%s shapes=%d removed_pct_min=%.1f removed_worst=%s of_hand_pct_min=%.1f of_hand_worst=%s", arch, machine, shapes,
		removed_min, removed_worst, of_hand_min, of_hand_worst
	printf " gain_pct_min=%.1f gain_worst=%s gain_pct_max=%.1f gain_best=%s", gain_min, gain_worst,
		gain_max, gain_best
	printf " control_delta_pct=%s control_spread=%s control_again_spread=%s overhead_pct_max=%.2f\n",
		control == "" ? "-" : sprintf("%.2f", median("control", "delta")),
		count["control", "delta"] ? spread("control", "delta", "%.2f") : "-", count["aa",
			"delta"] ? spread("aa", "delta", "%.2f") : "-", overhead_max
}
