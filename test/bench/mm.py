#!/usr/bin/env python3
"""`make bench-mm`: programs with less memory than they take, on the simulated machine with its own
disk ([A] 4.6).

    test/bench/mm.py kernel=FILE [name=value ...]

    arch=ARCH      x86_64, aarch64
    machine=NAME   simulated machine
    small=1        programs of 2 to 4 MiB; without it of 48 MiB, a tenth of which fits into the page
                   access buffer
    quick=1        a few cases of the small ones
    seeds=N        seeds 1 to N of the random choices: the chooser's, and with several CPUs the
                   machine's; figures are medians
    parts=LIST     of policy, replay, pools, prefetch, disk, virtio, pab, track, host; all;
                   quick=1: all but host
    apps=LIST      of parts policy, replay, prefetch and pab
    policies=LIST  of parts policy, replay and prefetch
    percents=LIST  of parts policy, replay, prefetch and pools
    goals=LIST     of part pools, at every size: global (one pool), throughput, fairness, maxmin,
                   service
    rounds=N       times that programs do their work; not of part pools
    resume=1       runs with the same kernel, machine and arguments as before are not repeated
    latency=N      of the disk, in cycles
    page=N         a page's time on the disk's channel, in cycles; 0: no time
    jobs=N         simulations at a time
    out=DIR  results=FILE

Memory is in percent of the pages that a program has made by its end, with memory ample. Model time
and counts are those of the simulated machine: they do not depend on the host. ns is from the
program's mark start to its mark end; faults are of all its life. A result with another sum than the
run with ample memory is check=differs.

policy    time by replacement policy and memory, of most programs in half of it (replay has misses
          at all sizes). opt: the time of the run with ample memory, and a disk latency for each
          miss of the optimum on that run's recorded trace.
replay    misses by replacement policy and memory, first uses included. Accesses recorded with
          ample memory, in enough rounds for 60 a page, are replayed on the host. The chooser
          starts with the expert that is worst for it.
pools     two programs, all memory in one pool or divided by a goal, from when both have filled
          their arrays until one of them ends.
            speedup   of each, single-threaded: the part of that time in which it does not wait for
                      pages, by the same alone with all of that memory (all of the time, where it
                      takes no more than nine tenths of the memory)
            weighted  the sum of both, the weighted speedup
            harmonic  their harmonic mean, which goal=throughput makes highest
            ipc       user instructions per cycle of both together
            faults    a second, of each, in the second half of that time
            major     of a pool, with goal=global of both programs together
          With goal=service the first program asks for RATE faults a second at most, the other for
          nothing.
prefetch  recall: faults avoided; precision: prefetched pages that were used; io: pages moved, more
          than without.
disk      with a tenth of the disk's bandwidth, and with an infinite one as [A] assumed.
virtio    on plain QEMU and its virtio disk: time is the host's, and depends on the host's load.
          Faults alone do not.
pab       the page access buffer's size: its effect on time with a policy, or prefetching, and on
          tracking.
track     test/bench/track.sh.
host      bench-mrc, bench-regret, and of bench-prefetch blocked LU and random accesses; they do not
          depend on the architecture.
"""
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from mm_runs import POLICIES, TOP, Bench, Options, pairs

CYCLES_NS = 1.0  # the simulated machine's clock: a cycle is a nanosecond
RATE = 400  # faults a second that goal=service asks for
PREFETCH = "none spatial streams ppg ppg-published chooser".split()
EXPERTS = "lru wtinylfu-margin mru lirs-recent arc gap".split()  # the chooser's
REPLAY_PERCENTS = "5 10 20 30 40 50 60 70 80 90"
ACCESSES = 60  # of each page, on average, that part replay wants


# ---- Parts ----


