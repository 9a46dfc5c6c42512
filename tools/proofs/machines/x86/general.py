# SPDX-License-Identifier: Apache-2.0
"""What instructions on general registers and masks do. Each function changes a machine as one instruction does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import (Term, add, bitwise, concat, const, extract, ite, mul, sext, shift_left, shift_right,
                          shift_right_signed, sub, zext)
from proofs.machines.memory import ZERO_BYTE, NotFollowed, bytes_of, value_of

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine

Handler = Callable[["Machine", iced.Instruction], None]


def registers_of_address(i: iced.Instruction) -> Iterator[tuple[int, int]]:
    """Yields the registers of which an address is a sum, and their factors."""
    for register, scale in ((i.memory_base, 1), (i.memory_index, i.memory_index_scale)):
        if register != iced.Register.NONE:
            if not iced.RegisterExt.is_gpr64(register):
                raise NotFollowed("an address that is not a sum of registers of 64 bits")
            yield register, scale


def _push(m: Machine, value: Term) -> None:
    if value.width != 64:
        raise NotFollowed("a push of other than 64 bits")
    top = m.known(m.general[4], "the stack") - 8
    m.general[4] = const(top, 64)
    m.memory.store(top, bytes_of(value))


def pop(m: Machine) -> Term:
    top = m.known(m.general[4], "the stack")
    m.general[4] = const(top + 8, 64)
    return value_of(m.memory.load(top, 8))


def _call(m: Machine, i: iced.Instruction) -> None:
    _push(m, const(i.next_ip, 64))
    m.next = m.target(i)


def _return(m: Machine, i: iced.Instruction) -> None:
    m.next = m.known(pop(m), "a return")


def _leave(m: Machine, i: iced.Instruction) -> None:
    m.general[4] = m.general[5]
    m.general[5] = pop(m)


def _swap_bytes(m: Machine, i: iced.Instruction) -> None:
    value = m.read(i, 0)
    if value.width < 32:
        raise NotFollowed("bswap of 16 bits, which is undefined")
    m.write(i, concat(*(extract(value, at + 7, at) for at in range(0, value.width, 8))))


def _arithmetic(kind: str, f: Callable[[Term, Term], Term],
                keep: bool = True) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, b = m.read(i, 0), m.read(i, 1)
        result = f(a, b)
        m.flags = (kind, result, a, b)
        if keep:
            m.write(i, result)

    return run


def _one(f: Callable[[Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        result = f(m.read(i, 0))
        m.flags = ("other", result, result, result)
        m.write(i, result)

    return run


def _shifted(f: Callable[[Term, int], Term], a: Term, count: Term) -> Term:
    """Returns a word that is shifted by as many bits as a term says."""
    if count.value is not None:
        return f(a, count.value)
    for bit in range(count.width):
        a = ite(extract(count, bit, bit), f(a, 1 << bit), a)
    return a


def _shift(f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a = m.read(i, 0)
        count = const(i.immediate(1), 8) if i.op_kind(1) == iced.OpKind.IMMEDIATE8 else m.read(i, 1)
        count = extract(count, 5 if a.width == 64 else 4, 0)
        if count.value is None:
            m.flags = ()
            m.write(i, _shifted(f, a, count))
            return
        by = count.value
        result = f(a, by)
        if by:
            m.flags = ("other", result, a, a)
        m.write(i, result)

    return run


def _shift_x(f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, count = m.read(i, 1), m.read(i, 2)
        m.write(i, _shifted(f, a, extract(count, 5 if a.width == 64 else 4, 0)))

    return run


def _imul(m: Machine, i: iced.Instruction) -> None:
    if i.op_count == 1:
        raise NotFollowed("a product of double width")
    a, b = (m.read(i, 0), m.read(i, 1)) if i.op_count == 2 else (m.read(i, 1), m.read(i, 2))
    m.flags = ()
    m.write(i, mul(a, b))


_UPPER_AND_LOWER = {16: (iced.Register.DX, iced.Register.AX), 32: (iced.Register.EDX, iced.Register.EAX),
                    64: (iced.Register.RDX, iced.Register.RAX)}


def _mul(m: Machine, i: iced.Instruction) -> None:
    """mul: the product of double width goes to rdx and rax, or ax."""
    b = m.read(i, 0)
    a = extract(m.general[0], b.width - 1, 0)
    product = mul(zext(a, 2 * b.width), zext(b, 2 * b.width))
    m.flags = ()
    if b.width == 8:
        m.write_general(iced.Register.AX, product)
        return
    high, low = _UPPER_AND_LOWER[b.width]
    m.write_general(low, extract(product, b.width - 1, 0))
    m.write_general(high, extract(product, 2 * b.width - 1, b.width))


def _divide(signed: bool) -> Handler:
    """div and idiv: rdx and rax, which have to be known, by a known number; the quotient goes to rax, the remainder,
    which has the dividend's sign, to rdx."""

    def number(value: int, width: int) -> int:
        return value - (1 << width) if signed and value >> width - 1 else value

    def run(m: Machine, i: iced.Instruction) -> None:
        divisor = m.read(i, 0)
        width = divisor.width
        if width == 8:
            raise NotFollowed("a quotient of ax")
        dividend = concat(*(extract(m.general[n], width - 1, 0) for n in (2, 0)))
        a, b = number(m.known(dividend, "a dividend"), 2 * width), number(m.known(divisor, "a divisor"), width)
        quotient = 0 if b == 0 else abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
        if b == 0 or number(quotient % (1 << width), width) != quotient:
            raise NotFollowed("a quotient that is too large")
        m.flags = ()
        for register, value in zip(_UPPER_AND_LOWER[width], (a - b * quotient, quotient)):
            m.write_general(register, const(value, width))

    return run


