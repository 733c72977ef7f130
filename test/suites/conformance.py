#!/usr/bin/env python3
"""Runs conformance suites from elsewhere, unmodified, in Vigil and in Linux, and compares.

  test/suites/conformance.py suite=posix|libc-test dir=PATH [name=value ...]

  suite=NAME    posix: Open POSIX Test Suite, alone or in the Linux Test Project; libc-test: musl's
  dir=PATH      the suite's sources; they are left as they are
  arch=ARCH     x86_64 or aarch64  (x86_64)
  kernel=NAME   vigil, linux, both or none; of a kernel that is left out the last results
                count  (both)
  only=GLOBS    programs of these names only, separated by commas; their results replace the last
                ones. differing: those whose last results differ
  limit=S       seconds of the guest that a program may take  (30)
  options=WORDS more arguments of tools/qemu.sh  (smp=2)

Every program's exit status must be Linux's, or test/suites/SUITE.txt gives a reason. One that the
kernel has refused to fork is an exception, whatever its status: it cannot be judged. Files are in
build/suites/SUITE-ARCH: the programs, the results and each program's output under either kernel.
"""
import fnmatch
import functools
import os
import signal
import sys

TOP = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tools", "launch"))
sys.dont_write_bytecode = True

import boots  # noqa: E402
import programs  # noqa: E402
import suite_tree  # noqa: E402

KERNELS = ("linux", "vigil")
FAILED, REFUSED, INTERRUPTED = 1, 125, 130
FORKLESS = " without fork" # behind the status of a program that the kernel has refused to fork
DEFAULTS = {"suite": None, "dir": None, "arch": "x86_64", "kernel": "both", "only": "*",
            "limit": "30", "options": "smp=2"}


class Refused(Exception):
    """An argument is wrong."""


def parse(words):
    given = dict(DEFAULTS)
    for word in words:
        key, equals, value = word.partition("=")
        if key not in given or not equals:
            raise Refused(f"argument={key} reason=unknown: '{word}' is no argument "
                          f"({'= '.join(given)}=)")
        given[key] = value
    if given["suite"] not in programs.SUITES or not given["dir"]:
        raise Refused("argument=suite reason=missing: suite=posix|libc-test dir=PATH")
    if given["arch"] not in programs.COMPILERS or given["kernel"] not in (*KERNELS, "both", "none"):
        raise Refused("argument=arch reason=value: arch=x86_64|aarch64, kernel=vigil|linux|both|none")
    return given


def is_wanted(name, only, out):
    if only != "differing":
        return any(fnmatch.fnmatch(name, glob) for glob in only.split(","))
    linux, vigil = (read_results(os.path.join(out, f"{k}.txt")).get(name) for k in KERNELS)
    return linux != vigil


def pack(built, arch, root, archive):
    """Makes the guest's tree and its archive."""
    suite_tree.make(root, "PATH=/bin\nHOME=/root\nLANG=C.UTF-8\n")
    with open(os.path.join(root, "list"), "w", encoding="utf-8") as file:
        file.writelines(f"/src/{p.name}\n" for p in built)
    suite_tree.finish(arch, TOP, root, archive)


@functools.cache
def read_results(path):
    try:
        with open(path, encoding="utf-8") as file:
            return dict(line.rstrip("\n").split(" ", 1) for line in file)
    except FileNotFoundError:
        return {}


def run_kernel(kernel, given, built, out, archive):
    """Runs the programs; returns all results of this kernel, by name."""
    run = boots.Boots(kernel, given["arch"], given["options"].split(), TOP, out, archive,
                      len(built), int(given["limit"]))
    open(os.path.join(out, f"{kernel}-console.txt"), "wb").close()
    numbers = run.run()
    path = os.path.join(out, f"{kernel}.txt")
    results = dict(read_results(path))
    results.update({built[n].name: status + FORKLESS * (n in run.forkless)
                    for n, status in numbers.items()})
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{name} {status}\n" for name, status in sorted(results.items()))
    with open(os.path.join(out, f"{kernel}-output.txt"), "wb") as file:
        for n, lines in sorted(run.outputs.items()):
            file.write(f"---- {built[n].name} {numbers.get(n)}\n".encode())
            file.write(b"\n".join(lines) + b"\n")
    return results


def table(given, areas):
    """Returns the lines of the counts by area."""
    yield f"suite={given['suite']} arch={given['arch']}"
    yield "area         programs 0 on Linux   same exceptions differ"
    sums = [sum(column) for column in zip(*areas.values())]
    for area, counts in [*areas.items(), ("all", sums)]:
        yield f"{area:12} {counts[0]:8} {counts[1]:10} {counts[2]:6} {counts[3]:10} {counts[4]:6}"


def compare(given, built, results, out):
    """Prints a table by area, and every difference that has no reason. Returns their number."""
    exceptions = programs.read_exceptions(given["suite"], given["arch"], TOP)
    areas, used, differences = {}, set(), []
    for p in built:
        linux, vigil = (results[kernel].get(p.name, "none") for kernel in KERNELS)
        row = next((r for r in exceptions if fnmatch.fnmatch(p.name, r[0])), None)
        counts = areas.setdefault(p.area, [0, 0, 0, 0, 0])
        counts[0] += 1
        counts[1] += linux == "0"
        forkless = vigil.endswith(FORKLESS)
        counts[2 if linux == vigil else 3 if row or forkless else 4] += 1
        if linux == vigil or forkless:
            continue
        if row:
            used.add(row)
        else:
            differences.append(f"differs: name={p.name} linux={linux} vigil={vigil}")
    lines = [*table(given, areas), *differences]
    print("\n".join(lines))
    if given["only"] == "*":
        with open(os.path.join(out, "table.txt"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        for pattern, reason in exceptions:
            if (pattern, reason) not in used:
                print(f"unused: exception={pattern}: {reason}")
    return len(differences)


def main(words):
    given = parse(words)
    out = os.path.join(TOP, "build", "suites", f"{given['suite']}-{given['arch']}")
    root = os.path.join(out, "root")
    os.makedirs(root, exist_ok=True)
    suite = programs.SUITES[given["suite"]](given["dir"])
    wanted = [p for p in suite.programs() if p.shared or is_wanted(p.name, given["only"], out)]
    built = programs.build(suite, wanted, given["arch"], root, os.path.join(out, "build.txt"))
    count = sum(not p.shared for p in wanted)
    print(f"conformance: programs={count} built={len(built)}", flush=True)
    archive = os.path.join(out, "tree.tar")
    if given["kernel"] != "none":
        pack(built, given["arch"], root, archive)
    results = {}
    for kernel in KERNELS:
        if given["kernel"] in (kernel, "both"):
            results[kernel] = run_kernel(kernel, given, built, out, archive)
        else:
            results[kernel] = read_results(os.path.join(out, f"{kernel}.txt"))
    return FAILED if compare(given, built, results, out) else 0


def interrupt(*_):
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, interrupt) # the machine ends, too
    if sys.argv[1:] in ([], ["help"], ["--help"]):
        print(__doc__, end="")
        sys.exit(0)
    try:
        sys.exit(main(sys.argv[1:]))
    except (Refused, programs.SuiteError, boots.BootError) as error:
        print(f"conformance: {error}", file=sys.stderr)
        sys.exit(REFUSED)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
