# SPDX-License-Identifier: Apache-2.0
"""Prints what Python computes of polynomials and matrices: ckks/tests/data/function_answers.txt, which the C API must
compute too.

    PYTHONPATH=build-test/python python ckks/python/tests/function_answers.py > ckks/tests/data/function_answers.txt

A line names the function, the parameter set (log_n, digits, limbs per level, primes q and p), limbs, scale and slots of
the ciphertexts, the function, and limbs, scale and a hash of the result's words. Lists come after their length. A
matrix is its limbs, the numbers of its diagonals, their elements, and the rotations. There are two ciphertexts. Their
words, and those of keys, are drawn by `words`: with the seed 2 for relinearisation, and 2 + steps for a rotation.
"""
import numpy as np

from polykem import _core, ckks

GOLDEN, OFFSET, PRIME, MASK = 0x9e3779b97f4a7c15, 0xcbf29ce484222325, 0x100000001b3, 2 ** 64 - 1


def words(seed, shape, primes):
    """Returns words of the shape (..., primes, N): splitmix64 with the seed, modulo each row's prime."""
    z = np.arange(1, np.prod(shape) + 1, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(seed)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xbf58476d1ce4e5b9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94d049bb133111eb)
    return (z ^ (z >> np.uint64(31))).reshape(shape) % np.array(primes, np.uint64)[:, None]


def fnv(array):
    """Returns the FNV-1a hash of an array's words."""
    out = OFFSET
    for word in array.ravel().tolist():
        out = (out ^ word) * PRIME & MASK
    return out


class World:
    """A parameter set with keys that nobody generated."""

    def __init__(self, parameters):
        self.parameters, self.context = parameters, ckks.Context(parameters, threads=1, allow_insecure=True)
        self.primes, self.n = (*parameters.q, *parameters.p), self.context.ring_dimension

    def key(self, seed):
        shape = (self.parameters.digits, 2, len(self.primes), self.n)
        array = words(seed, shape, self.primes)
        return _core.ckks_switching_key_of(self.context._core, array, array.size // self.n)

    def ciphertexts(self, limbs, scale, slots):
        drawn = words(1, (2, 2, limbs, self.n), self.parameters.q[:limbs])
        return ckks.Ciphertexts.from_words(self.context, drawn, slots, scale)

    def line(self, name, a, function, result):
        x = self.parameters
        return " ".join(map(text, [name, x.log_n, x.digits, x.limbs_per_level, len(x.q), *x.q, len(x.p), *x.p, a.limbs,
                                   a.scale, a.slots, *function, result.limbs, result.scale, fnv(result.words)]))

    def chebyshev(self, limbs, scale, coefficients, interval):
        a = self.ciphertexts(limbs, scale, self.n // 2)
        evaluator = ckks.Evaluator(self.context, ckks.Keys(self.context, "", self.key(2), {}))
        result = ckks.Chebyshev(coefficients, interval).apply(evaluator, a)
        parts = np.asarray(coefficients, complex).view(float)
        return self.line("chebyshev", a, [*interval, len(parts) // 2, *parts], result)

    def transform(self, limbs, of_limbs, numbers, diagonals):
        a = self.ciphertexts(limbs, self.parameters.scale, diagonals.shape[1])
        matrix = ckks.LinearTransform(self.context, dict(zip(numbers, diagonals)), limbs=of_limbs)
        keys = {self.context._core.rotation_element(steps): self.key(2 + steps) for steps in matrix.rotations}
        result = matrix.apply(ckks.Evaluator(self.context, ckks.Keys(self.context, "", None, keys)), a)
        function = [of_limbs, len(numbers), *numbers, *diagonals.ravel().astype(complex).view(float),
                    len(matrix.rotations), *matrix.rotations]
        return self.line("transform", a, function, result)


def text(number):
    return float(number).hex() if isinstance(number, float) else str(number)


def lines():
    rng = np.random.default_rng(1)
    deep, short = (World(ckks.Parameters.choose(4, 7, 40, 50)),
                   World(ckks.Parameters.choose(5, 4, 40, 50, short_primes=True)))
    for degree in (1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 23, 31, 40, 63):
        yield deep.chebyshev(8, 2.0 ** 40, rng.uniform(-1, 1, degree + 1), (-1.0, 1.0))
    for limbs, interval in ((8, (0.0, 1.0)), (6, (3.0, 5.0)), (7, (-4.0, 4.0)), (8, (2.0, 9.5)), (8, (-5.0, 1.0)),
                            (8, (0.2, 0.2 + 2 / 3))):
        yield deep.chebyshev(limbs, 1.01 * 2.0 ** 40, rng.uniform(-1, 1, 10), interval)
    c, j = rng.uniform(-1, 1, 32), np.arange(32)
    for coefficients in (c * (j % 2 == 1), c * (j % 2 == 0), c * (j % 16 == 0), c * 1j ** j, [*c[:9], 0, 0]):
        yield deep.chebyshev(8, 2.0 ** 40, coefficients, (-1.0, 1.0))
    for degree, interval in ((1, (-4.0, 4.0)), (7, (-3.0, 4.0)), (15, (-1.0, 1.0))):
        yield short.chebyshev(10, short.parameters.scale, rng.uniform(-1, 1, degree + 1), interval)
    for limbs, of_limbs, numbers, slots in ((8, 8, (0,), 8), (8, 5, (1, -1, 0), 8), (3, 3, (-7, 2, 5), 8),
                                            (4, 4, range(8), 8), (4, 4, range(-1, 3), 4), (2, 2, (0,), 1)):
        yield deep.transform(limbs, of_limbs, numbers, rng.uniform(-1, 1, (len(numbers), slots)))
    z = rng.uniform(-1, 1, (9, 16, 2)) @ (1, 1j)
    z[3] = 0
    yield short.transform(6, 4, range(3, 12), z)


if __name__ == "__main__":
    print(*lines(), sep="\n")
