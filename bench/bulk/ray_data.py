#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the same keys by polykem-bulk and by Ray Data's map_batches and write_parquet, on this host's CPUs.

    PYTHONPATH=build/python python3 bench/bulk/ray_data.py --rows 1e6 --json bench/results/bulk_ray_data.json

Ray Data writes secret keys in plain and draws them afresh; it is measured for the cost of rows that pass through Ray's
object store (docs/adr/0013-bulk-jobs.md). For both the time counts from a cluster that is up to the last file.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import psutil
import ray
from polykem.bulk.cluster import own_cluster


class PeakMemory:
    """Records the largest resident memory of this process's descendants during the block; shared memory counts once."""

    def __enter__(self):
        self.peak, self.running = 0, True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def __exit__(self, *error):
        self.running = False
        self.thread.join()

    def watch(self):
        while self.running:
            total = 0
            for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
                try:
                    memory = process.memory_info()
                    total += memory.rss - memory.shared
                except psutil.Error:
                    pass
            store = sum(path.stat().st_blocks * 512 for path in Path("/dev/shm").glob("plasma*") if path.exists())
            self.peak = max(self.peak, total + store)
            time.sleep(0.1)


def keys(batch):
    """Makes a key pair for each row of a batch, in columns of fixed width."""
    import polykem
    import pyarrow as pa
    pk, sk = polykem.Context(threads=os.cpu_count()).keygen("mlkem768", len(batch["id"]))
    arrays = [pa.FixedSizeBinaryArray.from_buffers(pa.binary(a.shape[1]), len(a), [None, pa.py_buffer(a)])
              for a in (pk, np.asarray(sk).copy())]
    return pa.table(arrays, names=["pk", "sk"])


def with_ray_data(rows, folder, rows_of_a_block):
    dataset = ray.data.range(rows, override_num_blocks=-(-rows // rows_of_a_block))
    dataset.map_batches(keys, batch_size=None, num_cpus=os.cpu_count()).write_parquet(folder, compression="none")


def bulk_job(rows, folder, key):
    from polykem.bulk import cli
    arguments = ["keygen", folder, "--count", str(rows), "--key-file", key, "--ray", "auto", "--quiet", "--json",
                 folder + ".json"]
    assert cli.main(arguments) == 0
    return json.loads(Path(folder + ".json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--way", choices=["bulk", "data"])
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = int(options.rows)
    if options.way is None:
        found = [json.loads(subprocess.run([sys.executable, __file__, "--rows", str(rows), "--way", way],
                                           stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1])
                 for way in ("bulk", "data")]
        print(json.dumps(found, indent=1))
        if options.json:
            record = {"schema": "polykem-bulk-ray-data-1", "runs": found}
            Path(options.json).write_text(json.dumps(record, indent=1) + "\n")
        return
    with tempfile.TemporaryDirectory() as folder, own_cluster():
        os.environ["RAY_ADDRESS"] = ray.get_runtime_context().gcs_address
        begun = time.monotonic()
        with PeakMemory() as memory:
            if options.way == "data":
                with_ray_data(rows, folder + "/out", 74_898)
            else:
                from polykem.bulk import secrets
                secrets.make_key_file(folder + "/key")
                bulk_job(rows, folder + "/out", folder + "/key")
        seconds = time.monotonic() - begun
        print(json.dumps({"way": options.way, "rows": rows, "seconds": round(seconds, 2),
                          "rows_per_second": round(rows / seconds), "peak_mb": memory.peak // 10**6}))


if __name__ == "__main__":
    main()
