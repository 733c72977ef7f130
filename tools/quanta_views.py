"""What quanta show: a timeline for Perfetto, and by role a table and violins. Pure."""
import math

import quanta_model

CPUS = 1 << 30  # stands for a pid: of the rows of CPUs
BACK_END_MUCH = 20  # percent


# ---- Perfetto ------------------------------------------------------------------------------------


def us(ns):
    return ns / 1000


def slice_of(q, name, pid, tid, reference_hz=0):
    args = {"left": q.left, "woken": q.woken, "waited_ns": q.waited, "quanta": q.quanta, "cpu": q.cpu}
    args |= {n: round(v, 2) for n, v in quanta_model.topdown(q.counts).items()} | q.counts
    mhz = quanta_model.effective_mhz(q.counts, reference_hz)
    if mhz is not None:
        args["mhz"] = round(mhz, 1)
    return {
        "ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(q.start), "dur": us(q.end - q.start),
        "args": args,
    }


def perfetto(recording, path=(), stopped=()):
    """Returns the events of a trace for ui.perfetto.dev: a row for each CPU and each thread, an
    arrow for each wake-up by a thread, the CPUs' frequencies, the critical path, pauses, and marks."""
    out = []

    def name(what, pid, tid, text):
        out.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": text}})

    name("process_name", CPUS, 0, "CPUs")
    name("process_name", CPUS + 1, 0, "critical path")
    name("process_name", 0, 0, "kernel")
    for pid, program in recording.programs.items():
        name("process_name", pid, 0, f"{program} {pid}")
    for cpu in sorted({q.cpu for q in recording.all_quanta()}):
        name("thread_name", CPUS, cpu, f"CPU {cpu}")
    for life in recording.lives:
        name("thread_name", life.pid, life.tid, f"{life.name} {life.tid}")
    arrows = 0

    def arrow(waker, ready, life, start):
        nonlocal arrows
        arrows += 1
        both = {"name": "wakes", "cat": "wake", "id": arrows}
        out.append(both | {"ph": "s", "pid": waker.pid, "tid": waker.tid, "ts": us(ready)})
        out.append(both | {"ph": "f", "bp": "e", "pid": life.pid, "tid": life.tid, "ts": us(start)})

    for q in recording.all_quanta():
        life = q.life
        hz = recording.reference_hz
        out.append(slice_of(q, f"{life.name} {life.tid}", CPUS, q.cpu, hz))
        out.append(slice_of(q, quanta_model.label(q), life.pid, life.tid, hz))
        if q.waker and q.quanta == 1 and not recording.wake_events:
            arrow(q.waker, q.ready, life, q.start)
    for ready, tid, by in recording.wake_events:
        life, waker = recording.life_at(tid, ready), by and recording.life_at(by, ready)
        if life and waker:
            arrow(waker, ready, life, ready)
    for p in path:
        out.append({
            "ph": "X", "name": f"{p.life.name} {p.life.tid}: {p.kind}", "pid": CPUS + 1, "tid": 0,
            "ts": us(p.start), "dur": us(p.ns),
        })
    for start, end in stopped:
        out.append({
            "ph": "X", "name": "the world is stopped", "pid": CPUS + 1, "tid": 1, "ts": us(start),
            "dur": us(end - start),
        })
    for cpu, changes in sorted(recording.frequencies.items()):
        for i, (ns, khz, how) in enumerate(changes):
            out.append({
                "ph": "C", "name": f"CPU {cpu}: frequency, MHz", "pid": CPUS,
                "ts": 0 if not i and how == "measured" else us(ns), "args": {"MHz": khz / 1000},
            })
    for ns, tid, text in recording.marks:
        life = recording.life_at(tid, ns)
        out.append({
            "ph": "i", "s": "g", "name": text, "pid": life.pid if life else 0, "tid": tid, "ts": us(ns)
        })
    return out


# ---- Roles ---------------------------------------------------------------------------------------


def by_role(recording, roles):
    found = {}
    for life in recording.lives:
        if life.quanta:
            found.setdefault(roles.of(life), []).append(life)
    return dict(sorted(found.items()))


def role_rows(recording, roles):
    """Returns a row for each role: what its threads did together."""
    rows = []
    for role, lives in by_role(recording, roles).items():
        quanta = [q for life in lives for q in life.quanta]
        total = quanta_model.sums(quanta, recording.names)
        rows.append(
            {"role": role, "threads": len(lives)} | total | {"parts": quanta_model.topdown(total)}
        )
    return rows


