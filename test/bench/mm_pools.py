"""Part pools of test/bench/mm.py: two programs, in one pool or in pools divided by a goal."""
import os

from mm_runs import CYCLES_NS, pairs

RATE = 400  # faults a second that goal=service asks for


# ---- Figures ----


def window(path, programs):
    """Returns the user instructions per cycle of all CPUs together, from the last of the programs'
    marks start to the next mark end, and the times of these, in ms."""
    marks = []
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "mark":
                marks.append([words[1], int(pairs(line)["time"]), 0])
            elif words[0] == "cpu" and words[2] == "user" and marks:
                marks[-1][2] += int(pairs(line)["instructions"])
    starts = [m for m in marks if m[0] == "start"]
    ends = [m for m in marks if m[0] == "end" and starts and m[1] > starts[-1][1]]
    if len(starts) != programs or not ends:
        return None
    time = ends[0][1] - starts[-1][1]
    return (
        (ends[0][2] - starts[-1][2]) / time,
        starts[-1][1] * CYCLES_NS / 1e6,
        ends[0][1] * CYCLES_NS / 1e6,
    )


def fault_rate(figures, start, end):
    """Returns the faults a second in the second half of this time, as text; `-`: memstat looked
    fewer than two times in it."""
    later = [look for look in figures["looks"] if (start + end) / 2 <= look[0] <= end]
    if len(later) < 2:
        return "-"
    return f"{1000 * (later[-1][1] - later[0][1]) / (later[-1][0] - later[0][0]):.0f}"


def speed(figures, start, end):
    """Returns the part of this time in which the program did not wait for pages; None: memstat
    looked fewer than two times in it."""
    looks = [look for look in figures["looks"] if start <= look[0] <= end]
    if len(looks) < 2:
        return None
    return max(1 - (looks[-1][2] - looks[0][2]) / 1000 / (looks[-1][0] - looks[0][0]), 1e-6)


def said(figure):
    return "-" if figure is None else f"{figure:.3f}"


def joined(texts):
    return ",".join(str(text) for text in texts)


# ---- Runs ----


def seeds_of(bench, percent, goal):
    """Returns the number of seeds: several for small programs at the size that has all goals."""
    several = percent in bench.o.set["goals"] and goal in ("global", "throughput")
    return bench.o.seeds if several or not bench.o.small else 1


def pools_run(bench, name, programs, pages, how, seed=1, own=""):
    """Runs programs in this number of pages of memory. Returns window()'s tuple and their output;
    None: a run failed."""
    o = bench.o
    epoch_ms = o.set["epoch_ms"]
    found = bench.run(
        name,
        f"mem.user={pages * 4}K mem.track=always mem.epoch_ms={epoch_ms} {how}",
        programs,
        smp=4,
        timeout=7200,
        seed=seed,
        interval=epoch_ms,
        own=own,
    )
    seen = window(os.path.join(o.out, name, "truth.txt"), len(programs)) if found else None
    return (seen, found) if seen else None


def pools_alone(bench, program, takes, percent, pages):
    """Returns a program's speed with all of these pages; None: the run failed."""
    if takes * 10 <= pages * 9:
        return 1.0
    name = f"pools-{percent}-{program.split()[0]}"
    run = pools_run(bench, name, [program], pages, "mem.pool=global")
    return speed(run[1][0], *run[0][1:]) if run else None


def jobs_of(bench, programs, percent, pages):
    """Returns the runs of both programs in this many pages, for Bench.each."""
    jobs = []
    goals = bench.o.set["goals"]
    for goal in goals.get(percent, goals[""]).split():
        how = "mem.pool=global" if goal == "global" else f"mem.goal={goal}"
        own = f"mem.rate={RATE}" if goal == "service" else ""
        for seed in range(1, seeds_of(bench, percent, goal) + 1):
            arguments = (f"pools-{percent}-{goal}-{seed}", programs, pages, how, seed, own)
            jobs.append(((int(percent), goal, seed), pools_run, (bench, *arguments)))
    return jobs


