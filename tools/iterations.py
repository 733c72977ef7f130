#!/usr/bin/env python3
"""When a program became steady: its iterations in trace folders (tools/trace_split.py), one of each
boot, recorded with telemetry=quanta,marks or telemetry=quanta,lines.

  tools/iterations.py [NAME=VALUE ...] FOLDER...

  begin=REGEX  an iteration begins at each mark or line that this is found in  (marks that come
               most often)
  seeds=N,...  of the folders' boots, for the report  (1,2,...)
  csv=FILE     writes the iterations of all boots
  svg=FILE     draws them, with their segments

An iteration's time is from one mark to the next; its operations are the instructions of the
program's threads meanwhile: those of the thread that sets the marks are exact, those of quanta of
other threads that lie over a mark are divided by time. Exit status: 0; 2: arguments, or no
iterations.
"""
import bisect
import re
import sys
from dataclasses import dataclass

import iterations_view
import quanta_model
import steady
import trace_events

NAMES = ["begin", "seeds", "csv", "svg"]
FEWEST = 4


class NoIterations(Exception):
    """A recording has no iterations, for the reason given."""


@dataclass
class Boot:
    seed: str
    label: str        # of the marks that iterations begin at, digits as N
    bounds: list      # nanoseconds since boot; one more than iterations
    operations: list  # None: not counted
    changes: list     # of frequency: (iteration that it is in or before, CPU, kHz)


def shape(label):
    return re.sub(r"\d+", "N", label)


def chosen(marks, begin):
    """Returns the indexes of marks that iterations begin at."""
    if begin:
        at = [i for i, (_, _, label) in enumerate(marks) if begin.search(label)]
        if len(at) <= FEWEST:
            raise NoIterations(f"'{begin.pattern}' is found in {len(at)} marks and lines; "
                               f"expected more than {FEWEST}")
        return at
    shapes = [shape(label) for _, _, label in marks]
    most = max(shapes, key=shapes.count, default="")  # of several the first
    at = [i for i, s in enumerate(shapes) if s == most]
    if len(at) <= FEWEST:
        raise NoIterations("no mark comes often: name lines that the program prints by -i REGEX, "
                           "or set marks (docs/use/phases.md)")
    return at


def bounds_of(recording, marks, at):
    """Returns the iterations' bounds. The last one ends with the first mark that none before had
    inside; without one it is left out."""
    inside = {shape(label) for _, _, label in marks[at[0]:at[-1]]}
    ends = [i for i in range(at[-1] + 1, len(marks)) if shape(marks[i][2]) not in inside]
    bounds = []
    for i in at + ends[:1]:
        ns, tid, _ = marks[i]
        q = recording.life_at(tid, ns).before(ns + 1)  # a quantum begins at each mark
        bounds.append(q.start if q else ns)
    return bounds


def operations_of(recording, bounds):
    """Returns the instructions of programs between each two bounds; None: not counted."""
    if "instructions" not in recording.names:
        return None
    out = [0.0] * (len(bounds) - 1)
    pieces = sorted((q for life in recording.lives if life.pid for q in life.quanta),
                    key=lambda q: q.start)
    at = 0
    for q in pieces:
        while at < len(out) and bounds[at + 1] <= q.start:
            at += 1
        i, length = at, max(q.end - q.start, 1)
        while i < len(out) and bounds[i] < max(q.end, q.start + 1):
            part = min(q.end, bounds[i + 1]) - max(q.start, bounds[i])
            out[i] += q.counts["instructions"] * max(part, 0) / length
            i += 1
    return out


def changes_of(recording, bounds):
    """Returns the changes of frequency of CPUs on which programs' threads ran meanwhile. One that is
    measured first is none."""
    used = {q.cpu for life in recording.lives if life.pid for q in life.quanta
            if q.end > bounds[0] and q.start < bounds[-1]}
    return sorted((bisect.bisect_right(bounds, ns), cpu, khz)
                  for cpu, changes in recording.frequencies.items() if cpu in used
                  for n, (ns, khz, how) in enumerate(changes)
                  if bounds[0] < ns < bounds[-1] and (n or how == "set"))


def read_boot(recording, seed, begin):
    mine = {life.tid for life in recording.lives if life.pid}
    marks = sorted(m for m in recording.marks + recording.lines if m[1] in mine)
    at = chosen(marks, begin)
    bounds = bounds_of(recording, marks, at)
    return Boot(seed, shape(marks[at[0]][2]), bounds, operations_of(recording, bounds),
                changes_of(recording, bounds))


