# SPDX-License-Identifier: Apache-2.0
"""Comparisons of lanes, mask registers, and what they choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, bitwise, compare, concat, const, extract, ite, negate, zext
from proofs.machines.memory import ZERO_BYTE, NotFollowed
from proofs.machines.x86.general import Handler
from proofs.machines.x86.lanes import WIDTHS, flatten, lanewise, sign

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine


def _is_zero(a: Term) -> Term:
    return compare("eq", a, const(0, a.width))


def _mask_of(bit: Term, width: int) -> Term:
    return ite(bit, const(-1, width), const(0, width))


def _compare(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    """A comparison whose result is a vector of masks, or, in a mask register, one bit a lane."""

    def run(m: Machine, i: iced.Instruction) -> None:
        if iced.RegisterExt.is_k(i.op_register(0)):
            size = m.vector_size(i, 1)
            _write_mask(m, i, [f(a, b) for a, b in zip(m.lanes(i, 1, size, width), m.lanes(i, 2, size, width))])
        else:
            lanewise(width, lambda a, b: _mask_of(f(a, b), width))(m, i)

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
        bits = concat(*(sign(lane) for lane in reversed(lanes)))
        m.write(i, zext(bits, max(m.width(i, 0), 32)))

    return run


def _of_masks(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, b = (extract(m.read(i, n), width - 1, 0) for n in (1, 2))
        m.mask[iced.RegisterExt.number(i.op_register(0))] = zext(f(a, b), 64)

    return run


def _blend_by_mask(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if i.op_mask == iced.Register.NONE:
            raise NotFollowed("a mask is expected here")
        size, mask = m.vector_size(i), m.mask[iced.RegisterExt.number(i.op_mask)]
        first, second = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        if i.zeroing_masking:
            first = [const(0, width)] * len(first)
        data = flatten(ite(extract(mask, n, n), b, a) for n, (a, b) in enumerate(zip(first, second)))
        m.vector[iced.RegisterExt.number(i.op_register(0))] = data + [ZERO_BYTE] * (64 - size)

    return run


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
        data = flatten(compressed(lanes, [extract(mask, n, n) for n in range(len(lanes))]))
        m.vector[iced.RegisterExt.number(i.op_register(0))] = data + [ZERO_BYTE] * (64 - size)

    return run


MASKS: dict[str, Handler] = {
    "pmovmskb": _gathered_signs(8),
    "movmskps": _gathered_signs(32),
    "movmskpd": _gathered_signs(64),
}
for _letter, _width in WIDTHS:
    for _op in ("and", "or", "xor"):
        MASKS[f"k{_op}{_letter}"] = _of_masks(_width, lambda a, b, op=_op: bitwise(op, a, b))
    MASKS |= {
        f"kxnor{_letter}": _of_masks(_width, lambda a, b: bitwise("xor", bitwise("xor", a, b), const(-1, a.width))),
        f"kandn{_letter}": _of_masks(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b)),
        f"pcmpeq{_letter}": _compare(_width, lambda a, b: compare("eq", a, b)),
        f"pcmpgt{_letter}": _compare(_width, lambda a, b: compare("slt", b, a)),
        f"pblendm{_letter}": _blend_by_mask(_width),
        f"pmov{_letter}2m": _signs(_width),
        f"pcompress{_letter}": _compress(_width),
        f"ptestm{_letter}": _compare(_width, lambda a, b: negate(_is_zero(bitwise("and", a, b)))),
        f"ptestnm{_letter}": _compare(_width, lambda a, b: _is_zero(bitwise("and", a, b))),
    }
    for _kind, _less in (("", "slt"), ("u", "ult")):
        MASKS |= {
            f"pcmplt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, a, b)),
            f"pcmpnlt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, a, b))),
            f"pcmple{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, b, a))),
            f"pcmpnle{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, b, a)),
            f"pcmpneq{_kind}{_letter}": _compare(_width, lambda a, b: negate(compare("eq", a, b))),
        }
for _width, _letters in ((8, "bw"), (16, "wd"), (32, "dq")):
    MASKS[f"kunpck{_letters}"] = _of_masks(_width, concat)
