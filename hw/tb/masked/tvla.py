#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the masked Keccak, and that the numbers of its registers that toggle do not depend on its input.

    tvla.py BUILD [--traces N] [--json FILE]

Does the same with a planted leak, a product that meets both shares of a bit, and requires that the test finds it."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

HW = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("rtl/keccak/keccak_pkg.sv", "rtl/keccak/keccak_parity.sv", "rtl/keccak/keccak_mix.sv",
           "rtl/masked/keccak_masked.sv")
LIMIT = 4.5  # of |t|
# {text: text in the leaky copy, in which a register holds one share times both shares of another bit}
LEAK = {"(first & own_q[1-s][Second]) ^ random_i[i];": "first & (own_q[0][Second] ^ own_q[1][Second]);",
        "own_q[s][i] ^ (first & own_q[s][Second]) ^ constant;": "own_q[s][i] ^ constant;"}


def tool(name):
    done = subprocess.run([HW / "tools/setup.sh"], check=True, capture_output=True, text=True)
    return f"{done.stdout.strip()}/{name}"


def assess(folder, sources, traces):
    """Builds the model and returns what tvla.cpp found."""
    folder.mkdir(parents=True, exist_ok=True)
    access = folder / "access.vlt"
    access.write_text("`verilator_config\n" + "".join(
        f'public_flat_rd -module "keccak_masked" -var "{name}"\n' for name in ("own_q", "cross_q")))
    with (folder / "log").open("w") as log:
        done = subprocess.run(
            [tool("verilator"), "--cc", "--exe", "--build", "-j", "1", "-Wall", "-Wno-UNUSEDSIGNAL", "-O3",
             "--x-assign", "fast", "--top-module", "keccak_masked", "--Mdir", folder / "model",
             "-CFLAGS", f"-O1 -std=c++20 -I{HW.parent / 'tests'}", access, *sources, HW / "tb/masked/tvla.cpp",
             "-o", folder / "tvla"],
            stdout=log, stderr=log, check=False)
    if done.returncode != 0:
        raise SystemExit((folder / "log").read_text()[-3000:])
    done = subprocess.run([folder / "tvla", str(traces)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"tvla ended with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def with_leak(folder):
    """Copies the sources with the planted leak, which leaves the results right, and returns their paths."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copies = []
    for source in SOURCES:
        copies.append(pathlib.Path(shutil.copy(HW / source, folder)))
    text = copies[-1].read_text()
    for old, new in LEAK.items():
        if text.count(old) != 1:
            raise SystemExit(f"keccak_masked.sv has no {old!r}: the planted leak is out of date")
        text = text.replace(old, new)
    copies[-1].write_text(text)
    return copies


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--traces", type=int, default=20000)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    if shutil.which("ccache"):
        os.environ["OBJCACHE"] = "ccache"
    folder = options.build.resolve()
    masked = assess(folder / "masked", [HW / source for source in SOURCES], options.traces)
    leaky = assess(folder / "leaky", with_leak(folder / "leak"), options.traces)
    good = masked["largest_t"] < LIMIT < leaky["largest_t"]
    for name, found in (("masked", masked), ("with a planted leak", leaky)):
        print(f"{name}: largest |t| {found['largest_t']} of {found['points']} points, {found['traces']} traces, at "
              f"{found['at']}")
    if options.json:
        options.json.write_text(json.dumps({"schema": "polykem-hw-tvla-1", "command": "make hw-tvla", "limit": LIMIT,
                                            "masked": masked, "leaky": leaky}, indent=1) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
