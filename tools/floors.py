#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the measured cycles of operations beside the floors of their algorithms, as a Markdown table.

    tools/floors.py build/bench-peers.json

python/polykem/report/cpu_floors.py says what a floor counts.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "python/polykem/report"))
from cpu_floors import MAX_SMALL_BATCH, floors, is_best, model_of  # noqa: E402


def cycles_of(record, ghz):
    """Returns the cycles of an operation, at the clock measured with it, otherwise at `ghz`."""
    return record.get("ghz", ghz) * 1e9 / record["ours_ops_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what `make bench-peers` wrote")
    parser.add_argument("--ghz", type=float, help="the core's clock while it ran (default: as measured then)")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        document = json.load(file)
    ghz, model = arguments.ghz or document["ghz"], model_of(document["machine"])
    if model is None:
        print(f"No floors: what the ports of this core do is not known ({document['machine']}).")
        return
    print(f"Cycles, at about {ghz:.2f} GHz.\n")
    print("| set | operation | keys | cycles | floor | measured / floor |")
    print("|---|---|---|---|---|---|")
    for r in document["records"]:
        if not is_best(r) or r["threads"] != 1 or r["count"] <= MAX_SMALL_BATCH or r["keys"] == "parsed":
            continue
        if r["scheme"].startswith("mldsa"):
            continue  # its floor is not known
        floor = floors(r["scheme"], r["keys"] == "shared", model)[r["op"]]
        cycles = cycles_of(r, ghz)
        print(f"| {r['scheme']} | {r['op']} | {r['keys']} | {cycles:,.0f} | {floor:,.0f} | {cycles / floor:.2f} |")


if __name__ == "__main__":
    main()
