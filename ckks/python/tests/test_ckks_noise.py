# SPDX-License-Identifier: Apache-2.0
"""Tests that ciphertexts expect the errors that decryption shows."""
import json
import math

import numpy as np
import polykem
import pytest

from ckks_circuits import random_circuit
from ckks_party import Party, techniques
from folders import DATA
from polykem import ckks
from polykem.ckks import _noise

LEVELS = 6
ITEMS = 4
# Ring and technique; sparse secrets come from files. Key switching has 3 special primes of 60 bits, or 5 of 30.
CASES = [(11, "FIXEDMANUAL"), (11, "FLEXIBLEAUTOEXT"), (11, "COMPOSITESCALINGMANUAL"), (12, "sparse"),
         (13, "FLEXIBLEAUTO")]


def sparse_residues(context, rng):
    """Returns the rows of a secret of OpenFHE's weight."""
    n = context.ring_dimension
    coefficients = np.zeros(n)
    coefficients[rng.choice(n, _noise.SPARSE_WEIGHT, replace=False)] = rng.choice([-1, 1], _noise.SPARSE_WEIGHT)
    at_odd_powers = n * np.fft.ifft(coefficients * np.exp(1j * np.pi * np.arange(n) / n))
    slots = at_odd_powers[[pow(5, j, 2 * n) // 2 for j in range(n // 2)]]
    return context.encode(slots, scale=1.0).words[0].tolist()


def sparse_party(parameters, rotations, folder):
    """Returns a party with a sparse secret, as a file of OpenFHE gives it."""
    party = Party(parameters)
    ckks.save(party.secret, folder / "secret", "json")
    file = json.loads((folder / "secret").read_text())
    data = file["value0"]["ptr_wrapper"]["data"]
    context = data["value0"]["value0"]["cc"]["ptr_wrapper"]["data"]["cc"]["ptr_wrapper"]["data"]
    context["value0"]["value0"]["mo"] = 2
    for row, residues in zip(data["s"]["v"], sparse_residues(party.context, np.random.default_rng(5))):
        row["v"]["ptr_wrapper"]["data"]["v"] = residues
    party.secret = ckks.load(json.dumps(file).encode(), allow_insecure=True)
    party.context = party.secret.context
    party.public = ckks.PublicKey.generate(party.context, party.secret)
    party.keys = ckks.Keys.generate(party.context, party.secret, rotations=rotations, conjugation=True)
    party.evaluator = ckks.Evaluator(party.context, party.keys)
    return party


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[1]} 2^{case[0]}")
def party(request, tmp_path_factory):
    log_n, technique = request.param
    rotations = [1, -2, 3]
    if technique == "sparse":
        if not hasattr(polykem._core, "OpenfheContext"):
            pytest.skip("built without nlohmann-json")
        return sparse_party(techniques(log_n, LEVELS)["FIXEDMANUAL"], rotations, tmp_path_factory.mktemp("sparse"))
    return Party(techniques(log_n, LEVELS)[technique], rotations, conjugation=True)


def directions(rng, count, slots):
    """Complex numbers of the absolute value 1."""
    return np.exp(2j * np.pi * rng.uniform(size=(count, slots)))


@pytest.fixture(scope="module")
def inputs(party):
    rng = np.random.default_rng(7)
    x, y = (directions(rng, ITEMS, party.context.ring_dimension // 2) for _ in range(2))
    return x, y, party.encrypt(x), party.encrypt(y)


def errors(party, ciphertexts, values):
    return np.abs(party.context.decrypt(party.secret, ciphertexts) - values)


def ratio(party, ciphertexts, values):
    """The root mean square of the errors over the expected one."""
    return float(np.sqrt(np.mean(errors(party, ciphertexts, values) ** 2))) / ciphertexts.expected_error


def optimism(party, ciphertexts, values):
    """The bits by which the expected precision exceeds the measured one."""
    return ciphertexts.expected_precision + math.log2(errors(party, ciphertexts, values).max())


def rolled(x, steps):
    return np.roll(x, -steps, axis=1)


# Name: what is computed of a and b, and of the numbers.
OPERATIONS = {
    "fresh": (lambda ev, a, b: a, lambda x, y: x),
    "some items": (lambda ev, a, b: a[1:3], lambda x, y: x[1:3]),
    "joined": (lambda ev, a, b: ckks.join([a[:1], b]), lambda x, y: np.concatenate([x[:1], y])),
    "add": (lambda ev, a, b: ev.add(a, b), lambda x, y: x + y),
    "add to itself": (lambda ev, a, b: ev.add(a, a), lambda x, y: 2 * x),
    "sub": (lambda ev, a, b: ev.sub(a, b), lambda x, y: x - y),
    "add numbers": (lambda ev, a, b: ev.add(a, np.ones(a.slots)), lambda x, y: x + 1),
    "negate": (lambda ev, a, b: ev.negate(a), lambda x, y: -x),
    "sum of items": (lambda ev, a, b: ev.sum_items(a), lambda x, y: x.sum(0, keepdims=True)),
    "mul": (lambda ev, a, b: ev.mul(a, b), lambda x, y: x * y),
    "square": (lambda ev, a, b: ev.square(a), lambda x, y: x * x),
    "product of three parts": (lambda ev, a, b: ev.mul(a, b, relinearise=False), lambda x, y: x * y),
    "product that is not rescaled": (lambda ev, a, b: ev.mul(a, b, rescale=False), lambda x, y: x * y),
    "times a number": (lambda ev, a, b: ev.mul(a, 0.3), lambda x, y: 0.3 * x),
    "times a small number, which leaves the rescaling's rounding": (lambda ev, a, b: ev.mul(a, 2.0 ** -20),
                                                                    lambda x, y: 2.0 ** -20 * x),
    "times numbers": (lambda ev, a, b: ev.mul(a, np.linspace(-2, 2, a.slots)),
                      lambda x, y: x * np.linspace(-2, 2, x.shape[1])),
    "rotate": (lambda ev, a, b: ev.rotate(a, 3), lambda x, y: rolled(x, 3)),
    "rotate_many": (lambda ev, a, b: ev.rotate_many(a, [0, -2])[1], lambda x, y: rolled(x, -2)),
    "conjugate": (lambda ev, a, b: ev.conjugate(a), lambda x, y: np.conj(x)),
    "another scale of the same words": (lambda ev, a, b: a.with_scale(a.scale / 3), lambda x, y: 3 * x),
    "keep_limbs": (lambda ev, a, b: ev.keep_limbs(a, a.limbs - 1), lambda x, y: x),
    "align": (lambda ev, a, b: ev.align(ev.square(a), a.limbs // 2, ev.square(a).scale * 1.25), lambda x, y: x * x),
    "three products": (lambda ev, a, b: ev.square(ev.mul(ev.square(a), b)), lambda x, y: (x * x * y) ** 2),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_has_the_expected_error(party, inputs, name):
    x, y, a, b = inputs
    compute, exact = OPERATIONS[name]
    ciphertexts, values = compute(party.evaluator, a, b), exact(x, y)
    assert 0.5 < ratio(party, ciphertexts, values) < 2
    assert -4 < optimism(party, ciphertexts, values) < 2


@pytest.mark.parametrize("slots", [1, 32])
def test_few_slots_have_less_noise(party, slots):
    x = directions(np.random.default_rng(8), 64 if slots == 1 else 8, slots)
    a = party.encrypt(x)
    for ciphertexts, values in ((a, x), (party.evaluator.square(a), x * x)):
        assert 0.5 < ratio(party, ciphertexts, values) < 2


def test_the_largest_numbers_decide_the_expected_precision(party, inputs):
    """Of 1 in 64 slots and 0 elsewhere."""
    x, _, a, _ = inputs
    mask = np.where(np.arange(a.slots) % 64, 0.0, 1.0)
    y = party.evaluator.mul(a, mask)
    assert 0.5 < ratio(party, y, x * mask) < 2 and abs(optimism(party, y, x * mask)) < 1.5


def test_key_switching_leaves_a_larger_error_in_slot_0(party, inputs):
    """As large as 1 plus the secret's value there, which the test knows."""
    x, _, a, _ = inputs
    context, n = party.context, party.context.ring_dimension
    one = np.zeros((1, 2, 1, n), np.uint64)
    one[0, 1] = 1
    words = ckks.Ciphertexts.from_words(context, one, n // 2, 1.0)
    secret = context.decrypt(party.secret, words)[0]
    small = party.evaluator.mul(a, 2.0 ** -20)
    moved = party.evaluator.rotate(small, 1)
    model = context._noise
    here = abs(1 + secret[0]) ** 2 / (1 + model._weight)
    expected = math.sqrt(moved._estimate.peak * here + moved._estimate.mean)
    found = errors(party, moved, rolled(2.0 ** -20 * x, 1))
    assert 0.7 < np.sqrt(np.mean(found[:, 0] ** 2)) / expected < 1.4
    assert math.sqrt(moved._estimate.peak) > 5 * np.sqrt(np.mean(found[:, n // 4:] ** 2))


def test_every_key_switch_counts(party, inputs):
    ev, a = party.evaluator, inputs[2]
    product = ev.mul(a, inputs[3], relinearise=False, rescale=False)
    for switched in (ev.relinearise(product), ev.rotate(a, 1), *ev.rotate_many(a, [1, 3]), ev.conjugate(a)):
        assert switched._estimate.peak > a._estimate.peak == product._estimate.peak == 0
    for same in (ev.rotate(a, 0), *ev.rotate_many(a, [0, 0]), ev.rotate_many(a, [0, 1])[0]):
        assert same._estimate == a._estimate


@pytest.mark.parametrize("seed", range(4))
def test_circuits_have_the_expected_error(party, seed):
    """Five products in a row, of real numbers below 1 in absolute value."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, (2, ITEMS, party.context.ring_dimension // 2))
    y, values = random_circuit(party.evaluator, [party.encrypt(x[0]), party.encrypt(x[1])], x, 5, seed,
                               conjugation=True)
    assert np.abs(values).max() <= y.magnitude
    assert -6 < math.log2(ratio(party, y, values)) < 1
    assert -6 < optimism(party, y, values) < 2


def test_powers_have_the_expected_error(party, inputs):
    """Of the same ciphertexts errors are not independent: x^2 x has 3 errors of x, and is expected to have 2.2."""
    x, _, a, _ = inputs
    power = party.evaluator.mul(party.evaluator.square(a), a)
    assert 1 < ratio(party, power, x ** 3) < 2
    for squares in range(1, 5):
        a = party.evaluator.square(a)
        assert 0.5 < ratio(party, a, x ** 2 ** squares) < 2


def test_matrices_and_polynomials_have_the_expected_error(party):
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, (ITEMS, party.context.ring_dimension // 2))
    a = party.encrypt(x)
    band = {k: rng.uniform(-1, 1, x.shape[1]) for k in (0, 1, 3)}
    matrix = ckks.LinearTransform(party.context, band)
    product = sum(d * rolled(x, k) for k, d in band.items())
    y = matrix.apply(party.evaluator, a)
    assert 0.25 < ratio(party, y, product) < 4 and -4 < optimism(party, y, product) < 2  # as slot 0 has it
    assert np.abs(product).max() <= y.magnitude <= 3
    for polynomial in (ckks.Chebyshev.fit(lambda x: 1 / (1 + np.exp(-4 * x)), 15, (-1, 1)),
                       ckks.Chebyshev.fit(np.cos, 9, (-4, 4)), ckks.Chebyshev([0] * 15 + [1])):
        y = polynomial.apply(party.evaluator, a)
        assert -5 < math.log2(ratio(party, y, polynomial(x))) < 1
        values = polynomial(np.linspace(*polynomial.interval, 10001))
        assert y.magnitude == pytest.approx(np.abs(values).max(), rel=0.01)
    assert a.magnitude == 1


def test_magnitudes_are_carried_along(party, inputs):
    x, _, a, b = inputs
    ev = party.evaluator
    large = party.context.encrypt(party.public, 16 * x, magnitude=16)
    assert (a.magnitude, large.magnitude) == (1, 16) and a._estimate[:3] == large._estimate[:3]
    for ciphertexts, magnitude in ((ev.add(a, large), 17), (ev.sub(a, large), 17), (ev.mul(large, large), 256),
                                   (ev.mul(large, -3), 48), (ev.add(large, np.full(a.slots, 2j)), 18),
                                   (large.with_scale(large.scale / 2), 32), (ev.rotate(large, 1), 16)):
        assert ciphertexts.magnitude == pytest.approx(magnitude)
    y = ev.mul(large, b)
    assert 0.5 < ratio(party, y, 16 * x * inputs[1]) < 2


def test_estimates_do_not_depend_on_the_encrypted_numbers(party):
    small, large = (party.encrypt(np.full((1, 8), number)) for number in (0.0, 1000.0))
    assert small._estimate == large._estimate
    encoded = party.encrypt(party.context.encode(np.full((1, 8), 1000.0)))
    assert encoded._estimate == large._estimate


def test_nothing_is_expected_of_unknown_ciphertexts(party, inputs):
    x, y, a, b = inputs
    unknown = ckks.Ciphertexts.from_words(party.context, a.words, a.slots, a.scale, degree=a.degree)
    for ciphertexts in (unknown, party.evaluator.mul(unknown, b), party.evaluator.add(b, unknown), unknown[:1]):
        assert ciphertexts.expected_error is ciphertexts.expected_precision is ciphertexts.magnitude is None
    known = unknown.with_estimate()
    assert known.expected_error == a.expected_error and known.magnitude == 1
    assert unknown.expected_error is None
    assert 0.5 < ratio(party, party.evaluator.mul(known, b), x * y) < 2


def test_what_a_user_knows_replaces_what_is_expected(inputs):
    _, _, a, _ = inputs
    assert a.with_estimate(magnitude=0.5).magnitude == 0.5
    assert a.with_estimate(magnitude=0.5)._estimate[:3] == a._estimate[:3]
    stated = a.with_estimate(error=0.25)
    assert stated.expected_error == pytest.approx(0.25) and stated.magnitude == 1
    assert stated.expected_precision < 2
    assert a.with_estimate()._estimate == a._estimate
    assert a.with_estimate(magnitude=0, error=0).expected_precision == math.inf


def test_sizes_that_are_refused(party, inputs):
    for size in (-1, math.inf, math.nan, "x", None, [1, 2]):
        with pytest.raises(ckks.ArgumentError, match="magnitude must be a finite number from 0 on"):
            party.context.encrypt(party.public, [1.0], magnitude=size)
    for arguments in ({"magnitude": -1}, {"error": math.nan}):
        with pytest.raises(ckks.ArgumentError, match="must be a finite number"):
            inputs[2].with_estimate(**arguments)


@pytest.mark.skipif(not hasattr(polykem._core, "OpenfheContext"), reason="built without nlohmann-json")
def test_files_of_openfhe_hold_no_estimate():
    fresh = ckks.load(DATA / "openfhe" / "fresh.bin", allow_insecure=True)
    assert fresh.expected_error is None
    secret = ckks.load(DATA / "openfhe" / "secret.bin", fresh.context)
    error = np.abs(secret.context.decrypt(secret, fresh) - (0.25 * np.arange(8) - 0.75)).max()
    assert -4 < fresh.with_estimate().expected_precision + math.log2(error) < 2


@pytest.mark.skipif(not hasattr(polykem._core, "OpenfheContext"), reason="built without nlohmann-json")
def test_nothing_is_expected_with_secrets_that_are_not_ternary():
    file = json.loads((DATA / "openfhe" / "fresh.json").read_text())

    def gaussian(thing):
        for key, value in thing.items() if isinstance(thing, dict) else enumerate(thing):
            if key == "mo":
                thing[key] = 0
            elif isinstance(value, (dict, list)):
                gaussian(value)
    gaussian(file)
    fresh = ckks.load(json.dumps(file).encode(), allow_insecure=True)
    assert fresh.with_estimate().expected_error is None
