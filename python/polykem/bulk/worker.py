# SPDX-License-Identifier: Apache-2.0
"""Computes partitions: a worker for each GPU, or one for each host. It knows nothing of Ray."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import threading
import time
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from . import kem, messages, secrets, statuses
from .column import Column, Json, Records
from .distinct import Distinct
from .errors import RESOURCES, BulkError
from .inputs import METADATA, Dataset
from .job import check_secret, column_key
from .job_folder import Folder, Hashed
from .memory import wipe
from .statuses import RowStatus
from .values import as_array, as_column, take_secret, wipe_column

PAGE_BYTES = 1 << 20


class Worker:
    """Computes and commits partitions of the job in `folder`.

    While one thread writes a partition, another computes the next.

    Parameters
    ----------
    folder : str
    threads : int
        CPU threads of the computation; 0: all.
    backend : str or None
    """

    def __init__(self, folder: str, threads: int = 0, backend: str | None = None) -> None:
        self.folder, self.threads, self.backend = Folder(folder, ours=True), threads, backend
        self.turn = threading.Lock()

    def unlock(self, secret: bytes, input_keys: Sequence[bytes | None] = (),
               constants: Mapping[str, bytes] | None = None) -> int:
        """Takes the keys, which are in no file, and opens the inputs.

        Parameters
        ----------
        secret : bytes
            The job's secret.
        input_keys : sequence of bytes or None
            For each input the key of its secret columns.
        constants : dict of str to bytes
            Records that stand for a whole column.
        """
        self.job = self.folder.job()
        self.folder.authority, self.fingerprint = check_secret(self.job, secret), self.job.fingerprint()
        self.computer = kem.computer(self.job, self.threads, self.backend)
        self.secret, self.column_key = secret, column_key(secret, self.job.id)
        keys = [*input_keys, *[None] * len(self.job.inputs)]
        self.inputs = [Dataset(record["path"], key, record) for record, key in zip(self.job.inputs, keys)]
        self.constants = {role: np.frombuffer(value, np.uint8)[None, :] for role, value in (constants or {}).items()}
        return os.getpid()

    def compute(self, partition: int) -> Json:
        """Computes and commits one partition. Returns its receipt."""
        first, rows = self.job.span(partition)
        begun, results = time.monotonic(), {}
        try:
            with self.turn:
                kept, inputs, faults = self._read(first, rows)
                results = self._compute(partition, rows, inputs, kept)
                mark(results, faults)
                keys = self._keys(inputs, results)
                del inputs
            table, counts = self._table(partition, rows, kept, results)
            counts.update(keys=keys, host=socket.gethostname(), pid=os.getpid(),
                          compute_seconds=round(time.monotonic() - begun, 6))
            return self.folder.commit(self.job, partition, lambda file: self._write(file, table), counts)
        except (MemoryError, pa.ArrowMemoryError):
            raise BulkError(f"no memory for partition {partition} of {rows} rows", RESOURCES,
                            "begin a job with a smaller --partition-mb") from None
        finally:
            table = None
            self.computer.memory.give_back(results)
            pa.default_memory_pool().release_unused()

    def _read(self, first: int,
              rows: int) -> tuple[dict[str, pa.ChunkedArray], dict[str, Records], npt.NDArray[np.uint8]]:
        """Returns the columns to keep, the arrays by role, and the status of each row, for some rows."""
        wanted = [column for column in self.job.reads if column.role not in self.constants]
        tables: dict[int, pa.Table] = {}
        arrays = dict(self.constants)
        try:
            faults = self._read_columns(first, rows, wanted, tables, arrays)
        except BaseException:
            self._wipe_inputs(arrays)
            raise
        finally:
            for column in wanted:
                if column.secret and column.source in tables:
                    wipe_column(tables[column.source].column(column.name))
        return {column.name: tables[column.source].column(column.name) for column in self.job.keep}, arrays, faults

    def _read_columns(self, first: int, rows: int, wanted: list[Column], tables: dict[int, pa.Table],
                      arrays: dict[str, Records]) -> npt.NDArray[np.uint8]:
        """Fills `tables` by input and `arrays` by role. Returns the status of each row."""
        faults = np.zeros(rows, np.uint8)
        for number, dataset in enumerate(self.inputs, 1):
            here = {column.name for column in wanted if column.source == number}
            status = dataset.status_name(here)
            kept = {column.name for column in self.job.keep if column.source == number}
            if here | kept:
                tables[number] = dataset.read(first, rows, sorted(here | kept | ({status} if status else set())))
            if status:
                before = tables[number].column(status).to_numpy()
                faults[before != 0] = RowStatus.MISSING
        for column in wanted:
            take = take_secret if column.secret else as_array
            arrays[column.role], wrong = take(tables[column.source].column(column.name), column.width)
            if wrong is not None:
                faults = np.where(faults, faults, wrong)
        return faults

    def _wipe_inputs(self, inputs: dict[str, Records]) -> None:
        wipe(*(inputs[column.role] for column in self.job.reads
               if column.secret and column.role in inputs and column.role not in self.constants))

    def _bound(self, inputs: dict[str, Records], kept: dict[str, pa.ChunkedArray]) -> bytes:
        """Returns a digest that coins depend on: of the job, and of all that the partition reads."""
        digest = hashlib.sha256(self.fingerprint + messages.digest_of(inputs))
        if kept:
            table = pa.table(kept)
            with open(os.devnull, "wb") as nothing:
                hashed = Hashed(nothing)
                with pa.ipc.new_stream(pa.PythonFile(hashed, "w"), table.schema) as stream:
                    stream.write_table(table)
            digest.update(hashed.digest.digest())
        return digest.digest()

    def _compute(self, partition: int, rows: int, inputs: dict[str, Records],
                 kept: dict[str, pa.ChunkedArray]) -> dict[str, Records]:
        each = kem.coin_bytes(self.job)
        coins = None
        try:
            if each:
                bound = self._bound(inputs, kept)
                coins = secrets.coins(self.secret, self.job.id, partition, rows, each, bound)
            return self.computer.run(rows, inputs, coins)
        finally:
            wipe(coins)
            self._wipe_inputs(inputs)

    def _keys(self, inputs: dict[str, Records], results: dict[str, Records]) -> Json | None:
        """Returns the receipt's entry on the public keys that the good rows used; None if the operation has none."""
        keys, status = inputs.get("to_pk", inputs.get("pk")), results.get("status")
        if keys is None or status is None:
            return None
        good, distinct = status.reshape(-1) == 0, Distinct()
        if good.any():
            distinct.add(keys if len(keys) < len(good) or good.all() else keys[good])
        return distinct.receipt()

    def _table(self, partition: int, rows: int, kept: dict[str, pa.ChunkedArray],
               results: dict[str, Records]) -> tuple[pa.Table, Json]:
        """Returns the rows as they are stored, secret columns encrypted unless the job leaves them unprotected."""
        columns, metadata = dict(kept), {"job": self.job.id, "partition": partition}
        status = results.get("status")
        bad = None if status is None else status.reshape(-1) != 0
        secret = {column.name: results[column.role] for column in self.job.writes if column.secret}
        encrypt = secret and self.job.secrets["kind"] != "plain"
        sealed = self._seal(partition, secret, metadata) if encrypt else secret
        for column in self.job.writes:
            if column.role == "status":
                columns[column.name] = pa.array(results["status"].reshape(rows))
            else:
                columns[column.name] = as_column(sealed[column.name]) if column.name in sealed else \
                    as_column(results[column.role], bad)
        table = pa.table(columns).replace_schema_metadata({METADATA: json.dumps(metadata)})
        return table, statuses.counted(np.zeros(0) if status is None else status, self.job.span(partition)[0])

    def _seal(self, partition: int, secret: dict[str, Records], metadata: Json) -> dict[str, Records]:
        cipher = secrets.ColumnCipher(self.column_key, self.job.id, partition)
        metadata["salt"] = cipher.salt_of(secret).hex()
        metadata["tags"], sealed, step = {}, {}, self.job.group_rows
        for name, data in secret.items():
            target, tags = np.empty(data.shape, np.uint8), []
            for group, start in enumerate(range(0, len(data), step)):
                tags.append(cipher.seal(name, group, data[start:start + step], target[start:start + step]).hex())
            sealed[name], metadata["tags"][name] = target, tags
        return sealed

    def _write(self, file: Hashed, table: pa.Table) -> None:
        with pq.ParquetWriter(pa.PythonFile(file, "w"), table.schema, compression="none", use_dictionary=False,
                              write_statistics=False, write_page_checksum=True, data_page_size=PAGE_BYTES) as writer:
            writer.write_table(table, row_group_size=self.job.group_rows)


def mark(results: dict[str, Records], faults: npt.NDArray[np.uint8]) -> None:
    """Replaces the results of rows that could not be read by zeros and the reason."""
    bad = faults != 0
    if not bad.any():
        return
    for role, array in results.items():
        array[bad] = 0 if role != "status" else faults[bad][:, None]
