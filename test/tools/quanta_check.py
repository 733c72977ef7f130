#!/usr/bin/env python3
"""
tools/quanta: its pure parts against oracles, on schedules made at random; prints TAP lines.

The schedules come from a small scheduler: threads compute, sleep, wait for one another and are
preempted, on a few CPUs, in whole nanoseconds. It notes, for each nanosecond, what each thread did;
the oracles read these notes only, one nanosecond at a time.
"""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import quanta_model
import quanta_path
import quanta_views

number = 0
NAMES = ["cycles", "instructions", "stall_icache", "stall_branch", "stall_dcache", "stall_tlb"]


def check(ok, what, detail=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {what}{'' if ok else ' # ' + str(detail)[:400]}")


# ---- Schedules -----------------------------------------------------------------------------------


class Machine:
    """Makes the events of a run, and notes it by the nanosecond: note[tid][t] for the time t..t+1 is
    'running', 'ready', or, of a thread that is blocked, the reason that will end it."""

    def __init__(self, seed, cpus=2, threads=5, length=400):
        r = self.random = random.Random(seed)
        self.events, self.note, self.jump = [], {}, {}
        self.tids = [10 + i for i in range(threads)]
        self.events.append((0, "quanta", 0, {"counts": " ".join(NAMES), "every": 1, "cycles": 0}))
        state = {t: "ready" for t in self.tids}
        since = dict.fromkeys(self.tids, 0)  # ready, or running, since
        waited, woken = {}, {t: ("created", 0) for t in self.tids}
        started = {}
        until, running, blocked = {}, {}, {}
        totals = {t: dict.fromkeys(NAMES + ["ran", "waited", "quanta"], 0) for t in self.tids}
        for t in self.tids:
            self.note[t] = []
            self.events.append(
                (0, "thread_start", 0, {"tid": t, "pid": 1, "cpu": 0, "thread_name": f"w-{t}"})
            )

        def leave(cpu, now, left):
            t = running.pop(cpu)
            counts = {n: r.randrange(1, 50) for n in NAMES}
            counts["cycles"] += sum(counts[n] for n in NAMES[2:])
            f = {"tid": t, "next_tid": 0, "waker": woken[t][1], "left": left, "woken": woken[t][0],
                 "start": started[t], "ran": now - started[t], "waited": waited[t]}
            f |= {f"count_{i + 1}": counts[n] for i, n in enumerate(NAMES)}
            self.events.append((now, "quantum", cpu, f))
            for n in NAMES:
                totals[t][n] += counts[n]
            for n, v in (("ran", f["ran"]), ("waited", f["waited"]), ("quanta", 1)):
                totals[t][n] += v
            woken[t] = ("stayed", 0)
            return t

        for now in range(length):
            # Sleepers whose time has come, and interrupts, before anything runs.
            for t in self.tids:
                if state[t] == "asleep" and until[t] <= now:
                    state[t], since[t], woken[t] = "ready", now, ("time", 0)
                elif state[t] == "device" and r.random() < 0.05:
                    state[t], since[t], woken[t] = "ready", now, ("interrupt", 0)
            for cpu in range(cpus):
                t = running.get(cpu)
                if t is not None and now > started[t]:
                    x = r.random()
                    if x < 0.10:  # it wakes one that waits for a thread
                        waiting = [w for w in self.tids if state[w] == "waiting" and blocked[w] < now]
                        if waiting:
                            w = r.choice(waiting)
                            state[w], since[w], woken[w] = "ready", now, ("thread", t)
                            self.jump[w, now] = t
                    if x > 0.88:
                        left = leave(cpu, now, "blocked")
                        state[left] = r.choice(["asleep", "waiting", "waiting", "device"])
                        until[left], blocked[left] = now + r.randrange(1, 30), now
                    elif x > 0.80:
                        left = leave(cpu, now, "preempted")
                        state[left], since[left] = "ready", now
                if cpu not in running:
                    ready = [t for t in self.tids if state[t] == "ready"]
                    if ready:
                        t = r.choice(ready)
                        running[cpu], state[t], started[t] = t, "running", now
                        waited[t] = now - since[t]
            if not running and not any(s in ("ready", "asleep", "device") for s in state.values()):
                w = r.choice(self.tids)  # all would wait for one another for good
                state[w], since[w], woken[w] = "ready", now, ("interrupt", 0)
            for t in self.tids:
                self.note[t].append(state[t])
        for cpu in list(running):
            leave(cpu, length, "running")
        for t in self.tids:
            f = {f"count_{i + 1}": totals[t][n] for i, n in enumerate(NAMES)}
            f |= {n: totals[t][n] for n in ("ran", "waited", "quanta")} | {"tid": t, "late": 0}
            self.events.append((length, "quanta_total", 0, f))
        self.events.sort(key=lambda e: e[0])
        self.length = length

    def recording(self):
        return quanta_model.Recording(self.events)


def slow_path(machine, tid, begin, end):
    """The critical path one nanosecond at a time, by the notes only: {(tid, kind): ns}."""
    sums, t = {}, end
    kinds = {"asleep": "asleep", "device": "interrupt"}

    def add(kind):
        nonlocal t
        t -= 1
        sums[tid, kind] = sums.get((tid, kind), 0) + 1

    while t > begin:
        note = machine.note[tid][t - 1]
        if note == "running":
            add("running")
        elif note == "ready":
            add("waiting for a CPU")
        elif note in kinds:
            add(kinds[note])
        else:  # it waited for a thread, which woke it now, or an interrupt did
            by = machine.jump.get((tid, t))
            if by is not None:
                tid = by
                continue
            while t > begin and machine.note[tid][t - 1] == "waiting":
                add("interrupt")
    return sums


def paths():
    wrong, seen = [], set()
    for seed in range(300):
        m = Machine(seed, cpus=1 + seed % 3, threads=2 + seed % 6)
        recording = m.recording()
        r = random.Random(seed)
        last = [q for life in recording.lives for q in life.quanta]
        if not last:
            continue
        for _ in range(5):
            q = r.choice(last)
            end = r.randrange(q.start, q.end) + 1
            begin = r.randrange(0, end)
            parts = quanta_path.critical_path(q.life, begin, end)
            fast = {(life.tid, kind): ns for (life, kind), ns in quanta_path.path_sums(parts).items()}
            slow = slow_path(m, q.life.tid, begin, end)
            seen |= {kind for _, kind in fast}
            gaps = [p for p, n in zip(parts, parts[1:]) if p.end != n.start]
            if fast != slow or gaps or parts[0].start != begin or parts[-1].end != end:
                wrong.append((seed, q.life.tid, begin, end, fast, slow))
    check(not wrong, "critical paths of 300 random schedules are those found one nanosecond at a time", wrong[:1])
    check(seen >= {"running", "waiting for a CPU", "asleep", "interrupt"}, "... with parts of every kind", seen)


def slow_pauses(machine, stopped, stopper, least):
    found, since = [], None
    first = {t: next((i for i, s in enumerate(machine.note[t]) if s == "running"), None) for t in machine.tids}
    last = {t: max((i for i, s in enumerate(machine.note[t]) if s == "running"), default=None) for t in machine.tids}
    for t in range(machine.length + 1):
        def is_running(tids):
            return t < machine.length and any(machine.note[x][t] == "running" for x in tids)
        alive = any(first[x] is not None and first[x] <= t <= last[x] for x in stopped)
        paused = is_running(stopper) and not is_running(stopped) and alive
        if paused and since is None:
            since = t
        elif not paused and since is not None:
            if t - since >= least:
                found.append((since, t))
            since = None
    return found


def stops():
    wrong, n = [], 0
    for seed in range(300):
        m = Machine(seed, cpus=1 + seed % 3, threads=2 + seed % 4)
        stopper, stopped = {m.tids[0]}, set(m.tids[1:])
        least = seed % 4
        fast = quanta_path.pauses(m.recording(), lambda x: x.tid in stopped, lambda x: x.tid in stopper, least)
        slow = slow_pauses(m, stopped, stopper, least)
        n += len(slow)
        if fast != slow:
            wrong.append((seed, fast[:5], slow[:5]))
    check(n > 100 and not wrong, "pauses of 300 random schedules are those found one nanosecond at a time", (n, wrong[:1]))


# ---- A known critical path -----------------------------------------------------------------------


def quantum(tid, start, end, waited, woken, waker=0, left="blocked", cpu=0, **counts):
    f = {"tid": tid, "next_tid": 0, "waker": waker, "left": left, "woken": woken, "start": start,
         "ran": end - start, "waited": waited}
    f |= {f"count_{i + 1}": counts.get(n, 0) for i, n in enumerate(NAMES)}
    return (end, "quantum", cpu, f)


def start(tid, name, pid=1, born=0):
    return (born, "thread_start", 0, {"tid": tid, "pid": pid, "cpu": 0, "thread_name": name})


def fork_join():
    """main forks a and b at 100; b waits 7 for its CPU, runs to 1000, and is preempted from 400 to
    450; a ends at 500; b wakes main, which gets a CPU 3 later and runs until 1053."""
    events = [
        (0, "quanta", 0, {"counts": " ".join(NAMES), "every": 1, "cycles": 0}),
        start(1, "main"), start(2, "a"), start(3, "b"),
        quantum(1, 0, 110, 0, "created"),
        quantum(2, 105, 500, 5, "created", 1, cpu=1),
        quantum(3, 107, 400, 7, "created", 1, "preempted", cpu=2),
        quantum(3, 450, 1001, 50, "stayed", 0, cpu=2),
        quantum(1, 1003, 1053, 3, "thread", 3, "exited"),
    ]
    recording = quanta_model.Recording(sorted(events, key=lambda e: e[0]))
    main = recording.by_tid[1][0]
    parts = [(p.life.name, p.kind, p.start, p.end) for p in quanta_path.critical_path(main, 0, 1053)]
    known = [
        ("main", "running", 0, 100), ("b", "waiting for a CPU", 100, 107), ("b", "running", 107, 400),
        ("b", "waiting for a CPU", 400, 450), ("b", "running", 450, 1000),
        ("main", "waiting for a CPU", 1000, 1003), ("main", "running", 1003, 1053),
    ]
    check(parts == known, "the path of a fork and a join is found to the nanosecond", parts)
    lost = [e for e in events if not (e[1] == "quantum" and e[3]["tid"] == 3 and e[3]["start"] == 450)]
    recording = quanta_model.Recording(sorted(lost, key=lambda e: e[0]))
    parts = quanta_path.critical_path(recording.by_tid[1][0], 0, 1053)
    check([p.kind for p in parts] == ["running", "unknown", "waiting for a CPU", "running"]
          and sum(p.ns for p in parts) == 1053, "... and where a quantum was lost, what is not known is said", parts)


# ---- Sums ----------------------------------------------------------------------------------------


def conservation():
    good = bad = 0
    for seed in range(100):
        m = Machine(seed)
        good += not quanta_model.conservation(m.recording()) and not quanta_model.overlaps(m.recording())
        r = random.Random(seed)
        quanta = [i for i, e in enumerate(m.events) if e[1] == "quantum"]
        i = r.choice(quanta)
        kind = seed % 3
        if kind == 0:
            del m.events[i]  # one is lost
        elif kind == 1:
            m.events[i][3][r.choice(["count_1", "count_2", "count_6", "ran", "waited"])] += 1
        else:
            m.events.append(m.events[i])  # one is told twice
        bad += bool(quanta_model.conservation(m.recording()))
    check(good == 100, "sums of 100 random schedules are equal", good)
    check(bad == 100, "... and each loss, change by one, and double is found", bad)
    m = Machine(1)
    m.events = [e for e in m.events if e[1] != "quanta_total"]
    check({w[1] for w in quanta_model.conservation(m.recording())} == {"total"}, "a thread without a total is told")


def lives():
    """A number that is used again is another thread."""
    events = [
        (0, "quanta", 0, {"counts": "cycles", "every": 1, "cycles": 0}),
        start(5, "old"), start(6, "waker"),
        quantum(5, 0, 10, 0, "created", cycles=4), quantum(6, 0, 300, 0, "created"),
        (10, "quanta_total", 0, {"tid": 5, "quanta": 1, "late": 0, "ran": 10, "waited": 0, "count_1": 4}),
        start(5, "new", born=100),
        quantum(5, 120, 150, 20, "thread", 6, cycles=9),
        (150, "quanta_total", 0, {"tid": 5, "quanta": 1, "late": 0, "ran": 30, "waited": 20, "count_1": 9}),
        (300, "quanta_total", 0, {"tid": 6, "quanta": 1, "late": 0, "ran": 300, "waited": 0, "count_1": 0}),
        quantum(6, 300, 310, 0, "thread", 5),
    ]
    recording = quanta_model.Recording(events)
    old, new = recording.by_tid[5]
    check([q.start for q in old.quanta] == [0] and [q.start for q in new.quanta] == [120], "threads of one number are told apart")
    check(new.quanta[0].waker is recording.by_tid[6][0] and recording.by_tid[6][0].quanta[1].waker is new, "... also as wakers")


# ---- Views ---------------------------------------------------------------------------------------


def views():
    top = quanta_model.topdown(dict(zip(NAMES, [1000, 500, 100, 50, 200, 150])))
    check(top == {"front end": 10, "speculation": 5, "back end": 35, "the rest": 50}, "parts of cycles", top)
    check(quanta_model.topdown({"cycles": 10}) == {} and quanta_model.topdown({}) == {}, "... none without stalls")
    over = quanta_model.topdown(dict(zip(NAMES, [100, 1, 100, 100, 0, 0])))
    check(over == {"front end": 50, "speculation": 50, "back end": 0, "the rest": 0}, "... and never above all", over)
    roles = quanta_model.Roles("# roles\ngc gc-\nfirst app-0\napp app-\n")
    m = Machine(3)
    recording = m.recording()
    for life, name in zip(recording.lives, ["gc-1", "app-0", "app-1", "x", "gcc"]):
        life.name = name
    recording.lives[4].pid = 0
    check([roles.of(life) for life in recording.lives] == ["gc", "first", "app", "other", "kernel"], "roles, by the first that fits")
    check([quanta_model.Roles().of(life) for life in recording.lives] == ["gc", "app", "app", "x", "kernel"],
          "... without any, names without their numbers")
    try:
        quanta_model.Roles("gc\n")
        refused = False
    except ValueError as e:
        refused = "line 1" in str(e)
    check(refused, "a line that is no role is refused")
    rows = quanta_views.role_rows(recording, roles)
    everything = quanta_model.sums(recording.all_quanta(), NAMES)
    check(all(sum(r[n] for r in rows) == everything[n] for n in NAMES + ["ran", "waited", "quanta"]), "roles' rows sum to all threads")
    r = random.Random(5)
    values, weights = [r.uniform(0, 100) for _ in range(200)], [r.randrange(1, 9) for _ in range(200)]
    curve = quanta_views.density(values, weights)
    step = 100 / (len(curve) - 1)
    area = step * (sum(curve) - (curve[0] + curve[-1]) / 2)
    check(abs(area - 1) < 1e-3, "a violin's area is 1", area)
    pairs = sorted(v for v, w in zip(values, weights) for _ in range(w))
    check(all(quanta_views.quantile(values, weights, p) == pairs[max(0, -(-int(p * 1000) * len(pairs) // 1000) - 1)]
              for p in (0.25, 0.5, 0.75)), "quantiles are those of the values repeated")
    events = quanta_views.perfetto(recording, quanta_path.critical_path(recording.lives[0], 0, 200), [(5, 9)])
    json.dumps(events)
    by_id = {}
    for e in events:
        if e["ph"] in "sf":
            by_id.setdefault(e["id"], []).append(e)
    woken = [q for q in recording.all_quanta() if q.waker]
    check(woken and len(by_id) == len(woken) and all([e["ph"] for e in pair] == ["s", "f"] for pair in by_id.values()),
          "an arrow for each wake-up by a thread", len(by_id))
    sums = quanta_model.Recording(m.events + [(50, "wake", 0, {"tid": 11, "waker": 12, "ready": 40})])
    flows = [e for e in quanta_views.perfetto(sums) if e["ph"] in "sf"]
    check([(e["ph"], e["tid"], e["ts"]) for e in flows] == [("s", 12, 0.04), ("f", 11, 0.04)] and sums.wakes() == 1,
          "... of wake-ups that are told apart, those only", flows)
    inside = all(any(q.start <= pair[0]["ts"] * 1000 + 1e-6 and pair[0]["ts"] * 1000 - 1e-6 <= q.end
                     for life in recording.lives if life.tid == pair[0]["tid"] for q in life.quanta)
                 for pair in by_id.values())
    check(inside, "... which begins where its waker runs")
    slices = [e for e in events if e["ph"] == "X" and e["pid"] == quanta_views.CPUS]
    check(abs(sum(e["dur"] for e in slices) * 1000 - everything["ran"]) < 1e-3, "CPUs' rows are as long as threads ran")


def frequencies():
    """Times of cycles against a clock whose every nanosecond has its own frequency."""
    r = random.Random(8)
    worst = 0.0
    for _ in range(200):
        changes, khz = [(0, r.randrange(500, 4000) * 1000, "measured")], []
        for t in range(1000):
            if r.random() < 0.01:
                changes.append((t, r.randrange(500, 4000) * 1000, "set"))
            khz.append(changes[-1][1])
        start = r.randrange(0, 900)
        end = r.randrange(start + 1, 1000)
        cycles = sum(khz[start:end]) / 1e6
        worst = max(worst, abs(quanta_model.time_of(cycles, start, end, changes) - (end - start)))
    check(worst < 1e-6, "cycles and changes of frequency make the time", worst)
    quantum = {"tid": 1, "next_tid": 0, "waker": 0, "left": "blocked", "woken": "stayed", "waited": 0}
    names = {"counts": "cycles reference", "every": 1, "cycles": 0, "reference_hz": 2000000000}
    events = [(0, "quanta", 0, names),
              (1000, "quantum", 0, quantum | {"start": 0, "ran": 1000, "count_1": 1000, "count_2": 2000}),
              (1000, "frequency", 0, {"khz": 500000, "pstate": 3, "how": "set"}),
              (2000, "quantum", 0, quantum | {"start": 1000, "ran": 1000, "count_1": 500, "count_2": 2000})]
    recording = quanta_model.Recording(events)
    check(quanta_model.rebuilt(recording) == (1000, 1000, 1000), "what was before the first is not known")
    check(quanta_model.effective_mhz(recording.all_quanta()[1].counts, recording.reference_hz) == 500,
          "cycles by the reference are the frequency")
    shown = quanta_views.perfetto(recording)
    check([(e["ts"], e["args"]["MHz"]) for e in shown if e["ph"] == "C"] == [(1, 500)] and
          [e["args"]["mhz"] for e in shown if e["ph"] == "X" and e["pid"] == 0] == [1000, 500],
          "timelines have both")
    check(quanta_views.role_table(recording, quanta_model.Roles())[1].split()[-1] == "750.0",
          "and roles the whole's")


frequencies()
paths()
stops()
fork_join()
conservation()
lives()
views()
print(f"1..{number}")
