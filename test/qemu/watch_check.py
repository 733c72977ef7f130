#!/usr/bin/env python3
"""Checks an answer of watchd:  watch_check.py state|metrics|events FILE

Prints a line for each check: "ok" or "bad", and what was checked.
"""
import json
import re
import sys


def check(good, what):
    print("ok" if good else "bad", what)


def tick(t):
    b = t["b"]
    check(b["cycles"] > 0 and b["instructions"] > 0, "cycles and instructions were counted")
    check(sum(b["stall"]) <= b["cycles"], "stalls are no more than cycles")
    check(sum(b["source"]) <= b["stall"][2] * 1.001 + 1, "sources are no more than data stalls")
    threads = [x for x in t["threads"] if x["pid"] != t["self"]["pid"]]
    check(len(threads) >= 17, "all threads are there")
    run = sum(x["run_us"] for x in t["threads"])
    wall = t["since_ms"] * 1000 * 8
    check(0 < run <= wall * 1.05, "they ran no longer than eight CPUs have")
    total = sum(x["b"]["cycles"] for x in t["threads"])
    check(0.5 * b["cycles"] < total < 1.5 * b["cycles"], "threads' cycles are the machine's")


def state(text):
    s = json.loads(text)
    about, t = s["about"], s["tick"]
    check(about["counters"] and len(about["cpus"]) == 8 and about["chips"] == 2,
          "the machine's shape is right")
    tick(t)
    program = next((p for p in t["processes"] if p["name"] == "scoreboard"), None)
    check(program and program["threads"] == 17, "the program is there")
    shared = program and program["sharing"] and program["sharing"]["map"]
    check(bool(shared), "its shMap is there")
    if shared:
        check(2 <= shared["clusters"] <= 8, "with clusters")
        check(all(len(r["counts"]) == 2 * len(shared["line"]) for r in shared["rows"]),
              "and a count for each line and thread")
    knobs = {k["name"]: k for k in s["knobs"]}
    check(knobs["sched.remote_pct"]["live"] == "now" and knobs["cpus"]["live"] == "boot" and
          knobs["sched.policy"]["live"] == "next", "knobs say when they take effect")
    check(t["self"]["knobs"], "it says that knobs can be turned")
    n = t["network"]
    check(n["interfaces"][0]["name"] == "lo" and n["sockets"] >= 1 and n["memory_limit"] > 0,
          "the network's sockets, interfaces and memory are there")


LINE = re.compile(r'^([a-z_]+)(\{([a-z_]+="[^"]*")(,[a-z_]+="[^"]*")*\})? ([-+.e0-9]+)$')


def metrics(text):
    helped, typed, names, bad, seen = set(), {}, set(), [], set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split()[2])
        elif line.startswith("# TYPE "):
            typed[line.split()[2]] = line.split()[3]
        elif line:
            m = LINE.match(line)
            key = line.rsplit(" ", 1)[0]
            if not m or m[1] not in typed or key in seen:
                bad.append(line)
            else:
                names.add(m[1])
            seen.add(key)
    check(not bad, f"lines have the right form {bad[:3]}")
    check(set(typed) == helped, "each is explained")
    check(all((k == "counter") == n.endswith("_total") for n, k in typed.items()),
          "counters end in _total, others do not")
    check({"vigil_cycles_total", "vigil_process_cycles_total", "vigil_thread_run_seconds_total",
           "vigil_sharing_remote_ratio", "vigil_network_sent_bytes_total",
           "vigil_network_dropped_frames_total"} <= names,
          "cycles, threads, sharing and the network are there")


def events(text):
    got = re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)
    check([n for n, _ in got[:3]] == ["about", "past", "tick"], "they begin with the past")
    past = json.loads(got[1][1])
    check(past and past[-1]["reading"] == json.loads(got[2][1])["reading"],
          "which reaches to now")
    check(any(d["phase"] == "cluster" for r in past for d in r["decisions"]),
          "... with what was decided")
    ticks = [json.loads(d)["reading"] for n, d in got if n == "tick"]
    check(len(ticks) >= 5 and ticks == list(range(ticks[0], ticks[0] + len(ticks))),
          f"readings follow each other {ticks}")


with open(sys.argv[2], encoding="ascii") as file:
    {"state": state, "metrics": metrics, "events": events}[sys.argv[1]](file.read())
