# SPDX-License-Identifier: Apache-2.0
"""Tests polykem.ckks by itself: what it computes, against NumPy, and what it refuses."""
import copy
import doctest
import importlib
import inspect
import math
import pickle
import pkgutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polykem
import pytest

from ckks_circuits import random_circuit
from ckks_party import Party
from polykem import ckks

SLOTS = 512
TOLERANCE = 2.0 ** -20


def party_of(levels=10, scale_bits=45):
    return Party(ckks.Parameters.choose(10, levels, scale_bits, 60), [-2, *ckks.sum_rotations(SLOTS)], conjugation=True)


@pytest.fixture(scope="module")
def party():
    return party_of()


def numbers(count=1, slots=SLOTS, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (count, slots)) + 1j * rng.uniform(-1, 1, (count, slots))


def test_decryption_of_nonsense_says_so(party):
    """The wrong key, and numbers beyond the modulus, leave coefficients all over it; large numbers that fit do not."""
    context, x = party.context, numbers()
    a = party.encrypt(x)
    other = ckks.SecretKey.generate(context)
    other.key_tag = ""
    with pytest.raises(ckks.DecryptionError, match=r"spread over the modulus, 2\^\d+\.\d\d"):
        context.decrypt(other, a)
    low = party.evaluator.keep_limbs(a, 1)
    for _ in range(20):
        low = party.evaluator.add(low, low)
    with pytest.raises(ckks.DecryptionError):
        context.decrypt(party.secret, low)
    room = 2.0 ** (math.log2(context.parameters.q[0]) - 45 - 1)
    for large in (np.full(SLOTS, 0.99 * room), 0.7 * room * x[0], 0.99 * room * np.exp(2j * np.arange(SLOTS))):
        close = context.decrypt(party.secret, context.encrypt(party.public, large, limbs=1))[0]
        assert np.abs(close - large).max() < 2.0 ** -20


def test_every_error_is_a_ckks_error(party):
    context, ev, a = party.context, party.evaluator, party.encrypt(numbers())
    attempts = [lambda: ckks.Context(context.parameters, threads=-1), lambda: ev.add(a, np.ones(3)),
                lambda: ev.add(1, a),
                lambda: context.encode([np.inf]), lambda: context.encode(["a"]), lambda: a[5:5], lambda: ckks.join([]),
                lambda: ckks.Parameters(10, (15,)).security_bits, lambda: ckks.sum_rotations(3),
                lambda: ckks.load(b""), lambda: ckks.save(3, "/tmp/x"), lambda: ckks.Parameters.choose(10, 200),
                lambda: ckks.Ciphertexts.from_words(context, np.ones(3), 4, 2.0 ** 40), lambda: context.device(-1),
                lambda: context.decrypt(party.secret, ckks.Ciphertexts(context, a._core, 1, "another"))]
    for attempt in attempts:
        with pytest.raises(ckks.CkksError) as refusal:
            attempt()
        assert refusal.value.status == type(refusal.value).status and str(refusal.value)


# ---- parameters

def test_parameters_that_are_chosen():
    x = ckks.Parameters.choose(13, 3, scale_bits=35, first_bits=50, digits=2)
    assert len(x.q) == 4 and x.digits == 2 and x.scale == 2 ** 35
    assert x.q[0].bit_length() == 50 and all(abs(math.log2(q) - 35) < 0.01 for q in x.q[1:])
    assert all(q % 2 ** 14 == 1 for q in x.q + x.p) and len({*x.q, *x.p}) == len(x.q) + len(x.p)
    assert math.prod(x.p) > max(math.prod(x.q[:2]), math.prod(x.q[2:]))
    assert x.security_bits == 0 and "not secure" in str(x)
    assert ckks.Parameters.choose(14, 3, 35, 50, 2).security_bits == 128
    assert hash(x) == hash(copy.deepcopy(x)) and pickle.loads(pickle.dumps(x)) == x


