"""`./vigil stat`, `record`, `top`, `c2c`, `mem`, `trace`, `list`, `compare`: a program is started
under one of Vigil's tools in the guest, and what the tool printed among the kernel's lines
becomes a report."""
import csv
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

import elf
import guest
import inference
import options
import pack

REPORT_TO = "out=/dev/kmsg"
OWN = {"-e": "events", "-r": "runs", "-o": "output",  # options with a value
       "-i": "begin", "-b": "build", "-F": "format"}
FORMATS = ("text", "csv", "json")
MARKS = {"-g": "chains", "-f": "functions"}

HELP = {
    "stat": """\
usage: ./vigil stat [-e EVENTS] [-r N] [-o FILE] [option of run ...] [--] PROGRAM [argument ...]

Counts events while a program and all that it starts run. Its output goes where it would; the
report goes to standard error. Where all cycles are counted, so is the frequency: GHz.

  -e EVENTS   events and metrics, separated by commas  (a usual choice); ./vigil list names them
  -r N        boots, with seeds of their own from --seed on; the report has means over them, with
              intervals of 95 percent  (1)
  -o FILE     write the report there, too, as JSON, for ./vigil compare

example: ./vigil stat -r 5 -e cycles,ipc,l1d.miss -- scoreboard ms=20
""",
    "top": """\
usage: ./vigil top [-e CRITERIA] [-F FORMAT] [-o FILE] [option of run ...] [--] PROGRAM ...

Samples a program while it runs, and prints the functions that most samples fell in, on standard
error.

  -e CRITERIA  what to sample by: events, or accesses by where the data were  (cycles)
  -F FORMAT    text, or csv or json: lines for programs  (text)
  -o FILE      write the report there, too

example: ./vigil top -e cycles,access.remote -- scoreboard ms=50
""",
    "record": """\
usage: ./vigil record [-e CRITERIA] [-g] [-F FORMAT] [-o FOLDER] [option of run ...] [--] PROGRAM
                      [argument ...]

Samples a program while it runs, and writes perf.data, which Debian's perf reads on this host.

  -e CRITERIA  what to sample by  (cycles)
  -g           with chains of calls; also draws them: flame.svg
  -F FORMAT    text, or csv or json: what was recorded as lines for programs, also in report.csv or
               report.json  (text)
  -o FOLDER    where perf.data, flame.svg, console.txt and the report go  (vigil.record)

example: ./vigil record -g -- scoreboard ms=50
""",
    "trace": """\
usage: ./vigil trace [-e COUNTS] [-o FOLDER] [option of run ...] [--] PROGRAM [argument ...]

Records each stretch of each thread on a CPU, what it counted, why it ended, and which thread woke
it; says what the program's critical path was made of, and draws a timeline for Perfetto.

  -e COUNTS   topdown: where its cycles went, too; none: cycles and instructions  (topdown)
  -o FOLDER   where trace.json, roles.svg and console.txt go  (vigil.trace)

example: ./vigil trace -- scoreboard ms=20
""",
    "c2c": """\
usage: ./vigil c2c [-F FORMAT] [-o FILE] [option of run ...] [--] PROGRAM [argument ...]

Finds the cache lines that chips contend for, on standard error: variables, code, threads; true or
false sharing; what padding would save. Of Linux programs that load libraries it also says which
code has allocated what is in a line: a library is loaded into them that notes that (LD_PRELOAD).

  -F FORMAT  text, or csv or json: lines for programs  (text)
  -o FILE    write the report there, too

example: ./vigil c2c -- falseshare cpus=0,4,2,6
""",
    "mem": """\
usage: ./vigil mem [-F FORMAT] [-o FILE] [option of run ...] [--] PROGRAM [argument ...]

Says what became of a program's memory, by region, on standard error: pages, faults, pages read
and written; and how often it would miss with other memory.

  -F FORMAT  text, or csv or json: lines for programs  (text)
  -o FILE    write the report there, too

example: ./vigil mem --policy memory=4M -- sweep pages=2000
""",
    "list": """\
usage: ./vigil list [option of run ...] [WORD]

Lists what can be counted on a machine: events and metrics, those with WORD in the name or the
description if one is given; on which counters; how many groups more would take turns.

example: ./vigil list l1d
""",
    "compare": """\
usage: ./vigil compare BEFORE.json AFTER.json

Compares two reports of `./vigil stat -r N -o FILE`: for each event the ratio of the means with its
interval of 95 percent (Fieller), and whether they differ, if all rows together may err in 5 of 100
comparisons (Holm).

example: ./vigil compare before.json after.json
""",
}


