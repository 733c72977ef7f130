#!/usr/bin/env python3
"""Writes samples as a perf.data file, which Debian's perf reads.

  tools/perf_data.py FOLDER|CONSOLE PERF.DATA [KERNEL.elf [PROGRAMS [FILES]]]
  perf report -i PERF.DATA;  perf mem report -i PERF.DATA;  perf c2c report -i PERF.DATA

FOLDER is a trace (tools/trace_split.py). CONSOLE is a console's text with the lines of
`hpmrec format=samples`. KERNEL.elf and the programs in the folder PROGRAMS (build/x86_64/bin) give
code its names and lines, vdso.so beside that folder those of the vDSO. FILES is a folder or an
archive (tar) with the files that the machine had: those of Linux programs and libraries whose code
was mapped are copied to PERF.DATA.files, where perf finds their symbols; else it looks for them on
this host by their paths and build ids.

A criterion is an event of perf's, and a sample's period is what the sample stands for, so perf's
totals are hpmrec's. A sample of an access has its data address, latency and source.
"""
import os
import shutil
import struct
import sys
import tarfile

import trace_events

PAGE = 4096
FAR = 1 << 32  # so far behind a program's code lies no more of it

# What a sample has: PERF_SAMPLE_* of the kernel's include/uapi/linux/perf_event.h, as all below.
IP, TID, TIME, ADDR, CALLCHAIN, CPU, PERIOD, WEIGHT, DATA_SRC, IDENTIFIER, PHYS_ADDR = (
    1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 7, 1 << 8, 1 << 14, 1 << 15, 1 << 16, 1 << 19)
CONTEXT_KERNEL, CONTEXT_USER = 2**64 - 128, 2**64 - 512  # what follows in a chain
PLAIN = IDENTIFIER | IP | TID | TIME | CPU | PERIOD
ACCESS = PLAIN | ADDR | WEIGHT | DATA_SRC | PHYS_ADDR

RECORD_COMM, RECORD_SAMPLE, RECORD_MMAP2 = 3, 9, 10
MISC_KERNEL, MISC_USER, MISC_DATA, MISC_BUILD_ID = 1, 2, 1 << 13, 1 << 14
ANY_PROCESS = 2**32 - 1
TYPE_RAW, ATTR_BYTES, HEADER_BYTES = 4, 128, 104
# attr's flags: disabled, mmap, comm, precise_ip 2, mmap_data, mmap2
ATTR_FLAGS = 1 | 1 << 8 | 1 << 9 | 2 << 15 | 1 << 17 | 1 << 23
FEATURE_ARCH, FEATURE_NRCPUS, FEATURE_EVENT_DESC, FEATURE_NUMA = 6, 7, 12, 14
ARCHES = {62: "x86_64", 183: "aarch64"}  # by e_machine of an ELF file

# ---- What perf calls an access -------------------------------------------------------------------

OP_LOAD, OP_STORE, OP_EXEC = 1 << 1, 1 << 2, 1 << 4
HIT, MISS, L1, L2, L3, LOCAL_RAM, REMOTE_RAM, REMOTE_CACHE = (
    1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 10)
SNOOP_NONE, SNOOP_HIT, SNOOP_HITM = 1 << 1, 1 << 2, 1 << 4
NOT_LOCKED, LOCKED = 1 << 0, 1 << 1
TLB_HIT, TLB_L1, TLB_L2, TLB_WALKER = 1 << 1, 1 << 3, 1 << 4, 1 << 5
NUMBER_ANY_CACHE, NUMBER_RAM = 0xB, 0xD

# By source: levels, number of the level, and whether it is beyond this chip. perf counts what has
# that last bit as remote memory, so remote caches do not have it.
SOURCES = {
    "l1": (L1, 1, 0),
    "local_l2": (L2, 2, 0),
    "local_l3": (L3, 3, 0),
    "remote_l2": (REMOTE_CACHE, NUMBER_ANY_CACHE, 0),
    "remote_l3": (REMOTE_CACHE, NUMBER_ANY_CACHE, 0),
    "local_memory": (LOCAL_RAM, NUMBER_RAM, 0),
    "remote_memory": (REMOTE_RAM, NUMBER_RAM, 1),
}


