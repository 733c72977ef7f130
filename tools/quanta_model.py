"""Quanta of a trace (telemetry=quanta): who ran when and why each left, and what was counted.

  recording = quanta_model.Recording(trace_events.Trace(folder))

A thread number may be used again, so a thread is a Life: from its start to its total. Times are
nanoseconds since boot. Pure: events come from any iterable of (time_ns, name, cpu, fields).
"""
import bisect
import re
from dataclasses import dataclass, field

STALLS = {  # count: part of the top-down view
    "stall_icache": "front end",
    "stall_frontend": "front end",
    "stall_branch": "speculation",
    "stall_dcache": "back end",
    "stall_tlb": "back end",
    "stall_backend": "back end",
}
REST = "the rest"  # completion, and causes that are not counted
PARTS = ["front end", "speculation", "back end", REST]


@dataclass(eq=False)
class Quantum:
    life: "Life"
    cpu: int
    start: int
    end: int
    ran: int
    waited: int
    left: str
    woken: str  # how the thread became ready; "stayed": it had not slept
    waker: "Life | None"
    waker_tid: int
    next_tid: int
    quanta: int  # told as one
    counts: dict

    @property
    def ready(self):
        """Since when the thread wanted the CPU."""
        return self.start - self.waited


@dataclass(eq=False)
class Life:
    tid: int
    pid: int
    name: str
    born: int
    quanta: list = field(default_factory=list)
    total: dict | None = None
    starts: list = field(default_factory=list)  # of quanta

    def before(self, t):
        """Returns the latest quantum that began before t, or None."""
        at = bisect.bisect_left(self.starts, t)
        return self.quanta[at - 1] if at else None


class Recording:
    def __init__(self, trace):
        self.names, self.every, self.cycles = [], 1, 0
        self.lives, self.programs = [], {}
        self.marks, self.lines = [], []  # (time, tid, label or text)
        self.wake_events = []  # (ready, tid, waker's tid): where quanta are told as sums
        self.reference_hz = 0  # of the count `reference`; 0: there is none
        self.frequencies = {}  # cpu: [(time, kHz, measured or set)], in order
        self.last = 0
        self.by_tid = {}  # tid: its lives, in order of birth
        pending = []
        for ns, name, cpu, f in trace:
            self.last = max(self.last, ns)
            handler = getattr(self, "on_" + name, None)
            if name in ("quantum", "quantum_sum"):
                pending.append(self.on_quantum(ns, cpu, f))
            elif handler:
                handler(ns, cpu, f)
        for q in pending:
            if q.waker_tid and q.woken != "stayed":
                q.waker = self.life_at(q.waker_tid, q.ready)
        for life in self.lives:
            life.quanta.sort(key=lambda q: q.start)
            life.starts = [q.start for q in life.quanta]
        # Events that babeltrace2 reports as discarded: known once all were read.
        self.discarded = getattr(trace, "discarded", 0)

    # ---- One function for each event ----

    def on_quanta(self, ns, cpu, f):
        self.names = f["counts"].split() if f["counts"] != "-" else []
        self.every, self.cycles = f["every"], f["cycles"]
        self.reference_hz = f.get("reference_hz", 0)

    def on_frequency(self, ns, cpu, f):
        self.frequencies.setdefault(cpu, []).append((ns, f["khz"], f["how"]))

    def on_thread_start(self, ns, cpu, f):
        life = Life(f["tid"], f["pid"], f["thread_name"], ns)
        self.lives.append(life)
        self.by_tid.setdefault(f["tid"], []).append(life)

    def on_thread_name(self, ns, cpu, f):
        life = self.latest(f["tid"])
        life.name = f["thread_name"]

    def on_process_start(self, ns, cpu, f):
        self.programs[f["pid"]] = f["program"]

    def on_mark(self, ns, cpu, f):
        self.marks.append((ns, f["tid"], f["label"]))

    def on_line(self, ns, cpu, f):
        self.lines.append((ns, f["tid"], f["text"]))

    def on_wake(self, ns, cpu, f):
        self.wake_events.append((f["ready"], f["tid"], f["waker"]))

    def counts_of(self, f):
        return {n: f[f"count_{i + 1}"] for i, n in enumerate(self.names)}

    def on_quantum(self, ns, cpu, f):
        life = self.latest(f["tid"])
        end = f.get("end", f["start"] + f["ran"])  # a sum's may have gaps
        q = Quantum(
            life, f.get("on_cpu", cpu), f["start"], end, f["ran"], f["waited"], f["left"], f["woken"], None,
            f["waker"], f["next_tid"], f.get("quanta", 1), self.counts_of(f),
        )
        life.quanta.append(q)
        return q

    def on_quanta_total(self, ns, cpu, f):
        life = self.latest(f["tid"])
        life.total = {
            **self.counts_of(f), "ran": f["ran"], "waited": f["waited"], "quanta": f["quanta"],
            "late": f["late"],
        }

    # ---- Threads ----

    def wakes(self):
        """Returns how many wake-ups are known."""
        quanta = [q for life in self.lives for q in life.quanta if q.woken != "stayed"]
        return len(self.wake_events or quanta)

    def latest(self, tid):
        """Returns the latest life with this number; one whose start was lost is made up."""
        if tid not in self.by_tid:
            self.on_thread_start(0, 0, {"tid": tid, "pid": 0, "thread_name": "?"})
        return self.by_tid[tid][-1]

    def life_at(self, tid, t):
        lives = self.by_tid.get(tid, [])
        at = bisect.bisect_right([life.born for life in lives], t)
        return lives[at - 1] if at else None

    def every_quantum(self):
        """Returns whether each quantum has an event of its own."""
        return all(q.quanta == 1 for life in self.lives for q in life.quanta)

    def all_quanta(self):
        return sorted((q for life in self.lives for q in life.quanta), key=lambda q: q.start)


