#!/usr/bin/env python3
"""Runs programs of Debian in Vigil, each by a script that looks at what it does.

  test/suites/software.py [arch=x86_64] [kernel=vigil|linux] [machine=qemu] [only=REGEX]
                          [smp=2] [limit=600] [out=build/suites/software-ARCH] [keep=1]

A line of test/suites/software.txt describes a run, in four columns parted by ' | ':

  name       for the report, and of a folder in out= that keeps the output
  options    of ./vigil run, such as --deb lua5.4 --mem 1G; among them may stand 'source=PACKAGE',
             the upstream archive of a Debian source package, which the command's word SOURCE then
             names, 'share', a folder of the host in which the program may write, at /share, and
             'sqlite', SQLite's own tests, by tools/sqlite.sh, at /sqlite
  expected   regular expressions, blanks between; a run passes if each is the beginning of a line
             of its output and its status is 0. ~ is a blank
  command    the program and its arguments, as a shell would take them, in test/suites/software

Prints a line a run, and of one that fails the end of its output. Under Linux --kernel-args and
--policy are left out, memory is 2 GB, and runs that share a folder are left out. keep=1 makes of the last line of each
program and kernel, with Vigil's commit, docs/results/software-ARCH.txt. Ends with 1 if one
fails, with 2 if there are no packages.
"""
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TABLE = os.path.join(TOP, "test", "suites", "software.txt")
FOLDER = os.path.join(TOP, "test", "suites", "software")
FAILED, UNAVAILABLE, INTERRUPTED = 1, 2, 130
LINES_SHOWN = 12
VIGILS_OWN = ("--kernel-args", "--policy")  # options that Linux gets without
LINUX_MEMORY = "2G"  # it unpacks all files into memory first
HEAD = f"{'program':<17} {'kernel':<6} {'result':<7} {'status':>6}  {{}}what it printed\n"
FETCH_FAILED = re.compile(rb"^vigil: .*(E: |apt-get|closure)", re.M)


class Refused(Exception):
    """An argument or a line of the table is wrong, or something cannot be fetched."""


class Row:
    """A run: its name, options, what is expected, and the command."""

    def __init__(self, line):
        parts = [part.strip() for part in line.split(" | ", 3)]
        if len(parts) != 4:
            raise Refused(f"'{line}': has {len(parts)} columns, expected 4")
        self.name, options, expected, command = parts
        self.expected = [re.compile(word.replace("~", " ").encode()) for word in expected.split()]
        self.options, self.source, self.share, self.sqlite = [], None, False, False
        for word in shlex.split(options):
            if word.startswith("source="):
                self.source = word[7:]
            elif word == "share":
                self.share = True
            elif word == "sqlite":
                self.sqlite = True
            else:
                self.options.append(word)
        self.command = shlex.split(command)

    def seen(self, output):
        """Returns the lines that were expected, and whether all of them are there."""
        lines = output.replace(b"\r", b"").split(b"\n")
        found = [line for line in lines if any(e.match(line) for e in self.expected)]
        return found, all(any(e.match(line) for line in lines) for e in self.expected)


def read_table():
    with open(TABLE, encoding="utf-8") as file:
        return [Row(line.strip()) for line in file if line.strip() and not line.startswith("#")]


def source_of(package):
    """Returns the upstream archive of a source package."""
    path = os.path.join(TOP, "build", "suites", "sources", package)
    if not os.path.exists(path):
        result = subprocess.run(["tools/source.sh", package, path], cwd=TOP, capture_output=True,
                                text=True, check=False)
        if result.returncode:
            raise Refused(result.stderr.strip())
    return path


def sqlite_of(arch):
    """Returns the tree of files with SQLite's own tests."""
    path = os.path.join(TOP, "build", "suites", "sqlite", arch)
    result = subprocess.run(["tools/sqlite.sh", arch, path], cwd=TOP, capture_output=True,
                            text=True, check=False)
    if result.returncode:
        raise Refused(result.stderr.strip())
    return os.path.join(path, "root")


