"""When a program has reached its steady state: changepoints in a series of one value for each
iteration, and what they say. Pure.

  s = steady.Series(values)
  s.verdict, s.begin, s.segments

Segments are of a normal distribution each, of a mean and variance of their own. They are found by
PELT (Killick, Fearnhead, Eckley 2012), and judged as Barrett et al. do (OOPSLA 2017, "Virtual
Machine Warmup Blows Hot and Cold"), but by the standard deviation, as Hartley (2022, 3.7.3): so a
verdict does not depend on the unit. Where these have a thousandth of a second for iterations of a
second, here it is a thousandth of the series' median.
"""
import math
from dataclasses import dataclass

PENALTY, SEGMENT_MIN, PERMILLE = 15, 2, 1e-3
OUTLIER_WINDOW = 10  # a tenth of the iterations: 200 of 2000
OUTLIER_SPREADS = 3
LAST_PART = 4        # steady for the last quarter: from 1500 of 2000 on
FLAT, WARM_UP, SLOWDOWN, UNSTEADY = "flat", "warm-up", "slowdown", "unsteady"
VERDICTS = (FLAT, WARM_UP, SLOWDOWN, UNSTEADY)


def median(values):
    v = sorted(values)
    n = len(v)
    return (v[n // 2] + v[(n - 1) // 2]) / 2 if n else 0.0


def quantile(ordered, part):
    """Returns the quantile of ordered values, between two by the distance."""
    at = part * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def floor_of(values):
    """Returns the least standard deviation: what is nearer is not told apart."""
    return abs(median(values)) * PERMILLE or PERMILLE


class Costs:
    """What each segment of a series costs: twice its negative logarithmic likelihood, by the mean
    and the variance that make it least; the variance at least that of `floor`, of the logarithm of
    which units are."""

    def __init__(self, values, floor):
        middle = median(values)
        self.count = len(values)
        self.sum, self.square = [0.0], [0.0]
        for v in values:
            x = (v - middle) / floor
            self.sum.append(self.sum[-1] + x)
            self.square.append(self.square[-1] + x * x)

    def of(self, a, b):
        """Returns the cost of values a to b - 1."""
        n = b - a
        s = self.sum[b] - self.sum[a]
        squares = max(self.square[b] - self.square[a] - s * s / n, 0.0)
        variance = max(squares / n, 1.0)
        return n * math.log(2 * math.pi * variance) + squares / variance


def pelt(values, floor=None, penalty=None):
    """Returns where segments begin behind the first, so that their costs and a penalty for each
    are least. PELT: a beginning that is too dear by more than any later one could save is not
    looked at again, once that later one may be taken itself."""
    n = len(values)
    if n < 2 * SEGMENT_MIN:
        return []
    costs = Costs(values, floor_of(values) if floor is None else floor)
    penalty = PENALTY * math.log(n) if penalty is None else penalty
    best, last = [-penalty] + [math.inf] * n, [0] * (n + 1)
    live, leaving = [0], {}
    for t in range(SEGMENT_MIN, n + 1):
        gone = leaving.pop(t, ())
        if gone:
            live = [s for s in live if s not in gone]
        found = [best[s] + costs.of(s, t) for s in live]
        least = min(found)
        best[t], last[t] = least + penalty, live[found.index(least)]
        # From t + SEGMENT_MIN on a segment may begin at t.
        leaving[t + SEGMENT_MIN] = {s for s, cost in zip(live, found) if cost > best[t]}
        if t + 1 - SEGMENT_MIN >= SEGMENT_MIN:
            live.append(t + 1 - SEGMENT_MIN)
    changes, t = [], n
    while last[t]:
        t = last[t]
        changes.append(t)
    return changes[::-1]


def total_cost(values, changes, floor=None, penalty=None):
    """Returns what pelt() makes least, for these changes."""
    costs = Costs(values, floor_of(values) if floor is None else floor)
    penalty = PENALTY * math.log(len(values)) if penalty is None else penalty
    ends = [0, *changes, len(values)]
    return sum(costs.of(a, b) for a, b in zip(ends, ends[1:])) + penalty * len(changes)


def outliers(values):
    """Returns the indexes of values further from the median of those around them than three times
    the distance of the 10th from the 90th percentile. The first ones are none: they may be those
    of a warm-up."""
    n = len(values)
    window = n // OUTLIER_WINDOW
    if window < 10:
        return set()
    floor, out = floor_of(values), set()
    for i in range(window, n):
        from_ = min(max(i - window // 2, 0), n - window)
        around = sorted(values[from_:from_ + window])
        spread = max(quantile(around, 0.9) - quantile(around, 0.1), floor)
        if abs(values[i] - quantile(around, 0.5)) > OUTLIER_SPREADS * spread:
            out.add(i)
    return out


@dataclass
class Segment:
    first: int  # iterations first to end - 1
    end: int
    mean: float
    sd: float


def normal(values):
    """Returns the mean and standard deviation of values."""
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))


class Series:
    """Values of iterations, from 0: `outliers`, left out; `segments`; `verdict`; `begin`, the first
    iteration of the steady state, or None; `mean` and `sd` there; None, None."""

    def __init__(self, values):
        self.values = list(values)
        self.floor = floor_of(self.values)
        self.outliers = outliers(self.values)
        kept = [i for i in range(len(self.values)) if i not in self.outliers]
        clean = [self.values[i] for i in kept]
        ends = [0, *pelt(clean, self.floor), len(clean)]
        self.segments = []
        for a, b in zip(ends, ends[1:]):
            first = kept[a] if a else 0
            end = kept[b] if b < len(kept) else len(self.values)
            self.segments.append(Segment(first, end, *normal(clean[a:b])))
        self.judge()

    def judge(self):
        last = self.segments[-1]
        near = max(last.sd, self.floor)
        same = [abs(s.mean - last.mean) <= near for s in self.segments]
        steady = len(same) - (same[::-1] + [False]).index(False)
        self.begin, self.mean, self.sd = self.segments[steady].first, last.mean, last.sd
        if all(same):
            self.verdict = FLAT
        elif self.segments[steady - 1].end > len(self.values) - len(self.values) // LAST_PART:
            self.verdict, self.begin, self.mean, self.sd = UNSTEADY, None, None, None
        elif any(s.mean < last.mean - near for s in self.segments[:steady]):
            self.verdict = SLOWDOWN
        else:
            self.verdict = WARM_UP


def summary(series):
    """Returns one sentence about the same program's series of several boots."""
    n = min(len(s.values) for s in series)
    count = {v: sum(s.verdict == v for s in series) for v in VERDICTS}
    said = ", ".join(f"{k} {v}" for v, k in count.items() if k)
    first, _, rest = said.partition(" ")
    kinds = f"({first} of {len(series)} {rest})"
    begins = [s.begin for s in series if s.begin is not None]
    if 2 * len(begins) <= len(series):
        return f"not steady within {n} iterations {kinds}"
    return f"steady from iteration {int(median(begins)) + 1} of {n} {kinds}"
