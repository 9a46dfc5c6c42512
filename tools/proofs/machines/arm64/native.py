# SPDX-License-Identifier: Apache-2.0
"""Runs functions for AArch64 by QEMU, or on this CPU if it is one, to compare them with machine.py."""

from __future__ import annotations

import functools
import platform
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

SYSROOT = "/usr/aarch64-linux-gnu"  # where Debian has libraries for the cross compiler
CALL = Path(__file__).with_name("call.c")
_folder = tempfile.TemporaryDirectory()


class Missing(Exception):
    """A program that is not installed."""


@functools.cache
def emulator() -> list[str]:
    """Returns the command that runs a program for AArch64. Raises Missing if there is none."""
    if platform.machine() == "aarch64":
        return []
    program = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if program is None:
        raise Missing("nothing is compared: there is no qemu-aarch64")
    return [program, "-L", SYSROOT]


@functools.cache
def compiled(source: Path) -> Path:
    """Returns the program for AArch64 of a source in C, which is compiled the first time. Raises Missing if it cannot
    be compiled or run."""
    emulator()
    compiler = shutil.which("cc" if platform.machine() == "aarch64" else "aarch64-linux-gnu-gcc")
    if compiler is None:
        raise Missing("nothing is compared: there is no aarch64-linux-gnu-gcc")
    program = Path(_folder.name, source.stem)
    subprocess.run([compiler, "-O1", "-o", program, source, "-ldl"], check=True)
    return program


def run(source: Path, data: bytes) -> bytes:
    """Returns what a program writes for the given input."""
    done = subprocess.run([*emulator(), compiled(source)], input=data, capture_output=True, check=False)
    if done.returncode:
        raise OSError(f"{source.name} ends with {done.returncode}: {done.stderr.decode().strip()}")
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


def call(library: Path, function: int, arguments: tuple[int | tuple[int, ...], ...], memory: dict[int, int],
         arrays: range, wanted: Iterable[int]) -> dict[int, int]:
    """Returns the bytes at the wanted addresses after a call. Structures are put where the arrays begin."""
    memory, words, at = dict(memory), [], arrays.start
    for argument in arguments:
        if isinstance(argument, tuple):
            memory |= dict(enumerate(struct.pack(f"<{len(argument)}Q", *argument), at))
            words.append(at)
            at += 8 * len(argument)
        else:
            words.append(argument % (1 << 64))
    path = str(library).encode()
    parts = [_numbers(len(path)), path, _numbers(function, len(words), *words, arrays.start, len(arrays))]
    given, asked = list(pieces(memory)), list(pieces(wanted))
    parts.append(_numbers(len(given)))
    for piece in given:
        parts += [_numbers(piece.start, len(piece)), bytes(memory[byte] for byte in piece)]
    parts.append(_numbers(len(asked), *(number for piece in asked for number in (piece.start, len(piece)))))
    written = run(CALL, b"".join(parts))
    return dict(zip((byte for piece in asked for byte in piece), written, strict=True))


def _numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}Q", *values)
