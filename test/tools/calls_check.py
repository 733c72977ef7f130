#!/usr/bin/env python3
"""Checks tools/calls_model.py against an oracle: programs made at random, whose calls are recorded
as apps/sdk/calls.c does; prints TAP."""
import contextlib
import io
import os
import random
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))
sys.dont_write_bytecode = True
import calls as tool  # noqa: E402
import calls_model as model  # noqa: E402

random_ = random.Random(1)
INNER, WHOLE, SKIPPED = (40, 30), (90, 70), (9, 20)
number = 0


def check(good, what, said=""):
    global number  # pylint: disable=global-statement
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {what}{'' if good else f': {said}'}")


def piece(kind, thread, data):
    return struct.pack("<3Q", kind, thread, len(data)) + data


def head():
    words = [model.MAGIC, 2, *(1000 * c for c in (*INNER, *WHOLE, *SKIPPED))]
    names = b"cycles,instructions".ljust(24, b"\0")
    return piece(model.HEAD, 0, struct.pack(f"<{len(words)}Q", *words) + names)


class Program:
    """Runs calls at random; notes what each function does itself."""

    def __init__(self, selected, lost=0.0):
        self.selected, self.lost = selected, lost
        self.now, self.skips, self.records = [0, 0], 0, []
        self.own, self.calls, self.whole = {}, {}, [0, 0]

    def put(self, function, is_exit):
        what = function << 1 | is_exit | self.skips << 32
        self.records.append(struct.pack("<3Q", what, *self.now))

    def cost(self, parts, sign=1):
        self.now = [n + sign * p for n, p in zip(self.now, parts)]

    def work(self, function):
        """Adds work to the function, and the recorded one that it runs in."""
        amount = [random_.randrange(100), random_.randrange(60)]
        self.now = [n + a for n, a in zip(self.now, amount)]
        self.whole = [n + a for n, a in zip(self.whole, amount)]
        return amount

    def call(self, function, depth, charged):
        recorded = function in self.selected
        if recorded:
            outside = [w - i for w, i in zip(WHOLE, INNER)]
            self.cost(outside)
            self.put(function, 0)
            self.cost(INNER)
            charged = function
        else:
            self.skips += 1
            self.cost(SKIPPED)
        self.calls[charged] = self.calls.get(charged, 0) + recorded
        for _ in range(random_.randrange(4)):
            own = self.own.setdefault(charged, [0, 0])
            self.own[charged] = [a + b for a, b in zip(own, self.work(function))]
            if depth < 6 and random_.random() < 0.7:
                self.call(random_.randrange(4, 40, 4), depth + 1, charged)
        if recorded and random_.random() >= self.lost:
            self.put(function, 1)

    def file(self, calls):
        self.put(model.BEGIN_ID, 0)
        for _ in range(calls):
            self.call(random_.randrange(4, 40, 4), 0, model.BEGIN_ID)
            self.own[model.BEGIN_ID] = [a + b for a, b in zip(
                self.own.get(model.BEGIN_ID, [0, 0]), self.work(model.BEGIN_ID))]
        self.put(model.END_ID, 0)
        data = b"".join(self.records)
        cut = len(data) // 48 * 24
        return head() + piece(model.RECORDS, 3, data[:cut]) + piece(model.RECORDS, 3, data[cut:])


def sums(recording):
    own, calls = {}, {}
    for f in recording.frames():
        own[f.function] = [a + b for a, b in zip(own.get(f.function, [0, 0]), f.exclusive)]
        calls[f.function] = calls.get(f.function, 0) + (f.function != model.BEGIN_ID)
    return own, calls


def near(a, b):
    return set(a) == set(b) and all(abs(x - y) < 0.01 for k in a for x, y in zip(a[k], b[k]))


wrong = ""
for i in range(300):
    selected = set(range(4, 40, 4)) if i % 2 else set(random_.sample(range(4, 40, 4), 4))
    program = Program(selected)
    recording = model.Recording(program.file(random_.randrange(1, 12)))
    own, calls = sums(recording)
    wanted = {k: v for k, v in program.own.items() if any(v) or program.calls.get(k)}
    own = {k: v for k, v in own.items() if k in wanted or any(v)}
    wanted.update({k: program.own.get(k, [0, 0]) for k in own})
    if not near(own, wanted):
        wrong = wrong or f"program {i}: {own} and not {wanted}"
    if abs(sum(v[0] for v in own.values()) - program.whole[0]) > 0.01:
        wrong = wrong or f"program {i}: the whole"
    if {k: n for k, n in calls.items() if n} != {k: n for k, n in program.calls.items() if n}:
        wrong = wrong or f"program {i}: calls"
