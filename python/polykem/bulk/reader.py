# SPDX-License-Identifier: Apache-2.0
"""Reads what jobs have written: verification, and rows with decrypted secret columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from . import secrets
from .column import Json
from .errors import DATA, USAGE, BulkError
from .files import open_folder, replacing
from .inputs import Dataset
from .job import Job, authority_of, check_secret, column_key
from .job_folder import Folder, data_name, is_job
from .values import as_column, take_secret, wipe_column


def folder_of(path: str | os.PathLike[str]) -> Folder:
    if not is_job(path):
        raise BulkError(f"{path} is not a folder of a bulk job: it has no job.json", DATA)
    return Folder(path)


def open_column_key(path: str | os.PathLike[str], key: bytes | None = None, private_key: bytes | None = None,
                    job_secret: bytes | None = None) -> bytes | None:
    """Returns the key of a job's secret columns and records; None if none of the arguments gives it.

    Parameters
    ----------
    path : str
        The job's folder.
    key : bytes, optional
        The contents of the key file that the job was protected with.
    private_key : bytes, optional
        The secret key of the HPKE recipient that it was protected to.
    job_secret : bytes, optional
        The contents of the file that was the job's --job-secret, whatever its protection.
    """
    job = folder_of(path).job()
    if job_secret is not None:
        secret = secrets.derive(job_secret, b"job", job.id.encode())
        check_secret(job, secret)
        return column_key(secret, job.id)
    kind = job.secrets["kind"]
    if kind == "plain" or (key is None and private_key is None):
        return None
    if kind == "aes-256-gcm":
        if key is None:
            raise BulkError(f"{path} is protected by a key file", USAGE, "name it")
        return secrets.open_under(key, job.id, job.secrets)
    if private_key is None:
        raise BulkError(f"{path} is protected to a public key", USAGE, "name the private key")
    from . import recipient
    return recipient.open_key(private_key, job.id, job.secrets)


def verify(path: str | os.PathLike[str], column_key: bytes | None = None,
           say: Callable[[str], None]=lambda line: None) -> Json:
    """Verifies every partition of a job.

    Parameters
    ----------
    path : str
    column_key : bytes, optional
        From `open_column_key`. With it the job's records are authenticated and every secret column is decrypted;
        without it files are only compared with checksums, which whoever can write to the folder can change.
    say : callable
        Takes a line for each fault.

    Returns
    -------
    dict
        The numbers of good, missing and damaged partitions, and whether the job is complete and authenticated.
    """
    folder = folder_of(path)
    job, found = folder.job(), {"partitions": 0, "good": 0, "missing": 0, "damaged": 0}
    if column_key is not None:
        folder.authority = authority_of(job, column_key)
    manifest = folder.manifest()
    whole = folder.manifest_fault(job, manifest)
    for partition in range(job.partitions):
        listed = None if whole or manifest is None else manifest["files"][partition]
        fault = _fault(folder, job, partition, column_key, listed)
        found["partitions"] += 1
        found["good" if fault is None else "missing" if fault == "missing" else "damaged"] += 1
        if fault:
            say(f"partition {partition}: {fault}")
    strangers = folder.strangers(job)
    for line in ([whole] if whole else []) + [f"data/{name} is not a file of this job" for name in strangers]:
        say(line)
    found["complete"] = not whole and not strangers and found["good"] == job.partitions
    found["authenticated"] = column_key is not None
    return found


def _fault(folder: Folder, job: Job, partition: int, column_key: bytes | None, listed: Json | None) -> str | None:
    """Describes what is wrong with a partition, or returns None; `listed` is its entry in the manifest."""
    secret = [column.name for column in job.writes if column.secret]
    try:
        fault = folder.fault(job, partition)
        receipt = folder.receipt(job, partition)
    except BulkError as error:
        return str(error)
    if fault is None and listed and receipt and any(listed.get(name) != receipt[name] for name in ("bytes", "sha256")):
        fault = "the manifest names another file"
    if fault is None and column_key is not None and secret and job.secrets["kind"] != "plain":
        fault = _unreadable(folder, job, partition, column_key, secret)
    return fault


def _unreadable(folder: Folder, job: Job, partition: int, column_key: bytes | None, columns: list[str]) -> str | None:
    rows = job.span(partition)[1]
    record = {"files": [{"name": f"data/{data_name(partition)}", "rows": rows}], "first_partition": partition}
    try:
        wipe_table(Dataset(folder.path, column_key, record).read(0, rows, columns), columns)
    except BulkError as error:
        return str(error)
    return None


def wipe_table(table: pa.Table, names: Sequence[str]) -> None:
    """Overwrites some columns of a table that is no longer used."""
    for name in names:
        wipe_column(table.column(name))


def without_results(table: pa.Table, columns: Sequence[str], bad: npt.NDArray[np.bool_]) -> pa.Table:
    """Returns the table with nulls in some columns of the rows that are `bad`. Overwrites the columns' old memory."""
    for name in columns if bad.any() else ():
        records, _ = take_secret(table.column(name), table.schema.field(name).type.byte_width)
        table = table.set_column(table.schema.get_field_index(name), name, as_column(records, bad))
    return table


def export(path: str | os.PathLike[str], target: str | os.PathLike[str], column_key: bytes | None,
           columns: Sequence[str] | None = None, first: int = 0, count: int | None = None) -> int:
    """Writes rows of a complete job, secret columns in plain, to one Parquet file.

    A secret column comes with the status, if there is one, and is null in rows that have no result.

    Returns
    -------
    int
        The number of rows that were written.
    """
    job = folder_of(path).job()
    dataset = Dataset(path, column_key)
    names = list(columns or dataset.types)
    unknown = sorted(set(names) - set(dataset.types))
    if unknown:
        raise BulkError(f"the job has no column '{unknown[0]}'", USAGE, "it has " + ", ".join(dataset.types))
    for name in names:
        if names.count(name) > 1:
            raise BulkError(f"the column '{name}' is named more than once", USAGE)
    secret = [name for name in names if dataset.is_secret(name)]
    status = dataset.status_name(secret)
    if status is not None and status not in names:
        names.append(status)
    if first >= dataset.rows:
        raise BulkError(f"row {first:,} does not exist: the job has {dataset.rows:,} rows, counted from 0", USAGE)
    end, writer = min(dataset.rows, first + (dataset.rows if count is None else count)), None
    target = Path(target)
    if os.path.lexists(target):
        raise BulkError(f"{target} exists", USAGE, "name another file")
    home = open_folder(target.parent)
    with replacing(home, target.name, home) as file:
        for start in range(first, end, job.group_rows):
            table = dataset.read(start, min(job.group_rows, end - start), names)
            try:
                if status is not None:
                    table = without_results(table, secret, table.column(status).to_numpy() != 0)
                writer = writer or pq.ParquetWriter(file, table.schema.remove_metadata(), compression="none",
                                                    use_dictionary=False, write_statistics=False,
                                                    write_page_checksum=True)
                writer.write_table(table)
            finally:
                wipe_table(table, secret)
        if writer:
            writer.close()
    return int(max(0, end - first))
