# SPDX-License-Identifier: Apache-2.0
"""ML-KEM's interleaved items beside arithmetic mod q, as src/schemes/mlkem/interleaved/poly.hpp lays them out: packing,
unpacking, noise and the check of public keys."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.algebra.decisions import causes
from proofs.algebra.facts import NotProved
from proofs.algebra.rewriting import Only
from proofs.algebra.terms import Term, compare, concat, const, extract, negate, zext
from proofs.claims import Claim, Proof, Run
from proofs.families.mlkem import LANES, N, Q, binomial, paired
from proofs.families.saber_blocks import ROW, packed, store_fields, unpacked
from proofs.machines.memory import Library


def place(library: Library, n: int, item: int) -> int:
    """Returns the place of coefficient n of an item in the polynomials that products take: ntt_lanes.hpp."""
    return paired(n, item) if library.instruction_set == "x86-64" else n * LANES + item


def unpacked_in_pairs(count: int) -> Proof:
    """unpack_paired: 12-bit fields of each item's record become words, two neighbours side by side; lanes from `count`
    on repeat the last item. [FIPS203, Alg 6]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, scratch, rows = run.space(), run.workspace(2 * N * LANES), run.fields("a", count * N, 12).words
        records = run.workspace(count * ROW)
        for item in range(count):
            store_fields(run, records + item * ROW, rows[item * N:(item + 1) * N])
        run.machine.call(function, out, records, ROW, count, scratch)
        for n in range(N):
            for lane in range(LANES):
                word = zext(rows[min(lane, count - 1) * N + n], 16)
                run.expect_same(run.result(out, place(library, n, lane)), word, f"word {n} of lane {lane}")

    return prove


def noise(eta: int) -> Proof:
    """sample_poly_cbd: words of bits, the first word of every item before the second, become a polynomial of every
    item with coefficients in [-eta, eta]. [FIPS203, Alg 8]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        bits = [run.fields(f"b{lane}", 2 * eta * N, 1).words for lane in range(LANES)]
        words = run.store([concat(*reversed(own[first:first + 16])) for first in range(0, 2 * eta * N, 16)
                           for own in bits])
        out = run.space()
        run.machine.call(function, out, words)
        for n in range(N):
            for lane, own in enumerate(bits):
                run.expect_table(run.result(out, n * LANES + lane), own[2 * eta * n:2 * eta * (n + 1)], binomial,
                                 f"coefficient {n} of lane {lane}")

    return prove


def interleaved(size: int, in_pairs: bool) -> Proof:
    """interleave_rows: the 16-bit words of every item's row of `size` bytes go into its lane, or two neighbours side by
    side."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        out, first = run.space(), run.space()
        rows = [run.unknown(f"row{lane}", size // 2, 0, (1 << 16) - 1, at=first + lane * ROW) for lane in range(LANES)]
        run.machine.call(function, out, run.pointers(*(row.address for row in rows)), size)
        for lane, row in enumerate(rows):
            for n, word in enumerate(row.words):
                at = place(library, n, lane) if in_pairs else n * LANES + lane
                run.expect_same(run.result(out, at), word, f"word {n} of lane {lane}")

    return prove


def all_below_q(count: int) -> Proof:
    """TooLarge: for each item, whether all of its coefficients, 12 bits each, are below q. [FIPS203, 7.2]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, Q)
        valid, a = run.space(), run.unknown("a", N * LANES, 0, (1 << 12) - 1)
        run.machine.call(function, valid, a.address, count)
        if run.drawn is not None:
            return
        for item in range(count):
            own = {a.words[place(library, n, item)] for n in range(N)}
            expect_all_below_q(run, run.result(valid, item, 8), own, item)

    return prove


def expect_all_below_q(run: Run, valid: Term, words: set[Term], item: int) -> None:
    """Raises NotProved unless a byte is 1 where all words are below q, otherwise 0."""
    invalid = negate(extract(valid, 0, 0))
    if extract(valid, 7, 1).value != 0:
        raise NotProved(f"item {item} has another byte than 0 or 1")
    only, found = Only(words), set()
    for cause in causes(invalid):
        word = only.of(cause)
        if word is None or word in found:
            raise NotProved(f"item {item} depends on other words, or twice on one")
        found.add(word)
        run.expect_table(compare("eq", cause, const(0, cause.width)), word, lambda x: x < Q, f"item {item}")
    if found != words:
        raise NotProved(f"not all words of item {item} are checked")


def claims() -> Iterator[Claim]:
    """Yields what is claimed of ML-KEM's interleaved items."""
    for isa in ("avx2", "neon"):
        prefix = f"_ZN7polykem5mlkem11interleaved{len(isa)}{isa}"
        records = f"_ZN7polykem7records{len(isa)}{isa}15interleave_rowsILb"
        for count in (LANES, LANES - 3):
            some, is_whole = ("", True) if count == LANES else (f" of {count}", False)
            for bits in (1, 4, 5, 10, 11, 12):
                yield Claim(f"mlkem {isa} interleaved pack {bits}{some}", f"{prefix}4packILj{bits}E*", "any words",
                            "FIPS 203, Algorithm 5, of their low bits, item by item", packed(bits, LANES, count),
                            is_long=not is_whole)
                if bits != 12:
                    yield Claim(f"mlkem {isa} interleaved unpack {bits}{some}", f"{prefix}6unpackILj{bits}E*",
                                "any bytes", "FIPS 203, Algorithm 6, in the lanes of the items",
                                unpacked(bits, LANES, count), is_long=not is_whole)
            yield Claim(f"mlkem {isa} interleaved unpack 12{some}", f"{prefix}13unpack_paired*", "any bytes",
                        "FIPS 203, Algorithm 6, in the lanes of the items, in pairs", unpacked_in_pairs(count),
                        is_long=not is_whole)
            yield Claim(f"mlkem {isa} interleaved check{some}", f"{isa}_mlkem_all_below_q", "words below 2^12",
                        "whether all of an item are below q", all_below_q(count), inlined=True)
        for eta in (2, 3):
            yield Claim(f"mlkem {isa} interleaved noise {eta}", f"{prefix}15sample_poly_cbdILj{eta}E*", "words of bits",
                        f"FIPS 203, Algorithm 8, in [-{eta}, {eta}]", noise(eta))
            yield Claim(f"mlkem {isa} interleaved rows for noise {eta}", f"{records}0EE*", "any words",
                        "them, in the lanes of the items", interleaved(64 * eta, False))
        yield Claim(f"mlkem {isa} interleaved rows of keys", f"{records}{int(isa == 'avx2')}EE*", "any words",
                    "them, in the lanes of the items, in pairs", interleaved(2 * N, True))
