#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how much faster all GPUs of a host are than one of them, host to host from pinned memory.

    cards.py BENCH --scheme NAME [--scheme NAME]... --items N [--rounds 2] --json FILE

BENCH is a polykem_bench_cuda. In each round it runs with each GPU by itself and then with all, so that what else the
host does befalls all alike. The gain compares the median over all runs with one GPU with the median over those with
all. FILE is written after each round; `clocks` has what each GPU's clock was while it computed, as a GPU at its power
limit lowers it.
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

KINDS = {"ms": "alone", "row_ms": "in_a_row"}
QUERY = "index,utilization.gpu,clocks.sm,clocks_throttle_reasons.sw_power_cap"


def count_gpus():
    listed = subprocess.run(["nvidia-smi", "--list-gpus"], capture_output=True, text=True, check=True).stdout
    return len(listed.splitlines())


@contextlib.contextmanager
def watched_clocks():
    """Yields a list that holds afterwards, for each GPU that computed: the median clock in MHz, and the share of
    samples in which the power limit lowered it."""
    found, command = [], ["nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits", "--loop-ms=100"]
    with tempfile.TemporaryFile("w+") as output:
        watcher = subprocess.Popen(command, stdout=output)
        try:
            yield found
        finally:
            watcher.terminate()
            watcher.wait()
            output.seek(0)
            found.extend(summary_of_clocks(output.read().splitlines()))


def summary_of_clocks(lines):
    samples = {}
    for fields in (line.split(", ") for line in lines):
        if len(fields) == 4 and int(fields[1]) >= 90:
            samples.setdefault(int(fields[0]), []).append((float(fields[2]), fields[3] == "Active"))
    return [{"gpu": gpu, "mhz": statistics.median(mhz for mhz, _ in seen),
             "power_capped": round(sum(capped for _, capped in seen) / len(seen), 2)}
            for gpu, seen in sorted(samples.items())]


def measure(options, gpus):
    """Returns the report of a run with these GPUs."""
    names = [word for scheme in options.scheme for word in ("--scheme", scheme)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "report.json"
        begun = time.monotonic()
        with watched_clocks() as clocks:
            subprocess.run([options.bench, *names, "--items", str(options.items), "--pinned", "--json", path],
                           check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CUDA_VISIBLE_DEVICES": gpus})
        report = {**json.loads(path.read_text(encoding="utf-8")), "clocks": clocks}
    took = time.monotonic() - begun
    print(f"# GPUs {gpus}: {took:.0f} s, copies {report['pcie_gb_per_s']} GB/s, {clocks}", flush=True)
    expected = len(gpus.split(","))
    if report["devices"] != expected:
        raise SystemExit(f"the benchmark used {report['devices']} GPUs instead of {expected}")
    return report


def summary(runs, every):
    """Returns the cases: medians with one GPU and with all, and their ratio."""
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
        kept = {key: of_all[key]
                for key in ("device", "devices", "driver", "cuda", "version", "commit", "sources", "samples")}
        copies = {gpus: [report["pcie_gb_per_s"] for report in reports] for gpus, reports in runs.items()}
        clocks = {gpus: [report["clocks"] for report in reports] for gpus, reports in runs.items()}
        cases = summary(runs, every)
        report = {"schema": "polykem-cuda-cards-1", **kept, "items": options.items, "pcie_gb_per_s": copies,
                  "clocks": clocks, "cases": cases}  # fmt: skip
        options.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    for case in cases:
        words = "; ".join(f"{kind} {case[kind]['one_ms']:.1f} -> {case[kind]['all_ms']:.1f} ms, "
                          f"{case[kind]['gain']:.2f}x" for kind in KINDS.values())
        print(f"{case['name']} {case['op']}: {words}", flush=True)


if __name__ == "__main__":
    main()