def signals(boot):
    """Returns the series of a boot: (name, unit, series)."""
    times = [b - a for a, b in zip(boot.bounds, boot.bounds[1:])]
    out = [("time", "us", steady.Series([t / 1000 for t in times]))]
    if boot.operations:
        out.append(("operations", "", steady.Series([round(n) for n in boot.operations])))
    return out


def figure(value, unit):
    return f"{value:,.1f} {unit}" if unit else f"{value:,.0f}"


def row(seed, name, unit, s):
    if s.begin is None:
        level = f"{figure(s.segments[-1].mean, unit):>18}, last"
        begin = "-"
    else:
        level = f"{figure(s.mean, unit):>18} +- {100 * s.sd / abs(s.mean or 1):.2f} %"
        begin = s.begin + 1
    return (f"{seed:>6}  {name:<10}  {s.verdict:<8}  {begin:>6}  {len(s.segments) - 1:>7}  "
            f"{len(s.outliers):>8}  {level}")


def report(boots, series):
    """Returns the report's lines; the last is the verdict by time."""
    counts = [len(b.bounds) - 1 for b in boots]
    number = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    lines = [f"iterations: {number}, each begins at '{boots[0].label}'",
             f"{'seed':>6}  {'signal':<10}  {'verdict':<8}  {'from':>6}  {'changes':>7}  "
             f"{'outliers':>8}  {'steady mean and deviation':>18}"]
    for boot, rows in zip(boots, series):
        lines += [row(boot.seed if i == 0 else "", *r) for i, r in enumerate(rows)]
    for boot in boots:
        lines += [f"frequency: seed={boot.seed} cpu={cpu} mhz={khz / 1000:.1f} from iteration {at}"
                  for at, cpu, khz in boot.changes]
    for i in reversed(range(len(series[0]))):
        what = "by operations: " if i else ""
        lines.append(what + steady.summary([rows[i][2] for rows in series]))
    return lines


def refuse(argument, reason, text):
    print(f"iterations: argument={argument} reason={reason}: {text}", file=sys.stderr)
    sys.exit(2)


def arguments(words):
    if not words or words[0] in ("help", "-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if words else 2)
    options, folders = {}, []
    for word in words:
        name, equals, value = word.partition("=")
        if equals and name in NAMES:
            options[name] = value
        elif equals and "/" not in name:
            refuse(word, "unknown", f"accepted are {'=, '.join(NAMES)}=")
        else:
            folders.append(word)
    try:
        options["begin"] = re.compile(options["begin"]) if options.get("begin") else None
    except re.error as e:
        refuse("begin", "value", f"'{options['begin']}' is no regular expression: {e}")
    seeds = options.get("seeds", ",".join(str(i + 1) for i in range(len(folders)))).split(",")
    if not folders or len(seeds) != len(folders):
        refuse("FOLDER", "missing", f"{len(folders)} folders and {len(seeds)} seeds")
    return options, list(zip(seeds, folders))


def main():
    options, folders = arguments(sys.argv[1:])
    boots = []
    for seed, folder in folders:
        recording = quanta_model.Recording(trace_events.Trace(folder))
        if recording.discarded:
            refuse(folder, "value", f"{recording.discarded} events were discarded: raise "
                   "telemetry.kb")
        try:
            boots.append(read_boot(recording, seed, options["begin"]))
        except NoIterations as e:
            refuse(folder, "value", str(e))
    series = [signals(boot) for boot in boots]
    if "csv" in options:
        with open(options["csv"], "w") as f:
            f.write("seed,iteration,ns,instructions\n")
            for boot in boots:
                counted = boot.operations or [""] * (len(boot.bounds) - 1)
                for i, (a, b, n) in enumerate(zip(boot.bounds, boot.bounds[1:], counted)):
                    f.write(f"{boot.seed},{i + 1},{b - a},{round(n) if n != '' else ''}\n")
    if "svg" in options:
        with open(options["svg"], "w") as f:
            f.write(iterations_view.svg([(b.seed, rows) for b, rows in zip(boots, series)]))
    print("\n".join(report(boots, series)))


if __name__ == "__main__":
    main()
