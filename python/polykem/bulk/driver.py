# SPDX-License-Identifier: Apache-2.0
"""Runs a job: finds out what is missing, lets workers compute it, and writes the manifest."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Optional

from ..report.streams import tell
from . import bounds, changes
from .column import Json
from .errors import DATA, IO, USAGE, BulkError
from .job import check_secret, complete
from .job_folder import Folder, is_job
from .progress import Reporter
from .worker import Worker

if TYPE_CHECKING:
    from .job import Job
    from .keys import Keys

Unlock = tuple[bytes, Sequence[Optional[bytes]], Optional[Mapping[str, bytes]]]  # arguments of `Worker.unlock`
Compute = Callable[..., None]  # (folder, job, partitions, unlock, reporter)
Running = concurrent.futures.Future[Json]
IN_FLIGHT = 2  # partitions of one worker: one is computed while the other is written


def recognised(folder: Folder, job: Job, keys: Keys, resume: bool, touched: bool) -> Job | None:
    """Returns the job to resume, or None if the folder is free for a new one. Writes nothing."""
    if not folder.exists():
        return None
    if not is_job(folder.path):
        folder.check_free()
        return None
    there = folder.job()
    check_same(folder.path, there, job, resume, touched)
    if not resume:
        raise BulkError(f"{folder.path} holds this job already", USAGE, "--resume computes what is missing")
    check_secret(there, keys.secret_of(there.id))
    return there


def begin(folder: Folder, job: Job, keys: Keys) -> Job:
    """Writes a new job. Returns it with its id and keys."""
    job = complete(job, keys)
    folder.create(job)
    return job


def check_same(path: str | os.PathLike[str], there: Job, job: Job, resume: bool, touched: bool) -> None:
    """Raises unless the folder's job is the requested one, with unchanged inputs."""
    hint, code = "name another folder, or give the command that began it", DATA if resume else USAGE
    other = changes.of_jobs(there, job)
    if other:
        raise BulkError(f"{path} holds another job: {other}", code, hint)
    changed, only_times = changes.of_inputs(there.inputs, job.inputs)
    if only_times:
        hint = "if its contents are the same, --touched-inputs goes on with it; else name another folder"
    if changed and not (only_times and touched):
        raise BulkError(f"the job in {path} began with other inputs: {changed}", code, hint)


