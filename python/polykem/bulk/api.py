# SPDX-License-Identifier: Apache-2.0
"""Bulk jobs as functions."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import driver, job, reader
from .errors import USAGE, BulkError
from .inputs import Dataset
from .keys import Keys


def open_dataset(path: str | os.PathLike[str], key: bytes | None = None, private_key: bytes | None = None) -> Dataset:
    """Open a file, a folder of files, or an earlier job's folder, whose secret columns it decrypts.

    Parameters
    ----------
    path : str or os.PathLike
    key : bytes, optional
        The contents of the job's key file.
    private_key : bytes, optional
        The HPKE private key of the job's recipient.

    Returns
    -------
    Dataset
    """
    path = os.fspath(path)
    column_key = None
    if key is not None or private_key is not None:
        column_key = reader.open_column_key(path, key, private_key)
    return Dataset(path, column_key)


def run(operation: str, scheme: str, *, output: str | os.PathLike[str], keys: Keys,
        inputs: Sequence[Dataset | str | os.PathLike[str]] = (), count: int | None = None, to_scheme: str = "",
        names: Mapping[str, str] | None = None, only: Sequence[str] | None = None, keep: Sequence[str] = (),
        constants: Mapping[str, bytes] | None = None, seeds: bool = False, info: str = "", aad: str = "",
        partition_bytes: int = job.PARTITION_BYTES, ray: str | None = None, backend: str | None = None, cpus: int = 0,
        gpus: bool = True, resume: bool = False, thorough: bool = True, touched: bool = False,
        quiet: bool = True) -> dict[str, Any]:
    """Start or resume a job and complete it.

    Parameters
    ----------
    operation : str
        "keygen", "encaps", "decaps", "seal", "open" or "rewrap".
    scheme : str
        A parameter set, or an HPKE suite KEM,KDF,AEAD.
    output : str or os.PathLike
        The job's folder; every worker must reach it under this path.
    keys : Keys
        How secret columns are protected.
    inputs : sequence of Dataset, str or os.PathLike
        Joined row by row; `open_dataset` opens jobs with secret columns.
    count : int, optional
        Rows of keygen without inputs.
    to_scheme, names, only, keep, constants, seeds, info, aad, partition_bytes
        See `describe`.
    ray : str, optional
        None: in this process. "local": on a cluster started on this host for the job. "auto" or an address: on that
        cluster. A process that has joined a cluster must pass "auto" or that cluster's address.
    backend : str, optional
        polykem's backend.
    cpus : int
        CPUs of each worker; 0: all of its host.
    gpus : bool
        With Ray, a worker for each GPU where a host has any.
    resume : bool
        Continue the job in the folder.
    thorough : bool
        When resuming, compare the SHA-256 of committed files, not only sizes.
    touched : bool
        Resume even if the inputs' times have changed, as long as names, sizes, rows and footers are the same.
    quiet : bool
        Print no progress.

    Returns
    -------
    dict
        The summary that `polykem-bulk --json` shows, "left_out_files" too. Rows that have no result are counted in
        "bad_rows" and "statuses"; they are no exception.

    Raises
    ------
    BulkError
    """
    if not isinstance(keys, Keys):
        raise BulkError("keys must be Keys.under(...), Keys.sealed_to(...) or Keys.plain(...)", USAGE)
    datasets = [one if isinstance(one, Dataset) else Dataset(os.fspath(one)) for one in inputs]
    described = job.describe(operation, scheme, rows=count, inputs=datasets, to_scheme=to_scheme, names=names,
                             only=only, keep=keep, constants=constants, seeds=seeds, info=info, aad=aad,
                             protection=keys.kind, partition_bytes=partition_bytes)
    compute: Callable[..., None]
    if ray is None:
        compute = functools.partial(driver.compute_here, threads=cpus, backend=backend)
    else:
        from .cluster import compute_with_ray
        compute = compute_with_ray(ray, backend, cpus, gpus)
    summary = driver.run(os.fspath(output), described, keys, [dataset.column_key for dataset in datasets], constants,
                         resume=resume, thorough=thorough, touched=touched, compute=compute, quiet=quiet)
    return {**summary, "left_out_files": sum(dataset.left_out for dataset in datasets)}
