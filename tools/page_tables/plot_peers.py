# SPDX-License-Identifier: Apache-2.0
"""Draws README.md's plot of batches of polykem against peers that work one operation at a time, as SVG. tools/tables.py
writes it to bench/results/cpu_peers.svg."""

WIDTH, LEFT, RIGHT, TOP, BAR, GAP = 760, 170, 60, 62, 13, 14
COLOURS = {"keygen": "#7aa6c2", "encaps": "#2f6f9f", "decaps": "#16405b"}
TITLE = "Operations per second on one core, as a multiple of the peer's"
SUBTITLE = "Xeon, AVX-512 and AMX, batches with a key per item; peer: the fastest of eight, see docs/performance.md"


def text(x, y, words, size=12, anchor="start", colour="#222", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>')


def legend():
    x = LEFT
    for op, colour in COLOURS.items():
        yield f'<rect x="{x}" y="44" width="11" height="11" fill="{colour}"/>'
        yield text(x + 16, 54, op, 11)
        x += 75


def plot(rows):
    """Returns the plot. rows: (name of the set, {operation: ratio to the peer})."""
    ratios = [ratio for _, found in rows for ratio in found.values()]
    scale = (WIDTH - LEFT - RIGHT) / max(ratios)
    bottom = TOP + len(rows) * (3 * BAR + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 24}" role="img" '
             f'font-family="sans-serif"><title>{TITLE}</title>',
             f'<rect width="{WIDTH}" height="{bottom + 24}" fill="#fff"/>',
             text(16, 20, TITLE, 15, weight="bold"), text(16, 36, SUBTITLE, 11, colour="#555"), *legend()]
    y = TOP + GAP / 2
    for name, found in rows:
        parts.append(text(LEFT - 10, y + 1.5 * BAR + 4, name, anchor="end"))
        for op, ratio in found.items():
            parts.append(f'<rect x="{LEFT}" y="{y:.1f}" width="{ratio * scale:.1f}" height="{BAR - 2}" '
                         f'fill="{COLOURS[op]}"/>')
            parts.append(text(LEFT + ratio * scale + 4, y + BAR - 4, f"{ratio:.1f}x", 10))
            y += BAR
        y += GAP
    one = LEFT + scale
    parts += [f'<line x1="{one:.1f}" x2="{one:.1f}" y1="{TOP}" y2="{bottom}" stroke="#c0392b" stroke-dasharray="4 3"/>',
              text(one, bottom + 15, "the peer = 1", 11, "middle", "#c0392b")]
    return "\n".join(parts + ["</svg>"]) + "\n"
