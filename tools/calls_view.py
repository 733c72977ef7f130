"""Draws phases over time (tools/calls.py): a row for each function, its calls as boxes whose height
is their CPI. Pure."""
from xml.sax.saxutils import escape

WIDE, HIGH, LEFT, TOP = 900, 46, 210, 30
BOXES_MOST = 3000  # of a row; others are left out
ROWS_MOST = 14
COLOURS = ("#27c", "#c60", "#2a7", "#b3b", "#c22", "#08a", "#870", "#555")


def svg(phases, names, outside):
    """Returns the picture; phases are those of tools/calls.py."""
    rows = [p for p in phases if p.function != outside and p.frames][:ROWS_MOST]
    begins = [f.start for p in phases for f in p.frames]
    first = min(begins, default=0)
    last = max((f.start + f.inclusive for p in phases for f in p.frames), default=1)
    span = max(last - first, 1)
    most = max((p.cpi for p in rows), default=1) * 1.5 or 1
    size = LEFT + WIDE + 60, TOP + len(rows) * (HIGH + 10) + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
           'font-family="sans-serif" font-size="11">',
           f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>',
           f'<text x="{LEFT}" y="16" fill="#555">height: cycles an instruction (CPI), up to '
           f'{most:.2f}; width: with what the function calls</text>']
    for k, p in enumerate(rows):
        y, colour = TOP + k * (HIGH + 10), COLOURS[k % len(COLOURS)]
        out.append(f'<text x="{LEFT - 8}" y="{y + HIGH / 2:.0f}" text-anchor="end">'
                   f'{escape(names.of(p.function)[:30])}</text>')
        out.append(f'<text x="{LEFT + WIDE + 6}" y="{y + HIGH / 2:.0f}" fill="#555">'
                   f'{p.cpi:.2f}</text>')
        out.append(f'<line x1="{LEFT}" y1="{y + HIGH}" x2="{LEFT + WIDE}" y2="{y + HIGH}" '
                   'stroke="#ccc"/>')
        step = max(1, len(p.frames) // BOXES_MOST)
        for f, cpi in list(zip(p.frames, p.values if len(p.values) == len(p.frames) else
                               [p.cpi] * len(p.frames)))[::step]:
            x = LEFT + WIDE * (f.start - first) / span
            high = HIGH * min(cpi / most, 1)
            out.append(f'<rect x="{x:.2f}" y="{y + HIGH - high:.1f}" '
                       f'width="{max(WIDE * f.inclusive / span, 0.3):.2f}" height="{high:.1f}" '
                       f'fill="{colour}" fill-opacity="0.55"/>')
    out.append(f'<text x="{LEFT}" y="{size[1] - 10}" fill="#555">0</text>')
    out.append(f'<text x="{LEFT + WIDE}" y="{size[1] - 10}" text-anchor="end" fill="#555">'
               f'{span:,.0f} cycles of a thread</text>')
    return "\n".join([*out, "</svg>", ""])
