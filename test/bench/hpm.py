#!/usr/bin/env python3
"""Evaluates the runs of hpm.sh: RESULT lines, tables by event, and the summary.

    test/bench/hpm.py out=DIR arch=ARCH machine=NAME
        < list of runs (name|boot arguments|applications|seed)

Accuracy. A program with phases runs on a CPU of its own, the reader of its counts on another core.
Every 2,000,000 cycles (R) the program's counts are read and the ground truth is marked. For each
event P are the parts of the intervals in the true count of the program's threads, P' those in the
estimate, and KL is the sum of P log2(P / P') ([A] 2.7.3), with half a count of the scale added to
both.

Floor. The truth in cells of 10,000 cycles of that CPU shows the result of an ideal multiplexer: one
with exact slices, at no cost, in the same passes and rounds, that changes nothing and scales the
count it saw in an interval by the part of the interval it saw. Its KL, the median of DRAWS draws of
the order, is the floor: it is due to events that come singly (Poisson) or in bursts.

Classes. Events with 1,000 counts a round are the headline. Of these, events with a floor above
0.20, the limit of [A], are bursty: with this number of slices no multiplexer could find them in
their intervals. All others are rare. Bursty and rare ones are shown beside their floor.

Intervals. For counts over at least 50 rounds that have an interval: how many intervals contain the
truth, and how wide they are.
    ci_counted       of which at least one event was counted
    ci_uncounted     of which none was counted although there were some
    ci_zero          of which there were none: any interval contains these; ci_nonzero excludes them
    ci_none          counts without an interval, since nothing was seen
    ci_none_nonzero  ... although there were some events
"""
import math
import os
import random
import sys

ROUND = 2_000_000
CELL = 10_000
DRAWS = 40
NEEDED = 1000  # events a round for an event to be judged
LIMIT = 0.20
INTERVAL, NONE = 1, 6  # SYS_SURE_
HEADLINE, BURSTY, RARE = "headline", "bursty", "rare"
MAIN = "10-50000"
PUBLISHED = "10-200000"


# ---- Files ----


def truth_name(event):
    event = event.removeprefix("SERVED:")
    return event.replace(":", "_").lower()


def without_mode(event):
    """Returns the event and its mode; mode None: both."""
    if event[-2:] in (":u", ":k"):
        return event[:-2], event[-1]
    return event, None


def figures(words):
    return {k: int(v) for k, v in (w.split("=") for w in words if "=" in w)}


def read_truth(path):
    """Returns the marks: label, time, figures by tag and of each CPU's modes."""
    marks = []
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "mark":
                marks.append(
                    {"label": words[1], "time": int(words[2].split("=")[1]), "tag": {}, "cpu": {}}
                )
            elif words[0] == "total":
                marks[-1]["total"] = figures(words[1:])
            elif words[0] == "cpu":
                marks[-1]["cpu"][int(words[1]), words[2]] = figures(words[3:])
            elif words[0] == "tag" and words[1] != "other":
                marks[-1]["tag"][int(words[1])] = figures(words[2:])
    return marks


def read_series(path):
    """Returns by reading and event: count, low, high, whether there is an interval, part seen; and
    the events' order."""
    series, order = {}, []
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            words = line.split()
            if len(words) != 8 or words[0] != "SERIES":
                continue
            if words[2] not in order:
                order.append(words[2])
            low, high = (int(w) if w != "-" else None for w in words[4:6])
            series[words[1], words[2]] = (int(words[3]), low, high, int(words[6]), int(words[7]))
    return series, order


def read_cells(path, cpu):
    """Returns the cells of one CPU: their ends, and by event and mode a list of counts."""
    ends, events, columns = [], [], []
    with open(path, encoding="ascii") as f:
        events = f.readline().split()[2:]
        for line in f:
            words = line.split()
            if int(words[0]) == cpu:
                ends.append(int(words[1]))
                columns.append(
                    [int(w) for w in words[3 : 3 + len(events)] + words[4 + len(events) :]]
                )
    series = list(zip(*columns))
    return ends, {
        **{(name, "u"): series[i] for i, name in enumerate(events)},
        **{(name, "k"): series[len(events) + i] for i, name in enumerate(events)},
    }


# ---- Figures ----


