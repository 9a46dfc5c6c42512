# SPDX-License-Identifier: Apache-2.0
"""What instructions on vectors do bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, bitwise, const
from proofs.machines.memory import Byte
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import flatten, lanewise, sources

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


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
        lanes = _alike(m, i, [m.read_vector(i, n, size) for n in sources(i)])
        if lanes is not None:
            m.write_vector(i, m.lanes_alike(f(*lanes), size))
        else:
            lanewise(width, f)(m, i)

    return run


def _ternary(mask_width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, table = m.vector_size(i), i.immediate(3)
        lanes = _alike(m, i, [m.read_vector(i, n, size) for n in range(3)])
        if lanes is not None:
            m.write_vector(i, m.lanes_alike(ternary_of(table, *lanes), size))
            return
        columns = [m.lanes(i, n, size, 64) for n in range(3)]
        m.write_vector(i, flatten(ternary_of(table, *lane) for lane in zip(*columns)), mask_width)

    return run


def ternary_of(table: int, a: Term, b: Term, c: Term) -> Term:
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
            either = [ternary_of(sum((table >> (n & ~bit | value * bit) & 1) << n for n in range(8)), a, b, c)
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


LOGIC: dict[str, Handler] = {
    "andps": lanewise(32, lambda a, b: bitwise("and", a, b)),
    "xorps": lanewise(32, lambda a, b: bitwise("xor", a, b)),
    "pternlogd": _ternary(32),
    "pternlogq": _ternary(64),
}
for _suffix, _width in (("", 64), ("d", 32), ("q", 64)):
    for _op in ("and", "or", "xor"):
        LOGIC[f"p{_op}{_suffix}"] = _bitwise(_width, lambda a, b, op=_op: bitwise(op, a, b))
    LOGIC[f"pandn{_suffix}"] = _bitwise(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b))
