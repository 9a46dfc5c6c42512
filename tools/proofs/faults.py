# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in a library's code, one at a time, for proofs to refute."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

import iced_x86 as iced

from proofs.machine import Library

# A part of an instruction's name becomes another one; operands stay. Instructions on general registers with a constant
# are left out, since loops count with them.
SWAPS = [("PADDW_", "PSUBW_"), ("PADDD_", "PSUBD_"), ("PADDQ_", "PSUBQ_"), ("PMULLW_", "PMULHW_"),
         ("PMULHW_", "PMULHUW_"), ("PMULDQ_", "PADDQ_"), ("PMINUW_", "PMAXUW_"), ("PMADDWD_", "PADDD_"),
         ("PUNPCKLWD_", "PUNPCKHWD_"), ("PMULHRSW_", "PMULHW_"), ("PDPWSSD_", "PADDD_"),
         *((f"{old}_{form}", f"{new}_{form}") for old, new in (("ADD", "SUB"), ("AND", "OR"))
           for form in ("R32_RM32", "RM32_R32"))]
_NAMES: dict[int, str] = {value: name for name, value in vars(iced.Code).items() if isinstance(value, int)}


def _faulty(library: Library, at: int) -> Iterator[bytes]:
    """Yields the instruction at an address with a fault: another operation, or another distance of a shift."""
    code = library.read(at, 15) or b""
    instruction = iced.Decoder(64, code, ip=at).decode()
    name = _NAMES.get(instruction.code, "")
    for old, new in (*SWAPS, *((new, old) for old, new in SWAPS)):
        other = getattr(iced.Code, name.replace(old, new), None) if old in name else None
        if other is not None:
            changed = instruction.copy()
            changed.code = other
            yield from _encoded(changed, instruction.len)
    last = instruction.op_count - 1
    # The sign is the same wherever it is taken from above the highest bit.
    of_sign = "SRA" in name or "SAR" in name
    if not of_sign and last >= 0 and instruction.op_kind(last) == iced.OpKind.IMMEDIATE8:
        yield code[:instruction.len - 1] + bytes([instruction.immediate(last) ^ 1])


def _encoded(instruction: iced.Instruction, length: int) -> Iterator[bytes]:
    encoder = iced.Encoder(64)
    try:
        encoder.encode(instruction, instruction.ip)
    except ValueError:
        return
    code = encoder.take_buffer()
    if len(code) == length:
        yield code


def plant(library: Library, executed: set[int], seed: int) -> tuple[Library, str]:
    """Returns the library with a fault in one of the executed instructions, and what the fault is."""
    generator = random.Random(seed)
    places = sorted(executed)
    generator.shuffle(places)
    formatter = iced.Formatter(iced.FormatterSyntax.INTEL)
    for at in places:
        faulty = list(_faulty(library, at))
        if faulty:
            code = generator.choice(faulty)
            changed = copy.copy(library)
            changed.bytes = {start: _patched(start, data, at, code) for start, data in library.bytes.items()}
            before = formatter.format(iced.Decoder(64, library.read(at, 15) or b"", ip=at).decode())
            after = formatter.format(iced.Decoder(64, code, ip=at).decode())
            return changed, f"{at:#x}: {before} -> {after}"
    raise ValueError("no instruction of the function can have a fault of the kinds here")


def _patched(start: int, data: bytes, at: int, code: bytes) -> bytes:
    if not start <= at < start + len(data):
        return data
    return data[:at - start] + code + data[at - start + len(code):]
