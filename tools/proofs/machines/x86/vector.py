# SPDX-License-Identifier: Apache-2.0
"""What vector instructions do, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import (Term, add, bitwise, compare, concat, const, extract, ite, mul, negate, sext,
                                  shift_left, shift_right, shift_right_signed, signed, sub, zext)
from proofs.machines.memory import ZERO_BYTE, Byte, NotFollowed, bytes_of, lanes_of, value_of
from proofs.machines.x86.general import Handler

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _sign(a: Term) -> Term:
    return extract(a, a.width - 1, a.width - 1)


def _is_zero(a: Term) -> Term:
    return compare("eq", a, const(0, a.width))


def _flatten(lanes: Iterable[Term]) -> list[Byte]:
    return [byte for lane in lanes for byte in bytes_of(lane)]


def _sources(i: iced.Instruction) -> tuple[int, int]:
    """Returns the operands of an instruction of two sources; the first is the destination in the legacy encoding."""
    return (0, 1) if i.encoding == iced.EncodingKind.LEGACY else (1, 2)


def _lanewise(width: int, f: Callable[[Term, Term], Term], mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.read_vector(i, n, size) for n in _sources(i))
        if m.alike and i.op_mask == iced.Register.NONE:
            a, b = m.lane_of(first, width), m.lane_of(second, width)
            if a is not None and b is not None:
                m.write_vector(i, m.lanes_alike(f(a, b), size))
                return
        m.write_vector(i, _flatten(map(f, lanes_of(first, width), lanes_of(second, width))), mask_width or width)

    return run


def _alike(m: Machine, i: iced.Instruction, operands: list[list[Byte]]) -> list[Term] | None:
    """Returns the lanes of operands that have lanes alike, all of one width, for an operation bit by bit."""
    if m.alike and i.op_mask == iced.Register.NONE:
        for width in (8, 16, 32, 64):
            lanes = [m.lane_of(data, width) for data in operands]
            if None not in lanes:
                return lanes  # type: ignore[return-value]
    return None


def _bitwise(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        lanes = _alike(m, i, [m.read_vector(i, n, size) for n in _sources(i)])
        if lanes is not None:
            m.write_vector(i, m.lanes_alike(f(*lanes), size))
        else:
            _lanewise(width, f)(m, i)

    return run


def _mapped(width: int, f: Callable[[Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        m.write_vector(i, _flatten(map(f, m.lanes(i, 1, m.vector_size(i), width))), width)

    return run


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
            m.write_vector(i, _flatten(f(lane, by) for lane in lanes_of(data, width)), width)

    return run


def _shift_each(width: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        counts = m.lanes(i, 2, size, width)
        lanes = (f(lane, m.known(by, "a shift")) for lane, by in zip(m.lanes(i, 1, size, width), counts))
        m.write_vector(i, _flatten(lanes), width)

    return run


def _high(extend: Callable[[Term, int], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: extract(mul(extend(a, 2 * a.width), extend(b, 2 * b.width)), 2 * a.width - 1, a.width)


def _rounded_high(a: Term, b: Term) -> Term:
    product = mul(sext(a, 32), sext(b, 32))
    return extract(add(extract(product, 31, 14), const(1, 18)), 16, 1)


def _of_low_half(extend: Callable[[Term, int], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: mul(extend(extract(a, 31, 0), 64), extend(extract(b, 31, 0), 64))


def _pair_products(a: Term, b: Term) -> Term:
    low = mul(sext(extract(a, 15, 0), 32), sext(extract(b, 15, 0), 32))
    return add(low, mul(sext(extract(a, 31, 16), 32), sext(extract(b, 31, 16), 32)))


def _magnitude(a: Term) -> int:
    """Returns a bound of the absolute value of a signed byte, which is small where few bits are extended."""
    if a.value is not None:
        return abs(signed(a.value, a.width))
    return 1 << (a.args[0] if a.op == "sext" else a).width - 1


def _byte_pair_products(a: Term, b: Term) -> Term:
    """pmaddubsw: unsigned bytes times signed ones."""
    pairs = [(extract(a, at + 7, at), extract(b, at + 7, at)) for at in (0, 8)]
    if sum(x.most * _magnitude(y) for x, y in pairs) < 1 << 15:
        return add(*(mul(zext(x, 16), sext(y, 16)) for x, y in pairs))
    return _saturated(add(*(mul(zext(x, 32), sext(y, 32)) for x, y in pairs)), 16, -0x8000, 0x7FFF)


def _dot_bytes(m: Machine, i: iced.Instruction) -> None:
    """vpdpbusd: adds four products of unsigned bytes and signed ones to each lane, mod 2^32."""
    size = m.vector_size(i)
    result, factors = [], {}
    for total, a, b in zip(*(m.lanes(i, n, size, 32) for n in range(3))):
        if b not in factors:  # it is often the same in all lanes
            factors[b] = [sext(extract(b, at + 7, at), 32) for at in range(0, 32, 8)]
        for n, factor in enumerate(factors[b]):
            total = add(total, mul(zext(extract(a, 8 * n + 7, 8 * n), 32), factor))
        result.append(total)
    m.write_vector(i, _flatten(result), 32)


def _differences(a: Term, b: Term) -> Term:
    """psadbw: the sum of the distances of unsigned bytes."""
    result = const(0, 64)
    for at in range(0, 64, 8):
        x, y = extract(a, at + 7, at), extract(b, at + 7, at)
        result = add(result, zext(ite(compare("ult", x, y), sub(y, x), sub(x, y)), 64))
    return result


def _dot_words(m: Machine, i: iced.Instruction) -> None:
    size = m.vector_size(i)
    sums, a, b = (m.lanes(i, n, size, 32) for n in range(3))
    m.write_vector(i, _flatten(add(s, _pair_products(x, y)) for s, x, y in zip(sums, a, b)), 32)


def _dot_bytes(m: Machine, i: iced.Instruction) -> None:
    """pdpbusd: unsigned bytes times signed ones."""
    size, results = m.vector_size(i), []
    for total, a, b in zip(*(m.lanes(i, n, size, 32) for n in range(3))):
        for at in range(0, 32, 8):
            total = add(total, mul(zext(extract(a, at + 7, at), 32), sext(extract(b, at + 7, at), 32)))
        results.append(total)
    m.write_vector(i, _flatten(results), 32)


def _least(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), a, b)


def _greatest(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), b, a)


def _mask_of(bit: Term, width: int) -> Term:
    return ite(bit, const(-1, width), const(0, width))


def _compare(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    """A comparison whose result is a vector of masks, or, in a mask register, one bit a lane."""

    def run(m: Machine, i: iced.Instruction) -> None:
        if iced.RegisterExt.is_k(i.op_register(0)):
            size = m.vector_size(i, 1)
            _write_mask(m, i, [f(a, b) for a, b in zip(m.lanes(i, 1, size, width), m.lanes(i, 2, size, width))])
        else:
            _lanewise(width, lambda a, b: _mask_of(f(a, b), width))(m, i)

    return run


def _write_mask(m: Machine, i: iced.Instruction, bits: list[Term]) -> None:
    if i.op_mask != iced.Register.NONE:
        old = m.mask[iced.RegisterExt.number(i.op_mask)]
        bits = [bitwise("and", bit, extract(old, n, n)) for n, bit in enumerate(bits)]
    m.mask[iced.RegisterExt.number(i.op_register(0))] = zext(concat(*reversed(bits)), 64)


def _signs(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), width)
        _write_mask(m, i, [extract(lane, width - 1, width - 1) for lane in lanes])

    return run


def _gathered_signs(width: int) -> Handler:
    """pmovmskb, movmskps and movmskpd: a general register of the lanes' highest bits."""

    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), width)
        bits = concat(*(_sign(lane) for lane in reversed(lanes)))
        m.write(i, zext(bits, max(m.width(i, 0), 32)))

    return run


