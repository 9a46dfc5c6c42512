# SPDX-License-Identifier: Apache-2.0
"""Tests polynomials in Chebyshev form against NumPy, in every scaling technique."""
import math
from unittest import mock

import numpy as np
import pytest

import function_answers
from ckks_party import Party, techniques
from folders import DATA
from polykem import ckks

LOG_N, SLOTS, LEVELS = 11, 1024, 6
TOLERANCE = 2.0 ** -20
TECHNIQUES = techniques(LOG_N, LEVELS)


@pytest.fixture(scope="module", params=TECHNIQUES)
def party(request):
    return Party(TECHNIQUES[request.param])


def points(interval, count=2):
    """Returns numbers in the interval, its ends among them."""
    return np.stack([np.linspace(*interval, SLOTS), np.random.default_rng(2).uniform(*interval, SLOTS)])[:count]


def coefficients(degree, seed=0):
    """Returns coefficients of a polynomial whose values are below 1."""
    c = np.random.default_rng([degree, seed]).uniform(-1, 1, degree + 1)
    return c / np.abs(c).sum()


def checked(party, polynomial, evaluator, x):
    """Returns the largest error, after checks that it takes its depth in levels, keeps the scale, and switches keys as
    often as it says."""
    v, core = points(polynomial.interval), ckks._evaluator._core
    with mock.patch.object(core, "ckks_relinearise", wraps=core.ckks_relinearise) as relinearised:
        y = polynomial.apply(evaluator, x)
    assert relinearised.call_count == polynomial.key_switches
    assert y.limbs == (x.limbs if x.degree == 1 else x.limbs - 1) - (
        polynomial.depth * party.context.parameters.limbs_per_level)
    assert y.scale == pytest.approx(x.scale if x.degree == 1 else party.context.parameters.scale, rel=2 ** -30)
    assert y.degree == 1
    return party.error(y, polynomial(v))


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 31, 40, 63])
def test_polynomials(party, degree):
    polynomial = ckks.Chebyshev(coefficients(degree))
    assert polynomial.degree == degree and polynomial.depth == math.ceil(math.log2(degree + 1))
    x = party.encrypt(points((-1, 1)))
    for evaluator in (party.evaluator, party.manual):
        assert checked(party, polynomial, evaluator, x) < TOLERANCE


@pytest.mark.parametrize("interval,more", [((-1, 1), 0), ((0, 1), 0), ((3, 5), 0), ((-0.5, 0.5), 0), ((-4, 4), 1),
                                           ((2, 9.5), 1), ((0.2, 0.2 + 2 / 3), 0)])
def test_intervals(party, interval, more):
    polynomial = ckks.Chebyshev.fit(np.cos, 9, interval)
    assert polynomial.depth == 4 + more
    assert checked(party, polynomial, party.evaluator, party.encrypt(points(interval))) < TOLERANCE


def test_even_odd_sparse_and_complex(party):
    x = party.encrypt(points((-1, 1)))
    c, n = coefficients(31), np.arange(32)
    for which, key_switches in ((n % 2 == 1, 10), (n % 2 == 0, 8), (n % 16 == 0, 4)):
        polynomial = ckks.Chebyshev(c * which)
        assert polynomial.key_switches == key_switches
        assert checked(party, polynomial, party.evaluator, x) < TOLERANCE
    assert checked(party, ckks.Chebyshev(c * 1j ** n), party.evaluator, x) < TOLERANCE


def test_levels_that_do_not_suffice(party):
    step = party.context.parameters.limbs_per_level
    x = party.evaluator.keep_limbs(party.evaluator._of_one_scale(party.encrypt(points((-1, 1)))), 3 * step)
    assert checked(party, ckks.Chebyshev(coefficients(3)), party.evaluator, x) < TOLERANCE
    with pytest.raises(ckks.NoLevelError, match=r"degree 4 .* takes 3 levels, .* have 2 left: .* 1 more"):
        ckks.Chebyshev(coefficients(4)).apply(party.evaluator, x)
    with pytest.raises(ckks.NoLevelError, match="takes 2 levels, .* have 1 left"):
        ckks.Chebyshev(coefficients(3)).apply(party.evaluator, party.evaluator.keep_limbs(x, 3 * step - 1))
    with pytest.raises(ckks.NoLevelError, match="takes 3 levels"):
        ckks.Chebyshev(coefficients(3), (-2, 2)).apply(party.evaluator, x)
    with pytest.raises(ckks.MissingKeyError, match="relinearisation"):
        ckks.Chebyshev(coefficients(3)).apply(ckks.Evaluator(party.context), x)
    for wrong in ((None, x), (x, party.evaluator)):
        with pytest.raises(ckks.ArgumentError, match="must be an Evaluator"):
            ckks.Chebyshev(coefficients(3)).apply(*wrong)


@pytest.mark.parametrize("degree,bits", [(3, 30), (7, 30), (7, 60), (63, 44)])
def test_scales_far_from_the_primes(party, degree, bits):
    """Chebyshev polynomials of them would have scales near 1, or above the modulus."""
    polynomial, v = ckks.Chebyshev(coefficients(degree)), points((-1, 1))
    with pytest.raises(ckks.ScaleError, match=rf"scale, 2\^{bits}.00, is too far from .* 2\^\d+\.\d\d, for"):
        polynomial.apply(party.evaluator, party.context.encrypt(party.public, v, scale=2.0 ** bits))


