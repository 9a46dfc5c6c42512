#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds every flip-flop of the core with Yosys, and says which of them the campaign of faults upsets.

    flops.py FOLDER [PARAMETER=VALUE...]      writes FOLDER/flops.txt and FOLDER/flops.vlt; parameters of polykem_top

A line of flops.txt is KIND INSTANCE REGISTER BITS. KIND is control (the verdict, selections, sequences, counters), data
(what arithmetic and hashing compute from), or memory: a word that has a parity bit. flops.vlt makes Verilator give
access to each."""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HW = pathlib.Path(__file__).resolve().parents[1]
# module: its registers that hold data; "*" means all. Whatever is not listed is control.
DATA = {
    "keccak_core": {"gathered_q", "state_q", "leaving_q"}, "gearbox": {"kept_q"}, "uniform_sampler": {"kept_q"},
    "butterfly": "*", "pair_mac": "*", "reduce_table": "*", "twiddles": "*", "ram": "*",
    "compress": {"entry_q", "x_q", "y_o"}, "decompress": {"five_q", "x_o", "y_q"}, "quad_packer": {"kept_q"},
    "quad_unpacker": {"first_q", "second_q"}, "output_unit": {"x_q"},
    "registers": {"cycles_q", "occupied_q", "phases_q", "rdata_o"},
}
# (instance, memory): words, bits of each
FIRST = "polykem_top.u_core.u_first.gen_bank[0].gen_parity[{}].u_ram"
MEMORIES = {
    ("polykem_top.u_core", "scratch"): (32, 65), ("polykem_top.u_core", "scratch_copy"): (32, 65),
    ("polykem_top.u_core.u_cipher", "words"): (256, 65), (FIRST.format(0), "words"): (512, 25),
    (FIRST.format(1), "words"): (512, 25),
}
SYNTHESIS = """\
import sys
import pyosys.libyosys as yosys
design = yosys.Design()
for command in sys.argv[1:]:
    yosys.run_pass(command, design)
"""


def netlist(parameters):
    """Returns the core as Yosys reads it, module by module, as its JSON has it."""
    values = " ".join(f"-G{parameter}" for parameter in parameters)
    files = " ".join(str(HW / line) for line in (HW / "rtl/files.f").read_text().split())
    with tempfile.NamedTemporaryFile("r", suffix=".json") as out:
        commands = [f"read_slang --keep-hierarchy --top polykem_top {values} {files}", "proc", "opt_clean",
                    "memory_collect", f"write_json {out.name}"]
        done = subprocess.run([sys.executable, "-c", SYNTHESIS, *commands], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"Yosys ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return json.load(out)["modules"]


def assigned(module):
    """Returns the names that a module assigns at a clock's edge."""
    text = re.sub(r"//.*", "", next((HW / "rtl").rglob(f"{module}.sv")).read_text())
    names = set()
    for target in re.findall(r"([\w\[\]{},.:+\-* ]+?)\s*<=(?!=)[^;]*;", text):
        names |= set(re.findall(r"[A-Za-z_]\w*", target))
    return names


def registers(name, body):
    """Returns {register: how many of its bits are flip-flops} of a module of the netlist."""
    wires = collections.defaultdict(list)
    for wire, found in body["netnames"].items():
        for bit in found["bits"]:
            wires[bit].append(wire)
    own = assigned(name)
    bits = collections.Counter()
    for cell in body["cells"].values():
        if "dff" not in cell["type"]:
            continue
        for bit in cell["connections"]["Q"]:
            names = [wire for wire in wires[bit] if wire.rpartition(".")[2] in own]
            if not names:
                raise SystemExit(f"{name}: no register has the bit of {wires[bit]}: name what always_ff assigns")
            bits[min(names, key=lambda wire: (not wire.endswith("_q"), wire))] += 1
    return bits


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("parameters", nargs="*", metavar="PARAMETER=VALUE")
    options = parser.parse_args()
    folder = options.folder
    lines, modules = [], set()
    for name, body in netlist(options.parameters).items():
        module, _, instance = name.partition("$")
        for register, count in registers(module, body).items():
            base = register.rpartition(".")[2]
            data = DATA.get(module, ())
            kind = "data" if data == "*" or base in data else "control"
            lines.append(f"{kind} {instance or 'polykem_top'} {register} {count}")
            modules.add((module, base))
    for (instance, memory), (words, bits) in MEMORIES.items():
        lines += [f"memory {instance} {memory}[{word}] {bits}" for word in range(words)]
    modules |= {("core", "scratch"), ("core", "scratch_copy"), ("ram", "words")}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flops.txt").write_text("\n".join(sorted(lines)) + "\n")
    (folder / "flops.vlt").write_text("\n".join([
        "`verilator_config", *(f'public_flat_rw -module "{module}" -var "{base}"' for module, base in sorted(modules)),
        ""]))


if __name__ == "__main__":
    main()
