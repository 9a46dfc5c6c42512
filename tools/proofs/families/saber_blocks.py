# SPDX-License-Identifier: Apache-2.0
"""Saber's interleaved items on the state of src/schemes/saber/interleaved/state.hpp. Packing and unpacking move words
between items and lanes, and are proved with all items apart. In the other steps they are left out: words that they make
are any words of that many bits, and words that they take are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from proofs.algebra.bilinear import BITS
from proofs.algebra.facts import NotProved
from proofs.algebra.terms import Term, concat, const, extract, keep_sums_whole, variable, zext
from proofs.claims import LANES, Claim, Proof, Run
from proofs.families.mlkem import binomial
from proofs.families.saber import N, NOISE_BITS, POLY, expect_product, lines
from proofs.families.saber_steps import (COINS, FUNCTIONS, P_BITS, Q_BITS, SEED, SIZES, T_BITS, batch, lowest, rounded)
from proofs.machines.machine import Machine
from proofs.machines.memory import Library

PACKED_BITS = (1, 3, 4, 6, 10, 13)
ROW = 1 << 9  # bytes of a record


def interleaved(isa: str, name: str, bits: int) -> str:
    return f"_ZN7polykem5saber11interleaved{len(isa)}{isa}{len(name)}{name}ILj{bits}E*"


def unpacked(bits: int, lanes: int, count: int) -> Proof:
    """Fields of each item's record become its lane's words; lanes from `count` on repeat the last item."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        out, scratch, rows = run.space(), run.workspace(2 * N * lanes), run.fields("a", count * N, bits).words
        records = run.workspace(count * ROW)
        for item in range(count):
            store_fields(run, records + item * ROW, rows[item * N:(item + 1) * N])
        run.machine.call(function, out, records, ROW, count, scratch)
        for n in range(N):
            for lane in range(lanes):
                word = zext(rows[min(lane, count - 1) * N + n], 16)
                run.expect_same(run.result(out, n * lanes + lane), word, f"word {n} of lane {lane}")

    return prove


def packed(bits: int, lanes: int, count: int) -> Proof:
    """The inverse, of the lowest bits of each word, for the first `count` items."""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 3)
        fields, above = run.fields("a", N * lanes, bits).words, run.fields("more", N * lanes, 16 - bits).words
        records, scratch = run.workspace(count * ROW), run.workspace(2 * N * lanes)
        words = run.store([concat(*both) for both in zip(above, fields)])
        run.machine.call(function, records, ROW, words, count, scratch)
        for item in range(count):
            run.expect_packed(records + item * ROW, fields[item::lanes])

    return prove


