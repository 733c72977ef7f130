#!/usr/bin/env python3
"""
Checks a telemetry stream that was split into a folder against the account line the guest printed; prints TAP lines.

  test/qemu/trace_check.py FOLDER 'telemetry: taken=... ...' [flood]
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import trace_events

number = 0


def check(ok, what, detail=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {what}{'' if ok else ' # ' + str(detail)}")


def unpaired(switches):
    """CPUs' switches where the next of one is not the prev of the following."""
    return [(cpu, a, b) for cpu, s in switches.items() for a, b in zip(s, s[1:]) if a["next_tid"] != b["prev_tid"]]


def backwards(times):
    return [cpu for cpu, t in times.items() if any(a > b for a, b in zip(t, t[1:]))]


def whole_threads(events):
    """Every user thread that runs was started before, with its process, and none runs after its exit."""
    started, ended, wrong = {0: 0}, set(), []
    for time, name, cpu, f in events:
        if name == "thread_start":
            started[f["tid"]] = f["pid"]
        if name == "thread_exit":
            ended.add(f["tid"])
        if name == "sched_switch" and (started.get(f["next_tid"]) != f["next_pid"] or f["next_tid"] in ended):
            wrong.append((time, f))
    return wrong


def flood(events, discarded):
    """Marks are numbered on each CPU; what is missing between them was discarded."""
    labels, missing, torn = {}, 0, []
    for _, name, cpu, f in events:
        if name != "mark":
            continue
        m = re.fullmatch(r"flood (\d+)", f["label"])
        if not m:
            torn.append(f)
            continue
        n = int(m[1])
        if n <= labels.get(cpu, -1):
            torn.append(f)
        missing += n - labels.get(cpu, -1) - 1
        labels[cpu] = n
    check(labels and not torn, "no mark is torn, doubled or out of order", torn[:3])
    check(0 < missing <= discarded, "what is missing between them was discarded", f"{missing} of {discarded}")


def main():
    trace = trace_events.Trace(sys.argv[1])
    account = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", sys.argv[2])}
    events = list(trace)
    times, switches = {}, {}
    for time, name, cpu, f in events:
        times.setdefault(cpu, []).append(time)
        if name == "sched_switch":
            switches.setdefault(cpu, []).append(f)
    check(len(events) == account["delivered"], "as many events as were delivered", f"{len(events)} of {account}")
    check(account["taken"] == account["delivered"] + account["discarded"] and not account["unsent"],
          "taken = delivered + discarded", account)
    check(trace.discarded == account["discarded"], "babeltrace2 reports what was discarded", trace.discarded)
    check(account["discarded"] or not trace.complaints, "... and nothing else", trace.complaints)
    check(times and not backwards(times), "the time of each CPU does not go back", backwards(times))
    if "flood" in sys.argv:
        flood(events, account["discarded"])
        return
    check(switches and not unpaired(switches), "the next of a switch is the prev of the following", unpaired(switches)[:3])
    check(not whole_threads(events), "who runs was started, and has not ended", whole_threads(events)[:3])
    print("# events:", *sorted({name for _, name, _, _ in events}))


main()
