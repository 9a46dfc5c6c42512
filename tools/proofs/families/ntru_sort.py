# SPDX-License-Identifier: Apache-2.0
"""The sorts of HPS's sampling. [NTRU20, Fixed_Type]"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofs.algebra.facts import NotProved
from proofs.algebra.rewriting import Lane
from proofs.algebra.terms import Term, extract, zext
from proofs.claims import Claim, Proof, Run
from proofs.families.networks import Comparing, Network, comparing
from proofs.machines.memory import Library

N = 509
GAP = 8  # of keys between the two sequences
WORDS = {"avx2": 8, "avx512": 16}  # of 32 bits in a register
MATRICES = {"avx2": (32, 64), "avx512": (32,)}  # rows of them


def sequence(n: int) -> int:
    """Returns the number of keys of each sequence: at least n / 2, in at most 16 rows of a power of two."""
    columns = 1
    while 16 * columns < n // 2:
        columns *= 2
    return -(-(n // 2) // columns) * columns


def sorted_labels(isa: str, n: int, bits: int) -> Proof:
    """sort_sequences: the lowest two bits of the n - 1 smallest keys, in order, in any one lane."""

    def prove(library: Library, function: str) -> None:
        run, lanes, size = comparing(library), WORDS[isa], sequence(n)
        step = 4 * lanes  # bytes of a register
        first = run.unknown_lanes("key", size, lanes, 32)
        second = run.unknown_lanes("second key", size, lanes, 32, at=first.address + (size + GAP) * step)
        out = run.space()
        run.disregard(first.address, (2 * size + GAP) * step)
        run.machine.call(function, first.address, size, out, n - 1)
        row = step if bits == 16 else lanes
        assert isinstance(run.machine, Comparing)
        items = [Lane(item) for item in range(lanes)]
        keys = [label_of(run, items, out + r * row, bits) for r in range(n - 1)]
        Network(run.machine.choices, [*first.words, *second.words], keys).expect_sorted()

    return prove


def label_of(run: Run, items: Sequence[Lane], address: int, bits: int) -> Term:
    """Returns the key whose lowest two bits the label at an address is, for each item."""
    labels = {own.of(run.result(address, item, bits)) for item, own in enumerate(items)}
    label = key = labels.pop()
    while key.op in ("concat", "extract"):
        key = key.args[-1]
    if labels or label is not zext(extract(key, 1, 0), bits):
        raise NotProved(f"{label} is not the label of a key, or not for all items")
    return key


def sorted_matrix(isa: str, rows: int) -> Proof:
    """sort_matrix: all words, in order."""

    def prove(library: Library, function: str) -> None:
        run, count = comparing(library), rows * WORDS[isa]
        out, x = run.space(), run.unknown("x", count, -(1 << 31), (1 << 31) - 1, 32)
        run.disregard(x.address, 4 * count)
        run.machine.call(function, out, x.address)
        assert isinstance(run.machine, Comparing)
        Network(run.machine.choices, x.words, [run.result(out, k, 32) for k in range(count)]).expect_sorted()

    return prove


def claims() -> Iterator[Claim]:
    """Yields what is claimed of sorts."""
    for isa, sizes in MATRICES.items():
        inside = f"_ZN7polykem10sort_lanes{len(isa)}{isa}"
        for rows in sizes:
            yield Claim(f"sort {isa} {rows * WORDS[isa]}", f"{inside}11sort_matrixILm{rows}EEEvPiS3_",
                        "any words of 32 bits", "they in order", sorted_matrix(isa, rows), is_long=rows > 32)
        stores = {16: "11StoreLabels"} | ({8: "15StoreLabelBytes"} if isa == "avx512" else {})
        for bits, store in stores.items():
            yield Claim(f"ntru {isa} block sort of {'words' if bits == 16 else 'bytes'} {N}",
                        f"{inside}14sort_sequencesINS1_{store}EEEvNS1_9SequencesET_", "any keys",
                        f"labels of the {N - 1} smallest, in order", sorted_labels(isa, N, bits), is_long=bits == 8)
