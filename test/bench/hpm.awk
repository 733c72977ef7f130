# What the runs of hpm.sh come to: RESULT lines, a table by event of the main configuration, and the summary.
#
# Input, for each run: "RUN NAME-SEED", its truth at each reading ("TRUTH total name=value ..."), its readings ("SERIES ...").
function log2(x) { return log(x) / log(2) }
function truth_name(event) {
	sub(/^SERVED:/, "", event)
	sub(/:/, "_", event)
	return tolower(event)
}
function note(list, x) { items[list, ++item_count[list]] = x }
function sort(list,   i, j, t, n) {
	n = item_count[list]
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && items[list, j - 1] + 0 > items[list, j] + 0; j--) {
			t = items[list, j]; items[list, j] = items[list, j - 1]; items[list, j - 1] = t
		}
	return n
}
function quantile(list, part,   n) {
	n = sort(list)
	return n ? items[list, 1 + int((n - 1) * part + 0.5)] : 0
}
function known(list, value) { if (!((list, value) in is_known)) { is_known[list, value] = 1; note(list, value) } }

# P log2(P/P') over the intervals, with half a count of the scale in each.
function divergence(event,   name, i, half, p, q, p_sum, q_sum, kl) {
	name = truth_name(event)
	half = 500 / (seen["total", event] ? seen["total", event] : 1)
	for (i = first; i < last; i++) {
		p_sum += truth[i + 1, name] - truth[i, name] + half
		q_sum += count[i, event] + half
	}
	for (i = first; i < last; i++) {
		p = (truth[i + 1, name] - truth[i, name] + half) / p_sum
		q = (count[i, event] + half) / q_sum
		kl += p * log2(p / q)
	}
	return kl
}

# A run is complete.
function close_run(   part, config, kind, e, event, rounds, all, kl, floor_kl, i, difference) {
	if (run == "") return
	split(run, part, "-")
	if (part[1] == "cost") { note("cost " part[2], ops); known("slices", part[2]) }
	config = part[2] "-" part[3]; kind = part[4]
	if (part[1] == "kl") known("configs", config)
	rounds = (truth[last, "cycles"] - truth[first, "cycles"]) / 2e6
	for (e = 1; e <= events; e++) {
		event = name_of[e]
		all = truth[last, truth_name(event)] - truth[first, truth_name(event)]
		for (i = first; part[1] == "ci" && i < last; i++) {
			if (sure[i, event] != 1) continue
			difference = truth[i + 1, truth_name(event)] - truth[i, truth_name(event)]
			note("width " config, count[i, event] ? (high[i, event] - low[i, event]) / 2 / count[i, event] * 100 : 100)
			cases[config]++; event_cases[event]++
			if (low[i, event] <= difference && difference <= high[i, event]) { held[config]++; event_held[event]++ }
		}
		if (part[1] != "kl" || !all) continue
		kl = divergence(event)
		if (all / rounds >= 1000) {
			note("kl " config, kl)
			note("kl " config " " kind " " event, kl)
			known("of " config, kind " " event)
		} else {
			# Poisson noise of what was counted: half a degree of freedom an interval.
			floor_kl = (last - first) * (1 - seen["total", event] / 1000) / (2 * log(2) * all * seen["total", event] / 1000)
			note("rare " config, kl); note("floor " config, floor_kl)
			note("rare " config " " kind " " event, kl); note("floor " config " " kind " " event, floor_kl)
			known("rare of " config, kind " " event)
		}
	}
}

$1 == "RUN" {
	close_run()
	run = $2; marks = readings = events = first = last = 0
	split("", truth); split("", count); split("", low); split("", high); split("", sure); split("", seen); split("", has)
	next
}
$1 == "TRUTH" {
	for (i = 3; i <= NF; i++) { split($i, pair, "="); truth[marks, pair[1]] = pair[2] }
	marks++
	next
}
$1 == "START" { first = marks; next }
$1 == "END" { last = marks - 1; next }
$1 == "SERIES" && $3 ~ /^[A-Z0-9_]+(:[A-Z0-9_]+)?$/ {
	if (!($3 in has)) { has[$3] = 1; name_of[++events] = $3 }
	if ($2 != "total" && $2 + 1 > readings) readings = $2 + 1
	count[$2, $3] = $4; low[$2, $3] = $5; high[$2, $3] = $6; sure[$2, $3] = $7; seen[$2, $3] = $8
	next
}
$1 == "RESULT" { for (i = 3; i <= NF; i++) if (split($i, pair, "=") == 2 && pair[1] == "ops") ops = pair[2] }

END {
	close_run()
	for (c = 1; c <= item_count["configs"]; c++) {
		config = items["configs", c]; split(config, part, "-")
		printf "RESULT hpm.accuracy arch=%s machine=%s ratio=%s slice_cycles=%s cases=%d kl_median=%.4f kl_p90=%.4f kl_worst=%.3f", \
			arch, machine, part[1], part[2], item_count["kl " config], quantile("kl " config, 0.5), quantile("kl " config, 0.9), quantile("kl " config, 1)
		printf " rare_cases=%d rare_kl_median=%.3f rare_floor_median=%.3f ci_cases=%d ci_coverage_pct=%.1f ci_half_width_median_pct=%.1f\n", \
			item_count["rare " config], quantile("rare " config, 0.5), quantile("floor " config, 0.5), cases[config], \
			cases[config] ? held[config] * 100 / cases[config] : 0, quantile("width " config, 0.5)
		all_cases += cases[config]; all_held += held[config]
	}
	none = quantile("cost none", 0.5)
	for (c = 1; c <= item_count["slices"]; c++) {
		slice = items["slices", c]
		if (slice == "none" || !none) continue
		cost = (1 - quantile("cost " slice, 0.5) / none) * 100
		printf "RESULT hpm.overhead arch=%s machine=%s slice_cycles=%d switches_per_1e9_cycles=%d overhead_pct=%.2f cycles_per_switch=%d\n", \
			arch, machine, slice, 1e9 / slice, cost, cost / 100 * slice
		if (slice == 50000) overhead = cost
	}
	main = "10-50000"
	printf "\n# ratio 10, slices of 50,000 cycles; medians over seeds\n# %-8s %-22s %8s\n", "program", "event", "KL"
	for (c = 1; c <= item_count["of " main]; c++) {
		split(items["of " main, c], part, " ")
		printf "# %-8s %-22s %8.4f\n", part[1], part[2], quantile("kl " main " " items["of " main, c], 0.5)
	}
	printf "# fewer than 1000 in 2,000,000 cycles:               KL  Poisson floor\n"
	for (c = 1; c <= item_count["rare of " main]; c++) {
		split(items["rare of " main, c], part, " ")
		printf "# %-8s %-22s %8.4f %8.4f\n", part[1], part[2], quantile("rare " main " " items["rare of " main, c], 0.5), \
			quantile("floor " main " " items["rare of " main, c], 0.5)
	}
	printf "# intervals that hold, by event:"
	for (e in event_cases) printf " %s %d/%d", e, event_held[e], event_cases[e]
	printf "\n"
	printf "RESULT hpm.summary arch=%s kl_median=%.4f kl_worst=%.3f ci_coverage_pct=%.1f ci_cases=%d overhead_20k_pct=%.2f\n", \
		arch, quantile("kl " main, 0.5), quantile("kl " main, 1), all_cases ? all_held * 100 / all_cases : 0, all_cases, overhead
}