def divergence(truth, estimate, smoothing):
    p_sum = sum(truth) + smoothing * len(truth)
    q_sum = sum(estimate) + smoothing * len(truth)
    kl = 0
    for t, e in zip(truth, estimate):
        p, q = (t + smoothing) / p_sum, (e + smoothing) / q_sum
        if p > 0:
            kl += p * math.log2(p / q)
    return kl


def quantile(values, part):
    values = sorted(values)
    return values[int((len(values) - 1) * part + 0.5)] if values else 0


class Run:
    """The figures of a run of `phases` for each event, between the program's marks start and end.
    """

    def __init__(self, directory):
        marks = read_truth(directory + "/truth.txt")
        self.series, self.events = read_series(directory + "/console.txt")
        labels = [m["label"] for m in marks]
        self.readings = [m for m in marks if m["label"] == "reading"]
        start, end = marks[labels.index("start")], marks[labels.index("end")]
        # Reading i ends interval i - 1; the first is when counting begins.
        self.first = next(i for i, m in enumerate(self.readings) if m["time"] > start["time"])
        self.last = max(i for i, m in enumerate(self.readings) if m["time"] < end["time"])
        self.cpu = max(
            (c for c, mode in start["cpu"] if mode == "user"),
            key=lambda c: end["cpu"][c, "user"]["instructions"]
            - start["cpu"][c, "user"]["instructions"],
        )
        self.tags = self.program_tags(start, end)
        self.directory = directory

    def program_tags(self, start, end):
        """Returns the thread with most of the user's instructions there, in a list."""
        grown = {
            t: f["instructions"] - start["tag"].get(t, {}).get("instructions", 0)
            for t, f in end["tag"].items()
        }
        return [max(grown, key=grown.get)]

    def true_until(self, reading, event):
        name, mode = without_mode(event)
        name = truth_name(name)
        if mode:
            return self.readings[reading]["cpu"][self.cpu, "user" if mode == "u" else "kernel"][
                name
            ]
        return sum(self.readings[reading]["tag"].get(t, {}).get(name, 0) for t in self.tags)

    def truth(self, event):
        at = [self.true_until(i, event) for i in range(self.first, self.last + 1)]
        return [b - a for a, b in zip(at, at[1:])]

    def estimates(self, event):
        return [self.series[str(i), event] for i in range(self.first, self.last)]

    def cycles(self, i):
        """Returns the cycles of interval i."""
        return self.readings[self.first + i + 1]["time"] - self.readings[self.first + i]["time"]

    def seen(self, event):
        return self.series["total", event][4] / 1000

    def rounds(self):
        return (self.readings[self.last]["time"] - self.readings[self.first]["time"]) / ROUND


