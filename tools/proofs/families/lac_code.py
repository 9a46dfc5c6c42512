# SPDX-License-Identifier: Apache-2.0
"""LAC's BCH codes: 256 bits of message, over GF(2^9) = GF(2)[x] / (x^9 + x^4 + 1). [LAC19]"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from proofs.algebra.evaluation import evaluate
from proofs.algebra.facts import NotProved, OtherResult
from proofs.algebra.gf2 import Linear
from proofs.algebra.terms import Term, concat, const, extract, shape
from proofs.claims import Claim, Proof, Run, Values
from proofs.machines.memory import Library

FIELD, FIELD_BITS, ORDER = 0b1000010001, 9, 511
MESSAGE_BITS = 256
PARITY_BYTES = {8: 9, 16: 18}  # by the number of errors
ISAS = {"ref": "Portable", "avx2": "Avx2", "avx512": "Avx512"}
WRAPPERS = {"ref": "portable", "avx2": "avx2", "avx512": "avx512"}
ROWS = 32  # words of a polynomial of the decoder


@functools.cache
def power(e: int) -> int:
    """Returns x^e in the field."""
    if e % ORDER == 0:
        return 1
    twice = power(e % ORDER - 1) << 1
    return twice ^ FIELD if twice >> FIELD_BITS else twice


def field_product(a: Values | int, b: Values | int) -> Values:
    total = np.zeros(np.broadcast(a, b).shape, dtype=np.int64)
    for n in range(FIELD_BITS):
        total ^= (np.asarray(b) >> n & 1) * (np.asarray(a) << n)
    for n in range(2 * FIELD_BITS - 2, FIELD_BITS - 1, -1):
        total ^= (total >> n & 1) * (FIELD << n - FIELD_BITS)
    return total


def generator(errors: int) -> int:
    """Returns the polynomial over GF(2) with the roots x, x^2, .., x^(2 errors) of least degree."""
    roots = {i * 2 ** k % ORDER for i in range(1, 2 * errors, 2) for k in range(FIELD_BITS)}
    coefficients = [1]  # the highest first
    for root in roots:
        times = field_product(np.array(coefficients), power(root))
        coefficients = [int(a) ^ int(b) for a, b in zip([*coefficients, 0], [0, *times])]
    return int("".join(map(str, coefficients)), 2)


def exponents(errors: int) -> list[int]:
    """Returns the power of x that each bit of a code word has; the highest bit of a byte comes first."""
    count = MESSAGE_BITS + 8 * PARITY_BYTES[errors]
    return [count - 1 - (n ^ 7) for n in range(count)]


def encoded(errors: int) -> Proof:
    """The parity is message x^(bits of the parity) mod the generator."""

    def prove(library: Library, function: str) -> None:
        run, size = Run(library, 3), 8 * PARITY_BYTES[errors]
        parity, message = run.space(), run.stream("m", MESSAGE_BITS, 1)
        run.machine.call(function, parity, message.address)
        of, expected = exponents(errors), [0] * size
        remainders, divisor = [1], generator(errors)
        while len(remainders) < len(of):
            twice = remainders[-1] << 1
            remainders.append(twice ^ divisor if twice >> size & 1 else twice)
        for n in range(MESSAGE_BITS):
            for at in range(size):
                expected[at] |= (remainders[of[n]] >> of[MESSAGE_BITS + at] & 1) << n + 1
        linear = Linear(message.words)
        for at in range(size // 8):
            if linear.bits(run.result(parity, at, 8)) != tuple(expected[8 * at:8 * at + 8]):
                raise OtherResult(f"byte {at} of the parity is another sum of bits")

    return prove


def field_word(sums: Term) -> Term:
    """Returns the nine bits of a word that has no others."""
    if extract(sums, sums.width - 1, FIELD_BITS).value != 0:
        raise NotProved(f"{sums} has more than {FIELD_BITS} bits")
    return extract(sums, FIELD_BITS - 1, 0)


def syndromes(errors: int) -> Proof:
    """S_i, i < 2 errors: the code word at x^i, those of even i as squares of others. S_i is word 64 - i; others are 0.
    """

    def prove(library: Library, function: str) -> None:
        run, of = Run(library, 3), exponents(errors)
        out, code = run.space(), run.stream("c", len(of), 1)
        run.machine.call(function, out, code.address)
        linear = Linear(code.words)
        for i in range(1, 2 * errors, 2):
            bits = linear.bits(run.result(out, 2 * ROWS - i))
            for b in range(16):
                expected = sum((power(i * e) >> b & 1) << n + 1 for n, e in enumerate(of))
                if bits[b] != expected:
                    raise OtherResult(f"bit {b} of syndrome {i} is another sum of bits")
        for i in range(2, 2 * errors, 2):
            odd = i // (i & -i)
            expect_power(run.result(out, 2 * ROWS - i), field_word(run.result(out, 2 * ROWS - odd)), i // odd,
                         f"syndrome {i}")
        for n in set(range(3 * ROWS)) - {2 * ROWS - i for i in range(1, 2 * errors)}:
            run.expect_same(run.result(out, n), const(0, 16), f"word {n}")

    return prove


def expect_power(term: Term, word: Term, exponent: int, what: str) -> None:
    """Raises NotProved unless a term is a power, with an exponent 2^k, of a word, given by the word's bits."""
    bits = [extract(word, n, n) for n in range(word.width)]
    if shape(term, bits) is None:
        raise NotProved(f"{what} depends on other words")
    x = expected = np.arange(1 << word.width, dtype=np.int64)
    values = evaluate(term, {bit: (x >> n & 1).astype(np.uint64) for n, bit in enumerate(bits)})
    for _ in range(exponent.bit_length() - 1):
        expected = field_product(expected, expected)
    if np.any(values.astype(np.int64) != expected):
        raise OtherResult(f"{what} is not power {exponent}")


