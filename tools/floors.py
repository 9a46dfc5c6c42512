#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured cycles of the operations beside the floor of the algorithms chosen, as a Markdown table.

    tools/floors.py build/bench-peers.json

The floor counts only work that cannot be left out, at the rates of a Zen 5 core with AVX-512 (docs/adr/0002 and 0003).
NTRU:
  product      7 * 81 products of leaves of ceil(n / 64) coefficients (Toom-4, four Karatsuba levels), 64 a cycle
  S3 product   27 bit-sliced products of n / 8 by n / 8, 315 multiply-adds a cycle
  permutation  72 cycles of Keccak-f[1600] a message
  AES          2 cycles a block
  sort         two operations a comparator of Batcher's merge exchange, 16 keys an operation, four operations a cycle
  inversions   the operations of the division steps, as counted in docs/adr/0003; eight items share one, docs/adr/0010
ML-KEM, Kyber and FrodoKEM:
  permutation  as above; three of SHAKE128 for a polynomial of A in ML-KEM, ceil(2 n / 168) for a row of A in FrodoKEM
  transform    7 * 128 butterflies of three 16-bit multiplications, 64 a cycle; 15 a product of linear ones
  AES          ten rounds of four blocks an instruction, two a cycle
  matrix       8 n^2 multiply-adds for A times a secret matrix, 64 a cycle
With one public key for all, what depends on that key alone (A, its hash) is left out.
Loads, stores, packing and transposes have no floor here: they are part of the gap.
"""
import argparse
import json
import math
import re

NTRU = {
    "ntruhps2048509": dict(n=509, logq=11, hps=True, inverse2=757, inverse3=2270),
    "ntruhps2048677": dict(n=677, logq=11, hps=True, inverse2=1340, inverse3=4019),
    "ntruhps4096821": dict(n=821, logq=12, hps=True, inverse2=1971, inverse3=5913),
    "ntruhrss701": dict(n=701, logq=13, hps=False, inverse2=1437, inverse3=4310),
}
NEWTON_PRODUCTS = 8
SHARING_BLOCKS = 8  # of a key generation: one inversion for all, and three products for each but the first
SHA3_RATE = 136
PERMUTATION = 72
LANES_16 = 64
AES128_BLOCK = 10 / 8


def comparators(count):
    """Comparisons of Batcher's merge exchange [KNUTH3, 5.2.2, Alg. M]."""
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


def permutations(message_bytes, rate=SHA3_RATE):
    return message_bytes // rate + 1


def ntru_floors(n, logq, hps, inverse2, inverse3):
    product = 7 * 81 * math.ceil(n / 64) ** 2 / 64
    product_s3 = 27 * math.ceil(n / 8) ** 2 / 315
    draws = (n - 1) + (math.ceil(30 * (n - 1) / 8) if hps else n - 1)
    sort = comparators(n - 1) * 2 / 16 / 4 if hps else 0
    ciphertext = math.ceil((n - 1) * logq / 8)
    rm = permutations(2 * math.ceil((n - 1) / 5)) * PERMUTATION
    aes = math.ceil(draws / 16) * 2
    inverses = (NEWTON_PRODUCTS * product + inverse2 + inverse3 +
                3 * (SHARING_BLOCKS - 1) * (product + product_s3)) / SHARING_BLOCKS
    return {
        "keygen": 5 * product + inverses + sort + aes,
        "encaps": product + rm + sort + aes,
        "decaps": 2 * product + product_s3 + rm + permutations(32 + ciphertext) * PERMUTATION,
    }


def mlkem_floors(k, round3, shared):
    """k: rank; round3: Kyber of round 3, which hashes more."""
    ek, ct = 384 * k + 32, 32 * ((10 if k < 4 else 11) * k + (4 if k < 4 else 5))
    transform, product = 7 * 128 * 3 / LANES_16, 128 * 15 / LANES_16
    noise_rate = 2 if k == 2 else 1  # permutations for a polynomial of s, e and r (eta 3 needs two)
    matrix = 0 if shared else 3 * k * k
    encrypt = matrix + noise_rate * k + k + 1
    keygen = 3 * k * k + noise_rate * 2 * k + 1 + permutations(ek)
    encaps = encrypt + 1 + (0 if shared else permutations(ek)) + (2 + permutations(ct) if round3 else 0)
    decaps = encrypt + 1 + permutations(ct) + (1 if round3 else 0 if shared else permutations(ek))
    arithmetic = (2 * k + 1) * transform + (k * k + k) * product
    return {
        "keygen": keygen * PERMUTATION + 2 * k * transform + k * k * product,
        "encaps": encaps * PERMUTATION + arithmetic,
        "decaps": decaps * PERMUTATION + arithmetic + (k + 1) * transform + k * product,
    }


def frodo_floors(n, aes, salted, shared):
    rate = 168 if n == 640 else 136
    secret = {640: 16, 976: 24, 1344: 32}[n]
    bits = 15 if n == 640 else 16
    pk = 16 + n * bits
    ct = (n + 8) * bits + (2 * secret if salted else 0)
    matrix_a = n * n / 8 * AES128_BLOCK if aes else n * math.ceil(2 * n / 168) * PERMUTATION
    product = 8 * n * n / LANES_16
    small = 64 * n / LANES_16

    def hashes(noise_values, *messages):
        return (math.ceil(2 * noise_values / rate) + sum(permutations(m, rate) for m in messages)) * PERMUTATION

    encrypt = (0 if shared else matrix_a) + product + small
    return {
        "keygen": matrix_a + product + hashes(16 * n, pk, 16),
        "encaps": encrypt + hashes(16 * n + 64, ct, *([2 * secret] if shared else [pk, 2 * secret])),
        "decaps": encrypt + small + hashes(16 * n + 64, ct, 2 * secret),
    }


def floors(scheme, shared):
    """Cycles of keygen, encaps and decaps; shared: one public key for all."""
    if scheme in NTRU:
        return ntru_floors(**NTRU[scheme])
    name, number = re.fullmatch(r"([a-z]+?)(\d+)(?:aes|shake)?", scheme).groups()
    if name in ("mlkem", "kyber"):
        return mlkem_floors(int(number) // 256, name == "kyber", shared)
    return frodo_floors(int(number), scheme.endswith("aes"), name == "frodokem", shared)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what `make bench-peers` wrote")
    parser.add_argument("--ghz", type=float, help="the core's clock while it ran (default: as measured then)")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        document = json.load(file)
    ghz = arguments.ghz or document["ghz"]
    print(f"Cycles at {ghz:.2f} GHz.\n")
    print("| set | operation | keys | cycles | floor | measured / floor |")
    print("|---|---|---|---|---|---|")
    for r in document["records"]:
        if r["backend"] != "avx512" or r["threads"] != 1 or r["count"] == 1:
            continue
        floor = floors(r["scheme"], r["keys"] == "shared")[r["op"]]
        cycles = ghz * 1e9 / r["ours_ops_per_s"]
        print(f"| {r['scheme']} | {r['op']} | {r['keys']} | {cycles:,.0f} | {floor:,.0f} | {cycles / floor:.2f} |")


if __name__ == "__main__":
    main()
