# SPDX-License-Identifier: Apache-2.0
"""Tests of the formulas of expected errors against polynomials and numbers that are drawn, without ciphertexts."""
import math

import numpy as np
import pytest

from polykem import ckks
from polykem.ckks import _noise
from polykem.ckks._noise import UNKNOWN, Estimate, NoiseModel

N = 64
SLOTS = [N // 2, N // 8, 1]
WEIGHTS = {"ternary": None, "sparse": 12}
# Two digits of two primes and one of one; P is as large as a digit, so that both parts of a key switch's noise matter.
PARAMETERS = ckks.Parameters(6, (2 ** 20,) * 5, (2 ** 20,) * 2, digits=3)
GUARDED = ckks.Parameters(6, (2 ** 20,) * 5, (2 ** 23,) * 2, digits=3)
EXAMPLE = Estimate(mean=2.0, worst=3.0, peak=5.0, power=0.25, magnitude=0.75)


def values(coefficients):
    """The values of polynomials modulo X^N + 1 in all N / 2 slots."""
    at_odd_powers = N * np.fft.ifft(coefficients * np.exp(1j * np.pi * np.arange(N) / N))
    return at_odd_powers[..., :N // 2]


def coefficients(slots):
    """The polynomials modulo X^N + 1 with these values."""
    both = np.concatenate([slots, np.conj(slots[..., ::-1])], axis=-1)
    return (np.fft.fft(both) / N * np.exp(-1j * np.pi * np.arange(N) / N)).real


def decoded(polynomials, slots):
    """The numbers that decoding returns."""
    return values(np.where(np.arange(N) % (N // 2 // slots) == 0, coefficients(polynomials), 0))


def mean_square(x):
    return float(np.mean(np.abs(x) ** 2))


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def drawn(rng, count, variance=_noise._ERROR_VARIANCE):
    return values(rng.normal(0, math.sqrt(variance), (count, N)))


def ternary(rng, count):
    return values(rng.integers(-1, 2, (count, N)).astype(float))


def secrets(rng, count, weight):
    if weight is None:
        return ternary(rng, count)
    rows = np.zeros((count, N))
    rows[:, :weight] = rng.choice([-1, 1], (count, weight))
    return values(rng.permuted(rows, axis=1))


def rounding(rng, count):
    return values(rng.uniform(-0.5, 0.5, (count, N)))


def uniform_sum(rng, count, terms):
    return values(rng.uniform(0, 1, (terms, count, N)).sum(0))


def test_the_helpers_of_these_tests(rng):
    x = rng.normal(size=(3, N))
    assert np.allclose(coefficients(values(x)), x)
    assert np.allclose(decoded(values(x), N // 2), values(x))
    assert np.allclose(values(np.eye(N)[1:2])[0, 0], np.exp(1j * np.pi / N))


@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_fresh_noise(rng, weight, slots):
    count, scale = 2000, 4.0
    e, e0, e1 = (drawn(rng, count) for _ in range(3))
    error = e * ternary(rng, count) + e0 + e1 * secrets(rng, count, weight)
    found = NoiseModel(PARAMETERS, weight).fresh(slots, scale, 0.5)
    assert found.mean == found.worst == pytest.approx(mean_square(decoded(error, slots)) / scale ** 2, rel=0.15)
    assert (found.peak, found.power, found.magnitude) == (0, 0.25, 0.5)


def test_errors_of_keys_from_a_file():
    small, usual = (NoiseModel(PARAMETERS, key_variance=v).fresh(N // 2, 1.0, 1.0).mean for v in (1.0, 10.5))
    assert usual - small == pytest.approx(N * (2 / 3 * N) * 9.5)


@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_rounding_of_a_rescaling(rng, weight, parts, slots):
    count, scale = 2000, 2.0 ** 10
    s = secrets(rng, count, weight)
    error = sum(rounding(rng, count) * s ** i for i in range(parts))
    added = NoiseModel(PARAMETERS, weight).rescaled(EXAMPLE, parts, slots, scale)
    assert added.mean - EXAMPLE.mean == pytest.approx(mean_square(decoded(error, slots)) / scale ** 2, rel=0.15)
    assert added.worst - EXAMPLE.worst == pytest.approx(added.mean - EXAMPLE.mean)
    assert added[2:] == EXAMPLE[2:]


@pytest.mark.parametrize("slots", SLOTS)
@pytest.mark.parametrize("limbs", [5, 3, 1])
@pytest.mark.parametrize("parameters", [PARAMETERS, GUARDED], ids=["as small as possible", "guarded"])
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_noise_of_a_key_switch(rng, weight, parameters, limbs, slots):
    """Its mean over the slots, and that in slot 0."""
    count, scale = 2000, 2.0 ** 10
    error = uniform_sum(rng, count, len(parameters.p)) * secrets(rng, count, weight)
    error += uniform_sum(rng, count, len(parameters.p))
    special = math.prod(parameters.p)
    for first in range(0, limbs, 2):
        digit = parameters.q[first:min(first + 2, limbs)]
        error += uniform_sum(rng, count, len(digit)) * drawn(rng, count) * (math.prod(digit) / special)
    error = decoded(error, slots) / scale
    nothing = Estimate(0, 0, 0, 0, 0)
    found = NoiseModel(parameters, weight).switched(nothing, limbs, slots, scale)
    assert found.error(slots) ** 2 == pytest.approx(mean_square(error), rel=0.15)
    assert found.peak + found.worst == pytest.approx(mean_square(error[:, 0]), rel=0.2)
    if slots == N // 2:
        assert found.worst == pytest.approx(mean_square(error[:, slots // 2:]), rel=0.5)  # far from slot 0


def slots_of(rng, variance, count=50000):
    return math.sqrt(variance / 2) * (rng.normal(size=count) + 1j * rng.normal(size=count))


def test_sums_and_products_of_drawn_numbers(rng):
    """`worst` is that of numbers as large as they may be, `mean` that of all."""
    a, b = Estimate(2.0, 2.5, 0.5, 3.0, 2.0), Estimate(0.5, 0.75, 0.125, 1.5, 1.5)
    for variances, squares in (((a.mean, b.mean), (a.power, b.power)),
                               ((a.worst, b.worst), (a.magnitude ** 2, b.magnitude ** 2)),
                               ((a.peak, b.peak), (a.magnitude ** 2, b.magnitude ** 2))):
        x, y = (math.sqrt(square) * np.exp(2j * np.pi * rng.uniform(size=50000)) for square in squares)
        e, f = (slots_of(rng, variance) for variance in variances)
        index = (a.mean, a.worst, a.peak).index(variances[0])
        assert _noise.total(a, b)[index] == pytest.approx(mean_square(e + f), rel=0.02)
        assert _noise.total(a, a, same=True)[index] == pytest.approx(mean_square(2 * e), rel=0.02)
        assert _noise.product(a, b)[index] == pytest.approx(mean_square((x + e) * (y + f) - x * y), rel=0.02)
        small = a.times(2.0 ** -10)._replace(power=a.power, magnitude=a.magnitude)
        e = e / 2 ** 10
        assert (_noise.product(small, small, same=True)[index]
                == pytest.approx(mean_square((x + e) ** 2 - x * x), rel=0.02))


def test_bounds_of_sums_and_products(rng):
    """No numbers within the operands' bounds exceed those of the result."""
    for _ in range(100):
        x, y = (rng.normal(size=50) * rng.uniform(size=50) + 1j * rng.normal(size=50) for _ in range(2))
        a, b = (Estimate(0, 0, 0, mean_square(z), float(np.abs(z).max())) for z in (x, y))
        for exact, found in ((x + y, _noise.total(a, b)), (x * y, _noise.product(a, b)), (x + x, _noise.total(a, a)),
                             (x * x, _noise.product(a, a, same=True)), (-0.5 * x, a.times(-0.5))):
            assert mean_square(exact) <= found.power * (1 + 1e-12)
            assert np.abs(exact).max() <= found.magnitude * (1 + 1e-12)
    assert _noise.total(a, a).power == pytest.approx(4 * a.power)
    assert a.times(-0.5)._replace(power=0) == Estimate(0, 0, 0, 0, a.magnitude / 2)
    assert EXAMPLE.times(3.0)[:3] == (18, 27, 45)
    assert EXAMPLE.of_magnitude(2.0) == (2, 3, 5, 4, 2)


def test_scales_that_differ_count_as_errors():
    b = Estimate(0, 0, 0, 4.0, 3.0)
    found = _noise.total(b, b, mismatch=-0.5)
    assert (found.mean, found.worst) == (1.0, 2.25)


@pytest.mark.parametrize("slots", [2, N // 2])
def test_plaintexts_are_rounded(rng, slots):
    scale = 8.0
    x = rng.uniform(-3, 3, (500, slots)) + 1j * rng.uniform(-3, 3, (500, slots))
    spread = np.zeros((500, N))
    m = np.fft.fft(np.concatenate([x, np.conj(x[:, ::-1])], 1)) / (2 * slots)
    spread[:, ::N // 2 // slots] = (m * np.exp(-0.5j * np.pi * np.arange(2 * slots) / slots)).real
    error = values(np.rint(spread * scale) / scale - spread)
    found = _noise.encoded(x, scale)
    assert found.mean == found.worst == pytest.approx(mean_square(error), rel=0.05)
    assert found.peak == 0 and found.magnitude == pytest.approx(np.abs(x).max())
    assert found.power == pytest.approx(mean_square(x))


def test_a_plaintext_of_one_slot_is_rounded_as_it_is():
    assert _noise.encoded(np.array([2.0 + 0j]), 1.0) == (0, 0, 0, 4, 2)
    assert _noise.encoded(np.array([0.25 + 0.75j]), 1.0).mean == pytest.approx(2 * 0.25 ** 2)
    assert _noise.encoded(np.array([[0.25 + 0j], [1.0]]), 2.0).mean == pytest.approx(0.25 ** 2 / 2)
    assert _noise.encoded(np.array([1e200 + 0j]), 1.0)[3:] == (math.inf, math.inf)


def test_a_joined_batch_has_the_mean_of_means_and_the_largest_of_the_rest():
    other = Estimate(8.0, 9.0, 1.0, 1.0, 0.5)
    assert _noise.joined([(1, EXAMPLE), (2, other)]) == (6.0, 9.0, 5.0, 0.75, 0.75)


def test_what_is_computed_of_unknown_things_is_unknown(rng):
    model = NoiseModel(PARAMETERS)
    for made in (_noise.total(UNKNOWN, EXAMPLE), _noise.total(EXAMPLE, UNKNOWN), _noise.product(UNKNOWN, EXAMPLE),
                 _noise.product(EXAMPLE, UNKNOWN), _noise.joined([(1, EXAMPLE), (1, UNKNOWN)]), UNKNOWN.times(2.0),
                 model.rescaled(UNKNOWN, 2, 4, 1.0), model.switched(UNKNOWN, 5, 4, 1.0),
                 UNKNOWN.of_magnitude(1.0), NoiseModel(PARAMETERS, math.nan).fresh(4, 1.0, 1.0)):
        assert not made.known
    assert EXAMPLE.known


@pytest.mark.parametrize("n", [8, 256, 16384])
def test_the_largest_of_many_errors(rng, n):
    """Of sums of two products of about normal values: an error or the secret in the slot, and an item's."""
    one = Estimate(1.0, 1.0, 0, 0, 0)
    drawn = np.abs(sum(slots_of(rng, 1, (50, n)) * slots_of(rng, 0.5, (50, n)) for _ in range(2)))
    assert one.largest_error(n // 4, 4) == pytest.approx(math.sqrt(mean_square(drawn.max(1))), rel=0.08)
    assert one._replace(peak=1e6).largest_error(n, 1) == pytest.approx(1000, rel=0.001)


@pytest.mark.parametrize("slots", [8, 128, 4096])
def test_errors_of_doubles(rng, slots):
    """At a scale where nothing else is left; `EXAMPLE` without errors has numbers of a quarter of the power."""
    context = ckks.Context(ckks.Parameters.choose(13, 2, 50, 60), allow_insecure=True)
    x = rng.uniform(-1, 1, (4, slots))
    error = context.decode(context.encode(x, scale=2.0 ** 100)) - x
    expected = Estimate(0, 0, 0, mean_square(x), 1)
    assert 0.7 < math.sqrt(mean_square(error)) / expected.error(slots) < 1.3
    assert 0.5 < np.abs(error).max() / expected.largest_error(slots, 4) < 1.5
