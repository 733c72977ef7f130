#!/usr/bin/env python3
"""Prints the miss-rate curves of a trace folder (tools/trace_split.py) recorded with
telemetry=memory, as memstat does.

  tools/trace_mrc.py FOLDER
"""
import signal
import sys

import trace_events

POINTS = 16


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may stop early
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    programs, limits = {}, {}
    for ns, name, _, f in trace_events.Trace(sys.argv[1]):
        if name == "process_start":
            programs[f["pid"]] = f["program"]
        elif name == "memory":
            limits[f["pid"]] = f["limit_pages"] * 4
        elif name == "memory_curve":
            curves = "".join(
                f" {p}=" + ",".join(str(f[f"{p}_{i}"]) for i in range(1, POINTS + 1))
                for p in ["lru", "mru"][: 1 + f["has_mru"]]
            )
            print(
                f"MRC program={programs.get(f['pid'], '?')} pid={f['pid']} ms={ns / 1e6:.1f} "
                f"pages={f['pages']}"
                f" accesses={f['accesses']} first={f['first_uses']} "
                f"limit_kb={limits.get(f['pid'], 0)}{curves}"
            )


main()