def multiplied(library: Library, function: str) -> None:
    """c = a b in the field, word by word."""
    run = Run(library, 3)
    out, a, b = run.space(), run.fields("a", ROWS, FIELD_BITS), run.fields("b", ROWS, FIELD_BITS)
    run.machine.call(function, out, run.store(a.words), run.store(b.words))
    for n in range(ROWS):
        run.expect_table(run.result(out, n), [a.words[n], b.words[n]], field_product, f"word {n}")


def evaluated(errors: int) -> Proof:
    """a X + c for the X of each bit of the message, a step of Horner's method. Bit n of plane b is bit b of a for
    X = x^e, where e is the exponent of bit n."""

    def prove(library: Library, function: str) -> None:
        run, of = Run(library, 3), exponents(errors)
        a, c = run.stream("a", FIELD_BITS * MESSAGE_BITS, 1), run.fields("c", FIELD_BITS, 1).words
        run.machine.call(function, a.address, run.store([concat(*reversed(c))]))
        linear = Linear([*a.words, *c])
        for n in range(MESSAGE_BITS):
            for b in range(FIELD_BITS):
                expected = 2 << len(a.words) + b
                for k in range(FIELD_BITS):
                    if power(of[n] + k) >> b & 1:
                        expected |= 2 << k * MESSAGE_BITS + n
                found = linear.bits(run.result(a.address, (b * MESSAGE_BITS + n) // 8, 8))[n % 8]
                if found != expected:
                    raise OtherResult(f"bit {b} at message bit {n} is another sum of bits")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of LAC's codes."""
    for isa in ISAS:
        for errors in PARITY_BYTES:
            table = f"kBch{errors}{ISAS[isa]}"
            yield Claim(f"lac {isa} bch {errors} parity", f"_ZN7polykem{len(table)}{table}E[2]", "any message",
                        "message x^k mod g", encoded(errors), is_long=errors == 8)
            wrapper = f"{WRAPPERS[isa]}_bch"
            yield Claim(f"lac {isa} bch {errors} syndromes", f"{wrapper}_syndromes_{errors}", "any code word",
                        "its values at powers of x", syndromes(errors), inlined=True, is_long=errors == 8)
            yield Claim(f"lac {isa} bch {errors} horner", f"{wrapper}_horner_{errors}", "bits of a, any word c",
                        "a X + c in GF(2^9)", evaluated(errors), inlined=True, is_long=errors == 8)
        yield Claim(f"lac {isa} bch field product", f"{WRAPPERS[isa]}_bch_multiply", "words of 9 bits",
                    "a b in GF(2^9)", multiplied, inlined=True)
