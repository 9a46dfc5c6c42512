# SPDX-License-Identifier: Apache-2.0
"""Steps of Saber for one item, on the state of src/schemes/saber/ref/arithmetic.hpp: products of encapsulation and
decapsulation, rounding, packing and decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proofs.algebra.bilinear import BITS
from proofs.algebra.terms import concat, keep_sums_whole, zext
from proofs.claims import ANY_WORD, Array, Claim, Proof, Run, Values
from proofs.families.saber import N, NOISE_BITS, POLY, expect_product
from proofs.machines.memory import Library, bytes_of

Q_BITS, P_BITS = 13, 10
T_BITS = {2: 3, 3: 4, 4: 6}  # of c_m, by rank
SEED, COINS = 32, 96
KEYS = {"pk": 3, "sk": 4, "ct": 5, "pk_out": 24, "sk_out": 25, "ct_out": 26}  # words of a Batch
VECTOR = {"avx2": 32, "avx512": 64}  # bytes
# Bytes of a record.
SIZES = {rank: {"pk": N // 8 * rank * P_BITS + SEED, "sk": N // 8 * rank * (Q_BITS + P_BITS) + 3 * SEED,
                "ct": N // 8 * (rank * P_BITS + bits)} for rank, bits in T_BITS.items()}


def batch(run: Run, **words: int) -> int:
    """Returns the address of a Batch of one item with records."""
    batch_words = [0] * 32
    for name, word in words.items():
        batch_words[KEYS[name]] = word
    return run.pointers(*batch_words)


def rounded(x: Values) -> Values:
    """(x + h1 mod q) / 2^3. [SABER20, Saber.PKE.KeyGen, Saber.PKE.Enc]"""
    return ((x + 4) % (1 << Q_BITS)) >> Q_BITS - P_BITS


def encrypted(bits: int) -> Callable[[Values, Values], Values]:
    """(v' + h1 - 2^9 m mod p) / 2^(10 - bits). [SABER20, Saber.PKE.Enc]"""
    return lambda v, m: ((v + 4 - (m << P_BITS - 1)) % (1 << P_BITS)) >> P_BITS - bits


def decrypted(bits: int) -> Callable[[Values, Values], Values]:
    """(v + h2 - 2^(10 - bits) c_m mod p) / 2^9. [SABER20, Saber.PKE.Dec]"""
    h2 = (1 << P_BITS - 2) - (1 << P_BITS - bits - 1) + (1 << Q_BITS - P_BITS - 1)
    return lambda v, c: ((v + h2 - (c << P_BITS - bits)) % (1 << P_BITS)) >> P_BITS - 1


FUNCTIONS = {rank: (encrypted(bits), decrypted(bits)) for rank, bits in T_BITS.items()}


def lowest(x: Values) -> Values:
    return x % (1 << Q_BITS)


@dataclass
class Layout:
    """Where a Workspace of one item has its members."""

    rank: int
    isa: str

    @property
    def own_s(self) -> int:
        return (self.rank + 1) * self.rank * POLY + 64

    @property
    def s(self) -> int:
        return self.own_s + self.rank * POLY + 64

    @property
    def u(self) -> int:
        return self.s + self.rank * POLY

    @property
    def cm(self) -> int:
        return self.u + (self.rank + 1) * POLY

    @property
    def hashed(self) -> int:
        space = 2 * POLY  # of a product
        if self.isa != "ref":
            space = self.rank * 8 * POLY + 4 * POLY + 16 * POLY + 16 * 7 * VECTOR[self.isa]
        stream = self.cm + POLY + space
        ciphertext = N // 8 * (self.rank * P_BITS + T_BITS[self.rank])
        return stream + self.rank * N // 8 * (self.rank * Q_BITS + NOISE_BITS[self.rank]) + ciphertext + COINS


class Item:
    """A state of one item."""

    def __init__(self, run: Run, rank: int, isa: str, *records: str) -> None:
        self.run, self.layout = run, Layout(rank, isa)
        self.address = run.workspace(1 << 17)
        self.records = {name: run.workspace(SIZES[rank][name.partition("_")[0]]) for name in records}
        self.state = run.pointers(batch(run, **self.records), self.address)

    def words(self, name: str, at: int, polys: int) -> Array:
        return self.run.unknown(name, polys * N, *ANY_WORD, at=self.address + at)

    def stream(self, name: str, at: int, count: int, bits: int) -> Array:
        """Makes fields side by side at an address."""
        array = self.run.fields(name, count, bits)
        for n in range(0, count, 8):
            self.run.machine.memory.store(at + n * bits // 8, bytes_of(concat(*reversed(array.words[n:n + 8]))))
        return array


def encapsulation_products(rank: int, isa: str) -> Proof:
    """mul_abs: A s', then b^T s'. [SABER20, MatrixVectorMul, InnerProd]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa)
        a, s = item.words("a", 0, (rank + 1) * rank), item.words("s", item.layout.s, rank)
        run.machine.call(function, item.state)
        results = [run.result(item.address + item.layout.u, n) for n in range((rank + 1) * N)]
        expect_product(a.words, s.words, results, transposed=False)

    return prove


def decapsulation_product(rank: int, isa: str) -> Proof:
    """mul_bs: b'^T s, after b'. [SABER20, InnerProd]"""

    def prove(library: Library, function: str) -> None:
        keep_sums_whole()
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa)
        s, b = item.words("s", item.layout.own_s, rank), item.words("b", item.layout.u, rank)
        run.machine.call(function, item.state)
        results = [run.result(item.address + item.layout.u + rank * POLY, n) for n in range(N)]
        expect_product(s.words, b.words, results, transposed=False)

    return prove


def keys_stored(rank: int, isa: str) -> Proof:
    """store_keys: b, rounded to 10 bits, and s. [SABER20, POLVECp2BS, POLVECq2BS]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa, "pk_out", "sk_out")
        u, s = item.words("u", item.layout.u, rank), item.words("s", item.layout.s, rank)
        run.machine.call(function, item.state)
        for n in range(rank * N):
            run.expect_table(run.field(item.records["pk_out"], n, P_BITS), u.words[n], rounded, f"word {n} of b")
            run.expect_table(run.field(item.records["sk_out"], n, Q_BITS), s.words[n], lowest, f"word {n} of s")

    return prove


def ciphertext_stored(rank: int, isa: str) -> Proof:
    """store_c: b', rounded to 10 bits, then c_m. [SABER20, Saber.PKE.Enc]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa, "ct_out")
        u = item.words("u", item.layout.u, rank + 1)
        m = item.stream("m", item.address + item.layout.hashed, N, 1)
        run.machine.call(function, item.state)
        out = item.records["ct_out"]
        for n in range(rank * N):
            run.expect_table(run.field(out, n, P_BITS), u.words[n], rounded, f"word {n} of b'")
        for n in range(N):
            field = run.field(out + rank * N * P_BITS // 8, n, T_BITS[rank])
            run.expect_table(field, [u.words[rank * N + n], m.words[n]], FUNCTIONS[rank][0], f"word {n} of c_m")

    return prove


def message_decoded(rank: int, isa: str) -> Proof:
    """decode_m [SABER20, Saber.PKE.Dec]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa)
        v, c = item.words("v", item.layout.u + rank * POLY, 1), run.fields("c", N, T_BITS[rank])
        for n, word in enumerate(c.words):
            run.machine.memory.store(item.address + item.layout.cm + 2 * n, bytes_of(zext(word, 16)))
        run.machine.call(function, item.state)
        for n in range(N):
            bit = run.field(item.address + item.layout.hashed, n, 1)
            run.expect_table(bit, [v.words[n], c.words[n]], FUNCTIONS[rank][1], f"bit {n}")

    return prove


