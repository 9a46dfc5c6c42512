# SPDX-License-Identifier: Apache-2.0
"""The folder of a job, and the commit of a partition.

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
import functools
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from . import distinct, files, statuses
from .authentic import MANIFEST, RECEIPT, Authority
from .column import Json
from .errors import CHECK_FAILED, DATA, IO, USAGE, BulkError, explained

MANIFEST_SCHEMA = "polykem-bulk-manifest-1"
READ_BYTES = 4 << 20
LOCK_TEXT = b"polykem-bulk lock\n"
LOCK_LOOKS, LOCK_SECONDS = 20, 0.1  # to wait while another process creates the lock
TEMPORARY = re.compile(r"(part-\d{6,}\.(parquet|json)|job\.json|manifest\.json)\.[0-9a-f]+\.tmp")

if TYPE_CHECKING:
    from .job import Job


def is_job(path: str | os.PathLike[str]) -> bool:
    return os.path.lexists(Path(path) / "job.json")


class Hashed:
    """A file that is written once, with the SHA-256 and the number of its bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.digest, self.bytes, self.closed = file, hashlib.sha256(), 0, False

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.bytes += len(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()

    def close(self) -> None:
        self.closed = True


def digest_of(file: BinaryIO) -> str:
    """Returns the SHA-256 of an open file, in hexadecimal."""
    digest = hashlib.sha256()
    while data := file.read(READ_BYTES):
        digest.update(data)
    return digest.hexdigest()


def data_name(partition: int) -> str:
    return f"part-{partition:06d}.parquet"


def receipt_name(partition: int) -> str:
    return f"part-{partition:06d}.json"


class Folder:
    """The folder of one job.

    Parameters
    ----------
    path : str
    ours : bool
        Refuse what belongs to other users, since the folder is written to.
    """

    def __init__(self, path: str | os.PathLike[str], ours: bool = False) -> None:
        self.path, self.ours = Path(path), ours
        self.authority: Authority | None = None  # signs and checks records, once the job's key is known

    @functools.cached_property
    def root(self) -> files.Directory:
        return files.open_folder(self.path, self.ours)

    @functools.cached_property
    def data(self) -> files.Directory:
        return self.root.folder("data")

    @functools.cached_property
    def receipts(self) -> files.Directory:
        return self.root.folder("receipts")

    @property
    def tmp(self) -> files.Directory:
        return self.root.folder("tmp")

    def exists(self) -> bool:
        """Returns whether the folder exists; raises if the path is not a folder."""
        if not os.path.lexists(self.path):
            return False
        return self.root is not None

    def check_free(self) -> None:
        """Raises if the folder holds anything but the remains of a job that died before it wrote job.json."""
        with explained(self.path):
            for name in self.root.names():
                if name == "lock":
                    self._check_lock().close()
                elif name not in ("data", "receipts", "tmp") or not self._unused(name):
                    raise BulkError(f"{self.path} holds other files ('{name}')", USAGE, "name an empty or a new folder")

    def _unused(self, name: str) -> bool:
        return all(name == "tmp" and TEMPORARY.fullmatch(below) for below in self.root.folder(name).names())

    def _check_lock(self) -> BinaryIO:
        """Returns the open lock, which is never written to; refuses a file of this name that no job has made."""
        for _ in range(LOCK_LOOKS):
            file = self.root.read("lock", for_lock=True)
            text = file.read(len(LOCK_TEXT) + 1)
            if text == LOCK_TEXT:
                return file
            file.close()
            if text:
                break
            time.sleep(LOCK_SECONDS)  # another process may be creating it
        raise BulkError(f"{self.path / 'lock'} was not made by polykem-bulk", USAGE,
                        "name another folder, or remove that file if nobody needs it")

    def make(self) -> None:
        """Makes the folder itself, for its owner alone, with those above it."""
        with explained(self.path):
            if not self.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.mkdir(files.FOLDER_MODE, exist_ok=True)

    def create(self, job: Job) -> None:
        """Writes job.json and makes the folders of a new job."""
        self.check_free()
        with explained(self.path):
            self.root.keep_private()
            self.make_folders()
            self.write("job.json", job.to_json())

    def forget_beginning(self, before: set[str]) -> None:
        """Removes what `create` and `locked` have made, except for the names in `before`. There are no rows yet."""
        with contextlib.suppress(OSError):
            for name in {"job.json", "lock"} - before:
                self.root.remove(name)
            for name in {"data", "receipts", "tmp"} - before:
                self.root.remove_folder(name)

    def make_folders(self) -> None:
        with explained(self.path):
            for name in ("data", "receipts", "tmp"):
                self.root.folder(name, make=True)

    def job(self) -> Job:
        from .job import from_json
        path = self.path / "job.json"
        with explained(path):
            try:
                text = self.root.read_text("job.json")
            except UnicodeDecodeError as error:
                raise BulkError(f"{path} is not text: {error.reason}", DATA) from None
            return from_json(text, path)

    def write(self, name: str, text: str) -> None:
        """Writes a small file, which appears whole or not at all."""
        with files.replacing(self.root, name, self.tmp) as file:
            file.write(text.encode())

    def signer(self) -> Authority:
        """Returns the authority that signs the records. Every writer of the folder has set it."""
        assert self.authority is not None
        return self.authority

    def commit(self, job: Job, partition: int, write_table: Callable[[Hashed], None], counts: Json) -> Json:
        """Writes a partition with `write_table(file)`, and its receipt. Returns the receipt.

        A disk that is full, or a worker that dies, leaves at most files in tmp/.
        """
        with files.replacing(self.data, data_name(partition), self.tmp) as file:
            hashed = Hashed(file)
            write_table(hashed)
        first, rows = job.span(partition)
        receipt = {"job": job.id, "partition": partition, "first_row": first, "rows": rows, "bytes": hashed.bytes,
                   "sha256": hashed.digest.hexdigest(), **counts}
        receipt = self.signer().signed(RECEIPT, receipt)
        with files.replacing(self.receipts, receipt_name(partition), self.tmp) as file:
            file.write((json.dumps(receipt) + "\n").encode())
        return receipt

    def receipt(self, job: Job, partition: int) -> Json | None:
        """Returns the receipt of a partition, or None if there is no valid one."""
        try:
            receipt = json.loads(self.receipts.read_text(receipt_name(partition)))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(receipt, dict) or receipt.get("partition") != partition:
            return None
        if receipt.get("job") != job.id:
            raise BulkError(f"{self.receipts.path / receipt_name(partition)} belongs to another job", DATA,
                            "two jobs were mixed in this folder; give each its own")
        return receipt

    def fault(self, job: Job, partition: int, thorough: bool = True) -> str | None:
        """Describes what is wrong with a partition: "missing", another fault, or None if it is as it was committed."""
        try:
            receipt = self.receipt(job, partition)
            if receipt is None or not self.data.has(data_name(partition)):
                return "missing"
            if (receipt.get("first_row"), receipt.get("rows")) != job.span(partition):
                return "its receipt names other rows"
            if self.authority and not self.authority.wrote(RECEIPT, receipt):
                return "its receipt is not as this job wrote it"
            with self.data.read(data_name(partition)) as file:
                size = os.fstat(file.fileno()).st_size
                if size != receipt.get("bytes"):
                    return f"it has {size} bytes instead of {receipt.get('bytes')}"
                if thorough and digest_of(file) != receipt.get("sha256"):
                    return "its SHA-256 is not the receipt's"
        except FileNotFoundError:
            return "missing"
        except files.Foreign as error:
            return str(error)
        return None

    def finish(self, job: Job) -> Json:
        """Writes manifest.json from the receipts. Returns its contents."""
        receipts = []
        for partition in range(job.partitions):
            receipt = self.receipt(job, partition)
            if receipt is None or not self.signer().wrote(RECEIPT, receipt):
                raise BulkError(f"partition {partition} was committed but is gone", CHECK_FAILED, "resume the job")
            receipts.append(receipt)
        manifest = {"schema": MANIFEST_SCHEMA, "job": job.id, "complete": True, "partitions": job.partitions,
                    "rows": sum(receipt["rows"] for receipt in receipts),
                    **statuses.of_receipts(receipts),
                    "bytes": sum(receipt["bytes"] for receipt in receipts), **distinct.of_receipts(receipts),
                    "files": [{"name": f"data/{data_name(receipt['partition'])}", "rows": receipt["rows"],
                               "bytes": receipt["bytes"], "sha256": receipt["sha256"]} for receipt in receipts]}
        manifest = self.signer().signed(MANIFEST, manifest)
        self.write("manifest.json", json.dumps(manifest, indent=1) + "\n")
        self.forget_leftovers()
        self.root.remove_folder("tmp")
        return manifest

    def manifest(self) -> Json | None:
        """Returns the manifest of a complete job, or None."""
        try:
            manifest = json.loads(self.root.read_text("manifest.json"))
        except (OSError, ValueError, RecursionError):
            return None
        return manifest if isinstance(manifest, dict) else None

    def manifest_fault(self, job: Job, manifest: Json | None) -> str | None:
        """Describes why a manifest is not this complete job's; returns None if it is."""
        if not manifest or manifest.get("complete") is not True or manifest.get("job") != job.id:
            return f"the job in {self.path} is not complete"
        if self.authority and not self.authority.wrote(MANIFEST, manifest):
            return f"{self.path / 'manifest.json'} is not as the job wrote it"
        named = manifest.get("files")
        wanted = [(f"data/{data_name(number)}", job.span(number)[1]) for number in range(job.partitions)]
        if not isinstance(named, list) or not all(isinstance(file, dict) for file in named) \
                or [(file.get("name"), file.get("rows")) for file in named] != wanted:
            return f"{self.path / 'manifest.json'} names other files than the job has"
        return None

    def dataset_record(self, job: Job) -> Json:
        """Returns a complete job's entry as the input of another job."""
        manifest = self.manifest()
        fault = self.manifest_fault(job, manifest)
        if fault or manifest is None:
            raise BulkError(fault or "", DATA, "resume it first")
        return {"files": manifest["files"]}

    def strangers(self, job: Job) -> list[str]:
        """Returns the names in data/ that are not partitions but that a reader of the folder would take for rows."""
        if not self.root.has("data"):
            return []
        known = {data_name(partition) for partition in range(job.partitions)}
        return [name for name in self.data.names() if name not in known and not name.startswith((".", "_"))]

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the folder, so that it has one driver only. The lock ends with its process."""
        with explained(self.path / "lock"):
            with contextlib.suppress(FileExistsError), self.root.new("lock") as made:
                made.write(LOCK_TEXT)
            file = self._check_lock()
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise BulkError(f"another process works on {self.path}", IO, "wait for it, or end it") from None
            yield

    def free_bytes(self) -> int:
        """Returns the free space on the disk of the folder, which need not exist yet."""
        existing = next(path for path in (self.path.absolute(), *self.path.absolute().parents) if os.path.exists(path))
        with explained(existing):
            return shutil.disk_usage(existing).free

    def forget_leftovers(self) -> None:
        """Removes what a crash left in tmp/, and nothing else there."""
        with explained(self.path / "tmp"):
            tmp = self.tmp if self.root.has("tmp") else None
            for name in tmp.names() if tmp else ():
                if tmp and TEMPORARY.fullmatch(name):
                    tmp.remove(name)
