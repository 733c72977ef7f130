#!/usr/bin/env python3
"""Converts a trace folder (tools/trace_split.py) to the JSON that ui.perfetto.dev and
chrome://tracing open.

  tools/trace_json.py FOLDER >trace.json

A row for each CPU shows the thread that ran, a row for each thread its CPU. For each CPU, process
and thread a counter shows where cycles went, in percent of the cycles since the counter before. The
scheduler's decisions are instants of the process. A cause or source with ~ in front is estimated:
it was counted in a part of those cycles only. One that was not counted at all since the counter
before keeps its value. Estimates that add up to more than the cycles are lowered to them, as
hpm/events/fit.h does; otherData has their number.
"""
import json
import signal
import sys

import trace_events

CPUS = 1 << 30  # stands for a pid: of the rows of CPUs
KERNEL = 0
STALLS = ["icache", "branch", "dcache", "tlb", "other", "frontend", "backend"]
SOURCES = ["local_l2", "local_l3", "remote_l2", "remote_l3", "local_memory", "remote_memory"]
FIGURES = ["stall_" + n for n in STALLS] + ["dcache_" + n for n in SOURCES]


def us(ns):
    return ns / 1000


class Converter:
    def __init__(self, environment):
        self.out = []
        self.chips = environment.get("cpu_chips", "").split()
        self.threads = {0: (KERNEL, "idle")}
        self.programs = {}
        self.running = {}  # cpu: tid, since
        self.counters = {}  # scope, number: fields
        self.values = {}  # log, figure, tid: fields
        self.value_names = {}  # log, figure: name
        self.estimated = set()  # figures that are not counted all the time
        self.shares = {}  # scope, number, figure: the latest, in percent
        self.intervals = self.fitted = 0
        self.memory_before = {}  # pid, or None of the tracker: time, fields
        self.last = 0

    def put(self, ph, name, pid, tid, ns, **more):
        self.out.append({"ph": ph, "name": name, "pid": pid, "tid": tid, "ts": us(ns), **more})

    def metadata(self, what, pid, tid, **args):
        self.out.append({"ph": "M", "name": what, "pid": pid, "tid": tid, "args": args})

    def name_cpu(self, cpu):
        chip = f" (chip {self.chips[cpu]})" if cpu < len(self.chips) else ""
        self.metadata("thread_name", CPUS, cpu, name=f"CPU {cpu}{chip}")
        self.metadata("thread_sort_index", CPUS, cpu, sort_index=cpu)

    def title(self, tid):
        return f"{self.threads.get(tid, (0, '?'))[1]} {tid}"

    def end_slice(self, cpu, ns, reason):
        tid, since = self.running.pop(cpu, (0, 0))
        if not tid:
            return
        pid = self.threads.get(tid, (KERNEL, ""))[0]
        args = {"tid": tid, "pid": pid, "left": reason}
        self.put("X", self.title(tid), CPUS, cpu, since, dur=us(ns - since), args=args)
        self.put(
            "X",
            f"CPU {cpu}",
            pid,
            tid,
            since,
            dur=us(ns - since),
            args={"cpu": cpu, "left": reason},
        )

    # ---- One function for each event that is shown ----

    def thread_start(self, ns, cpu, f):
        self.threads[f["tid"]] = (f["pid"], f["thread_name"])
        self.metadata("thread_name", f["pid"], f["tid"], name=self.title(f["tid"]))

    def process_start(self, ns, cpu, f):
        self.programs[f["pid"]] = f["program"]
        self.metadata("process_name", f["pid"], 0, name=f"{f['program']} {f['pid']}")

    def sched_switch(self, ns, cpu, f):
        if cpu in self.running and self.running[cpu][0] != f["prev_tid"]:
            del self.running[cpu]  # what happened in between was discarded
        self.end_slice(cpu, ns, f["reason"])
        self.running[cpu] = (f["next_tid"], ns)

    def sched_migrate(self, ns, cpu, f):
        pid = self.threads.get(f["tid"], (KERNEL, ""))[0]
        name = f"CPU {f['from_cpu']} to {f['to_cpu']}: {f['why']}"
        self.put("i", name, pid, f["tid"], ns, s="t", cat="migrate", args=f)

    def sharing_decision(self, ns, cpu, f):
        self.put("i", f"{f['phase']}: {f['reason']}", f["pid"], 0, ns, s="p", cat="sharing", args=f)

    def sharing_placed(self, ns, cpu, f):
        self.put(
            "i",
            f"cluster {f['cluster']}, chip {f['chip']}",
            f["pid"],
            f["tid"],
            ns,
            s="t",
            cat="sharing",
            args=f,
        )

    def sharing_watch(self, ns, cpu, f):
        self.put(
            "C",
            "waits for other chips, permille",
            f["pid"],
            0,
            ns,
            args={"remote": f["remote_permille"]},
        )

    # ---- Memory ----

    def since(self, key, ns, f, names):
        """Returns the growth of the named counts since the event before, a second; None at the
        first."""
        before = self.memory_before.get(key)
        self.memory_before[key] = ns, f
        if not before or ns <= before[0]:
            return None
        return {n: round((f[n] - before[1][n]) * 1e9 / (ns - before[0]), 1) for n in names}

    def memory(self, ns, cpu, f):
        pid = f["pid"]
        self.put(
            "C", "memory, pages", pid, 0, ns, args={n: f[n + "_pages"] for n in ["resident", "out"]}
        )
        self.put(
            "C",
            "pool, pages",
            pid,
            0,
            ns,
            args={n: f[n + "_pages"] for n in ["pool", "limit", "target"]},
        )
        names = [
            "first_faults",
            "minor_faults",
            "major_faults",
            "page_ins",
            "page_outs",
            "clean_outs",
            "prefetched",
            "prefetched_used",
            "wasted",
            "waited_us",
        ]
        rate = self.since(pid, ns, f, names)
        if not rate:
            return
        self.put(
            "C",
            "faults a second",
            pid,
            0,
            ns,
            args={n: rate[n + "_faults"] for n in ["first", "minor", "major"]},
        )
        self.put(
            "C",
            "pages moved a second",
            pid,
            0,
            ns,
            args={n: rate[n] for n in ["page_ins", "page_outs", "clean_outs"]},
        )
        self.put(
            "C",
            "prefetching, pages a second",
            pid,
            0,
            ns,
            args={n: rate[n] for n in ["prefetched", "prefetched_used", "wasted"]},
        )
        self.put(
            "C",
            "waiting for pages, threads",
            pid,
            0,
            ns,
            args={"waiting": round(rate["waited_us"] / 1e6, 3)},
        )

    def memory_policy(self, ns, cpu, f):
        where = "" if f["region"] == "-" else f["region"] + ": "
        self.put(
            "i", f"{where}replaced by {f['policy']}", f["pid"], 0, ns, s="p", cat="memory", args=f
        )

    def memory_prefetch(self, ns, cpu, f):
        self.put(
            "C", f"prefetching {f['policy']}, level", f["pid"], 0, ns, args={"level": f["level"]}
        )

    def memory_plan(self, ns, cpu, f):
        self.put(
            "i",
            f"{f['goal']}: {f['planned_pages']} pages planned",
            f["pid"],
            0,
            ns,
            s="p",
            cat="memory",
            args=f,
        )

    def memory_curve(self, ns, cpu, f):
        again = f["accesses"] - f["first_uses"]
        for policy in ["lru", "mru"][: 1 + f["has_mru"]]:
            self.put(
                "C",
                f"curve: {policy} would miss, % of accesses",
                f["pid"],
                0,
                ns,
                args={f"{i}/16": percent(f[f"{policy}_{i}"], again) for i in [4, 8, 12]},
            )
        self.put("i", f"curve of epoch {f['epoch']}", f["pid"], 0, ns, s="p", cat="memory", args=f)

    def tracker(self, ns, cpu, f):
        before = self.memory_before.get(None)
        rate = self.since(None, ns, f, ["records", "lost", "cost_us", "ran_us"])
        if not rate:
            return
        self.put(
            "C",
            "page tracker, records a second",
            KERNEL,
            0,
            ns,
            args={n: rate[n] for n in ["records", "lost"]},
        )
        ran = f["ran_us"] - before[1]["ran_us"]
        cost = f["cost_us"] - before[1]["cost_us"]
        if ran:
            self.put(
                "C",
                "page tracker, permille of what it watches",
                KERNEL,
                0,
                ns,
                args={"cost": round(1000 * cost / ran, 2)},
            )

    def tracker_watch(self, ns, cpu, f):
        what = "watches" if f["watched"] == "yes" else "watches no more"
        self.put(
            "i", f"tracker {f['tracker']} {what}", f["pid"], 0, ns, s="p", cat="memory", args=f
        )

    def tracker_sample(self, ns, cpu, f):
        self.put(
            "C", "page tracker, one page logged of", KERNEL, 0, ns, args={"pages": f["one_page_of"]}
        )

    def frequency(self, ns, cpu, f):
        self.put("C", f"CPU {cpu}: frequency, MHz", CPUS, 0, ns, args={"MHz": f["khz"] / 1000})

    def mark(self, ns, cpu, f):
        pid = self.threads.get(f["tid"], (KERNEL, ""))[0]
        self.put("i", f["label"], pid, f["tid"], ns, s="g", cat="mark", args=f)

    def value_name(self, ns, cpu, f):
        self.value_names[f["log"], f["figure"]] = f["value_name"]
        if not f["figure"]:  # the number's next log
            self.values = {k: v for k, v in self.values.items() if k[0] != f["log"]}

    def value(self, ns, cpu, f):
        key = f["log"], f["figure"], f["tid"]
        before = self.values.get(key)
        # A record that another CPU wrote, of a moment before.
        if before and f["length"] < before["length"]:
            return
        self.values[key] = f
        seen = f["seen"] - (before["seen"] if before else 0)
        counted = f["counted"] - (before["counted"] if before else 0)
        if not seen:
            return
        pid = self.threads.get(f["tid"], (KERNEL, ""))[0]
        name = self.value_names.get(key[:2], f"figure {f['figure']}")
        self.put(
            "C",
            f"{self.title(f['tid'])} {name}, per 1,000 cycles",
            pid,
            0,
            ns,
            args={name: round(1000 * counted / seen, 3)},
        )

    # ---- Where cycles went ----

    def share(self, f, before, key, figure, cycles):
        """Returns percent of the cycles since the counter before, by the count while it was seen.
        """
        seen, counted = (f[n] - before[n] for n in (figure + "_seen", figure))
        if not cycles:
            return 0
        if seen > 0:
            self.shares[key, figure] = min(max(100 * counted / seen, 0), 100)
        return self.shares.get((key, figure), 0)

    def fit(self, key, stalls, sources):
        """Limits the causes together to all cycles, and the sources to the stalls for data."""
        exact = sum(v for n, v in sources.items() if "dcache_" + n not in self.estimated)
        self.intervals += 1
        changed = "dcache" in stalls and stalls["dcache"] < exact
        if changed:
            stalls["dcache"] = exact
        for prefix, shares, floors, whole in (
            ("stall_", stalls, {"dcache": exact}, 100),
            ("dcache_", sources, {}, None),
        ):
            whole = stalls.get("dcache", 100) if whole is None else whole
            floor = {
                n: v if prefix + n not in self.estimated else floors.get(n, 0)
                for n, v in shares.items()
            }
            over, room = sum(shares.values()) - whole, sum(shares.values()) - sum(floor.values())
            if over > 0 and room > 0:
                changed |= over > 0.01
                for n in shares:
                    shares[n] -= min(over / room, 1) * (shares[n] - floor[n])
        self.fitted += changed
        return stalls, sources

    def marked(self, prefix, shares):
        return {
            ("~" if prefix + n in self.estimated else "") + n: min(max(round(v, 2), 0), 100)
            for n, v in shares.items()
        }

    def counters_of(self, ns, f, pid, prefix):
        key = f["scope"], f["number"]
        before = self.counters.get(key)
        self.counters[key] = f
        if not before:
            return

        def since(name):
            return max(f[name] - before[name], 0)

        cycles = since("cycles")
        if f["scope"] == "cpu":
            everything = cycles + since("idle_cycles")
            self.put(
                "C", prefix + "busy, %", pid, 0, ns, args={"busy": percent(cycles, everything)}
            )
        stalls, sources = self.fit(
            key,
            *(
                {n: self.share(f, before, key, p + n, cycles) for n in names if f[p + n + "_seen"]}
                for p, names in (("stall_", STALLS), ("dcache_", SOURCES))
            ),
        )
        self.put(
            "C", prefix + "stalls, % of cycles", pid, 0, ns, args=self.marked("stall_", stalls)
        )
        self.put(
            "C",
            prefix + "data stalls by source, % of cycles",
            pid,
            0,
            ns,
            args=self.marked("dcache_", sources),
        )
        self.put(
            "C",
            prefix + "instructions per cycle",
            pid,
            0,
            ns,
            args={"ipc": round(since("instructions") / cycles, 3) if cycles else 0},
        )

    def counters_event(self, ns, cpu, f):
        if f["scope"] == "cpu":
            self.counters_of(ns, f, CPUS, f"CPU {f['number']} ")
        elif f["scope"] == "thread":
            pid = self.threads.get(f["number"], (KERNEL, ""))[0]
            self.counters_of(ns, f, pid, self.title(f["number"]) + " ")
        else:
            self.counters_of(ns, f, f["number"], "")

    def convert(self, trace):
        handlers = {
            name: getattr(self, name)
            for name in [
                "thread_start",
                "process_start",
                "sched_switch",
                "sched_migrate",
                "sharing_decision",
                "sharing_placed",
                "sharing_watch",
                "frequency",
                "mark",
                "memory",
                "memory_policy",
                "memory_prefetch",
                "memory_plan",
                "memory_curve",
                "tracker",
                "tracker_watch",
                "tracker_sample",
                "value",
                "value_name",
            ]
        }
        handlers["counters"] = self.counters_event
        cpus = set(range(len(self.chips)))
        self.metadata("process_name", CPUS, 0, name="CPUs")
        self.metadata("process_sort_index", CPUS, 0, sort_index=-1)
        self.metadata("process_name", KERNEL, 0, name="kernel")
        trace = list(trace)
        for _, name, _, f in trace:
            if name == "counters":
                self.estimated |= {n for n in FIGURES if 0 < f[n + "_seen"] < f["cycles"]}
        for ns, name, cpu, fields in trace:
            self.last = ns
            cpus.add(cpu)
            if name in handlers:
                handlers[name](ns, cpu, fields)
        for cpu in list(self.running):
            self.end_slice(cpu, self.last, "end of the trace")
        for cpu in sorted(cpus):
            self.name_cpu(cpu)


def percent(part, whole):
    return round(100 * part / whole, 2) if whole else 0


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the reader may stop early
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    trace = trace_events.Trace(sys.argv[1])
    converter = Converter(trace_events.environment(sys.argv[1]))
    converter.convert(trace)
    json.dump(
        {
            "traceEvents": converter.out,
            "displayTimeUnit": "ns",
            "otherData": {
                "events_discarded": trace.discarded,
                "counters": converter.intervals,
                "counters_fitted": converter.fitted,
            },
        },
        sys.stdout,
    )
    print()


main()
