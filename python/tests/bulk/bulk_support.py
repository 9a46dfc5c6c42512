# SPDX-License-Identifier: Apache-2.0
"""Helpers of the tests of bulk jobs: program calls, datasets, and a job that is computed again without disturbance."""

import json
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from polykem.bulk import cli


class Place:
    """A temporary folder in which polykem-bulk is called."""

    def __init__(self, path, capfd):
        self.path, self.capfd = path, capfd

    def __call__(self, *arguments, ray="none", expect=0):
        """Runs polykem-bulk. Returns its JSON."""
        command = arguments[0]
        options = ["--json", "-", "--quiet"]
        if command not in ("verify", "export", "new-key", "new-pair"):
            options += ["--ray", ray]
        self.capfd.readouterr()
        code = cli.main([*map(str, arguments), *options])
        out, err = self.capfd.readouterr()
        assert code == expect, err
        return json.loads(out)

    def __truediv__(self, name):
        return self.path / name

    def columns(self, job, *names, key=None):
        """Returns columns of a complete job as arrays."""
        target = self.path / f"export-{len(list(self.path.iterdir()))}.parquet"
        keys = ["--key-file", key] if key else []
        self("export", job, target, "--plain-secrets", *keys, *(word for name in names for word in ("--column", name)))
        return [array_of(pq.read_table(target), name) for name in names]


def array_of(table, name):
    column = table.column(name)
    if pa.types.is_fixed_size_binary(column.type):
        empty = bytes(column.type.byte_width)
        return np.array([list(empty if value is None else value) for value in column.to_pylist()], np.uint8)
    return column.to_numpy()


def fixed(array):
    """Returns a column of fixed width."""
    return pa.array([row.tobytes() for row in array], pa.binary(array.shape[1]))


def data_files(job):
    """Returns the files of a job's partitions: {name: bytes}."""
    return {path.name: path.read_bytes() for path in sorted((Path(job) / "data").iterdir())}


def undisturbed(place, job, *arguments):
    """Computes the same job, with its id, in another folder. Returns its files."""
    other = place / f"undisturbed-{Path(job).name}"
    other.mkdir()
    shutil.copy(Path(job) / "job.json", other)
    place(arguments[0], other, *arguments[1:], "--resume")
    return data_files(other)
