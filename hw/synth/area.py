#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints areas of modules on an UltraScale+ FPGA, by Yosys (synth_xilinx -family xcup), as a table; --json writes FILE.

    area.py [--json FILE] [MODULE...]       a module may have parameters: "polykem_top Lanes=2"

LUT counts the LUTs of logic, of shift registers and of small memories. Nothing is placed or routed."""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HW = pathlib.Path(__file__).resolve().parents[1]
MODULES = ("reduce_fold", "reduce_table", "mod_mul", "ntt_lane", "word_mac", "keccak_core", "gearbox",
           "uniform_sampler", "compress", "decompress", "quad_packer", "quad_unpacker", "input_unit", "hash_unit",
           "product_unit", "transform_unit", "output_unit", "double_check", "keccak_masked",
           "polykem_top", "polykem_top Lanes=2 RoundsPerCycle=2", "sdf_ntt", "paper_core")
COLUMNS = ("LUT", "LUT as memory", "FF", "DSP", "BRAM36")
# (beginning of a cell's name, {column: how many of it such a cell takes}); the first that fits counts
WEIGHTS = (("RAMB36", {"BRAM36": 1}), ("RAMB18", {"BRAM36": 0.5}), ("DSP", {"DSP": 1}), ("FD", {"FF": 1}),
           ("SRL", {"LUT": 1, "LUT as memory": 1}), ("LUT", {"LUT": 1}),
           *((name, {"LUT": luts, "LUT as memory": luts}) for name, luts in (
               ("RAM32M16", 8), ("RAM64M8", 8), ("RAM32M", 4), ("RAM64M", 4), ("RAM128X1D", 4), ("RAM32X1D", 2),
               ("RAM64X1D", 2), ("RAM", 8))))
SCRIPT = """\
import sys
import pyosys.libyosys as yosys
design = yosys.Design()
for command in sys.argv[1:]:
    yosys.run_pass(command, design)
"""


def area(module):
    """Synthesizes one module and returns {column: how many of it the module takes}."""
    top, *parameters = module.split()
    values = " ".join(f"-G{parameter}" for parameter in parameters)
    files = " ".join(str(HW / line) for line in (HW / "rtl/files.f").read_text().split())
    with tempfile.NamedTemporaryFile("r") as out:
        commands = [f"read_slang --keep-hierarchy --top {top} {values} {files}",
                    f"synth_xilinx -family xcup -flatten -nowidelut -noiopad -noclkbuf -top {top}",
                    "setattr -mod -unset keep_hierarchy", "flatten", "opt_clean",
                    f"tee -q -o {out.name} stat -tech xilinx"]
        done = subprocess.run([sys.executable, "-c", SCRIPT, *commands], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = done.stdout[-2000:] + done.stderr[-2000:]
            raise SystemExit(f"{module}: Yosys ended with {done.returncode}: {said}")
        cells = re.findall(r"^ +(\d+)\s+(?:\S+\s+)?([A-Z]+\w*)\s*$", out.read(), re.M)
    found = dict.fromkeys(COLUMNS, 0)
    for count, name in cells:
        weights = next((weights for beginning, weights in WEIGHTS if name.startswith(beginning)), {})
        for column, weight in weights.items():
            found[column] += int(count) * weight
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    found = {}
    print("| module | " + " | ".join(COLUMNS) + " |")
    print("|---" + "|---:" * len(COLUMNS) + "|", flush=True)
    for module in options.modules:
        found[module] = area(module)
        print(f"| {module} | " + " | ".join(str(value) for value in found[module].values()) + " |", flush=True)
    if options.json:
        options.json.write_text(json.dumps({"schema": "polykem-hw-area-2", "modules": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