class MeasureError(Exception):
    """There is no report."""


class Wanted:
    """A verb's own options, and those of run."""

    def __init__(self, verb, words, text=None):
        """`text`: the verb's help, which says which options it has."""
        self.events = self.output = self.runs = self.begin = self.build = self.format = None
        self.chains = self.functions = False
        run, words = [], list(words)
        text = text or HELP[verb]
        allowed = {name for name in (*OWN, *MARKS) if re.search(rf"^ +{name}\b", text, re.M)}
        while words and words[0] != "--" and words[0].startswith("-"):
            word = words.pop(0)
            if word.startswith("--"):
                run.append(word)
                if word[2:] in options.VALUED and words:
                    run.append(words.pop(0))
            elif word not in allowed:
                raise options.UsageError(f"unknown option '{word}'; ./vigil help {verb} lists them")
            elif word in MARKS:
                setattr(self, MARKS[word], True)
            elif not words:
                raise options.UsageError(f"{word}: its value is missing")
            else:
                setattr(self, OWN[word], words.pop(0))
        self.run = [*run, *words]
        self.boots = number(self.runs) if self.runs is not None else 1
        if self.format not in (None, *FORMATS):
            raise options.UsageError(f"-F {self.format}: expected text, csv or json")
        self.records = self.format if self.format != "text" else None  # csv or json


def number(text):
    if not re.fullmatch(r"[1-9]\d{0,3}", text):
        raise options.UsageError(f"-r {text}: expected a number of boots, 1 to 9999")
    return int(text)


def written(o, path, is_folder):
    """Returns where a report goes, once that can be written to; checked before the run."""
    if o.out and is_folder:
        raise options.UsageError(f"--out {o.out}: the folder is given by -o")
    try:
        if is_folder:
            os.makedirs(path, exist_ok=True)
        else:
            with open(path, "a", encoding="utf-8"):
                pass
    except OSError as error:
        raise options.UsageError(f"-o {path}: {error.strerror}") from error
    return path


class Boot:
    """A program under a tool: its exit status, and the tool's lines."""

    def __init__(self, top, say, o, tool):
        """`tool`: its name and arguments; None: the program runs under none."""
        if o.kernel != "vigil":
            raise options.UsageError("--kernel linux: Vigil's tools run under Vigil only")
        kept = o.out
        if not kept:
            o.out = tempfile.mkdtemp(prefix="vigil-measure.")
        o.front = [*tool, REPORT_TO, "--"] if tool else []
        o.report = False
        try:
            packed = pack.Packer(top, o, say).pack()
            self.arch, self.machine, self.words = packed.arch, o.machine, o.command
            self.status = guest.Guest(top, o, packed, say).run()
            with open(os.path.join(o.out, "console.txt"), errors="replace") as file:
                self.lines = [line.rstrip("\r\n") for line in file]
        finally:
            if not kept:
                shutil.rmtree(o.out, ignore_errors=True)
                o.out = None
        self.cpus = next((int(found.group(1)) for line in self.lines
                          if (found := re.match(r"cpus: count=(\d+)", line))), 0)

    def report(self, first, what):
        """Returns the tool's lines, from the one that begins with `first` to the end of the run."""
        from_ = next((i for i, line in enumerate(self.lines) if line.startswith(first)), None)
        if from_ is None:
            raise MeasureError(f"{what} printed no report; the program's status is {self.status}")
        end = next((i for i in range(from_, len(self.lines)) if self.lines[i].startswith("exit: ")),
                   len(self.lines))
        return self.lines[from_:end]

    def shown(self, wanted, tool, seed):
        """Returns the report of `tool`, and on what machine it was, in the format that is wanted;
        of csv and json all lines that are the tool's, and none else."""
        if not wanted.records:
            return [*self.report(f"{tool}: of=", tool), f"vigil: {self.where([seed])}"]
        begins = f'{{"{tool}":"' if wanted.records == "json" else f"{tool},"
        lines = [line for line in self.lines if line.startswith(begins)]
        if not lines:
            raise MeasureError(f"{tool} printed no report; the program's status is {self.status}")
        return [*lines, *record_lines(wanted.records, "vigil", "machine", {
            "machine": self.machine, "arch": self.arch, "cpus": self.cpus, "seed": seed})]

    def where(self, seeds):
        return (f"machine={self.machine} arch={self.arch} cpus={self.cpus} "
                f"seed={seeds[0]}" + (f"..{seeds[-1]}" if len(seeds) > 1 else ""))


