#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the A64 instructions of an item of each operation, in batches, under qemu-user.

    bench/arm64/measure.py [--build build-arm64] [--json bench/results/arm64_instructions.json]

It builds count.cpp for AArch64 and count_plugin.c for this machine. Counts are not times: they say nothing about what a
Cortex-A53 does in a cycle.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ITEMS = 64
FEW = 8  # of FrodoKEM
NTRU = ["ntruhps2048509", "ntruhps2048677", "ntruhps4096821", "ntruhrss701"]
MLKEM = ["mlkem512", "mlkem768", "mlkem1024"]
FRODO = ["frodokem640aes", "frodokem640shake", "frodokem1344aes"]
RUNS = [("neon-sha3", ITEMS, NTRU + MLKEM), ("neon-sha3", FEW, FRODO), ("neon", ITEMS, NTRU + MLKEM),
        ("neon", FEW, FRODO), ("ref", 1, NTRU + MLKEM + FRODO[2:])]  # fmt: skip


# The steps of the FrodoKEM paper's Table 5, and patterns of the names of our functions for them.
STEPS = [("randomness", r"Drbg|aes256_ctr|keystream|getrandom|fork"), ("AES", r"^_ZN7polykem.*(grid|kAes128)"),
         ("SHAKE", r"[Kk]eccak|Sponge|hash_rows|Shake"), ("product", r"mul_add"), ("sampling", r"sample"),
         ("rest", r"")]  # fmt: skip
PAPER_SET = "frodokem1344aes"


def step_of(function):
    return next(name for name, pattern in STEPS if re.search(pattern, function))


def run(command, **more):
    return subprocess.run(command, check=True, text=True, **more)


def build(folder):
    plugin = folder / "count_plugin.so"
    run(["cc", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", plugin, HERE / "count_plugin.c"])
    run(["cmake", folder, "-DPOLYKEM_BUILD_BENCH=ON"], stdout=subprocess.DEVNULL)
    run(["cmake", "--build", folder, "--target", "polykem_bench_arm64"], stdout=subprocess.DEVNULL)
    return plugin, folder / "bin" / "polykem_bench_arm64"


def counted(plugin, program, backend, items, sets):
    """Returns the records of one run. Every second mark ends an operation."""
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-plugin", plugin, program, backend, str(items), *sets]
    done = run(command, capture_output=True, env={**os.environ, "QEMU_CPU": "max"})
    marks, functions = [], {}
    for line in done.stderr.splitlines():
        kind, count, *function = line.split()
        if kind == "function":
            functions[function[0]] = int(count)
        elif kind == "mark":
            marks.append((int(count), functions))
            functions = {}
    for line, (total, parts) in zip(done.stdout.splitlines(), marks[1::2], strict=True):
        name, ran_on, operation, _ = line.split()
        record = {"set": name, "backend": ran_on, "operation": operation, "items": items,
                  "instructions": round(total / items)}  # fmt: skip
        if name == PAPER_SET:
            record["steps"] = {step: round(sum(n for f, n in parts.items() if step_of(f) == step) / items)
                               for step, _ in STEPS}  # fmt: skip
        yield record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build-arm64")
    parser.add_argument("--json", type=Path, default=ROOT / "bench/results/arm64_instructions.json")
    arguments = parser.parse_args()
    plugin, program = build(arguments.build)
    version = run(["qemu-aarch64", "--version"], capture_output=True).stdout.splitlines()[0]
    commit = run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True).stdout
    records = [record for one in RUNS for record in counted(plugin, program, *one)]
    document = {"what": "A64 instructions an item, keys per item, with the random generator", "emulator": version,
                "cpu": "max", "commit": commit.strip(), "command": "bench/arm64/measure.py",
                "records": records}  # fmt: skip
    arguments.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
