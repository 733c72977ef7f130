"""The runs of test/bench/mm.py: programs and sizes, and boots of the simulated machine, each kept
under a key of its inputs."""
import concurrent.futures
import hashlib
import os
import re
import statistics
import subprocess
import sys

CYCLES_NS = 1.0  # the simulated machine's clock: a cycle is a nanosecond
TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
POLICIES = "lru clock mru lirs lirs-recent arc wtinylfu-margin gap region chooser".split()
DRAWS = ("chooser",)  # policies that draw, from more than 1,024 pages on
RECORDED = "mem.track=always mem.track_permille=1000 mem.record=on"  # every access that is logged
COUNTS = ("major", "in", "out", "prefetched", "used", "ms")
OWN = ("own_major", "own_waited_us")  # of one process, though another may share its pool

# Applications: small, whole.
APPS = {
    "lu-contiguous": ("lu layout=contiguous n=512 block=8", "lu layout=contiguous mb=48"),
    "lu-rows": ("lu layout=rows n=512", "lu layout=rows mb=48"),
    "fft": ("fft log2n=16", "fft log2n=20"),
    "cg": ("cg mb=2", "cg mb=48"),
    "mg": ("mg mb=3 cycles=2", "mg mb=48"),
    "sp": ("sp mb=3 steps=2", "sp mb=48"),
    "ocean": ("ocean mb=2 tiles=4 steps=2", "ocean mb=48 tiles=4"),
    "barnes": ("barnes mb=2 steps=1", "barnes mb=48"),
    "phylogeny": ("phylogeny mb=2", "phylogeny mb=48"),
    "cube": ("cube mb=2", "cube mb=48"),
    # Pages at random.
    "chase": (
        "phases kind=chase rounds=1 size=2048",
        "phases kind=chase rounds=1 size=49152",
    ),
    "warehouse": (
        "warehouse warehouses=1 threads=1 scale=12 ms=500",
        "warehouse warehouses=2 threads=1 scale=100 ms=5000",
    ),
}
GOALS_ALL = "global throughput fairness maxmin service".split()
# Goals of part pools, by percent of memory.
GOALS = {
    "": "global throughput fairness",
    "60": "global throughput fairness maxmin",
    "75": "global throughput fairness service",
}
SMALL = {
    "pab": 128,
    "tlb": 16,
    "mem": "128M",
    "disk": "64M",
    "apps": "lu-contiguous fft cg",
    "percents": {"lu-contiguous": "50 75 85", "fft": "50", "cg": "75"},
    "prefetch_apps": "fft cg lu-rows chase",
    "prefetch_percents": "50",
    "pools": ("warehouse warehouses=1 threads=1 scale=12 ms=1600", "sp mb=2 rounds=24"),
    "epoch_ms": 30,
    "pools_percents": "40 50 60 75 90",
    "goals": GOALS,
    "disk_runs": (("fft", "mem.prefetch=none"), ("fft", "mem.prefetch=ppg")),
    "pabs": "128 256 512",
    "pab_runs": (("lu-contiguous", "mem.policy=lirs"), ("fft", "mem.prefetch=ppg")),
    "track": "fft mg",
}
WHOLE = {
    "pab": 2048,
    "tlb": 128,
    "mem": "512M",
    "disk": "512M",
    "apps": "lu-contiguous lu-rows fft cg mg sp ocean barnes phylogeny cube",
    "percents": {"": "50", "lu-contiguous": "25 50 75 85 92"},
    "prefetch_apps": "lu-rows lu-contiguous mg fft sp cube warehouse chase",
    "prefetch_percents": "50",
    "pools": ("warehouse warehouses=1 threads=1 scale=100 ms=28000", "sp mb=24 rounds=16"),
    "epoch_ms": 500,
    "pools_percents": "30 45 60 75 90",
    "goals": GOALS,
    "disk_runs": (
        ("lu-contiguous", "mem.policy=lru"),
        ("lu-contiguous", "mem.policy=lirs"),
        ("fft", "mem.prefetch=none"),
        ("fft", "mem.prefetch=ppg"),
    ),
    "pabs": "128 512 2048 8192 32768",
    "pab_runs": (
        ("lu-contiguous", "mem.policy=lirs"),
        ("ocean", "mem.policy=lirs"),
        ("fft", "mem.policy=region"),
        ("sp", "mem.policy=region"),
        ("cube", "mem.prefetch=ppg"),
        ("lu-rows", "mem.prefetch=ppg"),
    ),
    "track": "fft cg mg sort warehouse",
}
# A few cases of the small ones, in minutes.
QUICK = dict(
    SMALL,
    apps="lu-contiguous fft",
    percents={"lu-contiguous": "75", "fft": "50"},
    policies="lru lirs gap chooser",
    prefetch_apps="fft",
    pools=("warehouse warehouses=1 threads=1 scale=12 ms=800", "sp mb=2 rounds=12"),
    pools_percents="60",
    goals={"": "global throughput"},
    pabs="128 512",
    pab_runs=(("lu-contiguous", "mem.policy=lirs"),),
    track="fft",
    parts="policy replay pools prefetch disk virtio pab track",
)


