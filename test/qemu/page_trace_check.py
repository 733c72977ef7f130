#!/usr/bin/env python3
"""Is a recorded page trace what really happened?

    page_trace_check.py RECORDED WALKS LOGGED

Both are page traces (docs/use/page-traces.md) of one process: what the kernel recorded, and every TLB miss, as the machine wrote it.  On
each CPU what was recorded must be a part of the TLB misses, in the same order; together as many as the machine says it LOGGED.
The kernel has the process's number, the machine that of its address space.
"""
import struct
import sys

HEADER = struct.Struct("<8sHHHHIIQ")
RECORD = struct.Struct("<QQIHH")


def read(name):
    with open(name, "rb") as file:
        data = file.read()
    magic, version, header, record, shift, cpus, _, hz = HEADER.unpack_from(data)
    if (magic, version, record, shift) != (b"vpgtrace", 1, RECORD.size, 12) or not hz:
        sys.exit(f"{name}: no page trace of this version")
    if (len(data) - header) % record:
        sys.exit(f"{name}: is cut off")
    by_cpu = [[] for _ in range(cpus)]
    for page, time, space, cpu, flags in RECORD.iter_unpack(data[header:]):
        if flags & ~1 or not space:
            sys.exit(f"{name}: page {page:#x} of space {space} has flags {flags}")
        if by_cpu[cpu] and by_cpu[cpu][-1][2] > time:
            sys.exit(f"{name}: time goes back on CPU {cpu}")
        by_cpu[cpu].append((space, page, time))
    spaces = {space for records in by_cpu for space, _, _ in records}
    if len(spaces) != 1:
        sys.exit(f"{name}: one space was expected, not {sorted(spaces)}")
    return by_cpu


recorded, walks = read(sys.argv[1]), read(sys.argv[2])
total = sum(len(r) for r in recorded)
if total != int(sys.argv[3]):
    sys.exit(f"{total} are recorded, {sys.argv[3]} were logged")
for cpu, records in enumerate(recorded):
    missed = iter(page for _, page, _ in walks[cpu])
    for n, (_, page, _) in enumerate(records):
        if page not in missed:  # advances
            sys.exit(f"CPU {cpu}: record {n}, page {page:#x}, is not in the order of the TLB misses")
print(f"{total} accesses of {sum(len(w) for w in walks)} TLB misses")
