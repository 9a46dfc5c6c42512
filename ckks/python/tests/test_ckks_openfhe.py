# SPDX-License-Identifier: Apache-2.0
"""Tests polykem against OpenFHE: its known answers bit for bit, its files, and live exchanges if it is installed."""
import json
import os
import random
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import polykem
import pytest

from ckks_circuits import random_circuit
from folders import DATA, ROOT
from polykem import ckks
from polykem.ckks._parameters import special_primes

ANSWERS = DATA / "openfhe_answers"
HOSTILE = DATA / "openfhe" / "hostile"
RESULTS = {
    "sum": lambda ev, x: ev.add(x["a"], x["b"]),
    "difference": lambda ev, x: ev.sub(x["a"], x["b"]),
    "negative": lambda ev, x: ev.negate(x["a"]),
    "product": lambda ev, x: ev.mul(x["a"], x["b"], relinearise=False, rescale=False),
    "relinearised": lambda ev, x: ev.mul(x["a"], x["b"], rescale=False),
    "rescaled": lambda ev, x: ev.mul(x["a"], x["b"]),
    "low_square": lambda ev, x: ev.square(ev.mul(x["a"], x["b"]), rescale=False),
    "low_rotated": lambda ev, x: ev.rotate(ev.mul(x["a"], x["b"]), 1),
    "rotated_1": lambda ev, x: ev.rotate(x["a"], 1),
    "rotated_-2": lambda ev, x: ev.rotate(x["a"], -2),
    "conjugate": lambda ev, x: ev.conjugate(x["a"]),
    "plain_sum": lambda ev, x: ev.add(x["a"], x["plain"]),
    "plain_product": lambda ev, x: ev.mul(x["a"], x["plain"], rescale=False),
}
OBJECTS = ["context", "secret", "a", "relinearised", "mult", "auto"]
CASES = [(s, name) for s in ("manual", "composite") for name in RESULTS if (ANSWERS / s / f"{name}.bin").exists()]

if not hasattr(polykem._core, "OpenfheContext"):
    pytest.skip("built without nlohmann-json", allow_module_level=True)


class Answers:
    """A set of known answers."""

    def __init__(self, name):
        self.folder = ANSWERS / name
        self.context = self.load("context")
        self.keys = self.load("mult") | self.load("auto")
        self.secret = self.load("secret")
        self.evaluator = ckks.Evaluator(self.context, self.keys)
        self.values = json.loads((self.folder / "values.json").read_text())
        self.inputs = {"a": self.load("a"), "b": self.load("b"), "plain": self.values["plain"]}

    def load(self, name):
        return ckks.load(self.folder / f"{name}.bin", getattr(self, "context", None), allow_insecure=True)


@pytest.fixture(scope="module")
def answers():
    return {name: Answers(name) for name in ("manual", "composite")}


def test_the_sets_are_whole():
    assert len(CASES) == 20


@pytest.mark.parametrize("name,result", CASES)
def test_known_answers(answers, tmp_path, name, result):
    """Results are OpenFHE's bit for bit, and so is what their files state."""
    known = answers[name]
    expected = known.load(result)
    got = RESULTS[result](known.evaluator, known.inputs)
    assert np.array_equal(got.words, expected.words)
    assert (got.degree, got.level, got.slots, got.key_tag) == (expected.degree, expected.level, expected.slots,
                                                               expected.key_tag)
    assert got.scale == pytest.approx(expected.scale, rel=2 ** -20)
    ckks.save(got, tmp_path / "got")
    ckks.save(expected, tmp_path / "expected")
    files = [(tmp_path / n).read_bytes() for n in ("got", "expected")]
    assert files[0] == files[1] or name == "composite"  # there the scales may differ in the last bit


@pytest.mark.parametrize("name", ["manual", "composite"])
def test_inputs_decrypt(answers, name):
    known = answers[name]
    for key in "ab":
        numbers = known.context.decrypt(known.secret, known.inputs[key])
        assert np.abs(numbers - known.values[key]).max() < 2 ** -20


