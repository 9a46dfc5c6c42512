#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the cycles of every set on a modelled Cortex-M4 and writes them as JSON, from which tools/tables.py makes the
tables of docs/arm_figures.md.

    bench/m4/measure.py [--json FILE] [--build FOLDER] [SET...]

Three builds: `O0` and `O2`, the reference without and with the compiler's optimisation, and `m4`, which has the code
written for the Cortex-M4. With SET only those, and nothing is written without --json.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "m4cycles"), str(ROOT / "tests" / "embedded")]
import cases  # noqa: E402
import m4cycles  # noqa: E402

RESULT = ROOT / "bench" / "results" / "m4_cycles.json"
NTRU = [name for name in cases.SETS if name.startswith("ntru")]
BUILDS = {"O0": ["-DPOLYKEM_CORTEX_M4_KERNELS=OFF", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0"],
          "O2": ["-DPOLYKEM_CORTEX_M4_KERNELS=OFF"], "m4": []}
OPERATIONS = ("keygen", "encaps", "decaps")
PRODUCTS = ("mul_Gf", "mul_vf", "mul_invh", "mul_vG", "mul_h")  # of a key pair, beside those of its inverse
PRODUCT = re.compile(r"\b(?:poly_)?mul_cyclic(?:<\d+u>)?\(unsigned short\*")
STEP = re.compile(r"::(\w+)\([^()]*State<")


def build(folder, options, sets):
    commands = [["cmake", "-S", ROOT / "embedded", "-B", folder, "--toolchain", "arm-none-eabi.cmake", "-G", "Ninja",
                 "-DPOLYKEM_BUILD_TESTS=OFF", *options],
                ["cmake", "--build", folder, "--target", *(f"operations_{name}" for name in sets)]]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stdout[-4000:] + done.stderr[-2000:])


def steps_of(functions):
    """Returns inclusive cycles of each stage: of its step's function and, without optimisation, of lambdas in it."""
    steps = {}
    for name, counted in functions.items():
        found = STEP.search(name)
        if found:
            steps[found[1]] = max(steps.get(found[1], 0), counted["inclusive"])
    return steps


def ntru_rows(functions):
    """Returns the functions of the paper's table. All products take the same time."""
    steps = steps_of(functions)
    product = next(f for name, f in functions.items() if PRODUCT.search(name))
    each = product["inclusive"] / product["calls"]
    # products of the inverse: all but those of the other stages
    others = len(PRODUCTS) + 1 + 3
    return {"poly_Rq_inv": steps["invert_Gf"], "poly_S3_inv": steps["invert_f"],
            "products_in_inverse": round(each * (product["calls"] - others)),
            "products": sum(steps[name] for name in PRODUCTS), "poly_Rq_mul": steps["mul_hr"],
            "sample_rm": steps["sample_rm"], "one_product": round(each)}


def measure(elf, name):
    functions = m4cycles.measure(elf)["functions"]
    sizes = subprocess.run(["arm-none-eabi-size", elf], check=True, capture_output=True, text=True).stdout
    result = {operation: functions[operation]["inclusive"] for operation in OPERATIONS}
    result["code"] = int(sizes.splitlines()[1].split()[0])
    if name in NTRU:
        result.update(ntru_rows(functions))
    return result


def constants():
    """Returns {set: {"workspace": {operation: bytes}, "stack": bytes}} as embedded.h states them."""
    header = (ROOT / "include" / "polykem" / "embedded.h").read_text()
    stacks = re.findall(r"#define POLYKEM_EMBEDDED_(\w+)_STACK_BYTES (\d+)", header)
    spaces = re.findall(r"#define POLYKEM_EMBEDDED_(\w+)_(KEYGEN|ENCAPS|DECAPS)_WORKSPACE_BYTES (\d+)", header)
    found = {name.lower(): {"workspace": {}, "stack": int(value)} for name, value in stacks}
    for name, operation, value in spaces:
        found[name.lower()]["workspace"][operation.lower()] = int(value)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build-m4")
    options = parser.parse_args()
    sets = options.sets or cases.SETS
    memory = constants()
    compiler = subprocess.run(["arm-none-eabi-gcc", "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True,
                            text=True).stdout.strip()
    document = {"schema": "polykem-m4-cycles-1", "machine": "modelled Cortex-M4, tools/m4cycles",
                "compiler": f"GCC {compiler}", "commit": commit, "command": "make bench-m4", "sets": {}}
    for name in sets:
        document["sets"][name] = memory[name]
    for kind, flags in BUILDS.items():
        wanted = [name for name in sets if kind != "O0" or name in NTRU]
        if not wanted:
            continue
        build(options.build / f"bench-{kind}", flags, wanted)
        for name in wanted:
            found = measure(options.build / f"bench-{kind}" / "bench" / f"operations_{name}", name)
            document["sets"][name][kind] = found
            print(f"{kind} {name}: " + " / ".join(f"{found[operation]:,}" for operation in OPERATIONS), flush=True)
    target = options.json or (None if options.sets else RESULT)
    if target:
        target.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