def sums(quanta, names):
    total = {n: sum(q.counts[n] for q in quanta) for n in names}
    for n in ["ran", "waited", "quanta"]:
        total[n] = sum(getattr(q, n) for q in quanta)
    return total


def conservation(recording):
    """Returns what does not add up: (life, name, sum of its quanta, its total). A thread without a
    total is one: its name is 'total'."""
    wrong = []
    for life in recording.lives:
        if life.total is None:
            wrong.append((life, "total", len(life.quanta), None))
            continue
        for name, n in sums(life.quanta, recording.names).items():
            if n != life.total[name]:
                wrong.append((life, name, n, life.total[name]))
    return wrong


def overlaps(recording):
    """Returns pairs of quanta that overlap on a CPU or of a thread, where each is told alone."""
    rows = {}
    for q in recording.all_quanta():
        if q.quanta == 1:
            rows.setdefault(("cpu", q.cpu), []).append(q)
            rows.setdefault(("life", id(q.life)), []).append(q)
    return [(a, b) for row in rows.values() for a, b in zip(row, row[1:]) if a.end > b.start]


def topdown(counts):
    """Returns the parts of the cycles by PARTS, in percent; {} without cycles or stalls. Causes that
    come to more than all cycles are lowered to them."""
    cycles = counts.get("cycles", 0)
    stalls = {n: counts[n] for n in STALLS if n in counts}
    if not cycles or not stalls:
        return {}
    whole = max(cycles, sum(stalls.values()))
    parts = dict.fromkeys(PARTS, 0.0)
    for name, n in stalls.items():
        parts[STALLS[name]] += 100 * n / whole
    parts[REST] = 100 - sum(parts.values())
    return parts


def effective_mhz(counts, reference_hz):
    """Returns the frequency at which cycles were counted; None: the reference was not."""
    if not reference_hz or not counts.get("reference"):
        return None
    return counts["cycles"] * reference_hz / counts["reference"] / 1e6


def time_of(cycles, start, end, changes):
    """Returns the nanoseconds that cycles took from `start` on, by the changes of a CPU's frequency
    [(time, kHz, how)], in order; before the first it was the same."""
    khz, ns, at = changes[0][1], 0.0, start
    for when, then, _ in changes:
        if at < when < end:
            part = min(cycles, (when - at) * khz / 1e6)
            cycles, ns, at = cycles - part, ns + when - at, when
        if when < end:
            khz = then
    return ns + cycles * 1e6 / khz


def rebuilt(recording):
    """Returns the time of quanta told alone, of CPUs whose frequency is known: by cycles and the
    trace of frequencies, by the reference, and by the clock; in ns."""
    by_trace = by_reference = by_clock = 0.0
    for q in recording.all_quanta():
        changes = recording.frequencies.get(q.cpu)
        if q.quanta != 1 or not changes or (changes[0][2] == "set" and q.start < changes[0][0]):
            continue
        by_trace += time_of(q.counts["cycles"], q.start, q.end, changes)
        if recording.reference_hz:
            by_reference += q.counts["reference"] * 1e9 / recording.reference_hz
        by_clock += q.ran
    return by_trace, by_reference, by_clock


def label(q):
    """Returns the largest part of a quantum's cycles as text, or how it ended."""
    parts = topdown(q.counts)
    if not parts:
        return q.left
    name = max(parts, key=parts.get)
    return f"{name} {parts[name]:.0f} %"


class Roles:
    """Roles of threads by the beginning of their names: lines 'ROLE PREFIX', the first that fits
    counts; '#' begins a comment. A thread that none fits has the role 'other'; of the kernel,
    'kernel'. Without any lines, a program's thread has its name, without a number at the end."""

    def __init__(self, text=""):
        self.rows = []
        for n, line in enumerate(text.splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2:
                raise ValueError(f"line {n}: '{line.strip()}': expected a role and a prefix")
            self.rows.append(tuple(words))

    def of(self, life):
        for role, prefix in self.rows:
            if life.name.startswith(prefix):
                return role
        if not life.pid:
            return "kernel"
        return "other" if self.rows else re.sub(r"(?<=.)[-_#]?\d+$", "", life.name)