class Options:
    def __init__(self, argv, parts):
        given = {
            "kernel": "",
            "arch": os.environ.get("ARCH", "x86_64"),
            "machine": "openpower720",
            "quick": "0",
            "small": "0",
            "seeds": "1",
            "parts": "",
            "apps": "",
            "policies": "",
            "percents": "",
            "goals": "",
            "latency": "1000000",
            "page": "4096",
            "rounds": "1",
            "jobs": str(os.cpu_count()),
            "out": "",
            "results": "",
            "resume": "0",
        }
        for argument in argv:
            name, _, value = argument.partition("=")
            if name not in given or not value:
                refuse(argument.partition('=')[0], "unknown", f"'{argument}'")
            given[name] = value
        self.kernel, self.arch, self.machine = given["kernel"], given["arch"], given["machine"]
        self.must_be_there()
        self.quick, self.resume = given["quick"] == "1", given["resume"] == "1"
        self.small = self.quick or given["small"] == "1"
        for name, least in (("seeds", 1), ("latency", 0), ("page", 0), ("rounds", 1), ("jobs", 1)):
            if not given[name].isdigit() or int(given[name]) < least:
                refuse(name, "value", f"'{given[name]}': expected a number from {least}")
            setattr(self, name, int(given[name]))
        self.set = dict(QUICK if self.quick else SMALL if self.small else WHOLE)
        self.parts = (
            given["parts"].split(",")
            if given["parts"]
            else self.set.get("parts", " ".join(parts)).split()
        )
        for part in self.parts:
            if part not in parts:
                refuse("parts", "unknown", f"'{part}' is not known: {', '.join(parts)}")
        self.apps = self.chosen("apps", given, self.set["apps"].split(), APPS)
        self.prefetch_apps = self.chosen("apps", given, self.set["prefetch_apps"].split(), APPS)
        self.policies = self.chosen(
            "policies", given, self.set.get("policies", " ".join(POLICIES)).split(), POLICIES
        )
        if given["apps"]:
            self.set["pab_runs"] = tuple(run for run in self.set["pab_runs"] if run[0] in self.apps)
        if given["goals"]:
            self.set["goals"] = {"": " ".join(self.chosen("goals", given, [], GOALS_ALL))}
        self.given_percents = given["percents"].replace(",", " ")
        for p in self.given_percents.split():
            if not p.isdigit() or not 1 <= int(p) <= 100:
                refuse("percents", "value", f"'{p}': expected 1 to 100")
        self.out = given["out"] or f"build/bench/mm-{self.arch}"
        self.results = given["results"] or (
            f"{self.out}/quick.txt"
            if self.quick
            else f"docs/results/mm-{self.arch if self.small else 'large'}.txt"
        )

    def must_be_there(self):
        if not self.kernel:
            refuse("kernel", "missing", "build/x86_64/vigil.elf, build/aarch64/vigil.img")
        for name, made_by in (
            (self.kernel, ""),
            ("build/machine/machine.so", ": `make machine` makes it"),
        ):
            if not os.path.isfile(os.path.join(TOP, name)):
                refuse("kernel", "missing", f"{name}: no such file{made_by}")
        # QEMU passes an ELF file no device tree.
        if self.arch == "aarch64" and self.kernel.endswith(".elf"):
            refuse("kernel", "value", f"{self.kernel}: aarch64 boots vigil.img beside it")

    @staticmethod
    def chosen(name, given, default, known):
        names = given[name].split(",") if given[name] else default
        for n in names:
            if n not in known:
                refuse(name, "unknown", f"'{n}' is not known: {', '.join(known)}")
        return names

    def percents(self, app):
        """Returns the sizes of memory for part policy."""
        return [
            int(p)
            for p in (
                self.given_percents
                or self.set["percents"].get(app)
                or self.set["percents"].get("", "50")
            ).split()
        ]

    def program(self, app, rounds=None):
        words = APPS[app][0 if self.small else 1].split()
        rounds = rounds or self.rounds
        return " ".join(
            words
            if rounds == 1
            else [w for w in words if not w.startswith("rounds=")] + [f"rounds={rounds}"]
        )


# ---- Runs ----


def refuse(argument, reason, text):
    """Ends with a line of which tests read the keys."""
    sys.exit(f"mm.py: argument={argument} reason={reason}: {text}")


