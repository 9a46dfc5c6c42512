# SPDX-License-Identifier: Apache-2.0
"""Standard streams that are closed or full: no file gets their numbers, and no error is an exception of its own."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def open_streams() -> None:
    """Opens those of the descriptors 0, 1 and 2 that are closed, such that reading and writing them still fails. Python
    leaves them closed, and the next file gets the number, with all that a library or another process prints there."""
    for number, useless in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, useless), True)  # the lowest free number is this one
    sys.stdout = sys.stdout or _useless()
    sys.stderr = sys.stderr or _useless()


def say(text: str) -> None:
    """Prints on standard output. Raises OSError that names it."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def tell(text: str) -> None:
    """Prints on standard error. What cannot be written there is lost: nowhere else could that be said."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.stderr = _nowhere()


class StandardError(io.TextIOBase):
    """What is printed on this, a library's messages say, is told."""

    def write(self, text: str) -> int:
        tell(text)
        return len(text)


def lost_output() -> str:
    """Writes what was printed. Returns a sentence if that is impossible, else ""."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        sys.stdout = _nowhere()
        return f"cannot write to standard output: {getattr(error, 'strerror', None) or error}"
    return ""


def _useless() -> TextIO:
    return open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _nowhere() -> TextIO:
    """In place of a stream whose buffer would fail again when the interpreter ends."""
    return open(os.devnull, "w", encoding="utf-8")
