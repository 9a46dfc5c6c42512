# SPDX-License-Identifier: Apache-2.0
"""Whether a Ray cluster's head lives. Ray itself waits for it for a minute, then ends the process with exit code 1."""

from __future__ import annotations

import socket
import threading
import time

from .errors import RESOURCES, BulkError

KNOCK_SECONDS = 5  # for a connection
PAUSE_SECONDS = 1
PATIENCE_SECONDS = 15  # without an answer; a head that is restarted in time goes on
LOOK_SECONDS = 0.05


class Head:
    """The process on the head node that knows of nodes and actors (Ray's GCS), knocked at while a job runs.

    Parameters
    ----------
    address : str
        HOST:PORT.
    """

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.address, self.place = address, (host.strip("[]"), int(port))
        self.heard = time.monotonic()
        self.ended = threading.Event()
        self.watch = threading.Thread(target=self._watch, name="polykem-bulk-head", daemon=True)

    def __enter__(self):
        self.watch.start()
        return self

    def __exit__(self, *error):
        self.ended.set()

    def _watch(self):
        while not self.ended.wait(PAUSE_SECONDS):
            try:
                socket.create_connection(self.place, KNOCK_SECONDS).close()
                self.heard = time.monotonic()
            except OSError:
                pass

    def check(self):
        """Raises if the head has not answered for a while."""
        if time.monotonic() - self.heard > PATIENCE_SECONDS:
            raise BulkError(f"the head of the Ray cluster at {self.address} no longer answers", RESOURCES,
                            "start the cluster again ('ray start --head'), and give the same command with --resume; "
                            "committed partitions stay")

    def ask(self, question):
        """What `question()`, which asks the head, returns; does not wait for a head that is gone."""
        answer = Answer(question)
        while not answer.there.wait(LOOK_SECONDS):
            self.check()
        return answer.get()


class Answer:
    """The result of a function that a thread of its own calls, which nobody has to wait for."""

    def __init__(self, question):
        self.question, self.there, self.value, self.error = question, threading.Event(), None, None
        threading.Thread(target=self._call, name="polykem-bulk-question", daemon=True).start()

    def _call(self):
        try:
            self.value = self.question()
        except BaseException as error:  # noqa: BLE001  raised again where the answer is taken
            self.error = error
        finally:
            self.there.set()

    def get(self):
        if self.error is not None:
            raise self.error
        return self.value