def pairs(line):
    return dict(w.split("=", 1) for w in line.split() if "=" in w)


def memstat_figures(lines):
    """Returns the figures that memstat printed at a program's end."""
    found = {}
    for key, subject, name in (
        ("major", "faults:", "major"),
        ("first", "faults:", "first"),
        ("in", "pages:", "in"),
        ("out", "pages:", "out"),
        ("prefetched", "prefetched:", "pages"),
        ("used", "prefetched:", "used"),
        ("ms", "memstat:", "ms"),
    ):
        figures = [pairs(line) for line in lines if line.split()[:1] == [subject]]
        found[key] = (float if key == "ms" else int)(figures[0].get(name, 0) if figures else 0)
    return found


def series_figures(line):
    """Returns the same from a line of memstat format=series."""
    figures = pairs(line)
    if not figures.keys() >= {"program", "ms", "clock_ms", "first", *OWN, *COUNTS}:
        return {}  # another program's line came between
    times = {key: float(figures[key]) for key in ("ms", "clock_ms")}
    return {**times, **{key: int(figures[key]) for key in ("first", *OWN, *COUNTS) if key != "ms"}}


def digest(files):
    """Returns a text that identifies the contents of these files."""
    found = []
    for name in files:
        with open(name, "rb") as f:
            found.append(hashlib.sha256(f.read()).hexdigest()[:16])
    return "-".join(found)


