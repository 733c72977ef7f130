#!/usr/bin/env python3
"""Checks that no folder of the kernel uses one above it, and draws them.

    tools/floors.py FLOORS NM=OBJECTS ... [svg=FILE] [calls=FILE] [check=FILE]

  FLOORS      the order of floors (docs/floors.txt)
  NM=OBJECTS  a file that names the objects of one instruction set, in a folder above them, and the
              nm that reads them
  svg=        draws the floors
  calls=      lists which folder uses which
  check=      compares that list with the one in FILE

Exit status 1: there are edges upwards, or the list in FILE is old; 2: an argument or FLOORS is bad.
"""
import collections
import html
import os
import re
import subprocess
import sys


def die(text):
    print(f"floors.py: {text}", file=sys.stderr)
    sys.exit(2)


class Floors:
    """Contents of FLOORS: rank of each folder, rows for drawing, entries, folders of made
    sources."""

    def __init__(self, path):
        self.rank, self.rows, self.entries, self.made, self.ground = {}, [], set(), {}, set()
        for number, line in enumerate(open(path, encoding="ascii"), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == "entries":
                self.entries |= set(words[1:])
            elif words[0] == "made" and len(words) == 3:
                self.made[words[1]] = words[2]
            elif words[0] == "made":
                die(f"{path}:{number}: expected 'made FOLDER ITS-FOLDER'")
            else:
                if words[0] == "ground":
                    words = words[1:]
                    self.ground |= set(words)
                for folder in words:
                    if folder in self.rank:
                        die(f"{path}:{number}: {folder} is on two floors")
                    self.rank[folder] = -len(self.rows)
                self.rows.append(words)

    def folder(self, source):
        folder = os.path.dirname(source)
        return self.made.get(folder, folder)

    def allowed(self, user, used):
        return self.rank[used] < self.rank[user] or {user, used} <= self.ground


def symbols(nm, objects_file):
    """Yields (source without suffix, symbol, whether it is defined there) for each object."""
    folder = os.path.dirname(objects_file)
    objects = open(objects_file, encoding="ascii").read().split()
    if not objects:
        die(f"{objects_file} names no objects")
    command = [nm, "-gA", "--format=posix", *sorted(objects)]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    for line in out.stdout.splitlines():
        path, name, kind = line.split()[:3]
        source = os.path.splitext(os.path.relpath(path.rstrip(":"), folder))[0]
        yield source, name, kind != "U"


def edges(floors, sets):
    """{(folder, folder): {"file: symbol", ...}}, of all instruction sets together."""
    found = collections.defaultdict(set)
    for nm, objects_file in sets:
        defined, used = {}, []
        for source, name, here in symbols(nm, objects_file):
            if not here:
                used.append((source, name))
            elif name not in defined:
                defined[name] = source
        for source, name in used:
            at = defined.get(name)
            if at is None or name in floors.entries:
                continue
            a, b = floors.folder(source), floors.folder(at)
            if a != b:
                found[a, b].add(f"{source}: {name}")
    return found


def includes(floors):
    """The same of headers that the sources of all these folders include."""
    found = collections.defaultdict(set)
    for folder in floors.rank:
        for name in sorted(os.listdir(folder)):
            if name.endswith((".c", ".h", ".S")):
                for line in open(os.path.join(folder, name), encoding="utf-8"):
                    match = re.match(r'\s*#\s*include\s+"([^"]+/[^"/]+)"', line)
                    header = match.group(1) if match else name
                    if match and floors.folder(header) != folder:
                        found[folder, floors.folder(header)].add(f"{folder}/{name}: {header}")
    return found


def inside(found):
    """Prints each include of an internal.h from outside of its folder and the folders in it.
    Returns their number."""
    bad = 0
    for (a, b), names in sorted(found.items()):
        for name in sorted(names):
            if name.endswith("/internal.h") and not a.startswith(b + "/"):
                bad += 1
                print(f"floors: {name}: is for the files of {b}", file=sys.stderr)
    return bad


def complain(floors, found):
    """Prints each edge that is not allowed. Returns their number."""
    bad = 0
    for (a, b), names in sorted(found.items()):
        for folder in (a, b):
            if folder not in floors.rank:
                print(f"floors: {folder} has no floor: name it in docs/floors.txt", file=sys.stderr)
                return 1
        if not floors.allowed(a, b):
            bad += 1
            by = "; ".join(sorted(names)[:4])
            print(f"floors: {a} uses {b}, which is not below it: {by}", file=sys.stderr)
    return bad


def calls_of(floors, found):
    lines = ["# Which folder uses which, on any instruction set; made by `make floors`."]
    for row in floors.rows:
        for folder in row:
            uses = sorted(b for a, b in found if a == folder)
            lines.append(f"{folder}: {' '.join(uses) if uses else '-'}")
    return "\n".join(lines) + "\n"


def reduced(floors, found):
    """The edges without those that others imply, the ground left out: what a picture can show."""
    below = collections.defaultdict(set)
    for a, b in found:
        if b not in floors.ground:
            below[a].add(b)
    reach = {}
    for folder in sorted(floors.rank, key=floors.rank.get):
        reach[folder] = set().union(*({b} | reach[b] for b in below[folder]))
    return [
        (a, b)
        for a in below
        for b in below[a]
        if not any(b in reach[c] for c in below[a] if c != b)
    ]


def draw(floors, found, path):
    wide, high, gap, step = 128, 26, 12, 58
    width = max(len(row) for row in floors.rows) * (wide + gap) + gap
    place, out = {}, []
    for r, row in enumerate(floors.rows):
        left = (width - len(row) * (wide + gap) + gap) / 2
        for i, folder in enumerate(row):
            place[folder] = (left + i * (wide + gap), gap + r * step)
    for a, b in sorted(reduced(floors, found)):
        x1, y1 = place[a][0] + wide / 2, place[a][1] + high
        x2, y2 = place[b][0] + wide / 2, place[b][1]
        bend = (y2 - y1) / 2
        curve = f"{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
        out.append(f'<path d="M{x1:.0f} {y1:.0f}C{curve}"/>')
    boxes = []
    for folder, (x, y) in place.items():
        fill = "#e4e4e4" if folder in floors.ground else "#dbe6f4"
        if "policy" in folder.split("/"):
            fill = "#dcecd8"
        boxes.append(
            f'<rect x="{x:.0f}" y="{y:.0f}" width="{wide}" height="{high}" rx="4" fill="{fill}"/>'
            f'<text x="{x + wide / 2:.0f}" y="{y + high / 2 + 4:.0f}">{html.escape(folder)}</text>'
        )
    height = len(floors.rows) * step
    with open(path, "w", encoding="ascii") as f:
        f.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">\n'
                '<style>path{fill:none;stroke:#999;stroke-width:1}rect{stroke:#666;stroke-width:.6}'
                'text{font:11px sans-serif;text-anchor:middle}</style>\n'
                f'<rect width="{width}" height="{height}" fill="white" stroke="none"/>\n'
                + "\n".join(out + boxes) + "\n</svg>\n")


