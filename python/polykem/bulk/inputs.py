# SPDX-License-Identifier: Apache-2.0
"""Reads rows of Parquet and Arrow datasets, including an earlier job's encrypted columns."""

from __future__ import annotations

import bisect
import hashlib
import itertools
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Union

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.exceptions import InvalidTag

from . import job_folder
from .bounds import check_utf8
from .column import Json, Records
from .errors import DATA, IO, USAGE, BulkError, explained
from .job import Job, authority_of
from .memory import wipe
from .secrets import ColumnCipher
from .values import as_array, as_column, is_binary, width_of

ARROW_SUFFIXES = {".arrow", ".feather", ".ipc"}
SUFFIXES = {".parquet", *ARROW_SUFFIXES}
METADATA = b"polykem-bulk"


class ParquetFile:
    """Row groups of a Parquet file. Pages are checked against their checksums where the writer gave them any."""

    def __init__(self, source: Any) -> None:
        self.file = pq.ParquetFile(source, page_checksum_verification=True, pre_buffer=False)
        self.schema = self.file.schema_arrow
        metadata = self.file.metadata
        self.group_rows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]

    def read_group(self, group: int, columns: list[str]) -> pa.Table:
        return self.file.read_row_group(group, columns=columns, use_threads=False)

    def close(self) -> None:
        self.file.close()


class ArrowFile:
    """Record batches of an Arrow file, as row groups. The format has no checksums."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.source = pa.memory_map(str(path))
        self.file = pa.ipc.open_file(self.source)
        self.schema = self.file.schema
        self.group_rows = [self.file.get_batch(i).num_rows for i in range(self.file.num_record_batches)]

    def read_group(self, group: int, columns: list[str]) -> pa.Table:
        return pa.Table.from_batches([self.file.get_batch(group)]).select(columns)

    def close(self) -> None:
        self.source.close()


File = Union[ParquetFile, ArrowFile]


def open_file(path: str | os.PathLike[str], source: Any = None) -> File:
    """Opens a ParquetFile or an ArrowFile, by its name. `source`: the file, if it is already open."""
    with explained(path):
        try:
            return ArrowFile(path) if Path(path).suffix in ARROW_SUFFIXES else ParquetFile(source or path)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise BulkError(f"{path} cannot be read: {str(error).splitlines()[0]}", DATA) from None


def footer_digest(path: Path) -> str:
    """Returns the SHA-256 of a file's footer, which has the columns' places and, in Parquet, often their extremes."""
    mark = 6 if path.suffix in ARROW_SUFFIXES else 4  # bytes of ARROW1 and of PAR1, which follow the length
    with explained(path), open(path, "rb") as file:
        file.seek(-mark - 4, os.SEEK_END)
        length = int.from_bytes(file.read(4), "little")
        file.seek(-mark - 4 - length, os.SEEK_END)
        return hashlib.sha256(file.read(length)).hexdigest()


def is_hidden(name: str) -> bool:
    """Returns whether a name is hidden, as Hadoop, Spark and pyarrow see it: _temporary, .ipynb_checkpoints."""
    return name.startswith((".", "_"))


def files_below(folder: Path, above: tuple[tuple[int, int], ...]=()) -> tuple[list[Path], list[Path]]:
    """Returns the files below a folder, and those that are hidden or in hidden folders; follows links."""
    status = os.stat(folder)
    if (status.st_dev, status.st_ino) in above:
        raise BulkError(f"{folder} is a link to a folder that it lies in", DATA, "remove the link")
    found: list[Path] = []
    hidden: list[Path] = []
    for name in os.listdir(folder):
        path = folder / name
        if is_hidden(name):
            inside = (Path(where) / file for where, _, files in os.walk(path) for file in files)
            hidden += [file for file in (path, *inside) if file.suffix in SUFFIXES and file.is_file()]
        elif path.is_dir():
            below = files_below(path, (*above, (status.st_dev, status.st_ino)))
            found, hidden = found + below[0], hidden + below[1]
        elif path.suffix in SUFFIXES:
            found.append(path)
    return found, hidden


def files_of(path: str | os.PathLike[str]) -> tuple[list[Path], int]:
    """Returns the files of a dataset in the order of their rows, and how many were left out since they are hidden."""
    path = Path(path)
    if path.is_file():
        return [path], 0
    if not path.is_dir():
        raise BulkError(f"there is no dataset {path}", IO)
    with explained(path):
        found, hidden = files_below(path)
    for file in found:
        check_utf8(str(file), "the file")
    if not found:
        raise BulkError(f"{path} holds no file that ends in " + ", ".join(sorted(SUFFIXES)), DATA,
                        f"{len(hidden)} are hidden: names below it that begin with . or _ are left out"
                        if hidden else "")
    return sorted(found), len(hidden)


def sealed_columns(schema: pa.Schema) -> set[str]:
    """Returns the columns that a job encrypted, according to the file's metadata."""
    try:
        return set(json.loads((schema.metadata or {})[METADATA])["tags"])
    except (KeyError, TypeError, ValueError):
        return set()


