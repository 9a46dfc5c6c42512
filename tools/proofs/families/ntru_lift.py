# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps that add Lift(m), or subtract from it."""

from __future__ import annotations

from proofs.algebra.facts import Form, NotProved
from proofs.algebra.ranges import Facts
from proofs.algebra.terms import Term, keep_sums_whole
from proofs.claims import Proof, Run
from proofs.families.ntru_state import HRSS, WORD, Backend, State, Words
from proofs.machines.memory import Library


def lifted(backend: Backend, n: int, sign: int) -> Proof:
    """lift_add, lift_sub: z + Lift(m), x - Lift(m). [NTRU20, Lift]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, of = Run(library, 3), "z" if sign > 0 else "x"
        state = State(run, backend, n)
        m, before = state.trits("b"), state.words(of)
        run.machine.call(function, state.address)
        expect_lift(run, m, before, state.get(of), sign, n in HRSS)

    return prove


def quotient_by_x_minus_1(facts: Facts, m: Words) -> list[Form]:
    """Returns v with (x - 1) v = m mod (3, Phi_n), of degree n - 2. There is a t with v_(i-1) - v_i = m_i + t for all
    i; their sum is zero, and n is 2 mod 3, so that t = m(1)."""
    t: Form = {}
    for word in m[:-1]:
        t = facts.combine(t, facts.of[word].form, 1) or {}
    result: list[Form] = []
    v: Form = {}
    for word in m:
        v = facts.combine(v, t, -1) or {}
        if word.value is None:
            v = facts.combine(v, facts.of[word].form, -1) or {}
        result.append(v)
    if result[-1]:
        raise NotProved("the quotient's last coefficient is not zero")
    return result


def expect_lift(run: Run, m: Words, before: Words, after: Words, sign: int, divides: bool) -> None:
    """Raises NotProved unless the words after a step are those before it plus `sign` Lift(m), mod 2^16. Lift(m) is v,
    or (x - 1) v, where v has coefficients in {-1, 0, 1}: parts of the results have that range, and are v mod 3."""
    v = quotient_by_x_minus_1(run.facts, m) if divides else [
        {} if word.value is not None else run.facts.of[word].form or {} for word in m]
    number = {frozenset(form.items()): (i, factor) for factor in (1, -1) for i, part in enumerate(v)
              if (form := run.facts.scaled(part, factor))}
    words, which, known = Facts(WORD), [], set()
    for word in before:
        words.assume(word, 0, WORD - 1)
    for i, result in enumerate(after):
        for part in small_parts(run.facts, result, set(before)):
            if part not in known:
                known.add(part)
                which.append(number.get(frozenset((run.facts.of[part].form or {}).items()), (None, 1)))
                if part in words.of:
                    raise NotProved(f"a part of coefficient {i} is part of another one's")
                words.assume(part, -1, 1)
        found: dict[int | None, int] = {}
        form = words.fact(result).form or {}
        if form.get((i,)) != 1:
            raise NotProved(f"coefficient {i} has not its word")
        for (place, *others), factor in ((key or (i, i), factor) for key, factor in form.items()):
            if others:
                raise NotProved(f"coefficient {i} is no sum of words")
            if place >= len(before):
                part = words.variables[place]
                if run.facts.of[part].form:
                    at, negative = which[place - len(before)]
                    found[at] = (found.get(at, 0) + negative * factor) % WORD
            elif place != i:
                raise NotProved(f"coefficient {i} has another word")
        expected = {i: -sign % WORD, i - 1: sign % WORD} if divides else {i: sign % WORD}
        if {at: factor for at, factor in found.items() if factor} != {
                at: factor for at, factor in expected.items() if at >= 0 and v[at]}:
            raise NotProved(f"coefficient {i} does not differ by that of Lift(m)")


def small_parts(facts: Facts, term: Term, others: set[Term]) -> set[Term]:
    """Returns the parts of a term that are in [-1, 1] and of which it is known what they are mod 3."""
    found, stack, done = set(), [term], set(others)
    while stack:
        top = stack.pop()
        if top in done or top.value is not None:
            continue
        done.add(top)
        try:
            fact = facts.fact(top)
        except NotProved:
            stack += top.args
            continue
        if fact.form is not None and top.width > 1 and -1 <= fact.low and fact.high <= 1:
            found.add(top)
        else:
            stack += top.args
    return found
