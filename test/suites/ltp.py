#!/usr/bin/env python3
"""Runs the Linux Test Project's tests of system calls in Vigil, and counts those that pass.

  test/suites/ltp.py tests=DIR [name=value ...]

  tests=DIR     what tools/ltp.sh has left
  arch=ARCH     x86_64 or aarch64  (x86_64)
  kernel=NAME   vigil, or linux: Debian's, to see what a test does there  (vigil)
  only=GLOBS    tests of these names only, separated by commas, also excluded ones; nothing is kept
  limit=S       seconds of the guest that a test may take  (30)
  options=WORDS more arguments of tools/qemu.sh  (smp=2 icount=3)

A test passes (status 0), is not supported (32: it has found that it lacks something), or fails.
test/suites/ltp.txt names those that are not run, with reasons. The results of a whole run, with a
line for each test that fails, become docs/results/ltp-ARCH.txt, unless fewer pass than there: then
they stay in build/suites/ltp-ARCH, and the status is 1. There is each test's output, too.
"""
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tools", "launch"))
sys.dont_write_bytecode = True

import boots  # noqa: E402
import programs  # noqa: E402
import suite_tree  # noqa: E402

FAILED, REFUSED, INTERRUPTED = 1, 125, 130
NOT_SUPPORTED = "32"
BIN = "ltp/testcases/bin"
DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}
# Tests that go on for a time of their own take a quarter of it.
ENVIRONMENT = (f"PATH=/{BIN}:/bin\nHOME=/root\nLANG=C.UTF-8\nLTPROOT=/ltp\n"
               "LTP_RUNTIME_MUL=0.25\nKCONFIG_PATH=/ltp/config\n")
# Options of Linux's configuration for what there is.
OPTIONS = ("SMP", "MMU", "64BIT", "PROC_FS", "SYSFS", "TMPFS", "SHMEM", "FUTEX", "EPOLL", "EVENTFD",
           "SIGNALFD", "TIMERFD", "POSIX_TIMERS", "HIGH_RES_TIMERS", "FILE_LOCKING", "MEMBARRIER",
           "ADVISE_SYSCALLS", "NET", "UNIX", "INET", "BINFMT_ELF", "BINFMT_SCRIPT")
DEFAULTS = {"tests": None, "arch": "x86_64", "kernel": "vigil", "only": "", "limit": "30",
            "options": "smp=2 icount=3"}


class Refused(Exception):
    """An argument is wrong."""


class Test:
    """One line of LTP's list: a name and a command."""

    def __init__(self, line):
        self.name, self.command = line.strip().split(None, 1)
        self.program = self.command.split()[0]


def parse(words):
    given = dict(DEFAULTS)
    for word in words:
        key, equals, value = word.partition("=")
        if key not in given or not equals:
            raise Refused(f"argument={key} reason=unknown: '{word}' is no argument "
                          f"({'= '.join(given)}=)")
        given[key] = value
    if not given["tests"] or given["arch"] not in programs.COMPILERS:
        raise Refused("argument=tests reason=missing: tests=DIR arch=x86_64|aarch64")
    return given


def exclusion(rows, name):
    return next((reason for pattern, reason in rows if fnmatch.fnmatch(name, pattern)), None)


def pack(given, tests, root, archive):
    """Makes the guest's tree and its archive."""
    shutil.rmtree(root, ignore_errors=True)
    suite_tree.make(root, ENVIRONMENT)
    from_bin, to_bin = os.path.join(given["tests"], "root", BIN), os.path.join(root, BIN)
    os.makedirs(os.path.dirname(to_bin))
    shutil.copytree(from_bin, to_bin, copy_function=os.link, symlinks=True)
    with open(os.path.join(root, "ltp", "config"), "w", encoding="utf-8") as file:
        file.writelines(f"CONFIG_{name}=y\n" for name in OPTIONS)
    os.makedirs(os.path.join(root, "bin"))
    shutil.copy(os.path.join(given["tests"], "busybox", "bin", "busybox"), os.path.join(root, "bin"))
    for name in ("sh", "cat", "true", "ls", "echo", "sleep"):
        os.symlink("busybox", os.path.join(root, "bin", name))
    with open(os.path.join(root, "list"), "w", encoding="utf-8") as file:
        file.writelines(f"/{BIN}/{t.command}\n" for t in tests)
    suite_tree.finish(given["arch"], TOP, root, archive)


def verdict(status):
    return {"0": "passed", NOT_SUPPORTED: "not_supported"}.get(status, "failed")


