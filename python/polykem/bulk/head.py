# SPDX-License-Identifier: Apache-2.0
"""Detects that a Ray cluster's head has died. Ray itself waits for a minute, then ends the process with exit code 1."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from .errors import RESOURCES, BulkError

PROBE_SECONDS = 5  # for a connection
PAUSE_SECONDS = 1
PATIENCE_SECONDS = 15  # without an answer; the head may be restarted in that time
LOOK_SECONDS = 0.05
T = TypeVar("T")


class Head:
    """The process on the head node that knows of nodes and actors (Ray's GCS), probed while a job runs.

    Parameters
    ----------
    address : str
        HOST:PORT.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self.address, self.endpoint = address, (host.strip("[]"), int(port))
        self.heard = time.monotonic()
        self.ended = threading.Event()
        self.watch = threading.Thread(target=self._watch, name="polykem-bulk-head", daemon=True)

    def __enter__(self) -> Head:
        self.watch.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()

    def _watch(self) -> None:
        while not self.ended.wait(PAUSE_SECONDS):
            try:
                socket.create_connection(self.endpoint, PROBE_SECONDS).close()
                self.heard = time.monotonic()
            except OSError:
                pass

    def check(self) -> None:
        """Raises if the head has not answered for PATIENCE_SECONDS."""
        if time.monotonic() - self.heard > PATIENCE_SECONDS:
            raise BulkError(f"the head of the Ray cluster at {self.address} no longer answers", RESOURCES,
                            "start the cluster again ('ray start --head'), and give the same command with --resume; "
                            "committed partitions stay")

    def ask(self, question: Callable[[], T]) -> T:
        """Returns the result of `question()`, which asks the head. Does not wait for a dead head."""
        call = BackgroundCall(question)
        while not call.done.wait(LOOK_SECONDS):
            self.check()
        return call.result()


class BackgroundCall(Generic[T]):
    """Calls a function on a thread of its own, so that the caller need not wait for it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self.function, self.done = function, threading.Event()
        self.error: BaseException | None = None
        threading.Thread(target=self._call, name="polykem-bulk-call", daemon=True).start()

    def _call(self) -> None:
        try:
            self.value = self.function()
        except BaseException as error:  # noqa: BLE001  raised again when the result is taken
            self.error = error
        finally:
            self.done.set()

    def result(self) -> T:
        if self.error is not None:
            raise self.error
        return self.value