def _and_not(m: Machine, i: iced.Instruction) -> None:
    a, b = m.read(i, 1), m.read(i, 2)
    result = bitwise("and", bitwise("xor", a, const(-1, a.width)), b)
    m.flags = ("logic", result, a, b)
    m.write(i, result)


def _rotate_left(m: Machine, i: iced.Instruction) -> None:
    a = m.read(i, 0)
    by = m.known(m.read(i, 1), "a count") % a.width
    m.flags = ()
    m.write(i, concat(extract(a, a.width - 1 - by, 0), extract(a, a.width - 1, a.width - by)) if by else a)


def _keep_lowest(m: Machine, i: iced.Instruction) -> None:
    """bzhi: a word's lowest bits, as many as the lowest byte of another word says."""
    a, count = m.read(i, 1), m.known(extract(m.read(i, 2), 7, 0), "a number of bits")
    result = a if count >= a.width else bitwise("and", a, const((1 << count) - 1, a.width))
    m.flags = ("other", result, a, a)
    m.write(i, result)


def _count_ones(m: Machine, i: iced.Instruction) -> None:
    a = m.read(i, 1)
    result = const(0, a.width)
    for bit in range(a.width):
        result = add(result, zext(extract(a, bit, bit), a.width))
    m.flags = ("other", result, a, a)
    m.write(i, result)


def _deposit(m: Machine, i: iced.Instruction) -> None:
    """pdep: the lowest bits of a word, in order, where a mask has ones."""
    a, mask = m.read(i, 1), m.known(m.read(i, 2), "a mask of bits")
    bits, at = [], 0
    for n in range(a.width):
        bits.append(extract(a, at, at) if mask >> n & 1 else const(0, 1))
        at += mask >> n & 1
    m.write(i, concat(*reversed(bits)))


def _gather(m: Machine, i: iced.Instruction) -> None:
    """pext: the bits of a word where a mask has ones, in order."""
    a, mask = m.read(i, 1), m.known(m.read(i, 2), "a mask of bits")
    bits = [extract(a, n, n) for n in range(a.width) if mask >> n & 1]
    m.write(i, zext(concat(*reversed(bits)), a.width) if bits else const(0, a.width))


def _negate(m: Machine, i: iced.Instruction) -> None:
    a = m.read(i, 0)
    result = sub(const(0, a.width), a)
    m.flags = ("sub", result, const(0, a.width), a)
    m.write(i, result)


def _subtract_with_borrow(m: Machine, i: iced.Instruction) -> None:
    a, b = m.read(i, 0), m.read(i, 1)
    result = sub(sub(a, b), zext(m.condition("b"), a.width))
    m.flags = ("other", result, a, b)
    m.write(i, result)


def _add_with_carry(m: Machine, i: iced.Instruction) -> None:
    a, b = m.read(i, 0), m.read(i, 1)
    result = add(add(a, b), zext(m.condition("b"), a.width))
    m.flags = ("other", result, a, b)
    m.write(i, result)


def _exchange(m: Machine, i: iced.Instruction) -> None:
    if i.op_count == 0:  # nop, which is also written as an exchange of eax with itself
        return
    a, b = m.read(i, 0), m.read(i, 1)
    if a is not b or i.op_register(0) != i.op_register(1):
        m.write(i, b)
        m.write_general(i.op_register(1), a)


