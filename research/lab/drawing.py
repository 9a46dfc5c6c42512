# SPDX-License-Identifier: Apache-2.0
"""Plotting by matplotlib for report.py and report_ckks.py."""

import sys
from pathlib import Path


def pyplot(document):
    """Returns matplotlib's pyplot, set up for reproducible plots; None, after a note, if there is nothing to draw or
    no matplotlib."""
    if not document["gpu"]:
        print("no plots: nothing was measured on a GPU", file=sys.stderr)
        return None
    try:
        import matplotlib  # pylint: disable=import-outside-toplevel
    except ImportError:
        print(f"no plots: matplotlib is missing; pip install -r {Path(__file__).with_name('requirements.txt')}",
              file=sys.stderr)  # fmt: skip
        return None
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "polykem"
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    return plt


def save(figure, path, records):
    """Writes the plot, without a date, with a note below it on what the measurement lacks."""
    if records.missing():
        figure.text(0.5, -0.02, records.missing(), ha="center", color="tab:red")
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    lines = [line.rstrip() for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
