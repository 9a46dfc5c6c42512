# SPDX-License-Identifier: Apache-2.0
"""Tests polykem.ckks on a GPU, for which a module with kernels for the CPU stands in."""
import os
import subprocess
import sys

import numpy as np
import pytest
from polykem import ckks


@pytest.fixture(scope="module")
def context():
    module = os.environ.get("POLYKEM_CKKS_CPU_MODULE", "")
    if not os.path.exists(module):
        pytest.skip("POLYKEM_CKKS_CPU_MODULE names no module (ctest sets it)")
    os.environ["POLYKEM_CKKS_CUDA_MODULE"] = module
    return ckks.Context(ckks.Parameters.choose(12, 2, scale_bits=30, first_bits=40), allow_insecure=True)


@pytest.fixture(scope="module")
def secret(context):
    return ckks.SecretKey.generate(context)


@pytest.fixture(scope="module")
def keys(context, secret):
    return ckks.Keys.generate(context, secret, rotations=[1, 2], conjugation=True)


@pytest.fixture(scope="module")
def device(context):
    return context.device()


def encrypted(context, secret, count=2):
    x = np.random.default_rng(count).uniform(-1, 1, (count, 4))
    return context.encrypt(ckks.PublicKey.generate(context, secret), x), x


def test_one_line_changes(context, secret, keys, device):
    a, x = encrypted(context, secret)
    results = []
    for evaluator in (ckks.Evaluator(context, keys), ckks.Evaluator(context, keys, device=device)):
        b = evaluator.bind(a)
        y = evaluator.conjugate(evaluator.rotate(1 - b * (b + [0.5, 1, 2, 3]), 1))
        results.append(evaluator.keep_limbs(evaluator.sub(y, evaluator.negate(y)), 1))
    here, there = results
    device.wait()
    assert here.gpu is None and there.gpu == 0
    assert np.array_equal(here.words, there.words)
    expected = 2 * np.roll(1 - x * (x + [0.5, 1, 2, 3]), -1, axis=1)
    assert np.abs(context.decrypt(secret, there) - expected).max() < 2 ** -10


def test_batches_and_keys_go_there_and_back(context, secret, keys, device):
    a, x = encrypted(context, secret, 3)
    there, plain = a.to(device), context.encode(x).to(device)
    assert there.gpu == plain.gpu == 0 and there.to(device).gpu == 0
    assert np.array_equal(there.to_host().words, a.words) and there.to_host().key_tag == a.key_tag
    assert np.abs(context.decode(plain) - x).max() < 2 ** -15
    assert np.array_equal(there[1:].words, a.words[1:]) and there[0].gpu == 0
    assert np.array_equal(there[::-2].words, a.words[::-2]) and there[::2].gpu is None
    assert np.array_equal(ckks.join([there, there]).words[:3], a.words)
    plain_evaluator = ckks.Evaluator(context, keys.to(device))
    assert plain_evaluator.rotate(there, 2).gpu == 0
    total = ckks.Evaluator(context, keys, device=device).sum_items(there)
    assert np.abs(context.decrypt(secret, total) - x.sum(axis=0)).max() < 2 ** -10


def test_short_primes(context):
    parameters = ckks.Parameters.choose(12, 2, scale_bits=50, first_bits=60, short_primes=True)
    assert max(parameters.q + parameters.p) < 2 ** 31 and len(parameters.q) == 6
    context = ckks.Context(parameters, allow_insecure=True)
    secret = ckks.SecretKey.generate(context)
    keys = ckks.Keys.generate(context, secret, rotations=[1])
    a, x = encrypted(context, secret)
    for evaluator in (ckks.Evaluator(context, keys), ckks.Evaluator(context, keys, device="cuda")):
        y = evaluator.rotate(evaluator.square(evaluator.square(a)), 1)
        assert y.limbs == 2
        assert np.abs(context.decrypt(secret, y) - np.roll(x ** 4, -1, axis=1)).max() < 2 ** -25
    with pytest.raises(ckks.ParameterError, match="even"):
        ckks.Parameters.choose(12, 2, scale_bits=41, short_primes=True)


def test_an_inspector_watches(context, secret, keys, device):
    a, x = encrypted(context, secret)
    inspector = ckks.Inspector(ckks.Evaluator(context, keys, device=device), secret)
    assert inspector.rotate(inspector.watch(a, x), 1).gpu == 0
    assert inspector.rows[-1].precision > 8


def test_rotations_of_one_ciphertext(context, secret, keys, device):
    a, _ = encrypted(context, secret)
    here, there = (ckks.Evaluator(context, keys, device=d).rotate_many(a, [1, 0, 2]) for d in (None, device))
    assert all(x.gpu is None and y.gpu == 0 and np.array_equal(x.words, y.words) for x, y in zip(here, there))


def test_a_transform_on_it(context, secret, device):
    """Its diagonals are copied there once or at each application."""
    a, x = encrypted(context, secret)
    matrix = np.random.default_rng(1).uniform(-1, 1, (4, 4))
    transform = ckks.LinearTransform(context, matrix)
    keys = ckks.Keys.generate(context, secret, rotations=transform.rotations)
    here = transform.apply(ckks.Evaluator(context, keys), a)
    for there in (transform, transform.to(device)):
        y = there.apply(ckks.Evaluator(context, keys, device=device), a)
        assert y.gpu == 0 and np.array_equal(y.words, here.words)
    assert np.abs(context.decrypt(secret, here) - x @ matrix.T).max() < 2 ** -10


def test_a_polynomial_on_it(context, secret, keys, device):
    a, x = encrypted(context, secret)
    polynomial = ckks.Chebyshev([0.1, -0.3, 0.2, 0.4])
    here, there = (polynomial.apply(ckks.Evaluator(context, keys, device=d), a) for d in (None, device))
    assert there.gpu == 0 and np.array_equal(here.words, there.words)
    assert np.abs(context.decrypt(secret, here) - polynomial(x)).max() < 2 ** -10


def test_places_must_agree(context, secret, keys, device):
    a, _ = encrypted(context, secret)
    evaluator = ckks.Evaluator(context, keys)
    with pytest.raises(ckks.DeviceError, match="different places") as caught:
        evaluator.add(a, a.to(device))
    assert caught.value.status == ckks.Status.DEVICE
    with pytest.raises(ckks.DeviceError, match="different places"):
        evaluator.rotate(a.to(device), 1)
    with pytest.raises(ckks.DeviceError, match="another device"):
        a.to(device).to(context.device())


def test_what_there_is_not(context):
    with pytest.raises(ckks.DeviceError, match="there are 1 GPUs"):
        context.device(1)
    for wrong in ("gpu", "cuda:x", -1):
        with pytest.raises(ValueError):
            ckks.Evaluator(context, device=wrong)
    small = ckks.Context(ckks.Parameters.choose(11, 1), allow_insecure=True)
    with pytest.raises(ckks.ParameterError, match="2.12"):
        small.device()
    with pytest.raises(ValueError, match="another parameter set"):
        ckks.Evaluator(small, device=context.device())


def test_without_a_module():
    code = """
from polykem import ckks
context = ckks.Context(ckks.Parameters.choose(12, 1), allow_insecure=True)
try:
    ckks.Evaluator(context, device="cuda")
except ckks.DeviceError as e:
    print(e)
"""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "POLYKEM_CKKS_CUDA_MODULE": ""}, check=True,
                          capture_output=True, text=True)
    assert "no GPU can be used" in done.stdout
