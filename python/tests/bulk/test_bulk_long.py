# SPDX-License-Identifier: Apache-2.0
"""Tests three jobs of ten million rows of ML-KEM-768, in memory that does not grow. Takes 25 GB of disk.

POLYKEM_BULK_ROWS sets another number of rows, POLYKEM_BULK_FOLDER another place. bench/bulk/scale.py measures.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3] / "bench/bulk"))
import scale  # noqa: E402

ROWS = int(float(os.environ.get("POLYKEM_BULK_ROWS", 1e7)))


@pytest.mark.long
def test_ten_million_rows_in_flat_memory(tmp_path):
    parent = os.environ.get("POLYKEM_BULK_FOLDER", tmp_path)
    needed = 1.2 * ROWS * scale.BYTES_A_ROW
    if shutil.disk_usage(parent).free < needed:
        pytest.skip(f"{ROWS} rows take {needed / 1e9:.1f} GB of disk")
    for summary in scale.three_jobs(ROWS, parent):
        first, second = summary["peak_mb"]
        assert second < 1.15 * first + 50, f"memory grew from {first} to {second} MB"