class Ideal:
    """An ideal multiplexer on the truth's cells."""

    def __init__(self, run, ratio, slice_cycles):
        self.ends, self.cells = read_cells(run.directory + "/truth.txt.cells", run.cpu)
        self.ratio, self.slice = ratio, max(1, slice_cycles // CELL)
        times = [run.readings[i]["time"] for i in range(run.first, run.last + 1)]
        self.interval = []
        at = 0
        for end in self.ends:  # the interval of each cell, -1 before the first
            while at < len(times) and end > times[at]:
                at += 1
            self.interval.append(at - 1 if at < len(times) else -1)
        self.intervals = len(times) - 1
        self.in_interval = [self.interval.count(i) for i in range(self.intervals)]

    def counts(self, event):
        name, mode = without_mode(event)
        name = truth_name(name)
        if mode:
            return self.cells[name, mode]
        return [a + b for a, b in zip(self.cells[name, "u"], self.cells[name, "k"])]

    def scaled(self, counted, seen):
        """Scales counts by the part of the interval that was seen. Where hardly any was, the rate
        before goes on."""
        estimate, rate = [], 0
        for c, s, cells in zip(counted, seen, self.in_interval):
            if 4 * s * self.ratio >= cells:
                rate = c / s
            estimate.append(rate * cells)
        return estimate

    def floor(self, event, smoothing, seed):
        """Returns KL against the truth in the same cells: the median of the draws, and their 95th
        percentile."""
        counts = self.counts(event)
        rng = random.Random(seed)
        inside = [i for i, w in enumerate(self.interval) if w >= 0]
        if not inside:
            return 0, 0
        begin, end = inside[0], inside[-1] + 1
        truth = [0] * self.intervals
        for i in range(begin, end):
            truth[self.interval[i]] += counts[i]
        results = []
        turn = self.slice * self.ratio
        for _ in range(DRAWS):
            counted, seen = [0] * self.intervals, [0] * self.intervals
            for first in range(begin - rng.randrange(turn), end, turn):
                on = first + rng.randrange(self.ratio) * self.slice
                for i in range(max(on, begin), min(on + self.slice, end)):
                    counted[self.interval[i]] += counts[i]
                    seen[self.interval[i]] += 1
            results.append(divergence(truth, self.scaled(counted, seen), smoothing))
        return quantile(results, 0.5), quantile(results, 0.95)


# ---- Results ----


class Accuracy:
    def __init__(self):
        # By configuration, program and event: of each seed.
        self.kl, self.floor, self.rate = {}, {}, {}
        self.beyond = {}  # whether the KL exceeds an ideal multiplexer's in 95 of 100 draws
        self.width, self.cases, self.held = {}, {}, {}
        self.high = {}  # where nothing was counted, in % of the cycles
        # By configuration and class of cases: whether the interval holds the truth; of the class
        # none: whether there were events.
        self.classes = {}
        self.configs = []
        self.moved = 0  # runs left out: the program changed CPUs, and the truth's cells are of one

    def add(self, name, directory):
        _, ratio, slice_cycles, kind, seed = name.split("-")
        config = ratio + "-" + slice_cycles
        if config not in self.configs:
            self.configs.append(config)
        run = Run(directory)
        ideal = Ideal(run, int(ratio), int(slice_cycles))
        if 0 in ideal.in_interval:
            self.moved += 1
            return
        for event in run.events:
            if without_mode(event)[1] == "k":
                continue  # the truth's of a CPU has its idle thread's
            truth = run.truth(event)
            if not sum(truth):
                continue
            seen = run.seen(event) or 1
            smoothing = 0.5 / seen
            estimate = [e[0] for e in run.estimates(event)]
            key = (config, kind, event)
            self.kl.setdefault(key, []).append(divergence(truth, estimate, smoothing))
            floor, most = ideal.floor(event, smoothing, int(seed))
            self.floor.setdefault(key, []).append(floor)
            self.beyond.setdefault(key, []).append(self.kl[key][-1] > most)
            self.rate.setdefault(key, []).append(sum(truth) / run.rounds())

    def add_intervals(self, name, directory):
        _, ratio, slice_cycles, kind, _ = name.split("-")
        config = ratio + "-" + slice_cycles
        run = Run(directory)
        for event in run.events:
            if without_mode(event)[1] == "k":
                continue
            for i, (truth, (count, low, high, sure, _)) in enumerate(
                zip(run.truth(event), run.estimates(event))
            ):
                if sure == NONE:
                    self.classes.setdefault((config, "none"), []).append(truth != 0)
                if sure != INTERVAL or low is None:
                    continue
                key = (config, kind, event)
                self.cases[key] = self.cases.get(key, 0) + 1
                self.held[key] = self.held.get(key, 0) + (low <= truth <= high)
                of = "counted" if count else "uncounted" if truth else "zero"
                self.classes.setdefault((config, of), []).append(low <= truth <= high)
                if count:
                    self.width.setdefault(config, []).append(100 * (high - low) / 2 / count)
                else:
                    self.high.setdefault(config, []).append(100 * high / run.cycles(i))

    def kind_of(self, key):
        if quantile(self.rate[key], 0.5) < NEEDED:
            return RARE
        return BURSTY if quantile(self.floor[key], 0.5) > LIMIT else HEADLINE

    def same(self):
        """Returns the (program, event) pairs that every configuration counts and that are not
        exceptions in the main one: all rows of a table are about them."""
        of = [
            {k[1:] for k in self.kl if k[0] == c and (c != MAIN or self.kind_of(k) == HEADLINE)}
            for c in self.configs
        ]
        return set.intersection(*of) if of else set()

    def all_of_same(self, table, config, same):
        return [quantile(v, 0.5) for k, v in table.items() if k[0] == config and k[1:] in same]

    def all_of(self, table, config, kind):
        return [
            quantile(v, 0.5) for k, v in table.items() if k[0] == config and self.kind_of(k) == kind
        ]

    def count(self, table, config):
        return sum(n for (c, _, _), n in table.items() if config in (c, None))


def print_classes(a, config):
    def of(*names):
        return [held for name in names for held in a.classes.get((config, name), [])]

    def part(name, cases):
        coverage = 100 * sum(cases) / max(1, len(cases))
        return f"{name}_cases={len(cases)} {name}_coverage_pct={coverage:.1f}"

    none = of("none")
    return " ".join(
        (
            part("ci_counted", of("counted")),
            part("ci_uncounted", of("uncounted")),
            f"ci_zero_cases={len(of('zero'))}",
            part("ci_nonzero", of("counted", "uncounted")),
            f"ci_none_cases={len(none)} ci_none_nonzero={sum(none)}",
        )
    )


def print_accuracy(a, say):
    same = a.same()
    for config in a.configs:
        ratio, slice_cycles = config.split("-")
        (kl, floor), (bursty, bursty_floor), (rare, rare_floor) = (
            (a.all_of(a.kl, config, kind), a.all_of(a.floor, config, kind))
            for kind in (HEADLINE, BURSTY, RARE)
        )
        above = [k - f for k, f in zip(kl, floor)]
        beyond = [
            b for k, v in a.beyond.items() if k[0] == config and a.kind_of(k) == HEADLINE for b in v
        ]
        cases, held = a.count(a.cases, config), a.count(a.held, config)
        same_kl, same_floor = (a.all_of_same(table, config, same) for table in (a.kl, a.floor))
        say(
            f"RESULT hpm.accuracy {{}} ratio={ratio} slice_cycles={slice_cycles} "
            f"form={'published' if config == PUBLISHED else 'strata'} "
            f"cases={len(kl)} kl_median={quantile(kl, .5):.4f} kl_p90={quantile(kl, .9):.4f} "
            f"kl_worst={quantile(kl, 1):.3f} "
            f"floor_median={quantile(floor, .5):.4f} floor_p90={quantile(floor, .9):.4f} "
            f"floor_worst={quantile(floor, 1):.3f} "
            f"above_floor_median={quantile(above, .5):.4f} "
            f"above_floor_worst={quantile(above, 1):.3f} "
            f"beyond_95_of_100_draws_pct={100 * sum(beyond) / len(beyond) if beyond else 0:.1f} "
            f"bursty_cases={len(bursty)} bursty_kl_median={quantile(bursty, .5):.3f} "
            f"bursty_floor_median={quantile(bursty_floor, .5):.3f} "
            f"rare_cases={len(rare)} rare_kl_median={quantile(rare, .5):.3f} "
            f"rare_floor_median={quantile(rare_floor, .5):.3f} "
            f"same_cases={len(same_kl)} same_kl_median={quantile(same_kl, .5):.4f} "
            f"same_kl_worst={quantile(same_kl, 1):.3f} "
            f"same_floor_median={quantile(same_floor, .5):.4f} "
            f"same_floor_worst={quantile(same_floor, 1):.3f} "
            f"ci_cases={cases} ci_coverage_pct={100 * held / cases if cases else 0:.1f} "
            f"{print_classes(a, config)} "
            f"ci_half_width_median_pct={quantile(a.width.get(config, []), .5):.1f} "
            f"ci_uncounted_high_median_pct_of_cycles={quantile(a.high.get(config, []), .5):.3f}"
        )


def print_events(a, say):
    titles = {
        HEADLINE: f"At least {NEEDED} events a round, not bursty",
        BURSTY: f"At least {NEEDED} events a round, bursty",
        RARE: "Rarer",
    }
    for kind, title in titles.items():
        say(
            f"\n# {title}.  Ratio 10, slices of 50,000 cycles, and one of 200,000 a round as "
            "published; medians over seeds"
        )
        say(f"# {'program':8} {'event':24} {'KL':>8} {'floor':>8} {'published':>10} {'floor':>8}")
        rows = [k for k in a.kl if k[0] == MAIN and a.kind_of(k) == kind]
        for key in sorted(rows, key=lambda k: -quantile(a.kl[k], 0.5)):
            other = (PUBLISHED, *key[1:])
            figures_ = (
                quantile(table.get(k, [math.nan]), 0.5)
                for k in (key, other)
                for table in (a.kl, a.floor)
            )
            say("# {:8} {:24} {:8.4f} {:8.4f} {:10.4f} {:8.4f}".format(*key[1:], *figures_))
    say("\n# intervals that hold, by event")
    by_event = {}
    for (_, _, event), n in a.cases.items():
        by_event.setdefault(event, [0, 0])[1] += n
    for (_, _, event), n in a.held.items():
        by_event[event][0] += n
    say("# " + " ".join(f"{e} {h}/{n}" for e, (h, n) in sorted(by_event.items())))


def results_of(path, app):
    """Returns the figures of an application's RESULT lines."""
    with open(path, encoding="utf-8", errors="replace") as f:
        return [
            dict(w.split("=", 1) for w in line.split()[1:] if "=" in w)
            for line in f
            if line.startswith(f"RESULT app={app} ")
        ]


def print_overhead(runs, say):
    """Prints cost-PROGRAM-SLICE-SEED beside cost-PROGRAM-none-SEED: operations in a time, or the
    time of a work."""
    at_20k = []
    speed = {}
    for name, directory in runs:
        _, program, slices, seed = name.split("-")
        r = results_of(directory + "/console.txt", "private" if program == "private" else "phases")[
            0
        ]
        speed[program, slices, seed] = (
            int(r["ops"]) / int(r["ns"]) if program == "private" else 1 / int(r["ns"])
        )
    for program, slices in dict.fromkeys((p, s) for p, s, _ in speed):
        pairs = [
            1 - v / speed[program, "none", seed]
            for (p, s, seed), v in speed.items()
            if (p, s) == (program, slices)
        ]
        if slices == "none":
            continue
        accounts, length = ("on", slices[:-1]) if slices.endswith("a") else ("off", slices)
        cost = quantile(pairs, 0.5)
        say(
            f"RESULT hpm.overhead {{}} program={program} accounts={accounts} slice_cycles={length} "
            f"switches_per_1e9_cycles={10**9 // int(length)} "
            f"pairs={len(pairs)} overhead_pct={100 * cost:.3f} least_pct={100 * min(pairs):.3f} "
            f"most_pct={100 * max(pairs):.3f} "
            f"cycles_per_switch={cost * int(length):.0f}"
        )
        if slices == "50000":
            at_20k.append(cost)
    return 100 * quantile(at_20k, 1)


def between(directory, first, last):
    """Returns the growth of the machine's truth between two marks: both modes, and the kernel's."""
    marks = {m["label"]: m for m in read_truth(directory + "/truth.txt")}
    grown = {
        k: marks[last]["total"][k] - (marks[first]["total"][k] if first else 0)
        for k in marks[last]["total"]
    }
    kernel = sum(
        v["instructions"] - (marks[first]["cpu"][k]["instructions"] if first else 0)
        for k, v in marks[last]["cpu"].items()
        if k[1] == "kernel"
    )
    return grown, kernel


def print_turn(runs, say):
    """Prints the cost of a turn, by the truth of the same work with and without turns. The number
    of turns is the difference in exceptions."""
    by = dict(runs)
    for slices in ("50000", "10000", "50000a"):
        with_, without = by.get(f"cost-sort-{slices}-1"), by.get("cost-sort-none-1")
        if not with_ or not without:
            continue
        a, b = between(with_, None, "exit")[0], between(without, None, "exit")[0]
        turns = a["exceptions"] - b["exceptions"]
        part = {k: (a[k] - b[k]) / turns for k in a}
        say(
            f"RESULT hpm.turn {{}} slice_cycles={slices.rstrip('a')} "
            f"accounts={'on' if slices.endswith('a') else 'off'} turns={turns} "
            f"instructions={part['instructions']:.0f} cycles={part['cycles']:.0f} "
            f"entry_return_registers={part['stall_other']:.0f} "
            f"completion={part['completion']:.0f} "
            + " ".join(
                f"{k}={part['stall_' + k]:.0f}" for k in ("icache", "branch", "dcache", "tlb")
            )
        )


def print_parts(runs, say):
    """Prints the cost of a turn, a reading, a context switch, a record and a sample, by the
    difference to the same without."""
    by = {name.rsplit("-", 1)[0]: directory for name, directory in runs}
    sample = 0
    if "part-read" in by and "part-readnone" in by:
        n = int(results_of(by["part-read"] + "/console.txt", "costs")[0]["times"])
        a, b = (
            between(by[p], "costs-begin", "costs-end")[0] for p in ("part-read", "part-readnone")
        )
        say(
            f"RESULT hpm.cost {{}} what=read times={n} "
            f"instructions={(a['instructions'] - b['instructions']) / n:.0f} "
            f"cycles={(a['cycles'] - b['cycles']) / n:.0f}"
        )
    switches = {}
    for loaded in ("none", "", "38x"):
        few, many = by.get(f"part-switch{loaded}2"), by.get(f"part-switch{loaded}20000")
        if few and many:
            a, b = (between(d, None, "exit")[0] for d in (many, few))
            switches[loaded] = [(a[k] - b[k]) / 20000 for k in ("instructions", "cycles")]
    for loaded, what in (("", "breakdown"), ("38x", "38_events")):
        if loaded in switches and "none" in switches:
            (i, c), (i0, c0) = switches[loaded], switches["none"]
            say(
                f"RESULT hpm.cost {{}} what=switch counting={what} instructions={i - i0:.0f} "
                f"cycles={c - c0:.0f} "
                f"without_instructions={i0:.0f} without_cycles={c0:.0f}"
            )
    for figures, suffix in ((1, ""), (8, "-8")):
        with_, without = by.get(f"part-logged{suffix}"), by.get(f"part-counted{suffix}")
        if with_ and without:
            n = int(results_of(with_ + "/console.txt", "costs")[0]["times"])
            a, b = (between(d, "costs-begin", "costs-end")[0] for d in (with_, without))
            say(
                f"RESULT hpm.cost {{}} what=log figures={figures} records={n} "
                f"instructions={(a['instructions'] - b['instructions']) / n:.0f} "
                f"cycles={(a['cycles'] - b['cycles']) / n:.0f}"
            )
    for criterion in ("l1d.miss", "access.any"):
        with_, without = by.get(f"part-sample.{criterion}"), by.get(f"part-nosample.{criterion}")
        if not with_ or not without:
            continue
        r, r0 = (
            results_of(with_ + "/console.txt", "stores")[0],
            results_of(without + "/console.txt", "stores")[0],
        )
        kept = int(r["samples"]) + int(r["elsewhere"]) - int(r0["samples"]) - int(r0["elsewhere"])
        a, kernel = between(with_, None, "exit")
        b, kernel0 = between(without, None, "exit")
        say(
            f"RESULT hpm.cost {{}} what=sample criterion={criterion} times={kept} "
            f"instructions={(kernel - kernel0) / kept:.0f} "
            f"cycles={(a['cycles'] - b['cycles']) / kept:.0f}"
        )
        sample = max(sample, (kernel - kernel0) / kept)
    return sample


def read_bias(path):
    """Returns the worst ratio with prime distances, from sampling.sh's results."""
    worst = 0
    try:
        with open(path, encoding="ascii") as f:
            for line in f:
                if line.startswith("RESULT hpm.bias.all ") and " periods=primes " in line:
                    worst = max(worst, float(line.split("ratio_worst=")[1].split()[0]))
    except OSError:
        pass
    return worst


def main():
    options = dict(a.split("=", 1) for a in sys.argv[1:])
    out, where = options["out"], f"arch={options['arch']} machine={options['machine']}"
    runs = []
    for line in sys.stdin:
        name, _, _, seed = line.rstrip("\n").split("|")
        if os.path.exists(f"{out}/{name}-{seed}.done"):
            runs.append((f"{name}-{seed}", f"{out}/{name}-{seed}"))

    def say(text):
        print(text.replace("{}", where), flush=True)

    a = Accuracy()
    for name, directory in runs:
        if name.startswith("kl-"):
            a.add(name, directory)
        elif name.startswith("ci-"):
            a.add_intervals(name, directory)
    print_accuracy(a, say)
    overhead = print_overhead([r for r in runs if r[0].startswith("cost-")], say)
    print_turn(runs, say)
    sample = print_parts([r for r in runs if r[0].startswith("part-")], say)
    print_events(a, say)
    kl, bursty, rare = (a.all_of(a.kl, MAIN, kind) for kind in (HEADLINE, BURSTY, RARE))
    cases, held = sum(a.cases.values()), sum(a.held.values())
    say(
        f"RESULT hpm.summary arch={options['arch']} kl_median={quantile(kl, .5):.4f} "
        f"kl_worst={quantile(kl, 1):.3f} "
        f"kl_cases={len(kl)} kl_left_out_bursty={len(bursty)} kl_left_out_rare={len(rare)} "
        f"kl_worst_with_them={quantile(kl + bursty + rare, 1):.3f} "
        f"kl_runs_left_out_moved={a.moved} "
        f"ci_coverage_pct={100 * held / cases if cases else 0:.1f} ci_cases={cases} "
        f"overhead_20k_pct={overhead:.2f} "
        f"sample_insns={sample:.0f} bias_max_min={read_bias(options['bias']):.2f}"
    )


main()
