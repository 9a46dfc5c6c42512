# SPDX-License-Identifier: Apache-2.0
"""Output files: whole or not at all, and never over a file that exists unless that was asked for."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from pathlib import Path

from .errors import IO, USAGE, ReportError

STDOUT = "-"


def check_paths(outputs: list[str], inputs: list[str], force: bool) -> None:
    """Checks the outputs before the work begins, since a result that cannot be written at the end would be lost."""
    seen: dict[str, str] = {}
    for path in [p for p in inputs + outputs if p != STDOUT]:
        real = os.path.realpath(path)
        if real in seen and path in outputs:
            raise ReportError(USAGE, f"'{path}' is the same file as '{seen[real]}'")
        seen[real] = path
    if outputs.count(STDOUT) > 1:
        raise ReportError(USAGE, "only one output can go to standard output")
    for path in [p for p in outputs if p != STDOUT]:
        if os.path.isdir(path):
            raise ReportError(IO, f"'{path}' is a directory")
        if _is_file(path) and not force:
            raise ReportError(USAGE, f"'{path}' exists", "--force replaces it")
        folder = os.path.dirname(os.path.abspath(path))
        if not os.path.isdir(folder):
            raise ReportError(IO, f"cannot write '{path}': no directory '{folder}'")


def write(contents: dict[str, str], force: bool) -> None:
    """Writes all files or none: each is complete on the disk before the first gets its name."""
    waiting: list[tuple[str, str]] = []
    try:
        for path, text in contents.items():
            if path == STDOUT or (os.path.exists(path) and not _is_file(path)):
                continue
            waiting.append((_temporary(path, text), path))
        for temporary, path in waiting:
            _give_name(temporary, path, force)
        for path, text in contents.items():
            if path == STDOUT:
                sys.stdout.write(text)
                sys.stdout.flush()
            elif not _is_file(path):  # a pipe or a device
                Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(IO, f"cannot write: {error.strerror}: {error.filename or 'standard output'}") from error
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return os.path.islink(path)


def _temporary(path: str, text: str) -> str:
    folder = os.path.dirname(os.path.abspath(path))
    name = os.path.join(folder, f".polykem-report-{secrets.token_hex(8)}.tmp")
    with open(name, "x", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return name


def _give_name(temporary: str, path: str, force: bool) -> None:
    if force:
        os.replace(temporary, os.path.realpath(path))
        return
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise ReportError(USAGE, f"'{path}' exists", "--force replaces it") from error