class Dataset:
    """A file, a folder of files, or the folder of an earlier job.

    Parameters
    ----------
    path : str
    column_key : bytes, optional
        Opens the secret columns of an earlier job.

    Attributes
    ----------
    rows : int
    widths : dict
        Column -> bytes a row, or None where the width is not fixed.
    binary : set
        Columns whose values are bytes, of a fixed width or not.
    repeated : set
        Names that several columns have.
    sealed : set
        Encrypted columns of a job's files without its job.json, which cannot be decrypted.
    left_out : int
        Number of data files that are left out because a name in their path below the folder begins with . or _.
    """

    def __init__(self, path: str | os.PathLike[str], column_key: bytes | None = None,
                 record: Json | None = None) -> None:
        if not os.fspath(path):
            raise BulkError("a dataset without a name", USAGE)
        self.path, self.column_key = os.path.abspath(path), column_key
        check_utf8(self.path, "the dataset")
        self.job_folder = job_folder.Folder(path) if job_folder.is_job(path) else None
        self.job = self.job_folder.job() if self.job_folder else None
        if self.job and self.job_folder and column_key is not None:
            self.job_folder.authority = authority_of(self.job, column_key)
        self.folder = self.path if os.path.isdir(self.path) else os.path.dirname(self.path)
        self.left_out = 0
        self.sealed: set[str] = set()
        if record is None:
            record = self._look()
        self.files, self.first_partition = record["files"], record.get("first_partition", 0)
        self.names, counts = [file["name"] for file in self.files], [file["rows"] for file in self.files]
        self.starts = [0, *itertools.accumulate(counts)]
        self.rows = self.starts[-1]
        self._open_files: dict[int, File] = {}
        if self.names:
            self._take_schema(self._file(0).schema)

    def _look(self) -> Json:
        """Reads every footer, for the number of rows and to detect replaced files."""
        if self.job is not None and self.job_folder is not None:
            return self.job_folder.dataset_record(self.job)
        files, schema = [], None
        found, self.left_out = files_of(self.path)
        for path in found:
            file = open_file(path)
            if schema is not None and not file.schema.equals(schema):
                raise BulkError(f"{path} has other columns than the files before it", DATA)
            schema = file.schema
            self.sealed |= sealed_columns(schema)
            state = path.stat()
            files.append({"name": os.path.relpath(path, self.folder), "rows": sum(file.group_rows),
                          "bytes": state.st_size, "time": state.st_mtime_ns, "footer": footer_digest(path)})
            file.close()
        return {"files": files}

    def _take_schema(self, schema: pa.Schema) -> None:
        """Notes the columns. A name that occurs twice is left out, since it is ambiguous."""
        try:
            names = schema.names
        except UnicodeDecodeError:
            raise BulkError(f"{self.path} has a column whose name is not UTF-8", DATA, "rename it") from None
        self.types = {name: str(kind) for name, kind in zip(names, schema.types)}
        self.widths = {name: width_of(kind) for name, kind in zip(names, schema.types)}
        self.kinds = dict(zip(names, schema.types))
        self.repeated = {name for name in names if names.count(name) > 1}
        self.binary = {name for name, kind in zip(names, schema.types) if is_binary(kind)}
        self.sealed = set() if self.job else self.sealed | sealed_columns(schema)

    def record(self) -> Json:
        """Returns the input's entry in job.json."""
        return {"path": self.path, "files": self.files}

    def is_secret(self, name: str) -> bool:
        """Returns whether the column is a secret one of an earlier job, encrypted or not."""
        return self.job is not None and any(column.name == name and column.secret for column in self.job.writes)

    def is_encrypted(self, name: str) -> bool:
        return self.job is not None and self.is_secret(name) and self.job.secrets["kind"] != "plain"

    def check_not_sealed(self, name: str) -> None:
        """Refuses an encrypted column of files that are read without their job: its bytes would pass for secrets."""
        if name in self.sealed:
            raise BulkError(f"column '{name}' of {self.path} is an encrypted column of a bulk job", DATA,
                            "name the job's folder, where job.json is")

    def no_key(self, name: str) -> BulkError:
        return BulkError(f"column '{name}' of {self.path} is encrypted", USAGE,
                         "name the key with --input-key FILE or --input-private FILE")

    def length_of(self, name: str) -> int | None:
        """Returns the length of a column's first value that is neither missing nor empty; None if there is none."""
        for index in range(len(self.names)):
            for group in range(len(self._file(index).group_rows)):
                column = self._read_group(index, group, [name]).column(name)
                length = next((len(value) for scalar in column if (value := scalar.as_py())), None)
                if length is not None:
                    return length
        return None

    def status_name(self, columns: Iterable[str]) -> str | None:
        """Returns the column that says which rows of `columns` an earlier job could not compute; None without one."""
        written = {column.name: column.role for column in self.job.writes} if self.job is not None else {}
        status = next((name for name, role in written.items() if role == "status"), None)
        return status if status is not None and set(columns) & set(written) else None

    def file_path(self, index: int) -> str:
        return os.path.join(self.folder, self.names[index])

    def _file(self, index: int) -> File:
        if index not in self._open_files:
            for file in self._open_files.values():
                file.close()
            self._open_files = {index: self._open(index)}
        return self._open_files[index]

    def _open(self, index: int) -> File:
        path = self.file_path(index)
        if self.job_folder is None:
            return open_file(path)
        name = job_folder.data_name(self.first_partition + index)
        if self.names[index] != f"data/{name}":
            raise BulkError(f"{self.path}: its file {index} is called '{self.names[index]}'", DATA,
                            "polykem-bulk verify shows what else was altered")
        with explained(path):
            return open_file(path, self.job_folder.data.read(name))

    def read(self, first: int, rows: int, columns: Sequence[str]) -> pa.Table:
        """Reads rows [first, first + rows) of some columns.

        Returns
        -------
        pyarrow.Table
            Secret columns of an earlier job in plain, each in one piece: `values.wipe_column` overwrites it.
        """
        for name in columns:
            self.check_not_sealed(name)
        plain = {name: np.empty((rows, self.widths[name] or 0), np.uint8)
                 for name in columns if self.is_encrypted(name)}
        pieces, index, done = [], bisect.bisect_right(self.starts, first) - 1, 0
        try:
            while done < rows:
                here = min(rows - done, self.starts[index + 1] - first)
                if here > 0:
                    part = {name: array[done:done + here] for name, array in plain.items()}
                    pieces += self._read_file(index, first - self.starts[index], here, columns, part)
                    first, done = first + here, done + here
                index += 1
        except BaseException:
            wipe(*plain.values())
            raise
        table = pa.concat_tables(pieces)
        if self.job is not None:
            table = table.replace_schema_metadata(None)  # else the metadata would say that these columns are encrypted
        for name, array in plain.items():
            table = table.set_column(table.schema.get_field_index(name), name, as_column(array))
        return table

    def _read_file(self, index: int, first: int, rows: int, columns: Sequence[str],
                   plain: dict[str, Records]) -> list[pa.Table]:
        """Returns pieces of one file, encrypted columns as they are stored; decrypts these to the arrays in `plain`."""
        file, pieces, start = self._file(index), [], 0
        if sum(file.group_rows) != self.starts[index + 1] - self.starts[index]:
            raise BulkError(f"{self.file_path(index)} has changed since the job began", DATA)
        for group, count in enumerate(file.group_rows):
            low, high = max(first, start), min(first + rows, start + count)
            if low < high:
                table = self._read_group(index, group, columns)
                for name, array in plain.items():
                    self._decrypt(index, group, table, name, low - start, array[low - first:high - first])
                pieces.append(table.slice(low - start, high - low))
            start += count
        return pieces

    def _read_group(self, index: int, group: int, columns: Sequence[str]) -> pa.Table:
        file = self._file(index)
        with explained(self.file_path(index)):
            try:
                return file.read_group(group, list(columns))
            except (pa.ArrowInvalid, OSError) as error:
                if getattr(error, "errno", None):
                    raise
                raise BulkError(f"{self.file_path(index)} is damaged: {str(error).splitlines()[0]}", DATA,
                                "restore it, or compute that job's partition again: polykem-bulk verify") from None

    def _cipher(self, job: Job, key: bytes, schema: pa.Schema, path: str,
                partition: int) -> tuple[ColumnCipher, dict[str, list[bytes]]]:
        """Returns the cipher of a partition and the tags of its columns. The file must be in its place."""
        try:
            seal = json.loads(schema.metadata[METADATA])
            found, salt, tags = (seal["job"], seal["partition"]), bytes.fromhex(seal["salt"]), seal["tags"]
            tags = {name: [bytes.fromhex(tag) for tag in tags[name]] for name in tags}
        except (KeyError, TypeError, ValueError) as error:
            raise BulkError(f"{path} does not say how its columns were encrypted ({error})", DATA,
                            "no job wrote it like this: polykem-bulk verify shows what else was altered") from None
        if found != (job.id, partition):
            raise BulkError(f"{path} is partition {found[1]} of job {found[0]}, but its place is that of partition "
                            f"{partition} of job {job.id}", DATA, "files were exchanged: polykem-bulk verify")
        return ColumnCipher(key, job.id, partition, salt), tags

    def _decrypt(self, index: int, group: int, table: pa.Table, name: str, first: int, out: Records) -> None:
        """Writes the plaintext of rows from `first` of a row group to `out`, and leaves it nowhere else."""
        if self.column_key is None or self.job is None:
            raise self.no_key(name)
        path = self.file_path(index)
        cipher, tags = self._cipher(self.job, self.column_key, self._file(index).schema, path,
                                    self.first_partition + index)
        sealed, _ = as_array(table.column(name), self.widths[name] or 0)
        whole = out if out.shape == sealed.shape else np.empty(sealed.shape, np.uint8)
        try:
            cipher.open(name, group, sealed, tags[name][group], whole)
            if whole is not out:
                out[:] = whole[first:first + len(out)]
        except (InvalidTag, KeyError, IndexError):
            raise BulkError(f"{path}: column '{name}' is not what was encrypted", DATA,
                            "the file was altered, or the key is another job's") from None
        finally:
            if whole is not out:
                wipe(whole)
