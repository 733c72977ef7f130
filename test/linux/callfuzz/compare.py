#!/usr/bin/env python3
"""Compares what `callfuzz twins` printed under Linux and under Vigil, line by line.

    compare.py LINUX VIGIL EXCEPTIONS

EXCEPTIONS has lines "CALL LINUX VIGIL: reason", patterns of a call's name and of its results. What
follows in a round is not compared once only one kernel has done something. Ends with 1 if there
are other differences, or an output is not whole.
"""
import fnmatch
import re
import sys

LINE = re.compile(r"(\d+)\.(\d+) (\w+)(\(.*\)) = (\S+)(.*)")


def read(path):
    lines, whole = {}, False
    with open(path, errors="replace") as f:
        for text in f:
            m = LINE.match(text.rstrip())
            if m:
                lines[int(m[1]), int(m[2])] = m[3], m[4], m[5], m[6]
            whole = whole or text.rstrip() == "end"
    return lines, whole


def exceptions(path):
    rules = []
    with open(path) as f:
        for text in f:
            words = text.partition(":")[0].split()
            if len(words) == 3 and not text.startswith("#"):
                rules.append(words)
    return rules


def excepted(rules, ours, theirs):
    wanted = ours[0], ours[2] + ours[3].replace(" ", "_"), theirs[2] + theirs[3].replace(" ", "_")
    for i, rule in enumerate(rules):
        if all(fnmatch.fnmatchcase(w, p) or fnmatch.fnmatchcase(w.partition("_")[0], p)
               for w, p in zip(wanted, rule)):
            return i
    return None


def done(line):
    return not line[2].startswith("E")


def main(linux_path, vigil_path, exceptions_path):
    linux, linux_whole = read(linux_path)
    vigil, vigil_whole = read(vigil_path)
    rules = exceptions(exceptions_path)
    compared = equal = 0
    other, left, used = [], set(), set()
    for at, theirs in sorted(linux.items()):
        ours = vigil.get(at)
        if not ours or at[0] in left:
            continue
        compared += 1
        equal += ours == theirs
        if ours == theirs:
            continue
        rule = excepted(rules, theirs, ours)
        used.add(rule)
        if rule is None:
            other.append((at, theirs, ours))
        if done(theirs) or done(ours):
            left.add(at[0])
    for at, theirs, ours in other:
        print(f"# {at[0]}.{at[1]} {theirs[0]}{theirs[1]}: linux={theirs[2]}{theirs[3]} "
              f"vigil={ours[2]}{ours[3]}")
    print(f"twins: compared={compared} equal={equal} excepted={compared - equal - len(other)} "
          f"other={len(other)} rounds_left={len(left)}")
    if not linux_whole or not vigil_whole:
        print("twins: an output is not whole")
    return 1 if other or not linux_whole or not vigil_whole or not compared else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
