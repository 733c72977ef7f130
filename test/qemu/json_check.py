#!/usr/bin/env python3
"""
Checks what tools/trace_json.py made of a run of one program on the simulated machine; prints TAP lines.

  test/qemu/json_check.py FILE CPUS PROGRAM
"""
import json
import sys

CPUS = 1 << 30
number = 0


def check(ok, what, detail=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {what}{'' if ok else ' # ' + str(detail)}")


def overlapping(slices):
    slices = sorted((s["ts"], s["ts"] + s["dur"]) for s in slices)
    return [(a, b) for a, b in zip(slices, slices[1:]) if a[1] > b[0] + 0.001]  # microseconds, rounded


def main():
    with open(sys.argv[1]) as f:
        events = json.load(f)["traceEvents"]
    cpus, program = int(sys.argv[2]), sys.argv[3]
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    pids = [e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name" and e["args"]["name"].startswith(program)]
    slices = {}
    for e in events:
        if e["ph"] == "X":
            slices.setdefault((e["pid"], e["tid"]), []).append(e)
    check(all(rows.get((CPUS, c), "").startswith(f"CPU {c} (chip ") for c in range(cpus)), "a row for each CPU", rows)
    check(all(slices.get((CPUS, c)) for c in range(cpus)), "... on which something ran", list(slices))
    check(len(pids) == 1, "one process of that program", pids)
    threads = [r for r in rows if pids and r[0] == pids[0]]
    check(len(threads) > 16 and all(slices.get(t) for t in threads), "a row for each of its threads, which ran", threads)
    wrong = {r: overlapping(s)[:2] for r, s in slices.items() if overlapping(s)}
    check(not wrong, "on no row two run at the same time", wrong)
    of_cpus = sum(s["dur"] for r, all_of in slices.items() if r[0] == CPUS for s in all_of)
    of_threads = sum(s["dur"] for r, all_of in slices.items() if r[0] != CPUS for s in all_of)
    check(abs(of_cpus - of_threads) < 1, "CPUs ran as long as threads", (of_cpus, of_threads))
    counters = {e["name"] for e in events if e["ph"] == "C"}
    check({f"CPU {c} busy, %" for c in range(cpus)} <= counters, "counters of each CPU", counters)
    check("stalls, % of cycles" in counters, "... and of the process", counters)
    of_threads = {e["name"].removesuffix(" instructions per cycle") for e in events
                  if e["ph"] == "C" and e["pid"] in pids and e["name"].endswith(" instructions per cycle")} - {""}
    check({rows[t] for t in threads} >= {f"{n}" for n in of_threads} and len(of_threads) > 16,
          "... and of each of its threads", of_threads)
    ipc = [e["args"]["ipc"] for e in events if e["ph"] == "C" and e["name"].endswith(" instructions per cycle")]
    check(any(0 < v for v in ipc) and all(0 <= v <= 8 for v in ipc), "... which say how fast they are", ipc[:20])
    percents = [e for e in events if e["ph"] == "C" and (e["name"].endswith("busy, %") or e["name"].endswith("% of cycles"))]
    beyond = [e for e in percents if not all(0 <= v <= 100 for v in e["args"].values()) or sum(e["args"].values()) > 100.1]
    check(percents and not beyond, "... no share below 0 or above 100 %, none of all causes or sources together", beyond[:3])
    stalls = [set(e["args"]) for e in events if e["ph"] == "C" and e["name"] == "stalls, % of cycles"]
    sources = [set(e["args"]) for e in events if e["ph"] == "C" and e["name"] == "data stalls by source, % of cycles"]
    check(any(stalls) and all(n.startswith("~") for s in stalls for n in s), "... and estimates are marked", stalls[:2])
    check(any("remote_l2" in s for s in sources) and not any("~remote_l2" in s for s in sources),
          "... which what is counted all the time is not", sources[:2])
    kinds = {e["cat"] for e in events if e["ph"] == "i"}
    check({"sharing", "migrate", "mark"} <= kinds, "decisions, moves and marks", kinds)


main()