def test_scales_near_the_primes(party):
    v = points((-1, 1))
    scale = 2.0 * party.context.parameters.scale
    x = party.context.encrypt(party.public, v, scale=scale)
    assert checked(party, ckks.Chebyshev(coefficients(7)), party.evaluator, x) < TOLERANCE


def test_what_is_refused():
    for wrong in ([], [1.0], [1.0, 0.0], [1, np.nan], [[1, 2], [3, 4]], [np.inf, 1], ["a", 1], 3.0, [10 ** 400, 1]):
        with pytest.raises(ckks.ArgumentError, match="coefficients"):
            ckks.Chebyshev(wrong)
    for wrong in ((1, 1), (2, 1), (0, np.inf), (0, 1, 2), 1, ("a", 2), (0, 10 ** 400)):
        with pytest.raises(ckks.ArgumentError, match="interval"):
            ckks.Chebyshev([1, 2], wrong)
        with pytest.raises(ckks.ArgumentError, match="interval"):
            ckks.Chebyshev.fit(np.cos, 5, wrong)
    with pytest.raises(ckks.ArgumentError, match="interval"):
        ckks.Chebyshev.fit(np.cos, 5, None)
    with pytest.raises(ckks.ArgumentError, match="finite in the interval, and is inf at 1.0"):
        ckks.Chebyshev.fit(lambda x: np.where(np.isclose(x, 1), np.inf, x), 4, (0, 2))
    for wrong in (math.exp, lambda x: np.array(["a"] * 6)):
        with pytest.raises(ckks.ArgumentError, match="must take an array and return numbers"):
            ckks.Chebyshev.fit(wrong, 5, (0, 1))
    for constant in (lambda: ckks.Chebyshev([3.0, 0.0]), lambda: ckks.Chebyshev.fit(np.ones_like, 5, (0, 1))):
        with pytest.raises(ckks.ArgumentError, match="a constant needs no ciphertext"):
            constant()
    for wrong in (5.0, "5"):
        with pytest.raises(ckks.ArgumentError, match="degrees must be whole numbers"):
            ckks.Chebyshev.fit(np.cos, wrong, (0, 1))
    for wrong in (lambda x: 1.0, lambda x: x[:2]):
        with pytest.raises(ckks.ArgumentError, match="as many numbers"):
            ckks.Chebyshev.fit(wrong, 5, (0, 1))
    with pytest.raises(ckks.ArgumentError, match="degree"):
        ckks.Chebyshev.fit(np.cos, 0, (0, 1))


@pytest.mark.parametrize("dtype", [float, complex])
def test_coefficients_are_a_copy(dtype):
    c = np.array([1, 2, 3j if dtype is complex else 3], dtype)
    polynomial = ckks.Chebyshev(c)
    c[1] = 7
    assert polynomial.coefficients[1] == 2
    with pytest.raises(ValueError, match="read-only"):
        polynomial.coefficients[1] = 7


def test_polynomials_of_numpy():
    theirs = np.polynomial.Chebyshev([1, 2, 3, 4], domain=(2, 5))
    ours, x = ckks.Chebyshev(theirs), np.linspace(2, 5, 11)
    assert ours.interval == (2, 5) and ours(x) == pytest.approx(theirs(x))
    with pytest.raises(ckks.ArgumentError, match="window"):
        ckks.Chebyshev(np.polynomial.Chebyshev([1, 2], window=(0, 1)))


def test_a_fit():
    """It is near the function, with the error of an interpolation at Chebyshev nodes, and keeps symmetry."""
    x = np.linspace(-4, 4, 1001)
    errors = [np.abs(ckks.Chebyshev.fit(np.tanh, d, (-4, 4))(x) - np.tanh(x)).max() for d in (7, 15, 31)]
    assert errors[0] < 0.1 and errors[1] < 0.01 and errors[2] < 1e-4
    odd = ckks.Chebyshev.fit(np.tanh, 31, (-4, 4))
    assert not odd.coefficients[::2].any() and odd.degree == 31
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 3.0])
    assert ckks.Chebyshev.fit(cubic, 3, (-1, 2))(x) == pytest.approx(cubic(x))
    assert ckks.Chebyshev.fit(lambda x: np.exp(1j * x), 20, (-4, 4))(x) == pytest.approx(np.exp(1j * x))


def test_a_fit_of_high_degree():
    """It needs no matrix of the nodes, which would have 80 GB."""
    polynomial = ckks.Chebyshev.fit(lambda x: np.abs(x) + x, 100_000, (-1, 1))
    assert abs(polynomial(0.25) - 0.5) < 1e-4 and polynomial.coefficients[1] == pytest.approx(1)


@pytest.mark.parametrize("degree,count", [(1, 0), (2, 1), (7, 4), (15, 7), (31, 10), (63, 15), (127, 20), (1023, 55)])
def test_key_switches(degree, count):
    """About sqrt(2 degree) + log2(degree)."""
    assert ckks.Chebyshev(coefficients(degree)).key_switches == count


def test_the_inspector_sees_every_step(party):
    v = points((-1, 1))
    inspector = ckks.Inspector(party.evaluator, party.secret)
    polynomial = ckks.Chebyshev(coefficients(12))
    y = polynomial.apply(inspector, inspector.watch(party.encrypt(v), v))
    assert party.error(y, polynomial(v)) < TOLERANCE and min(row.precision for row in inspector.rows) > 20


def test_the_c_api_is_tested_with_these_answers():
    """ckks/tests/functions_test.cpp compares with them, those of matrices too."""
    assert (DATA / "function_answers.txt").read_text().splitlines() == list(function_answers.lines())
