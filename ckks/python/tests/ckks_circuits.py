# SPDX-License-Identifier: Apache-2.0
"""Random circuits on ciphertexts and, beside them, on the numbers that they hold."""
import numpy as np


def random_circuit(evaluator, ciphertexts, values, depth, seed, conjugation=False):
    """Computes `depth` products in a row, with sums and rotations by 1 and -2 in between, and conjugates if asked.

    Products are of the last result with itself, with an input, or with numbers. Results are not all near 0; repeated
    squares may make them grow, so choose seeds for which they stay small. Returns the ciphertexts and the numbers.
    """
    rng = np.random.default_rng(seed)
    x, v = ciphertexts[0], np.asarray(values[0], complex)
    for _ in range(depth):
        i = int(rng.integers(len(ciphertexts)))
        y, w = evaluator.align(ciphertexts[i], x.limbs, x.scale), np.asarray(values[i], complex)
        kind = rng.integers(4)
        if kind == 0:
            x, v = evaluator.sub(evaluator.mul(x, y), 0.5), v * w - 0.5
        elif kind == 1:
            factors = rng.choice([-1.0, -0.75, 0.75, 1.0], v.shape[-1])
            x, v = evaluator.mul(x, factors), v * factors
        elif kind == 2:
            x, v = evaluator.mul(evaluator.sub(x, y), 0.5), (v - w) * 0.5
        else:
            x, v = evaluator.sub(evaluator.square(x), 0.25), v * v - 0.25
        if rng.integers(2):
            steps = int(rng.choice([1, -2]))
            x, v = evaluator.rotate(x, steps), np.roll(v, -steps, axis=-1)
        if conjugation and rng.integers(2):
            x, v = evaluator.conjugate(x), np.conj(v)
    return x, v