def test_parameters_that_are_refused():
    with pytest.raises(ckks.InsecureError, match="bits of security"):
        ckks.Context(ckks.Parameters.choose(12, 3))
    good = ckks.Parameters.choose(10, 2)
    for bad in (dict(q=(15,)), dict(q=good.q[:1] * 2), dict(digits=7), dict(p=good.p[:1]), dict(log_n=3),
                dict(q_roots=(1, 1, 1))):
        with pytest.raises(ckks.ParameterError):
            ckks.Context(ckks.Parameters(**{"log_n": 10, "q": good.q, "p": good.p, "digits": 1, **bad}),
                         allow_insecure=True)
    with pytest.raises(polykem.ArgumentError):
        ckks.Context(ckks.Parameters(10, good.q, good.p, 2, q_roots=(5,)), allow_insecure=True)
    with pytest.raises(ckks.ParameterError):
        ckks.Parameters.choose(10, -1)
    with pytest.raises(polykem.ArgumentError):
        ckks.Parameters.choose(20, 2)


# ---- messages

@pytest.mark.parametrize("slots", [1, 2, 64, SLOTS])
def test_numbers_survive(party, slots):
    values = numbers(3, slots)
    encoded = party.context.encode(values, limbs=3, scale=2.0 ** 50)
    assert encoded.shape == values.shape and encoded.limbs == 3 and encoded.level == 8
    assert np.abs(party.context.decode(encoded) - values).max() < 2 ** -35
    assert party.error(party.encrypt(values), values) < TOLERANCE
    assert party.error(party.encrypt(values.real[0]), values.real[:1]) < TOLERANCE


def test_numbers_that_are_refused(party):
    for values in (np.zeros(3), np.zeros((1, 2 * SLOTS)), np.zeros((0, 4)), [math.inf, 0], [1e300, 0], ["x"], 1.0,
                   np.zeros((1, 1, 1))):
        with pytest.raises(polykem.ArgumentError):
            party.context.encode(values)
    with pytest.raises(ckks.LevelError):
        party.context.encode([1, 2], limbs=12)


def test_words_go_out_and_in(party):
    x = party.encrypt(numbers(2))
    words = x.words
    assert words.shape == (2, 2, 11, 1024) and words.dtype == np.uint64 and not words.flags.writeable
    again = ckks.Ciphertexts.from_words(party.context, words, x.slots, x.scale)
    assert np.array_equal(again.words, words)
    del x
    assert party.error(again, numbers(2)) < TOLERANCE and words.any()
    encoded = party.context.encode(numbers(2))
    plain = ckks.Plaintexts.from_words(party.context, encoded.words, SLOTS, encoded.scale)
    assert np.array_equal(party.context.decode(plain), party.context.decode(encoded))
    wrong = words.copy()
    wrong[1, 1, 10, 5] = party.context.parameters.q[10]
    with pytest.raises(ckks.ResidueError, match="word 5"):
        ckks.Ciphertexts.from_words(party.context, wrong, SLOTS, 1.0)
    for bad in (words[0], words.astype(np.int64), words[..., :512]):
        with pytest.raises(polykem.ArgumentError):
            ckks.Ciphertexts.from_words(party.context, bad, SLOTS, 1.0)


# ---- arithmetic

