#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures time and memory of three bulk jobs by their number of rows: key pairs, encapsulations and decapsulations of
ML-KEM-768; with --suite, key pairs of an HPKE suite, and a message of 32 bytes to each, sealed and opened.

    export PYTHONPATH=$PWD/build/python
    python3 bench/bulk/scale.py --rows 1e4 1e5 1e6 1e7 --json bench/results/bulk_scale.json
    python3 bench/bulk/scale.py --suite X-Wing,HKDF-SHA256,AES-256-GCM --rows 1e5 1e6 2e6 \\
        --json bench/results/bulk_hpke.json

Keys are seeds, secrets are encrypted under a key file, and nothing else should run. 10^7 rows take 25 GB of disk, which
are freed at the end. After the third job its secrets or messages are compared with those of the sender.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BYTES_A_ROW = 1184 + 64 + 1088 + 32 + 1 + 32 + 1  # of both kinds: X-Wing's keys and encapsulations are about as long
JOBS = [("keygen", "keys", "--seeds"), ("encaps", "sealed", "--input", "keys"),
        ("decaps", "opened", "--seeds", "--input", "keys", "--input", "sealed", "--input-key", "key")]
MESSAGE_JOBS = [("keygen", "keys"), ("seal", "sealed", "--input", "keys", "--input", "letters.parquet"),
                ("open", "opened", "--input", "keys", "--input", "sealed", "--input-key", "key")]
MESSAGE_BYTES = 32
COMPARED_ROWS = 200_000  # at a time


def own_memory(pid):
    """Returns the resident bytes of a process without shared memory and page cache."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    fields = dict(line.split(":", 1) for line in lines)
    return int(fields.get("RssAnon", "0 kB").split()[0]) * 1024


def run(rows, folder, command, name, *options):
    """Runs a job in a process of its own. Returns its summary with `seconds` of the process, start and end included,
    and `peak_mb`, the most memory that it had during each half of the partitions."""
    begun = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "polykem.bulk", command, name, *map(str, options), "--key-file",
                                "key", "--ray", "none", "--quiet", "--json", "-"], stdout=subprocess.PIPE, text=True,
                               cwd=folder)
    receipts, samples = folder / name / "receipts", []
    while process.poll() is None:
        samples.append((len(os.listdir(receipts)) if receipts.is_dir() else 0, own_memory(process.pid)))
        time.sleep(0.05)
    seconds = time.monotonic() - begun
    summary = json.loads(process.stdout.read())
    if process.returncode != 0 or summary["rows"] != rows or summary["bad_rows"] != 0:
        raise RuntimeError(f"{command} of {rows} rows failed: {summary}")
    middle = summary["partitions"] / 2
    summary["peak_mb"] = [max([memory for done, memory in samples if (done > middle) == half] or [0]) // 10**6
                          for half in (False, True)]
    return {**summary, "seconds": round(seconds, 2)}


def parts(rows):
    """Yields (first row, number of rows) of the parts that are written or compared at a time."""
    return [(first, min(COMPARED_ROWS, rows - first)) for first in range(0, rows, COMPARED_ROWS)]


def write_letters(rows, path):
    """Writes a file of random messages."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    kind = pa.binary(MESSAGE_BYTES)
    with pq.ParquetWriter(path, pa.schema([("plaintext", kind)])) as file:
        for _, count in parts(rows):
            data = pa.py_buffer(os.urandom(count * MESSAGE_BYTES))
            file.write_table(pa.table({"plaintext": pa.Array.from_buffers(kind, count, [None, data])}))


def compare(rows, folder, column, sent):
    """Raises an error unless the last job's column equals what was sent, which is a column of another job or a file."""
    from polykem.bulk import Dataset, open_column_key
    from polykem.bulk.secrets import read_key_file
    key = read_key_file(folder / "key")
    both = [Dataset(path, open_column_key(path, key) if path.is_dir() else None)
            for path in (folder / sent, folder / "opened")]
    for first, count in parts(rows):
        one, other = (dataset.read(first, count, [column]).column(column) for dataset in both)
        if one != other:
            raise RuntimeError(f"{column} of rows {first} to {first + count - 1} is another one")


def three_jobs(rows, parent, suite=None):
    """Runs the jobs in a folder and removes what they wrote. Returns their summaries."""
    with tempfile.TemporaryDirectory(dir=parent) as temporary:
        folder = Path(temporary)
        subprocess.run([sys.executable, "-m", "polykem.bulk", "new-key", "key"], check=True, cwd=folder)
        if suite:
            write_letters(rows, folder / "letters.parquet")
        summaries = []
        for job in MESSAGE_JOBS if suite else JOBS:
            summaries.append(run(rows, folder, *job, *(("--count", rows) if job[0] == "keygen" else ()),
                                 *(("--suite", suite) if suite else ())))
        compare(rows, folder, *(("plaintext", "letters.parquet") if suite else ("ss", "sealed")))
    return summaries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[1e4, 1e5])
    parser.add_argument("--suite", help="KEM,KDF,AEAD: messages instead of encapsulations")
    parser.add_argument("--machine", default="this machine", help="words for the table")
    parser.add_argument("--commit", default="", help="of which the package is")
    parser.add_argument("--folder", default=".", help="where the jobs' files go meanwhile")
    parser.add_argument("--json")
    options = parser.parse_args()
    records = []
    for rows in map(int, options.rows):
        needed = int(1.2 * rows * BYTES_A_ROW)
        if shutil.disk_usage(options.folder).free < needed:
            sys.exit(f"scale.py: {rows} rows take {needed / 1e9:.1f} GB in {options.folder}, which has less free")
        for summary in three_jobs(rows, options.folder, options.suite):
            records.append({"job": summary["operation"], "rows": rows, "seconds": summary["seconds"],
                            "bytes": summary["bytes"], "peak_mb": summary["peak_mb"]})
            print(json.dumps(records[-1]), flush=True)
    if options.json:
        record = {"commit": options.commit, "command": " ".join(["bench/bulk/scale.py", *sys.argv[1:]]),
                  "machine": options.machine, "records": records}
        Path(options.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
