# SPDX-License-Identifier: Apache-2.0
"""Exceptions, one class for each status of the C API."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core


class Status(IntEnum):
    """The status of a call or an item; the numbers of ``polykem_status`` in ``polykem.h``."""

    OK = 0
    ARGUMENT = 1
    UNKNOWN_SCHEME = 2
    UNKNOWN_BACKEND = 3
    BACKEND_UNAVAILABLE = 4
    OUT_OF_MEMORY = 5
    RANDOM = 6
    ITEMS = 7
    PUBLIC_KEY = 8
    SECRET_KEY = 9
    SIZE = 11
    BUSY = 12
    RANGE = 13
    INTERNAL = 14
    CIPHERTEXT = 15
    SIGNATURE = 16

    @property
    def text(self) -> str:
        """A short English sentence."""
        return _core.status_text(int(self))


class Error(Exception):
    """The base class of polykem's exceptions.

    Attributes
    ----------
    status : Status
        The C API's code.
    """

    status: IntEnum = Status.INTERNAL


class ArgumentError(Error, ValueError):
    """An invalid argument: a count of 0, an array of the wrong type, fields that contradict each other."""

    status: IntEnum = Status.ARGUMENT


class ArgumentTypeError(ArgumentError, TypeError):
    """An object of the wrong type: a number or text instead of bytes, a fraction instead of a number of items."""


class SizeError(ArgumentError):
    """An array whose records do not have the parameter set's size."""

    status = Status.SIZE


class RangeError(ArgumentError, IndexError):
    """An index outside a list or a key set."""

    status = Status.RANGE


class UnknownScheme(ArgumentError):
    """No parameter set has that name; the message and ``nearest`` have the closest one."""

    status = Status.UNKNOWN_SCHEME

    def __init__(self, message: str, nearest: str | None = None):
        super().__init__(message)
        self.nearest = nearest


class UnknownBackend(ArgumentError):
    """No backend has that name."""

    status = Status.UNKNOWN_BACKEND


class BackendUnavailable(Error):
    """The backend exists, but this machine or this build cannot run it."""

    status = Status.BACKEND_UNAVAILABLE


class OutOfMemory(Error, MemoryError):
    """Too little memory, on the host or on the GPU."""

    status: IntEnum = Status.OUT_OF_MEMORY


class RandomError(Error):
    """The operating system gave no entropy."""

    status: IntEnum = Status.RANDOM


class BusyError(Error):
    """Too many operations in flight."""

    status = Status.BUSY


class InternalError(Error):
    """A defect in polykem; please report it."""

    status: IntEnum = Status.INTERNAL


class ItemsError(Error):
    """At least one item is malformed. The others are done: ``result`` has them.

    Attributes
    ----------
    items : numpy.ndarray
        Indices of the malformed items, ascending.
    item_status : numpy.ndarray
        int32, shape ``(count,)``: a ``Status`` for each item.
    result : NamedTuple
        What the call would have returned; the outputs of malformed items are zero. None in an unpickled exception whose
        result had secrets.
    """

    status = Status.ITEMS

    def __init__(self, message: str, item_status: npt.NDArray[np.int32], result: Any):
        super().__init__(message)
        self.item_status = item_status
        self.items: npt.NDArray[np.intp] = np.flatnonzero(item_status)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the exception without secrets: if the result has any, it becomes None."""
        parts = self.result if isinstance(self.result, tuple) else ()
        secret = any(hasattr(part, "partly_wiped") for part in parts)
        return type(self), (str(self), self.item_status, None if secret else self.result)


_CLASSES: dict[Status, type[Error]] = {
    Status.ARGUMENT: ArgumentError,
    Status.UNKNOWN_BACKEND: UnknownBackend,
    Status.BACKEND_UNAVAILABLE: BackendUnavailable,
    Status.OUT_OF_MEMORY: OutOfMemory,
    Status.RANDOM: RandomError,
    Status.SIZE: SizeError,
    Status.BUSY: BusyError,
    Status.RANGE: RangeError,
}


def check(status: int, what: str, sentence: str = "") -> None:
    """Raise the exception of a status that is not OK. `what` names what was attempted; `sentence` replaces the status's
    own text."""
    if status != Status.OK:
        code = Status(status)
        error = _CLASSES.get(code, InternalError)(f"{what}: {sentence or code.text}")
        error.status = code
        raise error


def items_error(what: str, item_status: npt.NDArray[np.int32], result: Any) -> ItemsError:
    bad = np.flatnonzero(item_status)
    first = ", ".join(f"{i}: {Status(int(item_status[i])).text}" for i in bad[:3])
    more = ", ..." if len(bad) > 3 else ""
    return ItemsError(
        f"{what}: {len(bad)} of {len(item_status)} items are malformed ({first}{more}); "
        'the others are in .result, and errors="return" returns them without an exception',
        item_status, result)
