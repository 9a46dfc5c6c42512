# SPDX-License-Identifier: Apache-2.0
"""The fused steps of ML-KEM's eight items on AVX-512, on the state of src/schemes/mlkem/x8/state.hpp. All items have
steps of their own, and polynomials are transformed in twos: one item and three stand for all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofs.algebra.decisions import causes
from proofs.algebra.facts import Form, NotProved
from proofs.algebra.rewriting import rebuilt, rewritten
from proofs.algebra.terms import Term, bitwise, compare, concat, const, extract, negate, sext, variable, zext
from proofs.claims import Array, Claim, Proof, Run, Values
from proofs.families.mlkem import (CANONICAL, N, Q, WITHIN_Q, compressed, inverse, noise_bound,
                                   terms_of_product)
from proofs.families.saber_blocks import store_fields
from proofs.machines.memory import Library, bytes_of

MOST_ITEMS = 8
R = 1 << 16
POLY = 2 * N  # bytes
SEED = 32


@dataclass(frozen=True)
class Set:
    """A parameter set. [FIPS203, 8]"""

    k: int
    eta1: int
    du: int
    dv: int


SETS = (Set(2, 3, 10, 4), Set(3, 2, 10, 4), Set(4, 2, 11, 5))


class State:
    """A state of items, whose working memory holds anything. Records of the batch have what a claim stores there."""

    def __init__(self, run: Run, p: Set, items: int) -> None:
        self.run, self.p, self.items = run, p, items
        self.public = POLY * (p.k + 1) * p.k + 64  # then H(pk)
        self.secret = self.public + POLY * p.k + 64
        sizes = {"own": self.secret, "s": POLY * p.k, "e": POLY * p.k, "u": POLY * p.k, "v": POLY, "w": POLY,
                 "accepted": 704, "prf_s": 64 * p.eta1 * p.k, "prf_e": 64 * p.eta1 * (p.k + 1),
                 "joined": SEED + self.ciphertext(), "different": 64, "coins": 64, "hashed": 64, "seeds": 64,
                 "kdf": 64, "fail": 4}
        self._at, self._sizes, at = {}, sizes, 0
        for name, size in sizes.items():
            at = at if name in ("joined", "hashed", "seeds", "kdf", "fail") else -(-at // 64) * 64
            self._at[name] = at
            at += MOST_ITEMS * size
        self.work = run.workspace(-(-at // 64) * 64)
        places = {"coins": 2, "ct": 5, "pk_out": 24, "sk_out": 25, "ct_out": 26}
        self.records = {name: run.space() for name in places}
        words = [0] * 32
        for name, place in places.items():
            words[place] = self.records[name]
        self.address = run.pointers(run.pointers(*words), items, self.work)

    def ciphertext(self) -> int:
        return N // 8 * (self.p.k * self.p.du + self.p.dv)

    def at(self, name: str, item: int) -> int:
        return self.work + self._at[name] + item * self._sizes[name]

    def polys(self, name: str, count: int, ends: tuple[int, int]) -> list[Array]:
        """Makes the polynomials that begin an array, of every item."""
        return [self.run.unknown(f"{name}{item}", count * N, *ends, at=self.at(name, item))
                for item in range(self.items)]

    def bits(self, name: str, count: int) -> list[Array]:
        """Makes bits that begin an array, of every item."""
        return [self.bits_at(f"{name}{item}", self.at(name, item), count) for item in range(self.items)]

    def bits_at(self, name: str, address: int, count: int) -> Array:
        array = self.run.fields(name, count, 1)
        for n in range(0, count, 8):
            self.run.machine.memory.store(address + n // 8, bytes_of(concat(*reversed(array.words[n:n + 8]))))
        return array


def expect_function(run: Run, term: Term, form: Form, ends: tuple[int, int], expected: Callable[[Values], Values],
                    what: str) -> None:
    """Raises NotProved unless a result is a function, of which residues mod q are the arguments, of a word that is
    congruent to the form and in a range."""
    form = {key: value for key, factor in form.items() if (value := factor % Q)}
    for source in run.facts.sources(term):
        fact = run.facts.fact(source)
        if fact.form == form and ends[0] <= fact.low and fact.high <= ends[1]:
            run.expect_table(term, source, expected, what)
            return
    raise NotProved(f"{what} is no function of what the specification says")


def product_and(a: Array, s: Array, e: Array, k: int, n: int) -> Form:
    """Returns coefficient n of A^ s^ + 2^16 e^, of k polynomials."""
    form: Form = {(e.first + n,): R}
    row, i = divmod(n, N)
    for j in range(k):
        form |= {(a.first + (row * k + j) * N + x, s.first + j * N + y): factor for x, y, factor in terms_of_product(i)}
    return form


def expect_encoded(run: Run, whole: Term, forms: list[Form], proved: set[Term], what: str) -> None:
    """Raises NotProved unless a term is fields of 12 bits side by side, the first one in the lowest bits, that are in
    [0, q) and congruent to the forms: it has words like that, and for any words below 2^12 it is those. `proved` keeps
    what was found to be so."""
    forms = [{key: value for key, factor in form.items() if (value := factor % Q)} for form in forms]
    fields = [variable(f"field {n}", 12) for n in range(len(forms))]
    known: dict[Term, Term] = {}
    for word in words_in(whole):
        fact = run.facts.fact(word)
        if fact.form in forms and CANONICAL[0] <= fact.low and fact.high <= CANONICAL[1]:
            known[word] = zext(fields[forms.index(fact.form)], 16)
    of_fields = rewritten(whole, known, rebuilt)
    if of_fields not in proved:
        run.expect_same(of_fields, concat(*reversed(fields)), what)
        proved.add(of_fields)


def words_in(root: Term) -> set[Term]:
    """Returns the terms of 16 bits that are nearest to a term among those that it is made of."""
    found, seen, stack = set(), set(), [root]
    while stack:
        term = stack.pop()
        if term.width == 16 and term.value is None:
            found.add(term)
        elif term not in seen:
            seen.add(term)
            stack += term.args
    return found


def keys_stored(p: Set, items: int) -> Proof:
    """mul_as_store: t^ = A^ s^ + e^, encoded, and s^, encoded, with rho and z. H(pk) is stored later. [FIPS203, Alg 13,
    L18-20; Alg 16, L3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        state = State(run, p, items)
        bound = noise_bound(p.eta1, pow(R, -1, Q))
        a = state.polys("own", p.k * p.k, (0, 4095))
        s, e = state.polys("s", p.k, CANONICAL), state.polys("e", p.k, (1 - bound, bound - 1))
        rho = [run.unknown(f"rho{item}", SEED, 0, 255, 8, state.at("seeds", item)).words for item in range(items)]
        coins = run.unknown("coins", 2 * SEED * items, 0, 255, 8, state.records["coins"]).words
        run.machine.call(function, state.address)
        vector, proved = 384 * p.k, set[Term]()
        for item in range(items):
            pk = state.records["pk_out"] + item * (vector + SEED)
            sk = state.records["sk_out"] + item * (2 * vector + 3 * SEED)
            forms = [product_and(a[item], s[item], e[item], p.k, n) for n in range(N * p.k)]
            of_s: list[Form] = [{(s[item].first + n,): 1} for n in range(N * p.k)]
            for pair in range(N * p.k // 2):
                for record, of in ((pk, forms), (sk + vector, forms), (sk, of_s)):
                    expect_encoded(run, run.field(record, pair, 24), of[2 * pair:2 * pair + 2], proved,
                                   f"pair {pair} of item {item}")
            z = coins[2 * SEED * item + SEED:][:SEED]
            for to, seed in ((pk + vector, rho[item]), (sk + 2 * vector, rho[item]), (sk + 2 * vector + 2 * SEED, z)):
                for at, byte in enumerate(seed):
                    run.expect_same(run.result(to, at, 8), byte, f"byte {at} of a seed of item {item}")

    return prove


# Rows of factors of 2^16 times the inverse.
INVERSE = inverse(R)


def inverse_form(of: Array, n: int) -> Form:
    """Returns coefficient n of 2^16 times the inverse of a transform, of which word n is."""
    first = of.first + n // N * N
    return {(first + j,): factor for j, factor in INVERSE[n % N].items()}


class NewCiphertext:
    """What store_c and compare_c compute from u, v, noise and message, before compression. [FIPS203, Alg 14, L19-21]"""

    def __init__(self, state: State) -> None:
        p, self.state = state.p, state
        self.u, self.v = state.polys("u", p.k, WITHIN_Q), state.polys("v", 1, WITHIN_Q)
        self.noise = [[state.bits_at(f"noise{item}.{i}", state.at("prf_e", item) + i * 64 * p.eta1, 4 * N)
                       for i in range(p.k + 1)] for item in range(state.items)]
        self.message = state.bits("hashed", N)

    def form(self, item: int, n: int) -> Form:
        """Returns coefficient n of u and v, side by side."""
        (poly, i), is_v = divmod(n, N), n >= N * self.state.p.k
        form = inverse_form(self.v[item] if is_v else self.u[item], i if is_v else n)
        first = self.noise[item][poly].first + 4 * i
        form |= {(first + bit,): 1 if bit < 2 else Q - 1 for bit in range(4)}
        if is_v:
            form[self.message[item].first + i,] = (Q + 1) // 2
        return form


def ciphertext_stored(p: Set, items: int) -> Proof:
    """store_c: u = Compress(NTT^-1(u^) + e1) and v = Compress(NTT^-1(v^) + e2 + Decompress(m)). [FIPS203, Alg 14]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        state = State(run, p, items)
        new = NewCiphertext(state)
        run.machine.call(function, state.address)
        for item in range(items):
            record = state.records["ct_out"] + item * state.ciphertext()
            for n in range(N * (p.k + 1)):
                first, bits = (record, p.du) if n < N * p.k else (record + N // 8 * p.k * (p.du - p.dv), p.dv)
                expect_function(run, run.field(first, n, bits), new.form(item, n), BEFORE_COMPRESSION,
                                COMPRESSED[bits], f"coefficient {n} of item {item}")

    return prove


def ciphertext_compared(p: Set, items: int) -> Proof:
    """compare_c: all ones for a ciphertext that differs from what store_c would store, otherwise 0.
    [FIPS203, Alg 18, L8]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        state = State(run, p, items)
        new = NewCiphertext(state)
        there = []
        for item in range(items):
            at = state.records["ct"] + item * state.ciphertext()
            u, v = run.fields(f"u{item}", N * p.k, p.du).words, run.fields(f"v{item}", N, p.dv).words
            store_fields(run, at, u)
            store_fields(run, at + N // 8 * p.k * p.du, v)
            there.append([*u, *v])
        run.machine.call(function, state.address)
        if run.drawn is not None:
            return
        for item in range(items):
            fail = run.result(state.at("fail", item), 0, 32)
            run.expect_same(fail, sext(extract(fail, 0, 0), 32), f"the mask of item {item}")
            expect_comparison(run, causes(fail), [new.form(item, n) for n in range(N * (p.k + 1))], there[item], item)

    return prove


def expect_comparison(run: Run, found: set[Term], forms: list[Form], there: list[Term], item: int) -> None:
    """Raises NotProved unless one of the causes is not zero if and only if a number differs from the compressed word
    that has its form."""
    number = {frozenset(form.items()): n for n, form in enumerate(forms)}
    causes_of: dict[int, list[Term]] = {n: [] for n in range(len(forms))}
    word_of: dict[int, Term] = {}
    for cause in found:
        source, n = compared_word(run, cause, number)
        causes_of[n].append(cause)
        if word_of.setdefault(n, source) is not source:
            raise NotProved(f"coefficient {n} of item {item} is compared as two words")
    for n, own in causes_of.items():
        differs = const(0, 1)
        for cause in sorted(own, key=lambda term: term.number):
            differs = bitwise("or", differs, negate(compare("eq", cause, const(0, cause.width))))
        if n not in word_of:
            raise NotProved(f"coefficient {n} of item {item} is not compared")
        run.expect_table(differs, [word_of[n], there[n]], DIFFERS[there[n].width], f"coefficient {n} of item {item}")


def compared_word(run: Run, cause: Term, number: dict[frozenset, int]) -> tuple[Term, int]:
    """Returns the word before compression that a cause compares, and of which form it is."""
    whole = cause.args[0] if cause.op == "extract" else cause
    for part in whole.args if whole.op == "xor" else ():
        for source in run.facts.sources(part):
            fact = run.facts.fact(source)
            n = number.get(frozenset((fact.form or {}).items()))
            if n is not None and BEFORE_COMPRESSION[0] <= fact.low and fact.high <= BEFORE_COMPRESSION[1]:
                return source, n
    raise NotProved(f"a failure depends on {cause}")


BEFORE_COMPRESSION = (0, 4 * Q - 1)  # bounds.hpp: kCompressBound
COMPRESSED = {bits: compressed(bits) for bits in (1, 4, 5, 10, 11)}
DIFFERS = {bits: lambda x, y, of=of: of(x) != y for bits, of in COMPRESSED.items()}


def message_decoded(p: Set, items: int) -> Proof:
    """decode_m: m = Compress_1(v - NTT^-1(w^)). [FIPS203, Alg 15, L6-7]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        state = State(run, p, items)
        v, w = state.polys("v", 1, CANONICAL), state.polys("w", 1, WITHIN_Q)
        run.machine.call(function, state.address)
        for item in range(items):
            for n in range(N):
                form = {key: -factor for key, factor in inverse_form(w[item], n).items()}
                form[v[item].first + n,] = 1
                expect_function(run, run.field(state.at("hashed", item), n, 1), form, BEFORE_COMPRESSION, COMPRESSED[1],
                                f"bit {n} of item {item}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the steps of ML-KEM's and Kyber's eight items."""
    for p in SETS:
        for items, is_kyber in ((1, False), (3, False), (1, True)):
            yield from claims_of(p, items, is_kyber)


def claims_of(p: Set, items: int, is_kyber: bool) -> Iterator[Claim]:
    version = "LNS0_7VersionE1EEE" if is_kyber else "EE"
    prefix = (f"_ZN7polykem5mlkem2x86avx5125StepsIXtlNS0_11MlkemParamsEtlNS0_4DimsELm{p.k}ELj{p.eta1}ELj{p.du}"
              f"ELj{p.dv}EE{version}*")
    bound = noise_bound(p.eta1, pow(R, -1, Q))

    def claim(what: str, step: str, inputs: str, result: str, proof: Proof) -> Claim:
        name = f"{'kyber' if is_kyber else 'mlkem'} avx512 x8 {256 * p.k} {what}{f' of {items}' if items > 1 else ''}"
        is_quick = p.k == 3 and items == 1 and not is_kyber and what != "comparison"
        return Claim(name, f"{prefix}{step}E*", inputs, result, proof, is_long=not is_quick)

    yield claim("keys", "12mul_as_store", f"A below 2^12, s in [0, q), e in (-{bound}, {bound})",
                "A s + 2^16 e and s, in [0, q), encoded, rho, z", keys_stored(p, items))
    yield claim("ciphertext", "7store_c", "u, v in (-q, q), any bits of noise and messages",
                "FIPS 203, (4.7), of 2^16 times the inverses plus noise and message, encoded",
                ciphertext_stored(p, items))
    yield claim("comparison", "9compare_c", "u, v in (-q, q), any bits of noise and messages, any ciphertext",
                "all ones if it is another one, otherwise 0", ciphertext_compared(p, items))
    yield claim("message", "8decode_m", "v in [0, q), w in (-q, q)",
                "FIPS 203, (4.7), of v - 2^16 times the inverse of w", message_decoded(p, items))
