"""`./vigil sweep` and `./vigil gather`: many runs over a grid of values, and what came of them.

Runs are jobs of GNU parallel, here or over ssh, or of a Slurm array; nothing here schedules. A
sweep's folder has jobs.txt, a command a line, grid.json, the values of each line, and of line N the
output N.out and N.out.err. GNU parallel's joblog, or N.status of Slurm's, have the exit status.
"""
import csv
import itertools
import json
import os
import random
import re
import shlex
import shutil
import subprocess

import options

HELP = """\
usage: ./vigil sweep --out DIR [option ...] [option of run ...] -- PROGRAM [argument ...]
       ./vigil gather DIR [--plot KEY]

`sweep` runs a program once for each combination of values, by GNU parallel, or with --slurm writes
a batch script. A sweep that was interrupted goes on where it was when it is called again. `gather`
puts the RESULT lines of all runs into DIR/results.csv.

  --out DIR            the sweep's folder
  --vary NAME=V,V,...  values of an option of run (machine, kernel, smp, mem), of a boot argument
                       (sched.policy), or of {NAME} in the program's arguments; may be given again
  --seeds N            seeds 1 to N of each combination; {seed} in the arguments  (1)
  --jobs N             runs at a time  (a run for each two CPUs)
  --ssh HOST,...       run there, too: the same paths, and ./vigil once used; : is this machine
  --slurm              write DIR/array.sbatch, to be given to sbatch, and run nothing
  --plot KEY           of gather: print medians of a RESULT line's key over the seeds, with their
                       intervals of 95 percent, and draw DIR/KEY.svg
"""

OF_RUN = ("machine", "kernel", "smp", "mem", "arch")
OWN = ("out", "vary", "seeds", "jobs", "ssh", "plot")
RESAMPLES = 2000


class SweepError(Exception):
    """A sweep cannot be made, or has no such results."""


# ---- The grid ------------------------------------------------------------------------------------

class Sweep:
    """What the words of a sweep ask for."""

    def __init__(self):
        self.out, self.vary, self.seeds = None, {}, 1
        self.jobs, self.ssh, self.slurm = None, None, False
        self.run, self.command = [], []


def parse(words):
    """Returns the sweep in `words`."""
    s, words = Sweep(), list(words)
    while words:
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = word[2:].partition("=")
        if word == "--slurm":
            s.slurm = True
        elif word.startswith("--") and name in OWN and name != "plot":
            if not equals and not words:
                raise options.UsageError(f"--{name}: its value is missing")
            set_own(s, name, value if equals else words.pop(0))
        elif word.startswith("--"):
            s.run.append(word)
            if name in options.VALUED and not equals and words:
                s.run.append(words.pop(0))
        else:
            words.insert(0, word)
            break
    s.command = words
    check(s)
    return s


def number(name, value):
    if not re.fullmatch(r"[1-9]\d{0,5}", value):
        raise options.UsageError(f"--{name} {value}: expected a number, at least 1")
    return int(value)


def set_own(s, name, value):
    if name == "vary":
        key, equals, values = value.partition("=")
        if not re.fullmatch(r"[A-Za-z][\w.-]*", key) or not equals or not all(values.split(",")):
            raise options.UsageError(f"--vary {value}: expected NAME=VALUE,VALUE,...")
        if key == "seed":
            raise options.UsageError("--vary seed: expected --seeds N")
        s.vary.setdefault(key, []).extend(values.split(","))
    elif name in ("seeds", "jobs"):
        setattr(s, name, number(name, value))
    else:
        setattr(s, name, value)


def check(s):
    """Refuses a sweep of which a run could not be made."""
    if not s.out:
        raise options.UsageError("--out DIR is missing: the sweep's folder")
    if any(word.split("=")[0] in ("--out", "--seed") for word in s.run):
        raise options.UsageError("--seed: a sweep's seeds are --seeds N")
    for name in s.vary:
        if "." not in name and name not in OF_RUN and not any(
                "{" + name + "}" in word for word in s.command):
            raise options.UsageError(f"--vary {name}: neither of {' '.join(OF_RUN)} nor a boot "
                                     f"argument, and no argument of the program has {{{name}}}")
    for values in grid(s):
        options.parse(run_words(s, values))


def grid(s):
    """Returns the values of each run, by name, seeds innermost."""
    names = list(s.vary)
    return [dict(zip(names, values), seed=str(seed))
            for values in itertools.product(*s.vary.values()) for seed in range(1, s.seeds + 1)]


