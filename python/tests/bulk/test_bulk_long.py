# SPDX-License-Identifier: Apache-2.0
"""Ten million rows of ML-KEM-768 through three jobs, in memory that does not grow. Takes 25 GB of disk.

    POLYKEM_BULK_ROWS=1000000 python -m pytest python/tests/bulk/test_long.py -s

prints a line of JSON for each job.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROWS = int(float(os.environ.get("POLYKEM_BULK_ROWS", 1e7)))
BYTES_A_ROW = 1184 + 64 + 1088 + 32 + 1 + 32 + 1


def peak_kb(pid):
    """Peak resident memory of a process, shared memory and page cache apart."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields.get("RssAnon", "0 kB").split()[0])


def run(folder, *arguments):
    """Runs a job in a process of its own. Returns its summary with the peak memory of its halves."""
    process = subprocess.Popen([sys.executable, "-m", "polykem.bulk", *map(str, arguments), "--key-file", "key",
                                "--ray", "none", "--quiet", "--json", "-"], stdout=subprocess.PIPE, text=True)
    receipts, samples = Path(folder) / "receipts", []
    while process.poll() is None:
        samples.append((len(os.listdir(receipts)) if receipts.is_dir() else 0, peak_kb(process.pid)))
        time.sleep(0.05)
    summary = json.loads(process.stdout.read())
    assert process.returncode == 0 and summary["rows"] == ROWS and summary["bad_rows"] == 0
    middle = summary["partitions"] / 2
    summary["peak_mb"] = [max([kb for done, kb in samples if (done > middle) == half] or [0]) // 1000
                          for half in (0, 1)]
    print(json.dumps(summary), flush=True)
    return summary


@pytest.mark.long
def test_ten_million_rows_in_flat_memory(tmp_path, monkeypatch):
    folder = tempfile.mkdtemp(dir=os.environ.get("POLYKEM_BULK_FOLDER", tmp_path))
    monkeypatch.chdir(folder)
    try:
        three_jobs()
    finally:
        shutil.rmtree(folder)  # pytest would keep it


def three_jobs():
    if shutil.disk_usage(".").free < 1.2 * ROWS * BYTES_A_ROW:
        pytest.skip(f"{ROWS} rows take {ROWS * BYTES_A_ROW / 1e9:.1f} GB of disk")
    subprocess.run([sys.executable, "-m", "polykem.bulk", "new-key", "key"], check=True)
    summaries = [run("keys", "keygen", "keys", "--count", ROWS, "--seeds"),
                 run("sealed", "encaps", "sealed", "--input", "keys"),
                 run("opened", "decaps", "opened", "--seeds", "--input", "keys", "--input", "sealed",
                     "--input-key", "key")]
    for summary in summaries:
        first, second = summary["peak_mb"]
        assert second < 1.15 * first + 50, f"memory grew from {first} to {second} MB"
    same_secrets()


def same_secrets():
    """Both sides have the same secrets, compared in pieces."""
    from polykem.bulk import Dataset, open_column_key
    from polykem.bulk.secrets import read_key_file
    key = read_key_file("key")
    ours, theirs = (Dataset(job, open_column_key(job, key)) for job in ("sealed", "opened"))
    step = 200_000
    for first in range(0, ROWS, step):
        rows = min(step, ROWS - first)
        assert ours.read(first, rows, ["ss"]).column("ss").to_pylist() == \
            theirs.read(first, rows, ["ss"]).column("ss").to_pylist()
