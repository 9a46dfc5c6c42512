#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a save file of GTKWave for a trace. It shows the signals that doc/walk.md talks of, enumerators by name.

    waves.py TRACE.vcd OUT.gtkw"""

import pathlib
import sys

import vcd

BIT, HEX, DECIMAL, NAMED, TITLE = 0x28, 0x22, 0x24, 0x2022, 0x200
PACKAGE = "core/polykem_hw_pkg.sv"
CORE = "u_core."
LANE = CORE + "u_transforms.u_lane."
STAGE = LANE + "gen_stage[0].u_stage."
# {title: signals below polykem_top, each with a radix or with (file, enumerated type of its values)}
GROUPS = {
    "A command comes": (
        ("aclk", BIT), ("s_axi_awvalid", BIT), ("s_axi_awaddr", HEX), ("s_axi_wdata", HEX), ("start", BIT),
        ("order.command", (PACKAGE, "command_e")), ("order.k", DECIMAL), ("busy", BIT), ("irq", BIT)),
    "Words in and out": (
        ("s_axis_tvalid", BIT), ("s_axis_tready", BIT), ("s_axis_tdata", HEX), ("s_axis_tlast", BIT),
        ("m_axis_tvalid", BIT), ("m_axis_tready", BIT), ("m_axis_tdata", HEX), ("m_axis_tlast", BIT)),
    "What the units wait for": (
        (CORE + "counts.decoded", DECIMAL), (CORE + "counts.noise", DECIMAL), (CORE + "counts.transforms", DECIMAL),
        (CORE + "counts.products", DECIMAL)),
    "Input unit": (
        (CORE + "u_input.section_q", (PACKAGE, "in_section_e")), (CORE + "u_input.slot_q", DECIMAL),
        (CORE + "u_input.taken_o", BIT), (CORE + "u_input.quad_valid", BIT)),
    "Hash unit": (
        (CORE + "u_hash.cursor_q.section", ("control/hash_unit.sv", "section_e")),
        (CORE + "u_hash.cursor_q.outer", DECIMAL), (CORE + "u_hash.cursor_q.inner", DECIMAL),
        (CORE + "u_hash.state_q", ("control/hash_unit.sv", "state_e")), (CORE + "u_hash.may_start", BIT),
        (CORE + "u_hash.busy", BIT), (CORE + "u_hash.matrix_push_o", BIT), (CORE + "u_hash.noise_we_o", BIT)),
    "A in its FIFO": (
        (CORE + "u_matrix.in_q", DECIMAL), (CORE + "u_matrix.out_q", DECIMAL), (CORE + "u_matrix.valid_o", BIT)),
    "Products": (
        (CORE + "u_products.cursor_q.kind", ("control/product_unit.sv", "kind_e")),
        (CORE + "u_products.cursor_q.outer", DECIMAL), (CORE + "u_products.cursor_q.inner", DECIMAL),
        (CORE + "u_products.index_q", DECIMAL), (CORE + "u_products.may_run", BIT)),
    "Transforms": (
        (CORE + "u_transforms.job_q", DECIMAL), (CORE + "u_transforms.may_start", BIT),
        (CORE + "u_transforms.step_q", DECIMAL), (CORE + "u_transforms.runs", BIT),
        (CORE + "u_transforms.leaving", BIT)),
    "The lane, and its first butterfly": (
        (LANE + "start_i", BIT), (LANE + "a_i", DECIMAL), (LANE + "b_i", DECIMAL), (STAGE + "index", DECIMAL),
        (STAGE + "u_butterfly.a_o", DECIMAL), (STAGE + "u_butterfly.b_o", DECIMAL),
        (LANE + "start_o", BIT), (LANE + "a_o", DECIMAL),
        (LANE + "b_o", DECIMAL)),
    "Output unit": (
        (CORE + "u_output.section_q", ("control/output_unit.sv", "section_e")), (CORE + "u_output.may_run", BIT),
        (CORE + "u_output.count", DECIMAL)),
    "The end": ((CORE + "state_q", ("control/core.sv", "state_e")), (CORE + "zeroize_q", DECIMAL)),
}


def names_file(folder, source, kind):
    """Writes the file with the names that GTKWave shows in place of values, and returns its path."""
    file = folder / f"{pathlib.Path(source).stem}_{kind}.txt"
    file.write_text("".join(f"{value:x} {name}\n" for value, name in vcd.enumerators(source, kind).items()))
    return file


def write(trace, out):
    declared = vcd.declarations(trace)
    lines = [f'[dumpfile] "{trace}"', f'[savefile] "{out}"', "[timestart] 0", "[size] 1500 1000"]
    for title, signals in GROUPS.items():
        lines += [f"@{TITLE:x}", f"-{title}"]
        for name, radix in signals:
            full = vcd.find(declared, "polykem_top." + name)
            typed = isinstance(radix, tuple)
            lines.append(f"@{NAMED if typed else radix:x}")
            if typed:
                lines.append(f"^1 {names_file(out.parent, *radix)}")
            lines.append(full.rsplit(".", 1)[0] + "." + declared[full][2])
    out.write_text("\n".join(lines) + "\n")


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    write(*(pathlib.Path(name).resolve() for name in sys.argv[1:]))


if __name__ == "__main__":
    main()