def replayed(trace, frames, *options):
    """Replays a trace on the host with these numbers of frames, ascending. Returns for each the
    misses by policy; the accesses; the number of first uses."""
    done = subprocess.run(
        ["build/vigil-replay", "--frames", ",".join(frames), *options, trace],
        cwd=TOP,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        sys.exit(f"mm.py: {trace}: {done.stderr.decode().strip()}")
    names, rows, first, accesses = [], [], 0, 0
    for line in done.stdout.decode().splitlines():
        words = line.split()
        if words[:1] == ["trace:"]:
            first, accesses = int(pairs(line)["pages"]), int(pairs(line)["accesses"])
        elif words[:1] == ["frames"]:
            names = words[1:]
        elif words and words[0].isdigit():
            rows.append(dict(zip(names, map(int, words[1:]))))
    return rows, accesses, first


def part_policy(bench):
    o = bench.o
    list(bench.each([(a, bench.ample, (a,)) for a in o.apps]))
    times = {}
    jobs = [
        ((a, q, p), bench.limited, (f"policy-{a}-{q}-{p}", a, p, f"mem.policy={q}"))
        for a in o.apps
        for p in o.percents(a)
        for q in o.policies
    ]
    for (app, policy, percent), found in bench.each(jobs):
        if not found:
            bench.say(
                f"RESULT mm.policy arch={o.arch} app={app} policy={policy} memory_pct={percent} check=failed"
            )
            continue
        times[app, percent, policy] = found
        bench.say(
            f"RESULT mm.policy arch={o.arch} app={app} policy={policy} memory_pct={percent} ns={found['ns']:.0f} major={found['major']:.0f} "
            f"out={found['out']:.0f}{found['spread']} check={found['check']}"
        )
    for app in o.apps:
        percents = sorted(o.percents(app))
        rows, accesses, first = replayed(
            bench.trace(app),
            [str(max(bench.ample(app)["pages"] * p // 100, 64)) for p in percents],
            "--policy",
            "lru",
        )
        times[app] = accesses - first
        for percent, row in zip(percents, rows):
            misses = row["opt"] - first
            ns = float(bench.ample(app)["ns"]) + misses * (o.latency + o.page) * CYCLES_NS
            times[app, percent, "opt"] = {"ns": ns, "major": misses}
            bench.say(
                f"RESULT mm.policy arch={o.arch} app={app} policy=opt memory_pct={percent} ns={ns:.0f} major={misses} out=- check=replayed"
            )
    return {"lu_speedup": lu_speedup(bench, times), "program_regret": program_regret(bench, times)}


def lu_speedup(bench, times):
    """Returns the most that a policy is faster than LRU on LU contiguous."""
    best = None
    for percent in bench.o.percents("lu-contiguous"):
        rows = {
            q: times["lu-contiguous", percent, q]["ns"]
            for q in bench.o.policies
            if ("lu-contiguous", percent, q) in times
        }
        opt = times.get(("lu-contiguous", percent, "opt"))
        if "lru" not in rows or not opt:
            continue
        policy = min(rows, key=rows.get)
        gained = (
            (rows["lru"] - rows[policy]) / (rows["lru"] - opt["ns"])
            if rows["lru"] > opt["ns"]
            else 1.0
        )
        bench.say(
            f"RESULT mm.lu arch={bench.o.arch} memory_pct={percent} best={policy} speedup={rows['lru'] / rows[policy]:.2f} "
            f"opt_speedup={rows['lru'] / opt['ns']:.2f} of_opt_gain_pct={100 * gained:.1f}"
        )
        best = max(best or 0, rows["lru"] / rows[policy])
    return best


def program_regret(bench, times):
    """Returns how much slower the chooser is than the best policy, in percent, and how much more
    often it misses, in points: the worst of programs and sizes."""
    slower, more = [], []
    for app in bench.o.apps:
        for percent in bench.o.percents(app):
            rows = {
                q: times[app, percent, q]
                for q in bench.o.policies
                if (app, percent, q) in times and q != "region"
            }
            chooser = rows.pop("chooser", None)
            if not chooser or not rows:
                continue
            where = f"app={app} memory_pct={percent} best="
            best = min(rows, key=lambda q: rows[q]["ns"])
            slower.append((100 * (chooser["ns"] / rows[best]["ns"] - 1), where + best))
            best = min(rows, key=lambda q: rows[q]["major"])
            if times.get(app):
                more.append(
                    (100 * (chooser["major"] - rows[best]["major"]) / times[app], where + best)
                )
    if not slower:
        return None
    bench.say(
        f"RESULT mm.chooser arch={bench.o.arch} slower_pct_max={max(slower)[0]:.1f} {max(slower)[1]}"
    )
    if more:
        bench.say(
            f"RESULT mm.chooser.misses arch={bench.o.arch} points_max={max(more)[0]:.1f} {max(more)[1]}"
        )
    return max(slower)


def long_enough(bench, app):
    """Returns APP's recorded accesses, in enough rounds for ACCESSES of each page; None: it cannot
    run that many."""
    rounds = bench.o.rounds
    while True:
        trace = bench.trace(app, rounds)
        if not trace:
            return None
        _, accesses, pages = replayed(trace, ["100%"], "--policy", "lru")
        if accesses >= ACCESSES * pages:
            return trace
        rounds = max(rounds + 1, -(-rounds * ACCESSES * pages // accesses))


def part_replay(bench):
    o = bench.o
    percents = sorted(int(p) for p in (o.given_percents or REPLAY_PERCENTS).split())
    frames = [f"{p}%" for p in percents]
    policies = [q for q in o.policies if q != "chooser"] or EXPERTS
    experts = [q for q in policies if q in EXPERTS] or ["opt"]
    for app, trace in bench.each([(a, long_enough, (bench, a)) for a in o.apps]):
        if not trace:
            bench.say(f"RESULT mm.replay arch={o.arch} app={app} check=failed")
            continue
        rows, accesses, first = replayed(trace, frames, "--policy", ",".join(policies))
        started = (
            {q: replayed(trace, frames, "--policy", "chooser", "--first", q)[0] for q in EXPERTS}
            if "chooser" in o.policies
            else {}
        )
        regret = []
        for i, (percent, row) in enumerate(zip(percents, rows)):
            if started:
                row["chooser"], start = max((started[q][i]["chooser"], q) for q in EXPERTS)
                best = min(experts, key=row.get)
                regret.append(
                    (
                        100 * (row["chooser"] - row[best]) / accesses,
                        f"memory_pct={percent} best={best} first={start}",
                    )
                )
            bench.say(
                f"RESULT mm.replay arch={o.arch} app={app} memory_pct={percent} pages={first} accesses={accesses} "
                + " ".join(f"{q}={misses}" for q, misses in row.items())
            )
        if regret:
            points, where = max(regret)
            bench.say(
                f"RESULT mm.replay.chooser arch={o.arch} app={app} accesses_a_page={accesses / first:.0f} points_max={points:.2f} {where}"
            )
    return {}


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
    """Returns the faults a second in the second half of this time, as text; `-`: it has fewer than
    two looks."""
    later = [look for look in figures["looks"] if (start + end) / 2 <= look[0] <= end]
    if len(later) < 2:
        return "-"
    return f"{1000 * (later[-1][1] - later[0][1]) / (later[-1][0] - later[0][0]):.0f}"


def speed(figures, start, end):
    """Returns the part of this time in which it did not wait for pages; None: it has fewer than two
    looks."""
    looks = [look for look in figures["looks"] if start <= look[0] <= end]
    if len(looks) < 2:
        return None
    return max(1 - (looks[-1][2] - looks[0][2]) / 1000 / (looks[-1][0] - looks[0][0]), 1e-6)


def said(figure):
    return "-" if figure is None else f"{figure:.3f}"


def seeds_of(bench, percent, goal):
    """Returns the number of seeds: several for small programs at the size that has all goals."""
    several = percent in bench.o.set["goals"] and goal in ("global", "throughput")
    return bench.o.seeds if several or not bench.o.small else 1


def pools_run(bench, name, programs, pages, how, seed=1, own=""):
    """Runs programs in this number of pages of memory. Returns window()'s tuple and their output;
    None: a run failed."""
    o = bench.o
    found = bench.run(
        name,
        f"mem.user={pages * 4}K mem.track=always mem.epoch_ms={o.set['epoch_ms']} {how}",
        programs,
        None,
        4,
        7200,
        None,
        seed,
        False,
        o.set["epoch_ms"],
        own,
    )
    seen = window(os.path.join(o.out, name, "truth.txt"), len(programs)) if found else None
    return (seen, found) if seen else None


def pools_alone(bench, program, takes, percent, pages):
    """Returns a program's speed with all of these pages; None: the run failed."""
    if takes * 10 <= pages * 9:
        return 1.0
    run = pools_run(
        bench, f"pools-{percent}-{program.split()[0]}", [program], pages, "mem.pool=global"
    )
    return speed(run[1][0], *run[0][1:]) if run else None


def part_pools(bench):
    o, programs = bench.o, list(bench.o.set["pools"])
    names = [p.split()[0] for p in programs]
    alone = bench.run("pools-ample", "mem.tracker=none", programs, smp=4)
    if not alone:
        return {"pools_gain": None}
    pages = sum(a["first"] for a in alone)
    jobs, by_itself = [], {}
    for percent in (o.given_percents or o.set["pools_percents"]).split():
        memory = pages * int(percent) // 100
        for program, ample in zip(programs, alone):
            by_itself[int(percent), program] = bench.pool.submit(
                pools_alone, bench, program, ample["first"], percent, memory
            )
        for goal in o.set["goals"].get(percent, o.set["goals"][""]).split():
            how = "mem.pool=global" if goal == "global" else f"mem.goal={goal}"
            own = f"mem.rate={RATE}" if goal == "service" else ""
            for seed in range(1, seeds_of(bench, percent, goal) + 1):
                jobs.append(
                    (
                        (int(percent), goal, seed),
                        pools_run,
                        (bench, f"pools-{percent}-{goal}-{seed}", programs, memory, how, seed, own),
                    )
                )
    speeds, weights, gains, seen = {}, {}, [], {}
    for (percent, goal, seed), run in bench.each(jobs):
        if run:
            seen.setdefault((percent, goal), []).append((run[0][0], run[1], run[0][1:]))
        if seed < seeds_of(bench, str(percent), goal):
            continue
        head = f"RESULT mm.pools arch={o.arch} programs={'+'.join(names)} memory_pct={percent} goal={goal}"
        runs = sorted(seen.get((percent, goal), []), key=lambda r: r[0])
        if len(runs) < seed:
            bench.say(head + " check=failed")
            bench.failed = True
            continue
        ipc, figures, when = runs[len(runs) // 2]
        speeds[percent, goal] = ipc
        base = speeds.get((percent, "global"))
        fewer = 100 * (1 - base / ipc) if base else 0.0
        of_itself = [by_itself[percent, p].result() for p in programs]
        speedups = [
            s / a if s and a else None
            for s, a in zip((speed(f, *when) for f in figures), of_itself)
        ]
        weighted = sum(speedups) if None not in speedups else None
        harmonic = len(speedups) / sum(1 / s for s in speedups) if weighted else None
        weights[percent, goal] = (weighted, harmonic) if weighted else None
        if weighted and weights.get((percent, "global")) and goal == "throughput":
            gains.append(
                (weighted - weights[percent, "global"][0], harmonic - weights[percent, "global"][1])
            )
        rates = [fault_rate(f, *when) for f in figures]
        bench.say(
            f"{head} ipc={ipc:.4f} ipc_min={runs[0][0]:.4f} ipc_max={runs[-1][0]:.4f} seeds={len(runs)} fewer_cycles_pct={fewer:.1f} "
            f"speedup={','.join(said(s) for s in speedups)} weighted={said(weighted)} harmonic={said(harmonic)} "
            f"faults_per_s={','.join(rates)} major={','.join(str(f['major']) for f in figures)} "
            f"ops_per_s={figures[0].get('ops_per_s', '-')} check={','.join(f['check'] for f in figures)}"
        )
    if gains:
        by_mean = [g[1] for g in gains]
        bench.say(
            f"RESULT mm.pools.summary arch={o.arch} sizes={len(gains)} weighted_gain_best={max(gains)[0]:.3f} weighted_gain_worst={min(gains)[0]:.3f} "
            f"harmonic_gain_best={max(by_mean):.3f} harmonic_gain_worst={min(by_mean):.3f}"
        )
    return {"pools_gain": max(by_mean) if gains else None}


def part_prefetch(bench):
    o = bench.o
    apps = o.prefetch_apps
    list(bench.each([(a, bench.ample, (a,)) for a in apps]))
    jobs = [
        ((a, int(p), f), bench.limited, (f"prefetch-{a}-{f}-{p}", a, int(p), f"mem.prefetch={f}"))
        for a in apps
        for p in (o.given_percents or o.set["prefetch_percents"]).split()
        for f in PREFETCH
    ]
    base, summary = {}, {}
    for (app, percent, policy), found in bench.each(jobs):
        if not found:
            bench.say(
                f"RESULT mm.prefetch arch={o.arch} app={app} policy={policy} memory_pct={percent} check=failed"
            )
            continue
        moved = found["in"] + found["out"]
        if policy == "none":
            base[app, percent] = (found["major"], moved, found["ns"])
        none = base.get((app, percent), (0, 0, 0))
        recall = 100 * (1 - found["major"] / none[0]) if none[0] else 0.0
        precision = 100 * found["used"] / found["prefetched"] if found["prefetched"] else 0.0
        extra = 100 * (moved / none[1] - 1) if none[1] else 0.0
        slower = 100 * (found["ns"] / none[2] - 1) if none[2] else 0.0
        bench.say(
            f"RESULT mm.prefetch arch={o.arch} app={app} policy={policy} memory_pct={percent} ns={found['ns']:.0f} time_pct={slower:+.1f} "
            f"major={found['major']:.0f} recall_pct={recall:.1f} precision_pct={precision:.1f} prefetched={found['prefetched']:.0f} "
            f"io_pct={extra:+.1f} check={found['check']}"
        )
        if (app, percent, policy) == ("lu-rows", 50, "ppg"):
            summary = {"ppg_recall": recall, "ppg_precision": precision}
    return summary


def part_disk(bench):
    """Runs with other bandwidths of the disk."""
    o = bench.o
    jobs = [
        (
            (a, how, page),
            bench.limited,
            (f"disk-{a}-{how.split('=')[1]}-{page}", a, 50, how, None, page),
        )
        for a, how in o.set["disk_runs"]
        for page in (0, o.page, 10 * o.page)
    ]
    for (app, how, page), found in bench.each(jobs):
        head = f"RESULT mm.disk arch={o.arch} app={app} with={how} memory_pct=50 page_cycles={page}"
        bench.say(
            f"{head} ns={found['ns']:.0f} major={found['major']:.0f} check={found['check']}"
            if found
            else f"{head} check=failed"
        )
    return {}


def part_virtio(bench):
    """Runs on plain QEMU: no page access buffer, and time is the host's."""
    o = bench.o
    for app, how in o.set["disk_runs"]:
        limit = max(bench.ample(app)["pages"] * 50 // 100 * 4, 256)
        found = bench.run(
            f"virtio-{app}-{how.split('=')[1]}",
            f"mem.process={limit}K {how}",
            [o.program(app)],
            plain=True,
        )
        head = f"RESULT mm.virtio arch={o.arch} app={app} with={how} memory_pct=50"
        bench.say(
            f"{head} host_ns={found[0]['ns']} major={found[0]['major']} in={found[0]['in']} out={found[0]['out']} check={found[0]['check']}"
            if found
            else f"{head} check=failed"
        )
    return {}


def part_pab(bench):
    """Runs with other sizes of the page access buffer: with less memory, and, for the cost of
    tracking, with memory ample."""
    o = bench.o
    runs = o.set["pab_runs"]
    list(bench.each([(a, bench.ample, (a,)) for a, _ in runs]))
    jobs = []
    for app, how in runs:
        for pab in map(int, o.set["pabs"].split()):
            tag = how.split("=")[1]
            jobs.append(
                (
                    (app, how, pab, True),
                    bench.limited,
                    (f"pab-{app}-{tag}-{pab}", app, 50, how, pab),
                )
            )
            jobs.append(
                (
                    (app, how, pab, False),
                    bench.run,
                    (
                        f"pab-{app}-{tag}-{pab}-ample",
                        f"mem.track=always mem.track_permille=1000 {how}",
                        [o.program(app)],
                        pab,
                    ),
                )
            )
    held = None
    for (app, how, pab, limited), found in bench.each(jobs):
        if limited:
            held = found
            continue
        if not held or not found:
            bench.say(f"RESULT mm.pab arch={o.arch} app={app} with={how} pab={pab} check=failed")
            continue
        overhead = 100 * (float(found[0]["ns"]) / float(bench.ample(app)["ns"]) - 1)
        bench.say(
            f"RESULT mm.pab arch={o.arch} app={app} with={how} pab={pab} memory_pct=50 ns={held['ns']:.0f} major={held['major']:.0f} "
            f"overhead_pct={overhead:.2f} check={held['check']}"
        )
    return {}


def track(bench, program):
    """Runs test/bench/track.sh for one program. Returns its lines, and whether it failed."""
    o = bench.o
    command = [
        "test/bench/track.sh",
        f"kernel={o.kernel}",
        f"quick={int(o.small)}",
        f"out={o.out}/track-{program}",
        f"programs={program}",
        f"results={o.out}/track-{program}/results.txt",
    ]
    if o.small:
        command += ["trackers=path soft scan"]
    lines, status = bench.tool(
        f"{o.out}/track-{program}", command, [o.kernel, "build/machine/machine.so"]
    )
    return [line for line in lines if line.startswith("RESULT ")], status


def part_track(bench):
    """Measures the cost of tracking."""
    worst = None
    for _, (lines, status) in bench.each(
        [(p, track, (bench, p)) for p in bench.o.set["track"].split()]
    ):
        for line in lines:
            bench.say(line)
            figures = pairs(line)
            if figures["tracker"] == "path":
                worst = max(worst if worst is not None else -100.0, float(figures["overhead_pct"]))
        bench.failed = bench.failed or bool(status)
    return {"path_overhead": worst}


def part_host(bench):
    """Runs the curves and the chooser on the host: the figures of bench-mrc, bench-regret and
    bench-prefetch, which do not depend on the architecture."""
    quick = str(int(bench.o.small))
    error = unfiltered = regret = None
    ppg = {}

    def host(tool, **environment):
        name = "-".join(
            [
                "build/bench/mm-host",
                tool,
                "quick" if bench.o.small else "whole",
                *environment.values(),
            ]
        )
        lines, status = bench.tool(
            name, [f"build/host/sim_{tool}"], [f"build/host/sim_{tool}"], QUICK=quick, **environment
        )
        bench.failed = bench.failed or bool(status)
        return [line for line in lines if line.startswith("RESULT ")]

    for line in host("mrc"):
        figures = pairs(line)
        if line.startswith(("RESULT mrc form=exact", "RESULT mrc form=lru-only")):
            error = max(error or 0.0, float(figures["err_pts"]))
        elif line.startswith("RESULT mrc.log"):
            unfiltered = max(unfiltered or 0.0, float(figures["lru_pts"]))
    for line in host("regret"):
        if line.startswith("RESULT regret.summary"):
            bench.say(line.replace("RESULT regret.summary", "RESULT mm.regret"))
            if pairs(line)["group"] == "named":
                regret = float(pairs(line)["worst_points"])
    for program in ("lu", "random"):
        for line in host("prefetch", PROGRAM=program):
            if line.startswith("RESULT prefetch ") and pairs(line)["memory_pct"] == "50":
                bench.say(line.replace("RESULT prefetch", "RESULT mm.prefetch.host", 1))
                figures = pairs(line)
                if (program, figures["policy"]) == ("lu", "ppg"):
                    ppg = {
                        "host_ppg_recall": float(figures["recall_pct"]),
                        "host_ppg_precision": float(figures["precision_pct"]),
                    }
    if error is not None and unfiltered is not None:
        bench.say(f"RESULT mm.mrc err_pct={error:.2f} unfiltered_pct={unfiltered:.2f}")
    return {"mrc_err": error, "regret": regret, **ppg}


# ---- The whole ----

PARTS = {
    "policy": part_policy,
    "replay": part_replay,
    "pools": part_pools,
    "prefetch": part_prefetch,
    "disk": part_disk,
    "virtio": part_virtio,
    "pab": part_pab,
    "track": part_track,
    "host": part_host,
}


def main():
    options = Options(sys.argv[1:], PARTS)
    os.chdir(TOP)
    os.makedirs(options.out, exist_ok=True)
    os.makedirs(os.path.dirname(options.results), exist_ok=True)
    bench = Bench(options)
    s = options.set
    commit = (
        subprocess.run(
            ["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE, check=False
        )
        .stdout.decode()
        .strip()
        or "unknown"
    )
    version = (
        subprocess.run(
            [f"qemu-system-{options.arch}", "--version"], stdout=subprocess.PIPE, check=True
        )
        .stdout.decode()
        .split()[3]
    )
    with open(options.results, "w", encoding="ascii") as bench.results:
        bench.say(
            f"# make bench-mm{' QUICK=1' if options.quick else ' SMALL=1' if options.small else ''} SEEDS={options.seeds}: arch={options.arch} machine={options.machine}, QEMU {version}, commit {commit}"
        )
        bench.say(
            f"# disk of the simulated machine: latency {options.latency} cycles, {options.page} a page; TLB {s['tlb']}, page access buffer {s['pab']}"
        )
        apps = sorted(
            set(
                options.apps
                + options.prefetch_apps
                + [a for a, _ in s["pab_runs"] + s["disk_runs"]]
            )
        )
        bench.say(
            "# programs: "
            + "; ".join(f"{a}: {options.program(a)}" for a in apps)
            + "; pools: "
            + " & ".join(s["pools"])
        )
        found = {}
        for part in options.parts:
            before, begun = os.times(), time.monotonic()
            found.update(PARTS[part](bench))
            cpu = sum(os.times()[:4]) - sum(before[:4])
            bench.say(
                f"# part {part}: {cpu:.0f} s of the host's CPUs in {time.monotonic() - begun:.0f} s"
            )

        def figure(name):
            value = found.get(name)
            if value is None:
                value = found.get("host_" + name)
            return "-" if value is None else f"{value:.2f}"

        if "ppg_recall" not in found and "host_ppg_recall" in found:
            bench.say("# ppg of the summary: of bench-prefetch's blocked LU, on the host")

        bench.say(
            f"RESULT mm.summary arch={options.arch} path_overhead_pct={figure('path_overhead')} mrc_err_pct={figure('mrc_err')} "
            f"lu_speedup={figure('lu_speedup')} regret_pts_max={figure('regret')} pools_harmonic_gain={figure('pools_gain')} "
            f"ppg_recall_pct={figure('ppg_recall')} ppg_precision_pct={figure('ppg_precision')}"
        )
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
