#!/usr/bin/env python3
"""Checks tools/steady.py against oracles; prints TAP."""
import itertools
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
sys.dont_write_bytecode = True
import iterations  # noqa: E402
import quanta_model  # noqa: E402
import steady  # noqa: E402

random_ = random.Random(1)
number = 0


def check(good, what, said=""):
    global number  # pylint: disable=global-statement
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {what}{'' if good else f': {said}'}")


def all_changes(n):
    """Yields every way to part n values into segments of two or more."""
    yield ()
    for first in range(2, n - 1):
        for rest in all_changes(n - first):
            yield (first, *(first + r for r in rest))


WAYS = {n: list(all_changes(n)) for n in range(1, 13)}


def random_series():
    """Of few values, with steps, of whole numbers and equal ones, too."""
    n, level, out = random_.randrange(1, 13), random_.choice([0, 1, 50, 1e9]), []
    noise = random_.choice([0, 0.001, 1, 7])
    for _ in range(n):
        if random_.random() < 0.2:
            level += random_.choice([-20, 3, 40])
        v = random_.gauss(0, noise)
        out.append(level + random_.choice([v, round(v)]))
    return out


def exhaustive():
    for i in range(10000):
        values, penalty = random_series(), random_.choice([None, 0.0, 1.0, 4.0, 20.0])
        floor = random_.choice([None, 0.01, 1.0])
        found = steady.pelt(values, floor, penalty)
        if list(found) != sorted(found) or tuple(found) not in WAYS[len(values)]:
            return f"series {i}: {found} are no changes of {len(values)} values"
        cost = steady.total_cost(values, found, floor, penalty)
        least = min(steady.total_cost(values, w, floor, penalty) for w in WAYS[len(values)])
        if cost > least + 1e-6 * max(1.0, abs(least)):
            return f"series {i}: {found} cost {cost}, the best {least}"
    return ""


def without_pruning(values):
    """Returns the least cost, by trying each last segment."""
    n, costs = len(values), steady.Costs(values, steady.floor_of(values))
    penalty = steady.PENALTY * math.log(n)
    best = [-penalty] + [math.inf] * n
    for t in range(2, n + 1):
        best[t] = min(best[s] + costs.of(s, t) for s in range(t - 1)) + penalty
    return best[n]


