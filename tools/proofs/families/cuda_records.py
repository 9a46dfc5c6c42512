# SPDX-License-Identifier: Apache-2.0
"""Packing, noise, reductions and operands of tensor cores in the GPU code's headers, src/**/cuda, compiled for the host
with the lanes of a warp one after the other: cuda_warp.hpp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from proofs.algebra.facts import Form, NotProved
from proofs.algebra.terms import (Term, add, bitwise, compare, concat, const, extract, ite, keep_sums_whole, mul,
                                  negate, sext, shape, sub, zext)
from proofs.claims import Array, Claim, Proof, Run, Values
from proofs.families import frodo, lac, mldsa
from proofs.families.cuda import congruent, expect
from proofs.families.ntru_lift import quotient_by_x_minus_1
from proofs.families.packing import N, packed
from proofs.families.saber import NOISE_BITS
from proofs.machines.memory import Library, bytes_of

Q = 3  # no result is a number mod q
ALIGNMENTS = range(4)
SABER_Q_BITS = 13


def record(run: Run, count: int, bits: int, skip: int) -> tuple[int, Array]:
    """Returns the address of fields side by side, `skip` bytes after a word's beginning, and the fields. Bytes beside
    them, and bits after the last one, are unknown."""
    fields, size = run.fields("a", count, bits), -(-count * bits // 8)
    address = run.workspace(size + 16) + skip
    beyond = run.fields("beyond", 8 * size - count * bits, 1)
    stream = concat(*reversed(fields.words + beyond.words))
    run.machine.memory.store(address, [(extract(stream, 8 * n + 7, 8 * n), 0) for n in range(size)])
    return address, fields


def for_alignments(prove: Callable[[Run, str, int], None]) -> Proof:
    """For a record that begins anywhere in a word."""

    def proofs(library: Library, function: str) -> None:
        for skip in ALIGNMENTS:
            prove(Run(library, Q), function, skip)

    return proofs


def unpacked(count: int, bits: int, width: int, masked: bool = True) -> Proof:
    """Fields become words; unless masked, their upper bits may be any."""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, count, bits, skip)
        out = run.space()
        run.machine.call(function, out, address)
        for n, field in enumerate(fields.words):
            word = run.result(out, n, width)
            run.expect_same(word if masked else extract(word, bits - 1, 0), zext(field, width) if masked else field,
                            f"word {n}")

    return for_alignments(prove)


def each_byte(expected: Callable[[Values], Values]) -> Proof:
    """In place, byte by byte of eight words."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        a = run.unknown("a", 32, 0, 255, 8)
        run.machine.call(function, a.address)
        for n, byte in enumerate(a.words):
            run.expect_table(run.result(a.address, n, 8), byte, expected, f"byte {n}")

    return prove