def _saturated(a: Term, width: int, low: int, high: int) -> Term:
    lowest, highest = const(low, a.width), const(high, a.width)
    above = ite(compare("slt", highest, a), highest, a)
    return extract(ite(compare("slt", a, lowest), lowest, above), width - 1, 0)


def _pack(width: int, low: int, high: int) -> Handler:
    """Packs lanes of 2 `width` bits, saturated to [low, high], in each 128 bits."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, 2 * width) for n in _sources(i))
        step, result = 64 // width, []
        for at in range(0, len(first), step):
            result += [_saturated(lane, width, low, high) for lane in first[at:at + step] + second[at:at + step]]
        m.write_vector(i, _flatten(result), width)

    return run


def _unpack(width: int, upper: bool) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        half, result = 64 // width, []
        for at in range(half if upper else 0, len(first), 2 * half):
            for a, b in zip(first[at:at + half], second[at:at + half]):
                result += [a, b]
        m.write_vector(i, _flatten(result), width)

    return run


def _move(width: int = 0, aligned: bool = False) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = min(m.vector_size(i, 0), m.vector_size(i, 1))
        if aligned and iced.OpKind.MEMORY in (i.op_kind(0), i.op_kind(1)) and m.address(i) % size:
            raise NotFollowed("the address is not a multiple of the size")
        if i.op_mask != iced.Register.NONE and iced.OpKind.MEMORY in (i.op_kind(0), i.op_kind(1)):
            _move_masked(m, i, size, width // 8)
        else:
            m.write_vector(i, list(m.read_vector(i, 1, size)), width)

    return run


def _move_masked(m: Machine, i: iced.Instruction, size: int, step: int) -> None:
    """Moves lanes from or to memory, where the others are not touched."""
    mask, at = m.mask[iced.RegisterExt.number(i.op_mask)], m.address(i)
    stores = i.op_kind(0) == iced.OpKind.MEMORY
    result = list(m.read_vector(i, 1, size)) if stores else (
        [ZERO_BYTE] * size if i.zeroing_masking else list(m.read_vector(i, 0, size)))
    for lane in range(size // step):
        here, bit = slice(lane * step, (lane + 1) * step), extract(mask, lane, lane)
        if bit.value is None and not stores:  # what is not loaded has to be there all the same
            loaded = value_of(m.memory.load(at + lane * step, step))
            result[here] = bytes_of(ite(bit, loaded, value_of(result[here])))
        elif m.known(bit, "a mask of memory"):
            if stores:
                m.memory.store(at + lane * step, result[here])
            else:
                result[here] = m.memory.load(at + lane * step, step)
    if not stores:
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


def _shuffle_words(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(2)
    lanes = m.lanes(i, 1, size, 32)
    m.write_vector(i, _flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 32)


def _shuffle_half(upper: bool) -> Handler:
    """pshuflw and pshufhw: four words of each 128 bits, the lower or the upper ones."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(2)
        lanes = m.lanes(i, 1, size, 16)
        for at in range(4 if upper else 0, len(lanes), 8):
            lanes[at:at + 4] = [lanes[at + (control >> 2 * n & 3)] for n in range(4)]
        m.write_vector(i, _flatten(lanes), 16)

    return run


