# SPDX-License-Identifier: Apache-2.0
"""Tests of what is decided to be done to operands, without ciphertexts."""
import math

import numpy as np
import pytest

from polykem import ckks
from polykem.ckks._alignment import Alignment, KeepLimbs, MultiplyByOne, Operand, Rescale

# Moduli that are powers of two, so that all scales are exact.
SCALE = 2.0 ** 40
ONE_LIMB = ckks.Parameters(4, (2 ** 60, *[2 ** 40] * 4), scale=SCALE)
TWO_LIMBS = ckks.Parameters(4, (2 ** 30, 2 ** 30, *[2 ** 20] * 8), scale=SCALE, limbs_per_level=2)
SHORT = ckks.Parameters(4, (2 ** 60, 2 ** 40, 17), scale=SCALE)


def fresh(limbs, ratio=1.0):
    return Operand(limbs, SCALE * ratio)


def late(limbs, ratio=1.0):
    """A product that was not rescaled."""
    return Operand(limbs, SCALE ** 2 * ratio, degree=2)


def plain(limbs, ratio=1.0, degree=1):
    return Operand(limbs, SCALE ** degree * ratio, degree, fixed=True)


def keep(limbs):
    return (KeepLimbs(limbs),)


def change(limbs, ratio, dropped=2.0 ** 40):
    """The steps that change a scale by a ratio, from so many limbs on."""
    return KeepLimbs(limbs), MultiplyByOne(ratio * dropped), Rescale()


