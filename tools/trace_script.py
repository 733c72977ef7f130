#!/usr/bin/env python3
"""
Prints the samples of a trace folder (tools/trace_split.py) as `perf script` does, which the tools that draw flame graphs read.

  tools/trace_script.py FOLDER [KERNEL.elf [PROGRAMS]] >samples.txt
  stackcollapse-perf.pl samples.txt | flamegraph.pl >samples.svg

KERNEL.elf and the programs in the folder PROGRAMS (build/x86_64/bin) say what functions are called.  A sample is an access;
what served it stands where perf has the event, its latency in cycles where perf has the period.
"""
import bisect
import os
import signal
import subprocess
import sys

import trace_events


class Symbols:
    """The functions of an ELF file, by address."""

    def __init__(self, path):
        self.at, self.names = [], []
        if not path or not os.path.exists(path):
            return
        lines = subprocess.run(["nm", "-n", "--defined-only", path], check=True, capture_output=True, text=True).stdout
        for line in lines.splitlines():
            address, kind, name = line.split(None, 2)
            if kind in "tTwW" and not name.startswith("$"):  # $x: AArch64's marks of code
                self.at.append(int(address, 16))
                self.names.append(name)

    def find(self, pc):
        i = bisect.bisect_right(self.at, pc) - 1
        return f"{self.names[i]}+{pc - self.at[i]:#x}" if i >= 0 else "[unknown]"


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # whoever reads may stop
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip())
    kernel = Symbols(sys.argv[2] if len(sys.argv) > 2 else None)
    folder = sys.argv[3] if len(sys.argv) > 3 else None
    names, programs, symbols = {0: "idle"}, {}, {}
    for ns, name, cpu, f in trace_events.Trace(sys.argv[1]):
        if name == "thread_start":
            names[f["tid"]] = f["thread_name"]
        elif name == "process_start":
            programs[f["pid"]] = f["program"]
            if folder and f["program"] not in symbols:
                symbols[f["program"]] = Symbols(os.path.join(folder, f["program"]))
        elif name == "sample":
            program = programs.get(f["pid"])
            user = f["mode"] == "user"
            where = symbols.get(program) if user else kernel
            file = (program or "[unknown]") if user else "[kernel]"
            print(f"{names.get(f['tid'], '?')} {f['pid']}/{f['tid']} [{cpu:03}] {ns / 1e9:.9f}: {f['latency']} {f['source']}: ")
            print(f"\t{f['pc']:16x} {where.find(f['pc']) if where else '[unknown]'} ({file})\n")


main()