def reason_of(lines):
    """Returns what a failed test says of itself first."""
    for line in lines:
        text = re.sub(rb"\x1b\[[0-9;]*m", b"", line).decode(errors="replace")
        found = re.search(r"\b(TFAIL|TBROK|TWARN)\b[ :]*(.*)", text)
        if found:
            words = re.sub(r"\b(0x[0-9a-f]+|LTP_\w+|\d{4,})\b", "#", found.group(2))
            return f"{found.group(1)}: {words}"[:90].rstrip()
    return ""


def table(given, groups, run, statuses):
    """Returns the lines of a whole run's results."""
    ran = [n for n in ("passed", "failed", "not_supported") for _ in groups[n]]
    percent = 100 * len(groups["passed"]) / len(ran)
    yield (f"ltp: arch={given['arch']} run={len(ran)} " +
           " ".join(f"{n}={len(groups[n])}" for n in ("passed", "failed", "not_supported")) +
           f" passed_pct={percent:.1f} excluded={len(groups['excluded'])} "
           f"not_built={len(groups['not_built'])}")
    for t in groups["failed"]:
        n = run[t]
        yield f"fails: name={t.name} status={statuses[n]}: {reason_of(given['outputs'].get(n, []))}"
    yield "not supported: " + " ".join(t.name for t in groups["not_supported"])


def passed_in(path):
    try:
        with open(path, encoding="utf-8") as file:
            return int(re.search(r"^ltp: .* passed=(\d+)", file.read(), re.M).group(1))
    except FileNotFoundError:
        return 0


def keep(given, lines, out):
    """Makes the lines the results that are kept. Returns a status."""
    path = os.path.join(TOP, "docs", "results", f"ltp-{given['arch']}.txt")
    new = os.path.join(out, "results.txt")
    header = subprocess.run(["test/bench/header.sh", f"make bench-ltp ARCH={given['arch']}",
                             f"arch={given['arch']}"], cwd=TOP, check=True, capture_output=True,
                            text=True).stdout
    with open(new, "w", encoding="utf-8") as file:
        file.write(header + "\n" + "\n".join(lines) + "\n")
    before, now = passed_in(path), passed_in(new)
    if now < before:
        print(f"ltp: error: passed={now} before={before}: results are in {new}", file=sys.stderr)
        return FAILED
    shutil.copyfile(new, path)
    return 0


def main(words):
    given = parse(words)
    out = os.path.join(TOP, "build", "suites", f"ltp-{given['arch']}")
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(given["tests"], "list"), encoding="utf-8") as file:
        tests = [Test(line) for line in file]
    rows = programs.read_exceptions("ltp", given["arch"], TOP)
    groups = {n: [] for n in ("passed", "failed", "not_supported", "excluded", "not_built", "run")}
    for t in tests:
        if given["only"] and not any(fnmatch.fnmatch(t.name, g) for g in given["only"].split(",")):
            continue
        there = os.path.exists(os.path.join(given["tests"], "root", BIN, t.program))
        excluded = not given["only"] and exclusion(rows, t.name)
        groups["excluded" if excluded else "run" if there else "not_built"].append(t)
    archive = os.path.join(out, "tree.tar")
    pack(given, groups["run"], os.path.join(out, "root"), archive)
    boot = boots.Boots(given["kernel"], given["arch"], given["options"].split(), TOP, out, archive,
                       len(groups["run"]), int(given["limit"]), memory="2G")
    open(os.path.join(out, f"{given['kernel']}-console.txt"), "wb").close()
    statuses, given["outputs"] = boot.run(), boot.outputs
    run = {t: n for n, t in enumerate(groups["run"])}
    with open(os.path.join(out, f"{given['kernel']}-output.txt"), "wb") as file:
        for t, n in run.items():
            groups[verdict(statuses[n])].append(t)
            file.write(f"---- {t.name} {statuses[n]}\n".encode())
            file.write(b"\n".join(boot.outputs.get(n, [])) + b"\n")
    lines = list(table(given, groups, run, statuses))
    print("\n".join(lines))
    return 0 if given["only"] or given["kernel"] != "vigil" else keep(given, lines, out)


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt) # the machine ends, too
    if sys.argv[1:] in ([], ["help"], ["--help"]):
        print(__doc__, end="")
        sys.exit(0)
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, boots.BootError) as error:
        print(f"ltp: {error}", file=sys.stderr)
        sys.exit(REFUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
