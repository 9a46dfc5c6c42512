# SPDX-License-Identifier: Apache-2.0
"""Logistic regression on encrypted rows: the owner of the model sees no rows, the owner of the rows sees no model.

    python ckks_logistic.py [--rows 1024] [--device cuda] [--inspect]

1,024 rows of 8 features fill one ciphertext of N = 2^14: slot ``1024 j + i`` holds feature j of row i. One product
with the weights, three rotations and sums over the features, and a polynomial of degree 3 for the logistic function
take four levels.
"""
import argparse
import time

import numpy as np
from polykem import ckks

FEATURES = 8
BOUND = 4.0
CUBIC = np.polynomial.Polynomial.fit(np.linspace(-BOUND, BOUND, 1000),
                                     1 / (1 + np.exp(-np.linspace(-BOUND, BOUND, 1000))), 3).convert().coef


def logistic(evaluator, rows, weights, bias):
    """Returns scores between 0 and 1, in each of the 8 runs of slots. rows: Ciphertexts of `len(weights)` runs."""
    run = rows.slots // FEATURES
    z = evaluator.mul(rows, np.repeat(weights, run))
    for steps in (4 * run, 2 * run, run):
        z = evaluator.add(z, evaluator.rotate(z, steps))
    z = evaluator.add(z, bias)
    odd = evaluator.add(evaluator.mul(evaluator.square(z), CUBIC[3]), CUBIC[1])
    return evaluator.add(evaluator.mul(odd, z), CUBIC[0])


def inference(evaluator, rows, weights, bias):
    """Returns the scores once they are computed, as calls return before a GPU is done."""
    scores = logistic(evaluator, rows, weights, bias)
    if evaluator.device is not None:
        evaluator.device.wait()
    return scores


def data(rows):
    rng = np.random.default_rng(7)
    return rng.uniform(-1, 1, (rows, FEATURES)), rng.uniform(-1, 1, FEATURES), 0.25


def seconds(work, times=5):
    """Returns the result of work(), and the median of its times after a first run."""
    work()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        result = work()
        taken.append(time.perf_counter() - begin)
    return result, sorted(taken)[times // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1024, help="a power of two, at most 1024 (%(default)s)")
    parser.add_argument("--threads", type=int, default=0, help="0: one for each CPU")
    parser.add_argument("--device", help="a GPU that computes: cuda, cuda:1; without it the CPU does")
    parser.add_argument("--inspect", action="store_true", help="show precision and noise after each operation")
    options = parser.parse_args()
    x, weights, bias = data(options.rows)
    slots = x.T.reshape(-1)

    parameters = ckks.Parameters.choose(log_n=14, levels=4, scale_bits=40, first_bits=50, digits=3)
    print(parameters)
    context = ckks.Context(parameters, threads=options.threads)
    run = options.rows
    secret = ckks.SecretKey.generate(context)
    public = ckks.PublicKey.generate(context, secret)
    keys, making = seconds(lambda: ckks.Keys.generate(context, secret, rotations=[4 * run, 2 * run, run]), 1)
    evaluator = ckks.Evaluator(context, keys, device=options.device)

    rows, encryption = seconds(lambda: context.encrypt(public, slots))
    scores, computing = seconds(lambda: inference(evaluator, rows, weights, bias))
    decrypted, decryption = seconds(lambda: context.decrypt(secret, scores))
    z = x @ weights + bias
    cubic, exact = np.polynomial.Polynomial(CUBIC)(z), 1 / (1 + np.exp(-z))
    got = decrypted[0, :run].real
    print(f"keys {making * 1e3:.1f} ms, encryption {encryption * 1e3:.1f} ms, inference {computing * 1e3:.1f} ms "
          f"({computing / run * 1e6:.1f} us a row), decryption {decryption * 1e3:.1f} ms")
    print(f"precision: {-np.log2(np.abs(got - cubic).max()):.1f} bits; the cubic itself is off by "
          f"{np.abs(cubic - exact).max():.3f}")
    if options.inspect:
        inspector = ckks.Inspector(evaluator, secret)
        logistic(inspector, inspector.watch(rows, slots), weights, bias)
        print(inspector)


if __name__ == "__main__":
    main()
