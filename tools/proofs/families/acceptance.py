# SPDX-License-Identifier: Apache-2.0
"""Acceptance of candidates of which bytes are made: the words that are accepted, in order, and how many. Candidates are
public, and code may branch on which of them are accepted: then it is run for each set of them, on all candidates that
are accepted or rejected so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from proofs.algebra import solver
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.rewriting import Only, rebuilt, rewritten
from proofs.algebra.terms import Term, add, bitwise, compare, concat, const, extract, ite, negate, sub, zext
from proofs.claims import Claim, Proof, Run, Values
from proofs.machines.instruction_sets import MACHINES
from proofs.machines.machine import Machine
from proofs.machines.memory import Library
from proofs.machines.x86.masks import compressed

MLKEM_Q, MLDSA_Q = 3329, 8380417
LIMITS = {2: 15, 4: 9}  # of half bytes, by eta


class Deciding(Machine):
    """What a machine has that follows branches and addresses which depend on decisions alone."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.decisions = Decisions({}, {})

    def known(self, term: Term, what: str) -> int:
        return super().known(term if term.value is not None else self.decisions.under(term), what)


class Decisions:
    """Bits that are decided, and words of which only some values are possible."""

    def __init__(self, bits: dict[Term, int], possible: dict[Term, Values]) -> None:
        self._possible, self._only = possible, Only(possible)
        self._done: dict[Term, Term] = {bit: const(value, 1) for bit, value in bits.items()}

    def under(self, root: Term) -> Term:
        """Returns a term that is equal where the bits have these values, and the words possible ones."""
        return rewritten(root, self._done, lambda term, args: self._decided(term) or rebuilt(term, args))

    def _decided(self, term: Term) -> Term | None:
        word = self._only.of(term) if term.width == 1 and self._possible else None
        if word is None or term is word:
            return None
        values = np.unique(evaluate(term, {word: self._possible[word].astype(np.uint64)}))
        return const(int(values[0]), 1) if len(values) == 1 else None


def small(eta: int) -> Proof:
    """Rejection::take_small of four bytes: those half bytes, low ones first, that are below a limit. [FIPS204, Alg
    15]"""

    def prove(library: Library, function: str) -> None:
        values = np.arange(16, dtype=np.int64)
        accepted = values < LIMITS[eta]
        for chosen in range(1 << 8):
            run = deciding(library)
            out, half_bytes = run.space(), run.stream("b", 8, 4)
            possible = {word: values[accepted == bool(chosen >> n & 1)] for n, word in enumerate(half_bytes.words)}
            decide(run, {}, possible)
            run.machine.call(function, out, half_bytes.address, 4)
            taken = [word for n, word in enumerate(half_bytes.words) if chosen >> n & 1]
            for n, word in enumerate(taken):
                result = evaluate(run.result(out, n, 32), {word: values[accepted].astype(np.uint64)}).astype(np.int32)
                if np.any(result != coefficient(values[accepted], eta)):
                    raise OtherResult(f"word {n} is not that of its half byte")
            expect_end(run, out, 4 * len(taken))

    return prove


def coefficient(x: Values, eta: int) -> Values:
    """[FIPS204, Alg 15]"""
    return 2 - x % 5 if eta == 2 else 4 - x


def deciding(library: Library) -> Run:
    """Returns a run whose machine may be told decisions."""
    run = Run(library, 3)
    if run.drawn is None:
        run.machine = type("DecidingHere", (Deciding, MACHINES[library.instruction_set]), {})(library)
    return run


def decide(run: Run, bits: dict[Term, int], possible: dict[Term, Values]) -> None:
    if isinstance(run.machine, Deciding):
        run.machine.decisions = Decisions(bits, possible)


def expect_end(run: Run, out: int, size: int) -> None:
    """Raises NotProved if bytes beyond the first ones of an array are written."""
    if any(out + size <= at < out + 4 * 256 for at in run.machine.memory.written):
        raise OtherResult("more words than are accepted are written")


def candidates_of_23_bits(run: Run, count: int, more: int) -> tuple[int, list[Term]]:
    """Makes three bytes for each candidate, and some bytes more. Returns their address, and the candidates."""
    words = run.fields("c", count, 23).words
    tops = run.fields("top", count, 1).words
    address = run.store([concat(top, word) for top, word in zip(tops, words)], 24)
    run.unknown("more", more, 0, 255, 8, at=address + 3 * count)
    return address, words


