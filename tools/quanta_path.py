"""Who waited for whom: the critical path through quanta and wake-ups, and pauses of all threads of
a role. Pure."""
from dataclasses import dataclass


@dataclass
class Part:
    start: int
    end: int
    kind: str  # running, waiting for a CPU, asleep, interrupt, unknown
    life: object
    quantum: object = None

    @property
    def ns(self):
        return self.end - self.start


KINDS = ["running", "waiting for a CPU", "asleep", "interrupt", "unknown"]


def critical_path(life, begin, end):
    """Walks back from `end`, where `life` runs or has just stopped, to `begin`: while a thread
    runs, it is the path; so is its wait for a CPU; when it was woken, the path goes on with the
    thread that woke it. Returns Parts in order of time; without a gap they fill begin..end.

      asleep     the thread slept until a time that it had chosen
      interrupt  it waited for a device, another CPU or a timer of the kernel's
      unknown    what it waited for is not recorded
    """
    parts = []
    t = end

    def add(start, kind, of, quantum=None):
        nonlocal t
        start = max(start, begin)
        if start < t:
            parts.append(Part(start, t, kind, of, quantum))
            t = start

    while t > begin:
        q = life.before(t)
        if q is None:
            add(begin, "unknown", life)
            break
        if q.end < t:  # it does not run at t
            add(q.end, "unknown", life)
            continue
        add(q.start, "running", life, q)
        add(q.ready, "waiting for a CPU", life, q)
        if t <= begin:
            break
        before = life.before(q.start)
        stopped = before.end if before else begin
        if q.woken == "stayed":
            continue
        by = q.waker.before(t) if q.waker else None
        if by and by.end >= t:
            life = q.waker
            continue
        kind = {"time": "asleep", "interrupt": "interrupt"}.get(q.woken, "unknown")
        add(stopped, kind, life, q)
    return parts[::-1]


def path_sums(parts):
    """Returns {(life, kind): ns}, the largest first."""
    sums = {}
    for p in parts:
        sums[p.life, p.kind] = sums.get((p.life, p.kind), 0) + p.ns
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def pauses(recording, is_stopped, is_stopper, least=0):
    """Returns (start, end) of the times, at least `least` long, in which a thread for which
    is_stopper(life) holds ran and none for which is_stopped(life) holds, though one of those was
    alive: it had run, and has not ended."""
    changes = []
    for life in recording.lives:
        if not life.quanta:
            continue
        if is_stopper(life):
            for q in life.quanta:
                changes += [(q.start, "stoppers", 1), (q.end, "stoppers", -1)]
        if is_stopped(life):
            changes += [(life.quanta[0].start, "alive", 1), (life.quanta[-1].end, "alive", -1)]
            for q in life.quanta:
                changes += [(q.start, "running", 1), (q.end, "running", -1)]
    now = {"stoppers": 0, "alive": 0, "running": 0}
    found, since = [], None
    changes.sort(key=lambda c: c[0])
    for i, (t, what, n) in enumerate(changes):
        now[what] += n
        if i + 1 < len(changes) and changes[i + 1][0] == t:
            continue  # all that changes at t has changed before anyone looks
        paused = now["stoppers"] > 0 and now["alive"] > 0 and now["running"] == 0
        if paused and since is None:
            since = t
        elif not paused and since is not None:
            if t - since >= least:
                found.append((since, t))
            since = None
    return found
