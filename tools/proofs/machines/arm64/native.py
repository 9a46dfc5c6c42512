# SPDX-License-Identifier: Apache-2.0
"""Runs functions for AArch64 by QEMU, or on this CPU if it is one, to compare them with machine.py."""

from __future__ import annotations

import functools
import platform
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from proofs.machines.emulated import found, output, pieces

SYSROOT = "/usr/aarch64-linux-gnu"  # where Debian has libraries for the cross compiler
CALL = Path(__file__).with_name("call.c")
_folder = tempfile.TemporaryDirectory()


@functools.cache
def emulator() -> list[str]:
    """Returns the command that runs a program for AArch64. Raises Missing if there is none."""
    if platform.machine() == "aarch64":
        return []
    return [found("qemu-aarch64-static", "qemu-aarch64"), "-L", SYSROOT]


@functools.cache
def compiled(source: Path) -> Path:
    """Returns the program for AArch64 of a source in C, which is compiled the first time. Raises Missing if it cannot
    be compiled or run."""
    emulator()
    compiler = found("cc" if platform.machine() == "aarch64" else "aarch64-linux-gnu-gcc")
    program = Path(_folder.name, source.stem)
    subprocess.run([compiler, "-O1", "-o", program, source, "-ldl"], check=True)
    return program


def run(source: Path, data: bytes) -> bytes:
    """Returns what a program writes for the given input."""
    return output(emulator(), compiled(source), data)


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