def words_of(row, o, folder, shared):
    """Returns the command line of a run."""
    options, command = list(row.options), list(row.command)
    for name in VIGILS_OWN if o["kernel"] == "linux" else ():
        while name in options:
            at = options.index(name)
            del options[at:at + 2]
    if o["kernel"] == "linux":
        options += ["--mem", LINUX_MEMORY]
    if row.source:
        path = source_of(row.source)
        options += ["--file", path]
        command = [path if word == "SOURCE" else word for word in command]
    if row.sqlite:
        options += ["--root", sqlite_of(o["arch"])]
    if row.share:
        options += ["--share", f"{shared}:rw"]
    return [os.path.join(TOP, "vigil"), "run", "--no-report", "--machine", o["machine"], "--arch",
            o["arch"], "--kernel", o["kernel"], "--timeout", o["limit"], "--smp", o["smp"], "--out",
            os.path.join(folder, "machine"), *options, "--", *command]


def run(row, o):
    """Runs a row. Prints its line, and returns whether it passed."""
    folder = os.path.join(o["out"], row.name)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, o["kernel"] + ".txt")
    with tempfile.TemporaryDirectory() as shared, open(path, "wb") as out:
        status = subprocess.run(words_of(row, o, folder, shared), cwd=FOLDER, stdout=out,
                                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT,
                                check=False).returncode
    archive = os.path.join(folder, "machine", "vigil.tar")
    if os.path.exists(archive):
        os.unlink(archive)
    with open(path, "rb") as file:
        output = file.read()
    if FETCH_FAILED.search(output):
        raise Refused(output.decode(errors="replace").strip())
    found, whole = row.seen(output)
    passed = whole and status == 0
    line = (f"{row.name:<17} {o['kernel']:<6} {'passed' if passed else 'failed':<7} {status:>6}  {{}}"
            + b"; ".join(dict.fromkeys(found)).decode())
    print(line.format(""), flush=True)
    with open(os.path.join(folder, o["kernel"] + ".line"), "w", encoding="utf-8") as file:
        file.write(line.format(f"{o['commit'] if o['kernel'] == 'vigil' else '':<8}  ") + "\n")
    if not passed:
        for line in output.decode(errors="replace").split("\n")[-LINES_SHOWN:]:
            print(f"    {line}", flush=True)
    return passed


def keep(o):
    """Makes the results of the rows' last lines."""
    command = f"make bench-software ARCH={o['arch']}"
    text = subprocess.run(["test/bench/header.sh", "-", f"arch={o['arch']}"], cwd=TOP, check=True,
                          capture_output=True, text=True).stdout
    lines = []
    for row in read_table():
        for kernel in "vigil", "linux":
            path = os.path.join(o["out"], row.name, f"{kernel}.line")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    lines.append(file.read())
    with open(os.path.join(TOP, "docs", "results", f"software-{o['arch']}.txt"), "w",
              encoding="utf-8") as file:
        file.write(f"# {command}\n" + re.sub(r"commit [^;]*; ", "", text) +
                   "# Programs of Debian in Vigil, and under Debian's Linux, on plain QEMU;\n"
                   "# of: Vigil's commit\n\n" +
                   HEAD.format("of        ") + "".join(lines))


def parse(words):
    o = {"arch": "x86_64", "kernel": "vigil", "machine": "qemu", "only": "", "smp": "2",
         "limit": "600", "out": "", "keep": ""}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in o or not equals:
            raise Refused(f"argument={key} reason=unknown: expected {' '.join(o)}")
        o[key] = value
    o["out"] = o["out"] or os.path.join(TOP, "build", "suites", f"software-{o['arch']}")
    o["commit"] = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], cwd=TOP, text=True,
                                 capture_output=True, check=False).stdout.strip() or "unknown"
    return o


def main(words):
    o = parse(words)
    rows = [row for row in read_table() if re.search(o["only"], row.name)]
    rows = [row for row in rows if o["kernel"] == "vigil" or not row.share]
    print(HEAD.format(""), end="", flush=True)
    passed = [run(row, o) for row in rows]
    print(f"software: arch={o['arch']} kernel={o['kernel']} rows={len(passed)} "
          f"passed={sum(passed)}")
    if o["keep"]:
        keep(o)
    return 0 if all(passed) else FAILED


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt)  # the machine ends, too
    if sys.argv[1:] in (["help"], ["--help"]):
        print(__doc__, end="")
        sys.exit(0)
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, Refused) as error:
        print(f"software: {error}", file=sys.stderr)
        sys.exit(UNAVAILABLE)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
