#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the addresses of instructions and of data in operations with different secrets, under QEMU.

    tests/arm64/trace.py PROGRAM

PROGRAM is trace.cpp, built for AArch64. The plugin is built here. All runs of one name must have one trace; the leaks
that the program plants must be found.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
LANES, ALONE = 16, 2  # items: across the lanes, and one at a time
SETS = ["ntruhps2048509", "ntruhrss701", "mlkem768", "kyber512", "saber", "lac128"]
RUNS = [(backend, items, sets) for backend in ["neon-sha3", "neon"]
        for items, sets in [(LANES, SETS), (ALONE, [*SETS, "frodokem640shake", "frodokem640aes"])]]  # fmt: skip


def traces(plugin, program, backend, items, sets):
    """Returns {name: traces of its runs}: instructions executed, and hashes of both kinds of addresses."""
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-plugin", plugin, program, backend, str(items), *sets]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "QEMU_CPU": "max"})
    marks = [line for line in done.stderr.splitlines() if line.startswith("mark ")]
    found = {}
    for name, mark in zip(done.stdout.splitlines(), marks[1::2], strict=True):
        found.setdefault(name, []).append(mark)
    return found


def main():
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder) / "trace_plugin.so"
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", plugin, HERE / "trace_plugin.c"],
                       check=True)  # fmt: skip
        for backend, items, sets in RUNS:
            for name, marks in traces(plugin, sys.argv[1], backend, items, sets).items():
                differs = len(set(marks)) > 1
                if differs == name.startswith("planted"):
                    continue
                failed = True
                print(f"{backend}, {name}: " + ("traces differ" if differs else "not found"), *marks, sep="\n  ")
    print("traces differ with secrets" if failed else "all traces are equal, planted leaks were found")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
