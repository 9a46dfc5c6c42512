# SPDX-License-Identifier: Apache-2.0
"""Packing, trits and sampling in the GPU code's headers of NTRU, compiled for the host."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from proofs.algebra.facts import Form
from proofs.algebra.terms import (Term, add, bitwise, compare, concat, const, extract, ite, keep_sums_whole, mul,
                                  negate, sext, sub, zext)
from proofs.claims import Claim, Proof, Run, Values
from proofs.families.cuda import claim, congruent
from proofs.families.cuda_records import Q, each_byte, expect_alike, expect_bytes, for_alignments, unpacked
from proofs.families.ntru_lift import quotient_by_x_minus_1
from proofs.machines.memory import Library, bytes_of


SETS = {"hps2048509": (509, 11), "hps2048677": (677, 11), "hps4096821": (821, 12), "hrss701": (701, 13),
        "hps40961229": (1229, 12), "hrss1373": (1373, 14)}  # n, log q
GUARD = 8


def row_of(n: int) -> int:
    return -(-n // 32) * 32


def packed(n: int, bits: int) -> Proof:
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


def packed_trits(n: int) -> Proof:
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


def digit(of: int, j: int, *pair: Values) -> Values:
    return pair[of] // 3 ** j % 3


DIGITS = [[partial(digit, of, j) for j in range(5)] for of in range(2)]


def unpacked_trits(n: int) -> Proof:
    """[NTRU20, unpack_S3], two bytes at a time; one byte after the last one may be any."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, data = run.space(), run.unknown("b", -(-(n - 1) // 10) * 2, 0, 255, 8)
        run.machine.call(function, out, data.address)
        for i in range(n - 1):
            pair = data.words[i // 10 * 2:i // 10 * 2 + 2]
            run.expect_table(run.result(out, i, 8), pair, DIGITS[i // 5 % 2][i % 5], f"trit {i}")
        expect_bytes(run, out + n - 1, [const(0, 8)] * (row_of(n) - n + 1), "zeros")

    return prove


def centred_to(width: int, trit: Term) -> Term:
    """Returns a field of 0, 1 or 2 as 0, 1 or -1."""
    return ite(compare("eq", trit, const(2, 2)), const(-1, width), zext(trit, width))


def canonical(x: Values) -> Values:
    return x % 3


def lifted_row(n: int, hrss: bool) -> Proof:
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


def sampled(n: int) -> Proof:
    """[NTRU20, Ternary]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, coins = run.space(), run.unknown("b", n - 1, 0, 255, 8)
        run.machine.call(function, out, coins.address)
        for i, coin in enumerate(coins.words):
            run.expect_table(run.result(out, i, 8), coin, canonical, f"trit {i}")
        expect_bytes(run, out + n - 1, [const(0, 8)] * (row_of(n) - n + 1), "zeros")

    return prove


def lifted(n: int) -> Proof:
    """[NTRU20, Lift], without the product by x - 1."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 3)
        out, zeros = run.space(), [const(0, 8)] * (row_of(n) - n + 1)
        m = run.unknown("m", n - 1, 0, 2, 8)
        for i, zero in enumerate(zeros):
            run.machine.memory.store(m.address + n - 1 + i, bytes_of(zero))
        run.machine.call(function, out, m.address)
        run.disregard(out + n, row_of(n) - n)
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


def claims() -> Iterator[Claim]:
    """Yields what is claimed of NTRU's GPU code."""
    yield claim("ntru mod 3", "ntru_mod3", "words below 2^16", "the words mod 3, in [0, 2]",
                congruent(3, 1, (0, (1 << 16) - 1), (0, 2)))
    yield claim("ntru bytes mod 3", "ntru_mod3_bytes", "any bytes", "the bytes mod 3, in [0, 2]", each_byte(canonical))
    yield claim("ntru centred bytes", "ntru_centred_bytes", "bytes in [0, 2]", "the bytes, -1 for 2",
                centred_bytes)
    yield claim("ntru trits of bytes", "ntru_trit_bytes", "bytes in [-1, 2]", "the bytes, 2 for -1", trit_bytes)
    for name, (n, bits) in SETS.items():
        is_long = n != 509
        yield claim(f"ntru pack {name}", f"ntru_pack_{name}", "words below q", "pack_Sq, at any alignment",
                    packed(n, bits), is_long)
        yield claim(f"ntru unpack {name}", f"ntru_unpack_{name}", "any bytes, at any alignment",
                    "words with their low bits, in order", unpacked(n - 1, bits, 16, masked=False), is_long)
        yield claim(f"ntru last coefficient {name}", f"ntru_close_sum_{name}", "any words", "minus their sum",
                    close_sum(n), is_long)
        yield claim(f"ntru pack trits {name}", f"ntru_pack_trits_{name}", "words in [0, 2]",
                    "pack_S3, at any alignment", packed_trits(n), is_long)
        yield claim(f"ntru unpack trits {name}", f"ntru_unpack_trits_{name}", "any bytes", "unpack_S3",
                    unpacked_trits(n), is_long)
        yield claim(f"ntru lifted row {name}", f"ntru_lifted_{name}", "g in [0, 2]", "G / 3",
                    lifted_row(n, "hrss" in name), is_long)
        yield claim(f"ntru sample {name}", f"ntru_sample_{name}", "any bytes", "Ternary", sampled(n), is_long)
        if "hrss" in name:
            yield claim(f"ntru lift {name}", f"ntru_lift_{name}", "m in [0, 2]", "m / (x - 1) mod (3, Phi_n)",
                        lifted(n), True)
