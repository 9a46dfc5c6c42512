# SPDX-License-Identifier: Apache-2.0
"""What Thumb-2's instructions do. Each function changes a machine as one instruction does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proofs.algebra.terms import Term, add, bitwise, compare, concat, const, extract, ite, mul, negate, sext, sub, zext
from proofs.machines.memory import NotFollowed, bytes_of, value_of
from proofs.machines.thumb.text import COUNTER, LINK, STACK_POINTER, Address, Float, Instruction, Register, Shifted
from proofs.machines.words import SHIFTS, bytes_reversed, invert, replaced

if TYPE_CHECKING:
    from proofs.machines.thumb.machine import Flag, Thumb

Handler = Callable[["Thumb", Instruction], None]
Extend = Callable[[Term, int], Term]


def _carry_of_shift(a: Term, kind: str, by: int) -> Flag:
    """Returns the last bit that is shifted out; by at least one bit."""
    if kind == "ror" or kind == "asr" and by > 32:
        by = (by - 1) % 32 + 1 if kind == "ror" else 32
    place = 32 - by if kind == "lsl" else by - 1
    return ("bit", extract(a, place, place) if 0 <= place < 32 else const(0, 1))


def _carry_of_operand(m: Thumb, i: Instruction, operand: object) -> Flag | None:
    """Returns the carry that a logical operation sets: that of a shift, or the sign of a number that is encoded as
    eight bits which are rotated; otherwise the carry remains."""
    if isinstance(operand, Shifted):
        return _carry_of_shift(m.read(operand.register, i), operand.kind, operand.by)
    if isinstance(operand, int):
        word = operand & 0xFFFF_FFFF
        lowest, second = word & 0xFF, word >> 8 & 0xFF
        if word not in (lowest, lowest * 0x10001, second * 0x1000100, lowest * 0x1010101):
            return ("bit", const(word >> 31, 1))
    return m.carry


def _two(m: Thumb, i: Instruction) -> tuple[Term, Term]:
    """Returns the sources; the target is one of them if there are only two operands."""
    return m.read(i.operands[-2], i), m.read(i.operands[-1], i)


def _sum(m: Thumb, i: Instruction) -> None:
    a, b = _two(m, i)
    if Register(COUNTER) in i.operands[1:]:
        a = bitwise("and", a, const(~3, 32))
    m.write(i.operands[0], add(a, b))
    if i.sets_flags:
        m.set_flags(add(a, b), ("add", a, b), ("add", a, b))


def _difference(is_reverse: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        a, b = _two(m, i)
        if is_reverse:
            a, b = b, a
        if Register(COUNTER) in i.operands[1:]:
            a = bitwise("and", a, const(~3, 32))
        m.write(i.operands[0], sub(a, b))
        if i.sets_flags:
            m.set_flags(sub(a, b), ("sub", a, b), ("sub", a, b))

    return run


def _with_carry(inverts: bool) -> Handler:
    """adc and sbc: a + b + carry, or a + not b + carry."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b = _two(m, i)
        b, carry = invert(b) if inverts else b, m.condition("hs")
        m.write(i.operands[0], add(add(a, b), zext(carry, 32)))
        if i.sets_flags:
            unsigned, of_signs = (add(add(f(a, 33), f(b, 33)), zext(carry, 33)) for f in (zext, sext))
            overflow = bitwise("xor", extract(of_signs, 32, 32), extract(of_signs, 31, 31))
            m.set_flags(extract(unsigned, 31, 0), ("bit", extract(unsigned, 32, 32)), ("bit", overflow))

    return run