@pytest.mark.parametrize("form", ["binary", "json"])
@pytest.mark.parametrize("name", OBJECTS)
def test_files_are_written_as_they_were(answers, tmp_path, name, form):
    thing = answers["manual"].load(name)
    ckks.save(thing, tmp_path / "first", form)
    again = ckks.load(tmp_path / "first", allow_insecure=True)
    assert type(again) is type(thing) and repr(again) == repr(thing)
    ckks.save(again, tmp_path / "second")
    original = (ANSWERS / "manual" / f"{name}.bin").read_bytes()
    assert len((tmp_path / "second").read_bytes()) <= len(original)
    assert os.listdir(tmp_path) in (["first", "second"], ["second", "first"])
    assert (os.stat(tmp_path / "first").st_mode & 0o077 == 0) == (name == "secret")


def test_a_context_of_keys_has_their_special_primes(answers):
    for known in answers.values():
        of_keys = ckks.load(known.folder / "mult.bin", allow_insecure=True).context
        assert of_keys.parameters.same_rings(known.context.parameters)


def test_what_is_no_file_of_ckks():
    whole = (ANSWERS / "manual" / "a.bin").read_bytes()
    for data in (b"", b"\1", b"{}", b"hello", b"\1" + bytes(100), whole[:1000], whole + b"x",
                 whole[:300] + bytes(4900)):
        with pytest.raises(ckks.FormatError):
            ckks.load(data, allow_insecure=True)
    with pytest.raises(ckks.FormatError):
        ckks.load(whole, kind="context", allow_insecure=True)
    with pytest.raises(ckks.InsecureError):
        ckks.load(whole)
    with pytest.raises(FileNotFoundError):
        ckks.load("/nowhere")


@pytest.mark.parametrize("name", ["context_1.2", "mult_1.3", "public_1.4"])
def test_files_of_older_openfhe(name):
    with pytest.raises(ckks.FormatError, match="1.5 and 1.6|before 1.5 are too old"):
        ckks.load((HOSTILE.parent / "old" / f"{name}.bin").read_bytes(), allow_insecure=True)


@pytest.mark.parametrize("old,new", [('"nest": 0.0,', ""), ('"enabled"', '"k": 2, "enabled"')])
def test_json_of_older_openfhe(old, new):
    text = (HOSTILE.parent / "context.json").read_text()
    assert old in text
    with pytest.raises(ckks.FormatError, match="before 1.5 are too old"):
        ckks.load(text.replace(old, new).encode(), allow_insecure=True)


@pytest.mark.parametrize("name", sorted(os.listdir(HOSTILE)))
def test_keys_that_do_not_belong_together(answers, name):
    """Two keys of one tag that do not fit are refused, though each is sound; a sanitizer sees what is read."""
    data = (HOSTILE / name).read_bytes()
    if name == "mult_digits.bin":  # the key that differs is that for s^3, which nobody uses
        assert ckks.load(data, allow_insecure=True).relinearises
    else:
        problem = "elements are needed" if "digits" in name else "other keys with its key tag"
        with pytest.raises(ckks.FormatError, match=problem):
            ckks.load(data, allow_insecure=True)
    with pytest.raises((ckks.FormatError, ckks.ParameterError)):
        ckks.load(data, answers["manual"].context)


