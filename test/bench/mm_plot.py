#!/usr/bin/env python3
"""Draws the results of test/bench/mm.py by gnuplot, as SVG or PNG.

    test/bench/mm_plot.py FILE PREFIX [png]

FILE has lines RESULT mm... PREFIX-policy.svg gets time by memory and replacement policy,
PREFIX-replay.svg misses by both, PREFIX-pools.svg speed by memory and goal; further ones are
PREFIX-prefetch.svg, PREFIX-pab.svg and PREFIX-track.svg. Pictures without lines are not drawn.
"""
import subprocess
import sys

COLOURS = {
    "opt": "#000000",
    "lru": "#1f77b4",
    "clock": "#17becf",
    "mru": "#9467bd",
    "lirs": "#2ca02c",
    "lirs-recent": "#bcbd22",
    "wtinylfu-margin": "#393b79",
    "arc": "#ff7f0e",
    "gap": "#e377c2",
    "region": "#8c564b",
    "chooser": "#d62728",
    "global": "#000000",
    "even": "#7f7f7f",
    "throughput": "#d62728",
    "fairness": "#2ca02c",
    "maxmin": "#9467bd",
    "service": "#1f77b4",
    "none": "#7f7f7f",
    "spatial": "#1f77b4",
    "ppg": "#d62728",
    "ppg-published": "#ff7f0e",
    "path": "#d62728",
    "whole": "#ff7f0e",
    "log": "#9467bd",
    "soft": "#1f77b4",
    "scan": "#7f7f7f",
}


