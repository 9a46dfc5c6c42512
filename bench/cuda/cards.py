#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much faster all GPUs of a host are than one of them, host to host from pinned memory.

    cards.py BENCH --scheme NAME [--scheme NAME]... --items N [--rounds 2] --json FILE

BENCH is a polykem_bench_cuda. In each round it runs with each GPU by itself and then with all, so that what else the
host does befalls all alike. The gain compares the median over all runs with one GPU with the median over those with
all. FILE is written after each round.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

KINDS = {"ms": "alone", "row_ms": "in_a_row"}


def count_gpus():
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True).stdout
    return len(listed.splitlines())


def measure(options, gpus):
    """The report of one run with these GPUs."""
    names = [word for scheme in options.scheme for word in ("--scheme", scheme)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        begun = time.monotonic()
        subprocess.run([options.bench, *names, "--items", str(options.items), "--pinned", "--json", path], check=True,
                       stdout=subprocess.DEVNULL, env={**os.environ, "CUDA_VISIBLE_DEVICES": gpus})
        report = json.loads(path.read_text(encoding="utf-8"))
    print(f"# GPUs {gpus}: {time.monotonic() - begun:.0f} s, copies {report['pcie_gb_per_s']} GB/s", flush=True)
    expected = len(gpus.split(","))
    if report["devices"] != expected:
        raise SystemExit(f"the benchmark used {report['devices']} GPUs instead of {expected}")
    return report


def summary(runs, every):
    """The cases: medians with one GPU and with all, and what all gain."""
    samples = {}
    for gpus, reports in runs.items():
        for host in (({**h, "set": s["name"]}) for r in reports for s in r["sets"] for h in s["host_to_host"]):
            case = samples.setdefault((host["set"], host["op"]), {kind: {} for kind in KINDS.values()})
            for key, kind in KINDS.items():
                case[kind].setdefault(gpus, []).append(host[key])
    cases = []
    for (name, op), kinds in samples.items():
        case = {"name": name, "op": op}
        for kind, of_gpus in kinds.items():
            one = statistics.median(ms for gpus, all_ms in of_gpus.items() if gpus != every for ms in all_ms)
            together = statistics.median(of_gpus[every])
            case[kind] = {"one_ms": one, "all_ms": together, "gain": round(one / together, 3), "runs_ms": of_gpus}
        cases.append(case)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=pathlib.Path, help="a polykem_bench_cuda")
    parser.add_argument("--scheme", action="append", required=True)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", required=True, type=pathlib.Path)
    options = parser.parse_args()
    ordinals = [str(gpu) for gpu in range(count_gpus())]
    every = ",".join(ordinals)
    if len(ordinals) < 2:
        raise SystemExit("cards.py compares several GPUs with one; here is only one")
    runs = {}
    for _ in range(options.rounds):
        for gpus in (*ordinals, every):
            runs.setdefault(gpus, []).append(measure(options, gpus))
        of_all = runs[every][-1]
        kept = {key: of_all[key] for key in ("device", "devices", "driver", "cuda", "version", "commit", "samples")}
        copies = {gpus: [report["pcie_gb_per_s"] for report in reports] for gpus, reports in runs.items()}
        cases = summary(runs, every)
        options.json.write_text(json.dumps({"schema": "polykem-cuda-cards-1", **kept, "items": options.items,
                                            "pcie_gb_per_s": copies, "cases": cases}, indent=1) + "\n",
                                encoding="utf-8")
    for case in cases:
        words = "; ".join(f"{kind} {case[kind]['one_ms']:.1f} -> {case[kind]['all_ms']:.1f} ms, "
                          f"{case[kind]['gain']:.2f}x" for kind in KINDS.values())
        print(f"{case['name']} {case['op']}: {words}", flush=True)


if __name__ == "__main__":
    main()