@pytest.mark.parametrize("name", ["manual", "composite"])
def test_a_product_that_openfhe_left_unrescaled(answers, tmp_path, name):
    """A product that EvalMult leaves for the next one to rescale can be used, or the error says what to do."""
    known = answers[name]
    ev, context, a, p = known.evaluator, known.context, known.inputs["a"], known.load("relinearised")
    v, product = (np.array(known.values["a"]) * w for w in (1.0, known.values["b"]))
    assert (p.degree, p.level, p.parts) == (2, 0, 2) and p.scale == pytest.approx(a.scale ** 2)
    low, manual = ev.rescale(p), ckks.Evaluator(context, known.keys, automatic=False)
    results = {
        "as it is": (p, product, 2), "rescaled": (low, product, 1),
        "rotated": (ev.rotate(p, 1), np.roll(product, -1), 2), "sum": (ev.add(p, p), 2 * product, 2),
        "times a": (ev.mul(p, a), product * v, 1), "a times it": (ev.mul(a, p), product * v, 1),
        "square": (ev.square(p), product ** 2, 1), "times 2": (ev.mul(p, 2.0), 2 * product, 1),
        "plus a, automatically": (ev.add(p, a), product + v, 1), "low times a": (ev.mul(low, a), product * v, 1),
        "plus a": (ev.add(p, ev.mul(a, 1.0, rescale=False)), product + v, 2),
        "later times a": (ev.mul(low, ev.align(a, low.limbs, low.scale)), product * v, 1),
        "aligned": (ev.align(p, low.limbs, low.scale), product, 1),
    }
    refused = {
        "plus a": (ckks.ScaleError, r"scales differ: 2\^\d+\.\d\d and .* align one", lambda: manual.add(p, a)),
        "later times a": (ckks.LevelError, "limbs: align the longer one", lambda: manual.mul(low, a)),
        "fourth power": (ckks.ScaleError, r"2\^\d+\.\d\d is not below .* rescale first",
                         lambda: ev.square(ev.square(p, rescale=False), rescale=False)),
    }
    for what, (got, expected, degree) in results.items():
        assert np.abs(context.decrypt(known.secret, got)[0] - expected).max() < 2 ** -20, what
        ckks.save(got, tmp_path / "x")
        again = ckks.load(tmp_path / "x", context)
        assert got.degree == again.degree == degree and np.array_equal(again.words, got.words), what
    for what, (error, text, attempt) in refused.items():
        with pytest.raises(error, match=text):
            attempt()


def mutated(data, others, rng):
    """Returns the data with a bit changed, with bytes changed, removed, repeated or from another file, or truncated."""
    out = bytearray(data)
    if rng.random() < 0.4:
        out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
        return bytes(out)
    for _ in range(rng.randrange(1, 4)):
        at, size, other = rng.randrange(len(out)), rng.choice((1, 4, 8, rng.randrange(1, 200))), rng.choice(others)
        start = rng.randrange(len(other))
        out[at:at + size] = rng.choice((rng.randbytes(size), bytes(size), b"\xff" * size, b"", 2 * out[at:at + size],
                                        b"%d" % rng.getrandbits(rng.choice((1, 8, 31, 64))), other[start:start + size]))
    return bytes(out[:rng.randrange(len(out))] if rng.random() < 0.1 else out)


def test_changed_files_are_read_or_refused():
    """Changed files are read, or refused by polykem's own errors, and the process continues."""
    files, others = ([f.read_bytes() for f in sorted(folder.iterdir()) if f.suffix in (".bin", ".json")]
                     for folder in (HOSTILE.parent, HOSTILE))
    rng = random.Random(1)
    read = 0
    for number in range(600):
        data = mutated(files[number % len(files)], files + others, rng)
        try:
            thing = ckks.load(data, threads=1, allow_insecure=True)
        except polykem.Error as error:
            assert str(error), number
        else:
            assert isinstance(thing, (ckks.Context, ckks.PublicKey, ckks.SecretKey, ckks.Keys, ckks.Ciphertexts))
            read += 1
    assert 30 < read < 570


PARAMETERS = {
    "one prime a level": ckks.Parameters.choose(13, 2, scale_bits=40, first_bits=50),
    "short primes": ckks.Parameters.choose(14, 4, scale_bits=50, first_bits=60, short_primes=True),
    "nothing to switch keys": ckks.Parameters(4, (97, 353)),
    "the scale of FLEXIBLEAUTO": replace(ckks.Parameters.choose(13, 2, scale_bits=40, first_bits=50),
                                         scale=float(ckks.Parameters.choose(13, 2, 40, 50).q[-1])),
}


@pytest.mark.parametrize("form", ["binary", "json"])
@pytest.mark.parametrize("name", PARAMETERS)
def test_a_saved_context_comes_back(tmp_path, name, form):
    context = ckks.Context(PARAMETERS[name], allow_insecure=True)
    ckks.save(context, tmp_path / "context", form)
    again = ckks.load(tmp_path / "context", allow_insecure=True).parameters
    assert (again.scale, again.limbs_per_level) == (context.parameters.scale, context.parameters.limbs_per_level)
    assert again.same_rings(context.parameters) or not context.parameters.p