def read(path):
    """Returns the figures of each kind of line."""
    found = {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if len(words) > 2 and words[0] == "RESULT" and "check=failed" not in words:
                found.setdefault(words[1], []).append(
                    dict(w.split("=", 1) for w in words[2:] if "=" in w)
                )
    return found


def unique(values):
    return list(dict.fromkeys(values))


class Page:
    """Panels beside each other, in rows of four. The data of curves and bars is in blocks inside
    the script."""

    def __init__(self, path, panels, height=420):
        kind = "pngcairo" if path.endswith(".png") else "svg"
        columns = min(panels, 4)
        rows = -(-panels // columns)
        self.script = [
            f"set terminal {kind} size {max(380 * columns, 520)},{height * rows} "
            "font 'sans,11' background '#ffffff'",
            f"set output '{path}'",
            f"set multiplot layout {rows},{columns}",
            "set grid ytics lc rgb '#dddddd' lw 1",
            "set key below samplen 1.5 width -1",
            "set border 3",
            "set tics nomirror",
        ]
        self.path, self.blocks = path, 0

    def block(self, rows):
        name = f"$d{self.blocks}"
        self.blocks += 1
        self.script += [f"{name} << EOD"] + [" ".join(map(str, r)) for r in rows] + ["EOD"]
        return name

    def panel(self, title, x, y, curves, extra=()):
        """Adds a panel of curves: name, points (x, y)."""
        parts = []
        for name, points in curves:
            first = dict(reversed(points))  # of several lines for the same the first
            data, colour = self.block(sorted(first.items())), COLOURS.get(name, "#1f77b4")
            dash = " dt 2" if name in ("opt", "global") else ""
            parts.append(
                f"{data} using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc '{colour}'{dash} "
                f"title '{name}' noenhanced"
            )
        self.script += [
            f"set title '{title}' noenhanced",
            f"set xlabel '{x}'",
            f"set ylabel '{y}'",
            *extra,
            "plot " + ", ".join(parts),
        ]

    def bars(self, title, y, groups, names, value, extra=()):
        """Adds a panel with a bar for each name in each group."""
        parts = []
        for name in names:
            data = self.block([[f'"{g}"', value(g, name)] for g in groups])
            colour = COLOURS.get(name, "#1f77b4")
            parts.append(
                f"{data} using 2:xtic(1) with histograms fs solid 0.8 noborder lc '{colour}' "
                f"title '{name}' noenhanced"
            )
        self.script += [
            f"set title '{title}'",
            "unset xlabel",
            f"set ylabel '{y}'",
            "set style data histograms",
            "set style histogram clustered gap 1",
            "set xtics noenhanced",
            *extra,
            "plot " + ", ".join(parts),
        ]

    def draw(self):
        subprocess.run(
            ["gnuplot"], input="\n".join(self.script + ["unset multiplot", ""]).encode(), check=True
        )
        print(f"plot: {self.path}")


def draw_policy(rows, path):
    apps = unique(r["app"] for r in rows)
    page = Page(path, len(apps))
    for app in apps:
        own = [r for r in rows if r["app"] == app]
        curves = [
            (q, [(int(r["memory_pct"]), float(r["ns"]) / 1e9) for r in own if r["policy"] == q])
            for q in unique(r["policy"] for r in own)
        ]
        page.panel(
            app,
            "memory, percent of its pages",
            "seconds of model time",
            curves,
            ["set logscale y", "set xrange [35:105]"],
        )
    page.draw()


def draw_replay(rows, path):
    apps = unique(r["app"] for r in rows)
    page = Page(path, len(apps))
    for app in apps:
        own = [r for r in rows if r["app"] == app]
        curves = [
            (q, [(int(r["memory_pct"]), 100 * int(r[q]) / int(r["accesses"])) for r in own])
            for q in own[0]
            if q in COLOURS
        ]
        page.panel(
            app,
            "memory, percent of its pages",
            "misses, percent of accesses",
            curves,
            ["set yrange [0:*]"],
        )
    page.draw()


def draw_pools(rows, path):
    page = Page(path, 2)
    goals = unique(r["goal"] for r in rows)

    def curves(column):
        return [
            (g, [(int(r["memory_pct"]), float(column(r))) for r in rows if r["goal"] == g])
            for g in goals
        ]

    page.panel(
        rows[0]["programs"],
        "memory, percent of both",
        "user instructions per cycle",
        curves(lambda r: r["ipc"]),
        ["set yrange [0:*]"],
    )
    page.panel(
        "against one pool for both",
        "memory, percent of both",
        "fewer cycles, percent",
        curves(lambda r: r["fewer_cycles_pct"]),
        ["set yrange [*:*]"],
    )
    page.draw()


def draw_prefetch(rows, path):
    several = len(unique(r["memory_pct"] for r in rows)) > 1
    labels = [r["app"] + (f" {r['memory_pct']}%" if several else "") for r in rows]
    apps, names = unique(labels), unique(r["policy"] for r in rows)
    by = {(label, r["policy"]): r for label, r in zip(labels, rows)}

    def of(column, scale=1.0):
        return lambda app, name: float(by[app, name][column]) * scale if (app, name) in by else 0.0

    page = Page(path, 4)
    page.bars("time", "seconds of model time", apps, names, of("ns", 1e-9), ["set yrange [0:*]"])
    page.bars(
        "recall",
        "percent of faults avoided",
        apps,
        names[1:],
        of("recall_pct"),
        ["set yrange [0:105]"],
    )
    page.bars("precision", "percent of prefetched pages used", apps, names[1:], of("precision_pct"))
    page.bars("more pages moved", "percent", apps, names[1:], of("io_pct"), ["set yrange [*:*]"])
    page.draw()


def draw_pab(rows, path):
    kinds = unique(f"{r['app']} {r['with']}" for r in rows)
    page = Page(path, 2)
    colours = dict(zip(kinds, list(COLOURS.values())[1:]))
    COLOURS.update(colours)

    def curves(column, scale):
        return [
            (
                k,
                [
                    (int(r["pab"]), float(r[column]) * scale)
                    for r in rows
                    if f"{r['app']} {r['with']}" == k
                ],
            )
            for k in kinds
        ]

    page.panel(
        "with half of its memory",
        "page access buffer, entries",
        "seconds of model time",
        curves("ns", 1e-9),
        ["set logscale x 2", "set yrange [0:*]"],
    )
    page.panel(
        "with memory ample, every page tracked",
        "page access buffer, entries",
        "overhead, percent",
        curves("overhead_pct", 1),
        ["set key below"],
    )
    page.draw()


def draw_track(rows, path):
    programs, names = unique(r["program"] for r in rows), unique(r["tracker"] for r in rows)
    by = {(r["program"], r["tracker"]): r for r in rows}
    page = Page(path, 1)
    page.bars(
        "tracking, memory ample",
        "overhead, percent",
        programs,
        names,
        lambda p, t: by.get((p, t), {}).get("overhead_pct", 0),
        ["set logscale y", "set yrange [0.1:*]"],
    )
    page.draw()


DRAW = {
    "policy": draw_policy,
    "replay": draw_replay,
    "pools": draw_pools,
    "prefetch": draw_prefetch,
    "pab": draw_pab,
    "track": draw_track,
}


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["png"]):
        sys.exit("usage: mm_plot.py FILE PREFIX [png]")
    path, drawn = sys.argv[1], 0
    try:
        found = read(path)
    except OSError as error:
        sys.exit(f"mm_plot.py: argument=FILE reason=unreadable: {path}: {error.strerror}")
    except UnicodeDecodeError:
        sys.exit(f"mm_plot.py: argument=FILE reason=value: {path}: is no text")
    for kind, draw in DRAW.items():
        if not found.get(f"mm.{kind}"):
            continue
        try:
            draw(found[f"mm.{kind}"], f"{sys.argv[2]}-{kind}.{'png' if sys.argv[3:] else 'svg'}")
        except KeyError as missing:
            lacks = f"kind=mm.{kind} key={missing.args[0]}"
            sys.exit(f"mm_plot.py: argument=FILE reason=key {lacks}: {path}: a line has it not")
        except ValueError as error:
            sys.exit(f"mm_plot.py: argument=FILE reason=value kind=mm.{kind}: {path}: {error}")
        except (OSError, subprocess.CalledProcessError) as error:
            sys.exit(f"mm_plot.py: gnuplot: {error}")
        drawn += 1
    if not drawn:
        sys.exit(
            f"mm_plot.py: argument=FILE reason=empty: {path}: has no line RESULT "
            + ", ".join("mm." + kind for kind in DRAW)
        )


if __name__ == "__main__":
    main()
