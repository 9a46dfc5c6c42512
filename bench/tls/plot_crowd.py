#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the results of crowd.py for comparison with figures 12 and 13 of [SEONG21]. Needs matplotlib.

    plot_crowd.py RESULT.json OUT.svg
"""

import json
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "polykem"
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402

LOADS = {"server": "the server nearly alone: clients replay a ClientHello",
         "whole": "whole handshakes, clients on the same cores"}
QUANTITIES = {"per_second": ("clients served per second", 1), "p50_us": ("p50, ms", 1e-3), "p99_us": ("p99, ms", 1e-3)}


def draw(pane, points, quantity):
    """Returns a colour for each group, or for each row if rows of one group differ otherwise; dashed if jobs pause."""
    unit, scale = QUANTITIES[quantity]
    names = {point["name"]: (point["group"], point["asynchronous"]) for point in points}
    by = "group" if len(set(names.values())) == len(names) else "name"
    colours = list(dict.fromkeys(point[by] for point in points))
    for name in dict.fromkeys(point["name"] for point in points):
        row = [point for point in points if point["name"] == name]
        pane.plot([point["clients"] for point in row], [scale * point[quantity] for point in row], marker="o",
                  markersize=3, label=name, color=f"C{colours.index(row[0][by])}",
                  linestyle="--" if row[0]["asynchronous"] else "-")
    pane.set_xscale("log")
    if quantity == "per_second":
        pane.set_ylim(bottom=0)
    else:
        pane.set_yscale("log")
    pane.minorticks_off()
    for axis in (pane.xaxis, pane.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    pane.set_ylabel(unit)
    pane.grid(alpha=0.3)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1]) as file:
        result = json.load(file)
    figure, panes = plt.subplots(len(QUANTITIES), len(LOADS), figsize=(11, 11), sharex=True, sharey="row",
                                 layout="constrained")
    for column, (load, title) in zip(panes.T, LOADS.items()):
        for pane, quantity in zip(column, QUANTITIES):
            draw(pane, [point for point in result["points"] if point["load"] == load], quantity)
        column[0].set_title(title, fontsize=11)
        column[-1].set_xlabel("clients that come at once")
    figure.legend(*panes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9)
    figure.suptitle(f"HAProxy with polykem, backend: {result['backend']}; {result['machine']}", fontsize=11)
    figure.savefig(sys.argv[2], metadata={"Date": None})
    with open(sys.argv[2]) as file:
        lines = [line.rstrip() for line in file]
    with open(sys.argv[2], "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
