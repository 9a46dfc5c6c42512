#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measured cycles of NTRU's operations beside the floor of the algorithms chosen, as a Markdown table.

    tools/floors.py build/bench-peers.json --ghz 4.05

The floor counts only work that cannot be left out, at the rates of a Zen 5 core with AVX-512 (docs/adr/0002 and 0003):
  product      7 * 81 products of leaves of ceil(n / 64) coefficients (Toom-4, four Karatsuba levels), 64 a cycle
  S3 product   27 bit-sliced products of n / 8 by n / 8, 315 multiply-adds a cycle
  permutation  72 cycles of Keccak-f[1600] a message
  AES          2 cycles a block
  sort         two operations a comparator of Batcher's merge exchange, 16 keys an operation, four operations a cycle
  inversions   the operations of the division steps, as counted in docs/adr/0003
Loads, stores, packing and transposes have no floor here: they are part of the gap.
"""
import argparse
import json
import math

SETS = {
    "ntruhps2048509": dict(n=509, logq=11, hps=True, inverse2=757, inverse3=2270),
    "ntruhps2048677": dict(n=677, logq=11, hps=True, inverse2=1340, inverse3=4019),
    "ntruhps4096821": dict(n=821, logq=12, hps=True, inverse2=1971, inverse3=5913),
    "ntruhrss701": dict(n=701, logq=13, hps=False, inverse2=1437, inverse3=4310),
}
NEWTON_PRODUCTS = 8
SHA3_RATE = 136


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


def permutations(message_bytes):
    return message_bytes // SHA3_RATE + 1


def floors(n, logq, hps, inverse2, inverse3):
    product = 7 * 81 * math.ceil(n / 64) ** 2 / 64
    product_s3 = 27 * math.ceil(n / 8) ** 2 / 315
    draws = (n - 1) + (math.ceil(30 * (n - 1) / 8) if hps else n - 1)
    sort = comparators(n - 1) * 2 / 16 / 4 if hps else 0
    ciphertext = math.ceil((n - 1) * logq / 8)
    rm = permutations(2 * math.ceil((n - 1) / 5)) * 72
    aes = math.ceil(draws / 16) * 2
    return {
        "keygen": (5 + NEWTON_PRODUCTS) * product + inverse2 + inverse3 + sort + aes,
        "encaps": product + rm + sort + aes,
        "decaps": 2 * product + product_s3 + rm + permutations(32 + ciphertext) * 72,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what `make bench-peers` wrote")
    parser.add_argument("--ghz", type=float, required=True, help="the core's clock while it ran")
    arguments = parser.parse_args()
    with open(arguments.file, encoding="utf-8") as file:
        records = json.load(file)["records"]
    print("| set | operation | cycles | floor | measured / floor |")
    print("|---|---|---|---|---|")
    for r in records:
        if r["backend"] != "avx512" or r["threads"] != 1 or r["count"] == 1:
            continue
        floor = floors(**SETS[r["scheme"]])[r["op"]]
        cycles = arguments.ghz * 1e9 / r["ours_ops_per_s"]
        print(f"| {r['scheme']} | {r['op']} | {cycles:,.0f} | {floor:,.0f} | {cycles / floor:.2f} |")


if __name__ == "__main__":
    main()
