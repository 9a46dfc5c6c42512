# SPDX-License-Identifier: Apache-2.0
"""Other orders of lanes, from one vector or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, const, extract, ite
from proofs.machines.memory import ZERO_BYTE, Byte, lanes_of, value_of
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import WIDTHS, flatten, sign, sources

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _unpack(width: int, upper: bool) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in sources(i))
        half, result = 64 // width, []
        for at in range(half if upper else 0, len(first), 2 * half):
            for a, b in zip(first[at:at + half], second[at:at + half]):
                result += [a, b]
        m.write_vector(i, flatten(result), width)

    return run


def _shuffle_words(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(2)
    lanes = m.lanes(i, 1, size, 32)
    m.write_vector(i, flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 32)


def _shuffle_half(upper: bool) -> Handler:
    """pshuflw and pshufhw: four words of each 128 bits, the lower or the upper ones."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(2)
        lanes = m.lanes(i, 1, size, 16)
        for at in range(4 if upper else 0, len(lanes), 8):
            lanes[at:at + 4] = [lanes[at + (control >> 2 * n & 3)] for n in range(4)]
        m.write_vector(i, flatten(lanes), 16)

    return run


def _shuffle_bytes(m: Machine, i: iced.Instruction) -> None:
    size = m.vector_size(i)
    first, second = sources(i)
    data, result = m.read_vector(i, first, size), []
    for n, index in enumerate(m.lanes(i, second, size, 8)):
        part = data[n // 16 * 16:n // 16 * 16 + 16]
        if index.value is not None:
            result.append(ZERO_BYTE if index.value & 0x80 else part[index.value & 15])
        else:
            lane = chosen([value_of([byte]) for byte in part], index)
            result.append((ite(extract(index, 7, 7), const(0, 8), lane), 0))
    m.write_vector(i, result, 8)


def _shuffle_floats(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.lanes(i, n, size, 32) for n in sources(i))
    result = []
    for at in range(0, len(first), 4):
        for n in range(4):
            result.append((first if n < 2 else second)[at + (control >> 2 * n & 3)])
    m.write_vector(i, flatten(result), 32)


def _shuffle_quarters(mask_width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(3)
        parts, bits = size // 16, 2 if size == 64 else 1
        first, second = m.read_vector(i, 1, size), m.read_vector(i, 2, size)
        result: list[Byte] = []
        for n in range(parts):
            source, index = first if n < parts // 2 else second, control >> bits * n & (parts - 1)
            result += source[16 * index:16 * index + 16]
        m.write_vector(i, result, mask_width)

    return run


def _permute_quads(m: Machine, i: iced.Instruction) -> None:
    if i.op_kind(2) != iced.OpKind.IMMEDIATE8:
        return _permute(64)(m, i)
    size, control = m.vector_size(i), i.immediate(2)
    lanes = m.lanes(i, 1, size, 64)
    m.write_vector(i, flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 64)


def chosen(lanes: list[Term], index: Term) -> Term:
    """Returns the lane that the lowest bits of an index name."""
    if len(lanes) == 1 or index.value is not None:
        return lanes[(index.value or 0) % len(lanes)]
    top = len(lanes).bit_length() - 2
    half = len(lanes) // 2
    return ite(extract(index, top, top), chosen(lanes[half:], index), chosen(lanes[:half], index))


def _permute(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, lanes = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        m.write_vector(i, flatten(chosen(lanes, index) for index in indices), width)

    return run


def _permute_two(width: int, tables_first: bool) -> Handler:
    """vpermt2 (tables_first: the destination is the first table) and vpermi2 (the destination holds the indices)."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, first = (1, 0) if tables_first else (0, 1)
        lanes = m.lanes(i, first, size, width) + m.lanes(i, 2, size, width)
        m.write_vector(i, flatten(chosen(lanes, index) for index in m.lanes(i, indices, size, width)), width)

    return run


def _permute_halves(m: Machine, i: iced.Instruction) -> None:
    control = i.immediate(3)
    both, result = m.read_vector(i, 1, 32) + m.read_vector(i, 2, 32), []
    for n in (0, 1):
        index = control >> 4 * n
        result += [ZERO_BYTE] * 16 if index & 8 else both[16 * (index & 3):16 * (index & 3) + 16]
    m.write_vector(i, result)


def _blend(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(i.op_count - 1)
        first, second = (m.lanes(i, n, size, width) for n in sources(i))
        m.write_vector(i, flatten((b if control >> n % 8 & 1 else a) for n, (a, b) in enumerate(zip(first, second))))

    return run


def _blend_by_signs(m: Machine, i: iced.Instruction) -> None:
    """pblendvb: bytes of the second operand where the last one, xmm0 in the legacy encoding, has a sign."""
    size = m.vector_size(i)
    first, second = (m.lanes(i, n, size, 8) for n in sources(i))
    signs = lanes_of(m.vector[0][:size], 8) if i.encoding == iced.EncodingKind.LEGACY else m.lanes(i, 3, size, 8)
    m.write_vector(i, flatten(ite(sign(lane), b, a) for a, b, lane in zip(first, second, signs)))


def _align(m: Machine, i: iced.Instruction) -> None:
    """palignr: in each 128 bits, the bytes of both operands from a number on."""
    size, by = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.read_vector(i, n, size) for n in sources(i))
    result: list[Byte] = []
    for at in range(0, size, 16):
        both = second[at:at + 16] + first[at:at + 16] + [ZERO_BYTE] * 16
        result += both[min(by, 32):][:16]
    m.write_vector(i, result, 8)


def _align_lanes(width: int) -> Handler:
    """valignd and valignq: the lanes of both operands from a number on."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        both = m.lanes(i, 2, size, width) + m.lanes(i, 1, size, width)
        count = len(both) // 2
        by = i.immediate(3) % count
        m.write_vector(i, flatten(both[by:by + count]), width)

    return run


ORDER: dict[str, Handler] = {
    "punpcklbw": _unpack(8, False),
    "punpckhbw": _unpack(8, True),
    "punpcklwd": _unpack(16, False),
    "punpckhwd": _unpack(16, True),
    "punpckldq": _unpack(32, False),
    "punpckhdq": _unpack(32, True),
    "punpcklqdq": _unpack(64, False),
    "punpckhqdq": _unpack(64, True),
    "pshufd": _shuffle_words,
    "pshufb": _shuffle_bytes,
    "pshuflw": _shuffle_half(False),
    "pshufhw": _shuffle_half(True),
    "shufps": _shuffle_floats,
    "shufi64x2": _shuffle_quarters(64),
    "shufi32x4": _shuffle_quarters(32),
    "perm2i128": _permute_halves,
    "pblendw": _blend(16),
    "pblendd": _blend(32),
    "pblendvb": _blend_by_signs,
    "palignr": _align,
    "alignd": _align_lanes(32),
    "alignq": _align_lanes(64),
}
for _letter, _width in WIDTHS:
    ORDER |= {
        f"perm{_letter}": _permute(_width),
        f"permt2{_letter}": _permute_two(_width, True),
        f"permi2{_letter}": _permute_two(_width, False),
    }
ORDER["permq"] = _permute_quads  # by a constant or by indices
