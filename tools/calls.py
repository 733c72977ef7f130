#!/usr/bin/env python3
"""Phases of a program by its functions, from calls that it recorded (docs/use/phases.md).

  tools/calls.py program=FILE calls=FILE [NAME=VALUE ...]

  program=FILE  the program, with its symbols
  calls=FILE    all calls, as it wrote them (VIGIL_CALLS=)
  weight=P      functions are selected that take more than P percent of the cycles  (1)
  grain=P       ... and more than P percent in a call; auto: the least at which recording them is
                predicted to take 1 percent  (auto)
  select=FILE   writes their names, each behind its distance, for VIGIL_CALLS_ONLY=
  exclude=FILE  writes names for -finstrument-functions-exclude-function-list=: all others' that do
                not exclude selected ones
  only=FILE     calls of the selected functions alone, of another run: their phases are reported
  rerun=FILE    the program of that run, if it was built with that list
  plain=FILE    a recording without calls, of the program without instrumentation, for the overhead
  svg=FILE      draws the phases over time

Exit status: 0; 2: arguments, or files that are no recordings.
"""
import os
import random
import sys

import calls_model
import calls_view

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "launch"))
import inference  # noqa: E402

NAMES = ["program", "calls", "weight", "grain", "select", "exclude", "only", "rerun", "plain",
         "svg"]
GRAINS = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0]
OVERHEAD_MOST = 0.01
VALUES_MOST, SHUFFLED_MOST = 20000, 400000
SHOWN = 12
DEPTH_MOST = 8
WITHIN_LEAST = 5
NAMED = 0.02  # a cause is named that takes this much more of the cycles than on the average


def refuse(argument, reason, text):
    print(f"calls: argument={argument} reason={reason}: {text}", file=sys.stderr)
    sys.exit(2)


