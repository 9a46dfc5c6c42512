# SPDX-License-Identifier: Apache-2.0
"""The results of calls, and the statuses of their items."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Generic, Tuple, TypeVar

import numpy as np

from .. import _core
from .._arrays import ByteArray, StatusArray
from .._errors import ArgumentError, ItemsError, Status
from .._errors import check as check_status

Ciphertexts = TypeVar("Ciphertexts")  # an array, or a list of bytes if the messages were a list
Plaintexts = TypeVar("Plaintexts")
T = TypeVar("T")


class ItemStatus(IntEnum):
    """The status of an item."""

    OK = 0
    PUBLIC_KEY = 8
    SECRET_KEY = 9
    INTERNAL = 14
    ENCAPSULATION = 101
    OPEN = 102
    NUMBER = 103

    @property
    def text(self) -> str:
        """A short English sentence."""
        return _core.hpke_status_text(int(self))


class Sealed(Tuple[ByteArray, Ciphertexts], Generic[Ciphertexts]):
    """Two arrays, ``enc, ciphertexts = suite.seal(...)``, and a status beside them.

    Attributes
    ----------
    enc : numpy.ndarray
        uint8, (n, enc_bytes).
    ciphertexts : numpy.ndarray or list of bytes
        uint8, (n, width + 16); a list if the plaintexts were one.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` for each item.
    """

    status: StatusArray

    def __new__(cls, enc: ByteArray, ciphertexts: Ciphertexts, status: StatusArray) -> Sealed[Ciphertexts]:
        self = super().__new__(cls, (enc, ciphertexts))
        self.status = status
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.enc, self.ciphertexts, self.status

    @property
    def enc(self) -> ByteArray:
        """The encapsulations."""
        return self[0]

    @property
    def ciphertexts(self) -> Ciphertexts:
        """The ciphertexts, each with its tag at the end."""
        return self[1]

    def __repr__(self) -> str:
        return f"<polykem.hpke.Sealed: {len(self.enc)} messages>"


class Opened(Tuple[Plaintexts, StatusArray], Generic[Plaintexts]):
    """Messages that were opened: ``plaintexts, status = suite.open(...)``.

    Attributes
    ----------
    plaintexts : Secret or list of bytes
        Secret, (n, width); a list if the ciphertexts were one.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` for each item.
    """

    def __new__(cls, plaintexts: Plaintexts, status: StatusArray) -> Opened[Plaintexts]:
        return super().__new__(cls, (plaintexts, status))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.plaintexts, self.status

    @property
    def plaintexts(self) -> Plaintexts:
        """The messages."""
        return self[0]

    @property
    def status(self) -> StatusArray:
        """int32, (n,): an ``ItemStatus`` for each item."""
        return self[1]

    def __repr__(self) -> str:
        return f"<polykem.hpke.Opened: {len(self.status)} messages>"


def check_errors(errors: str) -> None:
    if errors not in ("raise", "return"):
        raise ArgumentError(f'errors is {errors!r}; expected "raise" or "return"')


def check(outcome: tuple[int, str], what: str) -> None:
    """Raise the exception of a call's outcome, unless that is OK. `what` names what was attempted."""
    status, sentence = outcome
    if status in (Status.ARGUMENT, Status.SIZE, Status.BUSY):  # it says more than the general sentence behind it
        sentence = sentence.removesuffix(f": {Status(status).text}")
    check_status(status, what, sentence)


def finish(what: str, status: StatusArray, result: T, errors: str) -> T:
    bad = np.flatnonzero(status)
    if errors == "return" or not len(bad):
        return result
    first = ", ".join(f"{i}: {ItemStatus(int(status[i])).text}" for i in bad[:3])
    more = ", ..." if len(bad) > 3 else ""
    raise ItemsError(f"{what}: {len(bad)} of {len(status)} items failed ({first}{more}); the others are in .result, "
                     'and errors="return" returns them without an exception', status, result)
