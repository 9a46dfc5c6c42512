# SPDX-License-Identifier: Apache-2.0
"""Tests that operands of different limbs and scales are aligned, in every scaling technique."""
import math

import numpy as np
import pytest

from ckks_party import Party, techniques
from polykem import ckks

LOG_N, SLOTS, LEVELS = 11, 1024, 4
TOLERANCE = 2.0 ** -24
TECHNIQUES = techniques(LOG_N, LEVELS)


@pytest.fixture(scope="module", params=TECHNIQUES)
def party(request):
    return Party(TECHNIQUES[request.param])


def numbers(seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (2, SLOTS))


def test_a_polynomial_as_one_writes_it(party):
    v, w = numbers(), numbers(1)
    x, y = party.encrypt(v), party.encrypt(w)
    z = (x * x * x - y) * (x + y * y) + 0.5 * x - y
    expected = (v ** 3 - w) * (v + w * w) + 0.5 * v - w
    assert party.error(z, expected) < TOLERANCE
    assert (z.limbs - 1) // party.context.parameters.limbs_per_level == LEVELS - 3


def test_sums_of_powers(party):
    """They take the levels of their highest power, in whatever way the powers are computed."""
    v, step = numbers(), party.context.parameters.limbs_per_level
    x = party.encrypt(v)
    x2 = x * x
    x3, x4 = x2 * x, x2 * x2
    powers = [x, x2, x3, x4, x4 * x, x3 * x3, x * x2 * x4, x4 * x4]
    for total, exponents, levels in ((x3 + x4, (3, 4), 2), (x4 - x * x3, (), 3), (sum(powers), range(1, 9), 3)):
        assert (total.limbs - 1) // step == LEVELS - levels
        assert party.error(total, sum(v ** n for n in exponents)) < TOLERANCE
    for y, z in ((x4 * x, x * x4), (x4 * x, x3 * x2)):
        assert y.limbs == z.limbs and y.scale == pytest.approx(z.scale, rel=2 ** -45)


def test_factors_of_other_scales_keep_them(party):
    """Weights at a scale of their own lose no precision to an alignment."""
    v, w, step = numbers(), numbers(1), party.context.parameters.limbs_per_level
    scale, x = party.context.parameters.scale, party.encrypt(v)
    limbs = 3 * step
    dropped = math.prod(map(float, party.context.parameters.q[limbs - step:limbs]))
    for factor in (2.0 ** -12, 2.0 ** 12):
        other = party.context.encrypt(party.public, w, limbs=limbs, scale=scale * factor)
        for product in (party.evaluator.mul(x, other), party.evaluator.mul(other, x)):
            assert product.scale == pytest.approx(scale * other.scale / dropped, rel=2 ** -10)
            assert party.error(product, v * w) < 2.0 ** -14


def test_a_product_with_more_limbs_is_rescaled(party):
    """A product that is not to be rescaled has the scales of two, whatever its factors were."""
    ev, v, w = party.evaluator, numbers(), numbers(1)
    x, y = (ev._of_one_scale(party.encrypt(numbers)) for numbers in (v, w))
    x, low = ev.mul(x, y, rescale=False), ev.square(y)
    for product in (ev.mul(x, low, rescale=False), ev.mul(low, x, rescale=False)):
        assert product.limbs == low.limbs and product.degree == 2 and product.scale == pytest.approx(low.scale ** 2)
        assert party.error(product, v * w ** 3) < TOLERANCE


def test_sums_of_nearly_equal_scales(party):
    """A sum of other limbs takes the difference into account, though a sum of equal limbs would not."""
    low, v = party.evaluator.square(party.encrypt(numbers(1))), 4096 * numbers()
    x = party.context.encrypt(party.public, v, scale=low.scale * (1 + 2.0 ** -31))
    for total in (party.evaluator.add(x, low), party.evaluator.add(low, x)):
        assert total.limbs == low.limbs and party.error(total, v + numbers(1) ** 2) < TOLERANCE


def test_an_alignment_takes_no_key_switch(party):
    """A product of three parts is aligned as one, by an evaluator that has no keys."""
    ev, v, w = party.evaluator, numbers(), numbers(1)
    product = ev.rescale(ev.mul(party.encrypt(v), party.encrypt(w), relinearise=False, rescale=False))
    low = ev.square(ev.square(ev.square(party.encrypt(w))))
    keyless = ckks.Evaluator(party.context)
    aligned = keyless.align(product, low.limbs, low.scale)
    assert (aligned.parts, aligned.limbs) == (3, low.limbs)
    assert party.error(ev.relinearise(aligned), v * w) < TOLERANCE


@pytest.mark.parametrize("deep", [1, 2])
def test_sums_and_products_of_any_levels(party, deep):
    """An operand that is `deep` products away meets a fresh one, in both orders, rescaled and not."""
    ev, v, w = party.evaluator, numbers(), numbers(1)
    x, y, expected = party.encrypt(v), party.encrypt(w), w
    for _ in range(deep):
        y, expected = ev.mul(y, y), expected * expected
    late, product = ev.mul(y, y, rescale=False), expected * expected
    for a, b, p, q in ((x, y, v, expected), (y, x, expected, v), (x, late, v, product), (late, x, product, v),
                       (y, late, expected, product), (late, y, product, expected)):
        for got, exact in ((a + b, p + q), (a - b, p - q), (a * b, p * q)):
            assert party.error(got, exact) < TOLERANCE
    assert (x + y).limbs == y.limbs and (x + y).scale == pytest.approx(y.scale, rel=2 ** -40)
    assert (y + late).degree == (late + y).degree == 1
    assert (late + late).degree == 2 and (late + late).limbs == late.limbs


