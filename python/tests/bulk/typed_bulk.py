# SPDX-License-Identifier: Apache-2.0
"""An example program with bulk jobs; test_bulk_typing.py checks its types and runs it."""
from __future__ import annotations

import sys
from pathlib import Path

from polykem import bulk


def protected(key_file: str) -> bulk.Keys:
    if not Path(key_file).exists():
        bulk.make_key_file(key_file)
    return bulk.Keys.under(bulk.read_key_file(key_file))


def devices(folder: Path, count: int, keys: bulk.Keys) -> bulk.Dataset:
    summary = bulk.run("keygen", "mlkem768", count=count, output=folder, keys=keys, ray=None)
    rows: int = summary["rows"]
    assert rows == count
    return bulk.open_dataset(folder)


def main() -> int:
    keys = protected("key")
    dataset = devices(Path("keys"), 5, keys)
    try:
        bulk.run("encaps", "mlkem768", inputs=[dataset, Path("keys")], names={"pk": "1:pk"}, output="sent", keys=keys)
        bulk.run("encaps", "mlkem768", inputs=["keys"], output="sent", keys=keys)  # another job: one input
    except bulk.BulkError as error:
        code: int = error.code
        print(error.message, error.hint, code)
    column_key: bytes | None = bulk.open_column_key("sent", bulk.read_key_file("key"))
    written: int = bulk.export("sent", "sent.parquet", column_key, ["ct", "status"])
    job: bulk.Job = bulk.describe("keygen", "mlkem768", rows=10)
    missing: str = bulk.RowStatus.MISSING.text
    complete: bool = bulk.verify("sent", column_key)["complete"]
    print(job.partitions, dataset.rows, missing)
    return 0 if complete and written == 5 else 1


if __name__ == "__main__":
    sys.exit(main())
