# SPDX-License-Identifier: Apache-2.0
"""What AArch64's instructions on general registers do. Each function changes a machine as one instruction does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from proofs.algebra.terms import Term, add, bitwise, concat, const, extract, ite, mul, sext, shift_left, sub, zext
from proofs.machines.arm64.text import General, Instruction, Shifted
from proofs.machines.memory import NotFollowed, bytes_of, value_of
from proofs.machines.words import SHIFTS, bytes_reversed, invert, replaced

if TYPE_CHECKING:
    from proofs.machines.arm64.machine import Arm64

Handler = Callable[["Arm64", Instruction], None]


_EXTENDED = {"b": 8, "h": 16, "w": 32, "x": 64}


def shifted(m: Arm64, operand: Shifted, width: int) -> Term:
    """Returns an operand that is shifted, or extended and then shifted to the left."""
    if operand.kind in SHIFTS:
        return SHIFTS[operand.kind](m.read(operand.operand, width), operand.by)
    register = operand.operand
    if not isinstance(register, General) or operand.kind == "msl":
        raise NotFollowed(f"an operand that is shifted by {operand.kind}")
    bits = min(_EXTENDED[operand.kind[3]], width)
    low = extract(m.read_general(register), bits - 1, 0)
    return shift_left((sext if operand.kind[0] == "s" else zext)(low, width), operand.by)


def _target(i: Instruction, n: int = 0) -> General:
    register = i.operands[n]
    if not isinstance(register, General):
        raise NotFollowed("a general register is expected")
    return register


def _write(m: Arm64, i: Instruction, value: Term) -> None:
    m.write_general(_target(i), value)


def _read(m: Arm64, i: Instruction, n: int) -> Term:
    return m.read(i.operands[n], _target(i).width)


def _binary(f: Callable[[Term, Term], Term], kind: str = "") -> Handler:
    """kind: of the flags that the result sets."""

    def run(m: Arm64, i: Instruction) -> None:
        a, b = _read(m, i, 1), _read(m, i, 2)
        result = f(a, b)
        if kind:
            m.flags = (kind, result, a, b)
        _write(m, i, result)

    return run


def _comparison(f: Callable[[Term, Term], Term], kind: str) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        a, b = _read(m, i, 0), _read(m, i, 1)
        m.flags = (kind, f(a, b), a, b)

    return run


def _unary(f: Callable[[Term], Term]) -> Handler:
    return lambda m, i: _write(m, i, f(_read(m, i, 1)))


def _negate_with_flags(m: Arm64, i: Instruction) -> None:
    b = _read(m, i, 1)
    zero = const(0, b.width)
    m.flags = ("sub", sub(zero, b), zero, b)
    _write(m, i, sub(zero, b))


def _with_carry(f: Callable[[Term, Term], Term], of_carry: str) -> Handler:
    """adc and sbc: the carry is that of an addition, or the opposite of a borrow."""

    def run(m: Arm64, i: Instruction) -> None:
        a, b = _read(m, i, 1), _read(m, i, 2)
        _write(m, i, f(f(a, b), zext(m.condition(of_carry), a.width)))

    return run


def _shift(kind: str) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        a = _read(m, i, 1)
        by = i.operands[2]
        by = by if isinstance(by, int) else m.known(m.read(by, a.width), "a shift") % a.width
        _write(m, i, SHIFTS[kind](a, by))

    return run


def _extend(bits: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        low = extract(m.read_general(_target(i, 1)), bits - 1, 0)
        _write(m, i, f(low, _target(i).width))

    return run


def _field(f: Callable[[Term, int], Term]) -> Handler:
    """ubfx and sbfx: `width` bits from bit `low` on."""

    def run(m: Arm64, i: Instruction) -> None:
        a, (low, width) = _read(m, i, 1), i.operands[2:4]
        _write(m, i, f(extract(a, low + width - 1, low), a.width))  # type: ignore[operator]

    return run


def _field_at(f: Callable[[Term, int], Term]) -> Handler:
    """ubfiz and sbfiz: the lowest `width` bits, at bit `low`."""

    def run(m: Arm64, i: Instruction) -> None:
        a, (low, width) = _read(m, i, 1), i.operands[2:4]
        _write(m, i, shift_left(f(extract(a, width - 1, 0), a.width), low))  # type: ignore[operator, arg-type]

    return run


def _insert_field(m: Arm64, i: Instruction) -> None:
    """bfi: the lowest `width` bits replace those from bit `low` on."""
    low, width = i.operands[2:4]
    _write(m, i, replaced(_read(m, i, 0), low, extract(_read(m, i, 1), width - 1, 0)))  # type: ignore


def _clear_field(m: Arm64, i: Instruction) -> None:
    low, width = i.operands[1:3]
    _write(m, i, replaced(_read(m, i, 0), low, const(0, width)))  # type: ignore[arg-type]


def _insert_low_field(m: Arm64, i: Instruction) -> None:
    """bfxil: `width` bits from bit `low` on replace the lowest ones."""
    low, width = i.operands[2:4]
    part = extract(_read(m, i, 1), low + width - 1, low)  # type: ignore[operator, arg-type]
    _write(m, i, replaced(_read(m, i, 0), 0, part))


def _extract_pair(m: Arm64, i: Instruction) -> None:
    a, b, by = _read(m, i, 1), _read(m, i, 2), i.operands[3]
    _write(m, i, extract(concat(a, b), by + a.width - 1, by))  # type: ignore[operator, arg-type]


def _move_keeping(m: Arm64, i: Instruction) -> None:
    """movk: 16 bits are replaced."""
    part = i.operands[1]
    value, at = (part.operand, part.by) if isinstance(part, Shifted) else (part, 0)
    _write(m, i, replaced(_read(m, i, 0), at, const(value, 16)))  # type: ignore[arg-type]


def _product(f: Callable[[Term, Term], Term], extend: Callable[[Term, int], Term] | None = None) -> Handler:
    """madd and those like it: f of the last operand and the product; of words of 32 bits that are extended."""

    def run(m: Arm64, i: Instruction) -> None:
        width = _target(i).width
        a, b = (m.read_general(_target(i, n)) for n in (1, 2))
        if extend:
            a, b = extend(a, width), extend(b, width)
        more = m.read(i.operands[3], width) if len(i.operands) > 3 else const(0, width)
        _write(m, i, f(more, mul(a, b)))

    return run


def _high_product(extend: Callable[[Term, int], Term]) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        a, b = (extend(_read(m, i, n), 128) for n in (1, 2))
        _write(m, i, extract(mul(a, b), 127, 64))

    return run


def _divide(m: Arm64, i: Instruction) -> None:
    a, b = (m.known(_read(m, i, n), "a division") for n in (1, 2))
    _write(m, i, const(a // b if b else 0, _target(i).width))


def _select(f: Callable[[Term], Term]) -> Handler:
    """csel and those like it: the first source if the condition holds, f of the second one otherwise."""

    def run(m: Arm64, i: Instruction) -> None:
        _write(m, i, ite(m.condition(str(i.operands[3])), _read(m, i, 1), f(_read(m, i, 2))))

    return run


def _select_same(f: Callable[[Term], Term]) -> Handler:
    """cinc and those like it: f of the source if the condition holds, otherwise the source."""

    def run(m: Arm64, i: Instruction) -> None:
        a = _read(m, i, 1)
        _write(m, i, ite(m.condition(str(i.operands[2])), f(a), a))

    return run


def _set(value: int) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        width = _target(i).width
        _write(m, i, ite(m.condition(str(i.operands[1])), const(value, width), const(0, width)))

    return run


def _compare_if(f: Callable[[Term, Term], Term], kind: str) -> Handler:
    """ccmp and ccmn: the flags of a comparison if the condition holds, otherwise given ones."""

    def run(m: Arm64, i: Instruction) -> None:
        a, b = _read(m, i, 0), _read(m, i, 1)
        condition = m.condition(str(i.operands[3]))
        compared, given = (kind, f(a, b), a, b), ("bits", i.operands[2])
        if condition.value is None:
            m.flags = ("choice", condition, compared, given)
        else:
            m.flags = compared if condition.value else given

    return run


def _reversed_bits(m: Arm64, i: Instruction) -> None:
    a = _read(m, i, 1)
    _write(m, i, concat(*(extract(a, n, n) for n in range(a.width))))


def _load(size: int = 0, extend: Callable[[Term, int], Term] = zext) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        width = _target(i).width
        data = m.memory.load(m.take_address(i, 1), size or width // 8)
        _write(m, i, extend(value_of(data), width))

    return run


def _store(size: int = 0) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        value = m.read_general(_target(i))
        data = bytes_of(extract(value, 8 * (size or value.width // 8) - 1, 0))
        m.memory.store(m.take_address(i, 1), data)

    return run


def _load_pair(m: Arm64, i: Instruction) -> None:
    size, at = _target(i).width // 8, m.take_address(i, 2)
    for n in (0, 1):
        m.write_general(_target(i, n), value_of(m.memory.load(at + n * size, size)))


def _load_pair_of_words(m: Arm64, i: Instruction) -> None:
    at = m.take_address(i, 2)
    for n in (0, 1):
        m.write_general(_target(i, n), sext(value_of(m.memory.load(at + 4 * n, 4)), 64))


def _store_pair(m: Arm64, i: Instruction) -> None:
    values = [m.read_general(_target(i, n)) for n in (0, 1)]
    at = m.take_address(i, 2)
    for n, value in enumerate(values):
        m.memory.store(at + n * value.width // 8, bytes_of(value))


def _jump(m: Arm64, i: Instruction) -> None:
    to = i.operands[0]
    m.next = to if isinstance(to, int) else m.known(m.read_general(_target(i)), "a jump")


def _call(m: Arm64, i: Instruction) -> None:
    _jump(m, i)
    m.general[30] = const(i.at + 4, 64)


def _return(m: Arm64, i: Instruction) -> None:
    register = i.operands[0] if i.operands else General(30, 64)
    m.next = m.known(m.read(register, 64), "a return")


def _jump_if_zero(is_zero: bool) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        if (m.known(m.read_general(_target(i)), "a branch") == 0) == is_zero:
            m.next = i.operands[1]  # type: ignore[assignment]

    return run


def _jump_if_bit(value: int) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        bit = i.operands[1]
        if m.known(extract(m.read_general(_target(i)), bit, bit), "a branch") == value:  # type: ignore[arg-type]
            m.next = i.operands[2]  # type: ignore[assignment]

    return run


def _nothing(m: Arm64, i: Instruction) -> None:
    pass


def _plus_one(a: Term) -> Term:
    return add(a, const(1, a.width))


def _negated(a: Term) -> Term:
    return sub(const(0, a.width), a)


def _and(a: Term, b: Term) -> Term:
    return bitwise("and", a, b)


GENERAL: dict[str, Handler] = {
    "mov": _unary(lambda a: a),
    "movk": _move_keeping,
    "mvn": _unary(invert),
    "neg": _unary(_negated),
    "negs": _negate_with_flags,
    "adr": _unary(lambda a: a),
    "adrp": _unary(lambda a: a),
    "add": _binary(add),
    "adds": _binary(add, "add"),
    "sub": _binary(sub),
    "subs": _binary(sub, "sub"),
    "adc": _with_carry(add, "cs"),
    "sbc": _with_carry(sub, "cc"),
    "cmp": _comparison(sub, "sub"),
    "cmn": _comparison(add, "add"),
    "and": _binary(_and),
    "ands": _binary(_and, "logic"),
    "tst": _comparison(_and, "logic"),
    "bic": _binary(lambda a, b: _and(a, invert(b))),
    "bics": _binary(lambda a, b: _and(a, invert(b)), "logic"),
    "orr": _binary(lambda a, b: bitwise("or", a, b)),
    "orn": _binary(lambda a, b: bitwise("or", a, invert(b))),
    "eor": _binary(lambda a, b: bitwise("xor", a, b)),
    "eon": _binary(lambda a, b: bitwise("xor", a, invert(b))),
    "lsl": _shift("lsl"),
    "lsr": _shift("lsr"),
    "asr": _shift("asr"),
    "ror": _shift("ror"),
    "extr": _extract_pair,
    "sxtb": _extend(8, sext),
    "sxth": _extend(16, sext),
    "sxtw": _extend(32, sext),
    "uxtb": _extend(8, zext),
    "uxth": _extend(16, zext),
    "ubfx": _field(zext),
    "sbfx": _field(sext),
    "ubfiz": _field_at(zext),
    "sbfiz": _field_at(sext),
    "bfi": _insert_field,
    "bfc": _clear_field,
    "bfxil": _insert_low_field,
    "mul": _product(add),
    "madd": _product(add),
    "mneg": _product(sub),
    "msub": _product(sub),
    "smull": _product(add, sext),
    "smaddl": _product(add, sext),
    "smnegl": _product(sub, sext),
    "smsubl": _product(sub, sext),
    "umull": _product(add, zext),
    "umaddl": _product(add, zext),
    "umnegl": _product(sub, zext),
    "umsubl": _product(sub, zext),
    "smulh": _high_product(sext),
    "umulh": _high_product(zext),
    "udiv": _divide,
    "csel": _select(lambda a: a),
    "csinc": _select(_plus_one),
    "csinv": _select(invert),
    "csneg": _select(_negated),
    "cinc": _select_same(_plus_one),
    "cinv": _select_same(invert),
    "cneg": _select_same(_negated),
    "cset": _set(1),
    "csetm": _set(-1),
    "ccmp": _compare_if(sub, "sub"),
    "ccmn": _compare_if(add, "add"),
    "rev": _unary(lambda a: bytes_reversed(a, a.width)),
    "rev16": _unary(lambda a: bytes_reversed(a, 16)),
    "rev32": _unary(lambda a: bytes_reversed(a, 32)),
    "rbit": _reversed_bits,
    "ldp": _load_pair,
    "ldpsw": _load_pair_of_words,
    "stp": _store_pair,
    "b": _jump,
    "br": _jump,
    "bl": _call,
    "blr": _call,
    "ret": _return,
    "cbz": _jump_if_zero(True),
    "cbnz": _jump_if_zero(False),
    "tbz": _jump_if_bit(0),
    "tbnz": _jump_if_bit(1),
    **dict.fromkeys(("nop", "bti", "hint", "paciasp", "autiasp", "prfm"), _nothing),
}
for _prefix in ("", "u"):  # ldur: with an offset that is no multiple of the size
    _ld, _st = f"ld{_prefix}r", f"st{_prefix}r"
    GENERAL |= {_ld: _load(), _st: _store(), f"{_ld}b": _load(1), f"{_ld}h": _load(2), f"{_st}b": _store(1),
                f"{_st}h": _store(2), f"{_ld}sb": _load(1, sext), f"{_ld}sh": _load(2, sext),
                f"{_ld}sw": _load(4, sext)}