class Bench:
    def __init__(self, options):
        self.o = options
        self.cache = {}
        self.lines = []
        self.results = None
        self.failed = False
        self.kernel_is = digest([options.kernel, "build/machine/machine.so"])
        self.pool = concurrent.futures.ThreadPoolExecutor(max_workers=options.jobs)

    def say(self, text):
        print(text, flush=True)
        self.lines.append(text)
        if self.results:
            print(text, file=self.results, flush=True)

    def result(self, name, /, *texts, **figures):
        """Prints a line RESULT mm.NAME: texts as they are, then figures as key=value, in order."""
        words = [f"RESULT mm.{name} arch={self.o.arch}", *texts]
        self.say(" ".join(words + [f"{key}={value}" for key, value in figures.items()]))

    def boot(self, name, plugin, append, smp, timeout):
        """Boots once. Returns the output and the status."""
        o = self.o
        out = os.path.join(o.out, name)
        os.makedirs(out, exist_ok=True)
        command = [
            "tools/qemu.sh",
            f"kernel={o.kernel}",
            f"smp={smp}",
            f"mem={o.set['mem']}",
            f"timeout={timeout}",
            f"out={out}",
        ]
        command += [f"machine={o.machine}", f"plugin={plugin}"] if plugin else [f"drive={out}/disk"]
        command += [f"append={append}"]
        said = self.kernel_is + "\n" + " ".join(f"'{w}'" if " " in w else w for w in command) + "\n"
        before = self.noted(out, said)
        if before is not None:
            return before, 0
        if not plugin:
            with open(f"{out}/disk", "wb") as f:
                f.truncate(64 << 20)
        lines, status = self.told(command)
        self.note(out, said, lines, status)
        return lines, status

    def told(self, command, **environment):
        """Runs a command. Returns its output and status."""
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=TOP,
            check=False,
            env=dict(os.environ, ARCH=self.o.arch, **environment),
        )
        return (
            done.stdout.decode("ascii", "replace")
            .replace("\r", "")
            .replace("\ufffd", "?")
            .splitlines(),
            done.returncode,
        )

    def noted(self, out, said):
        """Returns the output of an earlier run with the same inputs; None: there is none, or resume
        was not given."""
        if not self.o.resume or not os.path.exists(f"{out}/command.txt"):
            return None
        with open(f"{out}/command.txt", encoding="ascii") as f, open(
            f"{out}/console.txt", encoding="ascii"
        ) as console:
            return console.read().splitlines() if f.read() == said else None

    def note(self, out, said, lines, status):
        """Keeps the output of a run that succeeded, under its inputs."""
        with open(f"{out}/command.txt", "w", encoding="ascii") as f:
            f.write("failed: " + said if status else said)
        with open(f"{out}/console.txt", "w", encoding="ascii") as f:
            f.write("\n".join(lines) + "\n")

    def tool(self, out, command, of, **environment):
        """Runs a command of the host. Returns its output and status. out: a folder for it; of: the
        programs that determine its result."""
        os.makedirs(out, exist_ok=True)
        said = f"{digest(of)}\n{' '.join(command)} {environment}\n"
        lines, status = self.noted(out, said), 0
        if lines is None:
            lines, status = self.told(command, **environment)
            self.note(out, said, lines, status)
        return lines, status

    def run(
        self,
        name,
        arguments,
        programs,
        pab=None,
        smp=1,
        timeout=3000,
        page=None,
        seed=1,
        plain=False,
        interval=0,
        own="",
    ):
        """Boots once. Returns a dict for each program with the figures of its RESULT and of
        memstat, and with an interval those of all looks; None: it failed. plain: on plain QEMU;
        own: arguments of the first program alone."""
        o = self.o
        looks = f"format=series interval={interval}" if interval else "interval=0"
        line = f"{own} ".lstrip() + " & ".join(
            f"memstat regions=0 {looks} -- {p}" for p in programs
        )
        if "mem.prefetch=" not in arguments:
            arguments += " mem.prefetch=none"
        swap = "virtio" if plain else "model"
        append = f"swap={swap} mem.pab={pab or o.set['pab']} {arguments} -- {line}"
        disk = f"disk={o.set['disk']},disk_latency={o.latency}"
        disk += f",disk_page={o.page if page is None else page}"
        plugin = "" if plain else f"tlb={o.set['tlb']},{disk},seed={seed}"
        console, status = self.boot(name, plugin, append, smp, timeout)
        found = self.read(console, programs)
        if status or found is None:
            print(
                f"mm.py: {name} failed (status {status}): {o.out}/{name}/console.txt",
                file=sys.stderr,
            )
            self.failed = True
            return None
        return found

    @staticmethod
    def read(console, programs):
        found = {}
        for i, line in enumerate(console):
            if line.startswith("RESULT app="):
                figures = pairs(line)
                found.setdefault(figures["app"], {}).update(figures)
            elif line.startswith("memstat: "):
                app = pairs(line).get("of")
                figures = memstat_figures([line] + console[i + 1 : i + 7])
                found.setdefault(app, {}).update(figures)
            elif line.startswith("MEMORY "):
                figures = series_figures(line)
                if figures:
                    app = found.setdefault(pairs(line)["program"], {})
                    app.update(figures)
                    app.setdefault("looks", []).append(
                        (figures["clock_ms"], figures["own_major"], figures["own_waited_us"])
                    )
        names = [p.split()[0] for p in programs]
        if any(n not in found or "check" not in found[n] or "major" not in found[n] for n in names):
            return None
        return [found[n] for n in names]

    def ample(self, app):
        """Runs with memory ample, recording accesses. Returns the figures and the number of pages.
        """
        if app not in self.cache:
            found = self.run(f"ample-{app}", RECORDED, [self.o.program(app)])
            plain = self.run(f"plain-{app}", "mem.tracker=none", [self.o.program(app)])
            if not found or not plain or plain[0]["major"]:
                sys.exit(f"mm.py: {app} does not run with memory ample")
            self.cache[app] = dict(plain[0], pages=plain[0]["first"])
        return self.cache[app]

    def trace(self, app, rounds=None):
        """Returns the file with APP's accesses with memory ample: of the run that others are
        compared with, or of more rounds; None: it cannot run them."""
        as_others = rounds in (None, self.o.rounds)
        name = f"ample-{app}" if as_others else f"ample-{app}-{rounds}"
        if as_others:
            self.ample(app)
        elif not self.run(name, RECORDED, [self.o.program(app, rounds)]):
            return None
        return os.path.join(self.o.out, name, "pages.trace")

    def limited(self, name, app, percent, arguments, pab=None, page=None):
        """Runs APP with PERCENT of the memory it takes, once for each seed if the policy draws.
        Returns the medians of the figures."""
        base = self.ample(app)
        limit = max(base["pages"] * percent // 100 * 4, 256)
        runs = []
        for seed in range(
            1, (self.o.seeds if any(d in arguments for d in DRAWS) and not self.o.small else 1) + 1
        ):
            found = self.run(
                f"{name}-{seed}",
                f"mem.process={limit}K mem.seed={seed} {arguments}",
                [self.o.program(app)],
                pab=pab,
                page=page,
            )
            if not found:
                return None
            runs.append(found[0])
        middle = {k: statistics.median(r[k] for r in runs) for k in COUNTS}
        times = [float(r["ns"]) for r in runs]
        middle["ns"] = statistics.median(times)
        middle["spread"] = {}
        if len(times) > 1:
            middle["spread"] = {
                "ns_min": f"{min(times):.0f}",
                "ns_max": f"{max(times):.0f}",
                "seeds": len(times),
            }
        right = all(r["check"] == "ok" and r.get("sum") == base.get("sum") for r in runs)
        middle["check"] = "ok" if right else "differs"
        if not right:
            self.failed = True
        return middle

    def each(self, jobs):
        """Runs calls of jobs, several at a time. Returns their results in order."""
        futures = [(key, self.pool.submit(call, *arguments)) for key, call, arguments in jobs]
        for key, future in futures:
            yield key, future.result()
