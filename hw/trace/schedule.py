#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws which unit of the core is busy in which cycle of a command, from a trace of it.

    schedule.py TRACE.vcd TITLE OUT.svg"""

import itertools
import pathlib
import sys
from typing import NamedTuple

import vcd

CORE = "polykem_top.u_core."
# {enumerator: what the picture calls it}
NAMES = {
    "InD": "d", "InM": "m", "InU": "u", "InV": "v", "InS": "s", "InT": "t", "InRho": "rho", "InH": "H(ek)", "InZ": "z",
    "HashSeeds": "G(d)", "HashKey": "H(ek)", "HashReject": "J(z, c)", "HashShared": "G(m, h)", "HashNoise": "noise",
    "HashMatrix": "A", "ProductSecret": "s u", "ProductMatrix": "A y", "ProductKey": "t y", "TransformNtt": "NTT",
    "TransformIntt": "INTT", "OutS": "s", "OutT": "t", "OutRho": "rho", "OutH": "H(ek)", "OutZ": "z", "OutM": "m",
    "OutV": "v", "OutU": "u", "OutWaiting": "v", "OutK": "K",
}
COLOURS = ("#2f6f9f", "#c8782d", "#4f8f4f", "#8a5fa8", "#b4464b", "#7d6b4f", "#5aa6a6", "#a0892c", "#6a7fc1", "#888888")
WIDTH, LEFT, RIGHT, TOP, ROW, BAR = 1120, 170, 60, 66, 40, 18


class Row(NamedTuple):
    title: str
    busy: tuple  # groups of signals: the unit is busy in a cycle in which all signals of a group are set
    label: str = ""  # the signal that says what the unit does; its value is an enumerator
    source: str = ""  # the file below rtl/ that declares the enumerated type
    kind: str = ""  # the name of that type


def in_core(*names):
    return tuple((CORE + name,) for name in names)


ROWS = (
    Row("words in", (("polykem_top.s_axis_tvalid", "polykem_top.s_axis_tready"),), CORE + "u_input.section_q",
        "core/polykem_hw_pkg.sv", "in_section_e"),
    Row("hash: permutation", in_core("u_hash.busy"), CORE + "u_hash.cursor_q.section", "control/hash_unit.sv",
        "section_e"),
    Row("hash: buffer in or out",
        (*in_core("u_hash.fill_fire"), (CORE + "u_hash.draining", CORE + "u_hash.takes_word")),
        CORE + "u_hash.cursor_q.section", "control/hash_unit.sv", "section_e"),
    Row("hash: words of A", in_core("u_hash.matrix_push_o")),
    Row("products", in_core("u_products.may_run"), CORE + "u_products.cursor_q.kind", "control/product_unit.sv",
        "kind_e"),
    Row("into the NTT lane", in_core("u_transforms.runs"), CORE + "u_transforms.target.transform",
        "core/polykem_hw_pkg.sv", "transform_e"),
    Row("out of the NTT lane", in_core("u_transforms.leaving"), CORE + "u_transforms.target_out.transform",
        "core/polykem_hw_pkg.sv", "transform_e"),
    Row("output: polynomials", in_core("u_output.runs", "u_output.runs_words", "u_output.runs_waiting"),
        CORE + "u_output.section_q", "control/output_unit.sv", "section_e"),
    Row("words out", (("polykem_top.m_axis_tvalid", "polykem_top.m_axis_tready"),)),
    Row("clearing", in_core("zeroize")),
)
LEVEL = (CORE + "u_matrix.in_q", CORE + "u_matrix.out_q")
SPAN = (CORE + "start", CORE + "busy_o")
LEVEL_WORDS = 256
LEGEND = ("Dark: busy in this cycle. Pale: between two busy cycles of one job. At the right: share of all cycles. "
          "Each unit waits for nothing but what it needs.")


def signals():
    names = [*LEVEL, *SPAN]
    for row in ROWS:
        names += [*itertools.chain(*row.busy), *([row.label] if row.label else [])]
    return list(dict.fromkeys(names))


def values_during_command(values):
    """Returns the values from the cycle in which the command comes until the core is free."""
    start, busy = (values[name] for name in SPAN)
    first = start.index(1)
    last = next(i for i in range(first + 1, len(busy)) if not busy[i])
    return {name: all_of_it[first:last] for name, all_of_it in values.items()}


def busy_cycles(row, values):
    return [any(all(values[name][i] for name in group) for group in row.busy)
            for i in range(len(values[row.busy[0][0]]))]


def labels(row, values):
    """Returns what the unit does in every cycle, by the names of the picture."""
    if not row.label:
        return [""] * len(values[row.busy[0][0]])
    names = vcd.enumerators(row.source, row.kind)
    return [NAMES.get(names[value], names[value]) for value in values[row.label]]


def runs_of(busy, found):
    """Returns (label, first cycle, last cycle + 1) of each run of busy cycles with one label."""
    out = []
    for (is_busy, label), group in itertools.groupby(enumerate(zip(busy, found)), key=lambda item: item[1]):
        cycles = [i for i, _ in group]
        if is_busy:
            out.append((label, cycles[0], cycles[-1] + 1))
    return out


def spans_of(runs):
    """Joins neighbouring runs with one label: a job with its pauses. Returns (label, first cycle, last cycle + 1)."""
    return [(label, group[0][1], group[-1][2])
            for label, group in ((label, list(g)) for label, g in itertools.groupby(runs, key=lambda run: run[0]))]


def text(x, y, words, size=11, anchor="start", colour="#222", weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" '
            f'font-weight="{weight}">{words}</text>')


def bars(row, values, y, scale, colour_of):
    """Yields one row of the picture, pale from the first to the last cycle of a job and dark where the unit is busy."""
    busy, found = busy_cycles(row, values), labels(row, values)
    runs = runs_of(busy, found)
    names_end = 0
    for label, first, last in spans_of(runs):
        colour = colour_of(label)
        x, width = LEFT + first * scale, (last - first) * scale
        yield (f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{colour}" opacity=".25">'
               f'<title>{label or row.title}: cycles {first} to {last - 1}</title></rect>')
        at = max(x, names_end)
        if at == x or at + 5.2 * len(label) < x + width:
            yield text(at, y - 3, label, 9, colour=colour)
            names_end = at + 5.2 * len(label) + 3
    for label in dict.fromkeys(label for label, _, _ in runs):
        path = "".join(f"M{first} 0h{last - first}" for name, first, last in runs if name == label)
        yield (f'<path transform="translate({LEFT} {y + BAR / 2}) scale({scale:.5f} 1)" d="{path}" fill="none" '
               f'stroke="{colour_of(label)}" stroke-width="{BAR}"/>')
    yield text(WIDTH - RIGHT + 6, y + BAR - 4, f"{100 * sum(busy) / len(busy):.0f} %", 11, colour="#555")


def level(values, y, scale):
    """Yields the row of the picture that shows how many words of A wait in the FIFO."""
    waiting = [(came - left) % (2 * LEVEL_WORDS) for came, left in zip(values[LEVEL[0]], values[LEVEL[1]])]
    points = " ".join(f"{i},{BAR - BAR * waiting[i] / LEVEL_WORDS:.1f}" for i in range(0, len(waiting), 4))
    yield (f'<g transform="translate({LEFT} {y}) scale({scale:.5f} 1)"><path d="M0 0H{len(waiting)}" stroke="#bbb" '
           f'stroke-width=".5"/><polygon points="0,{BAR} {points} {len(waiting)},{BAR}" fill="#8a5fa8"/></g>')
    yield text(WIDTH - RIGHT + 6, y + BAR - 4, f"at most {max(waiting)}", 9, colour="#555")


def draw(values, title):
    cycles = len(values[SPAN[0]])
    scale = (WIDTH - LEFT - RIGHT) / cycles
    palette = {}

    def colour_of(label):
        return COLOURS[palette.setdefault(label, len(palette)) % len(COLOURS)]

    bottom = TOP + (len(ROWS) + 1) * ROW
    result = sum(values[CORE + "busy_o"]) - sum(values[CORE + "zeroize"])
    heading = f"{title}: {result:,} cycles to the result, {cycles - 1:,} to the next command"
    parts = [text(16, 24, heading, 16, weight="bold"), text(16, 42, LEGEND, 11, colour="#555")]
    for cycle in range(0, cycles, 200):
        x = LEFT + cycle * scale
        parts += [f'<path d="M{x:.1f} {TOP - 8}V{bottom - 12}" stroke="#ddd"/>',
                  text(x, bottom, f"{cycle:,}", 10, "middle", "#555")]
    y = TOP + 8
    for row in ROWS:
        parts += [text(LEFT - 10, y + BAR - 5, row.title, 12, "end"), *bars(row, values, y, scale, colour_of)]
        y += ROW
        if row.title == "hash: words of A":
            parts += [text(LEFT - 10, y + BAR - 5, f"A waiting, of {LEVEL_WORDS} words", 12, "end"),
                      *level(values, y, scale)]
            y += ROW
    height = bottom + 16
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
                      f'font-family="sans-serif"><title>{title}</title>',
                      f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    trace, title, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    values = values_during_command(vcd.read(trace, signals()))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(draw(values, title))


if __name__ == "__main__":
    main()