RESCALE = (Rescale(),)
NEARLY = 1 + 2.0 ** -31  # equal, for sums of equal limbs
# parameters, operands, the steps of each, limbs and scale of both
SUMS = {
    "fit": (ONE_LIMB, fresh(5), fresh(5), (), (), 5, SCALE),
    "scales that count as equal": (ONE_LIMB, fresh(5), fresh(5, NEARLY), (), (), 5, SCALE),
    "more limbs": (ONE_LIMB, fresh(5), fresh(3), keep(3), (), 3, SCALE),
    "more limbs, and scales that count as equal in a sum of equal limbs":
        (ONE_LIMB, fresh(5), fresh(3, NEARLY), change(4, NEARLY), (), 3, SCALE * NEARLY),
    "both products": (ONE_LIMB, late(5), late(5), (), (), 5, SCALE ** 2),
    "products of different limbs": (ONE_LIMB, late(5), late(3), keep(3), (), 3, SCALE ** 2),
    "a product and another scale": (ONE_LIMB, late(5), fresh(5), RESCALE, keep(4), 4, SCALE),
    "a product and fewer limbs": (ONE_LIMB, late(5), fresh(3), (*RESCALE, *keep(3)), (), 3, SCALE),
    "a product that cannot be rescaled":
        (ONE_LIMB, late(1, 2.0 ** -30), fresh(1, 2.0 ** 10), (), (), 1, SCALE * 2 ** 10),
    "more limbs and another scale": (ONE_LIMB, fresh(5), fresh(3, 1.5), change(4, 1.5), (), 3, SCALE * 1.5),
    "more limbs and a scale far from the other": (ONE_LIMB, fresh(5), fresh(3, 4), change(4, 4), (), 3, SCALE * 4),
    "equal limbs, the smaller scale takes the larger": (ONE_LIMB, fresh(5), fresh(5, 1.5), change(5, 1.5), keep(4), 4,
                                                        SCALE * 1.5),
    "a level is two limbs": (TWO_LIMBS, fresh(10), fresh(6, 1.5), change(8, 1.5), (), 6, SCALE * 1.5),
    "less than a level more": (TWO_LIMBS, fresh(10), fresh(9), keep(9), (), 9, SCALE),
    "less than a level more, another scale": (TWO_LIMBS, fresh(10), fresh(9, 1.5), change(10, 1.5), keep(8), 8,
                                              SCALE * 1.5),
    "a product where a level is two limbs": (TWO_LIMBS, late(10), fresh(10), RESCALE, keep(8), 8, SCALE),
}
WITH_PLAINTEXTS = {
    "of fewer limbs": (ONE_LIMB, fresh(5), plain(3), keep(3), 3, SCALE),
    "of more limbs": (ONE_LIMB, fresh(3), plain(5), (), 3, SCALE),
    "of a larger scale": (ONE_LIMB, fresh(5), plain(5, 1.5), change(5, 1.5), 4, SCALE * 1.5),
    "of a smaller scale": (ONE_LIMB, fresh(5), plain(5, 0.75), change(5, 0.75), 4, SCALE * 0.75),
    "of two scales": (ONE_LIMB, fresh(5), plain(5, degree=2), change(5, SCALE), 4, SCALE ** 2),
    "to a product": (ONE_LIMB, late(5), plain(5), RESCALE, 4, SCALE),
}
# ... whether it will be rescaled, ...
PRODUCTS = {
    "fit": (ONE_LIMB, True, fresh(5), fresh(5), (), ()),
    "more limbs": (ONE_LIMB, True, fresh(5), fresh(3), keep(3), ()),
    "more limbs and another scale": (ONE_LIMB, True, fresh(5), fresh(3, 1.5), change(4, 1.5), ()),
    "twice the scale, which is kept": (ONE_LIMB, True, fresh(5), fresh(3, 2), keep(3), ()),
    "half of the scale, which is kept": (ONE_LIMB, True, fresh(5), fresh(3, 0.5), keep(3), ()),
    "a factor that would be rounded": (SHORT, True, fresh(3), fresh(2, 1.5), keep(2), ()),
    "equal limbs and another scale": (ONE_LIMB, True, fresh(5), fresh(5, 1.5), (), ()),
    "a product": (ONE_LIMB, True, late(5), fresh(5), RESCALE, keep(4)),
    "both products": (ONE_LIMB, True, late(5), late(5), RESCALE, RESCALE),
    "a product of three scales": (ONE_LIMB, True, Operand(5, SCALE ** 3, 3), fresh(5), RESCALE * 2, keep(3)),
    "a product without a level": (ONE_LIMB, True, Operand(1, SCALE, 2), fresh(1), (), ()),
    "a product without a level, of two limbs": (TWO_LIMBS, True, Operand(2, SCALE, 2), fresh(2), (), ()),
    "a product, not to be rescaled": (ONE_LIMB, False, late(5), fresh(5), (), ()),
    "a product with more limbs, not to be rescaled": (ONE_LIMB, False, late(5), fresh(3), (*RESCALE, *keep(3)), ()),
    "a product with fewer limbs, not to be rescaled": (ONE_LIMB, False, late(3), fresh(5), (), keep(3)),
    "plaintexts of fewer limbs": (ONE_LIMB, True, fresh(5), plain(3), keep(3), ()),
    "plaintexts of more limbs": (ONE_LIMB, True, fresh(3), plain(5), (), ()),
    "plaintexts of two scales": (ONE_LIMB, True, fresh(5), plain(5, degree=2), (), ()),
    "a product and plaintexts": (ONE_LIMB, True, late(5), plain(5), RESCALE, ()),
}
# Without automatic alignment: operands that fit after their rescalings.
MANUAL_PRODUCTS = {
    "more limbs": (True, fresh(5), fresh(3), (), ()),
    "a product": (True, late(5), fresh(5), RESCALE, keep(4)),
    "a product, not to be rescaled": (False, late(5), fresh(3), (), ()),
}
TARGETS = {
    "as it is": (ONE_LIMB, fresh(5), 5, SCALE, keep(5)),
    "fewer limbs": (ONE_LIMB, fresh(5), 2, SCALE, keep(2)),
    "a scale that was rounded": (ONE_LIMB, fresh(5), 2, SCALE * (1 + 2.0 ** -46), keep(2)),
    "a scale that is nearly equal": (ONE_LIMB, fresh(5), 4, SCALE * NEARLY, change(5, NEARLY)),
    "a scale that is nearly equal, and no level to change it": (ONE_LIMB, fresh(5), 5, SCALE * NEARLY, keep(5)),
    "another scale": (ONE_LIMB, fresh(5), 2, SCALE * 3, change(3, 3)),
    "the scale of a product": (ONE_LIMB, late(5), 5, SCALE ** 2, keep(5)),
    "a product": (ONE_LIMB, late(5), 3, SCALE, (*RESCALE, *keep(3))),
    "a product and another scale": (ONE_LIMB, late(5), 3, SCALE * 1.5, (*RESCALE, *change(4, 1.5))),
}


def after(parameters, a):
    """Limbs, scale and degree that ciphertexts have after the steps to `a`, whose scales are exact."""
    limbs, scale, degree = a.limbs, a.scale, a.degree
    for step in a.steps:
        if isinstance(step, KeepLimbs):
            assert 1 <= step.limbs <= limbs
            limbs = step.limbs
        elif isinstance(step, MultiplyByOne):
            scale, degree = scale * step.factor, degree + 1
        else:
            left = limbs - parameters.limbs_per_level
            assert left >= 1
            limbs, scale, degree = left, scale / math.prod(map(float, parameters.q[left:limbs])), degree - 1
    return limbs, scale, degree


def check(parameters, before, decided, steps):
    assert decided.steps == steps and decided.fixed == before.fixed
    assert (decided.limbs, decided.scale, decided.degree) == after(
        parameters, Operand(before.limbs, before.scale, before.degree, steps=steps))


@pytest.mark.parametrize("case", SUMS)
def test_sums(case):
    parameters, a, b, steps_a, steps_b, limbs, scale = SUMS[case]
    decide = Alignment(parameters).sum
    for x, y in (decide(a, b), reversed(decide(b, a))):
        check(parameters, a, x, steps_a)
        check(parameters, b, y, steps_b)
        assert x.limbs == y.limbs == limbs
        assert y.scale == pytest.approx(scale, rel=2 ** -30) and x.scale == pytest.approx(scale, rel=2 ** -30)