def role_table(recording, roles):
    """Returns the rows as lines of text."""
    lines = [
        f"{'role':<12} {'threads':>7} {'quanta':>8} {'ran_ms':>9} {'waited_ms':>9} {'ipc':>6}"
        f" {'front%':>7} {'specul%':>7} {'back%':>7} {'rest%':>7}"
        + (f" {'MHz':>7}" if recording.reference_hz else "")
    ]
    for r in role_rows(recording, roles):
        cells = [f"{r['parts'][p]:7.1f}" if r["parts"] else "      -" for p in quanta_model.PARTS]
        ipc = f"{r['instructions'] / r['cycles']:6.3f}" if r.get("cycles") and "instructions" in r \
            else "     -"
        lines.append(
            f"{r['role']:<12} {r['threads']:>7} {r['quanta']:>8} {r['ran'] / 1e6:>9.3f}"
            f" {r['waited'] / 1e6:>9.3f} {ipc} {' '.join(cells)}"
        )
        if recording.reference_hz:
            mhz = quanta_model.effective_mhz(r, recording.reference_hz)
            lines[-1] += "       -" if mhz is None else f" {mhz:7.1f}"
    return lines


def much_back_end(recording, roles):
    """Returns {role: percent of its cycles in quanta whose back end has more than BACK_END_MUCH
    percent}."""
    shares = {}
    for role, lives in by_role(recording, roles).items():
        quanta = [q for life in lives for q in life.quanta if quanta_model.topdown(q.counts)]
        cycles = sum(q.counts["cycles"] for q in quanta)
        much = sum(
            q.counts["cycles"] for q in quanta
            if quanta_model.topdown(q.counts)["back end"] > BACK_END_MUCH
        )
        if cycles:
            shares[role] = 100 * much / cycles
    return shares


# ---- Violins -------------------------------------------------------------------------------------

POINTS = 51  # of a violin: 0, 2, ... 100 percent
BANDWIDTH = 4.0  # percent


def density(values, weights):
    """Returns the weighted kernel density at POINTS points from 0 to 100. The kernel is reflected
    at both ends, so the density's integral over 0..100 is 1."""
    whole = sum(weights)
    step = 100 / (POINTS - 1)
    out = []
    for i in range(POINTS):
        x = i * step
        n = 0.0
        for v, w in zip(values, weights):
            for image in (v, -v, 200 - v):
                n += w * math.exp(-((x - image) ** 2) / (2 * BANDWIDTH**2))
        out.append(n / (whole * BANDWIDTH * math.sqrt(2 * math.pi)) if whole else 0.0)
    return out


def quantile(values, weights, part):
    """Returns the least value up to which `part` of the weight lies."""
    left = part * sum(weights)
    for v, w in sorted(zip(values, weights)):
        left -= w
        if left <= 0:
            return v
    return max(values)


def violins(recording, roles):
    """Returns {role: {part: values and weights}}: of each quantum, weighted by its cycles."""
    data = {}
    for role, lives in by_role(recording, roles).items():
        for q in (q for life in lives for q in life.quanta):
            for part, share in quanta_model.topdown(q.counts).items():
                values, weights = data.setdefault(role, {}).setdefault(part, ([], []))
                values.append(share)
                weights.append(q.counts["cycles"])
    return data


COLOURS = ["#4e79a7", "#f28e2b", "#e15759", "#76b7b2"]


def svg(recording, roles):
    """Returns violins as an SVG: a row for each role, a violin for each part of the cycles; the
    bar is the median."""
    data = violins(recording, roles)
    high, wide, left = 120, 170, 110
    size = left + wide * len(quanta_model.PARTS), 40 + high * max(len(data), 1)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
    ]
    for column, part in enumerate(quanta_model.PARTS):
        x = left + wide * (column + 0.5)
        out.append(f'<text x="{x}" y="20" text-anchor="middle">{part}, % of cycles</text>')
    for row, (role, parts) in enumerate(data.items()):
        top = 40 + high * row
        out.append(f'<text x="8" y="{top + high / 2}">{role}</text>')
        for at in (0, 50, 100):
            y = top + (high - 20) * (1 - at / 100)
            out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#777">{at}</text>')
        for column, part in enumerate(quanta_model.PARTS):
            values, weights = parts[part]
            curve = density(values, weights)
            most = max(curve) or 1
            middle = left + wide * (column + 0.5)
            ys = [top + (high - 20) * (1 - i / (POINTS - 1)) for i in range(POINTS)]
            half = [0.4 * wide * c / most for c in curve]
            points = [f"{middle - h:.1f},{y:.1f}" for h, y in zip(half, ys)]
            points += [f"{middle + h:.1f},{y:.1f}" for h, y in zip(half[::-1], ys[::-1])]
            out.append(f'<polygon points="{" ".join(points)}" fill="{COLOURS[column]}"/>')
            y = top + (high - 20) * (1 - quantile(values, weights, 0.5) / 100)
            out.append(
                f'<line x1="{middle - 12}" x2="{middle + 12}" y1="{y:.1f}" y2="{y:.1f}"'
                ' stroke="black" stroke-width="2"/>'
            )
    out.append("</svg>")
    return "\n".join(out) + "\n"