# ---- Results ----


class Pools:
    """What the runs of part pools have shown so far, by percent of memory and goal."""

    def __init__(self, bench, programs):
        self.bench = bench
        self.names = [p.split()[0] for p in programs]
        self.ipc, self.speedups = {}, {}
        self.gains = []  # of throughput over global: weighted, harmonic

    def add(self, percent, goal, runs, alone):
        """Prints the median of runs by their IPC; alone: the speed of each program by itself."""
        runs = sorted(runs, key=lambda run: run[0][0])
        (ipc, *when), figures = runs[len(runs) // 2]
        self.ipc[percent, goal] = ipc
        base = self.ipc.get((percent, "global"))
        speeds = [speed(f, *when) for f in figures]
        speedups = [s / a if s and a else None for s, a in zip(speeds, alone)]
        weighted = harmonic = None
        if None not in speedups:
            weighted = sum(speedups)
            harmonic = len(speedups) / sum(1 / s for s in speedups)
            self.speedups[percent, goal] = (weighted, harmonic)
            self.add_gain(percent, goal)
        self.bench.result(
            "pools",
            **self.case(percent, goal),
            ipc=f"{ipc:.4f}",
            ipc_min=f"{runs[0][0][0]:.4f}",
            ipc_max=f"{runs[-1][0][0]:.4f}",
            seeds=len(runs),
            fewer_cycles_pct=f"{100 * (1 - base / ipc) if base else 0.0:.1f}",
            speedup=joined(said(s) for s in speedups),
            weighted=said(weighted),
            harmonic=said(harmonic),
            faults_per_s=joined(fault_rate(f, *when) for f in figures),
            major=joined(f["major"] for f in figures),
            ops_per_s=figures[0].get("ops_per_s", "-"),
            check=joined(f["check"] for f in figures),
        )

    def add_gain(self, percent, goal):
        one_pool = self.speedups.get((percent, "global"))
        if goal == "throughput" and one_pool:
            divided = self.speedups[percent, goal]
            self.gains.append((divided[0] - one_pool[0], divided[1] - one_pool[1]))

    def fail(self, percent, goal):
        self.bench.result("pools", **self.case(percent, goal), check="failed")
        self.bench.failed = True

    def case(self, percent, goal):
        return {"programs": "+".join(self.names), "memory_pct": percent, "goal": goal}

    def summary(self):
        """Prints the gains of throughput. Returns the largest of the harmonic mean, or None."""
        if not self.gains:
            return None
        weighted, harmonic = zip(*self.gains)
        self.bench.result(
            "pools.summary",
            sizes=len(self.gains),
            weighted_gain_best=f"{max(weighted):.3f}",
            weighted_gain_worst=f"{min(weighted):.3f}",
            harmonic_gain_best=f"{max(harmonic):.3f}",
            harmonic_gain_worst=f"{min(harmonic):.3f}",
        )
        return max(harmonic)


def part_pools(bench):
    o, programs = bench.o, list(bench.o.set["pools"])
    ample = bench.run("pools-ample", "mem.tracker=none", programs, smp=4)
    if not ample:
        return {"pools_gain": None}
    pages = sum(a["first"] for a in ample)
    jobs, alone = [], {}
    for percent in (o.given_percents or o.set["pools_percents"]).split():
        memory = pages * int(percent) // 100
        alone[int(percent)] = [
            bench.pool.submit(pools_alone, bench, program, a["first"], percent, memory)
            for program, a in zip(programs, ample)
        ]
        jobs += jobs_of(bench, programs, percent, memory)
    pools, runs = Pools(bench, programs), {}
    for (percent, goal, seed), run in bench.each(jobs):
        runs.setdefault((percent, goal), []).append(run)
        if seed < seeds_of(bench, str(percent), goal):
            continue
        if None in runs[percent, goal]:
            pools.fail(percent, goal)
        else:
            pools.add(percent, goal, runs[percent, goal], [a.result() for a in alone[percent]])
    return {"pools_gain": pools.summary()}