def long_ones():
    for i in range(20):
        values = [random_.gauss(100 + 20 * (k // 40 % 3), 1 + k // 60) for k in range(240)]
        cost = steady.total_cost(values, steady.pelt(values))
        if abs(cost - without_pruning(values)) > 1e-6 * abs(cost):
            return f"series {i}"
    return ""


def recall():
    """Returns the part of steps of two standard deviations that are found, within five values."""
    found = planted = 0
    for _ in range(40):
        at = list(itertools.accumulate(random_.randrange(120, 200) for _ in range(3)))
        sign = random_.choice([-1, 1])
        values = [random_.gauss(1000 + 40 * sign * sum(i >= a for a in at), 20)
                  for i in range(at[-1] + 150)]
        changes = steady.pelt(values)
        planted += len(at)
        found += sum(any(abs(c - a) <= 5 for c in changes) for a in at)
    return found / planted


def false_changes():
    """Returns the changes found in 60 series of noise. By the penalty, 15 ln n, a place of the
    series has one with a chance of about exp(-15 ln(n) / 2): none is expected in all."""
    return sum(len(steady.pelt([random_.gauss(500, 9) for _ in range(200)])) for _ in range(60))


def verdict(*parts):
    """Returns the verdict on parts of (iterations, mean), whose noise is one percent."""
    values = [random_.gauss(mean, mean / 100) for n, mean in parts for _ in range(n)]
    s = steady.Series(values)
    for unit in (1e-9, 1e4):
        other = steady.Series([v * unit for v in values])
        if (s.verdict, s.begin) != (other.verdict, other.begin):
            return f"units matter: {s.verdict}, {other.verdict}", None
    return s.verdict, s.begin


def about(got, wanted, begin):
    return got[0] == wanted and (got[1] is None) == (begin is None) and \
        (begin is None or abs(got[1] - begin) <= 3)


said = exhaustive()
check(not said, "of 10,000 series the cost is the least that there is", said)
said = long_ones()
check(not said, "... and of long ones the least that is found without pruning", said)
part = recall()
check(part >= 0.95, "at least 95 % of steps of two standard deviations are found", part)
n = false_changes()
check(n == 0, "none are found in noise", n)
for parts, wanted, begin in (
        (((400, 100),), "flat", 0),
        (((50, 130), (350, 100)), "warm-up", 50),
        (((50, 130), (100, 115), (250, 100)), "warm-up", 150),
        (((200, 100), (200, 120)), "slowdown", 200),
        (((50, 130), (100, 90), (250, 100)), "slowdown", 150),
        (((340, 100), (60, 120)), "unsteady", None)):
    got = verdict(*parts)
    check(about(got, wanted, begin), f"{wanted}: {parts}", got)
s = steady.Series([7000] * 300)
check((s.verdict, s.begin, len(s.segments)) == ("flat", 0, 1),
      "exact counts that are equal are flat")
s = steady.Series([7000] * 150 + [7001] * 150)
check(len(s.segments) == 1, "... and those that differ by less than a thousandth")
s = steady.Series([7000 + i % 3 for i in range(300)])
check(s.verdict == "flat" and len(s.segments) == 1,
      "... and those that differ by a few in thousands")
values = [random_.gauss(100, 1) for _ in range(500)]
values[300] = values[333] = 900
s = steady.Series(values)
check(s.verdict == "flat" and {300, 333} <= s.outliers, "a value far off is left out")
values[3] = 900
check(3 not in steady.Series(values).outliers, "... but not among the first")
check(steady.Series([5.0]).verdict == "flat" and steady.Series([0, 0, 0, 0]).verdict == "flat",
      "few values and zeros are flat")
flat, slow = steady.Series([100] * 50), steady.Series([100] * 20 + [200] * 30)
said = steady.summary([flat, flat, slow])
check(said == "steady from iteration 1 of 50 (2 of 3 flat, 1 slowdown)",
      "the summary of three boots", said)
unsteady = steady.Series([100] * 45 + [200] * 5)
check(steady.summary([unsteady]) == "not steady within 50 iterations (1 of 1 unsteady)",
      "... of one that is not steady", steady.summary([unsteady]))


# ---- Iterations of recordings --------------------------------------------------------------------

def event_of_quantum(tid, start, end, instructions, left):
    return end, "quantum", 0, {
        "tid": tid, "next_tid": 0, "waker": 0, "left": left, "woken": "stayed", "start": start,
        "ran": end - start, "waited": 0, "count_1": 2 * instructions, "count_2": instructions}


def recording(rounds, with_lines):
    """Returns the events of a thread whose rounds take 100 + n ns and n instructions, with a mark
    or a line at each, of another one with an instruction a nanosecond, and one of the kernel."""
    events = [(0, "quanta", 0, {"counts": "cycles instructions", "every": 1, "cycles": 0})]
    events += [(0, "thread_start", 0, {"tid": t, "pid": p, "cpu": 0, "thread_name": "t"})
               for t, p in ((1, 7), (2, 7), (3, 0))]
    now = begin = 1000
    for n in range(rounds + 1):
        for label in (f"round {n}", "middle") if n < rounds else ("end",):
            events.append(event_of_quantum(1, begin, now, n, "marked"))
            events.append((now + 3, *(("line", 0, {"tid": 1, "text": label}) if with_lines else
                                      ("mark", 0, {"tid": 1, "label": label}))))
            begin, now = now, now + 50 + (n if label == "middle" else 0)
    events.append(event_of_quantum(1, begin, now + 9, 3, "exited"))
    events.append(event_of_quantum(2, 0, 2 * now, 2 * now, "preempted"))
    events.append(event_of_quantum(3, 0, 2 * now, 10 ** 6, "preempted"))
    return quanta_model.Recording(events)


for with_lines in (False, True):
    boot = iterations.read_boot(recording(12, with_lines), "1", None)
    times = [b - a for a, b in zip(boot.bounds, boot.bounds[1:])]
    check(boot.label == "round N" and times == [100 + n for n in range(12)],
          f"iterations of {'lines' if with_lines else 'marks'} are from cut to cut, to the end",
          (boot.label, times))
    wanted = [t + n + n + 1 for n, t in enumerate(times)]  # n until the middle, n + 1 behind it
    check([round(x) for x in boot.operations] == wanted,
          "... their instructions are those of the program's threads", (boot.operations, wanted))
try:
    iterations.read_boot(recording(3, False), "1", None)
    check(False, "too few iterations are refused")
except iterations.NoIterations:
    check(True, "too few iterations are refused")
print(f"1..{number}")