def below(word: Term, q: int, width: int) -> list[Term]:
    """Returns bits that are all 1 if a word is below q, else 0: what comparisons of `width` bits compute."""
    x, largest = zext(word, width), const(q - 1, width)
    less, equal = compare("ult", x, largest), compare("eq", add(x, const(1 - q, width)), const(0, width))
    forms = [compare("ult", x, const(q, width)), extract(sub(x, const(q, width)), width - 1, width - 1),
             bitwise("or", less, equal), negate(bitwise("and", negate(less), negate(equal))),
             compare("eq", x, ite(less, x, largest))]
    if not all(form is forms[0] or solver.equal(form, forms[0]) for form in forms):
        raise NotProved("comparisons differ")
    return forms


def uniform(takes_group: bool) -> Proof:
    """Eight candidates of three bytes each: those whose lowest 23 bits are below q. [FIPS204, Alg 14, Alg 30] Code
    that does not return their number has a ninth, which is accepted: where that is stored says how many are before."""
    count, always = (8, 0) if takes_group else (9, 1 << 8)

    def prove(library: Library, function: str) -> None:
        forms: dict[Term, list[Term]] = {}
        for chosen in range(always, always + (1 << 8)):
            run = deciding(library)
            out, filled = run.space(), run.space()
            run.disregard(out, 4 * count)
            address, words = candidates_of_23_bits(run, count, 4)
            if run.drawn is None:
                forms = forms or {word: below(word, MLDSA_Q, 32) for word in words}
                decide(run, {form: chosen >> n & 1 for n, word in enumerate(words) for form in forms[word]}, {})
            run.machine.call(function, out, address, filled if takes_group else 3 * count)
            taken = [word for n, word in enumerate(words) if chosen >> n & 1]
            for n, word in enumerate(taken):
                run.expect_same(run.result(out, n, 32), zext(word, 32), f"word {n}")
            if takes_group:
                number = run.machine.decisions.under(run.result(filled, 0, 64))  # type: ignore[attr-defined]
                if number.value != len(taken):
                    raise OtherResult(f"{number} words are counted, expected {len(taken)}")
            else:
                expect_end(run, out, 4 * len(taken))

    return prove


def compressed_uniform(library: Library, function: str) -> None:
    """The same of sixteen candidates, for any set of them at once."""
    run = Run(library, 257)
    out, filled = run.space(), run.space()
    address, words = candidates_of_23_bits(run, 16, 16)
    run.machine.call(function, out, address, filled)
    bits = [below(word, MLDSA_Q, 32)[0] for word in words]
    expect_compressed(run, [run.result(out, n, 32) for n in range(16)], words, bits, run.result(filled, 0, 64))


def accepted_12_bits(library: Library, function: str) -> None:
    """NttFunctions::accept of 48 bytes: 32 candidates of 12 bits. [FIPS203, Alg 7]"""
    run = Run(library, 257)
    out, filled, data = run.space(), run.space(), run.stream("c", 32, 12)
    run.unknown("more", 16, 0, 255, 8, at=data.address + 48)
    run.machine.call(function, out, data.address, filled)
    bits = [below(word, MLKEM_Q, 16)[1] for word in data.words]
    expect_compressed(run, [run.result(out, n) for n in range(32)], data.words, bits, run.result(filled, 0, 64))


def expect_compressed(run: Run, results: list[Term], words: list[Term], bits: list[Term], count: Term) -> None:
    """Raises NotProved unless results are the words whose bits are set, in order, and the count is that of the bits."""
    expected = compressed([zext(word, results[0].width) for word in words], bits)
    for n, (result, right) in enumerate(zip(results, expected)):
        run.expect_same(result, right, f"word {n}")
    total = {}
    for bit in bits:
        run.facts.assume(bit, 0, 1)
        total[len(run.facts.variables) - 1,] = 1
    run.expect(count, total, 0, len(bits), "the count")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the acceptance of candidates."""
    group = "those that are accepted, in order, and their number"
    for isa, name in (("portable", "ref"), ("avx2", "avx2"), ("avx512", "avx512")):
        for eta in LIMITS:
            yield Claim(f"mldsa {name} half bytes {eta}", f"{isa}_mldsa_take_small_{eta}", "any four bytes",
                        "coefficients of those that are accepted, in order", small(eta), inlined=True)
        proof = compressed_uniform if isa == "avx512" else uniform(isa == "avx2")
        inputs = {"portable": "any 8 candidates, then one that is accepted", "avx512": "any 16 candidates"}
        yield Claim(f"mldsa {name} candidates", f"{isa}_mldsa_take_uniform", inputs.get(isa, "any 8 candidates"), group,
                    proof, inlined=True)
    yield Claim("mlkem avx512 candidates", "avx512_mlkem_accept", "any 32 candidates", group, accepted_12_bits,
                inlined=True)
