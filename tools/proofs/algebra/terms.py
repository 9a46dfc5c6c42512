# SPDX-License-Identifier: Apache-2.0
"""Terms over bit vectors: what a run of machine code computes from inputs that are not known.

Terms are immutable and shared: equal terms are the same object. Constants are folded when a term is made, and bits that
are taken apart and put together again become the term that they were.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator


class Term:
    """`width` bits: the result of `op` on `args`. Constants have `value`, 0 <= value < 2^width, and others None. No
    value of the bits, as an unsigned integer, is above `most`."""

    __slots__ = ("op", "args", "width", "value", "number", "extra", "most")

    def __init__(self, op: str, args: tuple[Term, ...], width: int, value: int | None, extra: object) -> None:
        self.op, self.args, self.width, self.value, self.extra = op, args, width, value, extra
        self.number = next(_numbers)
        self.most = min(_most(self), (1 << width) - 1)

    def __repr__(self) -> str:
        return show(self)


_known: dict[tuple, Term] = {}
_numbers = itertools.count()  # no two terms have the same, not even of different runs
_OF_EQUAL_WIDTHS = {"add", "sub", "mul", "and", "or", "xor", "eq", "ult", "slt", "ite"}  # the last two operands


def _make(op: str, args: tuple[Term, ...], width: int, value: int | None = None, extra: object = None) -> Term:
    key = (op, *(arg.number for arg in args), width, value, extra)
    term = _known.get(key)
    if term is None:
        if op in _OF_EQUAL_WIDTHS and args[-2].width != args[-1].width:
            raise ValueError(f"{op} of {args[-2].width} and {args[-1].width} bits")
        term = _known[key] = Term(op, args, width, value, extra)
    return term


_splits_sums = True


def forget() -> None:
    """Drops all terms; those of another run do not mix with new ones."""
    global _splits_sums
    _splits_sums = True
    _known.clear()


def keep_sums_whole() -> None:
    """Until forget(), additions are not split into fields without a carry between them, which are no forms."""
    global _splits_sums
    _splits_sums = False


def _most(term: Term) -> int:
    """Returns a bound of a term's value that follows from those of its operands, which may be 2^width or more."""
    most = [arg.most for arg in term.args]
    match term.op:
        case "const":
            return term.value  # type: ignore[return-value]
        case "add":
            return most[0] + most[1]
        case "mul":
            return most[0] * most[1]
        case "and":
            return min(most)
        case "or" | "xor":
            return (1 << max(most).bit_length()) - 1
        case "ite":
            return max(most[1:])
        case "extract":
            return most[0] >> term.extra[1]  # type: ignore[index]
        case "concat":
            total = 0
            for arg in term.args:
                total = total << arg.width | arg.most
            return total
    return (1 << term.width) - 1


def const(value: int, width: int) -> Term:
    return _make("const", (), width, value & ((1 << width) - 1))


def variable(name: str, width: int) -> Term:
    return _make("variable", (), width, None, name)


def signed(value: int, width: int) -> int:
    """Returns the signed integer that `width` bits stand for."""
    return value - (1 << width) if value >> (width - 1) & 1 else value


