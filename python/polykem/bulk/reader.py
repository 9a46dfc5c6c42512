# SPDX-License-Identifier: Apache-2.0
"""Reading what jobs have written: verification, and rows with their secret columns in plain."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow.parquet as pq

from . import secrets
from .errors import DATA, USAGE, BulkError
from .files import open_folder, replacing
from .inputs import Dataset
from .layout import Folder, data_name, is_job


def folder_of(path):
    if not is_job(path):
        raise BulkError(f"{path} is no folder of a bulk job: it has no job.json", DATA)
    return Folder(path)


def open_column_key(path, key=None, private_key=None):
    """The key of a job's secret columns; None where they are plain.

    Parameters
    ----------
    path : str
        The job's folder.
    key : bytes, optional
        Of the key file that the job was protected with.
    private_key : bytes, optional
        The secret key of the HPKE recipient that it was protected to.
    """
    job = folder_of(path).job()
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


def verify(path, column_key=None, say=lambda line: None):
    """Looks at every partition of a job.

    Parameters
    ----------
    path : str
    column_key : bytes, optional
        Also decrypts every secret column.
    say : callable
        Takes a line for each fault.

    Returns
    -------
    dict
        How many partitions are good, missing and damaged.
    """
    folder = folder_of(path)
    job, found = folder.job(), {"partitions": 0, "good": 0, "missing": 0, "damaged": 0}
    secret = [column.name for column in job.writes if column.secret]
    for partition in range(job.partitions):
        fault = folder.fault(job, partition)
        if fault is None and column_key is not None and secret:
            fault = _unreadable(folder, job, partition, column_key, secret)
        found["partitions"] += 1
        found["good" if fault is None else "missing" if fault == "missing" else "damaged"] += 1
        if fault:
            say(f"partition {partition}: {fault}")
    manifest = folder.manifest()
    found["complete"] = bool(manifest and manifest.get("complete") and manifest["job"] == job.id
                             and found["good"] == job.partitions)
    return found


def _unreadable(folder, job, partition, column_key, columns):
    rows = job.span(partition)[1]
    record = {"files": [{"name": f"data/{data_name(partition)}", "rows": rows}], "first_partition": partition}
    try:
        Dataset(folder.path, column_key, record).read(0, rows, columns)
    except BulkError as error:
        return str(error)
    return None


def export(path, target, column_key, columns=None, first=0, count=None):
    """Writes rows of a complete job, secret columns in plain, to one Parquet file.

    Returns
    -------
    int
        Rows that were written.
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
            writer = writer or pq.ParquetWriter(file, table.schema.remove_metadata(), compression="none",
                                                use_dictionary=False, write_statistics=False)
            writer.write_table(table)
        if writer:
            writer.close()
    return max(0, end - first)