def show(text):
    print(text, file=sys.stderr)


def show_all(lines, path):
    """Shows the lines, and writes them to the file, if there is one."""
    for line in lines:
        show(line)
    if path:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)


def record_lines(form, tool, kind, columns):
    """Returns the lines of a record as the tools print it (apps/tools/measuring/record.h)."""
    if form == "json":
        return [json.dumps({tool: kind, **columns}, separators=(",", ":"))]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([[tool, kind, *columns],
                                                     [tool, kind, *columns.values()]])
    return text.getvalue().splitlines()


# ---- stat ----------------------------------------------------------------------------------------

def stat(top, words, say):
    wanted = Wanted("stat", words)
    o = options.parse(wanted.run)
    first = int(o.seed or 1)
    if wanted.boots > 1 and o.machine == "qemu":
        raise options.UsageError("-r: plain QEMU has no seeds, and no counters of the hardware")
    if wanted.output:
        written(o, wanted.output, False)
    seeds = list(range(first, first + wanted.boots))
    out, rows, costs, status, boot = o.out, {}, [], 0, None
    for seed in seeds:
        o.seed = str(seed) if o.machine != "qemu" else None
        o.out = os.path.join(out, f"seed-{seed}") if out and len(seeds) > 1 else out
        boot = Boot(top, say, o, ["hpmstat", "format=json",
                                  *([f"events={wanted.events}"] if wanted.events else [])])
        status = status or boot.status
        for line in boot.lines:
            if line.startswith('{"hpmstat":"value"'):
                value = json.loads(line)
                rows.setdefault(value["name"], []).append(value)
            elif line.startswith('{"hpmstat":"cost"'):
                costs.append(json.loads(line)["cost_pct"])
        if not rows:
            break
    if not rows:
        raise MeasureError(f"hpmstat printed no counts; the program's status is {status}")
    report = {"vigil": "stat", "program": boot.words, "machine": boot.machine, "arch": boot.arch,
              "cpus": boot.cpus, "seeds": seeds, "rows": rows, "cost_pct": costs}
    show(f"vigil stat: {' '.join(boot.words)}")
    show(f"{'value':>20}  {'name':<24}  {'interval':<22}  {'seen':>7}")
    for name, values in rows.items():
        show(stat_row(name, values, len(seeds)))
    cost = f" cost_pct={float(inference.mean(costs)):.2f}" if costs else ""
    show(f"vigil: {boot.where(seeds)} boots={len(seeds)}{cost}")
    if wanted.output:
        with open(wanted.output, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
            file.write("\n")
    return status


SURE = {"short": "no interval", "unseen": "nothing seen", "fitted": "fitted"}


def figure(value):
    return f"{value:,.3f}" if isinstance(value, float) and abs(value) < 10000 else f"{value:,.0f}"


def stat_row(name, values, boots):
    numbers = [v["value"] for v in values if v["value"] is not None]
    last = values[-1]
    seen = min(v["seen_pct"] or 0 for v in values)
    if not numbers:
        return f"{'never seen':>20}  {name:<24}  {'':<22}  {seen:>5.1f} %"
    mean = inference.mean(numbers)
    half = inference.interval(numbers)
    if half is not None:
        sure = f"+- {100 * half / abs(mean):.1f} % ({len(numbers)} boots)" if mean else "-"
    elif last["sure"] == "exact":
        sure = "exact, of this boot"
    elif last["low"] is not None and mean:
        sure = f"+- {50 * (last['high'] - last['low']) / abs(mean):.1f} %, of this boot"
    else:
        sure = SURE.get(last["sure"], "-")
    missing = f" in {len(numbers)} of {boots} boots" if len(numbers) < boots else ""
    value, unit = (float(mean), f"  {last['unit']}") if last["unit"] else (round(mean), "")
    return f"{figure(value):>20}  {name:<24}  {sure:<22}  {seen:>5.1f} %{unit}{missing}"


# ---- compare -------------------------------------------------------------------------------------

def read_report(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        if report["vigil"] != "stat":
            raise KeyError("vigil")
        return {name: [v["value"] for v in values if v["value"] is not None]
                for name, values in report["rows"].items()}, report
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MeasureError(f"{path}: is no report of `./vigil stat -o FILE`") from error


def compare(_top, words, _say):
    if len(words) != 2:
        raise options.UsageError("compare: expected two files; ./vigil help compare explains")
    (before, first), (after, second) = (read_report(path) for path in words)
    names = [name for name in before if name in after]
    few = [name for name in names if min(len(before[name]), len(after[name])) < 2]
    names = [name for name in names if name not in few]
    if not names:
        raise MeasureError("no event has values of two boots in both files: one boot says nothing "
                           "of how boots differ; use ./vigil stat -r N")
    ratios = {name: inference.Ratio(before[name], after[name]) for name in names}
    differs = dict(zip(names, inference.holm([ratios[name].p for name in names])))
    print(f"{'before':>18}  {'after':>18}  {'name':<24}  change")
    for name in names:
        print(f"{figure(float(inference.mean(before[name]))):>18}  "
              f"{figure(float(inference.mean(after[name]))):>18}  {name:<24}  "
              f"{change(ratios[name], differs[name])}")
    for name in [n for n in (*before, *after) if n not in names]:
        why = "too few values" if name in few else "in one of the files only"
        print(f"{'-':>18}  {'-':>18}  {name:<24}  {why}")
    print(f"vigil: boots={len(first['seeds'])},{len(second['seeds'])} intervals=fieller level=holm")
    for key in ("machine", "arch", "cpus", "program"):
        if first.get(key) != second.get(key):
            print(f"vigil: {key} differs: {first.get(key)}; {second.get(key)}")
    return 0


def change(r, differs):
    if not differs:
        text = "no difference shown"
    elif r.ratio is None:
        return "differs from nothing"
    else:
        text = f"{100 * (r.ratio - 1):+.1f} %"
    if r.low is None:
        return f"{text} [no bounds]"
    return f"{text} [{100 * (r.low - 1):+.1f}, {100 * (r.high - 1):+.1f}]"


# ---- The others ----------------------------------------------------------------------------------

def as_records(wanted, argument="format"):
    """Returns a tool's arguments for the format that is wanted."""
    return [f"{argument}={wanted.records}"] if wanted.records else []


def report_of(top, say, wanted, o, tool):
    """Runs the program under `tool`, and shows its report. Returns the exit status."""
    if wanted.output:
        written(o, wanted.output, False)
    boot = Boot(top, say, o, [*tool, *as_records(wanted)])
    show_all(boot.shown(wanted, tool[0], int(o.seed or 1)), wanted.output)
    return boot.status


def under(verb, tool):
    """Returns a verb that shows what `tool` printed."""
    def run(top, words, say):
        wanted = Wanted(verb, words)
        criteria = [f"criteria={wanted.events}"] if wanted.events else []
        return report_of(top, say, wanted, options.parse(wanted.run), [tool, *criteria])
    return run


SITES = 1 << 18  # allocations that are noted


def c2c(top, words, say):
    wanted = Wanted("c2c", words)
    o = options.parse(wanted.run)
    tool, name = ["c2c", f"sites={SITES}"], o.command[0]
    own = os.path.isfile(name) and elf.is_elf(name)
    arch = o.arch or (elf.Elf(name).isa if own else platform.machine())
    built = os.path.join(top, "build", arch)
    library = os.path.join(built, "libvigil-allocations.so")
    o.env = [*o.env, "VIGIL_ALLOCATIONS=1"]  # for programs of Vigil's C library
    if "/" in name or not os.path.exists(os.path.join(built, "bin", name)):  # not in the image
        subprocess.run(["make", "-s", "-C", top, f"ARCH={arch}", os.path.relpath(library, top)],
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        o.file = [*o.file, library]
        o.env = [*o.env, f"LD_PRELOAD={library}"]
    return report_of(top, say, wanted, o, tool)


def record(top, words, say):
    wanted = Wanted("record", words)
    o = options.parse(wanted.run)
    o.out = folder = written(o, wanted.output or "vigil.record", True)
    tool = ["hpmrec", "format=samples", *as_records(wanted, "heads"),
            *(["chains=table"] if wanted.chains else []),
            *([f"criteria={wanted.events}"] if wanted.events else [])]
    boot = Boot(top, say, o, tool)
    console, data = os.path.join(folder, "console.txt"), os.path.join(folder, "perf.data")
    said = [line for line in boot.shown(wanted, "hpmrec", int(o.seed or 1))
            if wanted.records or line.startswith(("hpmrec: ", "vigil: "))]
    built = os.path.join(top, "build", boot.arch)
    tool_of_host(top, "perf_data.py", console, data, os.path.join(built, "vigil.elf"),
                 os.path.join(built, "bin"), os.path.join(folder, "vigil.tar"))
    if wanted.chains:
        flame = os.path.join(folder, "flame.svg")
        with open(flame, "wb") as file:
            file.write(tool_of_host(top, "flame.py", console))
    if wanted.records:
        show_all(said, os.path.join(folder, f"report.{wanted.records}"))
        return boot.status
    wrote = [f"vigil: wrote {flame}"] if wanted.chains else []
    show_all([*said[:-1], *wrote, f"vigil: wrote {data}: perf report -i {data}", said[-1]], None)
    return boot.status


def tool_of_host(top, name, *words):
    """Runs one of Vigil's tools of the host. Returns what it printed."""
    done = subprocess.run([sys.executable, "-B", os.path.join(top, "tools", name), *words],
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"status {done.returncode}"
        raise MeasureError(f"{name}: {said.splitlines()[-1]}")
    return done.stdout


def list_names(top, words, say):
    run, named, words = [], [], list(words)
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            run.append(word)
            run += [words.pop(0)] if word[2:] in options.VALUED and words else []
        else:
            named.append(word)
    if len(named) > 1:
        raise options.UsageError(f"list: one word is looked for, and {len(named)} are given")
    o = options.parse([*run, "--", "hpmstat", *(f"list={word}" for word in named or [""])])
    o.report = False
    return guest.Guest(top, o, pack.Packer(top, o, say).pack(), say).run()


def trace(top, words, say):
    wanted = Wanted("trace", words)
    o = options.parse(wanted.run)
    o.out = folder = written(o, wanted.output or "vigil.trace", True)
    stream, parts, timeline, violins = (os.path.join(folder, name) for name in
                                        ("stream", "trace", "trace.json", "roles.svg"))
    o.telemetry = os.path.realpath(stream)
    counts = wanted.events or "topdown"
    o.kernel_args += f" telemetry=quanta,marks trace.counts={counts}"
    shutil.rmtree(parts, ignore_errors=True)
    boot = Boot(top, say, o, None)
    tool_of_host(top, "trace_split.py", stream, parts)
    said = tool_of_host(top, "quanta.py", parts, f"json={timeline}", f"svg={violins}")
    show(said.decode("utf-8", "replace").rstrip())
    show(f"vigil: wrote {timeline}: open it at ui.perfetto.dev; {violins}")
    show(f"vigil: {boot.where([int(o.seed or 1)])}")
    return boot.status


VERBS = {"stat": stat, "record": record, "compare": compare, "list": list_names,
         "trace": trace,
         "top": under("top", "hpmrec"),
         "c2c": c2c,
         "mem": under("mem", "memstat")}