def data_source(a):
    """Returns PERF_SAMPLE_DATA_SRC. An access that reads and writes in one counts as a load of a
    locked line. Of a store perf knows only whether the L1 had the line. A modified line in another
    chip's cache is perf's HITM."""
    level, number, remote = SOURCES[a["source"]]
    op, snoop = OP_LOAD, SNOOP_NONE
    if a["kind"] == "fetch":
        op = OP_EXEC
    elif a["atomic"]:
        op = OP_LOAD | OP_STORE
    elif a["kind"] == "store":
        op = OP_STORE
    if level == REMOTE_CACHE:
        snoop = SNOOP_HITM if a["modified"] else SNOOP_HIT
    if op == OP_STORE and level != L1:
        levels = MISS | L1
    else:
        levels = HIT | level
    tlb = TLB_HIT | (TLB_WALKER if a["walk"] else TLB_L1 | TLB_L2)
    lock = LOCKED if a["atomic"] else NOT_LOCKED
    return (op | levels << 5 | snoop << 19 | lock << 24 | tlb << 26 | number << 33 | remote << 37)


# ---- Reading -------------------------------------------------------------------------------------


class Recording:
    """Samples, each a dictionary, and what is known of programs, regions of memory and CPUs."""

    def __init__(self):
        self.samples, self.criteria = [], []  # criteria: names, in the order of their first samples
        self.programs = {0: "kernel"}  # by pid
        self.threads = {}  # names by pid and tid
        self.regions = []  # pid, first byte, bytes, name
        self.code = []  # of files: pid, first byte, bytes, offset, build id, path
        self.chips = []  # by CPU

    def add(self, sample):
        if sample["criterion"] not in self.criteria:
            self.criteria.append(sample["criterion"])
        self.samples.append(sample)


def sample_of_line(w, chains):
    """SAMPLE ns cpu pid tid program criterion period mode pc function file; of an access also data
    region kind latency source walk physical flags; of a sample with a chain also chain=number."""
    s = {"time": int(w[1]), "cpu": int(w[2]), "pid": int(w[3]), "tid": int(w[4]),
         "criterion": w[6], "period": int(w[7]), "user": w[8] == "user", "pc": int(w[9], 16)}
    if w[-1].startswith("chain="):
        s["chain"] = chains.get(w.pop()[6:], [])
    if len(w) == 20:
        s["access"] = {"data": int(w[12], 16), "kind": w[14], "latency": int(w[15]),
                       "source": w[16], "walk": int(w[17]), "phys": int(w[18], 16),
                       "modified": "modified" in w[19], "atomic": "atomic" in w[19]}
    return s


def from_console(path):
    r, chains = Recording(), {}  # chains: of the present recording, by number
    with open(path, errors="replace") as lines:
        for line in lines:
            w = line.split()
            if not w:
                continue
            if w[0] == "SAMPLE" and len(w) in (12, 13, 20):
                r.programs.setdefault(int(w[3]), w[5])
                r.add(sample_of_line(w, chains))
            elif w[0] == "CHAIN":
                chains[w[1]] = [int(address, 16) for address in w[2:]]
            elif w[0] == "REGION" and len(w) == 5:
                r.regions.append((int(w[1]), int(w[2], 16), int(w[3], 16), w[4]))
            elif w[0] == "CODE" and len(w) >= 7:
                r.code.append((int(w[1]), int(w[2], 16), int(w[3], 16), int(w[4], 16),
                               bytes.fromhex(w[5].strip("-")),
                               line.split(None, 6)[6].rstrip("\n")))
            elif w[0] == "CHIPS":
                r.chips = [int(chip) for chip in w[1:]]
    return r


