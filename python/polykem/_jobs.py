# SPDX-License-Identifier: Apache-2.0
"""Batches that run while Python does something else.

A worker thread of the library never runs Python: it notes that a job has finished, and one Python thread, which lives
as long as there are jobs, completes their futures. So callbacks may block, and at its end the interpreter waits for
jobs as for other threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from concurrent.futures import Future
from typing import Any, Callable, Generator, TypeVar

from . import _core
from ._errors import ArgumentError

T = TypeVar("T")

_LINGER = 0.05  # seconds that the thread stays without a job


class Job(Future[T]):
    """A batch in flight, from `Context.submit`: a `concurrent.futures.Future` that can be awaited.

    ``job.result(timeout)`` waits and returns what the blocking call would, or raises what it would;
    ``await job`` does so under asyncio. A job cannot be cancelled: its arrays are in use until it has finished.
    """

    def __init__(self) -> None:
        super().__init__()
        self._process = os.getpid()
        self.set_running_or_notify_cancel()

    def result(self, timeout: float | None = None) -> T:
        """Wait, then return what the blocking call would, or raise what it would."""
        self._check_process()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Wait, then return what the blocking call would raise, or None."""
        self._check_process()
        return super().exception(timeout)

    def __await__(self) -> Generator[Any, None, T]:
        self._check_process()
        return asyncio.wrap_future(self).__await__()

    def _check_process(self) -> None:
        if self._process != os.getpid() and not self.done():
            raise ArgumentError("this job belongs to the process that this one was forked from")


class _Jobs:
    """All jobs of this process that have not finished."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._completions = _core.Completions()
        self._pending: dict[int, tuple[Job[Any], Callable[[int], Any], Any]] = {}
        self._next = 0
        self._thread: threading.Thread | None = None

    def submit(self, start: Callable[[_core.Completions, int], None], finish: Callable[[int], T],
               keep: Any) -> Job[T]:
        """Start a job. `start` hands the batch to the library or raises; `finish` turns its status into a result;
        `keep` stays alive until then."""
        job: Job[T] = Job()
        with self._lock:
            number = self._next
            self._next += 1
            self._pending[number] = (job, finish, keep)
            try:
                if self._thread is None:
                    thread = threading.Thread(target=self._serve, name="polykem-jobs")
                    thread.start()
                    self._thread = thread
                start(self._completions, number)
            except BaseException:
                del self._pending[number]
                raise
        return job

    def _serve(self) -> None:
        while True:
            try:
                if not self._serve_one():
                    return
            except MemoryError:  # the job is still the first: later, there may be memory
                time.sleep(_LINGER)

    def _serve_one(self) -> bool:
        """Complete one job. Returns False if there are none and the thread should end."""
        finished = self._completions.wait(_LINGER)
        if finished is None:
            with self._lock:
                if self._pending:
                    return True
                self._thread = None
                return False
        number, status = finished
        with self._lock:
            job, finish, _keep = self._pending.pop(number)
        self._completions.drop()
        _complete(job, finish, status)
        return True


def _complete(job: Job[T], finish: Callable[[int], T], status: int) -> None:
    try:
        result = finish(status)
    except BaseException as error:
        job.set_exception(error)
    else:
        job.set_result(result)


_jobs = _Jobs()
_of_parents: list[_Jobs] = []  # keeps alive what their batches use; none of them runs in this process


def submit(start: Callable[[_core.Completions, int], None], finish: Callable[[int], T], keep: Any) -> Job[T]:
    return _jobs.submit(start, finish, keep)


def _after_fork() -> None:
    global _jobs
    _of_parents.append(_jobs)
    _jobs = _Jobs()


os.register_at_fork(after_in_child=_after_fork)
