#!/usr/bin/env python3
"""Draws chains of calls as a flame graph, in SVG.

  tools/flame.py CONSOLE [CRITERION] >flame.svg
  tools/flame.py --folded CONSOLE [CRITERION] >stacks.txt

CONSOLE is a console's text with the lines of `hpmrec chains=table format=folded`; CRITERION one of
those it was recorded by, the first if none is given. --folded prints lines "outermost;...;innermost
count" in place of a drawing, for other tools.

A box is a function, above the one that called it; its width is what the samples in it, and in what
it called, stand for. Pointing at it shows the name, the number and the share. Boxes narrower than
half a pixel are left out, not what they stand for.
"""
import html
import sys
import zlib

WIDTH, ROW, FONT, CHARACTER, NARROWEST, TOP = 1200, 17, 12, 7.2, 0.5, 40


class Box:
    """What a function stands for where it was called in this way."""

    def __init__(self, name):
        self.name, self.count, self.called = name, 0, {}


def read(path, wanted):
    """Returns the criterion and its stacks: names separated by semicolons, and numbers."""
    stacks, criterion = {}, wanted
    with open(path, errors="replace") as lines:
        for line in lines:
            w = line.split()
            if len(w) != 4 or w[0] != "FOLDED":
                continue
            criterion = criterion or w[1]
            if w[1] == criterion:
                stacks[w[2]] = stacks.get(w[2], 0) + int(w[3])
    if not stacks:
        sys.exit(f"flame: argument={path} reason=value: it has no chains"
                 f"{' of ' + wanted if wanted else ''} (hpmrec chains=table format=folded)")
    return criterion, stacks


def tree_of(stacks):
    root = Box("all")
    for names, count in stacks.items():
        box = root
        box.count += count
        for name in names.split(";"):
            box = box.called.setdefault(name, Box(name))
            box.count += count
    return root


def depth_of(box, scale):
    """Returns the rows that the box takes, as far as they are wide enough to be seen."""
    if box.count * scale < NARROWEST:
        return 0
    return 1 + max((depth_of(c, scale) for c in box.called.values()), default=0)


def colour(name):
    """A warm colour for the program's functions, a cold one for the kernel's; the same each
    time."""
    h = zlib.crc32(name.encode())
    if name.endswith("_[k]"):
        return f"rgb({90 + h % 50},{150 + h // 50 % 50},{200 + h // 2500 % 50})"
    return f"rgb({205 + h % 50},{80 + h // 50 % 120},{h // 6000 % 60})"


def draw(box, x, level, scale, floor, out):
    width = box.count * scale
    if width < NARROWEST:
        return
    y = floor - ROW * (level + 1)
    label = html.escape(f"{box.name}: {box.count:,} ({box.count * scale * 100 / WIDTH:.2f} %)")
    out.append(f'<g><title>{label}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
               f'height="{ROW - 1}" fill="{colour(box.name)}" rx="1"/>')
    room = int((width - 6) / CHARACTER)
    if room >= 3:
        name = box.name if len(box.name) <= room else box.name[:room - 2] + ".."
        out.append(f'<text x="{x + 3:.1f}" y="{y + 12}">{html.escape(name)}</text>')
    out.append("</g>")
    for called in sorted(box.called.values(), key=lambda b: b.name):
        draw(called, x, level + 1, scale, floor, out)
        x += called.count * scale


def svg(criterion, stacks):
    root = tree_of(stacks)
    scale = WIDTH / root.count
    floor = TOP + ROW * depth_of(root, scale) + ROW // 2
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{floor + ROW}" '
           f'viewBox="0 0 {WIDTH} {floor + ROW}" font-family="monospace" font-size="{FONT}">',
           f'<rect width="{WIDTH}" height="{floor + ROW}" fill="#fffdf5"/>',
           f'<text x="{WIDTH / 2}" y="24" font-size="16" text-anchor="middle">'
           f"{html.escape(criterion)}: {root.count:,}</text>"]
    draw(root, 0, 0, scale, floor, out)
    return "\n".join(out + ["</svg>"])


def main():
    folded = "--folded" in sys.argv[1:]
    words = [w for w in sys.argv[1:] if w != "--folded"]
    if not 1 <= len(words) <= 2:
        sys.exit(__doc__.strip())
    try:
        criterion, stacks = read(words[0], words[1] if len(words) > 1 else None)
    except OSError as e:
        sys.exit(f"flame: argument={words[0]} reason=value: {e.strerror}")
    if folded:
        print("\n".join(f"{names} {count}" for names, count in sorted(stacks.items())))
    else:
        print(svg(criterion, stacks))


main()
