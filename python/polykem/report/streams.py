# SPDX-License-Identifier: Apache-2.0
"""Handles standard streams that are closed or full: no file gets their descriptors, and errors raise no traceback."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


def open_streams() -> None:
    """Opens those of the descriptors 0, 1 and 2 that are closed, such that reading or writing them still fails. Python
    leaves them closed; the next file would get the number, and all that a library or another process prints there."""
    for number, useless in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, useless), True)  # the lowest free number is this one
    sys.stdout = sys.stdout or _unwritable()
    sys.stderr = sys.stderr or _unwritable()


def say(text: str) -> None:
    """Prints on standard output. Raises an OSError that names it."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise OSError(error.errno, error.strerror, "standard output") from error


def tell(text: str) -> None:
    """Prints on standard error. What cannot be written there is lost, since there is no other place to report it."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.stderr = _discarding()


class StandardError(io.TextIOBase):
    """A stream for a library's messages, which go to standard error by `tell`."""

    def write(self, text: str) -> int:
        tell(text)
        return len(text)


def lost_output() -> str:
    """Flushes standard output. Returns a sentence if that is impossible, else ""."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError) as error:
        sys.stdout = _discarding()
        return f"cannot write to standard output: {getattr(error, 'strerror', None) or error}"
    return ""


def _unwritable() -> TextIO:
    return open(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8")


def _discarding() -> TextIO:
    """Returns a replacement for a stream whose buffer would fail again when the interpreter ends."""
    return open(os.devnull, "w", encoding="utf-8")
