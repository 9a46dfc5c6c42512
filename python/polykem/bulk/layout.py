# SPDX-License-Identifier: Apache-2.0
"""The folder of a job, and what makes a partition committed.

    job.json                     what the job is; written first
    data/part-000000.parquet     a partition's rows
    receipts/part-000000.json    rows, bytes and SHA-256 of that file: the partition is committed
    manifest.json                all receipts in one; written when the job is complete
    tmp/                         what has not been committed

A file is written under a name of its own in tmp/, flushed to the disk and renamed; first the data, then the receipt.
Two workers that both compute a partition write the same bytes, so that the second rename changes nothing.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import uuid
from pathlib import Path

from . import distinct, statuses
from .errors import CHECK_FAILED, DATA, IO, USAGE, BulkError, explained

MANIFEST_SCHEMA = "polykem-bulk-manifest-1"
READ_BYTES = 4 << 20


def is_job(path):
    return (Path(path) / "job.json").is_file()


def flush_folder(path):
    """Makes the names in a folder outlive a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class Hashed:
    """A file that is written once, with the SHA-256 and the number of its bytes."""

    def __init__(self, file):
        self.file, self.digest, self.bytes, self.closed = file, hashlib.sha256(), 0, False

    def write(self, data):
        self.digest.update(data)
        self.bytes += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    def close(self):
        self.closed = True


def digest_of(path):
    """SHA-256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while data := file.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


@contextlib.contextmanager
def replacing(target, folder):
    """A file that takes its name when the block has ended without an error; until then it lies in `folder`."""
    temporary = folder / f"{target.name}.{uuid.uuid4().hex}.tmp"
    with explained(target):
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        flush_folder(target.parent)


class Folder:
    """The folder of one job."""

    def __init__(self, path):
        self.path = Path(path)
        self.data, self.receipts, self.tmp = self.path / "data", self.path / "receipts", self.path / "tmp"

    def data_file(self, partition):
        return self.data / f"part-{partition:06d}.parquet"

    def receipt_file(self, partition):
        return self.receipts / f"part-{partition:06d}.json"

    def create(self, job):
        """Makes the folder and writes job.json; refuses a folder that holds something else."""
        with explained(self.path):
            if self.path.exists() and not self.path.is_dir():
                raise BulkError(f"{self.path} is no folder", IO)
            if self.path.is_dir() and set(os.listdir(self.path)) - {"tmp", "data", "receipts", "lock"}:
                raise BulkError(f"{self.path} holds other files", USAGE, "name an empty or a new folder")
            self.make_folders()
            self.write("job.json", job.to_json())

    def forget_beginning(self, before):
        """Removes what `create` and `locked` have made, but for the names in `before`, where no rows are yet."""
        with contextlib.suppress(OSError):
            for name in {"job.json", "lock"} - before:
                (self.path / name).unlink(missing_ok=True)
            for folder in (self.data, self.receipts, self.tmp):
                if folder.name not in before and folder.is_dir():
                    folder.rmdir()

    def make_folders(self):
        for folder in (self.data, self.receipts, self.tmp):
            folder.mkdir(parents=True, exist_ok=True)

    def job(self):
        from .job import from_json
        path = self.path / "job.json"
        with explained(path):
            return from_json(path.read_text(), path)

    def write(self, name, text):
        """A small file that appears whole or not at all."""
        with self.replacing(self.path / name) as file:
            file.write(text.encode())

    def replacing(self, target):
        """`replacing` with its temporary file in tmp/."""
        return replacing(target, self.tmp)

    def commit(self, job, partition, write_table, counts):
        """Writes a partition with `write_table(file)`, and its receipt. Returns the receipt.

        A disk that is full, or a worker that dies, leaves at most files in tmp/.
        """
        with self.replacing(self.data_file(partition)) as file:
            hashed = Hashed(file)
            write_table(hashed)
        first, rows = job.span(partition)
        receipt = {"job": job.id, "partition": partition, "first_row": first, "rows": rows, "bytes": hashed.bytes,
                   "sha256": hashed.digest.hexdigest(), **counts}
        with self.replacing(self.receipt_file(partition)) as file:
            file.write((json.dumps(receipt) + "\n").encode())
        return receipt

    def receipt(self, job, partition):
        """The receipt of a partition, or None where there is none that can be one."""
        try:
            receipt = json.loads(self.receipt_file(partition).read_text())
        except (OSError, ValueError):
            return None
        if not isinstance(receipt, dict) or receipt.get("partition") != partition:
            return None
        if receipt.get("job") != job.id:
            raise BulkError(f"{self.receipt_file(partition)} belongs to another job", DATA,
                            "two jobs were mixed in this folder; give each its own")
        return receipt

    def fault(self, job, partition, thorough=True):
        """What is wrong with a partition, in words; None if it is as it was committed, "missing" if it is not there."""
        receipt, path = self.receipt(job, partition), self.data_file(partition)
        if receipt is None or not path.is_file():
            return "missing"
        if (receipt.get("first_row"), receipt.get("rows")) != job.span(partition):
            return "its receipt names other rows"
        if path.stat().st_size != receipt["bytes"]:
            return f"it has {path.stat().st_size} bytes instead of {receipt['bytes']}"
        if thorough and digest_of(path) != receipt["sha256"]:
            return "its SHA-256 is not the receipt's"
        return None

    def finish(self, job):
        """Writes manifest.json from the receipts. Returns what it says."""
        receipts = [self.receipt(job, partition) for partition in range(job.partitions)]
        lacking = [number for number, receipt in enumerate(receipts) if receipt is None]
        if lacking:
            raise BulkError(f"partition {lacking[0]} was committed and is gone", CHECK_FAILED, "resume the job")
        manifest = {"schema": MANIFEST_SCHEMA, "job": job.id, "complete": True, "partitions": job.partitions,
                    "rows": sum(receipt["rows"] for receipt in receipts),
                    **statuses.of_receipts(receipts),
                    "bytes": sum(receipt["bytes"] for receipt in receipts), **distinct.of_receipts(receipts),
                    "files": [{"name": f"data/{self.data_file(receipt['partition']).name}", "rows": receipt["rows"],
                               "bytes": receipt["bytes"], "sha256": receipt["sha256"]} for receipt in receipts]}
        self.write("manifest.json", json.dumps(manifest, indent=1) + "\n")
        shutil.rmtree(self.tmp, ignore_errors=True)
        return manifest

    def manifest(self):
        """The manifest of a complete job, or None."""
        try:
            return json.loads((self.path / "manifest.json").read_text())
        except (OSError, ValueError):
            return None

    def dataset_record(self, job):
        """A complete job as the input of another one."""
        manifest = self.manifest()
        if not manifest or not manifest.get("complete") or manifest.get("job") != job.id:
            raise BulkError(f"the job in {self.path} is not complete", DATA, "resume it first")
        return {"files": manifest["files"]}

    @contextlib.contextmanager
    def locked(self):
        """One driver for a folder. The lock ends with its process."""
        path = self.path / "lock"
        with explained(path):
            file = open(path, "w")
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BulkError(f"another process works on {self.path}", IO, "wait for it, or end it") from None
            yield

    def free_bytes(self):
        """Room on the disk of the folder, which need not be there yet."""
        place = next(path for path in (self.path.absolute(), *self.path.absolute().parents) if os.path.exists(path))
        with explained(place):
            return shutil.disk_usage(place).free

    def forget_leftovers(self):
        """Removes what a crash left in tmp/."""
        with explained(self.tmp):
            for path in self.tmp.iterdir() if self.tmp.is_dir() else ():
                path.unlink(missing_ok=True)