def run_words(s, values):
    """Returns the words of `./vigil run` for one run."""
    words, command = list(s.run) + ["--no-report"], []
    simulated = values.get("machine", "") != "qemu" and "--machine=qemu" not in s.run and not any(
        a == "--machine" and b == "qemu" for a, b in zip(s.run, s.run[1:]))
    for name, value in values.items():
        if name in OF_RUN:
            words += [f"--{name}", value]
        elif "." in name:
            words += ["--policy", f"{name}={value}"]
    if simulated:
        words += ["--seed", values["seed"]]
    for word in s.command:
        for name, value in values.items():
            word = word.replace("{" + name + "}", value)
        command.append(word)
    return words + ["--"] + command


# ---- Running -------------------------------------------------------------------------------------

SBATCH = """\
#!/bin/sh
#SBATCH --array=1-{count}
#SBATCH --output=/dev/null
# Runs a line of jobs.txt, unless it has succeeded.
cd {out} || exit 1
n=$SLURM_ARRAY_TASK_ID
[ "$(cat "$n.status" 2>/dev/null)" != 0 ] || exit 0
sed -n "${{n}}p" jobs.txt | sh >"$n.out" 2>"$n.out.err"
echo $? >"$n.status"
"""


def write_once(path, text):
    """Writes a file, which must be the same if it is there: a folder has one sweep."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() != text:
                raise SweepError(f"{path} is of another sweep: give another --out, or remove it")
        return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def write_jobs(top, s):
    """Makes the sweep's folder. Returns its path and the number of runs."""
    out, runs = os.path.realpath(s.out), grid(s)
    os.makedirs(out, exist_ok=True)
    vigil, here = shlex.quote(os.path.join(top, "vigil")), shlex.quote(os.getcwd())
    lines = [f"cd {here} && {vigil} run {shlex.join(run_words(s, values))} </dev/null"
             for values in runs]
    write_once(os.path.join(out, "jobs.txt"), "".join(line + "\n" for line in lines))
    write_once(os.path.join(out, "grid.json"), json.dumps(runs, indent=0) + "\n")
    if s.slurm:
        with open(os.path.join(out, "array.sbatch"), "w", encoding="utf-8") as f:
            f.write(SBATCH.format(count=len(runs), out=shlex.quote(out)))
    return out, len(runs)


