# SPDX-License-Identifier: Apache-2.0
"""Faults that are planted in a library's code, one at a time, for proofs to refute."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import partial

import iced_x86 as iced

from proofs.machines.arm64 import faults as arm64
from proofs.machines.memory import Library
from proofs.machines.thumb import faults as thumb

# A part of an instruction's name becomes another one; operands stay. Instructions on general registers with a constant
# are left out, since loops count with them.
SWAPS = [("PADDW_", "PSUBW_"), ("PADDD_", "PSUBD_"), ("PADDQ_", "PSUBQ_"), ("PMULLW_", "PMULHW_"),
         ("PMULHW_", "PMULHUW_"), ("PMULDQ_", "PADDQ_"), ("PMINUW_", "PMAXUW_"), ("PMADDWD_", "PADDD_"),
         ("PUNPCKLWD_", "PUNPCKHWD_"), ("PMULHRSW_", "PMULHW_"), ("PDPWSSD_", "PADDD_"),
         ("TDPBUSD_", "TDPBUUD_"), ("TDPBSUD_", "TDPBUUD_"), ("TDPBSSD_", "TDPBSUD_"),
         *((f"{old}_{form}", f"{new}_{form}") for old, new in (("ADD", "SUB"), ("AND", "OR"))
           for form in ("R32_RM32", "RM32_R32"))]
# Addresses are computed with these too, or there are many, so they are changed only where there is nothing else.
OF_WORDS = [("PAND_", "POR_"), *((f"{old}_{form}", f"{new}_{form}") for old, new in (
    ("ADD", "SUB"), ("CMOVAE", "CMOVB"), ("CMOVA", "CMOVBE"), ("CMOVE", "CMOVNE"))
    for form in ("R64_RM64", "RM64_R64", "R32_RM32"))]
SHARE_OF_CONSTANTS = 0.25
_NAMES: dict[int, str] = {value: name for name, value in vars(iced.Code).items() if isinstance(value, int)}


def _faulty(library: Library, at: int, swaps: list[tuple[str, str]] = SWAPS) -> Iterator[bytes]:
    """Yields the instruction at an address with a fault: another operation, another distance of a shift, or another
    place that bits for a mask come from."""
    code = library.read(at, 15) or b""
    instruction = iced.Decoder(64, code, ip=at).decode()
    name = _NAMES.get(instruction.code, "")
    for old, new in (*swaps, *((new, old) for old, new in swaps)):
        other = getattr(iced.Code, name.replace(old, new), None) if old in name else None
        if other is not None:
            changed = instruction.copy()
            changed.code = other
            yield from _encoded(changed, instruction.len)
    last = instruction.op_count - 1
    if name.startswith("VEX_KMOV") and instruction.op_kind(last) == iced.OpKind.MEMORY:
        changed = instruction.copy()
        changed.memory_displacement ^= 1
        yield from _encoded(changed, instruction.len)
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


def plant(library: Library, executed: set[int], constants: set[int], seed: int) -> tuple[Library, str]:
    """Returns the library with a fault in an executed instruction or in a byte that was read, and what the fault is."""
    generator = random.Random(seed)
    code = sorted(executed)
    generator.shuffle(code)
    of_sets = {"AArch64": (arm64.changes_of, arm64.text_of), "Thumb": (thumb.changes_of, thumb.text_of)}
    changes_of, text_of = of_sets.get(library.instruction_set, (_faulty, _text_of))
    at = next((place for place in code if any(changes_of(library, place))), None)
    if at is None and not constants and library.instruction_set == "x86-64":
        changes_of = partial(_faulty, swaps=OF_WORDS)
        at = next((place for place in code if any(changes_of(library, place))), None)
    if constants and (at is None or generator.random() < SHARE_OF_CONSTANTS):
        at = generator.choice(sorted(constants))
        byte = (library.read(at, 1) or b"\0")[0]
        return _changed(library, at, bytes([byte ^ 1])), f"{at:#x}: constant {byte:#x} -> {byte ^ 1:#x}"
    if at is None:
        raise ValueError("the function has no constant, and no instruction that can have a fault of the kinds here")
    changed = generator.choice(list(changes_of(library, at)))
    text = f"{at:#x}: {text_of(library, at)} -> {text_of(library, at, changed)}"
    return _changed(library, at, changed), text


def _text_of(library: Library, at: int, code: bytes | None = None) -> str:
    """Returns the instruction at an address, or another one in its place, as text."""
    formatter = iced.Formatter(iced.FormatterSyntax.INTEL)
    return formatter.format(iced.Decoder(64, code or library.read(at, 15) or b"", ip=at).decode())


def _changed(library: Library, at: int, data: bytes) -> Library:
    result = copy.copy(library)
    result.bytes = {start: _patched(start, old, at, data) for start, old in library.bytes.items()}
    return result


def _patched(start: int, data: bytes, at: int, code: bytes) -> bytes:
    if not start <= at < start + len(data):
        return data
    return data[:at - start] + code + data[at - start + len(code):]
