# SPDX-License-Identifier: Apache-2.0
"""The fewest cycles that an operation's algorithms can take on a CPU core.

The floor counts only work that cannot be left out: how many operations of each kind, and how soon the ports of this
core can execute them if nothing ever stalls (PortModel; bench/cpu_rates measures such rates). Registers have 512 bits.
NTRU (docs/adr/0002, 0003 and 0010):
  product      7 * 81 products of leaves of ceil(n / 64) coefficients (Toom-4, four Karatsuba levels), and the leaves'
               additions; on tiles n^2 multiply-adds for each pair of limbs of a byte: two pairs with one small factor,
               three in the inversions and in the second product of decaps, one for two small factors
  S3 product   27 bit-sliced products of n / 8 by n / 8, five operations of three operands for 512 multiply-adds; on
               tiles one pair of limbs
  permutation  24 rounds of Keccak-f[1600]: 61 logic operations, 60 of them of three operands, and 29 rotations; eight
               messages
  AES          14 rounds of four blocks an instruction
  sort         a minimum and a logic operation for each comparator of Batcher's merge exchange, 16 keys a register
  inversions   2 n - 3 division steps on 1.5 n bits, two operations a register mod 2 and seven mod 3; eight items share
               one; where products are on tiles 64 do, and only the products of sharing are counted
ML-KEM, Kyber and FrodoKEM:
  permutation  as above; three of SHAKE128 for a polynomial of A in ML-KEM, ceil(2 n / 168) for a row of A in FrodoKEM
  transform    7 * 128 butterflies of three 16-bit multiplications and three additions; 15 and 7 for a product of
               linear ones
  AES          eight rounds of four blocks an instruction: two rounds come of what rows and columns of A share
  matrix       8 n^2 multiply-adds for A times a secret matrix, 32 an instruction; or twice as many of bytes, on tiles.
               FrodoKEM multiplies A while it is made, so what uses other ports than its AES can be done meanwhile. With
               AES the floor is the lesser of this and of additions in place of half of the multiplications
               [WINOGRAD68], at the price of one more multiplication for every eight that are left
Saber (src/schemes/saber/README.md):
  product      7 * 27 products of leaves of 8 by 8 coefficients, 64 multiplications and additions each
With one public key for all, what depends on that key alone (A, its hash) is left out.
Loads, stores, packing and transposes have no floor here: they are part of the gap.
"""

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PortModel:
    """The ports of a core for each kind of operation on a register, one a cycle each; a letter stands for a port."""

    ports: dict[str, str]
    tile_macs: float = 0  # multiply-adds of bytes a cycle on tiles; 0: no tiles

    def cycles(self, **operations: float) -> float:
        """Returns the fewest cycles for so many operations of each kind: each port does at most one a cycle."""
        letters = sorted(set("".join(self.ports.values())))
        floor = 0.0
        for size in range(1, len(letters) + 1):
            for chosen in itertools.combinations(letters, size):
                load = sum(count for kind, count in operations.items() if set(self.ports[kind]) <= set(chosen))
                floor = max(floor, load / size)
        return floor


ZEN5 = PortModel({"add": "abcd", "logic": "abcd", "ternary": "abcd", "minimum": "abcd", "multiply": "ab", "aes": "ab",
                  "rotate": "ab"})  # fmt: skip
# Golden Cove with 512-bit registers has two ports for vectors; AMX has units of its own.
GOLDEN_COVE = PortModel({"add": "05", "logic": "05", "ternary": "05", "minimum": "0", "multiply": "05", "aes": "0",
                         "rotate": "0"})  # fmt: skip
GOLDEN_COVE_AMX = PortModel(GOLDEN_COVE.ports, tile_macs=1024)


def model_of(machine: str) -> PortModel | None:
    """Returns the model of the machine with this description in JSON files; None if it is not known."""
    if "Zen 5" in machine or re.search(r"EPYC 9\d\d5", machine):
        return ZEN5
    if "Xeon" in machine and "AVX-512" in machine:
        return GOLDEN_COVE_AMX if "AMX" in machine else GOLDEN_COVE
    return None


NTRU: dict[str, dict[str, Any]] = {
    "ntruhps2048509": dict(n=509, logq=11, hps=True),
    "ntruhps2048677": dict(n=677, logq=11, hps=True),
    "ntruhps4096821": dict(n=821, logq=12, hps=True),
    "ntruhrss701": dict(n=701, logq=13, hps=False),
}
NEWTON_PRODUCTS = 8
SHARING_BLOCKS = 8  # that share one inversion in key generation, at three products for each but the first
SHARING_ITEMS = 64  # the same on tiles
SHA3_RATE = 136
LANES_16 = 32
AES_BLOCKS = 4  # of a register
GRID_ROUNDS = 8  # of AES for a block of FrodoKEM's A (prim/aes/lanes/grid128.hpp)


