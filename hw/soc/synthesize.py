#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Synthesises the system that soc.py wrote to FOLDER for an ECP5, by Yosys: FOLDER/polykem_soc.json."""

import os
import pathlib
import sys

import pyosys.libyosys as yosys

HW = pathlib.Path(__file__).resolve().parents[1]


def main():
    os.chdir(sys.argv[1])  # where the contents of the memories are
    core = " ".join(str(HW / line) for line in (HW / "rtl/files.f").read_text().split())
    design = yosys.Design()
    for command in (f"read_slang --keep-hierarchy --top polykem_top {core}", "chformal -remove",
                    *(f"read_verilog {source}" for source in pathlib.Path("sources.f").read_text().split()),
                    "synth_ecp5 -abc9 -top polykem_soc -json polykem_soc.json", "stat"):
        yosys.run_pass(command, design)


if __name__ == "__main__":
    main()
