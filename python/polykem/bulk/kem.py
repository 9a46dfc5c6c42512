# SPDX-License-Identifier: Apache-2.0
"""The operations of a bulk job in terms of polykem: the columns that each reads and writes, and how rows are computed.

Nothing else of this package calls polykem.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import polykem

from . import messages
from .column import Column, Records
from .errors import BACKEND, DEFECT, USAGE, BulkError
from .memory import Memory, memory_for

if TYPE_CHECKING:
    from .job import Job

OPERATIONS = ("keygen", "encaps", "decaps")  # numbers of polykem_op


@dataclass(frozen=True)
class Sizes:
    """Bytes of the records of a parameter set."""

    pk: int
    sk: int
    ct: int
    ss: int
    seed: int
    keygen_coins: int
    encaps_coins: int


def sizes(scheme: str) -> Sizes:
    """Returns the sizes of a parameter set, by its registry name or an alias."""
    try:
        found = polykem.Scheme(scheme)
    except polykem.UnknownScheme as error:
        raise BulkError(str(error).rstrip("."), USAGE, "'polykem list' shows all parameter sets") from None
    return Sizes(found.public_key_bytes, found.secret_key_bytes, found.ciphertext_bytes, found.shared_secret_bytes,
                 found.secret_seed_bytes, found.keygen_coin_bytes, found.encaps_coin_bytes)


def columns(operation: str, scheme: str, to_scheme: str, plaintext_bytes: int | None,
            seeds: bool) -> tuple[list[Column], list[Column]]:
    """Returns (columns read, columns written), lists of `Column` in the order of the operation's description."""
    status = Column("status", "status", 1)
    if operation in ("keygen", "encaps", "decaps") and not messages.is_suite(scheme):
        size = sizes(scheme)
        if seeds and not size.seed:
            raise BulkError(f"{scheme} has no secret keys in the form of seeds", USAGE)
        key = Column("seed", "seed", size.seed, True) if seeds else Column("sk", "sk", size.sk, True)
        ss, ct, pk = Column("ss", "ss", size.ss, True), Column("ct", "ct", size.ct), Column("pk", "pk", size.pk)
        return {"keygen": ([], [pk, key]), "encaps": ([pk], [ct, ss, status]),
                "decaps": ([key, ct], [ss, status])}[operation]
    return messages.columns(operation, scheme, to_scheme, plaintext_bytes)


def row_bytes(operation: str, scheme: str, columns: Sequence[Column]) -> int:
    """Returns the bytes that a row takes while it is computed, in columns that are read or computed."""
    row = sum(column.width for column in columns)
    if operation == "keygen" and "seed" in {column.role for column in columns}:
        row += sizes(scheme).sk  # computed, but not written
    if operation == "rewrap":
        row += next(column.width for column in columns if column.role == "ciphertext")  # the plaintext
    return row


def coin_bytes(job: Job) -> int:
    """Returns the number of random bytes that a row takes; 0 if the operation takes none."""
    if messages.is_suite(job.scheme):
        return messages.coin_bytes(job)
    if job.operation == "keygen":
        return sizes(job.scheme).keygen_coins
    return sizes(job.scheme).encaps_coins if job.operation == "encaps" else 0


def computer(job: Job, threads: int = 0, backend: str | None = None) -> Computer | messages.MessageComputer:
    """Returns the object that computes a job's rows: a `Computer` or a `messages.MessageComputer`."""
    if messages.is_suite(job.scheme):
        return messages.MessageComputer(job, threads, backend)
    return Computer(job, threads, backend)


class Computer:
    """Computes rows of one job with one context: on one GPU, or on a host's CPUs.

    Parameters
    ----------
    job : Job
    threads : int
        CPU threads; 0: all.
    backend : str or None
        "cuda", "avx512", ...; None lets polykem choose.
    memory : memory.Ordinary or memory.Pinned, optional
        The memory of results.
    """

    def __init__(self, job: Job, threads: int = 0, backend: str | None = None, memory: Memory | None = None) -> None:
        self.job = job
        try:
            self.context = polykem.Context(threads=threads, backend=backend)
        except (polykem.BackendUnavailable, polykem.UnknownBackend) as error:
            raise BulkError(str(error).rstrip("."), BACKEND) from None
        self.scheme = polykem.Scheme(job.scheme)
        self.memory = memory or memory_for(self.context, job.scheme)

    def run(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        """Computes one partition.

        Parameters
        ----------
        rows : int
        inputs : dict of str to numpy.ndarray
            Role -> uint8 (rows, width), or (1, width) for a record that counts for all rows.
        coins : numpy.ndarray or None

        Returns
        -------
        dict of str to numpy.ndarray
            Role -> uint8 (rows, width), to be handed to `memory.give_back`; "status" is uint8 (rows, 1), 0 where the
            row is good.
        """
        compute = {"keygen": self._keygen, "encaps": self._encaps, "decaps": self._decaps}[self.job.operation]
        return compute(rows, inputs, coins)

    def _keygen(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        with self._results(rows, pk=self.scheme.public_key_bytes, sk=self.scheme.secret_key_bytes) as out:
            self._request(0, rows, coins=coins, pk_out=out["pk"], sk_out=out["sk"])
            if coins is not None and any(column.role == "seed" for column in self.job.writes):
                out["seed"] = self.memory.take("seed", (rows, coins.shape[1]))
                out["seed"][:] = coins
        return out

    def _encaps(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        with self._results(rows, ct=self.scheme.ciphertext_bytes, ss=self.scheme.shared_secret_bytes, status=1) as out:
            out["status"][:] = self._request(1, rows, shared(inputs["pk"], rows), coins=coins, pk=inputs["pk"],
                                             ct_out=out["ct"], ss_out=out["ss"])
        return out

    def _decaps(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        seeds = "seed" in inputs
        keys = inputs["seed" if seeds else "sk"]
        with self._results(rows, ss=self.scheme.shared_secret_bytes, status=1) as out:
            out["status"][:] = self._request(2, rows, shared(keys, rows), int(seeds), sk=keys, ct=inputs["ct"],
                                             ss_out=out["ss"])
        return out

    @contextmanager
    def _results(self, rows: int, **widths: int) -> Iterator[dict[str, Records]]:
        """Yields memory for results by role, and takes it back if they are not computed."""
        out: dict[str, Records] = {}
        try:
            for role, width in widths.items():
                out[role] = self.memory.take(role, (rows, width))
            yield out
        except BaseException:
            self.memory.give_back(out)
            raise

    def _request(self, op: int, rows: int, key_mode: int = 0, secret_form: int = 0,
                 **arrays: Any) -> npt.NDArray[np.int32]:
        """Runs a batch that writes to the caller's arrays, which `polykem.Context` offers for key pairs only.

        Returns the status of each row, int32 (rows, 1).
        """
        status = np.zeros(rows, np.int32)
        request = polykem._core.Request(op, self.scheme._index, rows, arrays, key_mode, secret_form,
                                        None if op == 0 else status)
        code = self.context._core.run(request)
        if code == polykem.Status.OUT_OF_MEMORY:
            raise MemoryError
        if code not in (polykem.Status.OK, polykem.Status.ITEMS):
            raise BulkError(f"{OPERATIONS[op]} of {rows} rows: {polykem.Status(code).text}", DEFECT)
        return status.reshape(-1, 1)


def shared(keys: Records, rows: int) -> int:
    """Returns the C API's key_mode: one key for all rows, or one for each."""
    return int(len(keys) == 1 and rows > 1)
