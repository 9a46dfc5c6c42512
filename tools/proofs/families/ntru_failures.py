# SPDX-License-Identifier: Apache-2.0
"""NTRU's steps that end decapsulation: the check of r and m, and the selection of the secret after a failure."""

from __future__ import annotations

import numpy as np

from proofs.algebra.decisions import causes
from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved
from proofs.algebra.rewriting import Lane, Lowest, Only
from proofs.algebra.terms import Term, bitwise, compare, concat, const, ite, keep_sums_whole, sext, variable
from proofs.claims import Proof, Run
from proofs.families.ntru import LOG_Q
from proofs.families.ntru_state import HRSS, SEED, WORD, Backend, State, Words
from proofs.machines.memory import Library, bytes_of


def checked(backend: Backend, n: int) -> Proof:
    """check_rm: r from its residues, and a failure if one is none of 0, 1 and -1 or, in HPS, if m does not have
    q / 16 - 1 coefficients of each sign. [NTRU20, DPKE_Decrypt]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, bits = Run(library, WORD), LOG_Q[n]
        state = State(run, backend, n)
        z = state.residues("z", 0, (1 << bits) - 1, bits, ends_with_zero=True)
        trits = state.trits("b")[:-1] if n not in HRSS else []
        run.machine.call(function, state.address)
        lowest = Lowest()
        for i, (word, residue) in enumerate(zip(state.get("a"), z)):
            expect_ternary(lowest.of(word), residue, f"coefficient {i}")
        found = causes_of_failure(state)
        if any(other != found[0] for other in found):
            raise NotProved("failures of items are not alike")
        expect_failure({lowest.of(cause): cause for cause in found[0]}, z[:-1], trits, (1 << bits) // 16 - 1)

    return prove


def causes_of_failure(state: State) -> list[set[Term]]:
    """Returns for each item what its failure is noted for, beside one that was noted before."""
    lanes, result = state.backend.lanes, []
    size = 2 if lanes > 1 else 4
    for item in range(lanes):
        fail = state.at("fail") + size * item
        noted = [without(state.run.result(at, 0, 8), variable(f"byte {at:#x}", 8)) for at in range(fail, fail + size)]
        whole = concat(*reversed(noted))
        result.append(causes(Lane(item).of(whole) if lanes > 1 else whole))
    return result


def without(term: Term, before: Term) -> Term:
    """Returns a term whose disjunction with another one is the given one."""
    if term is before:
        return const(0, term.width)
    if term.op == "or":
        for a, b in (term.args, term.args[::-1]):
            if a is before or a.op == "or" and before in a.args:
                return bitwise("or", without(a, before), b)
    raise NotProved("a failure before does not stay one")


def expect_ternary(word: Term, residue: Term, what: str) -> None:
    """Raises NotProved unless a word is 0, 1, 2 for 0, 1, -1 mod q."""
    if residue.value is not None:
        right = word.value == residue.value
    else:
        minus_one = (1 << residue.width) - 1
        values = evaluate(word, {residue: np.array([0, 1, minus_one], dtype=np.uint64)})
        right = values.tolist() == [0, 1, 2]
    if not right:
        raise NotProved(f"{what} is not the ternary form of its residue")


def expect_failure(found: dict[Term, Term], residues: Words, trits: Words, weight: int) -> None:
    """Raises NotProved unless the causes of a failure are that a residue is none of 0, 1 and -1, or that there are more
    or fewer trits than the weight that are 1, or that are 2. Causes, of fewest bits, are given with their first
    forms, in which sums have all of their bits."""
    of_residue: dict[Term, list[Term]] = {residue: [] for residue in residues}
    only, sums = Only(of_residue), []
    for cause, first_form in found.items():
        residue = only.of(cause)
        if residue is None:
            sums.append(first_form)
        else:
            of_residue[residue].append(cause)
    for residue, own in of_residue.items():
        values = np.arange(1 << residue.width, dtype=np.int64)
        bad = sum((evaluate(cause, {residue: values.astype(np.uint64)}) != 0 for cause in own), values < 0)
        if np.any((bad != 0) != ((values > 1) & (values < len(values) - 1))):
            raise NotProved(f"a failure is not noted of some values of {residue}, or of others")
    expect_weights(sums, trits, weight)


def expect_weights(differences: Words, trits: Words, weight: int) -> None:
    """Raises NotProved unless the terms compare all bits of the numbers of ones and of twos among the trits with those
    of the weight."""
    compared: dict[Term, int] = {}
    for term in differences:
        total, low, expected = compared_bits(term)
        ones = (1 << term.width) - 1
        if expected != weight >> low & ones:
            raise NotProved(f"a failure depends on {term}")
        compared[total] = compared.get(total, 0) | ones << low
    if any((1 << total.most.bit_length()) - 1 & ~bits or weight & ~bits for total, bits in compared.items()):
        raise NotProved("a failure depends on a part of a sum")
    if sorted(counted(total, trits) for total in compared) != ([1, 2] if trits else []):
        raise NotProved("a failure does not depend on both weights alone")


def compared_bits(difference: Term) -> tuple[Term, int, int]:
    """Returns a term, the first of its bits and the bits that those from there on are xored with."""
    low, other = 0, 0
    term = difference
    while term.op == "extract" or term.op == "xor" and term.args[1].value is not None:
        if term.op == "extract":
            low += term.extra[1]  # type: ignore[index]
        else:
            other ^= term.args[1].value >> low  # type: ignore[operator]
        term = term.args[0]
    return term, low, other & (1 << difference.width) - 1


def counted(total: Term, trits: Words) -> int:
    """Returns 1 or 2 if a term is the number of trits that are 1, or 2."""
    parts: dict[Term | None, list[Term]] = {trit: [] for trit in trits}
    only = Only(trits)
    for part in exact_summands(total):
        parts.setdefault(only.of(part), []).append(part)
    if None in parts:
        raise NotProved("a sum has a part that depends on several trits")
    values = np.arange(3, dtype=np.uint64)
    sums = {tuple(sum((evaluate(part, {trit: values}) for part in own), np.zeros(3, dtype=np.uint64)).tolist())
            for trit, own in parts.items()}
    if sums not in ({(0, 1, 0)}, {(0, 0, 1)}):
        raise NotProved("a sum is no number of ones or twos")
    return sums.pop().index(1)


def exact_summands(total: Term) -> Words:
    """Returns terms whose unsigned integers have the sum that the given one stands for."""
    result, stack = [], [total]
    while stack:
        term = stack.pop()
        if term.op == "add" and sum(arg.most for arg in term.args) < 1 << term.width:
            stack += term.args
        elif term.op == "concat" and len(term.args) == 2 and term.args[0].value == 0:
            stack.append(term.args[1])
        elif term.op == "extract" and term.extra[1] == 0 and term.args[0].most < 1 << term.width:  # type: ignore[index]
            stack.append(term.args[0])
        elif term.value != 0:
            result.append(term)
    return result


def selected(backend: Backend, n: int) -> Proof:
    """select: K, or the rejection secret if a failure was noted. [NTRU20, Decapsulate]"""

    def prove(library: Library, function: str) -> None:
        items = max(backend.lanes, 2)

        run = Run(library, 3)
        state = State(run, backend, n, 1 if backend.lanes > 1 else items)
        run.machine.alike = False
        secrets, rejections = [], []
        fails = run.fields("fail", items, 16 if backend.lanes > 1 else 1).words
        for item in range(items):
            if backend.lanes > 1:
                rejection_at, fail_at = state.at("rejection") + SEED * item, state.at("fail") + 2 * item
            else:
                rejection_at, fail_at = state.at("rejection", item), state.at("fail", item)
            secrets.append(run.unknown(f"k{item}", SEED, 0, 255, 8, state.records + SEED * item).words)
            rejections.append(run.unknown(f"rejection{item}", SEED, 0, 255, 8, rejection_at).words)
            run.machine.memory.store(fail_at, bytes_of(sext(fails[item], 16 if backend.lanes > 1 else 32)))
        run.machine.call(function, state.address)
        for item, fail in enumerate(fails):
            passes = compare("eq", fail, const(0, fail.width))
            for at, (secret, rejection) in enumerate(zip(secrets[item], rejections[item])):
                run.expect_same(run.result(state.records + SEED * item, at, 8), ite(passes, secret, rejection),
                                f"byte {at} of item {item}")

    return prove