def sample_of_event(ns, cpu, f):
    s = {"time": ns, "cpu": cpu, "pid": f["pid"], "tid": f["tid"], "criterion": f["criterion"],
         "period": f["period"], "user": f["mode"] == "user", "pc": f["pc"]}
    if f["source"] != "none":
        s["access"] = {"data": f["data"], "kind": f["access"], "latency": f["latency"],
                       "source": f["source"], "walk": f["walk"], "phys": f["data_phys"],
                       "modified": f["modified"], "atomic": f["atomic"]}
    return s


def from_trace(folder):
    r = Recording()
    r.chips = [int(chip) for chip in
               trace_events.environment(folder).get("cpu_chips", "").split()]
    for ns, name, cpu, f in trace_events.Trace(folder):
        if name == "thread_start":
            r.threads[f["pid"], f["tid"]] = f["thread_name"]
        elif name == "process_start":
            r.programs[f["pid"]] = f["program"]
        elif name == "sample":
            r.add(sample_of_event(ns, cpu, f))
    return r


# ---- Code ----------------------------------------------------------------------------------------


def elf_code(path):
    """Returns e_machine and the segments of code of an ELF file: address, bytes, offset."""
    try:
        with open(path, "rb") as f:
            head = f.read(64)
            if len(head) < 64 or head[:5] != b"\x7fELF\x02":
                sys.exit(f"perf_data: argument={path} reason=value: no ELF file of 64 bits")
            at, size, count = (struct.unpack_from("<Q", head, 32)[0],
                               *struct.unpack_from("<HH", head, 54))
            f.seek(at)
            table = f.read(size * count)
    except OSError as e:
        sys.exit(f"perf_data: argument={path} reason=value: {e.strerror}")
    code = []
    for i in range(count):
        kind, flags, offset, address, _, bytes_, _, _ = struct.unpack_from(
            "<IIQQQQQQ", table, i * size)
        if kind == 1 and flags & 1:
            start = address & -PAGE
            code.append((start, -(-(address + bytes_) // PAGE) * PAGE - start, offset & -PAGE))
    return struct.unpack_from("<H", head, 18)[0], code


class Code:
    """Finds the ELF files of a recording, and the places in memory where they are."""

    def __init__(self, recording, kernel, folder):
        self.machine = None  # of the last file
        self.files = {}  # where files of Linux programs are, by what the machine calls them
        self.maps = []  # pid, misc, address, bytes, offset, file
        if kernel:
            for address, size, offset in self.look(kernel):
                self.maps.append((ANY_PROCESS, MISC_KERNEL, address, size, offset, kernel))
        ends = {}
        for pid, program in recording.programs.items():
            path = folder and os.path.join(folder, program)
            if pid and path and "/" not in program and os.path.isfile(path):
                for address, size, offset in self.look(path):
                    self.maps.append((pid, MISC_USER, address, size, offset, path))
                    ends[pid] = max(ends.get(pid, 0), address + size)
        if folder:
            self.add_vdso(recording, ends, os.path.join(folder, os.pardir, "vdso.so"))

    def look(self, path):
        self.machine, code = elf_code(path)
        return code

    def add_vdso(self, recording, ends, path):
        """All code of the vDSO lies in one page, which is mapped at the end of a program's
        memory."""
        if not os.path.isfile(path):
            return
        pages = {(s["pid"], s["pc"] & -PAGE) for s in recording.samples
                 if s["user"] and s["pid"] in ends and s["pc"] - ends[s["pid"]] > FAR}
        for pid, page in sorted(pages):
            self.maps.append((pid, MISC_USER, page, PAGE, 0, path))


def copy_files(paths, source, folder):
    """Copies files of a machine, a folder or an archive, below `folder`. Returns the paths of those
    that there are, by what the machine calls them."""
    found = {}
    if os.path.isdir(source):
        opened = {path: open(source + path, "rb") for path in paths
                  if os.path.isfile(source + path)}
    else:
        try:
            archive = tarfile.open(source)
        except (OSError, tarfile.TarError) as e:
            sys.exit(f"perf_data: argument={source} reason=value: {e}")
        members = {os.path.normpath("/" + m.name): m for m in archive if m.isfile()}
        opened = {path: archive.extractfile(members[path]) for path in paths if path in members}
    for path, file in opened.items():
        found[path] = os.path.abspath(folder + os.path.normpath(path))
        os.makedirs(os.path.dirname(found[path]), exist_ok=True)
        with file, open(found[path], "wb") as to:
            shutil.copyfileobj(file, to)
    return found


# ---- Writing -------------------------------------------------------------------------------------


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def comm(pid, tid, name):
    return record(RECORD_COMM, 0, struct.pack("<II", pid, tid) +
                  os.path.basename(name).encode()[:15] + b"\0")


def mmap2(pid, misc, address, size, offset, name, prot):
    return record(RECORD_MMAP2, misc,
                  struct.pack("<IIQQQIIQQII", pid, pid, address, size, offset, 0, 0, 0, 0, prot, 2)
                  + name.encode() + b"\0")


def mmap2_of_file(pid, address, size, offset, build_id, name):
    """As mmap2, of a program's code in a file that is known by its build id."""
    if not build_id:
        return mmap2(pid, MISC_USER, address, size, offset, name, 5)
    return record(RECORD_MMAP2, MISC_USER | MISC_BUILD_ID,
                  struct.pack("<IIQQQBBH20sII", pid, pid, address, size, offset, len(build_id), 0,
                              0, build_id, 5, 2) + name.encode() + b"\0")


def chain_of(addresses):
    """Returns the body's part of a chain. A word in front of its first address of each mode says
    which mode it is."""
    words, mode = [], None
    for address in addresses:
        context = CONTEXT_KERNEL if address >> 63 else CONTEXT_USER
        if context != mode:
            words.append(context)
            mode = context
        words.append(address)
    return struct.pack(f"<Q{len(words)}Q", len(words), *words)


def sample_record(s, number, chains):
    body = struct.pack("<QQIIQ", number + 1, s["pc"], s["pid"], s["tid"], s["time"])
    access = s.get("access")
    if access:
        body += struct.pack("<Q", access["data"])
    body += struct.pack("<IIQ", s["cpu"], 0, s["period"])
    if chains:
        body += chain_of(s.get("chain") or [s["pc"]])
    if access:
        body += struct.pack("<QQQ", access["latency"] + access["walk"], data_source(access),
                            access["phys"])
    return record(RECORD_SAMPLE, MISC_USER if s["user"] else MISC_KERNEL, body)


def data_of(r, code):
    """Returns the records: names and memory of processes, then the samples by time. Of a file that
    is not this host's kernel perf finds symbols as a module of a kernel, which is empty here. Offsets in anonymous memory are addresses:
    with equal ones perf takes two regions of a name for one."""
    out = [mmap2(ANY_PROCESS, MISC_KERNEL, -PAGE & 2**64 - 1, PAGE - 1, 0,
                 "[kernel.kallsyms]_text", 5)]
    out += [mmap2(pid, misc, address, size, offset, os.path.abspath(path), 5)
            for pid, misc, address, size, offset, path in code.maps]
    out += [mmap2_of_file(pid, address, size, offset, build_id, code.files.get(path, path))
            for pid, address, size, offset, build_id, path in r.code]
    out += [mmap2(pid, MISC_USER | MISC_DATA, start, size, start, f"[{name}]", 3)
            for pid, start, size, name in r.regions]
    for pid, tid in sorted({(s["pid"], s["tid"]) for s in r.samples}):
        if tid:
            out.append(comm(pid, tid, r.threads.get((pid, tid)) or r.programs.get(pid, "?")))
    numbers = {name: i for i, name in enumerate(r.criteria)}
    chained = criteria_with(r, "chain")
    out += [sample_record(s, numbers[s["criterion"]], s["criterion"] in chained)
            for s in sorted(r.samples, key=lambda s: s["time"])]
    return b"".join(out)


def criteria_with(r, what):
    return {s["criterion"] for s in r.samples if what in s}


def attr(number, access, chains):
    kind = (ACCESS if access else PLAIN) | (CALLCHAIN if chains else 0)
    head = struct.pack("<IIQQQQQ", TYPE_RAW, ATTR_BYTES, number, 1, kind, 0, ATTR_FLAGS)
    return head + bytes(ATTR_BYTES - len(head))


def text(name):
    room = -(-(len(name) + 1) // 64) * 64
    return struct.pack("<I", room) + name.encode().ljust(room, b"\0")


def cpu_list(chips, chip):
    return ",".join(str(cpu) for cpu, on in enumerate(chips) if on == chip)


def features_of(r, code, attrs):
    """Returns the sections behind the data, by number."""
    cpus = len(r.chips) or 1 + max((s["cpu"] for s in r.samples), default=0)
    chips = r.chips or [0] * cpus
    nodes = sorted(set(chips))
    descriptions = [a + struct.pack("<I", 1) + text(name) + struct.pack("<Q", i + 1)
                    for i, (a, name) in enumerate(zip(attrs, r.criteria))]
    return {
        FEATURE_ARCH: text(ARCHES.get(code.machine, "unknown")),
        FEATURE_NRCPUS: struct.pack("<II", cpus, cpus),
        FEATURE_EVENT_DESC: struct.pack("<II", len(attrs), ATTR_BYTES) + b"".join(descriptions),
        FEATURE_NUMA: struct.pack("<I", len(nodes)) + b"".join(
            struct.pack("<IQQ", node, 0, 0) + text(cpu_list(chips, node)) for node in nodes),
    }


def perf_data(r, code):
    """Returns the file: header, ids, attributes, data, and behind them the features' table."""
    accesses, chained = criteria_with(r, "access"), criteria_with(r, "chain")
    attrs = [attr(i, name in accesses, name in chained) for i, name in enumerate(r.criteria)]
    ids = b"".join(struct.pack("<Q", i + 1) for i in range(len(attrs)))
    table = b"".join(a + struct.pack("<QQ", HEADER_BYTES + 8 * i, 8) for i, a in enumerate(attrs))
    data = data_of(r, code)
    features = features_of(r, code, attrs)
    table_at = HEADER_BYTES + len(ids)
    data_at = table_at + len(table)
    bits = sum(1 << f for f in features)
    at = data_at + len(data) + 16 * len(features)
    sections = b""
    for _, feature in sorted(features.items()):
        sections += struct.pack("<QQ", at, len(feature))
        at += len(feature)
    return b"".join(
        [b"PERFILE2", struct.pack("<QQQQQQQQ", HEADER_BYTES, ATTR_BYTES + 16, table_at, len(table),
                                  data_at, len(data), 0, 0), bits.to_bytes(32, "little"),
         ids, table, data, sections] + [feature for _, feature in sorted(features.items())])


def main():
    if not 3 <= len(sys.argv) <= 6:
        sys.exit(__doc__.strip())
    source, out, kernel, folder, files = (sys.argv[1:] + [None, None, None])[:5]
    if os.path.isdir(source):
        r = from_trace(source)
    elif os.path.isfile(source):
        r = from_console(source)
    else:
        sys.exit(f"perf_data: argument={source} reason=value: neither a trace's folder nor a file")
    if not r.samples:
        sys.exit(f"perf_data: argument={source} reason=value: it has no samples (a console needs "
                 "hpmrec format=samples, a trace telemetry=samples)")
    code = Code(r, kernel, folder)
    if files:
        code.files = copy_files({path for *_, path in r.code}, files, out + ".files")
    data = perf_data(r, code)
    with open(out, "wb") as f:
        f.write(data)
    print(f"perf_data: samples={len(r.samples)} criteria={len(r.criteria)} bytes={len(data)}: "
          f"{out}")


main()