@pytest.mark.parametrize("seed", range(4))
def test_random_circuits(party, seed):
    """Operands are any results so far, whatever their limbs and scales; some products are not rescaled."""
    ev, rng = party.evaluator, np.random.default_rng(seed)
    known = [(party.encrypt(numbers(i)), numbers(i)) for i in range(3)]
    done = 0
    while done < 30:
        (x, v), (y, w) = (known[i] for i in rng.integers(len(known), size=2))
        kind = rng.integers(5)
        exact = v + w if kind == 0 else v - w if kind == 1 else v * w
        if np.abs(exact).max() > 4:
            continue
        late = kind == 4 and x.degree + y.degree == 2
        try:
            z = ev.add(x, y) if kind == 0 else ev.sub(x, y) if kind == 1 else ev.mul(x, y, rescale=not late)
        except (ckks.NoLevelError, ckks.ScaleError) as error:  # at the end of the levels only
            assert min(x.limbs, y.limbs) <= 2 * party.context.parameters.limbs_per_level, error
            continue
        assert party.error(z, exact) < TOLERANCE, (kind, x, y)
        known.append((z, exact))
        done += 1


def test_other_scales(party):
    """Equal limbs cost a level; the larger scale is kept."""
    step, v, w = party.context.parameters.limbs_per_level, numbers(), numbers(1)
    low = party.evaluator.keep_limbs(party.evaluator.mul(party.encrypt(v), 1), 3 * step)
    other = party.context.encrypt(party.public, w, limbs=3 * step, scale=low.scale * 1.7)
    for a, b in ((low, other), (other, low)):
        z = party.evaluator.sub(a, b)
        assert z.limbs == 2 * step and z.scale == other.scale and z.degree == 1
        assert party.error(z, v - w if a is low else w - v) < TOLERANCE
    z = party.evaluator.add(low, party.evaluator.keep_limbs(other, 3 * step - 1))  # less than a level apart
    assert z.limbs == 2 * step and party.error(z, v + w) < TOLERANCE
    with pytest.raises(ckks.ScaleError, match="scales differ, .* no level is left"):
        party.evaluator.add(party.evaluator.keep_limbs(low, step), party.evaluator.keep_limbs(other, step))


def test_plaintexts_keep_their_scale(party):
    context, v, w = party.context, numbers(), numbers(1)
    ev, x, step = party.evaluator, party.encrypt(v), party.context.parameters.limbs_per_level
    short = context.encode(w, limbs=2 * step)
    for got, exact, limbs in ((ev.add(x, short), v + w, 2), (ev.sub(x, short), v - w, 2), (ev.mul(x, short), v * w, 1)):
        assert got.limbs == limbs * step and party.error(got, exact) < TOLERANCE
    z = ev.add(ev.square(x), context.encode(w, scale=context.parameters.scale * 1.3))
    assert z.scale == context.parameters.scale * 1.3 and party.error(z, v * v + w) < TOLERANCE


def test_operands_that_fit_are_not_changed(party):
    x, y = party.encrypt(numbers()), party.encrypt(numbers(1))
    for operation in ("add", "sub", "mul"):
        here, there = (getattr(ev, operation)(x, y) for ev in (party.evaluator, party.manual))
        assert np.array_equal(here.words, there.words) and here.scale == there.scale and here.degree == there.degree


def test_without_it_they_are_refused(party):
    ev, x = party.manual, party.encrypt(numbers())
    low, step = ev.mul(x, x), party.context.parameters.limbs_per_level
    other = party.context.encrypt(party.public, numbers(), limbs=low.limbs, scale=low.scale * 1.7)
    short = party.context.encode(numbers(), limbs=low.limbs - 1, scale=low.scale)
    for error, attempt in ((ckks.LevelError, lambda: ev.add(x, low)),
                           (ckks.LevelError, lambda: ev.mul(low, ev.keep_limbs(low, step))),
                           (ckks.LevelError, lambda: ev.add(low, short)),
                           (ckks.ScaleError, lambda: ev.sub(other, low))):
        with pytest.raises(error):
            attempt()


@pytest.mark.parametrize("factor", [1.41, 201.4])
def test_a_factor_that_would_be_rounded_is_refused(party, factor):
    """An alignment that multiplied by 1.41, rounded to 1, would change the numbers, and by 201.4, rounded to 201."""
    scale, step = party.context.parameters.scale, party.context.parameters.limbs_per_level
    dropped = math.prod(map(float, party.context.parameters.q[step:2 * step]))
    x = party.context.encrypt(party.public, numbers(), scale=scale * dropped)
    with pytest.raises(ckks.ScaleError, match=f"{factor:.3g}, would be rounded"):
        party.evaluator.align(x, step, scale * factor)


def test_an_alignment_drops_no_more_limbs_than_asked(party):
    """A product is not rescaled below the limbs that are asked for."""
    product = party.evaluator.mul(party.encrypt(numbers()), 1.0, rescale=False)
    with pytest.raises(ckks.ScaleError, match="a change of scale"):
        party.evaluator.align(product, product.limbs, party.context.parameters.scale)


def test_the_inspector_aligns_too(party):
    v = numbers()
    inspector = ckks.Inspector(party.evaluator, party.secret)
    x = inspector.watch(party.encrypt(v), v)
    assert party.error(inspector.add(inspector.square(inspector.square(x)), x), v ** 4 + v) < TOLERANCE
    assert min(row.precision for row in inspector.rows) > 24


def test_the_inspector_of_a_manual_evaluator_does_not_align(party):
    inspector, x = ckks.Inspector(party.manual, party.secret), party.encrypt(numbers())
    with pytest.raises(ckks.LevelError):
        inspector.add(inspector.square(x), inspector.mul(inspector.square(x), 0.5))