def parallel_words(s, out):
    """Returns the words of GNU parallel for a sweep."""
    words = ["parallel", "--will-cite", "--no-run-if-empty", "--resume-failed",
             "--joblog", os.path.join(out, "joblog"), "--results", os.path.join(out, "{#}.out"),
             "--jobs", str(s.jobs or max(1, (os.cpu_count() or 2) // 2))]
    if s.ssh:
        words += ["--sshlogin", s.ssh]
    return words + ["::::", os.path.join(out, "jobs.txt")]


def sweep(top, words, say):
    """Runs a sweep. Returns the exit status: 0, or 1 if runs failed."""
    s = parse(words)
    out, count = write_jobs(top, s)
    if s.slurm:
        print(f"vigil: {count} runs; to start them: sbatch {os.path.join(out, 'array.sbatch')}")
        return 0
    if not shutil.which("parallel"):
        raise SweepError("GNU parallel is missing (package parallel)")
    say(f"{count} runs")
    # GNU parallel takes a host's shell to be this one's, and without one starts nothing there
    status = subprocess.run(parallel_words(s, out), stdout=subprocess.DEVNULL, check=False,
                            env={"SHELL": "/bin/sh", **os.environ}).returncode
    say(None)
    bad = [n for n, status_of in statuses(out).items() if status_of != 0]
    done = len(statuses(out)) - len(bad)
    print(f"sweep: runs={count} done={done} failed={len(bad)} out={out}")
    for n in bad[:5]:
        print(f"sweep: event=failed run={n}: see {os.path.join(out, f'{n}.out.err')}")
    gather_rows(out)
    return 0 if status == 0 and done == count else 1


# ---- Results -------------------------------------------------------------------------------------

def statuses(out):
    """Returns the exit status of each run that has ended, by its number; its last one."""
    found = {}
    log = os.path.join(out, "joblog")
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as f:
            for line in f.readlines()[1:]:
                columns = line.split("\t")
                if len(columns) > 7 and columns[0].isdigit() and columns[6].lstrip("-").isdigit():
                    found[int(columns[0])] = int(columns[6]) or int(columns[7] or 0)
    for name in os.listdir(out):
        if re.fullmatch(r"\d+\.status", name):
            with open(os.path.join(out, name), encoding="utf-8") as f:
                text = f.read().strip()
            found[int(name.split(".")[0])] = int(text) if text.isdigit() else 1
    return found


def result_lines(path):
    """Returns the pairs of each RESULT line of a run's output."""
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().replace("\r", "").split("\n")
    except OSError:
        return []
    return [dict(word.split("=", 1) for word in line.split()[1:] if "=" in word)
            for line in lines if line.startswith("RESULT ")]


def gather_rows(out):
    """Writes results.csv: a row for each RESULT line. Returns its rows and the grid's names."""
    try:
        with open(os.path.join(out, "grid.json"), encoding="utf-8") as f:
            runs = json.load(f)
    except (OSError, ValueError):
        raise SweepError(f"{out} is no folder of a sweep") from None
    rows, ended = [], statuses(out)
    names = list(runs[0])
    for n, values in enumerate(runs, 1):
        if n in ended:
            for pairs in result_lines(os.path.join(out, f"{n}.out")) or [{}]:
                # what was asked for has the name it was asked by
                rows.append({"run": n, **values, "status": ended[n],
                             **{k: v for k, v in pairs.items() if k not in values}})
    columns = ["run"] + names + ["status"]
    for row in rows:
        columns += [key for key in row if key not in columns]
    with open(os.path.join(out, "results.csv"), "w", encoding="utf-8", newline="") as f:
        writer = csv.DictWriter(f, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return rows, names


def median(values):
    ordered, n = sorted(values), len(values)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def interval(values):
    """Returns the interval of 95 percent of the median, by resampling (Efron, the percentile
    bootstrap)."""
    draw = random.Random(1)
    medians = sorted(median(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[int(0.025 * RESAMPLES)], medians[int(0.975 * RESAMPLES) - 1]


def summarize(rows, names, key):
    """Returns (combination, values) of a key, over the seeds of runs that succeeded."""
    groups = {}
    for row in rows:
        try:
            value = float(row[key])
        except (KeyError, ValueError):
            continue
        if row["status"] == 0:
            label = " ".join(f"{n}={row[n]}" for n in names if n != "seed") or "all"
            groups.setdefault(label, []).append(value)
    if not groups:
        raise SweepError(f"no run that succeeded has a RESULT line with a number {key}=")
    return list(groups.items())


def draw(out, key, table):
    """Draws medians with their intervals, and each seed's value."""
    if not shutil.which("gnuplot"):
        raise SweepError("gnuplot is missing (package gnuplot-nox)")
    path = os.path.join(out, f"{key}.svg")
    medians = [f'{i} {mid} {low} {high} "{label}"\n' for i, (label, _, mid, low, high) in
               enumerate(table)]
    points = [f"{i} {value}\n" for i, (_, values, *_) in enumerate(table) for value in values]
    script = [f"set terminal svg size {max(480, 140 * len(table))},420 font 'sans,12' "
              "background 'white'",
              f"set output {json.dumps(path)}", f"set ylabel {json.dumps(key)} noenhanced",
              f"set xrange [-0.5:{len(table) - 0.5}]", "set yrange [0:*]",
              "set xtics rotate by 20 right noenhanced", "set grid ytics", "set key off",
              "plot '-' using 1:2 with points pt 6 lc rgb '#888888', "
              "'-' using 1:2:3:4:xtic(5) with yerrorbars pt 7 lw 2 lc rgb '#1f5fa8'"]
    text = "\n".join(script) + "\n" + "".join(points) + "e\n" + "".join(medians) + "e\n"
    result = subprocess.run(["gnuplot"], input=text, text=True, capture_output=True, check=False)
    if result.returncode:
        raise SweepError(f"gnuplot: {result.stderr.strip()}")
    return path


def gather(words):
    """Puts a sweep's results together. Returns the exit status."""
    words, key = list(words), None
    if "--plot" in words:
        at = words.index("--plot")
        if at + 1 == len(words):
            raise options.UsageError("--plot: its value is missing")
        key = words[at + 1]
        del words[at:at + 2]
    if len(words) != 1 or words[0].startswith("-"):
        raise options.UsageError("gather: expected DIR [--plot KEY]")
    out = os.path.realpath(words[0])
    rows, names = gather_rows(out)
    print(f"gather: rows={len(rows)} file={os.path.join(out, 'results.csv')}")
    if key:
        table = [(label, values, median(values), *interval(values))
                 for label, values in summarize(rows, names, key)]
        width = max(len(row[0]) for row in table)
        print(f"{'':{width}}  {'n':>3} {'median':>14} {'low':>14} {'high':>14}  of {key}")
        for label, values, mid, low, high in table:
            print(f"{label:{width}}  {len(values):3} {mid:14.10g} {low:14.10g} {high:14.10g}")
        print(f"gather: drawn={draw(out, key, table)}")
    return 0