def comparators(count: int) -> int:
    """Returns the number of comparisons in Batcher's merge exchange [KNUTH3, 5.2.2, Alg. M]."""
    total, top = 0, 1 << (math.ceil(math.log2(count)) - 1)
    p = top
    while p > 0:
        q, r, distance = top, 0, p
        while True:
            total += sum(1 for i in range(count - distance) if i & p == r)
            if q == p:
                break
            distance, q, r = q - p, q // 2, p
        p //= 2
    return total


def permutations(message_bytes: int, rate: int = SHA3_RATE) -> int:
    return message_bytes // rate + 1


def permutation(model: PortModel) -> float:
    """Returns the cycles of Keccak-f[1600] for one of eight messages."""
    return 24 * model.cycles(logic=1, ternary=60, rotate=29) / 8


def ntru_product(model: PortModel, n: int, limbs: int) -> float:
    """Returns the cycles of a product modulo x^n - 1 and a power of two, for one of 32 items. limbs: pairs on tiles."""
    leaf = math.ceil(n / 64)
    vectors = 7 * 81 * model.cycles(multiply=leaf**2, add=(leaf - 1) ** 2) / LANES_16
    return min(vectors, on_tiles(model, n, limbs))


def on_tiles(model: PortModel, n: int, limbs: int) -> float:
    return limbs * n**2 / model.tile_macs if model.tile_macs else math.inf


def ntru_inversion(model: PortModel, n: int, operations: int) -> float:
    """Returns the cycles of division steps of so many operations on a register of 16 coefficients of 32 items."""
    return (2 * n - 3) * 1.5 * n / 16 / LANES_16 * model.cycles(logic=operations)


def ntru_floors(model: PortModel, n: int, logq: int, hps: bool) -> dict[str, float]:
    product, product_of_words = ntru_product(model, n, 2), ntru_product(model, n, 3)
    vectors_s3 = 27 * math.ceil(n / 8) ** 2 / 512 * model.cycles(ternary=5)
    product_s3 = min(vectors_s3, on_tiles(model, n, 1))
    coins = (n - 1) + (math.ceil(30 * (n - 1) / 8) if hps else n - 1)
    sort = comparators(n - 1) / 16 * model.cycles(minimum=1, logic=1) if hps else 0
    ciphertext = math.ceil((n - 1) * logq / 8)
    rm = permutations(2 * math.ceil((n - 1) / 5)) * permutation(model)
    aes = math.ceil(coins / 16) / AES_BLOCKS * model.cycles(aes=14)
    shared = 3 * (product_of_words + product_s3)
    if model.tile_macs:
        inverses = shared * (SHARING_ITEMS - 1) / SHARING_ITEMS
    else:
        one = NEWTON_PRODUCTS * product_of_words + ntru_inversion(model, n, 2) + ntru_inversion(model, n, 7)
        inverses = (one + (SHARING_BLOCKS - 1) * shared) / SHARING_BLOCKS
    return {
        "keygen": ntru_product(model, n, 1) + 4 * product + inverses + sort + aes,
        # AES draws m beside the tiles' products
        "encaps": (max(product, aes) if model.tile_macs else product + aes) + rm + sort,
        "decaps": product + product_of_words + product_s3 + rm + permutations(32 + ciphertext) * permutation(model),
    }


def mlkem_floors(model: PortModel, k: int, round3: bool, shared: bool) -> dict[str, float]:
    """Returns ML-KEM's floors. k: rank; round3: Kyber of round 3, which hashes more."""
    pk, ct = 384 * k + 32, 32 * ((10 if k < 4 else 11) * k + (4 if k < 4 else 5))
    transform = 7 * 128 / LANES_16 * model.cycles(multiply=3, add=3)
    product = 128 / LANES_16 * model.cycles(multiply=15, add=7)
    noise_rate = 2 if k == 2 else 1  # permutations for a polynomial of s, e and r (eta 3 needs two)
    matrix = 0 if shared else 3 * k * k
    encrypt = matrix + noise_rate * k + k + 1
    keygen = 3 * k * k + noise_rate * 2 * k + 1 + permutations(pk)
    encaps = encrypt + 1 + (0 if shared else permutations(pk)) + (2 + permutations(ct) if round3 else 0)
    decaps = encrypt + 1 + permutations(ct) + (1 if round3 else 0 if shared else permutations(pk))
    arithmetic = (2 * k + 1) * transform + (k * k + k) * product
    return {
        "keygen": keygen * permutation(model) + 2 * k * transform + k * k * product,
        "encaps": encaps * permutation(model) + arithmetic,
        "decaps": decaps * permutation(model) + arithmetic + (k + 1) * transform + k * product,
    }


