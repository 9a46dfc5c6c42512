# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on the lanes of vectors: sums, products, minima and maxima; extension, truncation and saturation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, add, compare, const, extract, ite, mul, sext, signed, sub, zext
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import WIDTHS, flatten, lanewise, sign, sources

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _mapped(width: int, f: Callable[[Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        m.write_vector(i, flatten(map(f, m.lanes(i, 1, m.vector_size(i), width))), width)

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


def byte_pair_products(a: Term, b: Term) -> Term:
    """pmaddubsw: unsigned bytes times signed ones."""
    pairs = [(extract(a, at + 7, at), extract(b, at + 7, at)) for at in (0, 8)]
    if sum(x.most * _magnitude(y) for x, y in pairs) < 1 << 15:
        return add(*(mul(zext(x, 16), sext(y, 16)) for x, y in pairs))
    return _saturated(add(*(mul(zext(x, 32), sext(y, 32)) for x, y in pairs)), 16, -0x8000, 0x7FFF)


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
    m.write_vector(i, flatten(add(s, _pair_products(x, y)) for s, x, y in zip(sums, a, b)), 32)


def _dot_bytes(m: Machine, i: iced.Instruction) -> None:
    """pdpbusd: unsigned bytes times signed ones."""
    size, results = m.vector_size(i), []
    for total, a, b in zip(*(m.lanes(i, n, size, 32) for n in range(3))):
        for at in range(0, 32, 8):
            total = add(total, mul(zext(extract(a, at + 7, at), 32), sext(extract(b, at + 7, at), 32)))
        results.append(total)
    m.write_vector(i, flatten(results), 32)


def _least(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), a, b)


def _greatest(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), b, a)


def _add_neighbours(width: int) -> Handler:
    """phaddw and phaddd: in each 128 bits, the sums of neighbours of the first operand, then of the second."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in sources(i))
        step, result = 128 // width, []
        for at in range(0, len(first), step):
            for lanes in (first, second):
                result += [add(lanes[n], lanes[n + 1]) for n in range(at, at + step, 2)]
        m.write_vector(i, flatten(result))

    return run


def _saturated(a: Term, width: int, low: int, high: int) -> Term:
    lowest, highest = const(low, a.width), const(high, a.width)
    above = ite(compare("slt", highest, a), highest, a)
    return extract(ite(compare("slt", a, lowest), lowest, above), width - 1, 0)


def _pack(width: int, low: int, high: int) -> Handler:
    """Packs lanes of 2 `width` bits, saturated to [low, high], in each 128 bits."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, 2 * width) for n in sources(i))
        step, result = 64 // width, []
        for at in range(0, len(first), step):
            result += [_saturated(lane, width, low, high) for lane in first[at:at + step] + second[at:at + step]]
        m.write_vector(i, flatten(result), width)

    return run


def _extend(source: int, target: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        lanes = m.lanes(i, 1, size * source // target, source)
        m.write_vector(i, flatten(f(lane, target) for lane in lanes), target)

    return run


def _truncate(source: int, target: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), source)
        data = flatten(extract(lane, target - 1, 0) for lane in lanes)
        m.write_vector(i, data, target)  # and clears the rest of the register

    return run


ARITHMETIC: dict[str, Handler] = {
    "pmullw": lanewise(16, mul),
    "pmulld": lanewise(32, mul),
    "pmullq": lanewise(64, mul),
    "pmulhw": lanewise(16, _high(sext)),
    "pmulhuw": lanewise(16, _high(zext)),
    "pmulhrsw": lanewise(16, _rounded_high),
    "pmuldq": lanewise(64, _of_low_half(sext)),
    "pmuludq": lanewise(64, _of_low_half(zext)),
    "pmaddwd": lanewise(32, _pair_products),
    "pmaddubsw": lanewise(16, byte_pair_products),
    "psadbw": lanewise(64, _differences),
    "pdpwssd": _dot_words,
    "pdpbusd": _dot_bytes,
    "packssdw": _pack(16, -0x8000, 0x7FFF),
    "packusdw": _pack(16, 0, 0xFFFF),
    "packsswb": _pack(8, -0x80, 0x7F),
    "packuswb": _pack(8, 0, 0xFF),
    "phaddw": _add_neighbours(16),
    "phaddd": _add_neighbours(32),
}
for _letter, _width in WIDTHS:
    ARITHMETIC |= {
        f"padd{_letter}": lanewise(_width, add),
        f"psub{_letter}": lanewise(_width, sub),
        f"pminu{_letter}": lanewise(_width, _least("ult")),
        f"pmins{_letter}": lanewise(_width, _least("slt")),
        f"pmaxu{_letter}": lanewise(_width, _greatest("ult")),
        f"pmaxs{_letter}": lanewise(_width, _greatest("slt")),
        f"pabs{_letter}": _mapped(_width, lambda a: ite(sign(a), sub(const(0, a.width), a), a)),
    }
for _from, _first in WIDTHS:
    for _to, _second in WIDTHS:
        if _first < _second:
            ARITHMETIC[f"pmovzx{_from}{_to}"] = _extend(_first, _second, zext)
            ARITHMETIC[f"pmovsx{_from}{_to}"] = _extend(_first, _second, sext)
            ARITHMETIC[f"pmov{_to}{_from}"] = _truncate(_second, _first)
