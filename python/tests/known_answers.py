# SPDX-License-Identifier: Apache-2.0
"""The repository's folder, and its known answers."""

import gzip
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


def known_answers(name):
    """Returns the counts of one set's file of PQCgenKAT (tests/data/README.md)."""
    path = DATA / f"{name}.json"
    text = path.read_text() if path.exists() else gzip.decompress((DATA / f"{name}.json.gz").read_bytes())
    return json.loads(text)["counts"]
