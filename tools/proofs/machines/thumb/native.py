# SPDX-License-Identifier: Apache-2.0
"""Runs functions for Thumb by QEMU, to compare them with machine.py. Its user mode has no Cortex-M4; a Cortex-A15 has
the same instructions and more."""

from __future__ import annotations

import functools
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from proofs.machines.arm64.native import Missing, pieces

CALL = Path(__file__).with_name("call.c")
_OPTIONS = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-O1", "-nostdlib", "-static",
            "-ffreestanding", "-Wl,-Ttext-segment=0x60000000")
_folder = tempfile.TemporaryDirectory()


@functools.cache
def _emulator() -> str:
    """Returns the program that runs a program for Arm. Raises Missing if there is none."""
    program = shutil.which("qemu-arm-static") or shutil.which("qemu-arm")
    if program is None:
        raise Missing("nothing is compared: there is no qemu-arm")
    return program


@functools.cache
def compiled(source: Path) -> Path:
    """Returns the program for Thumb of a source in C, which is compiled the first time. Raises Missing if it cannot be
    compiled or run."""
    _emulator()
    compiler = shutil.which("arm-none-eabi-gcc")
    if compiler is None:
        raise Missing("nothing is compared: there is no arm-none-eabi-gcc")
    program = Path(_folder.name, source.stem)
    subprocess.run([compiler, *_OPTIONS, "-I", CALL.parent, "-o", program, source], check=True)
    return program


def run(source: Path, data: bytes) -> bytes:
    """Returns what a program writes for the given input."""
    done = subprocess.run([_emulator(), "-cpu", "cortex-a15", compiled(source)], input=data, capture_output=True,
                          check=False)
    if done.returncode:
        raise OSError(f"{source.name} ends with {done.returncode}: {done.stderr.decode().strip()}")
    return done.stdout


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
