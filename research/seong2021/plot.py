#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws plots for comparison with figures 8 to 10, 12 and 13 of the 2021 paper, from the benchmark's JSON.

    research/seong2021/plot.py RESULT.json PREFIX      writes PREFIX_threads.svg and PREFIX_clients.svg
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "polykem"
import matplotlib.pyplot as plt  # noqa: E402


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    with open(path) as file:
        lines = [line.rstrip() for line in file]
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def threads(result, path):
    figure, axes = plt.subplots(figsize=(8, 5))
    for row in result["one_block"]:
        counts = [2**i for i in range(len(row["us"]))]
        axes.plot(counts, [row["us"][0] / us for us in row["us"]], marker="o", markersize=3, label=row["operation"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("threads of one block")
    axes.set_ylabel("speed-up over one thread")
    axes.set_title(f"{result['set']} on one {result['device']}")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
    save(figure, path)


def clients(result, path):
    figure, panes = plt.subplots(1, 2, figsize=(11, 5), sharey=True)
    for index, (pane, operation) in enumerate(zip(panes, ("encaps", "decaps"))):
        lines = {
            "2021: one kernel": [("paper", 2 * index)],
            "2021: hash split off": [("paper", 2 * index + 1)],
            "CPU, reference": [("ref", index)],
            "CPU, vectors": [("cpu", index)],
            "GPU, host to host": [("host", index)],
            "GPU, kernels": [("kernels", index)],
        }
        for label, ((key, at),) in lines.items():
            points = [(row["n"], row[key][at]) for row in result["crowd"] if row[key][at] > 0]
            pane.plot(*zip(*points), marker="o", markersize=3, label=label)
        pane.set_xscale("log")
        pane.set_yscale("log")
        pane.set_xlabel("clients")
        pane.set_title(f"{result['set']} {operation}")
        pane.grid(alpha=0.3)
    panes[0].set_ylabel("milliseconds")
    panes[0].legend(fontsize=8)
    save(figure, path)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        result = json.load(file)
    threads(result, sys.argv[2] + "_threads.svg")
    clients(result, sys.argv[2] + "_clients.svg")


if __name__ == "__main__":
    main()