@pytest.mark.parametrize("case", WITH_PLAINTEXTS)
def test_sums_with_plaintexts(case):
    parameters, a, b, steps, limbs, scale = WITH_PLAINTEXTS[case]
    x, y = Alignment(parameters).sum(a, b)
    check(parameters, a, x, steps)
    assert y == b and (x.limbs, x.scale) == (limbs, scale)


@pytest.mark.parametrize("case", PRODUCTS)
def test_products(case):
    parameters, rescale, a, b, steps_a, steps_b = PRODUCTS[case]
    x, y = Alignment(parameters).product(a, b, rescale=rescale)
    check(parameters, a, x, steps_a)
    check(parameters, b, y, steps_b)
    assert x.limbs == y.limbs or y.fixed and x.limbs < y.limbs
    if not b.fixed:
        assert Alignment(parameters).product(b, a, rescale=rescale) == (y, x)


@pytest.mark.parametrize("case", MANUAL_PRODUCTS)
def test_products_without_automatic_alignment(case):
    rescale, a, b, steps_a, steps_b = MANUAL_PRODUCTS[case]
    x, y = Alignment(ONE_LIMB).product(a, b, rescale=rescale, automatic=False)
    check(ONE_LIMB, a, x, steps_a)
    check(ONE_LIMB, b, y, steps_b)


@pytest.mark.parametrize("case", TARGETS)
def test_targets(case):
    parameters, a, limbs, scale, steps = TARGETS[case]
    x = Alignment(parameters).to(a, limbs, scale)
    check(parameters, a, x, steps)
    assert x.limbs == limbs and x.scale == pytest.approx(scale, rel=2 ** -30)


@pytest.mark.parametrize("decide, error, text", [
    (lambda x: x.to(fresh(3), 4, SCALE), ckks.LevelError, "3 limbs cannot become 4"),
    (lambda x: x.to(late(4), 4, SCALE), ckks.ScaleError, "from 2\\^80.00 to 2\\^40.00, drops 1 limb, and 4 limbs"),
    (lambda x: x.to(fresh(5), 5, SCALE * 1.5), ckks.ScaleError, "drops 1 limb, and 5 limbs cannot become 5"),
    (lambda x: x.to(Operand(5, SCALE ** 2), 2, SCALE * 1.41), ckks.ScaleError, "the factor, 1.41, would be rounded"),
    (lambda x: x.to(fresh(5), 0, SCALE), ckks.LevelError, "a limb or more, not 0"),
    (lambda x: x.to(fresh(5), 3, 0.0), ckks.ScaleError, "above 0 and finite, not 0.0"),
    (lambda x: x.to(fresh(5), 3, math.inf), ckks.ScaleError, "above 0 and finite, not inf"),
    (lambda x: x.to(fresh(5), 3, math.nan), ckks.ScaleError, "above 0 and finite, not nan"),
    (lambda x: x.sum(fresh(1), fresh(1, 1.5)), ckks.ScaleError, "2\\^40.000000 and 2\\^40.584963, and no level"),
    (lambda x: x.sum(Operand(5, SCALE ** 2), fresh(3, 1.41)), ckks.ScaleError, "1.41, would be rounded"),
    (lambda x: x.sum(fresh(1), plain(5, 1.5)), ckks.ScaleError, "no level is left"),
])
def test_errors(decide, error, text):
    with pytest.raises(error, match=text):
        decide(Alignment(ONE_LIMB))


def test_the_text_counts_the_limbs_of_a_level():
    with pytest.raises(ckks.ScaleError, match="drops 2 limbs, and 4 limbs cannot become 3"):
        Alignment(TWO_LIMBS).to(fresh(4), 3, SCALE * 1.5)


@pytest.mark.parametrize("parameters", [ONE_LIMB, TWO_LIMBS])
def test_any_operands(parameters):
    """Decisions are true of their own steps, end with operands that fit, and do nothing to those."""
    rng, alignment = np.random.default_rng(1), Alignment(parameters)

    def drawn():
        degree = int(rng.integers(1, 4))
        return Operand(int(rng.integers(1, len(parameters.q) + 1)),
                       SCALE ** degree * float(rng.choice([1, NEARLY, 1.25, 1.75, 3, 2.0 ** -12])), degree)
    sums = 0
    for _ in range(2000):
        a, b = drawn(), drawn()
        x, y = alignment.product(a, b)
        assert x.limbs == y.limbs
        check(parameters, a, x, x.steps)
        try:
            x, y = alignment.sum(a, b)
        except ckks.ScaleError:
            continue
        sums += 1
        check(parameters, a, x, x.steps)
        check(parameters, b, y, y.steps)
        assert x.limbs == y.limbs and x.scale == pytest.approx(y.scale, rel=2.0 ** -30)
        assert alignment.sum(x, y) == (x, y)
    assert sums > 500
