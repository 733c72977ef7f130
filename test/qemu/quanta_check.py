#!/usr/bin/env python3
"""
Checks quanta of a trace's folder against the simulated machine's ground truth; prints TAP lines.

  test/qemu/quanta_check.py FOLDER TRUTH
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../tools"))
import quanta_model
import trace_events

number = 0


def check(ok, what, detail=""):
    global number
    number += 1
    print(f"{'ok' if ok else 'not ok'} {number} - {what}{'' if ok else ' # ' + str(detail)}")


def truth_of(path):
    """Returns {tag: {event: number}} of the last snapshot."""
    tags = {}
    with open(path) as f:
        for line in f:
            words = line.split()
            if words[0] == "mark":
                tags = {}
            elif words[0] == "tag" and words[1] != "other":
                tags[int(words[1])] = {k: int(v) for k, v in (w.split("=") for w in words[2:])}
    return tags


def main():
    recording = quanta_model.Recording(trace_events.Trace(sys.argv[1]))
    truth = truth_of(sys.argv[2])
    wrong = quanta_model.conservation(recording)
    check(recording.lives and not wrong, "each thread's quanta add up to its total", [(w[0].name, *w[1:]) for w in wrong[:3]])
    check(not quanta_model.overlaps(recording), "no two quanta of a CPU or a thread overlap", quanta_model.overlaps(recording)[:1])
    # The kernel's threads run on after the recording's end. A program's have ended before.
    ours = [life for life in recording.lives if life.pid]
    check(len(ours) > 64, "64 threads and more", len(ours))
    check(len({life.tid for life in ours}) == len(ours), "no number is used again", len(ours))
    check(recording.names == ["cycles", "instructions", "stall_icache", "stall_branch", "stall_dcache", "stall_tlb"],
          "cycles, instructions and four causes are counted", recording.names)
    exact = [n for n in recording.names if n != "cycles"]
    wrong = [(life.tid, n, quanta_model.sums(life.quanta, [n])[n], truth[life.tid][n])
             for life in ours for n in exact if quanta_model.sums(life.quanta, [n])[n] != truth[life.tid][n]]
    check(not wrong, "sums of instructions and of stalls equal the ground truth of each thread, to the last", wrong[:3])
    # Counters are read some cycles behind the tag that tells the truth who runs, at both ends of a
    # quantum; the difference of the two ends is what may remain.
    wrong = [(life.tid, quanta_model.sums(life.quanta, ["cycles"])["cycles"], truth[life.tid]["cycles"], len(life.quanta))
             for life in ours
             if abs(quanta_model.sums(life.quanta, ["cycles"])["cycles"] - truth[life.tid]["cycles"]) > 16 * len(life.quanta)]
    check(not wrong, "sums of cycles do, within 16 a switch", wrong[:3])
    check(all(q.woken != "thread" or q.waker for life in ours for q in life.quanta), "every waker is known",
          [q for life in ours for q in life.quanta if q.woken == "thread" and not q.waker][:1])
    left = {q.left for life in recording.lives for q in life.quanta}
    print("# left:", *sorted(left), "woken:", *sorted({q.woken for life in recording.lives for q in life.quanta}))


main()