def _shuffle_bytes(m: Machine, i: iced.Instruction) -> None:
    size = m.vector_size(i)
    first, second = _sources(i)
    data, result = m.read_vector(i, first, size), []
    for n, index in enumerate(m.lanes(i, second, size, 8)):
        part = data[n // 16 * 16:n // 16 * 16 + 16]
        if index.value is not None:
            result.append(ZERO_BYTE if index.value & 0x80 else part[index.value & 15])
        else:
            chosen = _chosen([value_of([byte]) for byte in part], index)
            result.append((ite(extract(index, 7, 7), const(0, 8), chosen), 0))
    m.write_vector(i, result, 8)


def _shuffle_floats(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.lanes(i, n, size, 32) for n in _sources(i))
    result = []
    for at in range(0, len(first), 4):
        for n in range(4):
            result.append((first if n < 2 else second)[at + (control >> 2 * n & 3)])
    m.write_vector(i, _flatten(result), 32)


def _move_halves(upper: bool) -> Handler:
    """movhlps and movlhps: the upper or the lower 64 bits of both operands."""

    def run(m: Machine, i: iced.Instruction) -> None:
        first, second = (m.read_vector(i, n, 16) for n in _sources(i))
        m.write_vector(i, second[8:] + first[8:] if upper else first[:8] + second[:8])

    return run


def _move_upper(m: Machine, i: iced.Instruction) -> None:
    """movhps: the upper 64 bits to memory, or from there, beside the lower ones of a register."""
    if i.op_kind(0) == iced.OpKind.MEMORY:
        m.memory.store(m.address(i), m.read_vector(i, 1, 16)[8:])
    else:
        m.write_vector(i, m.read_vector(i, i.op_count - 2, 16)[:8] + m.memory.load(m.address(i), 8))


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
    m.write_vector(i, _flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 64)


def _chosen(lanes: list[Term], index: Term) -> Term:
    """Returns the lane that the lowest bits of an index name."""
    if len(lanes) == 1 or index.value is not None:
        return lanes[(index.value or 0) % len(lanes)]
    top = len(lanes).bit_length() - 2
    half = len(lanes) // 2
    return ite(extract(index, top, top), _chosen(lanes[half:], index), _chosen(lanes[:half], index))


def _permute(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, lanes = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        m.write_vector(i, _flatten(_chosen(lanes, index) for index in indices), width)

    return run


def _permute_two(width: int, tables_first: bool) -> Handler:
    """vpermt2 (tables_first: the destination is the first table) and vpermi2 (the destination holds the indices)."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, first = (1, 0) if tables_first else (0, 1)
        lanes = m.lanes(i, first, size, width) + m.lanes(i, 2, size, width)
        m.write_vector(i, _flatten(_chosen(lanes, index) for index in m.lanes(i, indices, size, width)), width)

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
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        m.write_vector(i, _flatten((b if control >> n % 8 & 1 else a) for n, (a, b) in enumerate(zip(first, second))))

    return run


def _blend_by_signs(m: Machine, i: iced.Instruction) -> None:
    """pblendvb: bytes of the second operand where the last one, xmm0 in the legacy encoding, has a sign."""
    size = m.vector_size(i)
    first, second = (m.lanes(i, n, size, 8) for n in _sources(i))
    signs = lanes_of(m.vector[0][:size], 8) if i.encoding == iced.EncodingKind.LEGACY else m.lanes(i, 3, size, 8)
    m.write_vector(i, _flatten(ite(_sign(sign), b, a) for a, b, sign in zip(first, second, signs)))


def _blend_by_mask(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if i.op_mask == iced.Register.NONE:
            raise NotFollowed("a mask is expected here")
        size, mask = m.vector_size(i), m.mask[iced.RegisterExt.number(i.op_mask)]
        first, second = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        if i.zeroing_masking:
            first = [const(0, width)] * len(first)
        data = _flatten(ite(extract(mask, n, n), b, a) for n, (a, b) in enumerate(zip(first, second)))
        m.vector[iced.RegisterExt.number(i.op_register(0))] = data + [ZERO_BYTE] * (64 - size)

    return run


def _insert_float(m: Machine, i: iced.Instruction) -> None:
    """insertps: one lane of 32 bits is replaced, then lanes are cleared."""
    control, (first, second) = i.immediate(i.op_count - 1), _sources(i)
    lanes = m.lanes(i, first, 16, 32)
    if i.op_kind(second) == iced.OpKind.MEMORY:
        lanes[control >> 4 & 3] = m.lanes(i, second, 4, 32)[0]
    else:
        lanes[control >> 4 & 3] = m.lanes(i, second, 16, 32)[control >> 6]
    m.write_vector(i, _flatten(const(0, 32) if control >> n & 1 else lane for n, lane in enumerate(lanes)))


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
        m.write_vector(i, _flatten(extract(lane, low + width - 1, low) for lane in both), width)

    return run


def _double_shift_each(width: int, left: bool) -> Handler:
    """pshldv and pshrdv: the same with a distance for each lane; the destination is the first operand."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, lanes = m.vector_size(i), []
        for a, b, count in zip(*(m.lanes(i, n, size, width) for n in range(3))):
            by = m.known(count, "a shift") % width
            low = width - by if left else by
            lanes.append(extract(concat(a, b) if left else concat(b, a), low + width - 1, low))
        m.write_vector(i, _flatten(lanes), width)

    return run


def _ternary(mask_width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, table = m.vector_size(i), i.immediate(3)
        lanes = _alike(m, i, [m.read_vector(i, n, size) for n in range(3)])
        if lanes is not None:
            m.write_vector(i, m.lanes_alike(_ternary_of(table, *lanes), size))
            return
        columns = [m.lanes(i, n, size, 64) for n in range(3)]
        m.write_vector(i, _flatten(_ternary_of(table, *lane) for lane in zip(*columns)), mask_width)

    return run


def _ternary_of(table: int, a: Term, b: Term, c: Term) -> Term:
    """Returns bit 4 a + 2 b + c of the table, for each bit. Operands that make no difference do not occur."""
    operands = [(bit, x) for bit, x in ((4, a), (2, b), (1, c))
                if any(table >> n & 1 != table >> (n ^ bit) & 1 for n in range(8))]
    products = _sum_of_products(table)
    # Each occurs once, as in a ^ b & c.
    if 0 not in products and sum(map(int.bit_count, products)) == len(operands):
        result = const(0, a.width)
        for product in products:
            result = bitwise("xor", result, _all_of([x for bit, x in operands if product & bit], a.width))
        return result
    ones = const(-1, a.width)
    for bit, x in operands:
        if x.value is not None:  # perhaps a mask that chooses one of the others
            either = [_ternary_of(sum((table >> (n & ~bit | value * bit) & 1) << n for n in range(8)), a, b, c)
                      for value in (0, 1)]
            if all(chosen in (a, b, c) or chosen.value == 0 for chosen in either):
                kept = bitwise("and", either[0], bitwise("xor", x, ones))
                return bitwise("or", bitwise("and", either[1], x), kept)
    return _either(table, a, b, c)


def _either(table: int, *operands: Term) -> Term:
    """Returns bit 4 a + 2 b + c of the table, for each bit of three operands; or a smaller table's, of fewer: what
    follows where the first one is 0, and where it is 1."""
    a, others = operands[0], operands[1:]
    ones = const(-1, a.width)
    if not others:
        return (const(0, a.width), bitwise("xor", a, ones), a, ones)[table & 3]
    half = 1 << len(others)
    full = (1 << half) - 1
    low, high = table & full, table >> half & full
    if low == high:
        return _either(low, *others)
    if high == low ^ full:
        return bitwise("xor", a, _either(low, *others))
    if low == 0 or high == full:
        return bitwise("and" if low == 0 else "or", a, _either(high if low == 0 else low, *others))
    not_a = bitwise("xor", a, ones)
    if high == 0 or low == full:
        return bitwise("and" if high == 0 else "or", not_a, _either(low if high == 0 else high, *others))
    return bitwise("or", bitwise("and", a, _either(high, *others)), bitwise("and", not_a, _either(low, *others)))


def _sum_of_products(table: int) -> list[int]:
    """Returns the products of operands whose sum mod 2 a table of three operands is, each as a set of operands."""
    return [product for product in range(8)
            if sum(table >> n & 1 for n in range(8) if n & ~product == 0) % 2]


def _all_of(terms: list[Term], width: int) -> Term:
    result = const(-1, width)
    for term in terms:
        result = bitwise("and", result, term)
    return result


def _align(m: Machine, i: iced.Instruction) -> None:
    """palignr: in each 128 bits, the bytes of both operands from a number on."""
    size, by = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.read_vector(i, n, size) for n in _sources(i))
    result: list[Byte] = []
    for at in range(0, size, 16):
        both = second[at:at + 16] + first[at:at + 16] + [ZERO_BYTE] * 16
        result += both[min(by, 32):][:16]
    m.write_vector(i, result, 8)


def compressed(lanes: list[Term], bits: list[Term]) -> list[Term]:
    """Returns the lanes whose bits are set, in order, then zeros."""
    result = [const(0, lanes[0].width)] * len(lanes)
    for lane, bit in zip(reversed(lanes), reversed(bits)):
        result = [ite(bit, first, second) for first, second in zip([lane, *result], result)]
    return result


def _compress(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if not i.zeroing_masking or i.op_kind(0) != iced.OpKind.REGISTER:
            raise NotFollowed("lanes are not cleared")
        size, mask = m.vector_size(i), m.mask[iced.RegisterExt.number(i.op_mask)]
        lanes = m.lanes(i, 1, size, width)
        data = _flatten(compressed(lanes, [extract(mask, n, n) for n in range(len(lanes))]))
        m.vector[iced.RegisterExt.number(i.op_register(0))] = data + [ZERO_BYTE] * (64 - size)

    return run


def _align_lanes(width: int) -> Handler:
    """valignd and valignq: the lanes of both operands from a number on."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        both = m.lanes(i, 2, size, width) + m.lanes(i, 1, size, width)
        count = len(both) // 2
        by = i.immediate(3) % count
        m.write_vector(i, _flatten(both[by:by + count]), width)

    return run


def _extend(source: int, target: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        lanes = m.lanes(i, 1, size * source // target, source)
        m.write_vector(i, _flatten(f(lane, target) for lane in lanes), target)

    return run


def _truncate(source: int, target: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), source)
        data = _flatten(extract(lane, target - 1, 0) for lane in lanes)
        m.write_vector(i, data, target)  # and clears the rest of the register

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


def _add_neighbours(width: int) -> Handler:
    """phaddw and phaddd: in each 128 bits, the sums of neighbours of the first operand, then of the second."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        step, result = 128 // width, []
        for at in range(0, len(first), step):
            for lanes in (first, second):
                result += [add(lanes[n], lanes[n + 1]) for n in range(at, at + step, 2)]
        m.write_vector(i, _flatten(result))

    return run


def _multishift(m: Machine, i: iced.Instruction) -> None:
    """vpmultishiftqb: each byte is eight bits of its 64-bit lane, from a bit on that the first operand names."""
    size = m.vector_size(i)
    bits, lanes = m.lanes(i, 1, size, 8), m.lanes(i, 2, size, 64)
    result = []
    for n, bit in enumerate(bits):
        by, lane = m.known(bit, "a shift") & 63, lanes[n // 8]
        result.append(extract(concat(lane, lane), by + 7, by))
    m.write_vector(i, _flatten(result), 8)


def _of_masks(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, b = (extract(m.read(i, n), width - 1, 0) for n in (1, 2))
        m.mask[iced.RegisterExt.number(i.op_register(0))] = zext(f(a, b), 64)

    return run


def _insert_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        legacy = i.encoding == iced.EncodingKind.LEGACY
        lanes = m.lanes(i, 0 if legacy else 1, 16, width)
        lanes[i.immediate(i.op_count - 1) % len(lanes)] = extract(m.read(i, 1 if legacy else 2), width - 1, 0)
        m.write_vector(i, _flatten(lanes))

    return run


def _extract_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, 16, width)
        lane = lanes[i.immediate(2) % len(lanes)]
        m.write(i, zext(lane, max(32, width)) if i.op_kind(0) == iced.OpKind.REGISTER else lane)

    return run


VECTOR: dict[str, Handler] = {}
for _letter, _width in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    for _op in ("and", "or", "xor"):
        VECTOR[f"k{_op}{_letter}"] = _of_masks(_width, lambda a, b, op=_op: bitwise(op, a, b))
    VECTOR[f"kxnor{_letter}"] = _of_masks(_width, lambda a, b: bitwise("xor", bitwise("xor", a, b), const(-1, a.width)))
    VECTOR[f"kandn{_letter}"] = _of_masks(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b))
for _width, _letters in ((8, "bw"), (16, "wd"), (32, "dq")):
    VECTOR[f"kunpck{_letters}"] = _of_masks(_width, concat)
for _letter, _width in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    VECTOR |= {
        f"padd{_letter}": _lanewise(_width, add),
        f"psub{_letter}": _lanewise(_width, sub),
        f"pcmpeq{_letter}": _compare(_width, lambda a, b: compare("eq", a, b)),
        f"pcmpgt{_letter}": _compare(_width, lambda a, b: compare("slt", b, a)),
        f"pminu{_letter}": _lanewise(_width, _least("ult")),
        f"pmins{_letter}": _lanewise(_width, _least("slt")),
        f"pmaxu{_letter}": _lanewise(_width, _greatest("ult")),
        f"pmaxs{_letter}": _lanewise(_width, _greatest("slt")),
        f"pabs{_letter}": _mapped(_width, lambda a: ite(_sign(a), sub(const(0, a.width), a), a)),
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
        f"pbroadcast{_letter}": _broadcast(_width // 8),
        f"perm{_letter}": _permute(_width),
        f"permt2{_letter}": _permute_two(_width, True),
        f"permi2{_letter}": _permute_two(_width, False),
        f"pblendm{_letter}": _blend_by_mask(_width),
        f"pmov{_letter}2m": _signs(_width),
        f"pcompress{_letter}": _compress(_width),
        f"ptestm{_letter}": _compare(_width, lambda a, b: negate(_is_zero(bitwise("and", a, b)))),
        f"ptestnm{_letter}": _compare(_width, lambda a, b: _is_zero(bitwise("and", a, b))),
        f"pinsr{_letter}": _insert_word(_width),
        f"pextr{_letter}": _extract_word(_width),
    }
    for _kind, _less in (("", "slt"), ("u", "ult")):
        VECTOR |= {
            f"pcmplt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, a, b)),
            f"pcmpnlt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, a, b))),
            f"pcmple{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, b, a))),
            f"pcmpnle{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, b, a)),
            f"pcmpneq{_kind}{_letter}": _compare(_width, lambda a, b: negate(compare("eq", a, b))),
        }
for _suffix in ("", "d", "q"):
    _width = {"": 64, "d": 32, "q": 64}[_suffix]
    for _op in ("and", "or", "xor"):
        VECTOR[f"p{_op}{_suffix}"] = _bitwise(_width, lambda a, b, op=_op: bitwise(op, a, b))
    VECTOR[f"pandn{_suffix}"] = _bitwise(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b))
VECTOR["lddqu"] = _move()
for _letter, _aligned in (("a", True), ("u", False)):
    VECTOR |= {f"mov{_letter}ps": _move(32, _aligned), f"mov{_letter}pd": _move(64, _aligned),
               f"movdq{_letter}": _move(0, _aligned)}
    VECTOR |= {f"movdq{_letter}{_width}": _move(_width, _aligned) for _width in (8, 16, 32, 64)}
for _from, _first in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    for _to, _second in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
        if _first < _second:
            VECTOR[f"pmovzx{_from}{_to}"] = _extend(_first, _second, zext)
            VECTOR[f"pmovsx{_from}{_to}"] = _extend(_first, _second, sext)
            VECTOR[f"pmov{_to}{_from}"] = _truncate(_second, _first)
VECTOR |= {
    "andps": _lanewise(32, lambda a, b: bitwise("and", a, b)),
    "xorps": _lanewise(32, lambda a, b: bitwise("xor", a, b)),
    "pmullw": _lanewise(16, mul),
    "pmulld": _lanewise(32, mul),
    "pmullq": _lanewise(64, mul),
    "pmulhw": _lanewise(16, _high(sext)),
    "pmulhuw": _lanewise(16, _high(zext)),
    "pmulhrsw": _lanewise(16, _rounded_high),
    "pmuldq": _lanewise(64, _of_low_half(sext)),
    "pmuludq": _lanewise(64, _of_low_half(zext)),
    "pmaddwd": _lanewise(32, _pair_products),
    "pmaddubsw": _lanewise(16, _byte_pair_products),
    "psadbw": _lanewise(64, _differences),
    "pdpwssd": _dot_words,
    "pdpbusd": _dot_bytes,
    "pmovmskb": _gathered_signs(8),
    "movmskps": _gathered_signs(32),
    "movmskpd": _gathered_signs(64),
    "packssdw": _pack(16, -0x8000, 0x7FFF),
    "packusdw": _pack(16, 0, 0xFFFF),
    "packsswb": _pack(8, -0x80, 0x7F),
    "packuswb": _pack(8, 0, 0xFF),
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
    "movhlps": _move_halves(True),
    "movlhps": _move_halves(False),
    "movhps": _move_upper,
    "shufi64x2": _shuffle_quarters(64),
    "shufi32x4": _shuffle_quarters(32),
    "permq": _permute_quads,
    "perm2i128": _permute_halves,
    "insertps": _insert_float,
    "pblendw": _blend(16),
    "pblendd": _blend(32),
    "pblendvb": _blend_by_signs,
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
    "palignr": _align,
    "alignd": _align_lanes(32),
    "alignq": _align_lanes(64),
    "pmultishiftqb": _multishift,
    "pslldq": _shift_bytes(True),
    "psrldq": _shift_bytes(False),
    "phaddw": _add_neighbours(16),
    "phaddd": _add_neighbours(32),
    "pternlogd": _ternary(32),
    "pternlogq": _ternary(64),
    "movd": _move_low(4),
    "movq": _move_low(8),
}
