# SPDX-License-Identifier: Apache-2.0
"""Tests polykem against Lattigo, with the same primes and the same secret key; each makes its own other keys."""
import numpy as np
import pytest

import lattigo_peer
from ckks_circuits import random_circuit
from polykem import ckks

pytestmark = pytest.mark.long
DEPTH, ROTATIONS, CIRCUITS = 10, (1, -2), 6
TOLERANCE = 2 ** -24


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return lattigo_peer.build(tmp_path_factory.mktemp("lattigo"))


class Polykem:
    """polykem's parameters, keys and inputs."""

    def __init__(self, log_n):
        self.context = ckks.Context(ckks.Parameters.choose(log_n, DEPTH, 50, 60), allow_insecure=True)
        self.secret = ckks.SecretKey.generate(self.context)
        self.public = ckks.PublicKey.generate(self.context, self.secret)
        rng = np.random.default_rng(log_n)
        shape = 3, 2 ** log_n // 2
        self.values = rng.uniform(0, 1, shape) * np.exp(2j * np.pi * rng.uniform(0, 1, shape))
        self.inputs = [self.context.encrypt(self.public, v) for v in self.values]

    def evaluator(self):
        return ckks.Evaluator(self.context, ckks.Keys.generate(self.context, self.secret, rotations=ROTATIONS,
                                                               conjugation=True))


@pytest.fixture(scope="module", params=[12, 13])
def polykem(request):
    return Polykem(request.param)


def operations(ev, a, b, plain):
    """Returns the results of operations without keys, which are determined to the last bit."""
    product = ev.mul(a, b, relinearise=False, rescale=False)
    plain_product = ev.mul(a, plain, relinearise=False, rescale=False)
    low = ev.rescale(plain_product)
    return {"sum": ev.add(a, b), "difference": ev.sub(a, b), "plain sum": ev.add(a, plain),
            "plain difference": ev.sub(a, plain), "plain product": plain_product, "product": product,
            "rescaled": low, "rescaled product": ev.rescale(product), "rescaled again": ev.rescale(low),
            "low product": ev.mul(low, low, relinearise=False, rescale=False)}


def test_to_the_bit(program, polykem, tmp_path):
    a, b, _ = polykem.inputs
    plain = polykem.context.encode(polykem.values[2])
    job = lattigo_peer.Job(program, tmp_path, polykem.context, polykem.secret)
    theirs = operations(job, job.ciphertext(a), job.ciphertext(b), job.plaintext(plain))
    for value in theirs.values():
        job.save(value)
    job.run()
    for name, ours in operations(ckks.Evaluator(polykem.context), a, b, plain).items():
        result = job.load(theirs[name])
        assert result.words.shape == ours.words.shape, name
        assert np.array_equal(result.words, ours.words), name
        assert result.scale == pytest.approx(ours.scale, rel=2 ** -50), name


def test_coefficients(program, polykem, tmp_path):
    """At some of polykem's points, the values of Lattigo's polynomials are polykem's words."""
    a, x = polykem.inputs[0], polykem.context.parameters
    job = lattigo_peer.Job(program, tmp_path, polykem.context, polykem.secret)
    name = job.coefficients(job.ciphertext(a))
    job.run()
    coefficients = job.array(name, "<u8").reshape(a.words.shape)
    rng = np.random.default_rng(1)
    for limb, (q, psi) in enumerate(zip(x.q, x.q_roots)):
        for i in map(int, rng.integers(2 ** x.log_n, size=4)):
            point = pow(psi, 2 * int(f"{i:0{x.log_n}b}"[::-1], 2) + 1, q)
            value = 0
            for c in coefficients[0, 1, limb, ::-1].tolist():
                value = (value * point + c) % q
            assert value == a.words[0, 1, limb, i]


def check(who, got, expected):
    """Checks the results of the circuits with the seeds 0, 1, ..."""
    for seed, (numbers, exact) in enumerate(zip(got, expected, strict=True)):
        error = np.abs(numbers - exact).max()
        print(f"{who}, circuit {seed}: error 2^{np.log2(error):.1f}, largest number {np.abs(exact).max():.2f}")
        assert 2 ** -6 < np.abs(exact).max() < 2 ** 6
        assert error < TOLERANCE


def test_lattigo_decrypts_what_polykem_computed(program, polykem, tmp_path):
    evaluator = polykem.evaluator()
    job = lattigo_peer.Job(program, tmp_path, polykem.context, polykem.secret)
    theirs = [job.encrypt(v) for v in polykem.values]
    for value in theirs:
        job.save(value)
    job.run()
    inputs = [job.load(value) for value in theirs]  # Lattigo encrypts, too
    results = [random_circuit(evaluator, inputs, polykem.values, DEPTH, seed, True) for seed in range(CIRCUITS)]
    job = lattigo_peer.Job(program, tmp_path, polykem.context, polykem.secret)
    names = [job.decrypt(job.ciphertext(result)) for result, _ in results]
    job.run()
    check("polykem computes", [job.array(name, "<c16") for name in names], [numbers for _, numbers in results])


def test_polykem_decrypts_what_lattigo_computed(program, polykem, tmp_path):
    job = lattigo_peer.Job(program, tmp_path, polykem.context, polykem.secret, ROTATIONS)
    inputs = [job.ciphertext(a) for a in polykem.inputs]
    results = [random_circuit(job, inputs, polykem.values, DEPTH, seed, True) for seed in range(CIRCUITS)]
    for value, _ in results:
        job.save(value)
    job.run()
    decrypted = [polykem.context.decrypt(polykem.secret, job.load(value))[0] for value, _ in results]
    check("Lattigo computes", decrypted, [numbers for _, numbers in results])