def test_short_primes_compute_after_they_were_saved(tmp_path):
    """After a round trip through files, keys too, a level still drops both of its limbs."""
    context = ckks.Context(PARAMETERS["short primes"])
    secret = ckks.SecretKey.generate(context)
    x = context.encrypt(ckks.PublicKey.generate(context, secret), np.full(8192, 0.5))
    keys = ckks.Keys.generate(context, secret, rotations=[1])
    for name, thing, part in (("context", context, None), ("x", x, None), ("mult", keys, "relinearisation"),
                              ("auto", keys, "automorphisms")):
        ckks.save(thing, tmp_path / name, part=part)
    there = ckks.load(tmp_path / "context")
    keys = ckks.load(tmp_path / "mult", there) | ckks.load(tmp_path / "auto", there)
    ev, y = ckks.Evaluator(there, keys), ckks.load(tmp_path / "x", there)
    for _ in range(4):
        y = ev.square(y)
    ckks.save(ev.rotate(y, 1), tmp_path / "y")
    assert np.abs(context.decrypt(secret, ckks.load(tmp_path / "y", context)) - 0.5 ** 16).max() < 2 ** -20


def with_technique(number):
    """Returns OpenFHE's context of the known answers with another scaling technique."""
    text = (DATA / "openfhe" / "context.json").read_text()
    assert '"rs": 0' in text
    return ckks.load(text.replace('"rs": 0', f'"rs": {number}').encode(), allow_insecure=True)