def arguments(words):
    if not words or words[0] in ("help", "-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if words else 2)
    options = {"weight": "1", "grain": "auto"}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or name not in NAMES:
            refuse(word, "unknown", f"accepted are {'=, '.join(NAMES)}=")
        options[name] = value
    for name in ("weight", "grain"):
        if name == "grain" and options[name] == "auto":
            continue
        try:
            options[name] = float(options[name])
        except ValueError:
            options[name] = -1.0
        if not 0 <= options[name] <= 100:
            refuse(name, "value", "a number from 0 to 100 is expected")
    for name in ("program", "calls"):
        if name not in options:
            refuse(name, "missing", f"{name}=FILE is needed")
    return options


def read(options, name, kind):
    try:
        with open(options[name], "rb") as f:
            return kind(f.read())
    except OSError as e:
        refuse(name, "value", f"{options[name]}: {e.strerror}")
    except calls_model.CallsError as e:
        refuse(name, "value", f"{options[name]}: {e}")


def write(options, name, text):
    try:
        with open(options[name], "w") as f:
            f.write(text)
    except OSError as e:
        refuse(name, "value", f"{options[name]}: {e.strerror}")


def excluded(names, chosen):
    """Returns what is left out of the second run, and is not inside another of these names."""
    out = calls_model.excluded(names.names.values(), {names.of(f.at) for f in chosen})
    shortest = []
    for name in sorted(out, key=len):
        if not any(short in name for short in shortest):
            shortest.append(name)
    return shortest


def left_out(functions, names, chosen, options):
    """Returns the functions that are not instrumented in the second run."""
    if "exclude" not in options and "rerun" not in options:
        return set()
    out = excluded(names, chosen)
    return {at for at in functions if any(name in names.of(at) for name in out)}


def choose(functions, whole, names, options, costs):
    """Returns (selected functions, grain), and prints what other grains would select."""
    weight = options["weight"] / 100
    grains = GRAINS if options["grain"] == "auto" else [options["grain"]]
    rows = []
    for grain in grains:
        chosen = calls_model.select(functions, whole, weight, grain / 100)
        recorded = sum(f.calls for f in chosen)
        gone = left_out(functions, names, chosen, options)
        part = calls_model.predicted(functions, whole, chosen, costs, gone)
        rows.append((grain, chosen, recorded, part, recorded * costs.whole[0] / whole))
    best = next((r for r in rows if r[4] <= OVERHEAD_MOST and r[1]),
                next((r for r in reversed(rows) if r[1]), rows[0]))
    print("  grain %  functions       calls  overhead %")
    for row in rows:
        print(f"{row[0]:>9g}  {len(row[1]):>9}  {row[2]:>10,}  {100 * row[3]:>10.2f}"
              f"{'  <' if row is best else ''}")
    return best[1], best[0]


def show_tree(recording, tree, whole, names, weight):
    """Prints the call tree, as far as a branch has more than `weight` of the whole."""
    below = {}
    for (parent, function), node in recording.nodes.items():
        if tree.get(node, (0, 0))[0] > weight * whole:
            below.setdefault(parent, []).append((tree[node], function, node))

    def show(node, depth):
        for (cycles, calls), function, child in sorted(below.get(node, []), reverse=True):
            print(f"{100 * cycles / whole:>8.2f} {calls:>10,}  {'  ' * depth}{names.of(function)}")
            if depth < DEPTH_MOST:
                show(child, depth + 1)

    print(f"{'with %':>8} {'calls':>10}  call tree")
    show(0, 0)


def show_functions(functions, whole, names, chosen):
    """Prints where the cycles went, by function: alone, and with what it calls."""
    print(f"{'alone %':>8} {'with %':>7} {'calls':>10} {'cycles each':>12}  function")
    for f in sorted(functions.values(), key=lambda f: -f.exclusive)[:SHOWN]:
        mark = " <" if f in chosen else ""
        print(f"{100 * f.exclusive / whole:>8.2f} {100 * f.inclusive / whole:>7.2f} {f.calls:>10,} "
              f"{f.inclusive / f.calls:>12,.0f}  {names.of(f.at)}{mark}")


class Phase:
    """A selected function's calls without the selected ones inside them."""

    def __init__(self, function, frames, recording):
        self.function, self.frames = function, frames
        at = recording.names.index("instructions") if "instructions" in recording.names else None
        self.sums = [sum(f.exclusive[i] for f in frames) for i in range(len(recording.names))]
        self.cycles = self.sums[0]
        self.cpi = self.cycles / self.sums[at] if at and self.sums[at] else 0.0
        told = [f for f in frames if at and f.exclusive[at] > 0 and f.exclusive[0] > 0]
        self.values = [f.exclusive[0] / f.exclusive[at] for f in told]
        self.cov = calls_model.weighted_cov(self.values, [f.exclusive[0] for f in told])


def phases_of(recording):
    """Returns the phases, that of most cycles first, and the cycles of all."""
    by_function = {}
    for frame in recording.frames():
        by_function.setdefault(frame.function, []).append(frame)
    phases = [Phase(f, frames, recording) for f, frames in by_function.items()]
    return sorted(phases, key=lambda p: -p.cycles), sum(p.cycles for p in phases)


def causes(recording):
    """Returns the indexes and short names of counts that are parts of the cycles."""
    return [(i, n.split(":")[-1].split(".")[-1].lower()) for i, n in enumerate(recording.names)
            if n.lower().startswith("stall")]


def why(phase, parts, average):
    """Returns what a phase waits for more than the program does."""
    if not phase.cycles:
        return ""
    over = [(phase.sums[i] / phase.cycles - average[i], phase.sums[i] / phase.cycles, name)
            for i, name in parts]
    over = [(part, name) for more, part, name in sorted(over, reverse=True) if more >= NAMED]
    return ", ".join(f"{name} {100 * part:.0f} %" for part, name in over[:2])


def show_phases(recording, names):
    phases, whole = phases_of(recording)
    if not whole:
        refuse("only", "value", "no cycles were counted")
    parts = causes(recording)
    average = {i: sum(p.sums[i] for p in phases) / whole for i, _ in parts}
    said = ", ".join(f"{name} {100 * average[i]:.1f} %" for i, name in parts)
    print(f"phases: {len(phases) - 1} functions, {whole:,.0f} cycles" +
          (f"; of these waits for {said}" if said else ""))
    print(f"{'cycles %':>9} {'calls':>9} {'cycles each':>12} {'CPI':>7} {'CoV':>6}  "
          "function: waits for, more than all")
    for p in phases:
        name = "(outside)" if p.function == calls_model.BEGIN_ID else names.of(p.function)
        reason = why(p, parts, average)
        name += f": {reason}" if reason else ""
        print(f"{100 * p.cycles / whole:>9.2f} {len(p.frames):>9,} "
              f"{p.cycles / len(p.frames):>12,.0f} {p.cpi:>7.3f} {p.cov:>6.3f}  {name}")
    show_anova([p.values for p in phases if p.function != calls_model.BEGIN_ID and
                len(p.values) > 1])
    return phases


def show_anova(groups):
    """Prints whether phases differ more from one another than calls of a phase do."""
    generator = random.Random(1)
    total = sum(map(len, groups))
    if total > VALUES_MOST:
        groups = [generator.sample(g, max(2, len(g) * VALUES_MOST // total)) for g in groups]
        total = VALUES_MOST
    a = calls_model.anova(groups)
    if not a or a[2] < WITHIN_LEAST:
        print("anova of CPI: too few calls: no F of few says much")
        return
    f, between, within, omega = a
    p = inference.beta_part(within / 2, between / 2, within / (within + between * f)) \
        if f != float("inf") else 0.0
    mean = calls_model.shuffled(groups, generator, SHUFFLED_MOST // (total + 2000)) or 0.0
    print(f"anova of CPI: F({between}, {within}) = {f:.1f}, p = {p:.2g}, omega^2 = {omega:.3f}; "
          f"with names shuffled F = {mean:.2f}")


def show_overhead(part, only, plain, whole):
    text = f"overhead: predicted {100 * part:.2f} %"
    if plain and plain.took and only.took:
        text += f", measured {100 * (only.took[0] / plain.took[0] - 1):.2f} %"
    recorded, skipped = only.calls()
    if plain and plain.took:
        print(f"whole: the phases have {100 * whole / plain.took[0]:.2f} % of the cycles of the "
              "program without recording")
    print(f"{text} ({recorded:,} calls recorded, {skipped:,} not; {only.whole[0]:.0f} and "
          f"{only.skipped[0]:.0f} cycles each)")


def main():
    options = arguments(sys.argv[1:])
    names = read(options, "program", calls_model.Names)
    recording = read(options, "calls", calls_model.Recording)
    functions, whole, tree = calls_model.functions_of(recording.frames())
    if not functions or not whole:
        refuse("calls", "value", f"{options['calls']}: no " +
               ("cycles were counted" if functions else "call was recorded"))
    number = sum(f.calls for f in functions.values())
    short = "" if recording.took and not recording.full else ", cut short"
    print(f"functions: {len(functions)} called, {number:,} calls, {whole:,.0f} cycles in "
          f"{len(recording.threads)} threads{short}")
    only = read(options, "only", calls_model.Recording) if "only" in options else None
    chosen, grain = choose(functions, whole, names, options, recording)
    show_tree(recording, tree, whole, names, options["weight"] / 100)
    show_functions(functions, whole, names, chosen)
    if "select" in options:
        write(options, "select", "".join(f"{f.at:x} {names.of(f.at)}\n" for f in chosen))
    gone = left_out(functions, names, chosen, options)
    if "exclude" in options:
        write(options, "exclude", ",".join(sorted(excluded(names, chosen))))
    if only:
        print(f"selected: {len(chosen)}, of more than {options['weight']:g} % of the cycles in all "
              f"and {grain:g} % in a call")
        rerun = read(options, "rerun", calls_model.Names) if "rerun" in options else names
        phases = show_phases(only, rerun)
        plain = read(options, "plain", calls_model.Recording) if "plain" in options else None
        if plain and plain.took and not plain.took[0]:
            refuse("plain", "value", f"{options['plain']}: no cycles were counted")
        show_overhead(calls_model.predicted(functions, whole, chosen, only, gone), only, plain,
                      sum(p.cycles for p in phases))
        if "svg" in options:
            write(options, "svg", calls_view.svg(phases, rerun, calls_model.BEGIN_ID))


if __name__ == "__main__":
    main()