def _store_string(size: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        count = m.known(m.general[1], "a count") if i.has_rep_prefix else 1
        at = m.known(m.general[7], "an address")
        for n in range(count):
            m.memory.store(at + n * size, bytes_of(extract(m.general[0], 8 * size - 1, 0)))
        m.general[7] = const(at + count * size, 64)
        if i.has_rep_prefix:
            m.general[1] = const(0, 64)

    return run


def _move_string(size: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        count = m.known(m.general[1], "a count") if i.has_rep_prefix else 1
        to, source = m.known(m.general[7], "an address"), m.known(m.general[6], "an address")
        for n in range(count):
            m.memory.store(to + n * size, m.memory.load(source + n * size, size))
        m.general[7], m.general[6] = const(to + count * size, 64), const(source + count * size, 64)
        if i.has_rep_prefix:
            m.general[1] = const(0, 64)

    return run


def _nothing(m: Machine, i: iced.Instruction) -> None:
    pass


def _clear_upper(m: Machine, i: iced.Instruction) -> None:
    for register in range(16):
        m.vector[register] = m.vector[register][:16] + [ZERO_BYTE] * 48


GENERAL: dict[str, Handler] = {
    "mov": lambda m, i: m.write(i, m.read(i, 1)),
    "movabs": lambda m, i: m.write(i, m.read(i, 1)),
    "movzx": lambda m, i: m.write(i, zext(m.read(i, 1), m.width(i, 0))),
    "movsx": lambda m, i: m.write(i, sext(m.read(i, 1), m.width(i, 0))),
    "movsxd": lambda m, i: m.write(i, sext(m.read(i, 1), m.width(i, 0))),
    "cdq": lambda m, i: m.write_general(iced.Register.EDX, sext(extract(m.general[0], 31, 31), 32)),
    "cqo": lambda m, i: m.write_general(iced.Register.RDX, sext(extract(m.general[0], 63, 63), 64)),
    "cdqe": lambda m, i: m.write_general(iced.Register.RAX, sext(extract(m.general[0], 31, 0), 64)),
    "lea": lambda m, i: m.write(i, _effective(m, i)),
    "add": _arithmetic("add", add),
    "sub": _arithmetic("sub", sub),
    "cmp": _arithmetic("sub", sub, keep=False),
    "and": _arithmetic("logic", lambda a, b: bitwise("and", a, b)),
    "or": _arithmetic("logic", lambda a, b: bitwise("or", a, b)),
    "xor": _arithmetic("logic", lambda a, b: bitwise("xor", a, b)),
    "test": _arithmetic("logic", lambda a, b: bitwise("and", a, b), keep=False),
    "adc": _add_with_carry,
    "sbb": _subtract_with_borrow,
    "inc": _one(lambda a: add(a, const(1, a.width))),
    "dec": _one(lambda a: sub(a, const(1, a.width))),
    "not": lambda m, i: m.write(i, bitwise("xor", m.read(i, 0), const(-1, m.width(i, 0)))),
    "neg": _negate,
    "bswap": _swap_bytes,
    "shl": _shift(shift_left),
    "shr": _shift(shift_right),
    "sar": _shift(shift_right_signed),
    "rol": _rotate_left,
    "shlx": _shift_x(shift_left),
    "shrx": _shift_x(shift_right),
    "sarx": _shift_x(shift_right_signed),
    "imul": _imul,
    "mul": _mul,
    "div": _divide(signed=False),
    "idiv": _divide(signed=True),
    "andn": _and_not,
    "bzhi": _keep_lowest,
    "popcnt": _count_ones,
    "pdep": _deposit,
    "pext": _gather,
    "push": lambda m, i: _push(m, m.read(i, 0)),
    "pop": lambda m, i: m.write(i, pop(m)),
    "call": _call,
    "ret": _return,
    "leave": _leave,
    "xchg": _exchange,
    "nop": _nothing,
    "endbr64": _nothing,
    "vzeroupper": _clear_upper,
    "stosq": _store_string(8),
    "stosd": _store_string(4),
    "stosb": _store_string(1),
    "movsq": _move_string(8),
    "kmovq": lambda m, i: _move_mask(m, i, 64),
    "kmovd": lambda m, i: _move_mask(m, i, 32),
    "kmovw": lambda m, i: _move_mask(m, i, 16),
    "kmovb": lambda m, i: _move_mask(m, i, 8),
}


def _effective(m: Machine, i: iced.Instruction) -> Term:
    """Returns what lea computes; unlike an address it may depend on inputs."""
    if i.is_ip_rel_memory_operand:
        return const(i.ip_rel_memory_address, m.width(i, 0))
    result = const(i.memory_displacement, 64)
    for register, scale in registers_of_address(i):
        result = add(result, mul(m.read_general(register), const(scale, 64)))
    return extract(result, m.width(i, 0) - 1, 0)


def _move_mask(m: Machine, i: iced.Instruction, width: int) -> None:
    value = m.read(i, 1)
    value = zext(extract(value, width - 1, 0) if value.width > width else value, 64)
    if i.op_kind(0) == iced.OpKind.REGISTER and iced.RegisterExt.is_k(i.op_register(0)):
        m.mask[iced.RegisterExt.number(i.op_register(0))] = value
    elif i.op_kind(0) == iced.OpKind.REGISTER:
        m.write_general(i.op_register(0), extract(value, m.width(i, 0) - 1, 0))
    else:
        m.memory.store(m.address(i), bytes_of(extract(value, width - 1, 0)))
