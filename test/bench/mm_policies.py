"""Parts policy and replay of test/bench/mm.py: replacement policies on the simulated machine, and
on recorded traces."""
import subprocess
import sys

from mm_runs import CYCLES_NS, TOP, pairs

EXPERTS = "lru wtinylfu-margin mru lirs-recent arc gap".split()  # the chooser's
REPLAY_PERCENTS = "5 10 20 30 40 50 60 70 80 90"
ACCESSES = 60  # of each page, on average, that part replay wants


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


# ---- Part policy ----


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
        case = {"app": app, "policy": policy, "memory_pct": percent}
        if not found:
            bench.result("policy", **case, check="failed")
            continue
        times[app, percent, policy] = found
        figures = {key: f"{found[key]:.0f}" for key in ("ns", "major", "out")}
        bench.result("policy", **case, **figures, **found["spread"], check=found["check"])
    for app in o.apps:
        time_optimum(bench, app, times)
    speedup = lu_speedup(bench, times)
    say_regret(bench, times)
    return {"lu_speedup": speedup}


def time_optimum(bench, app, times):
    """Adds the times of the optimum to `times`, and the accesses that can hit or miss."""
    o, ample = bench.o, bench.ample(app)
    percents = sorted(o.percents(app))
    frames = [str(max(ample["pages"] * p // 100, 64)) for p in percents]
    rows, accesses, first = replayed(bench.trace(app), frames, "--policy", "lru")
    times[app] = accesses - first
    for percent, row in zip(percents, rows):
        misses = row["opt"] - first
        ns = float(ample["ns"]) + misses * (o.latency + o.page) * CYCLES_NS
        times[app, percent, "opt"] = {"ns": ns, "major": misses}
        case = {"app": app, "policy": "opt", "memory_pct": percent}
        bench.result("policy", **case, ns=f"{ns:.0f}", major=misses, out="-", check="replayed")


def lu_speedup(bench, times):
    """Returns the most that a policy is faster than LRU on LU contiguous."""
    best = None
    for percent in bench.o.percents("lu-contiguous"):
        ns = {
            q: times["lu-contiguous", percent, q]["ns"]
            for q in bench.o.policies
            if ("lu-contiguous", percent, q) in times
        }
        opt = times.get(("lu-contiguous", percent, "opt"))
        if "lru" not in ns or not opt:
            continue
        policy = min(ns, key=ns.get)
        gained, possible = ns["lru"] - ns[policy], ns["lru"] - opt["ns"]
        bench.result(
            "lu",
            memory_pct=percent,
            best=policy,
            speedup=f"{ns['lru'] / ns[policy]:.2f}",
            opt_speedup=f"{ns['lru'] / opt['ns']:.2f}",
            of_opt_gain_pct=f"{100 * (gained / possible if possible > 0 else 1.0):.1f}",
        )
        best = max(best or 0, ns["lru"] / ns[policy])
    return best


def say_regret(bench, times):
    """Prints how much slower the chooser is than the best policy, in percent, and how much more
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
                points = 100 * (chooser["major"] - rows[best]["major"]) / times[app]
                more.append((points, where + best))
    if slower:
        bench.result("chooser", f"slower_pct_max={max(slower)[0]:.1f} {max(slower)[1]}")
    if more:
        bench.result("chooser.misses", f"points_max={max(more)[0]:.1f} {max(more)[1]}")


# ---- Part replay ----


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
    for app, trace in bench.each([(a, long_enough, (bench, a)) for a in o.apps]):
        if trace:
            replay_app(bench, app, trace)
        else:
            bench.result("replay", app=app, check="failed")
    return {}


def replay_app(bench, app, trace):
    """Replays one program's trace through all policies, and the chooser from each first expert."""
    o = bench.o
    percents = sorted(int(p) for p in (o.given_percents or REPLAY_PERCENTS).split())
    frames = [f"{p}%" for p in percents]
    policies = [q for q in o.policies if q != "chooser"] or EXPERTS
    experts = [q for q in policies if q in EXPERTS] or ["opt"]
    rows, accesses, first = replayed(trace, frames, "--policy", ",".join(policies))
    started = {}
    if "chooser" in o.policies:
        for q in EXPERTS:
            started[q], _, _ = replayed(trace, frames, "--policy", "chooser", "--first", q)
    regret = []
    for i, (percent, row) in enumerate(zip(percents, rows)):
        if started:
            row["chooser"], start = max((started[q][i]["chooser"], q) for q in EXPERTS)
            best = min(experts, key=row.get)
            points = 100 * (row["chooser"] - row[best]) / accesses
            regret.append((points, f"memory_pct={percent} best={best} first={start}"))
        case = {"app": app, "memory_pct": percent}
        bench.result("replay", **case, pages=first, accesses=accesses, **row)
    if regret:
        points, where = max(regret)
        case = {"app": app, "accesses_a_page": f"{accesses / first:.0f}"}
        bench.result("replay.chooser", **case, points_max=f"{points:.2f} {where}")
