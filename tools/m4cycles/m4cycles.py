#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program for the Cortex-M4 on QEMU and prints the modelled cycles of its functions. README.md says what the
model is and how good it is.

    m4cycles.py [--trace FUNCTION]... ELF [ARGUMENT]
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = [HERE / name for name in ("m4cycles.c", "functions.c", "timing.c")]
HEADERS = [HERE / name for name in ("functions.h", "timing.h", "qemu_plugin.h")]


def plugin():
    """Returns the plugin, compiled if a source is newer."""
    library = HERE.parent.parent / "build-m4" / "libm4cycles.so"
    if not library.exists() or library.stat().st_mtime < max(f.stat().st_mtime for f in SOURCES + HEADERS):
        library.parent.mkdir(exist_ok=True)
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-fvisibility=hidden", "-o", library,
                        *SOURCES], check=True)
    return library


def emulator(elf, argument="", machine="mps2-an386"):
    """Returns the command that runs a program to its end."""
    semihosting = f"enable=on,target=native,arg={argument}" if argument else "enable=on,target=native"
    return ["qemu-system-arm", "-machine", machine, "-nographic", "-monitor", "none", "-serial", "none",
            "-semihosting-config", semihosting, "-kernel", str(elf)]


def measure(elf, argument="", traced=(), machine="mps2-an386"):
    """Returns {"cycles", "instructions", "traces": {name: [hash of each call]},
    "functions": {demangled name: {"calls", "own", "inclusive"}}}."""
    with tempfile.TemporaryDirectory() as folder:
        names, out = Path(folder) / "functions", Path(folder) / "out.json"
        names.write_bytes(subprocess.run(["arm-none-eabi-nm", "-n", elf], check=True, capture_output=True).stdout)
        options = f"{plugin()},functions={names},out={out}" + "".join(f",trace={name}" for name in traced)
        subprocess.run([*emulator(elf, argument, machine), "-plugin", options], check=True)
        result = json.loads(out.read_text())
    mangled = "\n".join(function["name"] for function in result["functions"])
    plain = subprocess.run(["arm-none-eabi-c++filt"], input=mangled, check=True, capture_output=True, text=True).stdout
    result["functions"] = {name: {key: function[key] for key in ("calls", "own", "inclusive")}
                           for name, function in zip(plain.splitlines(), result["functions"])}
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("elf")
    parser.add_argument("argument", nargs="?", default="")
    parser.add_argument("--trace", action="append", default=[])
    options = parser.parse_args()
    result = measure(options.elf, options.argument, options.trace)
    print(f"{result['cycles']:,} modelled cycles, {result['instructions']:,} instructions")
    print(f"{'inclusive':>14} {'own':>14} {'calls':>9}")
    for name, f in sorted(result["functions"].items(), key=lambda item: -item[1]["inclusive"])[:60]:
        print(f"{f['inclusive']:>14,} {f['own']:>14,} {f['calls']:>9,}  {name}")
    for name, hashes in result["traces"].items():
        print(f"traces of {name}:", *hashes)


if __name__ == "__main__":
    main()
