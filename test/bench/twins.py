#!/usr/bin/env python3
"""Runs programs in Vigil and in Linux, with the same files on the same machine, and says for each
whether output and exit status are the same.

  test/bench/twins.py [table=FILE] [arch=x86_64] [machine=qemu] [only=REGEX] [timeout=300]
                      [out=build/twins]

A line of the table describes a run, in four columns parted by ' | ':

  name       for the report, and of a folder in out= that keeps the output of both
  options    of ./vigil run, such as --deb lua5.4 --smp 4; - for none; among them may stand 'cd=DIR'
             and 'input=FILE', the working directory and standard input, relative to the table's
             folder, and 'linux=ARGUMENT', a boot argument of Linux alone. $NAME is a variable of
             the environment, such as the folder of a program's sources; a row whose variable is
             not set is left out, with a line that says so
  compared   all, or what differs between two runs on one kernel and so does not count: numbers (a
             row of them with the spaces around it), order (that of lines, of threads), cpu (lines
             that name the processor or the kernel), output (the exit status alone counts)
  command    the program and its arguments, as a shell would take them

Lines that are empty or begin with # are passed over. Ends with status 1 if a run differs.
"""
import os
import re
import shlex
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
KERNELS = ("vigil", "linux")
NUMBERS = re.compile(rb"(?:[ \t]*[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)[ \t]*)+")
CPU = re.compile(rb"(?im)^.*(?:model name|flags|bogomips|vulnerab|hwcap|cpu freq|^linux : |^\s+\S.*mitigat).*\n")
COMPARED = {"all", "numbers", "cpu", "order", "output"}
FAILED = 125


class TableError(Exception):
    """A line of the table is wrong."""


def missing(options):
    """Returns the names of the variables in a row's options that the environment does not have."""
    return [name for name in re.findall(r"\$(\w+)", options) if name not in os.environ]


class Row:
    """A run: its name, options, working directory, input, what is compared, and the command."""

    def __init__(self, line, folder):
        parts = [part.strip() for part in line.split(" | ", 3)]
        if len(parts) != 4:
            raise TableError(f"'{line}': has {len(parts)} columns, expected 4")
        self.name, options, compared, command = parts
        self.compared = set(compared.split())
        if self.compared - COMPARED:
            raise TableError(f"'{line}': '{compared}', expected {' '.join(sorted(COMPARED))}")
        self.folder, self.input, self.options = folder, os.devnull, []
        self.missing, self.boot = missing(options), []
        for word in [] if options == "-" else shlex.split(os.path.expandvars(options)):
            if word.startswith("cd="):
                self.folder = os.path.join(folder, word[3:])
            elif word.startswith("input="):
                self.input = os.path.join(folder, word[6:])
            elif word.startswith("linux="):
                self.boot += ["--kernel-args", word[6:]]
            else:
                self.options.append(word)
        self.command = shlex.split(command)
        if "/" in self.command[0]:
            self.command[0] = os.path.join(self.folder, self.command[0])

    def known(self, output):
        """Returns what of an output counts."""
        output = output.replace(b"\r\n", b"\n")
        if "cpu" in self.compared:
            output = CPU.sub(b"", output)
        if "numbers" in self.compared:
            output = NUMBERS.sub(b"N", output)
        if "order" in self.compared:
            output = b"\n".join(sorted(output.split(b"\n")))
        return b"" if "output" in self.compared else output


def read_table(path):
    folder = os.path.dirname(os.path.abspath(path))
    with open(path, encoding="utf-8") as file:
        return [Row(line.strip(), folder) for line in file
                if line.strip() and not line.startswith("#")]


def run(row, kernel, o):
    """Returns the exit status, the output with standard error behind it, and the seconds that it
    took."""
    folder = os.path.join(o["out"], o["arch"], row.name)
    os.makedirs(folder, exist_ok=True)
    words = [os.path.join(TOP, "vigil"), "run", "--machine", o["machine"], "--arch", o["arch"],
             "--kernel", kernel, "--timeout", o["timeout"], "--out", os.path.join(folder, kernel),
             *row.options, *(row.boot if kernel == "linux" else []), "--", *row.command]
    path, since = os.path.join(folder, kernel + ".txt"), time.monotonic()
    with open(path, "wb") as out, open(row.input, "rb") as given, \
            open(os.path.join(folder, kernel + ".errors"), "wb") as errors:
        status = subprocess.run(words, cwd=row.folder, stdin=given, stdout=out, stderr=errors,
                                check=False).returncode
    archive = os.path.join(folder, kernel, "vigil.tar")
    if os.path.exists(archive):
        os.unlink(archive)
    output = b""
    for name in (path, errors.name):
        with open(name, "rb") as file:
            output += file.read()
    return status, output, time.monotonic() - since


def compare(row, o):
    """Runs a row. Prints its line, and returns whether the kernels agree."""
    found = {kernel: run(row, kernel, o) for kernel in KERNELS}
    (status, output, took), (linux_status, linux_output, linux_took) = found.values()
    if linux_status == FAILED or status == FAILED:
        result = "failed"
    elif status != linux_status:
        result = "status"
    elif output == linux_output:
        result = "same"
    else:
        result = "like" if row.known(output) == row.known(linux_output) else "differs"
        if result == "like" and "output" in row.compared:
            result = "ends"
    print(f"{row.name:<24} {result:<8} {status:>6} {linux_status:>6} {len(output):>8} "
          f"{len(linux_output):>8} {took:>7.1f} {linux_took:>7.1f}", flush=True)
    return result in ("same", "like", "ends")


def main(words):
    o = {"table": os.path.join(TOP, "test", "bench", "twins.txt"), "arch": "x86_64",
         "machine": "qemu", "only": "", "timeout": "300",
         "out": os.path.join(TOP, "build", "twins")}
    for word in words:
        key, equals, value = word.partition("=")
        if key not in o or not equals:
            sys.exit(f"twins.py: argument={key} reason=unknown: expected {' '.join(o)}")
        o[key] = value
    try:
        rows = [row for row in read_table(o["table"]) if re.search(o["only"], row.name)]
    except (OSError, TableError) as error:
        sys.exit(f"twins.py: {o['table']}: {error}")
    print(f"{'program':<24} {'result':<8} {'status':>6} {'Linux':>6} {'bytes':>8} {'Linux':>8} "
          f"{'s':>7} {'Linux':>7}")
    for row in rows:
        if row.missing:
            print(f"{row.name:<24} left out: {' '.join(row.missing)} not set")
    same = [compare(row, o) for row in rows if not row.missing]
    print(f"{sum(same)} of {len(same)}: 'same': output and status, byte for byte; 'like': but for "
          "what differs between\ntwo runs on one kernel, as the table says; 'ends': the status. "
          "Times are the host's.")
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
