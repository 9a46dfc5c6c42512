# SPDX-License-Identifier: Apache-2.0
"""Loads measured results, and formats tables as Markdown."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"


def load(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def present(name):
    return (RESULTS / name).exists()


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"
