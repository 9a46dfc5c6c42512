# SPDX-License-Identifier: Apache-2.0
"""NTRU's inversions: division steps on bit planes. [BY19, 3, 5]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from proofs.algebra import solver
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.rewriting import Lane
from proofs.algebra.terms import Term, bitwise, const, extract, ite, negate, sext, shape, variable, zext
from proofs.claims import REGISTER, Claim, Proof, Run, Values
from proofs.machines.memory import Library, bytes_of

SMALL = 7  # for which all polynomials are inverted


@dataclass(frozen=True)
class Steps:
    """How the steps of an instruction set lay out the polynomials P and Q: segments of 2 `planes` `steps` registers.
    Word m of a column, the registers i of all segments, has coefficients (width m + bit) steps + i."""

    isa: str
    q: int
    is_single: bool  # the column's words are 64-bit words that follow each other, else those of 16 bits of one lane

    @property
    def planes(self) -> int:
        return self.q - 1

    @property
    def steps(self) -> int:
        return 8 if self.isa == "avx512" and self.q == 2 else 4

    @property
    def register(self) -> int:
        return REGISTER[self.isa]

    @property
    def width(self) -> int:
        return 64 if self.is_single else 16

    @property
    def per_segment(self) -> int:
        """Returns how many words of a column are in a segment."""
        return self.register // 8 if self.is_single else 1

    @property
    def symbol(self) -> str:
        layout = "10SingleItem" if self.is_single else "9ItemLanes"
        inside = f"_ZN7polykem7polyinv{len(self.isa)}{self.isa}"
        return f"{inside}8DivstepsINS1_3Gf{self.q}ENS1_{layout}ELm{self.steps}EE"

    @property
    def inverse(self) -> str:
        """Returns the symbol of the inversion."""
        of = "14inverse_single" if self.is_single else "13inverse_items"
        return f"_ZN7polykem7polyinv{len(self.isa)}{self.isa}{of}INS1_3Gf{self.q}E*"

    def offset(self, segment: int, poly: int, plane: int, i: int) -> int:
        """Returns the byte offset of a register."""
        return (((segment * 2 + poly) * self.planes + plane) * self.steps + i) * self.register


@dataclass(frozen=True)
class Element:
    """A coefficient mod 2 or 3: whether it is 1, and whether it is 2. One bit each."""

    one: Term
    two: Term


ZERO = Element(const(0, 1), const(0, 1))


def both(a: Term, b: Term) -> Term:
    return bitwise("and", a, b)


def either(a: Term, b: Term, c: Term) -> Term:
    return bitwise("or", bitwise("or", a, b), c)


def negative(a: Element) -> Element:
    return Element(a.two, a.one)


def total(a: Element, b: Element, q: int) -> Element:
    if q == 2:
        return Element(bitwise("xor", a.one, b.one), a.two)
    no_a, no_b = (negate(bitwise("or", x.one, x.two)) for x in (a, b))
    return Element(either(both(a.one, no_b), both(no_a, b.one), both(a.two, b.two)),
                   either(both(a.two, no_b), both(no_a, b.two), both(a.one, b.one)))


def chosen(bit: Term, a: Element, b: Element) -> Element:
    return Element(ite(bit, a.one, b.one), ite(bit, a.two, b.two))


@dataclass(frozen=True)
class Masks:
    """What a step does, one bit each: whether Q(0) is not zero, whether it is 2, and whether P and Q change places."""

    nonzero: Term
    negative: Term
    swap: Term


def step(p: Element, q: Element, m: Masks, modulus: int, sign: int) -> tuple[Element, Element]:
    """Returns coefficients of P and Q after a step without the division by x: Q becomes s Q - s Q(0) P or its negative,
    where P(0) = 1 and s Q(0) is 1 or 0. [BY19, 3]"""
    if modulus == 2:
        taken = chosen(m.nonzero, p, ZERO)
        return chosen(m.swap, q, p), total(q, taken, 2)
    q = chosen(m.negative, negative(q), q)
    taken = chosen(m.nonzero, p, ZERO)
    left = total(q, negative(taken), 3)
    return chosen(m.swap, q, p), left if sign > 0 else negative(left)


class Bits:
    """Bits of terms of words that are shifted, chosen and combined bit by bit."""

    def __init__(self, item: int) -> None:
        self._item = item  # whose lane of lanes alike is meant
        self._known: dict[tuple[Term, int], Term] = {}

    def of(self, term: Term, n: int) -> Term:
        """Returns bit n. Raises NotProved where it depends on another item, or is not found."""
        key = term, n
        if key not in self._known:
            self._known[key] = self._of(term, n)
        return self._known[key]

    def _of(self, term: Term, n: int) -> Term:
        args = term.args
        match term.op:
            case "const":
                return const((term.value or 0) >> n, 1)
            case "variable":
                return extract(term, n, n)
            case "and" | "or" | "xor":
                return bitwise(term.op, *(self.of(arg, n) for arg in args))
            case "extract":
                return self.of(args[0], n + term.extra[1])  # type: ignore[index]
            case "sext":
                return self.of(args[0], min(n, args[0].width - 1))
            case "ite":
                return choice(self.of(args[0], 0), *(self.of(arg, n) for arg in args[1:]))
            case "slt" if args[1].value == 0:
                return self.of(args[0], args[0].width - 1)
            case "mul" if (factor := args[1].value or 0).bit_count() == 1:
                shift = factor.bit_length() - 1
                return self.of(args[0], n - shift) if n >= shift else const(0, 1)
            case "add" if args[0] is args[1]:
                return self.of(args[0], n - 1) if n else const(0, 1)
            case "alike" if n // args[0].width == self._item:
                return self.of(args[0], n % args[0].width)
            case "concat":
                for part in reversed(args):
                    if n < part.width:
                        return self.of(part, n)
                    n -= part.width
        raise NotProved(f"bit {n} of {term} is not found")


def choice(bit: Term, a: Term, b: Term) -> Term:
    return bit if (a.value, b.value) == (1, 0) else ite(bit, a, b)


Coefficients = list[Element]


def applied(kind: Steps) -> Proof:
    """apply: some steps on the segments from one on to another one."""
    first, last = 1, 2

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        run.machine.alike = not kind.is_single
        state, at_masks = run.space(), run.space()
        masks = [put_masks(run, kind, at_masks, t) for t in range(kind.steps)]
        words = put_state(run, kind, state, first, last)
        before = [coefficients(kind, words, poly, Bits(0)) for poly in range(2)]
        run.machine.call(function, at_masks, state, first, last)
        found = [[coefficients(kind, get_state(run, kind, state, first, last, item), poly, bits) for poly in range(2)]
                 for item in range(1 if kind.is_single else kind.register // 2) for bits in [Bits(item)]]
        if any(other != found[0] for other in found):
            raise NotProved("items are not alike")
        if not any(holds(kind, masks, before, found[0], sign) for sign in (1, -1)):
            raise NotProved("P and Q are not those after the steps")

    return prove


def put_masks(run: Run, kind: Steps, at: int, t: int) -> Masks:
    """Makes the masks of a step, which are any bits, each for all words of a register or of a lane."""
    bits = []
    names = ["nonzero", "negative", "swap"] if kind.q == 3 else ["nonzero", "swap"]
    for n, name in enumerate(names):
        label = f"{name} {t}"
        bits.append(variable(label, 1) if run.drawn is None else const(run.drawn.getrandbits(1), 1))
        word = sext(bits[-1], 16)
        data = bytes_of(word) * (kind.register // 2) if kind.is_single else run.machine.lanes_alike(word, kind.register)
        run.machine.memory.store(at + (t * len(names) + n) * kind.register, data)
    return Masks(bits[0], bits[1] if kind.q == 3 else const(0, 1), bits[-1])


Planes = dict[tuple[int, int, int], list[Term]]  # the words of a column, by polynomial, plane and i


def put_state(run: Run, kind: Steps, state: int, first: int, last: int) -> Planes:
    """Makes any words of P and Q in the segments `first` to `last`."""
    result: Planes = {}
    for poly in range(2):
        for plane in range(kind.planes):
            for i in range(kind.steps):
                words = result[poly, plane, i] = []
                for segment in range(first, last + 1):
                    at = state + kind.offset(segment, poly, plane, i)
                    for m in range(kind.per_segment):
                        label = f"{'PQ'[poly]}{plane}[{i}][{segment}][{m}]"
                        word = variable(label, kind.width) if run.drawn is None else const(
                            run.drawn.getrandbits(kind.width), kind.width)
                        words.append(word)
                        run.machine.memory.store(at + 8 * m, bytes_of(word) if kind.is_single else
                                                 run.machine.lanes_alike(word, kind.register))
    return result


def get_state(run: Run, kind: Steps, state: int, first: int, last: int, item: int) -> Planes:
    """Returns the words of P and Q, of an item if there are several."""
    words = range(kind.per_segment) if kind.is_single else [item]
    return {(poly, plane, i): [run.result(state + kind.offset(segment, poly, plane, i), word, kind.width)
                               for segment in range(first, last + 1) for word in words]
            for poly in range(2) for plane in range(kind.planes) for i in range(kind.steps)}


def coefficients(kind: Steps, planes: Planes, poly: int, bits: Bits) -> Coefficients:
    """Returns the coefficients of a polynomial, the lowest first."""
    result = []
    for m in range(len(planes[poly, 0, 0])):
        for n in range(kind.width):
            for i in range(kind.steps):
                plane = [bits.of(planes[poly, plane, i][m], n) for plane in range(kind.planes)]
                result.append(Element(plane[0], const(0, 1)) if kind.q == 2 else
                              Element(both(plane[0], negate(plane[1])), both(*plane)))
    return result


def holds(kind: Steps, masks: Sequence[Masks], before: Sequence[Coefficients], found: Sequence[Coefficients],
          sign: int) -> bool:
    """Returns whether P and Q are those after the steps, where P becomes x P after each."""
    p, q = before
    for m in masks:
        pairs = [step(a, b, m, kind.q, sign) for a, b in zip(p, q)]
        p, q = [ZERO, *(pair[0] for pair in pairs[:-1])], [pair[1] for pair in pairs]
    of_masks = [bit for m in masks for bit in (m.nonzero, m.negative, m.swap) if bit.value is None]
    known: set[tuple[object, ...]] = set()
    for result, expected in zip(found, (p, q)):
        for at, pair in enumerate(zip(result, expected)):
            near = [bit for poly in before for element in poly[max(at - kind.steps, 0):at + 1]
                    for bit in sources(element)]
            if not same(*pair, [*of_masks, *near], known):
                return False
    return True


def sources(element: Element) -> list[Term]:
    """Returns the bits of which one of the inputs is made."""
    return [element.one] if element.one.op == "extract" else [
        arg for arg in element.two.args if arg.op == "extract"]


def same(a: Element, b: Element, of: Sequence[Term], known: set[tuple[object, ...]]) -> bool:
    """Returns whether elements are equal for all values of some bits, of which alone they are made."""
    for x, y in ((a.one, b.one), (a.two, b.two)):
        key = shape(x, of), shape(y, of)
        if None in key:
            return False
        if key not in known and x is not y and not solver.equal(x, y):
            return False
        known.add(key)
    return True


def polynomials(n: int, q: int) -> Values:
    """Returns all polynomials with n - 1 coefficients mod q, one in each row."""
    number, rows = np.arange(q ** (n - 1)), []
    for _ in range(n - 1):
        rows.append(number % q)
        number = number // q
    return np.array(rows, dtype=np.int64).T


def product(a: Values, b: Values, n: int, q: int) -> Values:
    """Returns rows of coefficients of a b mod (q, Phi_n), where Phi_n = 1 + x + .. + x^(n - 1)."""
    cyclic = np.zeros((len(a), n), dtype=np.int64)
    for i in range(n - 1):
        for j in range(n - 1):
            cyclic[:, (i + j) % n] += a[:, i] * b[:, j]
    return (cyclic[:, :-1] - cyclic[:, -1:]) % q


def inverses(n: int, q: int) -> tuple[Values, Values]:
    """Returns all polynomials that have an inverse mod (q, Phi_n), and the inverses."""
    every, found, of_them = polynomials(n, q), [], []
    one = np.zeros(n - 1, dtype=np.int64)
    one[0] = 1
    for a in every:
        is_inverse = np.all(product(np.broadcast_to(a, every.shape), every, n, q) == one, axis=1)
        if is_inverse.any():
            found.append(a)
            of_them.append(every[is_inverse.argmax()])
    return np.array(found), np.array(of_them)


def inverted(n: int, q: int, lanes: int) -> Proof:
    """The whole inversion for a small n. `lanes` is 0 for one item."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        run.machine.alike = lanes > 0
        words = run.fields("a", n - 1, q - 1, 0, q - 1).words
        a, out, size = run.space(), run.space(), 2 * max(lanes, 1)
        for i, word in enumerate([*words, const(0, q - 1)]):
            whole = zext(word, 16)
            run.machine.memory.store(a + i * size, run.machine.lanes_alike(whole, size) if lanes else bytes_of(whole))
        run.machine.call(function, out, a, n, run.workspace(1 << 16))
        polys, expected = inverses(n, q)
        known = {word: polys[:, i].astype(np.uint64) for i, word in enumerate(words)}
        for item in range(max(lanes, 1)):
            lane = Lane(item)
            for i in range(n):
                term = run.result(out + i * size, item)
                values = evaluate(lane.of(term) if lanes else term, known)
                if np.any(values != (expected[:, i] if i < n - 1 else 0)):
                    raise OtherResult(f"coefficient {i} of an inverse is wrong")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of inversions."""
    inputs = f"any polynomial of degree below {SMALL - 1} that has one"
    yield Claim(f"ntru ref inverse mod 3 {SMALL}", "_ZN7polykem17poly_inverse_mod3EPtPKtm", inputs,
                f"its inverse mod (3, Phi_{SMALL})", inverted(SMALL, 3, 0))
    for isa in REGISTER:
        for is_single in (False, True):
            for q in (2, 3):
                kind = Steps(isa, q, is_single)
                block = "" if is_single else " block"
                if (isa, is_single, q) != ("avx512", True, 3):  # whose 4,096 coefficients take too long
                    yield Claim(f"ntru {isa}{block} division steps mod {q}", kind.symbol + "5applyEPKtPtmm",
                                "any P and Q, any masks", f"P and Q after {kind.steps} steps, mod {q}", applied(kind),
                                is_long=is_single and (q, isa) != (2, "avx2"))
                if (isa, is_single, q) != ("avx512", False, 3):  # whose registers are not taken apart
                    yield Claim(f"ntru {isa}{block} inverse mod {q} {SMALL}", kind.inverse, inputs,
                                f"its inverse mod ({q}, Phi_{SMALL})",
                                inverted(SMALL, q, 0 if is_single else kind.register // 2))
