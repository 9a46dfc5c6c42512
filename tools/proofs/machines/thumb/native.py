# SPDX-License-Identifier: Apache-2.0
"""Runs functions for Thumb by QEMU, to compare them with machine.py. Its user mode has no Cortex-M4; a Cortex-A15 has
the same instructions and more."""

from __future__ import annotations

import functools
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from proofs.machines.emulated import found, output, pieces

CALL = Path(__file__).with_name("call.c")
_OPTIONS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O1", "-nostdlib", "-static",
            "-ffreestanding", "-Wl,-Ttext-segment=0x60000000")
_folder = tempfile.TemporaryDirectory()


@functools.cache
def _emulator() -> list[str]:
    """Returns the command that runs a program for Arm. Raises Missing if there is none."""
    return [found("qemu-arm-static", "qemu-arm"), "-cpu", "cortex-a15"]


@functools.cache
def compiled(source: Path) -> Path:
    """Returns the program for Thumb of a source in C, which is compiled the first time. Raises Missing if it cannot be
    compiled or run."""
    _emulator()
    compiler = found("arm-none-eabi-gcc")
    program = Path(_folder.name, source.stem)
    subprocess.run([compiler, *_OPTIONS, "-I", CALL.parent, "-o", program, source], check=True)
    return program


def run(source: Path, data: bytes) -> bytes:
    """Returns what a program writes for the given input."""
    return output(_emulator(), compiled(source), data)


def call(segments: dict[int, bytes], function: int, arguments: tuple[int | tuple[int, ...], ...],
         memory: dict[int, int], arrays: range, wanted: Iterable[int]) -> dict[int, int]:
    """Returns the bytes at the wanted addresses after a call of a function of the segments, which are given by their
    addresses."""
    words = [word for argument in arguments for word in (argument if isinstance(argument, tuple) else (argument,))]
    given, asked = list(pieces(memory)), list(pieces(wanted))
    contents = {**segments, **{piece.start: bytes(memory[byte] for byte in piece) for piece in given}}
    mapped = [range(start, start + len(content)) for start, content in segments.items()] + [arrays]
    parts = [_numbers(len(mapped)), *(_numbers(part.start, len(part)) for part in mapped), _numbers(len(contents))]
    for start, content in contents.items():
        parts += [_numbers(start, len(content)), content]
    parts += [_numbers(function | 1, len(words), *words, len(asked)),
              *(_numbers(piece.start, len(piece)) for piece in asked)]
    written = run(CALL, b"".join(parts))
    return dict(zip((byte for piece in asked for byte in piece), written, strict=True))


def _numbers(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *(value % (1 << 32) for value in values))
