# SPDX-License-Identifier: Apache-2.0
"""Compresses coefficients and encodes them as bytes [FIPS203, section 4.2.1]."""

from model.ring import Q

WIDTHS = (1, 4, 5, 10, 11, 12)  # d of each enumerator of width_e, in its order


def compress(x, d):
    return (2 * (x << d) + Q) // (2 * Q) % (1 << d)


def decompress(y, d):
    return (2 * Q * y + (1 << d)) >> (d + 1)


def encode(values, d):
    bits = sum(value << d * i for i, value in enumerate(values))
    return bits.to_bytes(d * len(values) // 8, "little")
