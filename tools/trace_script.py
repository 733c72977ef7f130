#!/usr/bin/env python3
"""Prints samples as `perf script` does, for the tools that draw flame graphs.

  tools/trace_script.py FOLDER [KERNEL.elf [PROGRAMS]] >samples.txt
  tools/trace_script.py CONSOLE >samples.txt
  stackcollapse-perf.pl samples.txt | flamegraph.pl >samples.svg

FOLDER is a trace (tools/trace_split.py). KERNEL.elf and the programs in the folder PROGRAMS
(build/x86_64/bin) give functions their names, vdso.so beside that folder those of the vDSO. CONSOLE
is a console's text with the lines of `hpmrec format=samples`. In the places of perf's event and
period are a sample's criterion and period; for an access, its source and its latency in cycles.
"""
import bisect
import os
import signal
import subprocess
import sys

import trace_events

PAGE = 4096
FAR = 1 << 32  # so far behind a program's code lies no more of it


class Symbols:
    """The functions of an ELF file, by address."""

    def __init__(self, path):
        self.at, self.names = [], []
        if not path or not os.path.exists(path):
            return
        lines = subprocess.run(
            ["nm", "-n", "--defined-only", path], check=True, capture_output=True, text=True
        ).stdout
        for line in lines.splitlines():
            address, kind, name = line.split(None, 2)
            if kind in "tTwW" and not name.startswith("$"):  # $x: AArch64's marks of code
                self.at.append(int(address, 16))
                self.names.append(name)

    def find(self, pc):
        i = bisect.bisect_right(self.at, pc) - 1
        return f"{self.names[i]}+{pc - self.at[i]:#x}" if i >= 0 else "[unknown]"


def user_function(program, vdso, pc):
    """Returns the function at an address of a program. The vDSO, all code of which lies in one page,
    is mapped at the end of its memory."""
    if program and program.at and pc - program.at[-1] > FAR:
        return vdso.find(pc % PAGE)
    return program.find(pc) if program else "[unknown]"


def put(thread, pid, tid, cpu, ns, period, event, pc, function, file):
    print(f"{thread} {pid}/{tid} [{int(cpu):03}] {int(ns) / 1e9:.9f}: {period} {event}: ")
    print(f"\t{int(pc):16x} {function} ({file})\n")


def from_console(path):
    """Parses SAMPLE ns cpu pid tid program criterion period mode pc function file; of an access
    also data region kind latency source."""
    for line in open(path, errors="replace"):
        w = line.split()
        if len(w) < 12 or w[0] != "SAMPLE":
            continue
        _, ns, cpu, pid, tid, program, criterion, period, mode, pc, function, _ = w[:12]
        event, count = (w[16], w[15]) if len(w) > 16 else (criterion, period)
        known = not function.startswith("?")
        put(
            program,
            pid,
            tid,
            cpu,
            ns,
            count,
            event,
            int(pc, 16),
            function if known else "[unknown]",
            program if mode == "user" else "[kernel]",
        )


def from_trace(path, kernel, folder):
    names, programs, symbols = {0: "idle"}, {}, {}
    vdso = Symbols(folder and os.path.join(folder, os.pardir, "vdso.so"))
    for ns, name, cpu, f in trace_events.Trace(path):
        if name == "thread_start":
            names[f["tid"]] = f["thread_name"]
        elif name == "process_start":
            programs[f["pid"]] = f["program"]
            if folder and f["program"] not in symbols:
                symbols[f["program"]] = Symbols(os.path.join(folder, f["program"]))
        elif name == "sample":
            program = programs.get(f["pid"])
            user = f["mode"] == "user"
            access = f["source"] != "none"
            put(
                names.get(f["tid"], "?"),
                f["pid"],
                f["tid"],
                cpu,
                ns,
                f["latency"] if access else f["period"],
                f["source"] if access else f["criterion"],
                f["pc"],
                user_function(symbols.get(program), vdso, f["pc"]) if user else kernel.find(f["pc"]),
                (program or "[unknown]") if user else "[kernel]",
            )


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may stop early
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip())
    if os.path.isdir(sys.argv[1]):
        from_trace(
            sys.argv[1],
            Symbols(sys.argv[2] if len(sys.argv) > 2 else None),
            sys.argv[3] if len(sys.argv) > 3 else None,
        )
    else:
        from_console(sys.argv[1])


main()
