#!/usr/bin/env python3
"""`make bench-mm`: programs with less memory than they take, on the simulated machine with its own
disk ([A] 4.6). Parts policy and replay are in mm_policies.py, pools in mm_pools.py.

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
          With goal=service the first program asks for 400 faults a second at most, the other for
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
from mm_policies import part_policy, part_replay
from mm_pools import part_pools
from mm_runs import TOP, Bench, Options, pairs

PREFETCH = "none spatial streams ppg ppg-published chooser".split()


# ---- Parts ----


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
        case = {"app": app, "policy": policy, "memory_pct": percent}
        if not found:
            bench.result("prefetch", **case, check="failed")
            continue
        moved = found["in"] + found["out"]
        if policy == "none":
            base[app, percent] = (found["major"], moved, found["ns"])
        none = base.get((app, percent), (0, 0, 0))
        recall = 100 * (1 - found["major"] / none[0]) if none[0] else 0.0
        precision = 100 * found["used"] / found["prefetched"] if found["prefetched"] else 0.0
        extra = 100 * (moved / none[1] - 1) if none[1] else 0.0
        slower = 100 * (found["ns"] / none[2] - 1) if none[2] else 0.0
        bench.result(
            "prefetch",
            **case,
            ns=f"{found['ns']:.0f}",
            time_pct=f"{slower:+.1f}",
            major=f"{found['major']:.0f}",
            recall_pct=f"{recall:.1f}",
            precision_pct=f"{precision:.1f}",
            prefetched=f"{found['prefetched']:.0f}",
            io_pct=f"{extra:+.1f}",
            check=found["check"],
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
        figures = {"check": "failed"}
        if found:
            figures = {key: f"{found[key]:.0f}" for key in ("ns", "major")}
            figures["check"] = found["check"]
        case = {"app": app, "with": how, "memory_pct": 50, "page_cycles": page}
        bench.result("disk", **case, **figures)
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
        figures = {"check": "failed"}
        if found:
            figures = {key: found[0][key] for key in ("major", "in", "out", "check")}
            figures = {"host_ns": found[0]["ns"], **figures}
        bench.result("virtio", **{"app": app, "with": how, "memory_pct": 50}, **figures)
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
            name = f"pab-{app}-{how.split('=')[1]}-{pab}"
            jobs.append(((app, how, pab, True), bench.limited, (name, app, 50, how, pab)))
            tracked = f"mem.track=always mem.track_permille=1000 {how}"
            ample = (f"{name}-ample", tracked, [o.program(app)], pab)
            jobs.append(((app, how, pab, False), bench.run, ample))
    held = None
    for (app, how, pab, limited), found in bench.each(jobs):
        if limited:
            held = found
            continue
        case = {"app": app, "with": how, "pab": pab}
        if not held or not found:
            bench.result("pab", **case, check="failed")
            continue
        overhead = 100 * (float(found[0]["ns"]) / float(bench.ample(app)["ns"]) - 1)
        figures = {key: f"{held[key]:.0f}" for key in ("ns", "major")}
        figures.update(overhead_pct=f"{overhead:.2f}", check=held["check"])
        bench.result("pab", **case, memory_pct=50, **figures)
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


def output_of(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=False).stdout.decode().strip()


def head(bench):
    """Prints the first lines: the command, versions, the machine, the programs."""
    o, s = bench.o, bench.o.set
    size = " QUICK=1" if o.quick else " SMALL=1" if o.small else ""
    version = output_of(f"qemu-system-{o.arch}", "--version").split()[3]
    commit = output_of("git", "describe", "--always", "--dirty") or "unknown"
    bench.say(
        f"# make bench-mm{size} SEEDS={o.seeds}: arch={o.arch} machine={o.machine}, "
        f"QEMU {version}, commit {commit}"
    )
    bench.say(
        f"# disk of the simulated machine: latency {o.latency} cycles, {o.page} a page; "
        f"TLB {s['tlb']}, page access buffer {s['pab']}"
    )
    others = [app for app, _ in s["pab_runs"] + s["disk_runs"]]
    apps = sorted(set(o.apps + o.prefetch_apps + others))
    programs = "; ".join(f"{app}: {o.program(app)}" for app in apps)
    bench.say(f"# programs: {programs}; pools: {' & '.join(s['pools'])}")


def summary(bench, found):
    """Prints the figures that the parts found, those of part host where no other has them."""

    def figure(name):
        value = found.get(name, found.get("host_" + name))
        return "-" if value is None else f"{value:.2f}"

    if "ppg_recall" not in found and "host_ppg_recall" in found:
        bench.say("# ppg of the summary: of bench-prefetch's blocked LU, on the host")
    bench.result(
        "summary",
        path_overhead_pct=figure("path_overhead"),
        mrc_err_pct=figure("mrc_err"),
        lu_speedup=figure("lu_speedup"),
        regret_pts_max=figure("regret"),
        pools_harmonic_gain=figure("pools_gain"),
        ppg_recall_pct=figure("ppg_recall"),
        ppg_precision_pct=figure("ppg_precision"),
    )


def main():
    options = Options(sys.argv[1:], PARTS)
    os.chdir(TOP)
    os.makedirs(options.out, exist_ok=True)
    os.makedirs(os.path.dirname(options.results), exist_ok=True)
    bench = Bench(options)
    with open(options.results, "w", encoding="ascii") as bench.results:
        head(bench)
        found = {}
        for part in options.parts:
            before, begun = os.times(), time.monotonic()
            found.update(PARTS[part](bench))
            cpu = sum(os.times()[:4]) - sum(before[:4])
            took = time.monotonic() - begun
            bench.say(f"# part {part}: {cpu:.0f} s of the host's CPUs in {took:.0f} s")
        summary(bench, found)
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
