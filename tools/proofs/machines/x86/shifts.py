# SPDX-License-Identifier: Apache-2.0
"""Shifts and rotations of the lanes of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, concat, extract, shift_left, shift_right, shift_right_signed
from proofs.machines.memory import ZERO_BYTE, Byte, lanes_of, value_of
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import WIDTHS, flatten

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _shift_lanes(width: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, last = m.vector_size(i), i.op_count - 1
        source = 0 if i.encoding == iced.EncodingKind.LEGACY else 1
        if i.op_kind(last) == iced.OpKind.IMMEDIATE8:
            by = i.immediate(last)
        else:
            by = m.known(value_of(m.read_vector(i, last, 8)), "a shift")
        data = m.read_vector(i, source, size)
        lane = m.lane_of(data, width) if m.alike and i.op_mask == iced.Register.NONE else None
        if lane is not None:
            m.write_vector(i, m.lanes_alike(f(lane, by), size))
        else:
            m.write_vector(i, flatten(f(lane, by) for lane in lanes_of(data, width)), width)

    return run


def _shift_each(width: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        counts = m.lanes(i, 2, size, width)
        lanes = (f(lane, m.known(by, "a shift")) for lane, by in zip(m.lanes(i, 1, size, width), counts))
        m.write_vector(i, flatten(lanes), width)

    return run


def _rotate(width: int) -> Handler:
    return _shift_lanes(width, lambda a, by: concat(extract(a, width - 1 - by % width, 0),
                                                    extract(a, width - 1, width - by % width)) if by % width else a)


def _double_shift(width: int, left: bool) -> Handler:
    """pshld and pshrd: the upper lane of two that are side by side, shifted to the left, or the lower one, to the
    right."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, by = m.vector_size(i), i.immediate(3) % width
        first, second = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        both = (concat(a, b) if left else concat(b, a) for a, b in zip(first, second))
        low = width - by if left else by
        m.write_vector(i, flatten(extract(lane, low + width - 1, low) for lane in both), width)

    return run


def _double_shift_each(width: int, left: bool) -> Handler:
    """pshldv and pshrdv: the same with a distance for each lane; the destination is the first operand."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, lanes = m.vector_size(i), []
        for a, b, count in zip(*(m.lanes(i, n, size, width) for n in range(3))):
            by = m.known(count, "a shift") % width
            low = width - by if left else by
            lanes.append(extract(concat(a, b) if left else concat(b, a), low + width - 1, low))
        m.write_vector(i, flatten(lanes), width)

    return run


def _shift_bytes(left: bool) -> Handler:
    """pslldq and psrldq: in each 128 bits, by bytes."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, by = m.vector_size(i), min(i.immediate(i.op_count - 1), 16)
        data = m.read_vector(i, 0 if i.encoding == iced.EncodingKind.LEGACY else 1, size)
        result: list[Byte] = []
        for at in range(0, size, 16):
            part = list(data[at:at + 16])
            result += [ZERO_BYTE] * by + part[:16 - by] if left else part[by:] + [ZERO_BYTE] * by
        m.write_vector(i, result)

    return run


def _multishift(m: Machine, i: iced.Instruction) -> None:
    """vpmultishiftqb: each byte is eight bits of its 64-bit lane, from a bit on that the first operand names."""
    size = m.vector_size(i)
    bits, lanes = m.lanes(i, 1, size, 8), m.lanes(i, 2, size, 64)
    result = []
    for n, bit in enumerate(bits):
        by, lane = m.known(bit, "a shift") & 63, lanes[n // 8]
        result.append(extract(concat(lane, lane), by + 7, by))
    m.write_vector(i, flatten(result), 8)


SHIFTS: dict[str, Handler] = {
    "pmultishiftqb": _multishift,
    "pslldq": _shift_bytes(True),
    "psrldq": _shift_bytes(False),
}
for _letter, _width in WIDTHS:
    SHIFTS |= {
        f"psll{_letter}": _shift_lanes(_width, shift_left),
        f"psrl{_letter}": _shift_lanes(_width, shift_right),
        f"psra{_letter}": _shift_lanes(_width, shift_right_signed),
        f"psllv{_letter}": _shift_each(_width, shift_left),
        f"psrlv{_letter}": _shift_each(_width, shift_right),
        f"psrav{_letter}": _shift_each(_width, shift_right_signed),
        f"prol{_letter}": _rotate(_width),
        f"pshld{_letter}": _double_shift(_width, True),
        f"pshrd{_letter}": _double_shift(_width, False),
        f"pshldv{_letter}": _double_shift_each(_width, True),
        f"pshrdv{_letter}": _double_shift_each(_width, False),
    }
