# SPDX-License-Identifier: Apache-2.0
"""Programs that run code of other instruction sets, and what is exchanged with them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path


class Missing(Exception):
    """A program that is not installed."""


def found(*names: str) -> str:
    """Returns the path of the first of these programs that is installed. Raises Missing if there is none."""
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise Missing(f"nothing is compared: there is no {names[-1]}")
    return path


def output(emulator: list[str], program: Path, data: bytes) -> bytes:
    """Returns what a program writes for the given input."""
    done = subprocess.run([*emulator, program], input=data, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"{program.name} ends with {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


def pieces(addresses: Iterable[int]) -> Iterator[range]:
    """Yields addresses as ranges without gaps."""
    begin = end = None
    for at in sorted(addresses):
        if begin is None or at != end:
            if begin is not None:
                yield range(begin, end)
            begin = at
        end = at + 1
    if begin is not None:
        yield range(begin, end)