def _logic(f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        result, carry = f(*_two(m, i)), _carry_of_operand(m, i, i.operands[-1])
        m.write(i.operands[0], result)
        if i.sets_flags:
            m.set_flags(result, carry, m.overflow)

    return run


def _move(f: Callable[[Term], Term]) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        result, carry = f(m.read(i.operands[1], i)), _carry_of_operand(m, i, i.operands[1])
        m.write(i.operands[0], result)
        if i.sets_flags:
            m.set_flags(result, carry, m.overflow)

    return run


def _test(f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        m.set_flags(f(*_two(m, i)), _carry_of_operand(m, i, i.operands[-1]), m.overflow)

    return run


def _compare(m: Thumb, i: Instruction) -> None:
    a, b = _two(m, i)
    m.set_flags(sub(a, b), ("sub", a, b), ("sub", a, b))


def _compare_negative(m: Thumb, i: Instruction) -> None:
    a, b = _two(m, i)
    m.set_flags(add(a, b), ("add", a, b), ("add", a, b))


def _shift(kind: str) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        a, by = _two(m, i)
        distance = m.known(extract(by, 7, 0), "a shift")
        result, carry = SHIFTS[kind](a, distance), _carry_of_shift(a, kind, distance) if distance else m.carry
        m.write(i.operands[0], result)
        if i.sets_flags:
            m.set_flags(result, carry, m.overflow)

    return run


def _move_upper(m: Thumb, i: Instruction) -> None:
    m.write(i.operands[0], concat(const(i.operands[1], 16), extract(m.read(i.operands[0], i), 15, 0)))  # type: ignore


def _address(m: Thumb, i: Instruction) -> None:
    m.write(i.operands[0], const((i.at + 4 & ~3) + i.operands[1], 32))  # type: ignore[operator]


def _extended(bits: int, f: Extend, adds: bool = False) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        value = f(extract(m.read(i.operands[-1], i), bits - 1, 0), 32)
        m.write(i.operands[0], add(m.read(i.operands[1], i), value) if adds else value)

    return run


def _extended_bytes(f: Extend) -> Handler:
    """sxtb16 and uxtb16: bytes 0 and 2 become halves."""

    def run(m: Thumb, i: Instruction) -> None:
        a = m.read(i.operands[-1], i)
        m.write(i.operands[0], concat(f(extract(a, 23, 16), 16), f(extract(a, 7, 0), 16)))

    return run


def _field(f: Extend) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        a, (low, width) = m.read(i.operands[1], i), i.operands[2:4]
        if low + width > 32:  # type: ignore[operator]
            raise NotFollowed("a field beyond the word")
        m.write(i.operands[0], f(extract(a, low + width - 1, low), 32))  # type: ignore[operator]

    return run


def _insert(m: Thumb, i: Instruction) -> None:
    """bfi, and bfc, which inserts zeros: the lowest `width` bits replace those from bit `low` on."""
    old, (low, width) = m.read(i.operands[0], i), i.operands[-2:]
    new = m.read(i.operands[1], i) if len(i.operands) == 4 else const(0, 32)
    m.write(i.operands[0], replaced(old, low, extract(new, width - 1, 0)))  # type: ignore[operator, arg-type]


def _multiply(m: Thumb, i: Instruction) -> None:
    product = mul(*_two(m, i))
    m.write(i.operands[0], product)
    if i.sets_flags:
        m.set_flags(product, m.carry, m.overflow)


def _multiply_and(f: Callable[[Term, Term], Term]) -> Handler:
    """mla and mls: the last operand plus or minus a product."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b, c = (m.read(operand, i) for operand in i.operands[1:])
        m.write(i.operands[0], f(c, mul(a, b)))

    return run


def _long_product(extend: Extend, adds: bool) -> Handler:
    """smull, umull, smlal and umlal: products of 64 bits, in two registers, the lower one first."""

    def run(m: Thumb, i: Instruction) -> None:
        low, high, a, b = (m.read(operand, i) for operand in i.operands)
        product = mul(extend(a, 64), extend(b, 64))
        total = add(concat(high, low), product) if adds else product
        m.write(i.operands[0], extract(total, 31, 0))
        m.write(i.operands[1], extract(total, 63, 32))

    return run


def half(word: Term, is_top: bool) -> Term:
    """Returns 16 bits of a word. The lower ones of a product are those of the product of the lower ones."""
    if not is_top and word.op == "mul" and word.args[0].op == "concat" and word.args[1].value is not None:
        return mul(*(extract(arg, 15, 0) for arg in word.args))
    return extract(word, 31, 16) if is_top else extract(word, 15, 0)


def _half_product(a: Term, b: Term, top_a: bool, top_b: bool) -> Term:
    return mul(sext(half(a, top_a), 32), sext(half(b, top_b), 32))


def _halves_product(top_a: bool, top_b: bool) -> Handler:
    """smulxy and smlaxy: the product of two halves, to which the last operand is added if there are four."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b, *more = (m.read(operand, i) for operand in i.operands[1:])
        product = _half_product(a, b, top_a, top_b)
        m.write(i.operands[0], add(more[0], product) if more else product)

    return run


def _word_product(top: bool) -> Handler:
    """smulwy and smlawy: the upper 32 of 48 bits of the product of a word and a half."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b, *more = (m.read(operand, i) for operand in i.operands[1:])
        product = extract(mul(sext(a, 48), sext(half(b, top), 48)), 47, 16)
        m.write(i.operands[0], add(more[0], product) if more else product)

    return run


def _dual_product(f: Callable[[Term, Term], Term], exchanges: bool) -> Handler:
    """smuad and those like it: sums or differences of the products of lower and of upper halves."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b, *more = (m.read(operand, i) for operand in i.operands[1:])
        first, second = (_half_product(a, b, top, top != exchanges) for top in (False, True))
        m.write(i.operands[0], f(add(more[0], first) if more else first, second))

    return run


def _high_product(f: Callable[[Term, Term], Term], rounds: bool) -> Handler:
    """smmul and those like it: the upper half of a product, or of a word above 32 zeros plus or minus the product."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b, *more = (m.read(operand, i) for operand in i.operands[1:])
        product = mul(sext(a, 64), sext(b, 64))
        total = f(concat(more[0], const(0, 32)), product) if more else product
        m.write(i.operands[0], extract(add(total, const(1 << 31, 64)) if rounds else total, 63, 32))

    return run


def _parallel(f: Callable[[Term, Term], Term], extend: Extend, bits: int) -> Handler:
    """Sums or differences of halves or bytes, side by side. GE of a signed part is whether it is not negative, of an
    unsigned sum its carry, and of an unsigned difference that there is no borrow."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b = ([extract(word, at + bits - 1, at) for at in range(0, 32, bits)] for word in _two(m, i))
        m.write(i.operands[0], concat(*(f(x, y) for x, y in reversed(list(zip(a, b))))))
        m.greater_or_equal = tuple(_greater_or_equal(f, extend, x, y) for x, y in zip(a, b))

    return run


def _greater_or_equal(f: Callable[[Term, Term], Term], extend: Extend, a: Term, b: Term) -> Term:
    if f is sub:
        return negate(compare("slt" if extend is sext else "ult", a, b))
    top = extract(add(extend(a, a.width + 1), extend(b, a.width + 1)), a.width, a.width)
    return negate(top) if extend is sext else top


def _select(m: Thumb, i: Instruction) -> None:
    if not m.greater_or_equal:
        raise NotFollowed("no flag GE is known")
    a, b = _two(m, i)
    bits = 32 // len(m.greater_or_equal)
    parts = [ite(flag, *(extract(word, (n + 1) * bits - 1, n * bits) for word in (a, b)))
             for n, flag in enumerate(m.greater_or_equal)]
    m.write(i.operands[0], concat(*reversed(parts)))


def _pack(top_of_first: bool) -> Handler:
    """pkhbt and pkhtb: one half of the first source, the other of the second one."""

    def run(m: Thumb, i: Instruction) -> None:
        a, b = _two(m, i)
        upper, lower = (a, b) if top_of_first else (b, a)
        m.write(i.operands[0], concat(half(upper, True), half(lower, False)))

    return run


def _reversed(bits: int) -> Handler:
    return lambda m, i: m.write(i.operands[0], bytes_reversed(m.read(i.operands[1], i), bits))


def _load(size: int, extend: Extend = zext) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        m.write(i.operands[0], extend(value_of(m.memory.load(m.take_address(i, 1), size)), 32))

    return run


def _store(size: int) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        value = m.read(i.operands[0], i)
        part = value if size == 4 else half(value, False) if size == 2 else extract(value, 7, 0)
        m.memory.store(m.take_address(i, 1), bytes_of(part))

    return run


def _load_pair(m: Thumb, i: Instruction) -> None:
    at = m.take_address(i, 2)
    words = [value_of(m.memory.load(at + 4 * n, 4)) for n in (0, 1)]
    for operand, word in zip(i.operands, words):
        m.write(operand, word)


def _store_pair(m: Thumb, i: Instruction) -> None:
    words = [m.read(i.operands[n], i) for n in (0, 1)]
    at = m.take_address(i, 2)
    for n, word in enumerate(words):
        m.memory.store(at + 4 * n, bytes_of(word))


def _several(m: Thumb, i: Instruction, words: int, below: bool) -> int:
    """Returns the lowest address of so many words from or below the one in a base register, which the instruction may
    change."""
    base, writes_back = Register(STACK_POINTER), True
    if len(i.operands) == 2:
        operand = i.operands[0]
        writes_back = isinstance(operand, Address)
        base = operand.base if isinstance(operand, Address) else operand  # type: ignore[assignment]
    at = m.known(m.read(base, i), "the address")
    end = at - 4 * words if below else at + 4 * words
    if writes_back:
        m.write(base, const(end, 32))
    return end if below else at


def _load_several(below: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        registers: tuple = i.operands[-1]  # type: ignore[assignment]
        at = _several(m, i, len(registers), below)
        for n, register in enumerate(registers):
            m.write(register, value_of(m.memory.load(at + 4 * n, 4)))

    return run


def _store_several(below: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        registers: tuple = i.operands[-1]  # type: ignore[assignment]
        words = [m.read(register, i) for register in registers]
        at = _several(m, i, len(words), below)
        for n, word in enumerate(words):
            m.memory.store(at + 4 * n, bytes_of(word))

    return run


def _float_list(m: Thumb, i: Instruction) -> list[int]:
    return [number for register in i.operands[-1] for number in m.singles(register)]  # type: ignore[union-attr]


def _load_floats(below: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        numbers = _float_list(m, i)
        at = _several(m, i, len(numbers), below)
        for n, number in enumerate(numbers):
            m.single[number] = value_of(m.memory.load(at + 4 * n, 4))

    return run


def _store_floats(below: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        numbers = _float_list(m, i)
        at = _several(m, i, len(numbers), below)
        for n, number in enumerate(numbers):
            m.memory.store(at + 4 * n, bytes_of(m.single[number]))

    return run


def _load_float(m: Thumb, i: Instruction) -> None:
    at = m.take_address(i, 1)
    for n, number in enumerate(m.singles(i.operands[0])):
        m.single[number] = value_of(m.memory.load(at + 4 * n, 4))


def _store_float(m: Thumb, i: Instruction) -> None:
    at = m.take_address(i, 1)
    for n, number in enumerate(m.singles(i.operands[0])):
        m.memory.store(at + 4 * n, bytes_of(m.single[number]))


def _words_of(m: Thumb, i: Instruction, operands: tuple) -> list[Term]:
    return [word for operand in operands for word in (
        [m.single[number] for number in m.singles(operand)] if isinstance(operand, Float) else [m.read(operand, i)])]


def _move_float(m: Thumb, i: Instruction) -> None:
    """vmov: the words of one or two registers of either kind become those of others."""
    wide = isinstance(i.operands[0], Float) and i.operands[0].width == 64
    targets = 2 if len(i.operands) == 3 and not wide or len(i.operands) == 4 else 1
    words = _words_of(m, i, i.operands[targets:])
    places = [place for operand in i.operands[:targets]
              for place in (m.singles(operand) if isinstance(operand, Float) else [operand])]
    if len(words) != len(places):
        raise NotFollowed("registers of different sizes")
    for place, word in zip(places, words):
        if isinstance(place, int):
            m.single[place] = word
        else:
            m.write(place, word)


def _jump(m: Thumb, i: Instruction) -> None:
    m.jump(m.read(i.operands[0], i))


def _call(m: Thumb, i: Instruction) -> None:
    m.jump(m.read(i.operands[0], i))
    m.general[LINK] = const(i.at + i.size | 1, 32)


def _jump_if_zero(is_zero: bool) -> Handler:
    def run(m: Thumb, i: Instruction) -> None:
        if (m.known(m.read(i.operands[0], i), "a branch") == 0) == is_zero:
            m.jump(m.read(i.operands[1], i))

    return run


def _nothing(m: Thumb, i: Instruction) -> None:
    pass


def _and(a: Term, b: Term) -> Term:
    return bitwise("and", a, b)


def _or(a: Term, b: Term) -> Term:
    return bitwise("or", a, b)


def _xor(a: Term, b: Term) -> Term:
    return bitwise("xor", a, b)


GENERAL: dict[str, Handler] = {
    "add": _sum,
    "addw": _sum,
    "sub": _difference(False),
    "subw": _difference(False),
    "rsb": _difference(True),
    "adc": _with_carry(False),
    "sbc": _with_carry(True),
    "cmp": _compare,
    "cmn": _compare_negative,
    "tst": _test(_and),
    "teq": _test(_xor),
    "and": _logic(_and),
    "orr": _logic(_or),
    "eor": _logic(_xor),
    "bic": _logic(lambda a, b: _and(a, invert(b))),
    "orn": _logic(lambda a, b: _or(a, invert(b))),
    "mov": _move(lambda a: a),
    "mvn": _move(invert),
    "movw": lambda m, i: m.write(i.operands[0], m.read(i.operands[1], i)),
    "movt": _move_upper,
    "adr": _address,
    **{kind: _shift(kind) for kind in SHIFTS},
    "ubfx": _field(zext),
    "sbfx": _field(sext),
    "bfi": _insert,
    "bfc": _insert,
    "sxtb16": _extended_bytes(sext),
    "uxtb16": _extended_bytes(zext),
    "mul": _multiply,
    "mla": _multiply_and(add),
    "mls": _multiply_and(sub),
    "smull": _long_product(sext, False),
    "umull": _long_product(zext, False),
    "smlal": _long_product(sext, True),
    "umlal": _long_product(zext, True),
    "sel": _select,
    "pkhbt": _pack(False),
    "pkhtb": _pack(True),
    "rev": _reversed(32),
    "rev16": _reversed(16),
    "ldr": _load(4),
    "ldrh": _load(2),
    "ldrb": _load(1),
    "ldrsh": _load(2, sext),
    "ldrsb": _load(1, sext),
    "str": _store(4),
    "strh": _store(2),
    "strb": _store(1),
    "ldrd": _load_pair,
    "strd": _store_pair,
    "ldm": _load_several(False),
    "pop": _load_several(False),
    "ldmdb": _load_several(True),
    "stm": _store_several(False),
    "stmdb": _store_several(True),
    "push": _store_several(True),
    "vldr": _load_float,
    "vstr": _store_float,
    "vldmia": _load_floats(False),
    "vpop": _load_floats(False),
    "vldmdb": _load_floats(True),
    "vstmia": _store_floats(False),
    "vstmdb": _store_floats(True),
    "vpush": _store_floats(True),
    "vmov": _move_float,
    "b": _jump,
    "bx": _jump,
    "bl": _call,
    "blx": _call,
    "cbz": _jump_if_zero(True),
    "cbnz": _jump_if_zero(False),
    "nop": _nothing,
    **{f"it{rest}": _nothing for rest in ("", "t", "e", *(a + b for a in "te" for b in "te"),
                                          *(a + b + c for a in "te" for b in "te" for c in "te"))},
}
for _sign, _f in (("s", sext), ("u", zext)):
    for _bits in (8, 16):
        _letter = "b" if _bits == 8 else "h"
        GENERAL |= {f"{_sign}xt{_letter}": _extended(_bits, _f), f"{_sign}xta{_letter}": _extended(_bits, _f, True),
                    f"{_sign}add{_bits}": _parallel(add, _f, _bits), f"{_sign}sub{_bits}": _parallel(sub, _f, _bits)}
for _prefix in ("smul", "smla"):
    GENERAL |= {f"{_prefix}{a}{b}": _halves_product(a == "t", b == "t") for a in "bt" for b in "bt"}
    GENERAL |= {f"{_prefix}w{b}": _word_product(b == "t") for b in "bt"}
for _exchange in ("", "x"):
    GENERAL |= {f"{name}{_exchange}": _dual_product(f, _exchange == "x") for name, f in (
        ("smuad", add), ("smlad", add), ("smusd", sub), ("smlsd", sub))}
for _round in ("", "r"):
    GENERAL |= {f"{name}{_round}": _high_product(f, _round == "r") for name, f in (
        ("smmul", add), ("smmla", add), ("smmls", sub))}