def store_fields(run: Run, at: int, fields: list[Term]) -> None:
    for n in range(0, len(fields), 8):
        whole = concat(*reversed(fields[n:n + 8]))
        run.machine.memory.store(at + n * fields[0].width // 8, [(whole, byte) for byte in range(whole.width // 8)])


Records = tuple[int, int, int]  # address, distance from one to the next, bits of a field


@dataclass
class Block:
    """A state of items, of which each lane has any one. In a run on drawn words packing is not left out."""

    run: Run
    library: Library
    isa: str
    rank: int
    unpacked: dict[Records, list[Term]] = field(default_factory=dict)
    packed: dict[Records, list[Term]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lanes = LANES[self.isa]
        self.run.machine.alike = True
        row, rank = 2 * self.lanes, self.rank
        self.matrix_row = lines(rank * rank * N * Q_BITS // 8)
        product = self.lanes * (self.matrix_row + lines(rank * N * NOISE_BITS[rank] // 8))
        self.address = self.run.workspace(1 << 20)
        self.s = (self.address + product + row * (rank * (1008 + 448 + 144) + 2 * 144 + 2 * 448) +
                  lines(rank * 1008 * 2))
        self.poly = N * row
        self.u = self.s + rank * self.poly
        self.cm = self.u + (rank + 2) * self.poly
        ciphertext = N // 8 * (rank * P_BITS + T_BITS[rank])
        self.hashed = self.cm + 2 * self.poly + self.lanes * (SEED + ciphertext + COINS)

    def state(self, records: dict[str, int], shared: tuple[int, int] | None = None) -> int:
        """Returns the address of the state; `shared` are the address and size of an expanded key that all items have.
        """
        at = batch(self.run, **records)
        if shared is not None:
            words = [self.lanes, 1, *[0] * 18, *shared, 1, *[0] * 9]
            at = self.run.pointers(*words)
        return self.run.pointers(at, self.lanes, self.address)

    def words(self, name: str, at: int, polys: int) -> list[Term]:
        return self.run.unknown_lanes(name, polys * N, self.lanes, at=at).words

    def few(self, name: str, at: int, bits: int) -> list[Term]:
        """Makes a polynomial with words of so many bits."""
        words = [variable(f"{name}[{n}]", bits) for n in range(N)]
        for n, word in enumerate(words):
            if self.run.drawn is not None:
                words[n] = word = const(self.run.drawn.getrandbits(bits), bits)
            else:
                self.run.facts.assume(word, 0, (1 << bits) - 1)
            lanes = self.run.machine.lanes_alike(zext(word, 16), 2 * self.lanes)
            self.run.machine.memory.store(at + 2 * self.lanes * n, lanes)
        return words

    def leave_out_packing(self, *bits: int) -> None:
        """Makes packing of words of so many bits write nothing."""
        for width in bits:
            self._replace("pack", width, self._packs(width))

    def leave_out_unpacking(self, *bits: int, any_words: bool = False) -> None:
        """Makes unpacking of words of so many bits write any such words, or any words at all."""
        for width in bits:
            self._replace("unpack", width, self._unpacks(width, any_words))

    def _replace(self, name: str, bits: int, by: Callable[[Machine], None]) -> None:
        if self.run.drawn is None:
            self.run.machine.instead[self.library.function(interleaved(self.isa, name, bits))] = by

    def _unpacks(self, bits: int, any_words: bool) -> Callable[[Machine], None]:
        def unpack(machine: Machine) -> None:
            to, source, size, count = (machine.known(machine.general[n], "an argument") for n in (7, 6, 2, 1))
            records = source, size, bits
            if count != self.lanes or records in self.unpacked:
                raise NotProved(f"{count} records at {source:#x} are unpacked, or once more")
            name = f"unpacked {source:#x}"
            self.unpacked[records] = self.words(name, to, 1) if any_words else self.few(name, to, bits)
        return unpack

    def _packs(self, bits: int) -> Callable[[Machine], None]:
        def pack(machine: Machine) -> None:
            to, size, source, count = (machine.known(machine.general[n], "an argument") for n in (7, 6, 2, 1))
            records = to, size, bits
            if count != self.lanes or records in self.packed:
                raise NotProved(f"{count} records at {to:#x} are packed, or once more")
            self.packed[records] = [extract(self.run.lane(source, n, self.lanes), bits - 1, 0) for n in range(N)]
        return pack

    def made(self, *records: int) -> list[Term]:
        """Returns the words that records have become."""
        if records not in self.unpacked:
            raise NotProved(f"records at {records[0]:#x} are not unpacked")
        return self.unpacked[records]  # type: ignore[index]

    def expect_packed(self, records: Records, sources: list[list[Term]], expected: Callable, what: str) -> None:
        """Raises NotProved unless records have the expected functions of words."""
        if self.run.drawn is not None:
            return
        if records not in self.packed:
            raise NotProved(f"{what} is not packed")
        for n, (word, *of) in enumerate(zip(self.packed[records], *sources)):
            self.run.expect_table(word, of, expected, f"word {n} of {what}")


def records_of_lanes(run: Run, lanes: int, size: int) -> int:
    """Returns the address of records, which are the same ones for all items where words are drawn."""
    at = run.workspace(lanes * size)
    if run.drawn is not None:
        row = run.drawn.randbytes(size)
        for lane in range(lanes):
            run.machine.memory.store(at + lane * size, [(const(byte, 8), 0) for byte in row])
    return at


def products(rank: int, isa: str, decapsulates: bool) -> Proof:
    """mul_abs: A s', then b^T s'; mul_bs: b'^T s."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        block, key = Block(run, library, isa, rank), "sk" if decapsulates else "pk"
        records = records_of_lanes(run, block.lanes, SIZES[rank][key])
        if run.drawn is not None:
            matrix = run.drawn.randbytes(block.matrix_row)
            for lane in range(block.lanes):
                at = block.address + lane * block.matrix_row
                run.machine.memory.store(at, [(const(byte, 8), 0) for byte in matrix])
        s = block.words("s", block.u if decapsulates else block.s, rank)
        block.leave_out_unpacking(Q_BITS, P_BITS, any_words=True)
        run.machine.call(function, block.state({key: records}))
        size = SIZES[rank][key]
        if decapsulates:
            entries = [(records + j * N * Q_BITS // 8, size, Q_BITS) for j in range(rank)]
        else:
            entries = [(block.address + e * N * Q_BITS // 8, block.matrix_row, Q_BITS) for e in range(rank * rank)]
            entries += [(records + j * N * P_BITS // 8, size, P_BITS) for j in range(rank)]
        expect_results(block, [block.made(*entry) for entry in entries], s, decapsulates)

    return prove


def expect_results(block: Block, entries: list[list[Term]], s: list[Term], decapsulates: bool) -> None:
    rows = 1 if decapsulates else block.rank + 1
    at = block.u + (block.rank * block.poly if decapsulates else 0)
    results = [block.run.lane(at, n, block.lanes) for n in range(rows * N)]
    expect_product([word for entry in entries for word in entry], s, results, transposed=False)


def shared_products(rank: int, isa: str, decapsulates: bool) -> Proof:
    """The same with a key that all items share."""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        block, polys = Block(run, library, isa, rank), (rank + 1) * rank
        size = polys * POLY + 64 + (rank * POLY + 64 if decapsulates else 0)
        key = run.workspace(size)
        at, count = (key + polys * POLY + 64, rank) if decapsulates else (key, polys)
        a = run.unknown("a", count * N, -(1 << 15), (1 << 15) - 1, at=at).words
        s = block.words("s", block.u if decapsulates else block.s, rank)
        run.machine.call(function, block.state({}, (key, size)))
        expect_results(block, [a], s, decapsulates)

    return prove


def keys_stored(rank: int, isa: str) -> Proof:
    """store_keys"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        block = Block(run, library, isa, rank)
        records = {f"{key}_out": run.workspace(block.lanes * SIZES[rank][key]) for key in ("pk", "sk")}
        u, s = block.words("u", block.u, rank), block.words("s", block.s, rank)
        assume_words(run, u + s)
        block.leave_out_packing(P_BITS, Q_BITS)
        run.machine.call(function, block.state(records))
        for i in range(rank):
            here, sizes = slice(i * N, (i + 1) * N), SIZES[rank]
            b = records["pk_out"] + i * N * P_BITS // 8, sizes["pk"], P_BITS
            block.expect_packed(b, [u[here]], rounded, "b")
            block.expect_packed((records["sk_out"] + i * N * Q_BITS // 8, sizes["sk"], Q_BITS), [s[here]], lowest, "s")

    return prove


def assume_words(run: Run, words: list[Term]) -> None:
    if run.drawn is None:
        for word in words:
            run.facts.assume(word, 0, (1 << 16) - 1)


def ciphertext_stored(rank: int, isa: str) -> Proof:
    """store_c"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        block = Block(run, library, isa, rank)
        out = run.workspace(block.lanes * SIZES[rank]["ct"])
        u = block.words("u", block.u, rank + 1)
        assume_words(run, u)
        block.leave_out_unpacking(1)
        block.leave_out_packing(P_BITS, T_BITS[rank])
        run.machine.call(function, block.state({"ct_out": out}))
        size = SIZES[rank]["ct"]
        for i in range(rank):
            block.expect_packed((out + i * N * P_BITS // 8, size, P_BITS), [u[i * N:(i + 1) * N]], rounded, "b'")
        if run.drawn is None:
            message = block.made(block.hashed, 2 * SEED, 1)
            c_m = out + rank * N * P_BITS // 8, size, T_BITS[rank]
            block.expect_packed(c_m, [u[rank * N:], message], FUNCTIONS[rank][0], "c_m")

    return prove


def message_decoded(rank: int, isa: str) -> Proof:
    """decode_m"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        block = Block(run, library, isa, rank)
        v, c = block.words("v", block.u + rank * block.poly, 1), block.few("c", block.cm, T_BITS[rank])
        assume_words(run, v)
        block.leave_out_packing(1)
        run.machine.call(function, block.state({}))
        block.expect_packed((block.hashed, 2 * SEED, 1), [v, c], FUNCTIONS[rank][1], "m")

    return prove


def secret(mu: int, isa: str) -> Proof:
    """sample_secret, of words of mu bits. [SABER20, GenSecret]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        block = Block(run, library, isa, 2)
        records = records_of_lanes(run, block.lanes, ROW)
        block.leave_out_unpacking(mu)
        run.machine.call(function, block.s, records, ROW, block.lanes, block.u)
        if run.drawn is None:
            for n, word in enumerate(block.made(records, ROW, mu)):
                run.expect_table(run.lane(block.s, n, block.lanes), word, SAMPLES[mu], f"word {n}")

    return prove


SAMPLES = {mu: lambda x, mu=mu: binomial(*(x >> n & 1 for n in range(mu))) for mu in (6, 8, 10)}


def claims() -> Iterator[Claim]:
    """Yields what is claimed of Saber's interleaved items."""
    for isa, lanes in LANES.items():
        for bits in PACKED_BITS:
            for count in (lanes, lanes - 3):
                some = "" if count == lanes else f" of {count}"
                yield Claim(f"saber {isa} block pack {bits} bits{some}", interleaved(isa, "pack", bits), "any words",
                            "their low bits, in order, item by item", packed(bits, lanes, count),
                            is_long=count != lanes or bits != 10 or isa == "avx512")
                yield Claim(f"saber {isa} block unpack {bits} bits{some}", interleaved(isa, "unpack", bits),
                            "any bytes", "words of their bits, in order, in the lanes of their items",
                            unpacked(bits, lanes, count), is_long=count != lanes or bits != 13 or isa == "avx512")
        for mu in NOISE_BITS.values():
            yield Claim(f"saber {isa} block secret {mu}", interleaved(isa, "sample_secret", mu), "words of bits",
                        "GenSecret, mod 2^16", secret(mu, isa))
        for rank in NOISE_BITS:
            yield from claims_of_rank(isa, rank)


def claims_of_rank(isa: str, rank: int) -> Iterator[Claim]:
    length = len(isa)
    name = f"_ZN7polykem5saber{length}{isa}5Steps*Lm{rank}E*11interleaved{length}{isa}10Arithmetic*"
    for decapsulates, step, result in ((False, "7mul_abs", "A s' and b s'"), (True, "6mul_bs", "b' s")):
        operation = "decaps" if decapsulates else "encaps"
        for shared, proof in (("", products), (" shared", shared_products)):
            yield Claim(f"saber {isa} block{shared} products of {operation} {rank}", f"{name}{step}E*", "any words",
                        f"{result} mod (2^13, x^256 + 1)", proof(rank, isa, decapsulates), is_long=True)
    yield Claim(f"saber {isa} block store keys {rank}", f"{name}10store_keysE*", "any words",
                "b rounded to 10 bits, s", keys_stored(rank, isa), is_long=rank != 3)
    yield Claim(f"saber {isa} block store ciphertext {rank}", f"{name}7store_cE*", "any words, any message",
                f"b' rounded to 10 bits, v' and the message to {T_BITS[rank]}", ciphertext_stored(rank, isa),
                is_long=rank != 3)
    yield Claim(f"saber {isa} block message {rank}", f"{name}8decode_mE*", f"any words v, c_m of {T_BITS[rank]} bits",
                "the highest bits of v + h2 - c_m", message_decoded(rank, isa), is_long=rank != 3)
