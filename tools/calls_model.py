"""Calls of functions that a program recorded (apps/sdk/calls.h): frames, what each counted, and
what the recording took, which is subtracted. Pure, but for reading the two files.

A frame's exclusive counts are those between its entry and its exit without those of recorded calls
inside it. Costs, from the file's head: `inner`, what a recorded call counts in itself; `whole`, in
all, of which the rest falls on the caller; `skipped`, of a call that is not recorded.
"""
import bisect
import math
import struct
from dataclasses import dataclass, field

MAGIC = 0x31736c6c61636776
HEAD, RECORDS, END = 1, 2, 3
BEGIN_ID, END_ID = 0x7FFFFFFE, 0x7FFFFFFF
SYMBOL = struct.Struct("<IBBHQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
FUNCTION, SYMTAB = 2, 2


class CallsError(Exception):
    """A file is not what it should be."""


class Names:
    """Names of functions by their distance from __executable_start, of an ELF file."""

    def __init__(self, data):
        try:
            self.read(data)
        except struct.error as e:
            raise CallsError("is no ELF file with symbols") from e

    def read(self, data):
        if data[:6] != b"\x7fELF\x02\x01":
            raise CallsError("is no ELF file of 64 bits")
        offset, = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        if offset > len(data) or size < SECTION.size:
            raise CallsError("is no ELF file with sections")
        sections = [SECTION.unpack_from(data, offset + i * size) for i in range(count)]
        found, start = {}, None
        for s in sections:
            if s[1] != SYMTAB or s[6] >= count or s[4] + s[5] > len(data):
                continue
            texts = sections[s[6]][4]
            for at in range(s[4], s[4] + s[5], SYMBOL.size):
                name, info, _, _, value, _ = SYMBOL.unpack_from(data, at)
                end = data.find(b"\0", min(texts, len(data)) + name)
                text = data[min(texts, len(data)) + name:max(end, 0)].decode("utf-8", "replace")
                if text == "__executable_start":
                    start = value
                elif info & 15 == FUNCTION:
                    found.setdefault(value, text)
        if start is None:
            raise CallsError("was not built with -finstrument-functions and libvigil-calls.a")
        self.names = {value - start: text for value, text in found.items()}
        self.order = sorted(self.names)

    def of(self, at):
        i = bisect.bisect_right(self.order, at)
        return self.names[self.order[i - 1]] if i else f"+0x{at:x}"

    def places(self, wanted):
        """Returns the distances of functions of these names."""
        return [at for at, name in self.names.items() if name in wanted]


@dataclass
class Frame:
    function: int   # distance; BEGIN_ID: the thread itself, outside of recorded functions
    thread: int
    depth: int
    start: float    # first count (cycles), of the thread, when it began
    exclusive: list
    inclusive: float  # first count
    outermost: bool   # it does not run inside another call of itself
    calls: int        # recorded calls in it
    node: int         # of the call tree, Recording.nodes; 0: the thread
    cut: bool         # its exit was not recorded


@dataclass
class Open:
    function: int
    node: int
    outermost: bool
    counts: tuple
    skips: int
    inside: list = field(default_factory=list)  # raw counts of calls in it
    inside_skips: int = 0
    calls: int = 0
    inclusive: float = 0.0  # of calls in it, corrected


class Recording:
    """names of counts; inner, whole, skipped: costs; threads: {number: [records]}; took: counts
    of the process without the library's own work; None: the file ends early;
    full: it has no room for all calls, but for those of the beginning; nodes: of the call tree, by
    (parent, function)."""

    def __init__(self, data):
        self.threads, self.names, self.took = {}, [], None
        self.full, self.nodes = False, {}
        at = 0
        while at + 24 <= len(data):
            kind, thread, size = struct.unpack_from("<3Q", data, at)
            at += 24
            if at + size > len(data) or size % 8:
                break
            if kind == HEAD:
                self.read_head(data, at, size)
            elif not self.names:
                raise CallsError("is no file of calls")
            elif kind == RECORDS:
                self.threads.setdefault(thread, []).append(data[at:at + size])
            elif kind == END:
                words, n = struct.unpack_from(f"<{size // 8}Q", data, at), len(self.names)
                if len(words) != 2 * n + 1:
                    raise CallsError("is no file of calls")
                self.took = [a - b for a, b in zip(words[:n], words[n:2 * n])]
                self.full = bool(words[-1])
            at += size
        if not self.names:
            raise CallsError("is no file of calls: was the program built with "
                             "-finstrument-functions and linked with libvigil-calls.a?")

    def read_head(self, data, at, size):
        words = struct.unpack_from(f"<{size // 8}Q", data, at)
        if len(words) < 2 or words[0] != MAGIC or not 1 <= words[1] <= 8 or \
                len(words) < 2 + 3 * words[1]:
            raise CallsError("is no file of calls")
        n = words[1]
        costs = [w / 1000 for w in words[2:2 + 3 * n]]
        self.inner, self.whole, self.skipped = costs[:n], costs[n:2 * n], costs[2 * n:]
        text = data[at + 16 + 24 * n:at + size].split(b"\0")[0].decode("ascii", "replace")
        self.names = [name.rstrip("!") for name in text.split(",")]
        if len(self.names) != n:
            raise CallsError("is no file of calls")

    def records(self, thread):
        """Yields (function, is exit, calls skipped so far, counts)."""
        record = struct.Struct(f"<{1 + len(self.names)}Q")
        for piece in self.threads[thread]:
            for words in record.iter_unpack(piece[:len(piece) // record.size * record.size]):
                yield words[0] >> 1 & 0x7FFFFFFF, words[0] & 1, words[0] >> 32, words[1:]

    def close(self, f, counts, skips, cut, thread, depth):
        """Returns the frame of an open one."""
        raw = [b - a for a, b in zip(f.counts, counts)]
        missed = (skips - f.skips - f.inside_skips) % (1 << 32)
        inner = self.inner if f.function != BEGIN_ID else [0.0] * len(raw)
        own = [max(r - i - e - f.calls * (w - e0) - missed * s, 0.0) for r, i, e, w, e0, s in
               zip(raw, f.inside or [0] * len(raw), inner, self.whole, self.inner, self.skipped)]
        return raw, missed, Frame(f.function, thread, depth, f.counts[0], own,
                                  own[0] + f.inclusive, f.outermost, f.calls, f.node,
                                  cut)

    def frames(self):
        """Yields all frames, a call before its caller. Calls whose exit is missing (longjmp, the
        end of a thread) end with the one around them."""
        n = len(self.names)
        for thread in self.threads:
            stack, running = [], {}

            def pop(counts, skips, cut):
                f = stack.pop()
                running[f.function] -= 1
                raw, missed, frame = self.close(f, counts, skips, cut, thread, len(stack))
                if stack:
                    top = stack[-1]
                    top.inside = [a + b for a, b in zip(top.inside or [0] * n, raw)]
                    top.inside_skips += missed + f.inside_skips
                    top.calls += 1
                    top.inclusive += frame.inclusive
                return frame

            counts, skips = (0,) * n, 0
            for function, is_exit, skips, counts in self.records(thread):
                if function == BEGIN_ID or not stack:
                    stack, running = [Open(BEGIN_ID, 0, True, counts, skips)], {BEGIN_ID: 1}
                    if function == BEGIN_ID:
                        continue
                if function == END_ID:
                    break
                if not is_exit:
                    way = (stack[-1].node, function)
                    node = self.nodes.setdefault(way, len(self.nodes) + 1)
                    stack.append(Open(function, node, not running.get(function), counts, skips))
                    running[function] = running.get(function, 0) + 1
                elif running.get(function):
                    while stack[-1].function != function:
                        yield pop(counts, skips, True)
                    yield pop(counts, skips, False)
            while stack:
                yield pop(counts, skips, len(stack) > 1)

    def calls(self):
        """Returns (recorded, skipped) calls."""
        recorded = skipped = 0
        for thread in self.threads:
            last = first = 0
            for function, is_exit, skips, _ in self.records(thread):
                first = skips if function == BEGIN_ID else first
                recorded += not is_exit and function < BEGIN_ID
                last = skips
            skipped += (last - first) % (1 << 32)
        return recorded, skipped


# ---- Functions -----------------------------------------------------------------------------------

@dataclass
class Function:
    at: int
    calls: int = 0
    inclusive: float = 0.0  # of calls that do not run inside another of the same function
    exclusive: float = 0.0


def functions_of(frames):
    """Returns (functions by their distance, cycles of all frames, inclusive cycles and calls by
    node of the call tree)."""
    functions, whole, tree = {}, 0.0, {}
    for frame in frames:
        whole += frame.exclusive[0]
        cycles, calls = tree.get(frame.node, (0.0, 0))
        tree[frame.node] = cycles + frame.inclusive, calls + 1
        if frame.function == BEGIN_ID:
            continue
        f = functions.setdefault(frame.function, Function(frame.function))
        f.calls += 1
        f.exclusive += frame.exclusive[0]
        if frame.outermost:
            f.inclusive += frame.inclusive
    return functions, whole, tree


def select(functions, whole, weight, grain):
    """Returns the functions that take more than `weight` of the whole in all, and more than `grain`
    of it in a call on the average, with what they call (Georges 2004, after Huang 2003)."""
    return [f for f in functions.values() if f.inclusive > weight * whole and
            f.inclusive / f.calls > grain * whole]


def excluded(names, chosen):
    """Returns those of `names` that the compiler can leave out: it leaves out all functions whose
    names have one of those given inside."""
    plain = {n.split(".")[0] for n in names} - {""}
    return {n for n in plain if not any(n in c for c in chosen)}


def predicted(functions, whole, chosen, costs, left_out=()):
    """Returns the part of the whole that recording only `chosen` adds; functions of `left_out` are
    not instrumented."""
    recorded = sum(f.calls for f in chosen)
    skipped = sum(f.calls for f in functions.values() if f.at not in left_out) - recorded
    return (recorded * costs.whole[0] + skipped * costs.skipped[0]) / whole if whole else 0.0


# ---- Statistics ----------------------------------------------------------------------------------

def weighted_cov(values, weights):
    """Returns the coefficient of variation of values, each as often as its weight."""
    total = sum(weights)
    mean = sum(v * w for v, w in zip(values, weights)) / total if total else 0.0
    if not mean:
        return 0.0
    return math.sqrt(sum(w * (v - mean) ** 2 for v, w in zip(values, weights)) / total) / mean


def anova(groups):
    """Returns (F, degrees between and within, omega squared) of one value's groups; None: too few
    values. F is infinite where values of a group do not differ, but groups do."""
    groups = [g for g in groups if g]
    n, k = sum(map(len, groups)), len(groups)
    if k < 2 or n <= k:
        return None
    mean = sum(map(sum, groups)) / n
    means = [sum(g) / len(g) for g in groups]
    between = sum(len(g) * (m - mean) ** 2 for g, m in zip(groups, means))
    within = sum((v - m) ** 2 for g, m in zip(groups, means) for v in g)
    error = within / (n - k)
    if not error:
        return (math.inf if between else 0.0), k - 1, n - k, 1.0 if between else 0.0
    omega = (between - (k - 1) * error) / (between + within + error)
    return between / (k - 1) / error, k - 1, n - k, max(omega, 0.0)


def shuffled(groups, random, times):
    """Returns the mean F of the same values in groups of the same sizes at random."""
    values, found = [v for g in groups for v in g], []
    for _ in range(times):
        random.shuffle(values)
        at, parts = 0, []
        for g in groups:
            parts.append(values[at:at + len(g)])
            at += len(g)
        a = anova(parts)
        if a and math.isfinite(a[0]):
            found.append(a[0])
    return sum(found) / len(found) if found else None
