# SPDX-License-Identifier: Apache-2.0
"""Tests products with matrices against NumPy, in every scaling technique."""
from unittest import mock

import numpy as np
import pytest

from ckks_party import Party, techniques
from polykem import ckks

LOG_N, SLOTS = 11, 32
TOLERANCE = 2.0 ** -24
TECHNIQUES = techniques(LOG_N, 2)
RNG = np.random.default_rng(5)
DENSE = RNG.uniform(-1, 1, (SLOTS, SLOTS)) + 1j * RNG.uniform(-1, 1, (SLOTS, SLOTS))
BAND = {k: RNG.uniform(-1, 1, SLOTS) for k in (-2, -1, 0, 1, 2)}
STRIDED = {k: RNG.uniform(-1, 1, SLOTS) for k in range(0, SLOTS, 8)}
CASES = {"dense": DENSE, "band": BAND, "strided": STRIDED, "diagonal": {0: RNG.uniform(-1, 1, SLOTS)},
         "one rotation": {-3: np.ones(SLOTS)}}
ROTATIONS = {"dense": 10, "band": 3, "strided": 2, "diagonal": 0, "one rotation": 1}


def whole(matrix):
    """Returns the matrix of diagonals."""
    if not isinstance(matrix, dict):
        return matrix
    places = np.arange(SLOTS)
    out = np.zeros((SLOTS, SLOTS))
    for k, diagonal in matrix.items():
        out[places, (places + k) % SLOTS] = diagonal
    return out


@pytest.fixture(scope="module", params=TECHNIQUES)
def party(request):
    return Party(TECHNIQUES[request.param], range(SLOTS))


def numbers(seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (3, SLOTS)) + 1j * rng.uniform(-1, 1, (3, SLOTS))


@pytest.mark.parametrize("name", CASES)
def test_products(party, name):
    """By any of the two forms, with the named keys and no others; the scale is kept, and one level is taken."""
    context, v, step = party.context, numbers(), party.context.parameters.limbs_per_level
    matrix = whole(CASES[name])
    transform = ckks.LinearTransform(context, CASES[name])
    assert len(transform.rotations) == ROTATIONS[name]
    keys = ckks.Keys.generate(context, party.secret, rotations=transform.rotations, relinearisation=False)
    x = party.encrypt(v)
    for evaluator in (ckks.Evaluator(context, keys), ckks.Evaluator(context, keys, automatic=False)):
        y = transform.apply(evaluator, x)
        assert party.error(y, v @ matrix.T) < TOLERANCE
        start = x if x.degree == 1 else evaluator.rescale(x)
        assert y.limbs == start.limbs - step and y.scale == pytest.approx(start.scale, rel=2 ** -40) and y.degree == 1
    again = ckks.LinearTransform(context, matrix)
    assert again.rotations == transform.rotations and repr(again) == repr(transform)
    assert np.array_equal(again.apply(evaluator, x).words, y.words)


def test_as_many_key_switches_as_rotations(party):
    transform, x = ckks.LinearTransform(party.context, DENSE), party.encrypt(numbers())
    core = ckks._evaluator._core
    with mock.patch.object(core, "ckks_automorphisms", wraps=core.ckks_automorphisms) as hoisted, \
         mock.patch.object(core, "ckks_automorphism", wraps=core.ckks_automorphism) as single, \
         mock.patch.object(core, "ckks_relinearise") as relinearised:
        transform.apply(party.evaluator, x)
    babies = len(hoisted.call_args.args[2])
    assert hoisted.call_count == 1 and babies == 7 and single.call_count == 3 and not relinearised.called
    assert babies + single.call_count == len(transform.rotations)