def test_every_operation(party):
    ev, v, w = party.evaluator, numbers(3), numbers(3, seed=1)
    x, y, plain = party.encrypt(v), party.encrypt(w), party.context.encode(w)
    results = {
        "add": (ev.add(x, y), v + w), "add plaintexts": (ev.add(x, plain), v + w),
        "add an array": (ev.add(x, w[0]), v + w[0]),
        "add a number": (ev.add(x, 0.5), v + 0.5), "sub": (ev.sub(x, y), v - w), "negate": (ev.negate(x), -v),
        "mul": (ev.mul(x, y), v * w), "mul plaintexts": (ev.mul(x, plain), v * w), "mul by i": (ev.mul(x, 1j), v * 1j),
        "square": (ev.square(x), v * v), "three parts": (ev.mul(x, y, relinearise=False), v * w),
        "late": (ev.rescale(ev.relinearise(ev.mul(x, y, relinearise=False, rescale=False))), v * w),
        "rotate": (ev.rotate(x, 1), np.roll(v, -1, 1)), "rotate back": (ev.rotate(x, -2), np.roll(v, 2, 1)),
        "rotate by 0": (ev.rotate(x, 0), v), "conjugate": (ev.conjugate(x), v.conj()),
        "keep": (ev.keep_limbs(x, 2), v), "align": (ev.align(x, 5, 2.0 ** 41), v),
        "sum of slots": (ev.sum_slots(x), np.broadcast_to(v.sum(1, keepdims=True), v.shape)),
        "sum of items": (ev.sum_items(x), v.sum(0, keepdims=True)),
    }
    for name, (got, expected) in results.items():
        assert party.error(got, expected) < TOLERANCE, name
    assert results["align"][0].limbs == 5 and results["align"][0].scale == pytest.approx(2.0 ** 41)
    assert results["mul"][0].level == 1 and results["three parts"][0].parts == 3


def test_rotations_of_one_ciphertext(party):
    """They are those of rotate, bit for bit, and none is computed if a key is missing."""
    ev, v = party.evaluator, numbers(3)
    x, steps = party.encrypt(v), [1, -2, 0, 4, 1, SLOTS]
    rotated = ev.rotate_many(x, iter(steps))
    assert len(rotated) == len(steps) and ev.rotate_many(x, []) == []
    for got, n in zip(rotated, steps):
        assert np.array_equal(got.words, ev.rotate(x, n).words) and got.key_tag == x.key_tag
    assert party.error(rotated[1] + rotated[0], np.roll(v, 2, 1) + np.roll(v, -1, 1)) < TOLERANCE
    with pytest.raises(ckks.MissingKeyError, match=r"rotations by \[3\]:"):
        ev.rotate_many(x, [1, 3])
    with pytest.raises(ckks.PartsError):
        ev.rotate_many(ev.mul(x, x, relinearise=False), [1, 2])
    inspector = ckks.Inspector(ev, party.secret)
    inspector.rotate_many(inspector.watch(x, v), [1, -2])
    assert [row.operation for row in inspector.rows[1:]] == ["rotate 1", "rotate -2"]
    assert min(row.precision for row in inspector.rows) > 20


def test_operators(party):
    v = numbers(2)
    x = party.encrypt(v)
    y = 2 * ((1 - x) * (x + v[0]) - np.ones(SLOTS)) - (-x * 1.0) * 1j
    assert party.error(y, 2 * ((1 - v) * (v + v[0]) - 1) + v * 1j) < TOLERANCE
    unbound = ckks.Ciphertexts.from_words(party.context, x.words, SLOTS, x.scale)
    with pytest.raises(polykem.ArgumentError, match="bind"):
        unbound + unbound


def test_parts_of_batches(party):
    v = numbers(5)
    x = party.encrypt(v)
    assert len(x) == 5 and party.error(x[1:3], v[1:3]) < TOLERANCE and party.error(x[-1], v[4:]) < TOLERANCE
    assert party.error(ckks.join([x[3], x[:2]]), v[[3, 0, 1]]) < TOLERANCE
    assert party.error(x[::2] * 0.5, v[::2] * 0.5) < TOLERANCE
    with pytest.raises(IndexError):
        x[5]
    for wrong in (lambda: x[2:2], lambda: ckks.join([]), lambda: ckks.join([x, x * 1.0])):
        with pytest.raises(polykem.ArgumentError):
            wrong()


@pytest.mark.parametrize("seed", range(4))
def test_random_circuits_of_depth_10(party, seed):
    values = [numbers(2, seed=10 * seed + i).real for i in range(3)]
    result, expected = random_circuit(party.evaluator, [party.encrypt(v) for v in values], values, 10, seed)
    assert result.limbs == 1 and np.abs(expected).max() > 2 ** -6
    assert party.error(result, expected) < TOLERANCE