SABER = {"lightsaber": dict(l=2, mu=10, t=3), "saber": dict(l=3, mu=8, t=4), "firesaber": dict(l=4, mu=6, t=6)}


def saber_floors(model: PortModel, l: int, mu: int, t: int, shared: bool) -> dict[str, float]:  # noqa: E741
    """Returns Saber's floors. l: rank; mu: random bits for a coefficient of s; t: bits of a coefficient of c_m."""
    pk, ct, noise = 320 * l + 32, 320 * l + 32 * t, math.ceil(32 * mu * l / 168)
    matrix = math.ceil(416 * l * l / 168)
    product = 7 * 27 * model.cycles(multiply=64, add=64) / LANES_16
    encrypt = (0 if shared else matrix) + noise + 1
    return {
        "keygen": (1 + matrix + noise + permutations(pk)) * permutation(model) + l * l * product,
        "encaps": (encrypt + 1 + (0 if shared else permutations(pk)) + permutations(ct) + 1) * permutation(model) +
        (l * l + l) * product,
        "decaps": (encrypt + permutations(ct) + 1) * permutation(model) + (l * l + 2 * l) * product,
    }


def frodo_matrix(model: PortModel, n: int, aes: bool, shared: bool) -> float:
    """Returns the cycles of A, unless it is given, and of its product with a secret matrix."""
    rounds = n * n / 8 / AES_BLOCKS * GRID_ROUNDS if aes and not shared else 0
    hashes = 0 if aes or shared else n * math.ceil(2 * n / 168) * permutation(model)
    if model.tile_macs:
        return hashes + max(model.cycles(aes=rounds), 16 * n * n / model.tile_macs)
    plain = model.cycles(aes=rounds, multiply=8 * n * n / LANES_16)
    if not aes:
        return hashes + plain
    return min(plain, model.cycles(aes=rounds, multiply=9 * n * n / 2 / LANES_16, add=8 * n * n / LANES_16))


def frodo_floors(model: PortModel, n: int, aes: bool, salted: bool, shared: bool) -> dict[str, float]:
    rate = 168 if n == 640 else 136
    secret = {640: 16, 976: 24, 1344: 32}[n]
    bits = 15 if n == 640 else 16
    pk = 16 + n * bits
    ct = (n + 8) * bits + (2 * secret if salted else 0)
    small = model.cycles(multiply=64 * n / LANES_16)

    def hashes(noise_values: int, *messages: int) -> float:
        count = math.ceil(2 * noise_values / rate) + sum(permutations(m, rate) for m in messages)
        return count * permutation(model)

    encrypt = frodo_matrix(model, n, aes, shared) + small
    return {
        "keygen": frodo_matrix(model, n, aes, False) + hashes(16 * n, pk, 16),
        "encaps": encrypt + hashes(16 * n + 64, ct, *([2 * secret] if shared else [pk, 2 * secret])),
        "decaps": encrypt + small + hashes(16 * n + 64, ct, 2 * secret),
    }


def floors(scheme: str, shared: bool, model: PortModel) -> dict[str, float]:
    """Returns the cycles of keygen, encaps and decaps. shared: one public key for all."""
    if scheme in NTRU:
        return ntru_floors(model, **NTRU[scheme])
    if scheme in SABER:
        return saber_floors(model, **SABER[scheme], shared=shared)
    found = re.fullmatch(r"([a-z]+?)(\d+)(?:aes|shake)?", scheme)
    if found is None:
        raise KeyError(scheme)
    name, number = found.groups()
    if name in ("mlkem", "kyber"):
        return mlkem_floors(model, int(number) // 256, name == "kyber", shared)
    if not name.endswith("frodokem"):
        raise KeyError(scheme)
    return frodo_floors(model, int(number), scheme.endswith("aes"), name == "frodokem", shared)


def floor(scheme: str, op: str, machine: str) -> float:
    """Returns the cycles of an operation with a key for every item; 0 if no floor is known for the set or machine."""
    model = model_of(machine)
    try:
        return floors(scheme, False, model).get(op, 0) if model else 0
    except KeyError:
        return 0


MAX_SMALL_BATCH = 16  # items of the small batches that `make bench-peers` measures beside full ones


def is_best(record: dict[str, Any]) -> bool:
    """Returns whether polykem chose the backend of a record of `make bench-peers`; earlier files do not say so."""
    return not record.get("forced", record["backend"] != "avx512")