def main(arguments):
    if not arguments:
        die("expected FLOORS NM=OBJECTS ...")
    options = {"svg": None, "calls": None, "check": None}
    sets = []
    for argument in arguments[1:]:
        name, equals, value = argument.partition("=")
        if not equals or not value:
            die(f"'{argument}': expected NM=OBJECTS, svg=FILE, calls=FILE or check=FILE")
        if name in options:
            options[name] = value
        else:
            sets.append((name, value))
    try:
        floors = Floors(arguments[0])
        found = edges(floors, sets)
        included = includes(floors)
        bad = complain(floors, found) + complain(floors, included) + inside(included)
        if bad:
            return 1
        if options["svg"]:
            draw(floors, found, options["svg"])
        text = calls_of(floors, found)
        if options["calls"]:
            with open(options["calls"], "w", encoding="ascii") as f:
                f.write(text)
        if options["check"] and open(options["check"], encoding="ascii").read() != text:
            print(
                f"floors: {options['check']} is not what the objects say: make floors",
                file=sys.stderr,
            )
            return 1
    except OSError as error:
        die(f"{error.filename}: {error.strerror}")
    except subprocess.CalledProcessError as error:
        die(f"{error.cmd[0]} failed")
    print(f"floors: {len({a for a, _ in found} | {b for _, b in found})} folders on "
          f"{len(floors.rows)} floors, "
          f"{len(found)} uses, none upwards")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