_BITWISE: dict[str, Callable[[int, int], int]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def add(a: Term, b: Term) -> Term:
    if a.value is not None:
        a, b = b, a
    if b.value is not None:
        if a.value is not None:
            return const(a.value + b.value, a.width)
        if b.value == 0:
            return a
        if a.op == "add" and a.args[1].value is not None:
            return add(a.args[0], const(a.args[1].value + b.value, a.width))
    multiple = _sum_of_multiples(a, b, 1)
    if multiple is not None:
        return multiple
    fields = _fields_of_sum(a, b) if _splits_sums else []
    if len(fields) > 1:
        return concat(*(add(*parts) for parts in reversed(fields)))
    return _make("add", (a, b), a.width)


def _fields_of_sum(a: Term, b: Term) -> list[tuple[Term, Term]]:
    """Returns the operands of an addition in pairs of fields, the lowest first, that have no carry into the next."""
    top = (a.most + b.most).bit_length()
    if a.op != "concat" and b.op != "concat" and top >= a.width:
        return [(a, b)]
    ends = {min(top, a.width), a.width}
    for term in (a, b):
        if term.op == "concat":
            ends |= set(itertools.accumulate(part.width for part in reversed(term.args)))
    fields, begin = [], 0
    for end in sorted(ends):
        parts = tuple(extract(term, end - 1, begin) for term in (a, b)) if end > begin else ()
        if parts and (end == a.width or parts[0].most + parts[1].most < 1 << end - begin):
            fields.append(parts)
            begin = end
    return fields


def sub(a: Term, b: Term) -> Term:
    if b.value is not None:
        return add(a, const(-b.value, a.width))
    if a is b:
        return const(0, a.width)
    if a.value is not None and b.op == "sub" and b.args[0].value is not None:
        return add(b.args[1], const(a.value - b.args[0].value, a.width))
    multiple = _sum_of_multiples(a, b, -1)
    if multiple is not None:
        return multiple
    fields = _fields_of_difference(a, b) if _splits_sums and a.op == b.op == "concat" else []
    if len(fields) > 1:
        return concat(*(sub(*parts) for parts in reversed(fields)))
    return _make("sub", (a, b), a.width)


def _fields_of_difference(a: Term, b: Term) -> list[tuple[Term, Term]]:
    """Returns the operands of a subtraction in pairs of fields, the lowest first, that have no borrow from the next,
    since constant bits of the first operand are above all that is subtracted."""
    ends = {end for term in (a, b) for end in itertools.accumulate(part.width for part in reversed(term.args))}
    fields, begin = [], 0
    for end in sorted(ends):
        parts = tuple(extract(term, end - 1, begin) for term in (a, b))
        if end == a.width or 0 < _least(parts[0]) >= parts[1].most:
            fields.append(parts)
            begin = end
    return fields


def _least(term: Term) -> int:
    """Returns a bound that a term's value is not below."""
    if term.op != "concat":
        return term.value or 0
    total = 0
    for part in term.args:
        total = (total << part.width) + (part.value or 0)
    return total


def _sum_of_multiples(a: Term, b: Term, sign: int) -> Term | None:
    """Returns a + sign b as one product where both are multiples of the same term, of which shifts are often made."""
    if not any(term.op in ("mul", "concat") for term in (a, b)):
        return None
    (of_a, first), (of_b, second) = _multiple(a), _multiple(b)
    return mul(of_a, const(first + sign * second, a.width)) if of_a is of_b else None


def _multiple(a: Term) -> tuple[Term, int]:
    """Returns (term, factor) whose product is the given term."""
    if a.op == "mul" and a.args[1].value is not None:
        return a.args[0], a.args[1].value
    if a.op != "concat" or len(a.args) != 2 or a.args[1].value != 0:
        return a, 1
    part, shift = a.args[0], a.args[1].width
    if part.op == "extract" and part.extra == (part.width - 1, 0) and part.args[0].width == a.width:
        term, factor = _multiple(part.args[0])
        return term, factor << shift
    return (sext(part.args[0], a.width), 1 << shift) if part.op == "sext" else (a, 1)


def mul(a: Term, b: Term) -> Term:
    if a.value is not None:
        a, b = b, a
    if b.value is not None:
        if a.value is not None:
            return const(a.value * b.value, a.width)
        if b.value == 0:
            return b
        if b.value == 1:
            return a
        if b.value & b.value - 1 == 0 and a.most * b.value < 1 << a.width:
            return shift_left(a, b.value.bit_length() - 1)
    elif a.number > b.number:
        a, b = b, a
    return _make("mul", (a, b), a.width)


def bitwise(op: str, a: Term, b: Term) -> Term:
    """Returns a `op` b, "and", "or" or "xor"."""
    if a.value is not None:
        a, b = b, a
    ones = (1 << a.width) - 1
    if b.value is not None:
        if a.value is not None:
            return const(_BITWISE[op](a.value, b.value), a.width)
        if b.value == 0:
            return b if op == "and" else a
        if b.value == ones and op != "xor":
            return a if op == "and" else b
        if op == "and":
            return concat(*(extract(a, high, low) if one else const(0, high - low + 1)
                            for one, high, low in _runs(b.value, a.width)))
    elif a is b:
        return const(0, a.width) if op == "xor" else a
    elif op == "or":
        joined = _join(a, b)
        if joined is not None:
            return joined
    for split, other in ((a, b), (b, a)):
        if split.op == "concat":
            at, parts = 0, []
            for part in reversed(split.args):
                parts.append(bitwise(op, part, extract(other, at + part.width - 1, at)))
                at += part.width
            return concat(*reversed(parts))
    if b.value is None and a.number > b.number:
        a, b = b, a
    return _make(op, (a, b), a.width)


def _runs(value: int, width: int) -> Iterator[tuple[bool, int, int]]:
    """Yields (whether they are ones, highest bit, lowest bit) for the runs of equal bits, the highest first."""
    high = width - 1
    while high >= 0:
        one = value >> high & 1
        others = (value if one == 0 else ~value) & (1 << high) - 1
        low = others.bit_length()
        yield one == 1, high, low
        high = low - 1


def _low_zeros(a: Term) -> int:
    """Returns how many of the lowest bits are known to be zero."""
    if a.value == 0:
        return a.width
    if a.value is not None:
        return (a.value & -a.value).bit_length() - 1
    if a.op == "concat" and a.args[-1].value == 0:
        return a.args[-1].width
    return 0


def _high_zeros(a: Term) -> int:
    return a.width - a.most.bit_length()


def _join(a: Term, b: Term) -> Term | None:
    """Returns a | b where one has its bits above the other's."""
    for high, low in ((a, b), (b, a)):
        zeros = _low_zeros(high)
        if zeros and zeros < high.width and _high_zeros(low) >= low.width - zeros:
            return concat(extract(high, high.width - 1, zeros), extract(low, zeros - 1, 0))
    return None


def shift_left(a: Term, by: int) -> Term:
    if by >= a.width:
        return const(0, a.width)
    if by == 0:
        return a
    if a.value is not None:
        return const(a.value << by, a.width)
    return concat(extract(a, a.width - 1 - by, 0), const(0, by))


def shift_right(a: Term, by: int) -> Term:
    if by >= a.width:
        return const(0, a.width)
    return zext(extract(a, a.width - 1, by), a.width)


def shift_right_signed(a: Term, by: int) -> Term:
    return sext(extract(a, a.width - 1, min(by, a.width - 1)), a.width)


def extract(a: Term, high: int, low: int) -> Term:
    """Returns bits `low` to `high`."""
    width = high - low + 1
    if width == a.width:
        return a
    if a.value is not None:
        return const(a.value >> low, width)
    used = a.most.bit_length()
    if used <= high:
        return const(0, width) if used <= low else zext(extract(a, used - 1, low), width)
    if a.op == "extract":
        base = a.extra[1]  # type: ignore[index]
        return extract(a.args[0], base + high, base + low)
    if a.op == "concat":
        return _extract_of_concat(a, high, low)
    if a.op == "mul" and (by := _shift_of_fields(a)) and by <= low:
        return extract(a.args[0], high - by, low - by)
    if a.op == "sext":
        inner = a.args[0]
        if high < inner.width:
            return extract(inner, high, low)
        if low == 0:
            return sext(inner, width)
        if low < inner.width:
            return sext(extract(inner, inner.width - 1, low), width)
        return sext(extract(inner, inner.width - 1, inner.width - 1), width)
    if a.op == "ite":
        return ite(a.args[0], extract(a.args[1], high, low), extract(a.args[2], high, low))
    return _make("extract", (a,), width, None, (high, low))


def _shift_of_fields(a: Term) -> int:
    """Returns s if a product is that of several fields side by side and 2^s, otherwise 0."""
    fields, factor = a.args[0], a.args[1].value or 0
    if fields.op == "concat" and len(fields.args) > 2 and factor & factor - 1 == 0:
        return max(factor.bit_length() - 1, 0)
    return 0


def _extract_of_concat(a: Term, high: int, low: int) -> Term:
    at, parts = 0, []
    for part in reversed(a.args):
        first, last = max(low - at, 0), min(high - at, part.width - 1)
        if first <= last:
            parts.append(extract(part, last, first))
        at += part.width
    return concat(*reversed(parts))


def concat(*parts: Term) -> Term:
    """Returns the parts side by side; the first has the highest bits."""
    flat: list[Term] = []
    for part in parts:
        for piece in part.args if part.op == "concat" else (part,):
            flat.append(piece)
            while len(flat) > 1 and (merged := _merge(flat[-2], flat[-1])) is not None:
                flat[-2:] = [merged]
    if len(flat) == 1:
        return flat[0]
    return _make("concat", tuple(flat), sum(piece.width for piece in flat))


def _merge(high: Term, low: Term) -> Term | None:
    if high.value is not None and low.value is not None:
        return const(high.value << low.width | low.value, high.width + low.width)
    high_of, high_bits = (high.args[0], high.extra) if high.op == "extract" else (high, (high.width - 1, 0))
    low_of, low_bits = (low.args[0], low.extra) if low.op == "extract" else (low, (low.width - 1, 0))
    if high_of is low_of and high_bits[1] == low_bits[0] + 1:  # type: ignore[index]
        return extract(high_of, high_bits[0], low_bits[1])  # type: ignore[index]
    # Both halves of a product, each computed by an instruction of its own.
    if high.op == "extract" and high_of.op == "mul" and high_bits[1] == low.width:  # type: ignore[index]
        if mul(*(extract(arg, low.width - 1, 0) for arg in high_of.args)) is low:
            return extract(high_of, high_bits[0], 0)  # type: ignore[index]
    if not _high_zeros(low):
        sign = extract(low, low.width - 1, low.width - 1)
        if high is sign or high.op == "sext" and high.args[0] is sign:
            return sext(low, high.width + low.width)
    return None


def zext(a: Term, width: int) -> Term:
    if width == a.width:
        return a
    return concat(const(0, width - a.width), a)


def sext(a: Term, width: int) -> Term:
    if width == a.width:
        return a
    if a.value is not None:
        return const(signed(a.value, a.width), width)
    if a.op == "sext":
        return sext(a.args[0], width)
    if _high_zeros(a):
        return zext(a, width)
    return _make("sext", (a,), width)


def alike(lane: Term, count: int) -> Term:
    """Returns `count` lanes side by side, each of which is the same function of the words of its own items: of the same
    variables, that is, but of another item in each lane."""
    if lane.value is not None:
        return const(sum(lane.value << n * lane.width for n in range(count)), count * lane.width)
    return _make("alike", (lane,), count * lane.width)


def compare(op: str, a: Term, b: Term) -> Term:
    """Returns one bit: a `op` b, "eq", "ult" or "slt"."""
    if a.value is not None and b.value is not None:
        x, y = (a.value, b.value) if op != "slt" else (signed(a.value, a.width), signed(b.value, b.width))
        return const(int(x == y if op == "eq" else x < y), 1)
    if a is b:
        return const(int(op == "eq"), 1)
    if op == "slt":
        negative = [None if term.value is None and not _high_zeros(term) else not _high_zeros(term) for term in (a, b)]
        if negative == [False, False]:
            op = "ult"
        elif None not in negative:
            return const(int(negative[0]), 1)  # type: ignore[arg-type]
    if op == "ult":
        if b.value is not None and a.most < b.value:
            return const(1, 1)
        if b.value == 0 or a.value is not None and a.value >= b.most:
            return const(0, 1)
    return _make(op, (a, b), 1)


def negate(bit: Term) -> Term:
    return bitwise("xor", bit, const(1, 1))


def ite(condition: Term, then: Term, otherwise: Term) -> Term:
    if condition.value is not None:
        return then if condition.value else otherwise
    if then is otherwise:
        return then
    return _make("ite", (condition, then, otherwise), then.width)


def show(term: Term, depth: int = 4) -> str:
    """Returns a term as text, `depth` levels of it."""
    if term.value is not None:
        return f"{term.value:#x}"
    if term.op == "variable":
        return str(term.extra)
    if depth == 0:
        return "..."
    extra = "" if term.extra is None else f"{term.extra}"
    return f"{term.op}{extra}({', '.join(show(arg, depth - 1) for arg in term.args)})"


def shape(term: Term, sources: Iterable[Term]) -> tuple[object, ...] | None:
    """Returns how a term is computed from sources, which is equal for terms that are the same function of theirs; None
    if it depends on other variables too, or on lanes of other items."""
    numbers = {source: n for n, source in enumerate(sources)}
    steps: list[object] = [source.width for source in numbers]
    stack = [term]
    while stack:
        top = stack[-1]
        waiting = [arg for arg in top.args if arg not in numbers] if top not in numbers else []
        if waiting:
            stack += waiting
            continue
        stack.pop()
        if top in numbers:
            continue
        if top.op in ("variable", "alike"):
            return None
        steps.append((top.op, tuple(numbers[arg] for arg in top.args), top.width, top.value, top.extra))
        numbers[top] = len(numbers)
    return numbers[term], *steps