def loaded(rank: int, isa: str) -> Proof:
    """load_c_sk: b', c_m and s. [SABER20, BS2POLVECp, BS2POLVECq]"""

    def prove(library: Library, function: str) -> None:
        run = Run(library, 1 << BITS)
        item = Item(run, rank, isa, "ct", "sk")
        ct, layout = item.records["ct"], item.layout
        b = item.stream("b", ct, rank * N, P_BITS)
        c = item.stream("c", ct + rank * N * P_BITS // 8, N, T_BITS[rank])
        s = item.stream("s", item.records["sk"], rank * N, Q_BITS)
        run.machine.call(function, item.state)
        for name, fields, at in (("b'", b, layout.u), ("c_m", c, layout.cm), ("s", s, layout.own_s)):
            for n, field in enumerate(fields.words):
                run.expect_same(run.result(item.address + at, n), zext(field, 16), f"word {n} of {name}")

    return prove


SCOPES = {"ref": ("8portable", "8portable10Arithmetic"), "avx2": ("4avx2", "3ref4avx210Arithmetic"),
          "avx512": ("6avx512", "3ref6avx51210Arithmetic")}


def claims() -> Iterator[Claim]:
    """Yields what is claimed of Saber's steps."""
    for rank in NOISE_BITS:
        for isa, (scope, arithmetic) in SCOPES.items():
            name = f"_ZN7polykem5saber{scope}5Steps*Lm{rank}E*{arithmetic}*"
            yield Claim(f"saber {isa} products of encaps {rank}", f"{name}7mul_absE*", "any words",
                        "A s' and b s' mod (2^13, x^256 + 1)", encapsulation_products(rank, isa), is_long=True)
            yield Claim(f"saber {isa} product of decaps {rank}", f"{name}6mul_bsE*", "any words",
                        "b' s mod (2^13, x^256 + 1)", decapsulation_product(rank, isa),
                        is_long=isa == "ref" or rank > 2)
            yield Claim(f"saber {isa} store keys {rank}", f"{name}10store_keysE*", "any words",
                        "b rounded to 10 bits, s", keys_stored(rank, isa), is_long=rank != 3)
            yield Claim(f"saber {isa} store ciphertext {rank}", f"{name}7store_cE*", "any words, any message",
                        f"b' rounded to 10 bits, v' and the message to {T_BITS[rank]}", ciphertext_stored(rank, isa),
                        is_long=rank != 3)
            yield Claim(f"saber {isa} message {rank}", f"{name}8decode_mE*", f"any words v, c_m of {T_BITS[rank]} bits",
                        "the highest bits of v + h2 - c_m", message_decoded(rank, isa), is_long=rank != 3)
            yield Claim(f"saber {isa} load {rank}", f"{name}9load_c_skE*", "any bytes", "words of their bits, in order",
                        loaded(rank, isa), is_long=rank != 3)
