#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the cycles of the core's operations, in software on this machine and in the core.

    software.py BENCH CORE_TEST OUT.json      BENCH: polykem_bench_hw_core; CORE_TEST: of tools/build_model.sh"""

import json
import pathlib
import platform
import re
import subprocess
import sys

HW = pathlib.Path(__file__).resolve().parents[1]
OPERATIONS = ("keygen", "encaps", "decaps")


def machine():
    """Returns the names of the CPU and the compiler."""
    found = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    return found[1] if found else platform.machine(), compiler


def core_cycles(core_test):
    """Returns {set: {operation: cycles until the result}} for the first known answer of each set."""
    vectors = subprocess.run([sys.executable, "-B", HW / "tb/core/vectors.py"], capture_output=True, text=True,
                             check=True).stdout
    wanted = "".join(line + "\n" for line in vectors.splitlines() if re.match(r"\w+/0/(keygen|encaps|decaps) ", line))
    done = subprocess.run([core_test, "--cycles"], input=wanted, capture_output=True, text=True, check=True).stdout
    out = {}
    for name, operation, cycles in re.findall(r"^(\w+)/0/(\w+) +(\d+)", done, re.M):
        out.setdefault(name, {})[operation] = int(cycles)
    return out


def main():
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    bench, core_test, out = sys.argv[1:]
    software = json.loads(subprocess.run([bench], capture_output=True, text=True, check=True).stdout)["rows"]
    core = core_cycles(core_test)
    cpu, compiler = machine()
    commit = subprocess.run(["git", "-C", HW, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True,
                            text=True, check=True).stdout.strip()
    rows = [{"set": name, "core": core[name],
             **{row["backend"] if row["backend"] == "ref" else "chosen": {
                 "backend": row["backend"], **{operation: row[operation] for operation in OPERATIONS}}
                for row in software if row["set"] == name}} for name in core]
    pathlib.Path(out).write_text(json.dumps({"cpu": cpu, "compiler": compiler, "commit": commit,
                                             "command": "make hw-software", "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
