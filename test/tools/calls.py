#!/usr/bin/env python3
"""Compares the chains of calls that hpmrec found with those that there were.

    calls.py CONSOLE CALLS [OUTERMOST]

CONSOLE has one recording with chains= and format=samples, CALLS is the simulated machine's ground
truth of calls (test/machine/calls.c). Samples of user mode are compared, but those in the vDSO, of
which only the first address is known. A sample belongs to the entry to the kernel that it was taken
at: the same CPU, thread and address, at its time. The two clocks were not started together; their
distance is one at which most samples have an entry. OUTERMOST calls need not be in a chain.

Prints the number of samples, and of 100:

    joined    belong to an entry
    equal     of these, have its chain, whole
    lacking   of these, have it but for the caller of the function that runs

and on standard error others, the most frequent first.
"""
import bisect
import collections
import statistics
import sys

CHAIN_MAX = 127  # hpm/policy/chain.h
NEAR = 2000  # cycles by which the way from an entry to its sample differs, at most
VDSO = 0x7fffffbf0000  # code above it (kernel/arch/arch.h, SHOWN_VDSO)


def samples_of(name):
    """Returns the samples of user mode: their time, key, function and chain."""
    chains, found = {}, []
    with open(name, encoding="utf-8", errors="replace") as file:
        for words in map(str.split, file):
            if words[:1] == ["CHAIN"]:
                chains[words[1]] = words[2:]
            if words[:1] == ["SAMPLE"] and words[8] == "user" and int(words[9], 16) < VDSO:
                _, time, cpu, _, thread, _, _, _, _, pc, function, *_ = words
                chain = chains.get(words[-1].removeprefix("chain="), [pc])
                found.append((int(time), (cpu, thread, pc), function, chain))
    return found


def entries_of(name):
    """Returns times and chains of entries by key, in the order of time."""
    found = collections.defaultdict(list)
    with open(name, encoding="ascii") as file:
        for cpu, time, thread, *chain in map(str.split, file):
            found[cpu, thread, chain[0]].append((int(time), chain[:CHAIN_MAX]))
    return found


def spread_of(values):
    """Returns the median distance from their median, and that."""
    middle = statistics.median(values)
    return statistics.median(abs(v - middle) for v in values), middle


def distance_of(samples, entries):
    """Returns what to add to the time of a sample to have that of an entry. Samples come at almost
    equal distances, so the entries before and behind fit nearly as well: of distances that fit
    almost as often as the best, the one from which they differ least is right."""
    near = collections.defaultdict(list)
    for sample in samples[:: len(samples) // 200 + 1]:
        for entry in entries[sample[1]]:
            near[(entry[0] - sample[0]) // NEAR].append(entry[0] - sample[0])
    fits = [near[at] + near.get(at + 1, []) for at in list(near)]
    most = max(map(len, fits), default=0)
    best = [spread_of(fit) for fit in fits if len(fit) > most * 0.95]
    return min(best, default=(0, 0))[1]


samples = samples_of(sys.argv[1])
entries = entries_of(sys.argv[2])
distance = distance_of(samples, entries)
by_cpu = collections.defaultdict(lambda: ([], []))  # times, and keys and chains
for key, of_key in entries.items():
    for time, chain in of_key:
        by_cpu[key[0]][1].append((time, key, chain))
for cpu, (times, at_cpu) in by_cpu.items():
    at_cpu.sort()
    times += [e[0] for e in at_cpu]
joined = equal = lacking = 0
outermost = int(sys.argv[3]) if len(sys.argv) > 3 else 0
differ = collections.Counter()
for time, key, function, chain in samples:
    times, at_cpu = by_cpu[key[0]]
    at = bisect.bisect(times, time + distance + NEAR)
    # Another interrupt may have come soon after.
    near = [e for e in at_cpu[max(at - 4, 0):at] if e[1] == key]
    if not near:
        differ[f"no entry: {time + distance} {' '.join(key)} {function}"] += 1
        continue
    joined += 1
    true = min(near, key=lambda e: abs(e[0] - time - distance))[2]
    true = true[:len(true) - outermost]
    if chain == true:
        equal += 1
    elif chain == true[:1] + true[2:]:
        lacking += 1
    else:
        differ[f"{function}: {' '.join(chain)} was {' '.join(true)}"] += 1
for what, count in differ.most_common(20):
    print(count, what, file=sys.stderr)
print(f"samples={len(samples)} joined={joined * 100 / max(len(samples), 1):.2f}",
      f"equal={equal * 100 / max(joined, 1):.2f} lacking={lacking * 100 / max(joined, 1):.2f}")