def missing(folder: Folder, job: Job, thorough: bool, say: Callable[[str], None]) -> list[int]:
    """Returns the partitions that are not committed, or whose files have changed since."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        faults = list(pool.map(lambda partition: folder.fault(job, partition, thorough), range(job.partitions)))
    for partition, fault in enumerate(faults):
        if fault not in (None, "missing"):
            say(f"partition {partition} is computed again: {fault}")
    return [partition for partition, fault in enumerate(faults) if fault]


def check_room(folder: Folder, job: Job, rows: int) -> None:
    """Raises if the job does not fit on the disk."""
    need, free = rows * sum(column.width for column in job.writes), folder.free_bytes()
    if need > free:
        raise BulkError(f"the job needs {need / 1e9:,.1f} GB, but the disk of {folder.path} has {free / 1e9:,.1f} GB",
                        IO, "name a larger disk, or write fewer columns (--only)")


@contextlib.contextmanager
def claimed_folder(folder: Folder) -> Iterator[list[Job]]:
    """Locks the folder and yields an empty list, to which the block adds the job that it starts there. If the block
    fails while the list is empty, everything that was made for the job is removed, also the folders above it.
    """
    path = folder.path.absolute()
    made = [one for one in (path, *path.parents) if not os.path.exists(one)]
    before = set(folder.root.names()) if folder.exists() else set()
    folder.make()
    with folder.locked():
        new = not is_job(path)
        started: list[Job] = []
        try:
            yield started
        except BaseException:
            if new and not started:
                folder.forget_beginning(before)
                with contextlib.suppress(OSError):
                    for one in made:
                        one.rmdir()
            raise


def run(path: str | os.PathLike[str], job: Job, keys: Keys, input_keys: Sequence[bytes | None] = (),
        constants: Mapping[str, bytes] | None = None, *, resume: bool = False, thorough: bool = True,
        touched: bool = False, compute: Compute | None = None, quiet: bool = False) -> Json:
    """Begins or resumes a job and completes it.

    Parameters
    ----------
    path : str
        The job's folder; every worker must reach it under this path.
    job : Job
        From `job.describe`.
    keys : keys.Keys
    input_keys : sequence of bytes or None
        For each input the key of its secret columns.
    constants : dict of str to bytes, optional
        Records that stand for a whole column.
    resume : bool
        Continue the job in the folder.
    thorough : bool
        When resuming, compare the SHA-256 of committed files, not only sizes.
    touched : bool
        Resume even if the inputs' times have changed, as long as names, sizes, rows and footers are the same.
    compute : callable, optional
        (folder, job, partitions, unlock, reporter) -> None; `compute_here` unless given.

    Returns
    -------
    dict
        The summary that --json shows.
    """
    bounds.check_utf8(os.path.abspath(path), "the folder")
    folder = Folder(path, ours=True)
    there = recognised(folder, job, keys, resume, touched)
    if there is None:
        check_room(folder, job, job.rows)
    with claimed_folder(folder) as started:
        job = there or begin(folder, job, keys)
        started.append(job)
        folder.authority = check_secret(job, keys.secret_of(job.id))
        folder.make_folders()
        folder.forget_leftovers()
        todo = missing(folder, job, thorough, lambda line: None if quiet else tell(line + "\n")) \
            if resume else list(range(job.partitions))
        to_compute = sum(job.span(partition)[1] for partition in todo)
        check_room(folder, job, to_compute)
        done = job.rows - to_compute
        unlock = keys.secret_of(job.id), input_keys, constants
        with Reporter(f"{job.operation} {job.scheme}", job.rows, done, quiet) as reporter:
            if todo:
                (compute or compute_here)(str(folder.path.resolve()), job, todo, unlock, reporter)
        manifest = folder.finish(job)
    return summary(path, job, manifest, reporter, len(todo))


def summary(path: str | os.PathLike[str], job: Job, manifest: Json, reporter: Reporter,
            computed_partitions: int) -> Json:
    """Returns the summary of a run for --json."""
    return {"schema": "polykem-bulk-summary-1", "job": job.id, "folder": str(path), "operation": job.operation,
            "scheme": job.scheme, "rows": job.rows, "computed_rows": reporter.computed,
            "bad_rows": manifest["bad_rows"], "statuses": manifest["statuses"],
            "first_bad_row": manifest["first_bad_row"], "partitions": job.partitions,
            "computed_partitions": computed_partitions, "retries": reporter.retries,
            "workers": reporter.workers, "seconds": round(reporter.seconds, 3),
            "rows_per_second": round(reporter.rate, 1), "written_bytes": reporter.bytes, "bytes": manifest["bytes"],
            "secrets": job.secrets["kind"],
            **{name: manifest[name] for name in ("distinct_keys", "more_keys") if name in manifest}}


def compute_here(folder: str, job: Job, partitions: list[int], unlock: Unlock, reporter: Reporter, threads: int = 0,
                 backend: str | None = None) -> None:
    """Computes partitions with one worker in this process."""
    worker = Worker(folder, threads, backend)
    worker.unlock(*unlock)
    reporter.workers = 1
    reporter.start()
    with concurrent.futures.ThreadPoolExecutor(IN_FLIGHT) as pool:
        running: set[Running] = set()
        try:
            for partition in partitions:
                if len(running) == IN_FLIGHT:
                    running = _settle(running, reporter)
                running.add(pool.submit(worker.compute, partition))
            while running:
                running = _settle(running, reporter)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _settle(running: set[Running], reporter: Reporter) -> set[Running]:
    """Waits until a partition is committed. Returns those that are still running."""
    done, running = concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED)
    for future in done:
        reporter.committed(future.result())
    return running
