#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables and plots of README.md and other pages from the program's list of sets and measured results.

    tools/tables.py [--check] [--record] [--program build/bin/polykem]

A table stands between the lines "<!-- table: NAME -->" and "<!-- end of table -->". With --check nothing is written:
the exit status is 1 if a page is not what its sources say. With --record the results of `make bench-peers` and
`make bench-peers PEER=haswell` in build/ become those of bench/results first, as those of a Zen 5 or of a Xeon;
`make figures` does all of it.

Sources: `polykem list --json -`, and files of bench/results that the modules of page_tables/ name.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from page_tables import arm64, bulk, ckks, cpu, frodo_cuda, gpu, hpke, m4, mldsa, tls
from page_tables.cpu import FRONT, OPS
from page_tables.plot_peers import plot

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/performance.md", "docs/parameter_sets.md", "docs/gpu.md", "docs/gpu_figures.md",
         "docs/tls_figures.md", "docs/hpke_figures.md", "docs/bulk_figures.md", "research/seong2021/README.md",
         "research/frodo_cuda/README.md", "docs/arm_figures.md", "ckks/figures.md"]
PLOT = "bench/results/cpu_peers.svg"
BLOCK = re.compile(r"(<!-- table: ([a-z0-9-]+) -->\n).*?(<!-- end of table -->)", re.S)
TABLES = {name: make for module in (arm64, bulk, ckks, cpu, frodo_cuda, gpu, hpke, m4, mldsa, tls)
          for name, make in module.TABLES.items()}


def fresh_pages(results):
    """Returns every page and plot that is made here, as it should be."""
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        yield page, BLOCK.sub(lambda m: m[1] + TABLES[m[2]](results) + m[3], text)
    yield PLOT, plot([(name, {op: results.xeon.find(name, op)["ratio"] for op in OPS}) for name in FRONT])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say which page is out of date")
    parser.add_argument("--record", action="store_true", help="store the last measurement as the results")
    parser.add_argument("--program", default=ROOT / "build/bin/polykem", help="the program that lists the sets")
    arguments = parser.parse_args()
    if arguments.record:
        cpu.record()
    listed = subprocess.run([arguments.program, "list", "--json", "-"], capture_output=True, text=True, check=True)
    results = cpu.Results(json.loads(listed.stdout)["schemes"])
    stale = False
    for page, fresh in fresh_pages(results):
        path = ROOT / page
        if path.exists() and path.read_text(encoding="utf-8") == fresh:
            continue
        stale = True
        print(f"{page}: " + ("not what its sources say; run `make tables`" if arguments.check else "written"))
        if not arguments.check:
            path.write_text(fresh, encoding="utf-8")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
