# SPDX-License-Identifier: Apache-2.0
"""Compares the plugin's counts with counts by hand; selftest/loops.S explains these."""

import subprocess
from pathlib import Path

import m4cycles

HERE = Path(__file__).resolve().parent
BOARD = HERE.parent.parent / "embedded" / "board"
FLAGS = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O1", "-nostartfiles",
         "-fno-tree-loop-distribute-patterns", f"-I{BOARD.parent}", f"-L{BOARD}", f"-Wl,-T,{BOARD / 'mps2_an386.ld'}"]
FEWEST = 12


def hand_counted(folder):
    """Returns (passed, text). Each function's name ends in its cycles."""
    elf = folder / "selftest.elf"
    sources = [*(HERE / "selftest" / name for name in ("loops.S", "main.c")),
               *(BOARD / name for name in ("startup.c", "semihosting.c"))]
    subprocess.run(["arm-none-eabi-gcc", *FLAGS, "-o", elf, *sources], check=True)
    checked, wrong = 0, []
    for name, counted in m4cycles.measure(elf)["functions"].items():
        _, _, wanted = name.rpartition("_")
        if not wanted.isdigit():
            continue
        checked += 1
        if counted["inclusive"] != int(wanted) * counted["calls"]:
            wrong.append(f"{name}: {counted['inclusive']} in {counted['calls']} calls")
    return not wrong and checked >= FEWEST, "\n".join(wrong)


def tests(folder):
    yield "hand-counted loops", lambda: hand_counted(folder)