def test_any_limbs(party):
    """A transform is used with ciphertexts of more and of fewer limbs, one after the other."""
    v, step = numbers(), party.context.parameters.limbs_per_level
    first, x = ckks.LinearTransform(party.context, BAND), party.encrypt(v)
    second = ckks.LinearTransform(party.context, BAND, limbs=2 * step)
    start = x.scale if x.degree == 1 else party.context.parameters.scale
    for transform, evaluator in ((first, party.evaluator), (second, party.evaluator), (first, party.manual)):
        y = transform.apply(evaluator, first.apply(evaluator, x))
        assert y.limbs == step and party.error(y, v @ whole(BAND).T @ whole(BAND).T) < TOLERANCE
        assert y.scale == pytest.approx(start, rel=2 ** -45)
    for evaluator in (party.evaluator, party.manual):
        assert second.apply(evaluator, x).limbs == step
    with pytest.raises(ckks.NoLevelError, match="none left"):
        first.apply(party.evaluator, y)
    with pytest.raises(ckks.NoLevelError, match="takes a level"):
        ckks.LinearTransform(party.context, BAND, limbs=2 * step - 1)


def test_what_is_refused(party):
    for wrong in (np.ones((2, 3)), np.ones(4), np.zeros((4, 4)), {}, {0: np.ones((2, 2))}, {0: np.ones(3)},
                  {0: np.ones(4), 1: np.ones(8)}, {1: np.ones(4), -3: np.ones(4)}, {0: [np.inf] * 4}, [["a"]],
                  {"a": np.ones(4)}, {1.5: np.ones(4)}, [[1, 2], [3]], {0: []}, {0: np.zeros(4), 1: np.zeros(4)}):
        with pytest.raises(ckks.ArgumentError):
            ckks.LinearTransform(party.context, wrong)
    for limbs in (100, 10 ** 15):
        with pytest.raises(ckks.LevelError, match="the parameters have"):
            ckks.LinearTransform(party.context, BAND, limbs=limbs)
    for limbs in (2.0, "3", 10 ** 30):
        with pytest.raises(ckks.ArgumentError, match="limbs must"):
            ckks.LinearTransform(party.context, BAND, limbs=limbs)
    transform = ckks.LinearTransform(party.context, BAND)
    with pytest.raises(ckks.ArgumentError, match="32 rows, but the ciphertexts have 4 slots"):
        transform.apply(party.evaluator, party.encrypt(np.ones(4)))
    for few, text in (((), r"by \[1, 2, 30\]: make"), ((1,), r"by \[2, 30\]: make")):
        keys = ckks.Keys.generate(party.context, party.secret, rotations=few)
        with pytest.raises(ckks.MissingKeyError, match=text):
            transform.apply(ckks.Evaluator(party.context, keys), party.encrypt(numbers()))
    with pytest.raises(ckks.ArgumentError, match="must be Ciphertexts"):
        transform.apply(party.evaluator, numbers())
    x = party.encrypt(numbers())
    for wrong in ((None, x), (x, party.evaluator)):
        with pytest.raises(ckks.ArgumentError, match="must be an Evaluator"):
            transform.apply(*wrong)
    other = ckks.Context(ckks.Parameters.choose(LOG_N, 1, 40, 50), threads=1, allow_insecure=True)
    with pytest.raises(ckks.ArgumentError, match="another parameter set"):
        ckks.LinearTransform(other, BAND).apply(party.evaluator, x)


def test_diagonals_of_0_are_left_out(party):
    transform = ckks.LinearTransform(party.context, BAND | {7: np.zeros(SLOTS)})
    assert transform.rotations == ckks.LinearTransform(party.context, BAND).rotations
    assert "5 diagonals" in repr(transform)


def test_steps_that_are_no_whole_numbers(party):
    x = party.encrypt(numbers())
    for evaluator in (party.evaluator, ckks.Inspector(party.evaluator, party.secret)):
        for steps in (3, [1.5], ["a"], [10 ** 30]):
            with pytest.raises(ckks.ArgumentError, match="steps must"):
                evaluator.rotate_many(x, steps)
    with pytest.raises(ckks.ArgumentError, match="steps must"):
        party.evaluator.rotate(x, 1.5)
    with pytest.raises(ckks.MissingKeyError, match=r"by \[1, 2\]: make"):
        ckks.Evaluator(party.context).rotate_many(x, (0, 1, 2))


def test_the_inspector_sees_every_step(party):
    v = numbers()
    inspector = ckks.Inspector(party.evaluator, party.secret)
    y = ckks.LinearTransform(party.context, BAND).apply(inspector, inspector.watch(party.encrypt(v), v))
    assert party.error(y, v @ whole(BAND).T) < TOLERANCE and min(row.precision for row in inspector.rows) > 22
