# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of ML-KEM's ring [FIPS203, section 4.3], as the standard orders it and as the hardware does.

A polynomial has 256 coefficients, integers 0..q-1. Even and odd coefficients are two sequences of 128, which the
transform never mixes."""

Q = 3329
ZETA = 17  # a primitive 256th root of unity modulo q


def bit_reverse(value, bits):
    return int(f"{value:0{bits}b}"[::-1], 2)


ZETAS = [pow(ZETA, bit_reverse(i, 7), Q) for i in range(128)]  # [FIPS203, appendix A]


def ntt(f):
    """Returns the NTT of f [FIPS203, Alg 9]."""
    f, i = list(f), 1
    for length in (128, 64, 32, 16, 8, 4, 2):
        for start in range(0, 256, 2 * length):
            zeta, i = ZETAS[i], i + 1
            for j in range(start, start + length):
                t = zeta * f[j + length] % Q
                f[j + length], f[j] = (f[j] - t) % Q, (f[j] + t) % Q
    return f


def inverse_ntt(f):
    """Returns the inverse NTT of f [FIPS203, Alg 10]."""
    f, i = list(f), 127
    for length in (2, 4, 8, 16, 32, 64, 128):
        for start in range(0, 256, 2 * length):
            zeta, i = ZETAS[i], i - 1
            for j in range(start, start + length):
                t = f[j]
                f[j], f[j + length] = (t + f[j + length]) % Q, zeta * (f[j + length] - t) % Q
    return [value * 3303 % Q for value in f]


def base_multiply(f, g):
    """Multiplies f and g in the NTT domain [FIPS203, Alg 11]."""
    h = [0] * 256
    for i in range(128):
        gamma = pow(ZETA, 2 * bit_reverse(i, 7) + 1, Q)
        a0, a1, b0, b1 = f[2 * i], f[2 * i + 1], g[2 * i], g[2 * i + 1]
        h[2 * i] = (a0 * b0 + a1 * b1 * gamma) % Q
        h[2 * i + 1] = (a0 * b1 + a1 * b0) % Q
    return h


def lane_input(sequence, inverse):
    """Returns the 64 pairs that a lane takes for one sequence of 128, in the order in which they enter."""
    if inverse:
        return [(sequence[2 * r], sequence[2 * r + 1]) for r in (bit_reverse(t, 6) for t in range(64))]
    return [(sequence[t], sequence[t + 64]) for t in range(64)]


def lane_output(pairs, inverse):
    """Returns the sequence of 128 that the 64 pairs from a lane make up."""
    sequence = [0] * 128
    for c, pair in enumerate(pairs):
        first, second = (bit_reverse(c, 6), bit_reverse(c, 6) + 64) if inverse else (2 * c, 2 * c + 1)
        sequence[first], sequence[second] = pair
    return sequence


def lane(pairs, inverse):
    """Applies the seven stages of a lane to 64 pairs, one after the other; `inverse` includes the division by 128."""
    width = 64
    half = (Q + 1) // 2
    values = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
    for stage in range(7):
        width = 64 >> stage
        for start in range(0, 128, 2 * width):
            for e in range(width):
                a, b = values[start + e], values[start + e + width]
                if inverse:
                    twiddle = pow(ZETA, -(2 * e + 1) << stage, Q)
                    a, b = (a + b) * half % Q, (a - b) * twiddle * half % Q
                else:
                    t = b * ZETAS[(1 << stage) + start // (2 * width)] % Q
                    a, b = (a + t) % Q, (a - t) % Q
                values[start + e], values[start + e + width] = a, b
    return [(values[2 * c], values[2 * c + 1]) for c in range(64)]


def by_lane(f, inverse):
    """Transforms f through the lane, the even coefficients before the odd ones."""
    h = [0] * 256
    for parity in (0, 1):
        h[parity::2] = lane_output(lane(lane_input(f[parity::2], inverse), inverse), inverse)
    return h


if __name__ == "__main__":
    import random
    f = [random.randrange(Q) for _ in range(256)]
    assert by_lane(f, False) == ntt(f)
    assert by_lane(f, True) == inverse_ntt(f)
    assert inverse_ntt(ntt(f)) == f
    print("the lane's order of work gives the standard's results")
