# SPDX-License-Identifier: Apache-2.0
"""FrodoKEM's products of matrices mod 2^16, as src/schemes/frodo/matmul/matmul.hpp defines them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from proofs.algebra.facts import Form
from proofs.algebra.terms import concat, const, extract, zext
from proofs.claims import ANY_WORD, Claim, Run, Values
from proofs.machines.memory import Library, bytes_of

Q = 1 << 16


def product(rows: int, inner: int, columns: int, transposed: bool) -> Callable[[Library, str], None]:
    """c += a b, with b given as its transpose or not."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        c, a, b = (run.unknown(name, count, *ANY_WORD) for name, count in (
            ("c", rows * columns), ("a", rows * inner), ("b", inner * columns)))
        run.machine.call(function, c.address, columns, a.address, inner, b.address, inner if transposed else columns,
                         (rows, inner, columns, 1, 0, 0))
        for row in range(rows):
            for column in range(columns):
                form: Form = {(c.first + row * columns + column,): 1}
                for i in range(inner):
                    of_b = column * inner + i if transposed else i * columns + column
                    form[(a.first + row * inner + i, b.first + of_b)] = 1
                run.expect(run.result(c.address, row * columns + column), form, -Q, Q, f"row {row}, column {column}")

    return prove


def packed(count: int, bits: int) -> Callable[[Library, str], None]:
    """pack(): the low bits of words, the most significant bit first. [FRODO21, Alg 3]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, words = run.space(), run.unknown("c", count, *ANY_WORD)
        run.machine.call(function, out, words.address, count, bits)
        for n in range(count * bits // 8):
            stream = (divmod(at, bits) for at in range(8 * n, 8 * n + 8))
            expected = concat(*(extract(words.words[i], bits - 1 - bit, bits - 1 - bit) for i, bit in stream))
            run.expect_same(run.result(out, n, 8), expected, f"byte {n}")

    return prove


def unpacked(count: int, bits: int) -> Callable[[Library, str], None]:
    """unpack(): the inverse. [FRODO21, Alg 4]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, data = run.space(), run.unknown("b", count * bits // 8, 0, 255, 8)
        run.machine.call(function, out, data.address, count, bits)
        for n in range(count):
            stream = (divmod(at, 8) for at in range(n * bits, (n + 1) * bits))
            expected = concat(*(extract(data.words[i], 7 - bit, 7 - bit) for i, bit in stream))
            run.expect_same(run.result(out, n), zext(expected, 16), f"word {n}")

    return prove


# [FRODO21, Table 3]
CDF = {640: (4643, 13363, 20579, 25843, 29227, 31145, 32103, 32525, 32689, 32745, 32762, 32766, 32767),
       976: (5638, 15915, 23689, 28571, 31116, 32217, 32613, 32731, 32760, 32766, 32767),
       1344: (9142, 23462, 30338, 32361, 32725, 32765, 32767)}


def error(words: Values, cdf: Sequence[int]) -> Values:
    """[FRODO21, Alg 5]"""
    t = words >> 1 & 0x7FFF
    size = sum((t > bound).astype(np.int64) for bound in cdf[:-1])
    return np.where(words & 1, -size, size) & 0xFFFF


def sampled(n: int, count: int) -> Callable[[Library, str], None]:
    """sample(): words become errors, in place."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        words, cdf = run.unknown("r", count, *ANY_WORD), run.space()
        size = run.machine.pointer_bytes
        run.machine.memory.store(cdf, bytes_of(const(len(CDF[n]), 8 * size)))
        for at, bound in enumerate(CDF[n] + (0,) * (13 - len(CDF[n]))):
            run.machine.memory.store(cdf + size + 2 * at, bytes_of(const(bound, 16)))
        run.machine.call(function, words.address, count, cdf)
        for at, word in enumerate(words.words):
            run.expect_table(run.result(words.address, at), word, lambda x: error(x, CDF[n]), f"word {at}")

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of FrodoKEM."""
    # Shapes of whole registers, and with a part of one in each direction; code for other sizes repeats these blocks.
    tables = {"ref": "15kMatMulPortable", "avx2": "11kMatMulAvx2", "avx512": "18kMatMulFormsAvx512",
              "neon": "11kMatMulNeon"}
    for name, table in tables.items():
        forms = (("", 0), (" plain", 2)) if name == "avx512" else (("", 0),)
        for form, first in forms:
            for transposed in (False, True):
                for shape in ((8, 32, 40), (8, 72, 8), (3, 33, 17)):
                    size = "x".join(map(str, shape)) + (", transposed" if transposed else "")
                    yield Claim(f"frodo {name}{form} product {size}",
                                f"_ZN7polykem{table}E[{first + transposed}]", "any words", "c + a b mod 2^16",
                                product(*shape, transposed))
    for name, scope in {"ref": "3ref", "avx2": "5lanes4avx2", "avx512": "5lanes6avx512", "neon": "5lanes4neon"}.items():
        yield from _codecs(f"frodo {name}", f"_ZN7polykem5frodo{scope}")


def _codecs(name: str, scope: str) -> Iterator[Claim]:
    for n in CDF:
        for count in (64, 100):
            yield Claim(f"{name} sample {count} errors of {n}", f"{scope}6sampleEPtmRKNS0_3CdfE", "any words",
                        "Algorithm 5", sampled(n, count))
    for bits in (15, 16):
        for count in (64, 120):
            yield Claim(f"{name} pack {count} words of {bits} bits", f"{scope}4packEPhPKtmj", "any words",
                        "their low bits, in order", packed(count, bits))
            yield Claim(f"{name} unpack {count} words of {bits} bits", f"{scope}6unpackEPtPKhmj", "any bytes",
                        "words with their bits, in order", unpacked(count, bits))
