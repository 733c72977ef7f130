"""Draws the iterations of boots (tools/iterations.py): a row for each boot, a panel for each
signal. Pure."""
from xml.sax.saxutils import escape

WIDE, HIGH, LEFT, GAP, TOP = 460, 74, 70, 26, 30
COLOURS = {"flat": "#2a7", "warm-up": "#27c", "slowdown": "#c60", "unsteady": "#c22"}


def bounds(values):
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or abs(high) * 0.01 or 1.0
    return low - room, high + room


def figure(value):
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def panel(x, y, name, unit, s):
    """Returns the parts of one series' panel at x, y."""
    low, high = bounds(s.values)
    n = len(s.values)

    def at_x(i):
        return x + WIDE * i / max(n, 1)

    def at_y(v):
        return y + HIGH - HIGH * (v - low) / (high - low)

    colour = COLOURS[s.verdict]
    out = [f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" fill="#fafafa" stroke="#ccc"/>']
    # One dot for all iterations that fall on the same pixel.
    dots = {(round(at_x(i + 0.5)), round(at_y(s.values[i]))) for i in range(n)
            if i not in s.outliers}
    out.append('<path stroke="#888" stroke-width="2" stroke-linecap="round" d="' +
               "".join(f"M{a} {b}h0" for a, b in sorted(dots)) + '"/>')
    for i in sorted(s.outliers):
        out.append(f'<circle cx="{at_x(i + 0.5):.1f}" cy="{at_y(s.values[i]):.1f}" r="2" '
                   'fill="none" stroke="#b3b"/>')
    for k, part in enumerate(s.segments):
        a, b, level = at_x(part.first), at_x(part.end), at_y(part.mean)
        out.append(f'<line x1="{a:.1f}" y1="{level:.1f}" x2="{b:.1f}" y2="{level:.1f}" '
                   f'stroke="{colour}" stroke-width="2"/>')
        if k:
            out.append(f'<line x1="{a:.1f}" y1="{y}" x2="{a:.1f}" y2="{y + HIGH}" '
                       f'stroke="{colour}" stroke-dasharray="3 3"/>')
    for v, where in ((max(s.values), y + 9), (min(s.values), y + HIGH)):
        out.append(f'<text x="{x - 4}" y="{where}" text-anchor="end" fill="#555">'
                   f'{escape(figure(v))}</text>')
    said = f"{name}{f', {unit}' if unit else ''}: {s.verdict}"
    if s.begin:
        said += f" from {s.begin + 1}"
    out.append(f'<text x="{x + 3}" y="{y - 4}" fill="{colour}">{escape(said)}</text>')
    out.append(f'<text x="{x + WIDE}" y="{y + HIGH + 11}" text-anchor="end" fill="#999">{n}</text>')
    return out


def svg(boots):
    """Returns a picture of boots: (seed, [(signal, unit, series)])."""
    columns = max(len(rows) for _, rows in boots)
    size = LEFT + 40 + columns * (WIDE + LEFT), TOP + len(boots) * (HIGH + GAP) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
           'font-family="sans-serif" font-size="10">',
           f'<rect width="{size[0]}" height="{size[1]}" fill="white"/>']
    for k, (seed, rows) in enumerate(boots):
        y = TOP + k * (HIGH + GAP)
        out.append(f'<text x="4" y="{y + HIGH / 2}">{escape(f"seed {seed}")}</text>')
        for column, (name, unit, s) in enumerate(rows):
            out += panel(LEFT + 40 + column * (WIDE + LEFT), y, name, unit, s)
    return "\n".join([*out, "</svg>", ""])