def each_byte_formula(expected: Callable[[Term], Term]) -> Proof:
    """In place, byte by byte of eight words. The solver sees that no byte takes a carry from
    the one below."""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        a = run.unknown("a", 32, 0, 255, 8)
        run.machine.call(function, a.address)
        for n, byte in enumerate(a.words):
            beside = a.words[n // 4 * 4:n // 4 * 4 + 4]
            expect_alike(run, run.result(a.address, n, 8), beside, expected(byte), known, f"byte {n}")

    return prove


# ---- Saber


def sum_of(bits: Sequence[Term], width: int) -> Term:
    total = const(0, width)
    for bit in bits:
        total = add(total, zext(bit, width))
    return total


def expect_alike(run: Run, term: Term, sources: Sequence[Term], expected: Term, known: set[object], what: str) -> None:
    """Raises NotProved unless a result is an expected function of sources; those that are the same function of theirs
    are looked at once."""
    key = shape(term, sources), shape(expected, sources)
    if None in key:
        raise NotProved(f"{what} depends on more than {', '.join(map(str, sources))}")
    if key not in known:
        run.expect_same(term, expected, what)
        known.add(key)


def saber_secret(mu: int) -> Proof:
    """Sums of half of the bits minus those of the others. [SABER20, GenSecret]"""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        outs, bits = [run.space() for _ in range(3)], run.fields("b", mu * N, 1)
        parts = [bits.words[mu * n:mu * (n + 1)] for n in range(N)]
        run.machine.call(function, *outs, run.store([concat(*reversed(part)) for part in parts]))
        for n, part in enumerate(parts):
            beside = [bit for of in parts[n // 4 * 4:n // 4 * 4 + 4] for bit in of]
            results = [run.result(outs[0], n, 8), run.result(outs[1], n, 8),
                       extract(run.result(outs[2], n), SABER_Q_BITS - 1, 0)]
            for result, sign, what in zip(results, (1, -1, 1), ("byte", "negative byte", "word")):
                halves = [sum_of(half, result.width) for half in (part[:mu // 2], part[mu // 2:])][::sign]
                expect_alike(run, result, beside, sub(*halves), known, f"{what} {n}")

    return prove


def saber_limbs(library: Library, function: str) -> None:
    """Bytes of words x, and bytes whose word is -x mod 2^13."""
    run = Run(library, Q)
    out, x = run.space(), run.fields("x", N, SABER_Q_BITS)
    run.machine.call(function, out, run.store(x.words))
    for n, word in enumerate(x.words):
        low, high, minus_low, minus_high = (run.result(out + 256 * limb, n, 8) for limb in range(4))
        run.expect_same(concat(high, low), zext(word, 16), f"word {n}")
        minus = extract(concat(minus_high, minus_low), SABER_Q_BITS - 1, 0)
        run.expect_same(minus, sub(const(0, SABER_Q_BITS), word), f"the negative of word {n}")


def saber() -> Iterator[Claim]:
    for bits in (6, 8, 10, 13):
        yield _claim(f"saber unpack {bits} bits", f"saber_unpack_{bits}", "any bytes, at any alignment",
                     "words of their bits, in order", unpacked(N, bits, 16))
    for bits in (3, 4, 6, 10, 13):
        yield _claim(f"saber pack {bits} bits", f"saber_pack_{bits}", "any words", "their low bits, in order",
                     packed(bits, 16, masks=True))
    for mu in NOISE_BITS.values():
        yield _claim(f"saber secret {mu}", f"saber_secret_{mu}", "any bits", "GenSecret, as bytes and mod 2^13",
                     saber_secret(mu))
    yield _claim("saber limbs", "saber_limbs", "words below 2^13", "their bytes, and those of -x mod 2^13", saber_limbs)


# ---- operands of tensor cores


def expect_bytes(run: Run, address: int, expected: Sequence[Term], what: str) -> None:
    for n, byte in enumerate(expected):
        run.expect_same(run.result(address, n, 8), byte, f"byte {n} of {what}")


def negacyclic(n: int) -> Proof:
    """What negacyclic.cuh says of its copies: p[x + 8 s] at x, and r[s - x], with the negatives beyond the ends."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        plain, backward = run.space(), run.space()
        arrays = [run.unknown(name, n, 0, 255, 8) for name in ("a", "minus")]
        run.machine.call(function, plain, backward, *(array.address for array in arrays))
        of, minus = (array.words for array in arrays)
        for s in range(2):
            expect_bytes(run, plain + s * (2 * n + 64), (of + minus)[8 * s:], f"copy {s}")
        for s in range(4):
            expected = [(minus + of)[n + s - x] for x in range(-4, n)]
            expect_bytes(run, backward + 4 + s * (n + 32), expected, f"reversed copy {s}")

    return prove


def cyclic(n: int, ternary: bool) -> Proof:
    """What limbs.cuh says of its copies, of bytes that the products use: p[(x + 8 s) mod n] at x, or r[(s - x) mod n].
    A row's words have two bytes. In ternary products p is the low bytes of b, and a is 7 bits and 7 more."""
    steps, tiles = -(-n // 32), (-(-n // 64) + 1) // 2
    plain_copy = (32 * (steps + 2 * tiles - 2) + 64 * tiles + 56 + 63) // 128 * 128 + 64
    reversed_copy = (8 + steps * 32 + 8 + 95) // 128 * 128 + 32

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        shared, rows = run.workspace(1 << 16), [run.workspace(4096) for _ in range(2)]
        a, b = (run.fields(name, n, 16).words for name in "ab")
        for at, words in zip(rows, (a, b)):
            for i, word in enumerate(words):
                run.machine.memory.store(at + 2 * i, bytes_of(word))
        run.machine.call(function, shared, *rows)
        whole = [[extract(word, 8 * limb + 7, 8 * limb) for word in words] for words in (a, b) for limb in range(2)]
        halves = [[zext(extract(word, 7 * limb + 6, 7 * limb), 8) for word in a] for limb in range(2)]
        plain, reverse = (whole[2:3], halves) if ternary else (whole[:2], whole[2:])
        for limb, of in enumerate(plain):
            for s in range(2):
                last = n - 1 + 8 * ((n - 1) // 8 - s)  # the largest u + 8 k
                expect_bytes(run, shared + (2 * limb + s) * plain_copy,
                             [of[(x + 8 * s) % n] for x in range(last - 7)], f"copy {s} of limb {limb}")
        shared += len(plain) * 2 * plain_copy
        for limb, of in enumerate(reverse):
            for s in range(4):
                expect_bytes(run, shared + 4 + (4 * limb + s) * reversed_copy,
                             [of[(s - x) % n] for x in range(-4, n)], f"reversed copy {s} of limb {limb}")

    return prove


def operands() -> Iterator[Claim]:
    for n in (256, 512, 1024):
        yield _claim(f"negacyclic operands, n = {n}", f"negacyclic_{n}", "any bytes of p and -p",
                     "their copies, in order and in reverse order", negacyclic(n), n > 512)
    for n in (509, 677, 701, 821, 1229, 1373):
        for ternary, name in ((False, "limbs"), (True, "limbs_ternary")):
            yield _claim(f"ntru {name.replace('_', ' ')}, n = {n}", f"{name}_{n}", "any words",
                         "their bytes' copies, in order and in reverse order", cyclic(n, ternary), n != 509)


# ---- NTRU

SETS = {"hps2048509": (509, 11), "hps2048677": (677, 11), "hps4096821": (821, 12), "hrss701": (701, 13),
        "hps40961229": (1229, 12), "hrss1373": (1373, 14)}  # n, log q
GUARD = 8


def row_of(n: int) -> int:
    return -(-n // 32) * 32


def ntru_packed(n: int, bits: int) -> Proof:
    """[NTRU20, pack_Sq]"""

    def prove(run: Run, function: str, skip: int) -> None:
        words, fields = run.workspace(2 * (row_of(n) + GUARD)), run.fields("c", n - 1, bits)
        for i, field in enumerate(fields.words):
            run.machine.memory.store(words + 2 * (GUARD + i), bytes_of(zext(field, 16)))
        zeros = [const(0, bits)] * 16
        for i in range(n, row_of(n)):
            run.machine.memory.store(words + 2 * (GUARD + i), bytes_of(const(0, 16)))
        out = run.space() + skip
        run.machine.call(function, out, words)
        expect_stream(run, out, fields.words + zeros, -(-(n - 1) * bits // 8))

    return for_alignments(prove)


def expect_stream(run: Run, address: int, fields: Sequence[Term], size: int) -> None:
    """Raises NotProved unless `size` bytes are the fields side by side."""
    bits = fields[0].width
    for n in range(size):
        first, beside = divmod(8 * n, bits)
        some = concat(*reversed(fields[first:first + 8 // bits + 2]))
        run.expect_same(run.result(address, n, 8), extract(some, beside + 7, beside), f"byte {n}")


def close_sum(n: int) -> Proof:
    """Coefficient n - 1 is minus the sum of the others, mod 2^16. [NTRU20, unpack_Rq0]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << 16)
        row = run.workspace(2 * row_of(n))
        c = run.unknown("c", n - 1, -(1 << 15), (1 << 15) - 1, at=row)
        run.machine.call(function, row)
        form: Form = {(c.first + i,): (1 << 16) - 1 for i in range(n - 1)}
        run.expect(run.result(row, n - 1), form, -(1 << 40), 1 << 40, "the last coefficient")

    return prove


def weighed(bits: Sequence[Term]) -> Term:
    """Returns the sum of 3^j times trit j, of which each has two bits."""
    total = const(0, 8)
    for j, trit in enumerate(zip(bits[::2], bits[1::2])):
        total = add(total, mul(const(3 ** j, 8), zext(concat(*reversed(trit)), 8)))
    return total


def trit_bits(run: Run, count: int) -> list[Term]:
    """Returns two bits of each of so many numbers 0, 1 and 2."""
    plus, minus = (run.fields(name, count, 1).words for name in ("plus", "minus"))
    return [bit for p, m in zip(plus, minus) for bit in (p, bitwise("and", m, negate(p)))]


def ntru_packed_trits(n: int) -> Proof:
    """[NTRU20, pack_S3]"""

    def prove(run: Run, function: str, skip: int) -> None:
        bits, count, known = trit_bits(run, n - 1), -(-(n - 1) // 5), set()
        trits = [concat(*reversed(bits[2 * i:2 * i + 2])) for i in range(n - 1)]
        out, zeros = run.space() + skip, [const(0, 2)] * (row_of(n) - n + 1)
        run.machine.call(function, out, run.store(trits + zeros, 8))
        for at in range(count):
            first = max(0, at - 3)  # of the bytes that may be in a word with this one
            beside = leaves(bits[10 * first:10 * (at + 4)])
            expect_alike(run, run.result(out, at, 8), beside, weighed(bits[10 * at:10 * at + 10]), known,
                         f"byte {at}")

    return for_alignments(prove)


def leaves(terms: Sequence[Term]) -> list[Term]:
    """Returns the variables of terms, each once, in the order in which they come."""
    found: dict[Term, None] = {}
    for term in terms:
        if term.op == "variable":
            found[term] = None
        else:
            found.update(dict.fromkeys(leaves(term.args)))
    return list(found)


def digit(j: int, x: Values) -> Values:
    return x // 3 ** j % 3


DIGITS = [partial(digit, j) for j in range(5)]


def ntru_unpacked_trits(n: int) -> Proof:
    """[NTRU20, unpack_S3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, data = run.space(), run.unknown("b", -(-(n - 1) // 5), 0, 255, 8)
        run.machine.call(function, out, data.address)
        for i in range(n - 1):
            run.expect_table(run.result(out, i, 8), data.words[i // 5], DIGITS[i % 5], f"trit {i}")
        expect_bytes(run, out + n - 1, [const(0, 8)] * (row_of(n) - n + 1), "zeros")

    return prove


def centred_to(width: int, trit: Term) -> Term:
    """Returns a field of 0, 1 or 2 as 0, 1 or -1."""
    return ite(compare("eq", trit, const(2, 2)), const(-1, width), zext(trit, width))


def canonical(x: Values) -> Values:
    return x % 3


def ntru_lifted_row(n: int, hrss: bool) -> Proof:
    """The trits of g as bytes of g or, for HRSS, of (x - 1) g."""

    def prove(library: Library, function: str) -> None:
        run, known = Run(library, Q), set()
        out, bits, zero = run.space(), trit_bits(run, n - 1), const(0, 2)
        trits = [concat(*reversed(bits[2 * i:2 * i + 2])) for i in range(n - 1)] + [zero] * (row_of(n) - n + 1)
        run.machine.call(function, out, run.store(trits, 8))
        for i, trit in enumerate(trits):
            word, expected = i // 4 * 4, centred_to(8, trit)
            if hrss:
                expected = sub(centred_to(8, trits[i - 1] if i > 0 else zero), expected)
            beside = leaves(bits[2 * max(word - hrss, 0):2 * word + 8])
            expect_alike(run, run.result(out, i, 8), beside, expected, known, f"byte {i}")

    return prove


def trit_bytes(library: Library, function: str) -> None:
    """Bytes 0, 1, 2 or -1 as trits."""
    run = Run(library, Q)
    fields = run.fields("t", 32, 3, -1, 2)
    address = run.store([sext(field, 8) for field in fields.words], 8)
    run.machine.call(function, address)
    for n, field in enumerate(fields.words):
        run.expect_table(run.result(address, n, 8), field, canonical, f"trit {n}")


def ntru_sampled(n: int) -> Proof:
    """[NTRU20, Ternary]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, coins = run.space(), run.unknown("b", n - 1, 0, 255, 8)
        run.machine.call(function, out, coins.address)
        for i, coin in enumerate(coins.words):
            run.expect_table(run.result(out, i, 8), coin, canonical, f"trit {i}")
        expect_bytes(run, out + n - 1, [const(0, 8)] * (row_of(n) - n + 1), "zeros")

    return prove


def ntru_lifted(n: int) -> Proof:
    """[NTRU20, Lift], without the product by x - 1."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        out, zeros = run.space(), [const(0, 8)] * (row_of(n) - n + 1)
        m = run.unknown("m", n - 1, 0, 2, 8)
        for i, zero in enumerate(zeros):
            run.machine.memory.store(m.address + n - 1 + i, bytes_of(zero))
        run.machine.call(function, out, m.address)
        for i, form in enumerate(quotient_by_x_minus_1(run.facts, [*m.words, zeros[0]])):
            run.expect(run.result(out, i, 8), form, 0, 2, f"coefficient {i}")

    return prove


def centred_bytes(library: Library, function: str) -> None:
    """Bytes 0, 1 and 2."""
    run, known = Run(library, Q), set()
    bits = trit_bits(run, 32)
    trits = [concat(*reversed(bits[2 * n:2 * n + 2])) for n in range(32)]
    address = run.store(trits, 8)
    run.machine.call(function, address)
    for n, trit in enumerate(trits):
        beside = leaves(bits[8 * (n // 4):8 * (n // 4) + 8])
        expect_alike(run, run.result(address, n, 8), beside, centred_to(8, trit), known, f"byte {n}")


def ntru() -> Iterator[Claim]:
    yield _claim("ntru mod 3", "ntru_mod3", "words below 2^16", "the words mod 3, in [0, 2]",
                 congruent(3, 1, (0, (1 << 16) - 1), (0, 2)))
    yield _claim("ntru bytes mod 3", "ntru_mod3_bytes", "any bytes", "the bytes mod 3, in [0, 2]", each_byte(canonical))
    yield _claim("ntru centred bytes", "ntru_centred_bytes", "bytes in [0, 2]", "the bytes, -1 for 2",
                 centred_bytes)
    yield _claim("ntru trits of bytes", "ntru_trit_bytes", "bytes in [-1, 2]", "the bytes, 2 for -1", trit_bytes)
    for name, (n, bits) in SETS.items():
        is_long = n != 509
        yield _claim(f"ntru pack {name}", f"ntru_pack_{name}", "words below q", "pack_Sq, at any alignment",
                     ntru_packed(n, bits), is_long)
        yield _claim(f"ntru unpack {name}", f"ntru_unpack_{name}", "any bytes, at any alignment",
                     "words with their low bits, in order", unpacked(n - 1, bits, 16, masked=False), is_long)
        yield _claim(f"ntru last coefficient {name}", f"ntru_close_sum_{name}", "any words", "minus their sum",
                     close_sum(n), is_long)
        yield _claim(f"ntru pack trits {name}", f"ntru_pack_trits_{name}", "words in [0, 2]",
                     "pack_S3, at any alignment", ntru_packed_trits(n), is_long)
        yield _claim(f"ntru unpack trits {name}", f"ntru_unpack_trits_{name}", "any bytes", "unpack_S3",
                     ntru_unpacked_trits(n), is_long)
        yield _claim(f"ntru lifted row {name}", f"ntru_lifted_{name}", "g in [0, 2]", "G / 3",
                     ntru_lifted_row(n, "hrss" in name), is_long)
        yield _claim(f"ntru sample {name}", f"ntru_sample_{name}", "any bytes", "Ternary", ntru_sampled(n), is_long)
        if "hrss" in name:
            yield _claim(f"ntru lift {name}", f"ntru_lift_{name}", "m in [0, 2]", "m / (x - 1) mod (3, Phi_n)",
                         ntru_lifted(n), True)


# ---- ML-DSA


def mldsa_below(bits: int) -> Proof:
    """[FIPS204, Alg 19], plus q"""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, N, bits, skip)
        out, top = run.space(), 1 << bits - 1
        run.machine.call(function, out, address, top)
        for n, field in enumerate(fields.words):
            run.expect_same(run.result(out, n, 32), sub(const(mldsa.Q + top, 32), zext(field, 32)), f"word {n}")

    return for_alignments(prove)


def mldsa_w1(bits: int) -> Proof:
    """[FIPS204, Alg 28]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, fields = run.space(), run.fields("w", N, bits)
        run.machine.call(function, out, run.store(fields.words, 32), run.workspace(2048))
        run.expect_packed(out, fields.words)

    return prove


def mldsa_small(bits: int, eta: int, sign: int) -> Proof:
    """eta less fields, or the negatives, as signed bytes. [FIPS204, Alg 19]"""

    def prove(run: Run, function: str, skip: int) -> None:
        address, fields = record(run, N, bits, skip)
        out, known = run.space(), set()
        run.machine.call(function, out, address)
        for n, field in enumerate(fields.words):
            a, b = (const(eta, 8), zext(field, 8))[::sign]
            beside = fields.words[n // 4 * 4:n // 4 * 4 + 4]
            expect_alike(run, run.result(out, n, 8), beside, sub(a, b), known, f"byte {n}")

    return for_alignments(prove)


def mldsa_t0(run: Run, function: str, skip: int) -> None:
    """2^12 less fields: the low seven bits and a signed byte of the others. [FIPS204, Alg 19]"""
    address, fields = record(run, N, mldsa.D, skip)
    low, high = run.space(), run.space()
    run.machine.call(function, low, high, address)
    for n, field in enumerate(fields.words):
        value = sub(const(1 << mldsa.D - 1, 15), zext(field, 15))
        run.expect_same(run.result(low, n, 8), zext(extract(value, 6, 0), 8), f"low byte {n}")
        run.expect_same(run.result(high, n, 8), extract(value, 14, 7), f"high byte {n}")


def mldsa_candidates(library: Library, function: str) -> None:
    """[FIPS204, Alg 14], without the rejection"""
    run = Run(library, Q)
    out, data = run.space(), run.unknown("b", 200, 0, 255, 8).words
    address = run.store(data, 8)
    run.machine.call(function, out, address)
    for n in range(56):
        b0, b1, b2 = data[3 * n:3 * n + 3]
        run.expect_same(run.result(out, n, 32), zext(concat(extract(b2, 6, 0), b1, b0), 32), f"candidate {n}")


def mldsa_products(terms: int) -> Proof:
    """2^-32 times sums of products."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, q = Run(library, mldsa.Q), mldsa.Q
        out, scale = run.space(), pow(1 << 32, -1, q)
        a, b = run.unknown("a", terms * N, 0, q - 1, 32), run.unknown("b", terms * N, 0, 18 * q - 1, 32)
        run.machine.call(function, out, a.address, b.address, terms)
        for n in range(N):
            form: Form = {(a.first + i * N + n, b.first + i * N + n): scale for i in range(terms)}
            expect(run, run.result(out, n, 32), form, (0, 2 * q - 1), f"coefficient {n}")

    return prove


def ml_dsa() -> Iterator[Claim]:
    q = mldsa.Q
    for bits in (3, 4, 10, 13, 18, 20):
        yield _claim(f"mldsa pack {bits} bits", f"mldsa_pack_{bits}", f"words below 2^{bits}", "their bits, in order",
                     packed(bits, 32))
        yield _claim(f"mldsa unpack {bits} bits", f"mldsa_unpack_{bits}", "any bytes, at any alignment",
                     "words of their bits, in order", unpacked(N, bits, 32), bits not in (10, 13))
    for bits in (18, 20):
        yield _claim(f"mldsa unpack below {bits} bits", f"mldsa_unpack_below_{bits}", "any bytes, at any alignment",
                     f"2^{bits - 1} minus the words of their bits, plus q", mldsa_below(bits), bits == 18)
    for bits in (4, 6):
        yield _claim(f"mldsa w1 of {bits} bits", f"mldsa_w1_{bits}", f"words below 2^{bits}", "their bits, in order",
                     mldsa_w1(bits))
    for eta, bits in ((2, 3), (4, 4)):
        for sign, name in ((1, "small"), (-1, "negative")):
            yield _claim(f"mldsa {name} bytes, eta = {eta}", f"mldsa_{name}_{eta}", "any bytes, at any alignment",
                         f"signed bytes: {'minus ' if sign < 0 else ''}({eta} less each field)",
                         mldsa_small(bits, eta, sign))
    yield _claim("mldsa t0 bytes", "mldsa_t0_bytes", "any bytes, at any alignment",
                 "7 bits and signed bytes of 2^12 less each field", for_alignments(mldsa_t0))
    yield _claim("mldsa candidates", "mldsa_candidates", "any bytes", "integers of 23 bits of three bytes each",
                 mldsa_candidates)
    yield _claim("mldsa reduce twice", "mldsa_reduced_twice", "words in [0, 3 q)", "the words, in [0, q)",
                 congruent(q, 1, (0, 3 * q - 1), (0, q - 1)))
    for terms in (4, 7):
        yield _claim(f"mldsa products, {terms}", "mldsa_products", "a in [0, q), b in [0, 18 q)",
                     "2^-32 times the sum of products, in [0, 2 q)", mldsa_products(terms), terms > 4)


# ---- LAC


def lac_loaded(n: int) -> Proof:

    def prove(run: Run, function: str, skip: int) -> None:
        address = run.workspace(n + 16) + skip
        data = run.unknown("b", n, 0, 255, 8, at=address)
        out = run.space()
        run.machine.call(function, out, address, run.workspace(8192))
        expect_bytes(run, out, data.words, "the record")

    return for_alignments(prove)


def lac_compressed(library: Library, function: str) -> None:
    """[LAC19]"""
    run = Run(library, Q)
    out, words = run.space(), run.unknown("x", 16, 0, lac.Q - 1, 8)
    run.machine.call(function, out, words.address)
    for n in range(8):
        run.expect_table(run.result(out, n, 8), words.words[2 * n:2 * n + 2], lac.compressed, f"byte {n}")


def lac_spread(library: Library, function: str) -> None:
    run = Run(library, Q)
    x = run.fields("x", 8 * 16, 1)
    halves = [concat(*reversed(x.words[16 * n:16 * n + 16])) for n in range(8)]
    address = run.store(halves, 32)
    run.machine.call(function, address)
    for n in range(8):
        pairs = [concat(const(0, 1), bit) for bit in x.words[16 * n:16 * n + 16]]
        run.expect_same(run.result(address, n, 32), concat(*reversed(pairs)), f"word {n}")


def lac_noise2(of: lac.Set) -> Proof:
    """e2, and 125 times bits. [LAC19]"""

    def prove(library: Library, function: str) -> None:
        run, count, parts = Run(library, Q), of.second, 2 * of.noise_factors
        out, size = run.space(), -(-count // 32) * 32
        bits, code = run.fields("b", parts * count, 1), run.fields("c", size, 1)
        stream = bits.words + [const(0, 1)] * (-len(bits.words) % 128)
        addresses = [run.store([concat(*reversed(words[n:n + 32])) for n in range(0, len(words), 32)], 32)
                     for words in (stream, code.words)]
        run.machine.call(function, out, *addresses)
        known: set[object] = set()
        for at in range(count):
            beside = [word for n in range(at & ~3, min(at | 3, count - 1) + 1)
                      for word in (*bits.words[n::count][:parts], code.words[n])]
            e = difference_of(bits.words[at::count][:parts], 8)
            expected = add(e, ite(code.words[at], const(lac.BIT_VALUE, 8), const(0, 8)))
            expect_alike(run, run.result(out, at, 8), beside, expected, known, f"coefficient {at}")

    return prove


def difference_of(bits: Sequence[Term], width: int) -> Term:
    """b0 - b1, or (b0 - b1) (b2 - b3)."""
    factors = [sub(zext(a, width), zext(b, width)) for a, b in zip(bits[::2], bits[1::2])]
    return factors[0] if len(factors) == 1 else mul(*factors)


def ternary_of(byte: Term) -> Term:
    """0, 1, 0, -1 for 0, 1, 2, 3 mod 4. [LAC19]"""
    return ite(extract(byte, 0, 0), ite(extract(byte, 1, 1), const(-1, 8), const(1, 8)), const(0, 8))


def negative_of(byte: Term) -> Term:
    return sub(const(0, 8), ternary_of(byte))


def mod_251(byte: Term) -> Term:
    return ite(compare("ult", byte, const(lac.Q, 8)), byte, sub(byte, const(lac.Q, 8)))


def lac_claims() -> Iterator[Claim]:
    yield _claim("lac signs", "lac_signs", "any bytes", "0, 1, 0, -1 for 0, 1, 2, 3 mod 4",
                 each_byte_formula(ternary_of))
    yield _claim("lac negated signs", "lac_negated_signs", "any bytes", "their negatives",
                 each_byte_formula(negative_of))
    yield _claim("lac bytes mod 251", "lac_reduced_bytes", "any bytes", "the bytes mod 251", each_byte_formula(mod_251))
    most = 1024 * (lac.Q - 1) + 127
    yield _claim("lac reduction", "lac_reduced", f"words in [-{most}, {most}]", "the words mod 251, in [0, 250]",
                 congruent(lac.Q, 1, (-most, most), (0, lac.Q - 1)))
    yield _claim("lac compression", "lac_compressed", "words in [0, 250]", "four bits of each", lac_compressed)
    yield _claim("lac bits apart", "lac_spread_bits", "any 16 bits", "a zero after each", lac_spread)
    for number, n in ((0, 512), (1, 1024)):
        yield _claim(f"lac load {n} bytes", f"lac_load_{number}", "any bytes, at any alignment", "the bytes",
                     lac_loaded(n), number > 0)
    for of in lac.SETS:
        yield _claim(f"lac e2 and code {of.name}", f"lac_noise2_{of.number}", "any bits",
                     "differences of bits, or products of two, plus 125 bits", lac_noise2(of), of.name == 256)


# ---- FrodoKEM


def frodo_packed(bits: int) -> Proof:
    """[FRODO21, Alg 3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, words = run.space(), run.unknown("c", 64, *frodo.ANY_WORD).words
        run.machine.call(function, out, run.store(words))
        for n in range(8 * bits):
            expected = concat(*(extract(words[at // bits], bits - 1 - at % bits, bits - 1 - at % bits)
                                for at in range(8 * n, 8 * n + 8)))
            run.expect_same(run.result(out, n, 8), expected, f"byte {n}")

    return prove


def frodo_unpacked(bits: int) -> Proof:
    """[FRODO21, Alg 4]"""

    def prove(run: Run, function: str, skip: int) -> None:
        address = run.workspace(8 * bits + 16) + skip
        data, out = run.unknown("b", 8 * bits, 0, 255, 8, at=address).words, run.space()
        run.machine.call(function, out, address)
        for n in range(64):
            stream = (divmod(at, 8) for at in range(n * bits, (n + 1) * bits))
            expected = concat(*(extract(data[i], 7 - bit, 7 - bit) for i, bit in stream))
            run.expect_same(run.result(out, n), zext(expected, 16), f"word {n}")

    return for_alignments(prove)


def frodo_sampled(n: int) -> Proof:
    """[FRODO21, Alg 5]"""

    def prove(library: Library, function: str) -> None:
        run, cdf = Run(library, Q), frodo.CDF[n]
        words, out, table = run.unknown("r", 32, *frodo.ANY_WORD), run.space(), run.space()
        run.machine.memory.store(table, bytes_of(const(len(cdf), 64)))
        for at, bound in enumerate(cdf + (0,) * (13 - len(cdf))):
            run.machine.memory.store(table + 8 + 2 * at, bytes_of(const(bound, 16)))
        run.machine.call(function, out, words.address, table)
        known: set[object] = set()
        for at, word in enumerate(words.words):
            beside = words.words[at // 4 * 4:at // 4 * 4 + 4]
            expect_alike(run, run.result(out, at, 8), beside, error_of(word, cdf), known, f"error {at}")

    return prove


def error_of(word: Term, cdf: Sequence[int]) -> Term:
    """The number of bounds, but the last one, that the upper 15 bits are above; the lowest bit is the sign."""
    above = [compare("ult", const(bound, 15), extract(word, 15, 1)) for bound in cdf[:-1]]
    size = sum_of(above, 8)
    return ite(extract(word, 0, 0), sub(const(0, 8), size), size)


def frodo_claims() -> Iterator[Claim]:
    for bits in (15, 16):
        yield _claim(f"frodo pack {bits} bits", f"frodo_pack_{bits}", "any words", "their low bits, in order",
                     frodo_packed(bits))
        yield _claim(f"frodo unpack {bits} bits", f"frodo_unpack_{bits}", "any bytes, at any alignment",
                     "words with their bits, in order", frodo_unpacked(bits))
    for n in frodo.CDF:
        yield _claim(f"frodo errors of {n}", f"frodo_sample_{n}", "any words", "Algorithm 5, as signed bytes",
                     frodo_sampled(n))


def _claim(what: str, function: str, inputs: str, result: str, proof: Proof, is_long: bool = False) -> Claim:
    return Claim(f"cuda {what}", f"cuda_{function}", inputs, result, proof, inlined=True, is_long=is_long)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of the GPU code's packing, noise, reductions and operands."""
    yield from saber()
    yield from operands()
    yield from ntru()
    yield from ml_dsa()
    yield from lac_claims()
    yield from frodo_claims()