def test_operands_that_do_not_fit(party):
    ev, x = party.manual, party.encrypt(numbers())
    low, product = ev.mul(x, x), ev.mul(x, x, relinearise=False, rescale=False)
    other = party_of(levels=1)
    for error, wrong in ((ckks.LevelError, lambda: ev.add(x, low)),
                         (ckks.ScaleError, lambda: ev.add(x, x.with_scale(7.0))),
                         (ckks.PartsError, lambda: ev.mul(product, product)),
                         (ckks.PartsError, lambda: ev.relinearise(x)),
                         (ckks.NoLevelError, lambda: ev.rescale(ev.keep_limbs(x, 1))),
                         (ckks.LevelError, lambda: ev.keep_limbs(low, 11)),
                         (ckks.LevelError, lambda: ev.align(low, 11, 1.0)),
                         (ckks.ScaleError, lambda: ev.align(x, 11, 2.0 ** 40)),
                         (polykem.ArgumentError, lambda: ev.add(x, party.encrypt(numbers(2)))),
                         (polykem.ArgumentError, lambda: ev.add(x, party.encrypt(numbers(slots=64)))),
                         (polykem.ArgumentError, lambda: ev.add(x, party.context.encode(numbers(slots=64)))),
                         (polykem.ArgumentError, lambda: ev.add(1.0, x)),
                         (polykem.ArgumentError, lambda: ev.add(x, [1.0])),
                         (polykem.ArgumentError, lambda: ev.add(x, other.encrypt(numbers()))),
                         (polykem.ArgumentError, lambda: ckks.Evaluator(party.context, other.keys)),
                         (polykem.ArgumentError, lambda: party.context.decrypt(other.secret, x))):
        with pytest.raises(error):
            wrong()
    stranger = ckks.SecretKey.generate(party.context)
    with pytest.raises(polykem.ArgumentError, match="different secret keys"):
        party.context.decrypt(stranger, x)
    assert issubclass(ckks.NoLevelError, ckks.LevelError) and issubclass(ckks.CkksError, polykem.Error)


# ---- keys

def test_scales_beyond_the_modulus_are_refused():
    """A scale beyond the modulus is refused, as the numbers would be lost silently."""
    party = party_of(levels=2, scale_bits=40)
    ev, a = party.evaluator, party.encrypt(np.full((1, SLOTS), 0.5))  # 60 + 40 + 40 bits
    square = ev.mul(a, a, rescale=False)
    assert party.error(square, 0.25) < TOLERANCE
    cube = ev.mul(square, a, rescale=False)
    assert party.error(cube, 0.125) < TOLERANCE
    low = ev.keep_limbs(a, 1)
    for attempt in (lambda: ev.mul(cube, a, rescale=False), lambda: ev.mul(cube, 2.0, rescale=False),
                    lambda: ev.mul(low, low, rescale=False), lambda: ev.mul(low, 2.0, rescale=False),
                    lambda: ev.keep_limbs(square, 1), lambda: ev.keep_limbs(cube, 2)):
        with pytest.raises(ckks.ScaleError, match="not below the modulus"):
            attempt()
    assert party.error(ev.keep_limbs(square, 2), 0.25) < TOLERANCE
    with pytest.raises(polykem.ArgumentError):
        party.context.encrypt(party.public, [2.0 ** 20] * 4, limbs=1)


