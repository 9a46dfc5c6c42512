# SPDX-License-Identifier: Apache-2.0
"""Products by tiles: NTRU's modulo (2^16, x^n - 1), src/prim/polymul/tile_mul.hpp, and FrodoKEM's modulo 2^16,
src/schemes/frodo/tile_products.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofs.algebra.bilinear import BITS, FIRST, SCALE, SECOND, SUB, WORD, Forms
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, const, keep_sums_whole, sext, variable
from proofs.claims import ANY_WORD, Claim, Proof, Run
from proofs.families.ntru import SHORT, field
from proofs.machines.memory import Library, bytes_of

Q = 1 << BITS
ROWS = 8  # FrodoKEM's n-bar

Vector = Sequence[Term]  # of words of 16 bits, or of signed bytes


class LimbForms(Forms):
    """Forms of words and of signed bytes that are multiplied byte by byte. The upper byte of a word is a number of its
    own, number `size` + n for word n of a vector of that size, and the lower byte is the word minus 2^8 times that."""

    def __init__(self, first: Vector, second: Vector) -> None:
        super().__init__(lambda _: None)
        self.sizes = tuple(len(vector) * (1 if vector[0].width == 8 else 2) for vector in (first, second))
        self._at = {term: (side, n, len(vector)) for side, vector in ((FIRST, first), (SECOND, second))
                    for n, term in enumerate(vector)}

    def _of_leaf(self, term: Term) -> tuple[int, int] | None:
        is_signed = term.op == "sext"
        if not is_signed and (term.op != "concat" or any(part.value != 0 for part in term.args[:-1])):
            return None
        byte = term.args[-1]
        if is_signed and byte in self._at and byte.width == 8:
            side, n, _ = self._at[byte]
            return self._add(WORD, side, 0, 0, n), BITS
        if is_signed or byte.op != "extract" or byte.width != 8 or byte.args[0] not in self._at:
            return None
        side, n, size = self._at[byte.args[0]]
        upper = self._add(WORD, side, 0, 0, size + n)
        if byte.extra == (15, 8):
            return upper, BITS
        word, scaled = self._add(WORD, side, 0, 0, n), self._add(SCALE, side, upper, 0, 256)
        return self._add(SUB, side, word, scaled, 0), BITS

    def expect_sums(self, results: Sequence[Term], words: NDArray[np.int64]) -> None:
        """Raises NotProved unless result n is the sum of the products of word i of the first vector and word
        words[i, n] of the second, or of none if that is -1."""
        beyond = np.full((self.sizes[0] - len(words), len(results)), -1)
        words = np.concatenate([words, beyond]).astype(np.int32)
        self.expect(results, self.sizes, BITS, words, np.ones(words.shape, dtype=np.uint16))


def cyclic(n: int, is_word: tuple[bool, bool]) -> Proof:
    """TileMulFunctions: c = a b, each of words or of signed bytes."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, Q)
        width = -(-n // 64) * 64
        c, operands = run.space(), [run.unknown(name, width, *(ANY_WORD if wide else (-128, 127)), 16 if wide else 8)
                                    for name, wide in zip("ab", is_word)]
        run.disregard(c, 2 * width)
        workspace = run.workspace(field(library, function.partition("[")[0], 2))
        arrays = [number for array in operands for number in (array.address, 1 << 13)]
        run.machine.call(function, c, 1 << 13, *arrays, 1, workspace)
        forms = LimbForms(*(array.words[:n] for array in operands))
        i, k = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
        forms.expect_sums([run.result(c, at) for at in range(n)], (k - i) % n)

    return prove


def small_words(run: Run, count: int) -> tuple[int, list[Term]]:
    """Returns the address of words in [-128, 127], and their lower bytes."""
    address = run.space()
    small = []
    for n in range(count):
        drawn = run.drawn
        small.append(variable(f"s[{n}]", 8) if drawn is None else
                     const(drawn.choice((-128, 127, drawn.randrange(256))), 8))
        run.machine.memory.store(address + 2 * n, bytes_of(sext(small[-1], 16)))
    return address, small


def without(term: Term, added: Term) -> Term:
    """Returns what is added to a word."""
    if term.op != "add" or term.width != 16 or added not in term.args or term.args[0] is term.args[1]:
        raise NotProved(f"{term} is no sum with {added}")
    return term.args[0] if term.args[1] is added else term.args[1]


def expect_sums(forms: LimbForms, run: Run, b: int, before: Sequence[Term], words: NDArray[np.int64]) -> None:
    """Raises NotProved unless sums of products were added to the words that were at b before."""
    results = [without(run.result(b, n), term) for n, term in enumerate(before)]
    forms.expect_sums(results, words)


def a_s(n: int) -> Proof:
    """B += A S, with S given as its transpose."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, stride = Run(library, Q), -(-n // 32) * 32
        b, a = run.unknown("b", n * ROWS, *ANY_WORD), run.unknown("a", n * stride, *ANY_WORD)
        s, small = small_words(run, ROWS * n)
        run.machine.call(function, b.address, ROWS, a.address, stride, s, n, run.workspace(1 << 16))
        (row_of_a, i), (row, column) = np.divmod(np.arange(n * stride)[:, None], stride), np.divmod(
            np.arange(n * ROWS)[None, :], ROWS)
        words = np.where((row_of_a == row) & (i < n), column * n + i, -1)
        expect_sums(LimbForms(a.words, small), run, b.address, b.words, words)

    return prove


def s_a(n: int) -> Proof:
    """B += S A"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, stride = Run(library, Q), -(-n // 32) * 32
        b, a = run.unknown("b", ROWS * n, *ANY_WORD), run.unknown("a", n * stride, *ANY_WORD)
        s, small = small_words(run, ROWS * n)
        run.machine.call(function, b.address, n, s, a.address, stride, n, run.workspace(1 << 16))
        expect_sums(LimbForms(small, a.words), run, b.address, b.words, _of_s_a(n, stride, 1))

    return prove


def packed_s_a(n: int, count: int) -> Proof:
    """B += S A for `count` items, S below each other and B too, with an A that pack() has packed."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run, stride = Run(library, Q), -(-n // 32) * 32
        table, packed, step = function.partition("[")[0], run.workspace(1 << 16), ROWS * n
        b, a = run.unknown("b", count * step, *ANY_WORD), run.unknown("a", n * stride, *ANY_WORD)
        s, small = small_words(run, count * step)
        run.machine.call(f"{table}[4]", packed, a.address, stride, 0, n, n)
        run.machine.call(function, b.address, n, s, n, packed, n, count, step, run.workspace(1 << 16))
        expect_sums(LimbForms(small, a.words), run, b.address, b.words, _of_s_a(n, stride, count))

    return prove


def _of_s_a(n: int, stride: int, count: int) -> NDArray[np.int64]:
    row_of_s, i = np.divmod(np.arange(count * ROWS * n)[:, None], n)
    row, column = np.divmod(np.arange(count * ROWS * n)[None, :], n)
    return np.where(row_of_s == row, i * stride + column, -1)


def claims() -> Iterator[Claim]:
    """Yields what is claimed of products by tiles."""
    kinds = {"of bytes": (3, (False, False)), "by bytes": (4, (True, False)), "of words": (5, (True, True))}
    for n in SHORT:
        for kind, (at, is_word) in list(kinds.items())[:3 if n == 509 else 1]:
            yield Claim(f"ntru amx product {kind} {n}", f"_ZN7polykem7polymul3amx8kTileMulILm{n}EEE[{at}]",
                        "any words, any signed bytes", f"a b mod (2^16, x^{n} - 1)", cyclic(n, is_word),
                        is_long=n > 509 or at != 3)
    inputs, result = "any words b and a, s in [-128, 127]", "mod 2^16"
    for n in (48, 80):
        yield Claim(f"frodo amx A S of {n}", "amx_frodo_mul_a_s", inputs, f"b + a s {result}", a_s(n), inlined=True,
                    is_long=n > 48)
        yield Claim(f"frodo amx S A of {n}", "amx_frodo_mul_s_a", inputs, f"b + s a {result}", s_a(n), inlined=True,
                    is_long=n > 48)
    for n, count in ((48, 3), (80, 4)):
        yield Claim(f"frodo amx packed S A of {n}, {count} items", "_ZN7polykem5frodo16kTileProductsAmxE[5]", inputs,
                    f"b + s a {result}", packed_s_a(n, count), is_long=n > 48)