check(not wrong, "of 300 programs each function's own counts are exact, recording taken off", wrong)
program = Program(set(range(4, 40, 4)), lost=0.2)
recording = model.Recording(program.file(40))
frames = list(recording.frames())
check(any(f.cut for f in frames) and
      sum(not f.function == model.BEGIN_ID for f in frames) == sum(program.calls.values()),
      "calls whose exit is missing end with those around them")
nested = Program({4, 8})
nested.put(model.BEGIN_ID, 0)
for function, leave in ((4, 0), (4, 0), (8, 0), (8, 1), (4, 1), (4, 1)):
    nested.put(function, leave)
    nested.cost((100, 50))
nested.put(model.END_ID, 0)
functions, whole, tree = model.functions_of(model.Recording(
    head() + piece(model.RECORDS, 1, b"".join(nested.records))).frames())
check([tree[i][1] for i in range(4)] == [1, 1, 1, 1] and functions[4].calls == 2 and
      functions[4].inclusive <= whole, "a function in itself counts once")
chosen = model.select({1: model.Function(1, 10, 500.0, 1), 2: model.Function(2, 1000, 900.0, 1),
                       3: model.Function(3, 1, 5.0, 1)}, 1000.0, 0.01, 0.01)
check([f.at for f in chosen] == [1], "selected are those above both bounds", chosen)
check(model.excluded({"merge", "sort", "fill"}, {"merge_sort"}) == {"fill"},
      "names inside selected ones are not excluded")
# F, by hand: groups 1 2 3 and 4 5 9: between 24, within 2 + 14, so F = 24 / (16 / 4).
a = model.anova([[1, 2, 3], [4, 5, 9]])
check(abs(a[0] - 6) < 1e-12 and a[1:3] == (1, 4) and abs(a[3] - 20 / 44) < 1e-12,
      "F and omega^2", a)
groups = [[random_.gauss(m, 1) for _ in range(200)] for m in (0, 1, 2)]
mean = model.shuffled(groups, random_, 200)
check(model.anova(groups)[0] > 50 and abs(mean - 1) < 0.2, "with shuffled labels F is near 1", mean)
check(abs(model.weighted_cov([1, 3], [3, 1]) - 0.75 ** 0.5 / 1.5) < 1e-12, "weighted CoV")
good = Program({4}).file(3)
fuzzed = 0
for _ in range(3000):
    data = bytearray(good)
    for _ in range(random_.randrange(1, 6)):
        data[random_.randrange(len(data))] = random_.randrange(256)
    data = bytes(data[:random_.randrange(len(data) + 1)])
    try:
        list(model.Recording(data).frames())
    except model.CallsError:
        fuzzed += 1
check(fuzzed, "broken files are refused or read as far as they go")
elf = bytearray(open("/proc/self/exe", "rb").read()[:200000])
for _ in range(300):
    for _ in range(8):
        elf[random_.randrange(64 if random_.random() < 0.5 else len(elf))] = random_.randrange(256)
    try:
        model.Names(bytes(elf))
    except model.CallsError:
        pass
check(True, "broken programs are refused")


class Named:
    """Names of a program that has none."""

    def __init__(self, _):
        self.names = {}

    def of(self, at):
        return f"f{at}"


def said_of(**files):
    """Returns the status of tools/calls.py, and what it says on standard error."""
    said = io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        words = ["program=/dev/null"]
        for name, data in files.items():
            path = data if isinstance(data, str) else os.path.join(folder, name)
            words.append(f"{name}={path}")
            if path is not data:
                with open(path, "wb") as f:
                    f.write(data)
        sys.argv, model.Names, status = ["calls.py", *words], Named, 0
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            try:
                tool.main()
            except SystemExit as e:
                status = e.code
    return status, said.getvalue()


def ended(took):
    return piece(model.END, 0, struct.pack("<5Q", took, 0, 0, 0, 0))


still = Program({4})
for function, leave in ((model.BEGIN_ID, 0), (4, 0), (4, 1), (model.END_ID, 0)):
    still.put(function, leave)
still = head() + piece(model.RECORDS, 1, b"".join(still.records))
found = said_of(calls=good, only=good, plain=good + ended(100))
check(found == (0, ""), "a recording is reported", found)
for files, what in (({"calls": still}, "calls"), ({"calls": good, "only": still}, "only"),
                    ({"calls": good, "only": good, "plain": good + ended(0)}, "plain"),
                    ({"calls": good, "only": head()}, "only"),
                    ({"calls": good, "select": "/none/such"}, "select")):
    found = said_of(**files)
    check(found[0] == 2 and found[1].startswith(f"calls: argument={what} reason=value: ") and
          found[1].count("\n") == 1, f"{what}= without counts or a place is refused", found)
print(f"1..{number}")