def test_an_extra_limb_is_dropped_by_the_first_product(tmp_path):
    """In FLEXIBLEAUTOEXT a fresh message has two scales, which a product or an alignment reduces to one."""
    context = with_technique(3)
    q = context.parameters.q
    secret = ckks.SecretKey.generate(context)
    ev = ckks.Evaluator(context, ckks.Keys.generate(context, secret))
    x = np.linspace(-1, 1, context.ring_dimension // 2)
    a = context.encrypt(ckks.PublicKey.generate(context, secret), x)
    assert (a.degree, a.limbs, a.scale) == (2, len(q), float(q[-1]) * q[-2])
    results = {"a": (a, x), "square": (ev.square(a), x * x), "twice": (ev.mul(a, 2.0), 2 * x),
               "plus": (ev.add(a, 1), x + 1), "aligned": (ev.align(a, len(q) - 1, float(q[-2])), x)}
    for name, (got, expected) in results.items():
        assert np.abs(context.decrypt(secret, got)[0] - expected).max() < 2 ** -20, name
        ckks.save(got, tmp_path / "x")
        again = ckks.load(tmp_path / "x", context)
        assert (again.degree, again.level, again.scale) == (got.degree, got.level, got.scale)
    assert results["square"][0].limbs == len(q) - 2 and results["aligned"][0].degree == 1
    assert context.encode(x, limbs=2).scale == float(q[-2])


@pytest.mark.parametrize("technique,right", [(1, True), (0, False)])
def test_fixedauto_takes_the_scale_for_a_power_of_two(tmp_path, technique, right):
    """A file's numbers are right at the scale that OpenFHE assumes; in FIXEDMANUAL's they differ by the ratio."""
    context = with_technique(technique)
    secret = ckks.SecretKey.generate(context)
    x = np.linspace(-1, 1, context.ring_dimension // 2)
    a = context.encrypt(ckks.PublicKey.generate(context, secret), x).with_scale(2.0 ** 40 * (1 - 2.0 ** -15))
    for limbs in (3, 2):
        ckks.save(ckks.Evaluator(context).keep_limbs(a, limbs), tmp_path / "x")
        again = ckks.load(tmp_path / "x", context)
        assert (again.degree, again.limbs, again.scale) == (1 + right, limbs, 2.0 ** (40 * (1 + right)))
        error = np.abs(context.decrypt(secret, again)[0] - x / (1 - 2.0 ** -15)).max()
        assert error < 2 ** -28 if right else error > 2 ** -17


def test_a_scale_that_no_file_has(tmp_path):
    x = PARAMETERS["one prime a level"]
    for scale, limbs in ((1.5 * 2 ** 40, 1), (2.0 ** 40, 2)):
        with pytest.raises(ckks.ParameterError, match="no context with the scale"):
            ckks.save(ckks.Context(replace(x, scale=scale, limbs_per_level=limbs), allow_insecure=True), tmp_path / "x")
    assert not os.listdir(tmp_path)


def same_special_primes(sets):
    for x in sets:
        digits = -(-len(x["q"]) // -(-len(x["q"]) // x["digits"]))
        assert special_primes(x["log_n"], x["q"], digits, x["bits"], x["limbs_per_level"]) == tuple(x["p"]), x
    assert {len(x["p"]) for x in sets} >= {1, 2, 3, 4} and {x["bits"] for x in sets} >= {27, 31, 60}


def test_special_primes_are_those_of_openfhe():
    """Of 400 random parameter sets of OpenFHE 1.6.1, `openfhe_peer.py draw 1 400`."""
    same_special_primes(json.loads((DATA / "openfhe_special.json").read_text()))


@pytest.mark.parametrize("log_n,levels,scale_bits", [(14, 5, 40), (15, 9, 50), (13, 3, 40), (14, 1, 50)])
def test_security_counts_every_special_prime(log_n, levels, scale_bits):
    x = ckks.Parameters.choose(log_n, levels, scale_bits)
    assert ckks.Context(x, allow_insecure=True)._core.modulus_bits == pytest.approx(sum(map(np.log2, x.q + x.p)))


@pytest.mark.parametrize("field,weak", [
    ('"mo": 1', '"mo": 2'), ('"mo": 1', '"mo": 3'), ('"dp": 3.190000057220459', '"dp": 0.001'),
    ('"dp": 3.190000057220459', '"dp": 0.0')])
def test_weak_keys_are_no_128_bits(field, weak):
    text = (DATA / "openfhe" / "context.json").read_text()
    assert field in text
    data = text.replace(field, weak).encode()
    context = ckks.load(data, allow_insecure=True)
    assert context.security_bits == 0 and "too small" in repr(context)
    assert ckks.load(data, context) is context
    for given in (None, ckks.load(text.encode(), allow_insecure=True)):
        with pytest.raises(ckks.InsecureError, match="sparse secrets|standard deviation"):
            ckks.load(data, given)
    strong = ckks.load(text.encode(), allow_insecure=True)
    assert ckks.load(data, strong, allow_insecure=True) is strong
    assert strong.security_bits == 0 and "too small" in repr(strong)


@pytest.mark.parametrize("name", ["secret", "public"])
def test_what_lies_where_a_file_is_to_be(answers, tmp_path, name):
    """Somebody who may write to the folder neither gets what is saved nor chooses its mode, by names made before."""
    known = answers["manual"]
    thing = known.secret if name == "secret" else known.inputs["a"]
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    for suffix in ("", f".{os.getpid()}.part", ".part"):
        (tmp_path / f"key{suffix}").symlink_to(victim)
    ckks.save(thing, tmp_path / "key")
    assert victim.read_bytes() == b"mine" and not (tmp_path / "key").is_symlink()
    prepared = tmp_path / f"again.{os.getpid()}.part"
    prepared.touch()
    prepared.chmod(0o666)
    ckks.save(thing, tmp_path / "again")
    assert ((tmp_path / "again").stat().st_mode & 0o077 == 0) == (name == "secret")
    assert prepared.stat().st_size == 0


def test_what_cannot_be_saved(answers, tmp_path):
    known = answers["manual"]
    a = known.inputs["a"]
    with pytest.raises(polykem.ArgumentError, match="one by one"):
        ckks.save(ckks.join([a, a]), tmp_path / "x")
    with pytest.raises(polykem.ArgumentError, match="part="):
        ckks.save(known.keys, tmp_path / "x")
    with pytest.raises(polykem.ArgumentError):
        ckks.save(a, tmp_path / "x", "xml")
    with pytest.raises(ckks.ScaleError):
        ckks.save(a.with_scale(2 ** 37), tmp_path / "x")
    with pytest.raises(FileNotFoundError):
        ckks.save(a, tmp_path / "no" / "x")
    x = known.context.parameters
    others = ckks.Parameters(x.log_n, x.q, polykem._core.ckks_find_primes(x.log_n, 58, 6, [])[4:], x.digits)
    context = ckks.Context(others, allow_insecure=True)
    with pytest.raises(ckks.ParameterError, match="special primes"):
        ckks.save(ckks.Keys.generate(context, ckks.SecretKey.generate(context)), tmp_path / "x")
    with pytest.raises(ckks.ParameterError, match="other parameters"):
        ckks.load(ANSWERS / "manual" / "mult.bin", context)
    assert not os.listdir(tmp_path)


# ---- live

def openfhe_python():
    """Returns an interpreter that has OpenFHE, and its environment; skips where there is none."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    venv = DATA.parent / "interop" / "venv.sh"
    if not venv.exists():  # the tests of a wheel
        pytest.skip("needs the sources")
    found = subprocess.run([venv], env=environment, capture_output=True, text=True)
    if found.returncode == 77:
        pytest.skip(found.stderr.strip().splitlines()[-1])
    assert found.returncode == 0, found.stderr
    return found.stdout.strip(), environment


def openfhe(folder, *arguments):
    """Runs openfhe_peer.py with the interpreter that has OpenFHE, and returns its output."""
    python, environment = openfhe_python()
    peer = Path(__file__).with_name("openfhe_peer.py")
    result = subprocess.run([python, peer, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def openfhe_uses(folder, draw, count):
    """Makes keys for `count` parameter sets of draw(); OpenFHE computes with them as exactly as it encrypts here."""
    contexts = []
    for i in range(count):
        context = ckks.Context(draw(), threads=1, allow_insecure=True)
        secret = ckks.SecretKey.generate(context)
        keys = ckks.Keys.generate(context, secret, rotations=[1])
        x = np.linspace(-1, 1, context.ring_dimension // 2)
        here = folder / str(i)
        here.mkdir()
        ckks.save(context, here / "context")
        ckks.save(secret, here / "secret")
        ckks.save(keys, here / "mult", part="relinearisation")
        ckks.save(keys, here / "auto", part="automorphisms")
        ckks.save(context.encrypt(ckks.PublicKey.generate(context, secret), x), here / "x")
        np.save(here / "x.npy", x)
        # What the server needs comes back without the client, as in another process.
        there = ckks.load(here / "context", allow_insecure=True)
        again = ckks.load(here / "mult", there) | ckks.load(here / "auto", there)
        product = ckks.Evaluator(there, again).square(ckks.load(here / "x", there))
        error = np.abs(context.decrypt(secret, product)[0] - x * x).max()
        contexts.append((context.parameters, error))
    openfhe(folder, "use", str(count))
    for i, (parameters, error) in enumerate(contexts):
        # OpenFHE adds noise as large as what it estimates in the result.
        bound = 2.0 ** 6 * max(error, 2.0 ** (parameters.log_n + 3) / parameters.scale)
        errors = json.loads((folder / str(i) / "errors.json").read_text())
        assert all(isinstance(e, float) and e < bound for e in errors.values()), (parameters, error, errors)


def random_choices(seed):
    """Returns a function that draws what Parameters.choose takes, for small rings."""
    rng = random.Random(seed)

    def draw():
        while True:
            short = rng.random() < 0.3
            levels, scale = rng.randrange(1, 9), rng.randrange(36, 58)
            first, digits = rng.randrange(scale + 2, 61), rng.choice([None, *range(1, levels + 2)])
            if short:
                scale, first = scale & ~1, first & ~1
            try:
                return ckks.Parameters.choose(rng.randrange(8, 11), levels, scale, first, digits, short)
            except ckks.ParameterError:  # too few such primes
                continue
    return draw


def test_openfhe_uses_keys_of_some_choices(tmp_path):
    openfhe_uses(tmp_path, random_choices(1), 10)


@pytest.mark.long
def test_openfhe_uses_keys_of_many_choices(tmp_path):
    openfhe_uses(tmp_path, random_choices(int.from_bytes(os.urandom(4), "big")), 300)


@pytest.mark.long
def test_special_primes_are_those_of_openfhe_now(tmp_path):
    same_special_primes(json.loads(openfhe(tmp_path, "draw", str(random.randrange(2 ** 32)), "200")))


@pytest.mark.long
@pytest.mark.parametrize("form", ["binary", "json"])
@pytest.mark.parametrize("technique,log_n", [("FIXEDMANUAL", 12), ("FIXEDAUTO", 12), ("FLEXIBLEAUTO", 13),
                                             ("FLEXIBLEAUTOEXT", 12)])
def test_openfhe_encrypts_and_decrypts(tmp_path, technique, log_n, form):
    """OpenFHE encrypts, polykem computes random circuits of depth 10 and a polynomial of a product with a matrix, and
    OpenFHE decrypts."""
    openfhe(tmp_path, "encrypt", technique, str(log_n), form)
    keys = ckks.load(tmp_path / "mult", allow_insecure=True)
    context = keys.context
    keys |= ckks.load(tmp_path / "auto", context)
    inputs = [ckks.load(tmp_path / f"input{i}", context) for i in range(3)]
    values = [np.load(tmp_path / f"input{i}.npy") for i in range(3)]
    evaluator = ckks.Evaluator(context, keys)
    expected = []
    for seed in range(3):
        result, numbers = random_circuit(evaluator, inputs, values, depth=10, seed=seed)
        ckks.save(result, tmp_path / f"result{seed}", form)
        expected.append(numbers)
    band = {k: np.linspace(-1, 1, len(values[0])) / 3 for k in (0, 1, -2)}
    polynomial = ckks.Chebyshev.fit(np.tanh, 31, (-1, 1))
    transform = ckks.LinearTransform(context, band)
    ckks.save(polynomial.apply(evaluator, transform.apply(evaluator, inputs[0])), tmp_path / "result3", form)
    expected.append(polynomial(sum(d * np.roll(values[0], -k) for k, d in band.items())) + 0j)
    openfhe(tmp_path, "decrypt", form)
    for seed, numbers in enumerate(expected):
        got = np.load(tmp_path / f"result{seed}.npy")
        assert np.abs(numbers).max() > 2 ** -6
        error = np.abs(got - numbers.real).max()
        print(f"{technique} 2^{log_n} {form} circuit {seed}: error 2^{np.log2(error):.1f}")
        assert error < 2 ** -20


@pytest.mark.parametrize("technique", ["FLEXIBLEAUTO", "FLEXIBLEAUTOEXT"])
def test_openfhe_computes_with_results(tmp_path, technique):
    """OpenFHE, which takes all ciphertexts of a level to have one scale, subtracts its fifth power from those that
    polykem computed, by products and by a polynomial and a matrix, which keep the scale."""
    openfhe(tmp_path, "encrypt", technique, "11", "binary", "40")
    keys = ckks.load(tmp_path / "mult", allow_insecure=True)
    x = ckks.load(tmp_path / "input0", keys.context)
    ev, manual = (ckks.Evaluator(keys.context, keys, automatic=automatic) for automatic in (True, False))
    x4 = ev.square(ev.square(x))
    fifth = ckks.Chebyshev([0, 10 / 16, 0, 5 / 16, 0, 1 / 16])
    one = ckks.LinearTransform(keys.context, {0: np.ones(x.slots)})
    results = [ev.mul(x4, x), manual.mul(x4, ev.keep_limbs(ev._of_one_scale(x), x4.limbs)), fifth.apply(ev, x),
               one.apply(ev, ev.mul(x4, x)), ev.mul(x4, x, rescale=False), ev.mul(fifth.apply(ev, x), 1, rescale=False)]
    for i, result in enumerate(results):
        ckks.save(result, tmp_path / f"result{i}")
    openfhe(tmp_path, "subtract", str(len(results)))
    errors = json.loads((tmp_path / "errors.json").read_text())
    print(technique, *(f"2^{np.log2(e):.1f}" for e in errors))
    assert max(errors) < 2.0 ** -26, errors


@pytest.mark.long
@pytest.mark.parametrize("form", ["binary", "json"])
def test_openfhe_computes(tmp_path, form):
    """polykem makes the context, keys and ciphertexts, OpenFHE computes, and polykem decrypts."""
    context = ckks.Context(ckks.Parameters.choose(12, 10, 50, 60), allow_insecure=True)
    secret = ckks.SecretKey.generate(context)
    keys = ckks.Keys.generate(context, secret, rotations=[1, -2])
    values = np.random.default_rng(1).uniform(-1, 1, 2 ** 11)
    ckks.save(context, tmp_path / "context", form)
    ckks.save(secret, tmp_path / "secret", form)
    public = ckks.PublicKey.generate(context, secret)
    ckks.save(public, tmp_path / "public", form)
    ckks.save(keys, tmp_path / "mult", form, part="relinearisation")
    ckks.save(keys, tmp_path / "auto", form, part="automorphisms")
    ckks.save(context.encrypt(public, values), tmp_path / "input0", form)
    np.save(tmp_path / "input0.npy", values)
    openfhe(tmp_path, "compute", form)
    for name in ("powers", "rotated", "own"):
        got = context.decrypt(secret, ckks.load(tmp_path / name, context))
        assert np.abs(got[0] - np.load(tmp_path / f"{name}.npy")).max() < 2 ** -20, name


_PARTIES = """
import sys
import numpy as np
import openfhe as fhe
parameters = fhe.CCParamsCKKSRNS()
parameters.SetMultiplicativeDepth(1)
parameters.SetScalingModSize(50)
parameters.SetFirstModSize(60)
parameters.SetScalingTechnique(getattr(fhe, sys.argv[1]))
cc = fhe.GenCryptoContext(parameters)
for feature in (fhe.PKE, fhe.KEYSWITCH, fhe.LEVELEDSHE, fhe.ADVANCEDSHE, fhe.MULTIPARTY):
    cc.Enable(feature)
x = np.random.uniform(-1, 1, cc.GetRingDimension() // 2)
np.save("x.npy", x)
"""
_WAIT = """
print("ready", flush=True)
input()
"""
_RESULTS = """
np.save("y.npy", values)
product, _ = fhe.DeserializeCiphertext("product", fhe.BINARY)
decrypt = [cc.MultipartyDecryptLead, *[cc.MultipartyDecryptMain] * (len(shares) - 1)]
whole = [part([product], share)[0] for part, share in zip(decrypt, shares)]
np.save("product.npy", cc.MultipartyDecryptFusion(whole).GetRealPackedValue())
try:
    np.save("without_one.npy", cc.MultipartyDecryptFusion(parts[:-1]).GetRealPackedValue())
except RuntimeError:  # what OpenFHE cannot decode
    pass
"""


@pytest.mark.parametrize("technique", ["FIXEDMANUAL", "FLEXIBLEAUTO", "FLEXIBLEAUTOEXT"])
def test_parties_decrypt_together_by_the_code_of_the_page(tmp_path, monkeypatch, technique):
    """Three parties in OpenFHE make joint keys, polykem computes with files that hold no share, and the parties decrypt
    to an error that is OpenFHE's noise; with a share less there is nothing to read."""
    python, environment = openfhe_python()
    page = (ROOT / "ckks" / "README.md").read_text(encoding="utf-8")
    section = page.split("### Decrypt together\n")[1].split("\n###")[0]
    keys, computation, decryption = re.findall(r"^```py\n(.*?)^```$", section, re.M | re.S)
    program = _PARTIES + keys + _WAIT + decryption + _RESULTS
    with subprocess.Popen([python, "-c", program, technique], cwd=tmp_path, env=environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as parties:
        assert parties.stdout.readline() == "ready\n"
        assert set(os.listdir(tmp_path)) == {"x.npy", "x", "mult", "auto"}
        monkeypatch.chdir(tmp_path)
        server = {"ckks": ckks}
        exec(compile(computation, "ckks/README.md", "exec"), server)
        ev, a = server["ev"], ckks.load("x", server["context"])
        a = a if a.degree == 1 else ev.rescale(a)
        ckks.save(ev.mul(a, a, rescale=False), "product")
        parties.communicate("\n")
    assert parties.returncode == 0
    x, n = np.load("x.npy"), server["context"].ring_dimension
    expected = np.roll(x * x, -1) + np.roll(x * x, 2)
    noise = np.sqrt(3 * n) * 2.0 ** 20 / 2.0 ** 50
    error, own = np.std(np.load("y.npy") - expected), np.std(np.load("product.npy") - x * x)
    print(f"{technique}: N = {n}, error 2^{np.log2(error):.1f}, a product's own 2^{np.log2(own):.1f}")
    assert noise / 1.5 < error < 1.5 * noise
    assert noise / 2 ** 20 < own < noise / 2 ** 8, "that of the parts is too small at the scale of a product"
    assert not os.path.exists("without_one.npy") or np.std(np.load("without_one.npy") - expected) > 1
