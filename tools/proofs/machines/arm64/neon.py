# SPDX-License-Identifier: Apache-2.0
"""What NEON's instructions do, lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from proofs.algebra.terms import (Term, add, bitwise, compare, concat, const, extract, ite, mul, negate, sext,
                                  shift_left, shift_right, shift_right_signed, sub, zext)
from proofs.machines.arm64.general import Handler
from proofs.machines.arm64.text import General, Group, Instruction, Shifted, Vector
from proofs.machines.memory import ZERO_BYTE, Byte, NotFollowed, bytes_of, lanes_of, value_of
from proofs.machines.words import invert

if TYPE_CHECKING:
    from proofs.machines.arm64.machine import Arm64

Extension = Callable[[Term, int], Term]


def _flatten(lanes: Iterable[Term]) -> list[Byte]:
    return [byte for lane in lanes for byte in bytes_of(lane)]


def _vector(i: Instruction, n: int = 0) -> Vector:
    operand = i.operands[n]
    if not isinstance(operand, Vector):
        raise NotFollowed("a vector register is expected")
    return operand


def _number(i: Instruction, n: int) -> int:
    operand = i.operands[n]
    if not isinstance(operand, int):
        raise NotFollowed("a number is expected")
    return operand


def _whole(v: Vector, width: int) -> Vector:
    """Returns the register that a vector operand is in, as lanes of another width."""
    return Vector(v.number, width, v.width * v.count // width)


def _source(m: Arm64, i: Instruction, n: int, count: int) -> list[Term]:
    """Returns `count` lanes: those of a vector operand, or a lane or a number for each."""
    operand = i.operands[n]
    if isinstance(operand, int):
        return [const(operand, _vector(i).width)] * count
    lanes = m.lanes(_vector(i, n))
    if _vector(i, n).index is not None:
        lanes *= count
    if len(lanes) != count:
        raise NotFollowed("operands of different numbers of lanes")
    return lanes


def _same_lane(m: Arm64, i: Instruction, n: int) -> Term | None:
    """Returns the lane of an operand all of whose lanes are alike."""
    operand = i.operands[n]
    if isinstance(operand, int):
        return const(operand, _vector(i).width)
    if not isinstance(operand, Vector) or operand.count == 1 and operand.index is None:
        return None
    if operand.index is not None:
        lane = m.lanes(operand)[0]
        return lane if lane.value is not None else None
    return m.lane_of(m.read_vector(operand), operand.width)


def _lanewise(f: Callable[..., Term], accumulates: bool = False) -> Handler:
    """f of the lanes of all sources, before which are those of the destination if the instruction accumulates."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        numbers = range(0 if accumulates else 1, len(i.operands))
        if m.alike:
            lanes = [_same_lane(m, i, n) for n in numbers]
            if all(lane is not None for lane in lanes):
                m.write_vector(target, m.lanes_alike(f(*lanes), target.width * target.count // 8))
                return
        sources = (_source(m, i, n, target.count) for n in numbers)
        m.write_vector(target, _flatten(map(f, *sources)))

    return run


def _bitwise(f: Callable[..., Term], accumulates: bool = False) -> Handler:
    """An operation on bits, in which lanes do not matter: those of 64 bits need fewer terms than bytes."""
    lanewise = _lanewise(f, accumulates)

    def run(m: Arm64, i: Instruction) -> None:
        if not m.alike:
            operands = tuple(_whole(_vector(i, n), 64) for n in range(len(i.operands)))
            i = Instruction(i.at, i.name, operands, i.text)
        lanewise(m, i)

    return run


def _immediate(i: Instruction, n: int) -> int:
    """Returns a number of a lane that may be shifted, with ones from the right if by msl."""
    operand = i.operands[n]
    if isinstance(operand, Shifted) and isinstance(operand.operand, int):
        ones = (1 << operand.by) - 1 if operand.kind == "msl" else 0
        return operand.operand << operand.by | ones
    return _number(i, n)


def _of_immediate(f: Callable[[Term, Term], Term]) -> Handler:
    """orr and bic with a number; with vectors they are _bitwise()."""
    of_vectors = _bitwise(f)

    def run(m: Arm64, i: Instruction) -> None:
        if len(i.operands) == 3:
            of_vectors(m, i)
            return
        target, number = _vector(i), const(_immediate(i, 1), _vector(i).width)
        lane = m.lane_of(m.read_vector(target), target.width) if m.alike else None
        if lane is not None:
            m.write_vector(target, m.lanes_alike(f(lane, number), target.width * target.count // 8))
        else:
            m.write_vector(target, _flatten(f(lane, number) for lane in m.lanes(target)))

    return run


def _constant(f: Callable[[Term], Term]) -> Handler:
    """movi and mvni."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        m.write_vector(target, bytes_of(f(const(_immediate(i, 1), target.width))) * target.count)

    return run


def _upper(lanes: list[Term], upper: bool) -> list[Term]:
    half = len(lanes) // 2
    return lanes[half:] if upper else lanes[:half]


def _narrow_source(m: Arm64, i: Instruction, n: int, count: int, upper: bool) -> list[Term]:
    """Returns `count` lanes of an operand of an instruction whose results are wider: the upper half, or all."""
    operand = _vector(i, n)
    if operand.index is not None or operand.is_scalar or operand.count == count:
        return _source(m, i, n, count)
    if not upper or operand.count != 2 * count:
        raise NotFollowed("operands of different numbers of lanes")
    return _upper(m.lanes(operand), True)


def _long(f: Callable[[Term, Term], Term], extend: Extension, upper: bool,
          accumulate: Callable[[Term, Term], Term] | None = None) -> Handler:
    """Both sources have half the width of the results."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        a, b = ([extend(lane, target.width) for lane in _narrow_source(m, i, n, target.count, upper)] for n in (1, 2))
        lanes = list(map(f, a, b))
        if accumulate:
            lanes = list(map(accumulate, m.lanes(target), lanes))
        m.write_vector(target, _flatten(lanes))

    return run


def _wide(f: Callable[[Term, Term], Term], extend: Extension, upper: bool) -> Handler:
    """The second source has half the width of the first one and of the results."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        narrow = (extend(lane, target.width) for lane in _narrow_source(m, i, 2, target.count, upper))
        m.write_vector(target, _flatten(map(f, m.lanes(_vector(i, 1)), narrow)))

    return run


def _extended(extend: Extension, upper: bool) -> Handler:
    """sshll, ushll and shll: lanes are extended, then shifted to the left."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        by = _number(i, 2)
        lanes = _narrow_source(m, i, 1, target.count, upper)
        m.write_vector(target, _flatten(shift_left(extend(lane, target.width), by) for lane in lanes))

    return run


def _narrowed(f: Callable[..., Term], upper: bool) -> Handler:
    """xtn and shrn: f of the sources, of half the width; into the upper half of the register, or the lower one."""

    def run(m: Arm64, i: Instruction) -> None:
        target, wide = _vector(i), _vector(i, 1)
        more = (_number(i, 2),) if len(i.operands) > 2 and isinstance(i.operands[2], int) else ()
        sources = [m.lanes(_vector(i, n)) for n in range(1, len(i.operands) - len(more))]
        data = _flatten(extract(f(*lanes, *more), wide.width // 2 - 1, 0) for lanes in zip(*sources))
        if upper:
            data = m.vector[target.number][:8] + data
        m.write_vector(target, data)

    return run


def _shift(f: Callable[[Term, int], Term], accumulate: Callable[[Term, Term], Term] | None = None) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        target, by = _vector(i), _number(i, 2)

        def one(lane: Term, old: Term | None) -> Term:
            return f(lane, by) if old is None or accumulate is None else accumulate(old, f(lane, by))

        lane = _same_lane(m, i, 1) if m.alike else None
        old = _same_lane(m, i, 0) if m.alike and accumulate else None
        if lane is not None and (old is not None or accumulate is None):
            m.write_vector(target, m.lanes_alike(one(lane, old), target.width * target.count // 8))
            return
        olds = m.lanes(target) if accumulate else [None] * target.count
        m.write_vector(target, _flatten(map(one, m.lanes(_vector(i, 1)), olds)))

    return run


def _shift_inserting(m: Arm64, i: Instruction) -> None:
    """sli and sri: bits that the shifted lane does not reach stay."""
    target, by = _vector(i), _number(i, 2)
    result = []
    for old, lane in zip(m.lanes(target), m.lanes(_vector(i, 1))):
        width = lane.width
        if i.name == "sli":
            result.append(concat(extract(lane, width - 1 - by, 0), extract(old, by - 1, 0)) if by else lane)
        else:
            kept = (extract(old, width - 1, width - by),)
            result.append(concat(*kept, extract(lane, width - 1, by)) if by < width else old)
    m.write_vector(target, _flatten(result))


def _shift_each(right: Callable[[Term, int], Term]) -> Handler:
    """sshl and ushl: to the left by the lowest byte of the other lane, or to the right if that is negative."""

    def one(lane: Term, count: Term) -> Term:
        by = extract(count, 7, 0)
        if by.value is None:
            raise NotFollowed("a shift depends on an input")
        return right(lane, 256 - by.value) if by.value >> 7 else shift_left(lane, by.value)

    return _lanewise(one)


def _rounded(f: Callable[[Term, int], Term]) -> Callable[[Term, int], Term]:
    """Returns a shift to the right that rounds: the last bit that is shifted out is added."""
    return lambda a, by: add(f(a, by), zext(extract(a, by - 1, by - 1), a.width))


def _doubled_high(rounds: bool) -> Callable[[Term, Term], Term]:
    """sqdmulh and sqrdmulh: the upper half of twice the product, signed, which saturates for two lowest numbers."""

    def of(a: Term, b: Term) -> Term:
        width = a.width
        product = mul(sext(a, 2 * width), sext(b, 2 * width))
        if rounds:
            high = extract(add(extract(product, 2 * width - 1, width - 2), const(1, width + 2)), width, 1)
        else:
            high = extract(product, 2 * width - 2, width - 1)
        lowest = const(1 << width - 1, width)
        both = bitwise("and", compare("eq", a, lowest), compare("eq", b, lowest))
        return ite(both, invert(lowest), high)

    return of


def _halved(f: Callable[[Term, Term], Term], extend: Extension, rounds: bool = False) -> Callable[[Term, Term], Term]:
    def of(a: Term, b: Term) -> Term:
        total = f(extend(a, a.width + 1), extend(b, a.width + 1))
        return extract(add(total, const(1, a.width + 1)) if rounds else total, a.width, 1)

    return of


def _clamped(a: Term, low: int, high: int, less: str, width: int) -> Term:
    lowest, highest = const(low, a.width), const(high, a.width)
    above = ite(compare(less, highest, a), highest, a)
    return extract(ite(compare(less, a, lowest), lowest, above) if less == "slt" else above, width - 1, 0)


def _saturating(f: Callable[[Term, Term], Term], is_signed: bool) -> Callable[[Term, Term], Term]:
    """Sums and differences that saturate."""

    def of(a: Term, b: Term) -> Term:
        width = a.width
        extend = sext if is_signed else zext
        total = f(extend(a, width + 2), extend(b, width + 2))
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)
        return _clamped(total, low, high, "slt", width)

    return of


def _saturated_to_half(from_signed: bool, to_signed: bool) -> Callable[[Term], Term]:
    def of(a: Term) -> Term:
        half = a.width // 2
        low, high = (-(1 << half - 1), (1 << half - 1) - 1) if to_signed else (0, (1 << half) - 1)
        return _clamped(a, low, high, "slt" if from_signed else "ult", a.width)

    return of


def _absolute_difference(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), sub(b, a), sub(a, b))


def _least(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), a, b)


def _greatest(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), b, a)


def _mask(f: Callable[[Term, Term], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(f(a, b), const(-1, a.width), const(0, a.width))


def _selected(mask: Term, a: Term, b: Term) -> Term:
    """Returns a where the mask has ones, otherwise b."""
    return bitwise("or", bitwise("and", mask, a), bitwise("and", invert(mask), b))


def _count_bits(a: Term) -> Term:
    total = const(0, a.width)
    for n in range(a.width):
        total = add(total, zext(extract(a, n, n), a.width))
    return total


def _reversed_bits(a: Term) -> Term:
    return concat(*(extract(a, n, n) for n in range(a.width)))


def _absolute(a: Term) -> Term:
    return ite(extract(a, a.width - 1, a.width - 1), sub(const(0, a.width), a), a)


def _permuted(order: Callable[[int], Sequence[int]]) -> Handler:
    """Lanes of both sources, one after the other, in an order that depends on their number."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        both = m.lanes(_vector(i, 1)) + m.lanes(_vector(i, 2))
        m.write_vector(target, _flatten(both[n] for n in order(target.count)))

    return run


def _zipped(half: int) -> Callable[[int], Sequence[int]]:
    return lambda count: [n // 2 + half * count // 2 + n % 2 * count for n in range(count)]


def _transposed(part: int) -> Callable[[int], Sequence[int]]:
    return lambda count: [n // 2 * 2 + part + n % 2 * count for n in range(count)]


def _unzipped(part: int) -> Callable[[int], Sequence[int]]:
    return lambda count: [2 * n + part for n in range(count)]


def _reversed_in(bits: int) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        lanes = m.lanes(_vector(i, 1))
        step = bits // lanes[0].width
        result = [lanes[at + n] for at in range(0, len(lanes), step) for n in reversed(range(step))]
        m.write_vector(_vector(i), _flatten(result))

    return run


def _bytes_of_two(m: Arm64, i: Instruction) -> None:
    """ext: the bytes of both sources from a number on."""
    both, by = m.read_vector(_vector(i, 1)) + m.read_vector(_vector(i, 2)), _number(i, 3)
    m.write_vector(_vector(i), both[by:by + len(both) // 2])


def _table(keeps: bool) -> Handler:
    """tbl and tbx: bytes of a table, by known numbers; for those beyond it, zero or the byte that was there."""

    def run(m: Arm64, i: Instruction) -> None:
        group, target = i.operands[1], _vector(i)
        if not isinstance(group, Group):
            raise NotFollowed("a table is expected")
        table = [byte for register in group.registers for byte in m.read_vector(register)]
        old = m.read_vector(target)
        result = []
        for n, index in enumerate(m.lanes(_vector(i, 2))):
            at = m.known(index, "an index of a table")
            result.append(table[at] if at < len(table) else old[n] if keeps else ZERO_BYTE)
        m.write_vector(target, result)

    return run


def _pairwise(f: Callable[[Term, Term], Term]) -> Handler:
    """f of neighbours of the first source, then of the second one; of a single source, of its two lanes."""

    def run(m: Arm64, i: Instruction) -> None:
        lanes = [lane for n in range(1, len(i.operands)) for lane in m.lanes(_vector(i, n))]
        m.write_vector(_vector(i), _flatten(map(f, lanes[::2], lanes[1::2])))

    return run


def _pairwise_long(extend: Extension, accumulates: bool) -> Handler:
    """saddlp and uadalp: sums of neighbours, of twice the width."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        lanes = [extend(lane, target.width) for lane in m.lanes(_vector(i, 1))]
        sums = list(map(add, lanes[::2], lanes[1::2]))
        if accumulates:
            sums = list(map(add, m.lanes(target), sums))
        m.write_vector(target, _flatten(sums))

    return run


def _across(f: Callable[[Term, Term], Term], extend: Extension = lambda a, width: a) -> Handler:
    """addv and those like it: f of all lanes, as a scalar."""

    def run(m: Arm64, i: Instruction) -> None:
        target = _vector(i)
        result, *others = (extend(lane, target.width) for lane in m.lanes(_vector(i, 1)))
        for lane in others:
            result = f(result, lane)
        m.write_vector(target, bytes_of(result))

    return run


def _move(extend: Extension = zext) -> Handler:
    """Moves a register, a lane or a scalar, to a register, a lane or a scalar, or a lane to a general register."""

    def run(m: Arm64, i: Instruction) -> None:
        target, source = i.operands[:2]
        if isinstance(source, Vector):
            data = m.read_vector(source)
        elif isinstance(source, General):
            data = bytes_of(m.read_general(source))
        else:
            raise NotFollowed("a number of another kind")
        if isinstance(target, General):
            m.write_general(target, extend(value_of(data), target.width))
        else:
            size = _vector(i).width * _vector(i).count // 8
            low = bytes_of(extract(value_of(data), 8 * size - 1, 0)) if size < len(data) else data
            m.write_vector(_vector(i), low)

    return run


def _duplicate(m: Arm64, i: Instruction) -> None:
    target, source = _vector(i), i.operands[1]
    one = m.lanes(source)[0] if isinstance(source, Vector) else m.read_general(source)  # type: ignore[arg-type]
    lane = extract(one, target.width - 1, 0)
    if m.alike and lane.value is not None:
        m.write_vector(target, m.lanes_alike(lane, target.width * target.count // 8))
    else:
        m.write_vector(target, bytes_of(lane) * target.count)


def _load(m: Arm64, i: Instruction) -> None:
    target = _vector(i)
    m.write_vector(target, m.memory.load(m.take_address(i, 1), target.width // 8))


def _store(m: Arm64, i: Instruction) -> None:
    data = m.read_vector(_vector(i))
    m.memory.store(m.take_address(i, 1), data)


def _load_pair(m: Arm64, i: Instruction) -> None:
    size, at = _vector(i).width // 8, m.take_address(i, 2)
    for n in (0, 1):
        m.write_vector(_vector(i, n), m.memory.load(at + n * size, size))


def _store_pair(m: Arm64, i: Instruction) -> None:
    data = m.read_vector(_vector(i)) + m.read_vector(_vector(i, 1))
    m.memory.store(m.take_address(i, 2), data)


def _registers(i: Instruction) -> tuple[Vector, ...]:
    group = i.operands[0]
    if not isinstance(group, Group):
        raise NotFollowed("registers are expected")
    return group.registers


def _load_group(step: int) -> Handler:
    """ld1 to ld4: words in turn for each of `step` registers, or, with a step of 1, one register after the other."""

    def run(m: Arm64, i: Instruction) -> None:
        registers, at = _registers(i), m.take_address(i, 1)
        size, count = registers[0].width // 8, registers[0].count
        words = lanes_of(m.memory.load(at, size * count * len(registers)), 8 * size)
        for n, register in enumerate(registers):
            lanes = words[n::step] if step > 1 else words[n * count:(n + 1) * count]
            m.write_vector(register, _flatten(lanes))

    return run


def _store_group(step: int) -> Handler:
    def run(m: Arm64, i: Instruction) -> None:
        registers = _registers(i)
        rows = [m.lanes(register) for register in registers]
        words = [lane for lanes in zip(*rows) for lane in lanes] if step > 1 else [lane for row in rows for lane in row]
        m.memory.store(m.take_address(i, 1), _flatten(words))

    return run


def _load_repeated(m: Arm64, i: Instruction) -> None:
    registers, at = _registers(i), m.take_address(i, 1)
    size = registers[0].width // 8
    for n, register in enumerate(registers):
        m.write_vector(register, m.memory.load(at + n * size, size) * register.count)


def _and(a: Term, b: Term) -> Term:
    return bitwise("and", a, b)


def _or(a: Term, b: Term) -> Term:
    return bitwise("or", a, b)


def _and_not(a: Term, b: Term) -> Term:
    return _and(a, invert(b))


def _multiply_add(s: Term, a: Term, b: Term) -> Term:
    return add(s, mul(a, b))


def _multiply_subtract(s: Term, a: Term, b: Term) -> Term:
    return sub(s, mul(a, b))


def _with_upper(name: str, make: Callable[[bool], Handler]) -> dict[str, Handler]:
    """Returns an instruction and the one on upper halves, whose name ends with 2."""
    return {name: make(False), f"{name}2": make(True)}


NEON: dict[str, Handler] = {
    "add": _lanewise(add),
    "sub": _lanewise(sub),
    "mul": _lanewise(mul),
    "mla": _lanewise(_multiply_add, accumulates=True),
    "mls": _lanewise(_multiply_subtract, accumulates=True),
    "neg": _lanewise(lambda a: sub(const(0, a.width), a)),
    "abs": _lanewise(_absolute),
    "cnt": _lanewise(_count_bits),
    "rbit": _lanewise(_reversed_bits),
    "sqdmulh": _lanewise(_doubled_high(rounds=False)),
    "sqrdmulh": _lanewise(_doubled_high(rounds=True)),
    "and": _bitwise(_and),
    "orr": _of_immediate(_or),
    "bic": _of_immediate(_and_not),
    "eor": _bitwise(lambda a, b: bitwise("xor", a, b)),
    "orn": _bitwise(lambda a, b: _or(a, invert(b))),
    "mvn": _bitwise(invert),
    "bsl": _bitwise(_selected, accumulates=True),
    "bit": _bitwise(lambda old, a, mask: _selected(mask, a, old), accumulates=True),
    "bif": _bitwise(lambda old, a, mask: _selected(mask, old, a), accumulates=True),
    "movi": _constant(lambda a: a),
    "mvni": _constant(invert),
    "cmeq": _lanewise(_mask(lambda a, b: compare("eq", a, b))),
    "cmtst": _lanewise(_mask(lambda a, b: negate(compare("eq", _and(a, b), const(0, a.width))))),
    "cmgt": _lanewise(_mask(lambda a, b: compare("slt", b, a))),
    "cmge": _lanewise(_mask(lambda a, b: negate(compare("slt", a, b)))),
    "cmlt": _lanewise(_mask(lambda a, b: compare("slt", a, b))),
    "cmle": _lanewise(_mask(lambda a, b: negate(compare("slt", b, a)))),
    "cmhi": _lanewise(_mask(lambda a, b: compare("ult", b, a))),
    "cmhs": _lanewise(_mask(lambda a, b: negate(compare("ult", a, b)))),
    "shl": _shift(shift_left),
    "sli": _shift_inserting,
    "sri": _shift_inserting,
    "sshl": _shift_each(shift_right_signed),
    "ushl": _shift_each(shift_right),
    "zip1": _permuted(_zipped(0)),
    "zip2": _permuted(_zipped(1)),
    "trn1": _permuted(_transposed(0)),
    "trn2": _permuted(_transposed(1)),
    "uzp1": _permuted(_unzipped(0)),
    "uzp2": _permuted(_unzipped(1)),
    "rev16": _reversed_in(16),
    "rev32": _reversed_in(32),
    "rev64": _reversed_in(64),
    "ext": _bytes_of_two,
    "tbl": _table(keeps=False),
    "tbx": _table(keeps=True),
    "addp": _pairwise(add),
    "addv": _across(add),
    "saddlv": _across(add, sext),
    "uaddlv": _across(add, zext),
    "mov": _move(),
    "fmov": _move(),
    "umov": _move(),
    "smov": _move(sext),
    "dup": _duplicate,
    "ldr": _load,
    "ldur": _load,
    "str": _store,
    "stur": _store,
    "ldp": _load_pair,
    "stp": _store_pair,
    "ld1r": _load_repeated,
    "ld2r": _load_repeated,
}
for _step in (1, 2, 3, 4):
    NEON |= {f"ld{_step}": _load_group(_step), f"st{_step}": _store_group(_step)}
for _letter, _right in (("s", shift_right_signed), ("u", shift_right)):
    NEON |= {f"{_letter}shr": _shift(_right), f"{_letter}sra": _shift(_right, add),
             f"{_letter}rshr": _shift(_rounded(_right)), f"{_letter}rsra": _shift(_rounded(_right), add)}
for _letter, _ext, _less in (("s", sext, "slt"), ("u", zext, "ult")):
    NEON |= {
        f"{_letter}min": _lanewise(_least(_less)),
        f"{_letter}max": _lanewise(_greatest(_less)),
        f"{_letter}minp": _pairwise(_least(_less)),
        f"{_letter}maxp": _pairwise(_greatest(_less)),
        f"{_letter}minv": _across(_least(_less)),
        f"{_letter}maxv": _across(_greatest(_less)),
        f"{_letter}abd": _lanewise(_absolute_difference(_less)),
        f"{_letter}aba": _lanewise(lambda s, a, b, f=_absolute_difference(_less): add(s, f(a, b)), accumulates=True),
        f"{_letter}hadd": _lanewise(_halved(add, _ext)),
        f"{_letter}hsub": _lanewise(_halved(sub, _ext)),
        f"{_letter}rhadd": _lanewise(_halved(add, _ext, rounds=True)),
        f"{_letter}qadd": _lanewise(_saturating(add, _letter == "s")),
        f"{_letter}qsub": _lanewise(_saturating(sub, _letter == "s")),
        f"{_letter}addlp": _pairwise_long(_ext, accumulates=False),
        f"{_letter}adalp": _pairwise_long(_ext, accumulates=True),
        **_with_upper(f"{_letter}mull", lambda upper, e=_ext: _long(mul, e, upper)),
        **_with_upper(f"{_letter}mlal", lambda upper, e=_ext: _long(mul, e, upper, add)),
        **_with_upper(f"{_letter}mlsl", lambda upper, e=_ext: _long(mul, e, upper, sub)),
        **_with_upper(f"{_letter}addl", lambda upper, e=_ext: _long(add, e, upper)),
        **_with_upper(f"{_letter}subl", lambda upper, e=_ext: _long(sub, e, upper)),
        **_with_upper(f"{_letter}addw", lambda upper, e=_ext: _wide(add, e, upper)),
        **_with_upper(f"{_letter}subw", lambda upper, e=_ext: _wide(sub, e, upper)),
        **_with_upper(f"{_letter}shll", lambda upper, e=_ext: _extended(e, upper)),
        **_with_upper(f"{_letter}qxtn", lambda upper, is_signed=_letter == "s": _narrowed(
            _saturated_to_half(is_signed, is_signed), upper)),
    }
NEON |= {
    **_with_upper("shll", lambda upper: _extended(zext, upper)),
    **_with_upper("xtn", lambda upper: _narrowed(lambda a: a, upper)),
    **_with_upper("shrn", lambda upper: _narrowed(shift_right, upper)),
    **_with_upper("rshrn", lambda upper: _narrowed(_rounded(shift_right), upper)),
    **_with_upper("sqxtun", lambda upper: _narrowed(_saturated_to_half(True, False), upper)),
    **_with_upper("addhn", lambda upper: _narrowed(lambda a, b: shift_right(add(a, b), a.width // 2), upper)),
    **_with_upper("subhn", lambda upper: _narrowed(lambda a, b: shift_right(sub(a, b), a.width // 2), upper)),
}