def test_scales_that_are_given_are_checked():
    party = party_of(levels=2, scale_bits=40)
    context, a = party.context, party.encrypt(np.full((1, SLOTS), 0.5))
    plain = context.encode([0.5], limbs=1, scale=2.0 ** 30)
    low = party.evaluator.keep_limbs(a, 1)  # of 60 bits
    ways = (low.with_scale, lambda scale: ckks.Ciphertexts.from_words(context, low.words, SLOTS, scale),
            lambda scale: ckks.Plaintexts.from_words(context, plain.words, 1, scale),
            lambda scale: context.encode([0.0], limbs=1, scale=scale))
    for way in ways:
        for scale in (2.0 ** 61, float(context.parameters.q[0])):
            with pytest.raises(ckks.ScaleError, match=r"not below the modulus, 2\^\d+\.\d+ with 1 limb:"):
                way(scale)
        for scale in (0.0, -1.0, np.inf, np.nan):
            with pytest.raises(polykem.ArgumentError, match="a scale is"):
                way(scale)
        assert way(2.0 ** 58).scale == 2.0 ** 58


def test_missing_keys_say_how_to_make_them(party):
    x = party.encrypt(numbers())
    with pytest.raises(ckks.MissingKeyError, match=r"rotations by \[3\].*rotations=\[3\].*EvalRotateKeyGen"):
        party.evaluator.rotate(x, 3)
    none = ckks.Evaluator(party.context)
    with pytest.raises(ckks.MissingKeyError, match="EvalMultKeyGen"):
        none.mul(x, x)
    with pytest.raises(ckks.MissingKeyError, match="conjugation=True"):
        none.conjugate(x)
    more = party.keys | ckks.Keys.generate(party.context, party.secret, rotations=[3], relinearisation=False)
    assert more.can_rotate(3) and more.can_rotate(0) and more.relinearises and not party.keys.can_rotate(3)
    assert party.error(ckks.Evaluator(party.context, more).rotate(x, 3), np.roll(numbers(), -3, 1)) < TOLERANCE
    with pytest.raises(ckks.ParameterError):
        bare = ckks.Context(ckks.Parameters(10, party.context.parameters.q), allow_insecure=True)
        ckks.Keys.generate(bare, ckks.SecretKey.generate(bare))


def test_a_secret_key_does_not_show_itself(party):
    assert repr(party.secret) == str(party.secret) == "<polykem.ckks.SecretKey>"
    for give_away in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            give_away(party.secret)
    assert not any(hasattr(party.secret._core, name) for name in ("words", "__array__", "__dlpack__"))


# ---- the inspector

def test_the_inspector_notes_every_operation(party):
    v = numbers(3)
    inspector = ckks.Inspector(party.evaluator, party.secret)
    x = inspector.watch(party.encrypt(v), v)
    y = inspector.mul(inspector.rotate(inspector.add(x, x), 1), 0.5)
    inspector.sum_items(inspector.conjugate(inspector.sub(inspector.negate(y), party.context.encode(
        v, limbs=y.limbs, scale=y.scale))))
    names = [row.operation for row in inspector.rows]
    assert names == ["watch", "add", "rotate 1", "mul", "rescale", "negate", "sub", "conjugate", "add", "add"]
    for row in inspector.rows:
        assert row.precision > 20 and 0 < row.noise < row.scale and row.room > 0, row
    wrong = inspector.watch(x, v + 1)
    assert abs(inspector.rows[-1].precision) < 0.01 and wrong.scale == x.scale
    assert str(inspector).count("\n") == len(inspector.rows)
    assert party.error(x * 1.0, v) < TOLERANCE and len(inspector.rows) == 13  # operators ask the inspector too


# ---- threads, documentation

def test_threads_share_a_context(party):
    def work(seed):
        v = numbers(seed=seed)
        return party.error(party.evaluator.mul(party.encrypt(v), party.encrypt(v)), v * v)
    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(work, range(8))) < TOLERANCE


MODULES = ["polykem.ckks"] + [f"polykem.ckks.{m.name}" for m in pkgutil.iter_modules(ckks.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


def test_every_public_thing_is_documented():
    for name in ckks.__all__:
        thing = getattr(ckks, name)
        assert thing.__doc__, name
        for attribute, member in vars(thing).items() if isinstance(thing, type) else ():
            if (callable(member) or isinstance(member, property)) and not attribute.startswith("_"):
                assert inspect.getdoc(getattr(thing, attribute)), f"{name}.{attribute}"
