# SPDX-License-Identifier: Apache-2.0
"""Moves of vectors and of parts of them, from and to memory and general registers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import const, extract, ite, zext
from proofs.machines.memory import ZERO_BYTE, NotFollowed, bytes_of, value_of
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import WIDTHS, flatten, sources

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _move(width: int = 0, aligned: bool = False) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = min(m.vector_size(i, 0), m.vector_size(i, 1))
        if aligned and iced.OpKind.MEMORY in (i.op_kind(0), i.op_kind(1)) and m.address(i) % size:
            raise NotFollowed("the address is not a multiple of the size")
        if i.op_mask != iced.Register.NONE and i.op_kind(1) == iced.OpKind.MEMORY:
            _load_masked(m, i, size, width // 8)
        else:
            m.write_vector(i, list(m.read_vector(i, 1, size)), width)

    return run


def _load_masked(m: Machine, i: iced.Instruction, size: int, step: int) -> None:
    """Loads lanes that a mask selects. Where it is known, the others need not be there."""
    mask, at = m.mask[iced.RegisterExt.number(i.op_mask)], m.address(i)
    result = [ZERO_BYTE] * size if i.zeroing_masking else list(m.read_vector(i, 0, size))
    for lane in range(size // step):
        here, bit = slice(lane * step, (lane + 1) * step), extract(mask, lane, lane)
        if bit.value == 0:
            continue
        loaded = m.memory.load(at + lane * step, step)
        result[here] = loaded if bit.value else bytes_of(ite(bit, value_of(loaded), value_of(result[here])))
    m.vector[iced.RegisterExt.number(i.op_register(0))] = result + [ZERO_BYTE] * (64 - size)


def _move_low(size: int) -> Handler:
    """Moves the lowest `size` bytes, and clears the rest of a vector register."""

    def run(m: Machine, i: iced.Instruction) -> None:
        value = m.read(i, 1)
        data = bytes_of(extract(value, 8 * size - 1, 0))
        if i.op_kind(0) == iced.OpKind.REGISTER and iced.RegisterExt.is_vector_register(i.op_register(0)):
            m.write_vector(i, data + [ZERO_BYTE] * (16 - size))
        elif i.op_kind(0) == iced.OpKind.REGISTER:
            m.write_general(i.op_register(0), value_of(data))
        else:
            m.memory.store(m.address(i), data)

    return run


def _move_halves(upper: bool) -> Handler:
    """movhlps and movlhps: the upper or the lower 64 bits of both operands."""

    def run(m: Machine, i: iced.Instruction) -> None:
        first, second = (m.read_vector(i, n, 16) for n in sources(i))
        m.write_vector(i, second[8:] + first[8:] if upper else first[:8] + second[:8])

    return run


def _move_upper(m: Machine, i: iced.Instruction) -> None:
    """movhps: the upper 64 bits to memory, or from there, beside the lower ones of a register."""
    if i.op_kind(0) == iced.OpKind.MEMORY:
        m.memory.store(m.address(i), m.read_vector(i, 1, 16)[8:])
    else:
        m.write_vector(i, m.read_vector(i, i.op_count - 2, 16)[:8] + m.memory.load(m.address(i), 8))


def _broadcast(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if i.op_kind(1) == iced.OpKind.REGISTER and not iced.RegisterExt.is_vector_register(i.op_register(1)):
            one = bytes_of(m.read_general(i.op_register(1)))[:size]
            one = bytes_of(value_of(one))
        else:
            one = list(m.read_vector(i, 1, size))
        if m.alike and i.op_mask == iced.Register.NONE:
            m.write_vector(i, m.lanes_alike(value_of(one), m.vector_size(i)))
            return
        m.write_vector(i, one * (m.vector_size(i) // size), mask_width or 8 * size)

    return run


def _insert_float(m: Machine, i: iced.Instruction) -> None:
    """insertps: one lane of 32 bits is replaced, then lanes are cleared."""
    control, (first, second) = i.immediate(i.op_count - 1), sources(i)
    lanes = m.lanes(i, first, 16, 32)
    if i.op_kind(second) == iced.OpKind.MEMORY:
        lanes[control >> 4 & 3] = m.lanes(i, second, 4, 32)[0]
    else:
        lanes[control >> 4 & 3] = m.lanes(i, second, 16, 32)[control >> 6]
    m.write_vector(i, flatten(const(0, 32) if control >> n & 1 else lane for n, lane in enumerate(lanes)))


def _extract_part(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        whole = m.vector[iced.RegisterExt.number(i.op_register(1))]
        at = i.immediate(2) % (m.vector_size(i, 1) // size) * size
        m.write_vector(i, whole[at:at + size], mask_width)

    return run


def _insert_part(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        whole = list(m.read_vector(i, 1, m.vector_size(i)))
        at = i.immediate(3) % (len(whole) // size) * size
        whole[at:at + size] = m.read_vector(i, 2, size)
        m.write_vector(i, whole, mask_width)

    return run


def _insert_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        legacy = i.encoding == iced.EncodingKind.LEGACY
        lanes = m.lanes(i, 0 if legacy else 1, 16, width)
        lanes[i.immediate(i.op_count - 1) % len(lanes)] = extract(m.read(i, 1 if legacy else 2), width - 1, 0)
        m.write_vector(i, flatten(lanes))

    return run


def _extract_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, 16, width)
        lane = lanes[i.immediate(2) % len(lanes)]
        m.write(i, zext(lane, max(32, width)) if i.op_kind(0) == iced.OpKind.REGISTER else lane)

    return run


MOVES: dict[str, Handler] = {
    "lddqu": _move(),
    "movd": _move_low(4),
    "movq": _move_low(8),
    "movhlps": _move_halves(True),
    "movlhps": _move_halves(False),
    "movhps": _move_upper,
    "insertps": _insert_float,
    "extracti128": _extract_part(16),
    "extracti32x4": _extract_part(16, 32),
    "extracti64x2": _extract_part(16, 64),
    "extracti32x8": _extract_part(32, 32),
    "extracti64x4": _extract_part(32, 64),
    "inserti128": _insert_part(16),
    "inserti32x4": _insert_part(16, 32),
    "inserti64x2": _insert_part(16, 64),
    "inserti32x8": _insert_part(32, 32),
    "inserti64x4": _insert_part(32, 64),
    "broadcasti128": _broadcast(16),
    "broadcasti32x4": _broadcast(16, 32),
    "broadcasti64x2": _broadcast(16, 64),
    "broadcasti64x4": _broadcast(32, 64),
}
for _letter, _aligned in (("a", True), ("u", False)):
    MOVES |= {f"mov{_letter}ps": _move(32, _aligned), f"mov{_letter}pd": _move(64, _aligned),
              f"movdq{_letter}": _move(0, _aligned)}
    MOVES |= {f"movdq{_letter}{_width}": _move(_width, _aligned) for _width in (8, 16, 32, 64)}
for _letter, _width in WIDTHS:
    MOVES |= {
        f"pbroadcast{_letter}": _broadcast(_width // 8),
        f"pinsr{_letter}": _insert_word(_width),
        f"pextr{_letter}": _extract_word(_width),
    }
