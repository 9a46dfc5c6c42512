# SPDX-License-Identifier: Apache-2.0
"""Errors of bulk jobs: a sentence, a hint and an exit code (docs/exit_codes.md)."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator

CHECK_FAILED = 1
USAGE = 2
DATA = 3
BACKEND = 4
IO = 5
DEFECT = 6
RESOURCES = 7
INTERRUPTED = 130


class BulkError(Exception):
    """An error that stops a job, or keeps it from starting.

    Parameters
    ----------
    message : str
        One sentence without a full stop.
    code : int
        The program's exit code, one of this module's constants.
    hint : str
        What to do about it; may be empty.
    """

    def __init__(self, message: str, code: int = DATA, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.code, self.hint = message, code, hint

    def __reduce__(self) -> tuple[type[BulkError], tuple[str, int, str]]:
        return BulkError, (self.message, self.code, self.hint)

    def __str__(self) -> str:
        return self.message


FULL = {errno.ENOSPC, errno.EDQUOT}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextlib.contextmanager
def explained(path: object) -> Iterator[None]:
    """Turns the operating system's errors about `path` into a `BulkError`."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise BulkError(f"the disk of {path} is full", IO,
                            "make room and give the same command with --resume; committed partitions stay") from error
        if error.errno in FORBIDDEN:
            raise BulkError(f"{path}: no permission ({error.strerror})", IO,
                            "change its owner or mode, or name another place") from error
        raise BulkError(f"{path}: {error.strerror or error}", IO) from error
