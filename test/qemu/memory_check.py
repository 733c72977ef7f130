#!/usr/bin/env python3
"""
Checks what a trace says of memory against the console of the same run, and the JSON made of it; prints TAP lines.

  test/qemu/memory_check.py FOLDER CONSOLE JSON
"""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import trace_events

POINTS = 16
number = 0


def check(ok, what, detail=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {what}{'' if ok else ' # ' + str(detail)}")


def backwards(events):
    """Counts that are less than those of the same process before."""
    before, wrong = {}, []
    for f in events:
        old = before.get(f["pid"], f)
        wrong += [(n, old[n], f[n]) for n in f if not n.endswith("_pages") and f[n] < old[n]]
        before[f["pid"]] = f
    return wrong


def plans_said(console):
    """Pages planned for each process, in the order of the lines."""
    with open(console) as f:
        lines = re.findall(r"^memory: t=.* plan=(\S+)$", f.read(), re.M)
    return [(int(p), int(n)) for line in lines for p, n in (x.split(":") for x in line.split(","))]


def rising(curve):
    return [p for p in ["lru", "mru"] if any(curve[f"{p}_{i}"] < curve[f"{p}_{i + 1}"] for i in range(1, POINTS))]


def main():
    of = {}
    for _, name, _, f in trace_events.Trace(sys.argv[1]):
        of.setdefault(name, []).append(f)
    counts, plans, curves = of.get("memory", []), of.get("memory_plan", []), of.get("memory_curve", [])
    check(len(counts) > 10 and not backwards(counts), "counts of faults and pages do not go back", backwards(counts)[:3])
    check(any(f["major_faults"] and f["page_ins"] for f in counts), "... and pages were read")
    said = plans_said(sys.argv[2])
    missing = [f for f in plans if (f["pid"], f["planned_pages"]) not in said]
    check(plans and said and not missing, "what is planned for pools is what the console says", missing[:3])
    check(all(f["before_pages"] != f["planned_pages"] and f["goal"] == "throughput" for f in plans), "... by the goal, when it changes")
    check(curves and not any(rising(c) for c in curves), "a curve does not rise", [rising(c) for c in curves if rising(c)])
    check(curves and all(c["has_mru"] for c in curves), "... MRU's, which was asked for, among them")
    check(all(c[f"{p}_1"] <= c["accesses"] - c["first_uses"] + 1 for c in curves for p in ["lru", "mru"]),
          "... and has no more misses than accesses")
    watched = [f["watched"] for f in of.get("tracker_watch", [])]
    check(watched and watched.count("yes") == watched.count("no"), "a tracker begins to watch and ends", watched)
    check(of.get("tracker") and of["tracker"][-1]["records"], "... which records something")
    check(any(f["policy"] == "mru" and f["region"].startswith("cg.") for f in of.get("memory_policy", [])),
          "a region that goes over to MRU is named", of.get("memory_policy"))
    check(of.get("memory_prefetch"), "the window of prefetching is said")
    with open(sys.argv[3]) as f:
        names = {e["name"] for e in json.load(f)["traceEvents"] if e["ph"] == "C"}
    wanted = {"memory, pages", "pool, pages", "faults a second", "pages moved a second", "prefetching, pages a second",
              "curve: lru would miss, % of accesses", "page tracker, records a second"}
    check(wanted <= names, "JSON: memory has its counters", wanted - names)


main()
