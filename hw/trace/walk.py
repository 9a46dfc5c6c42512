#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of doc/walk.md between its marks: what an encapsulation does in which cycle, from a trace of it.

    walk.py TRACE.vcd doc/walk.md"""

import pathlib
import re
import sys

import schedule
import vcd

CORE = "polykem_top.u_core."
HASH, LANE = CORE + "u_hash.", CORE + "u_transforms.u_lane."
BUTTERFLY = LANE + "gen_stage[0].u_stage.u_butterfly."
SECTION = HASH + "cursor_q.section"
Q = 3329
FIRST_FACTOR = pow(17, 64, Q)  # the factor of every pair in the first stage [FIPS203, algorithm 9]
LONGEST = 12  # cycles; a butterfly takes no more


def hashes(name):
    return next(value for value, found in vcd.enumerators("control/hash_unit.sv", "section_e").items() if found == name)


# (signal, value, what it means that the signal has this value for the first time); {NAME} is a value in that cycle
STATIONS = (
    ("polykem_top.start", 1, "CMD was written, ENCAPS: all five units begin their lists"),
    (CORE + "u_input.taken_o", 1, "the input unit takes the first word of m"),
    (CORE + "u_input.quad_valid", 1, "four coefficients of t are unpacked; in the same words the hash unit hashes ek"),
    (SECTION, hashes("HashShared"), "H(ek) is there: the sponge begins with K, r = G(m, H(ek))"),
    (SECTION, hashes("HashNoise"), "r is there: y, e1, e2 are sampled"),
    (CORE + "counts.noise", 1, "y[0] is sampled; the transform unit has waited for it"),
    (LANE + "start_i", 1, "its first pair enters the NTT lane: a = {a_i}, b = {b_i}, which meet the factor "
                          f"{FIRST_FACTOR} in the first butterfly"),
    (BUTTERFLY + "a_o", "late", "and leave it as a + b w = {a_o} and a - b w = {b_o}, modulo 3329"),
    (LANE + "start_o", 1, "the first pair of NTT(y[0]) leaves the seventh butterfly"),
    (SECTION, hashes("HashMatrix"), "the noise is sampled; now A, as it is needed"),
    (CORE + "u_products.may_run", 1, "the products begin: A[0][0] y[0], with y[0] still coming out of the lane"),
    (CORE + "counts.products", 2, "A[0][0] y[0] and t[0] y[0] are summed up"),
    (CORE + "u_transforms.target.transform", 1, "row 0 of A y is complete: the first INTT begins"),
    (CORE + "u_output.runs", 1, "v = INTT(t y) + e2 + m: four coefficients a cycle are added and compressed"),
    ("polykem_top.m_axis_tvalid", 1, "the first word of the ciphertext leaves"),
    ("polykem_top.m_axis_tlast", 1, "the last word of K leaves"),
    (CORE + "zeroize", 1, "zeros go to every memory that held a secret"),
)
VALUES = {"a_i": LANE + "a_i", "b_i": LANE + "b_i", "a_o": BUTTERFLY + "a_o", "b_o": BUTTERFLY + "b_o"}


def rows(values):
    """Yields (cycle, signal, meaning) of each station."""
    enters = values[LANE + "start_i"].index(1)
    a, b = (values[VALUES[name]][enters] for name in ("a_i", "b_i"))
    wanted_sums = (a + b * FIRST_FACTOR) % Q, (a - b * FIRST_FACTOR) % Q
    leaves = next((cycle for cycle in range(enters + 1, enters + LONGEST)
                   if tuple(values[VALUES[name]][cycle] % Q for name in ("a_o", "b_o")) == wanted_sums), None)
    if leaves is None:
        raise SystemExit(f"the first butterfly never gives {wanted_sums} for {a}, {b}")
    for signal, wanted, meaning in STATIONS:
        if wanted == "late":
            cycle = leaves
        elif signal == CORE + "u_transforms.target.transform":
            runs = values[CORE + "u_transforms.runs"]
            cycle = next(i for i, running in enumerate(runs) if running and values[signal][i] == 1)
        else:
            cycle = values[signal].index(wanted)
        yield cycle, signal, meaning.format(**{name: values[full][cycle] % Q for name, full in VALUES.items()})


def table(trace):
    names = {signal for signal, _, _ in STATIONS} | set(VALUES.values()) | {CORE + "u_transforms.runs"}
    values = schedule.values_during_command(vcd.read(trace, sorted(names | set(schedule.SPAN))))
    lines = ["| cycle | signal | what happens |", "|---:|---|---|"]
    lines += [f"| {cycle:,} | `{signal.removeprefix('polykem_top.').removeprefix('u_core.')}` | {meaning} |"
              for cycle, signal, meaning in sorted(rows(values), key=lambda row: row[0])]
    return "\n".join(lines)


def with_table(text, trace):
    mark = re.compile(r"(<!-- walk -->\n).*?(<!-- end -->)", re.S)
    if not mark.search(text):
        raise SystemExit("doc/walk.md has no mark for the table")
    return mark.sub(lambda found: found[1] + table(trace) + "\n" + found[2], text)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    page = pathlib.Path(sys.argv[2])
    page.write_text(with_table(page.read_text(), pathlib.Path(sys.argv[1])))


if __name__ == "__main__":
    main()
