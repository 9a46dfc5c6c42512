# SPDX-License-Identifier: Apache-2.0
"""Tests ML-DSA: every form of keys and messages, known answers, foreign signatures, and refused arguments."""
import gzip
import hashlib
import json
import os

import numpy as np
import polykem
import pytest

from known_answers import ROOT

SETS = ["mldsa44", "mldsa65", "mldsa87"]
TEXTS = [b"", b"one", b"two words", bytes(300)]


@pytest.fixture(scope="module", params=SETS)
def scheme(request):
    return polykem.SignatureScheme(request.param)


@pytest.fixture(scope="module")
def keys(ctx, scheme):
    return ctx.keygen(scheme, len(TEXTS), coins=np.arange(len(TEXTS) * 32, dtype=np.uint8).reshape(-1, 32))


def test_a_signature_counts_for_its_message_key_and_context_alone(ctx, scheme, keys):
    sig, status = ctx.sign(scheme, keys.sk, TEXTS, context=b"here")
    assert sig.shape == (4, scheme.signature_bytes) and not status.any()
    assert ctx.verify(scheme, keys.pk, TEXTS, sig, context=b"here").tolist() == [True] * 4
    other = [*TEXTS[:2], b"two word", TEXTS[3]]
    assert ctx.verify(scheme, keys.pk, other, sig, context=b"here").tolist() == [True, True, False, True]
    assert not ctx.verify(scheme, keys.pk, TEXTS, sig).any()
    assert not ctx.verify(scheme, keys.pk[::-1].copy(), TEXTS, sig, context=b"here").any()
    each = [b"here", b"", b"there", b"here"]
    assert ctx.verify(scheme, keys.pk, TEXTS, sig, context=each).tolist() == [True, False, False, True]
    assert ctx.verify(scheme, keys.pk[0], TEXTS, sig, context=b"here").tolist() == [True, False, False, False]


def test_all_forms_of_messages_are_the_same(ctx, scheme, keys):
    rows = np.arange(12, dtype=np.uint8).reshape(4, 3)
    sig = ctx.sign(scheme, keys.sk, rows, deterministic=True).sig
    whole = rows.tobytes()
    for same in ([bytes(row) for row in rows], tuple(map(bytearray, rows)), polykem.Secret(rows),
                 polykem.Strings(whole, [0, 3, 6, 9, 12]), polykem.Strings(b"-" + whole, np.arange(1, 14, 3))):
        assert np.array_equal(ctx.sign(scheme, keys.sk, same, deterministic=True).sig, sig)
        assert ctx.verify(scheme, keys.pk, same, sig).all()
    for_all = ctx.sign(scheme, keys.sk, b"one for all", deterministic=True).sig
    assert np.array_equal(ctx.sign(scheme, keys.sk, [b"one for all"] * 4, deterministic=True).sig, for_all)
    empty = ctx.sign(scheme, keys.sk, b"").sig
    assert ctx.verify(scheme, keys.pk, [b""] * 4, empty, context=[b""] * 4).all()


def test_all_forms_of_keys_are_the_same(ctx, scheme):
    seeds = np.arange(96, dtype=np.uint8).reshape(3, 32)
    pk, sk = ctx.keygen(scheme, 3, coins=seeds)
    sig = ctx.sign(scheme, sk, TEXTS[1:], deterministic=True).sig
    with ctx.keyset(scheme, seeds) as secret, ctx.keyset(scheme, pk) as public:
        assert (secret.kind, public.kind) == ("secret", "public")
        for same in seeds, polykem.Secret(seeds), secret:
            assert np.array_equal(ctx.sign(scheme, same, TEXTS[1:], deterministic=True).sig, sig)
        assert ctx.verify(scheme, public, TEXTS[1:], sig).all()
        index = [2, 0, 1]
        turned = ctx.sign(scheme, secret, [TEXTS[1:][i] for i in index], key_index=index, deterministic=True).sig
        assert np.array_equal(turned, sig[index])
        one = ctx.sign(scheme, secret, [b"a", b"b"], key_index=1).sig
        assert ctx.verify(scheme, public, [b"a", b"b"], one, key_index=1).all()
        assert not ctx.verify(scheme, public, [b"a", b"b"], one, key_index=2).any()
        assert len(ctx.sign(scheme, secret, b"one for all").sig) == 3
    generated, pk = polykem.KeySet.generate(ctx, scheme, 2)
    assert ctx.verify(scheme, pk, b"x", ctx.sign(scheme, generated, b"x").sig).all()


def test_randomness(ctx, scheme, keys):
    twice = ctx.sign(scheme, keys.sk[0], [b"x", b"x"]).sig
    assert not np.array_equal(*twice)
    zeros = ctx.sign(scheme, keys.sk[0], [b"x"], coins=np.zeros((1, 32), np.uint8)).sig
    assert np.array_equal(ctx.sign(scheme, keys.sk[0], [b"x"], deterministic=True).sig, zeros)


@pytest.mark.parametrize("name", ["sha224", "sha256", "SHA-384", "SHA2-512", "SHA-512/224", "sha512_256", "sha3_224",
                                  "SHA3-256", "sha3_384", "sha3-512", "shake_128", "SHAKE256"])
def test_digests(ctx, name):
    plain = name.lower().replace("sha2-", "sha").replace("sha-", "sha").replace("/", "_").replace("-", "_")
    bytes_ = {"shake_128": 32, "shake256": 64}.get(plain)
    hashed = hashlib.new(plain.replace("shake256", "shake_256"), b"text")
    digest = hashed.digest(bytes_) if bytes_ else hashed.digest()
    pk, sk = ctx.keygen("mldsa44")
    sig = ctx.sign("mldsa44", sk, [digest], prehash=name, context=b"c").sig
    assert ctx.verify("mldsa44", pk, [digest], sig, prehash=name, context=b"c").all()
    assert not ctx.verify("mldsa44", pk, [digest], sig, context=b"c").any()
    # M' of [FIPS204, Alg 4, L23], through mu
    last = {"sha256": 1, "sha384": 2, "sha512": 3, "sha224": 4, "sha512_224": 5, "sha512_256": 6, "sha3_224": 7,
            "sha3_256": 8, "sha3_384": 9, "sha3_512": 10, "shake_128": 11, "shake256": 12}[plain]
    formatted = b"\1\1c" + bytes.fromhex("06096086480165030402") + bytes([last]) + digest
    assert ctx.verify("mldsa44", pk, [mu_of(pk[0], formatted)], sig, mu=True).all()


def mu_of(pk, formatted):
    return hashlib.shake_256(hashlib.shake_256(bytes(pk)).digest(64) + formatted).digest(64)


def vectors(mode):
    with gzip.open(ROOT / f"tests/data/mldsa/acvp_{mode}.json.gz") as file:
        for group in json.load(file)["testGroups"]:
            yield group, group["parameterSet"], group["tests"]


def test_acvp(ctx):
    """Keys, signatures and verifications are those of ACVP's vectors, whose internal interface has mu computed here."""
    def column(tests, name):
        return np.frombuffer(b"".join(bytes.fromhex(test[name]) for test in tests), np.uint8).reshape(len(tests), -1)

    for _, name, tests in vectors("key-gen"):
        pk, sk = ctx.keygen(name, len(tests), coins=column(tests, "seed"))
        assert np.array_equal(pk, column(tests, "pk")) and sk == column(tests, "sk").tobytes()
    for group, name, tests in vectors("sig-gen"):
        sk = column(tests, "sk")
        mus = [hashlib.shake_256(sk[i, 64:128].tobytes() + bytes.fromhex(test["message"])).digest(64)
               for i, test in enumerate(tests)]
        rnd = {"deterministic": True} if group["deterministic"] else {"coins": column(tests, "rnd")}
        assert np.array_equal(ctx.sign(name, sk, mus, mu=True, **rnd).sig, column(tests, "signature"))
    outcomes = set()
    for group, name, tests in vectors("sig-ver"):
        pk = bytes.fromhex(group["pk"])
        mus = [mu_of(pk, bytes.fromhex(test["message"])) for test in tests]
        valid = ctx.verify(name, pk, mus, column(tests, "signature"), mu=True)
        assert valid.tolist() == [test["testPassed"] for test in tests]
        outcomes.update(valid.tolist())
    assert outcomes == {True, False}


@pytest.mark.parametrize("size", [44, 65, 87])
def test_pyca_agrees_both_ways(ctx, size):
    mldsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.mldsa")
    from cryptography.exceptions import InvalidSignature

    private = getattr(mldsa, f"MLDSA{size}PrivateKey")
    name, count = f"ML-DSA-{size}", 20
    texts = [os.urandom(i * 31) for i in range(count)]
    seed = os.urandom(32)
    theirs = private.from_seed_bytes(seed)
    public = theirs.public_key()
    pk, sk = ctx.keygen(name, coins=seed)
    assert public.public_bytes_raw() == pk.tobytes()
    for text, sig in zip(texts, ctx.sign(name, sk[0], texts, context=b"c").sig):
        public.verify(sig.tobytes(), text, b"c")
    sigs = b"".join(theirs.sign(text, b"c") for text in texts)
    sigs = np.frombuffer(sigs, np.uint8).reshape(count, -1)
    assert ctx.verify(name, pk[0], texts, sigs, context=b"c").all()
    with pytest.raises(InvalidSignature):
        public.verify(sigs[0].tobytes(), texts[1], b"c")


def test_signatures_by_a_damaged_key_do_not_verify(ctx, scheme):
    pk, sk = ctx.keygen(scheme, 3)
    bad = sk.export()
    bad[1, 128:200] = 255  # s1, whose coefficients are beyond eta
    assert ctx.verify(scheme, pk, b"x", ctx.sign(scheme, bad, b"x").sig).tolist() == [True, False, True]


def test_jobs_and_pieces(ctx, scheme, keys):
    """A long batch runs in pieces, which take their parts of every array."""
    count = 700
    texts = [b"%d" % i for i in range(count)]
    contexts = polykem.Strings(b"".join(b"%03d" % i for i in range(count)), np.arange(0, 3 * count + 1, 3))
    sig = ctx.submit("sign", scheme, keys.sk[0], texts, context=contexts, deterministic=True).result(600).sig
    assert np.array_equal(ctx.sign(scheme, keys.sk[0], texts, context=contexts, deterministic=True).sig, sig)
    texts[650] = b""
    for valid in (ctx.verify(scheme, keys.pk[0], texts, sig, context=contexts),
                  ctx.submit("verify", scheme, keys.pk[0], texts, sig, context=contexts).result(600)):
        assert np.flatnonzero(~valid).tolist() == [650]
    wide = np.arange(count, dtype=np.uint64).view(np.uint8).reshape(count, 8)
    sig = ctx.sign(scheme, keys.sk[0], wide).sig
    assert ctx.verify(scheme, keys.pk[0], wide, sig).all()


def test_a_wiped_key_signs_nothing(ctx, scheme):
    _, sk = ctx.keygen(scheme)
    sk.wipe()
    with pytest.raises(polykem.ArgumentError, match="wiped"):
        ctx.sign(scheme, sk, b"x")


def test_stages(ctx, scheme):
    assert [stages for _, stages in ctx.plan(scheme, "keygen")][0] == ("randombytes",)
    for op in "sign", "verify":
        profile = ctx.profile(scheme, op, 16, batch=16)
        assert profile.op == op and "expand_a" in [stage for record in profile for stage in record.stages]


# The context, two public keys, their secret keys, two signatures of zeros.
REFUSED = {
    "no set": (lambda c, p, s, g: c.sign("mldsa66", s, b""), polykem.UnknownScheme, "did you mean 'mldsa65'"),
    "a KEM's set": (lambda c, p, s, g: c.sign("mlkem768", s, b""), polykem.ArgumentError, "is a KEM's set"),
    "no KEM": (lambda c, p, s, g: c.encaps("ML-DSA-65", p), polykem.ArgumentError, "is a signature set"),
    "no operation": (lambda c, p, s, g: c.plan("mldsa65", "encaps"), polykem.ArgumentError, "keygen, sign, verify"),
    "text": (lambda c, p, s, g: c.sign("mldsa65", s, "text"), polykem.ArgumentTypeError, "messages is str"),
    "errors": (lambda c, p, s, g: c.sign("mldsa65", s, b"", errors="ignore"), polykem.ArgumentError, "errors is"),
    "no items": (lambda c, p, s, g: c.sign("mldsa65", s, []), polykem.ArgumentError, "at least one item"),
    "a number": (lambda c, p, s, g: c.sign("mldsa65", s, [b"", 1]), polykem.ArgumentTypeError, r"messages\[1\]"),
    "more messages": (lambda c, p, s, g: c.sign("mldsa65", s, [b""] * 3), polykem.ArgumentError,
                      "2 secret keys for 3 messages"),
    "one key in a row": (lambda c, p, s, g: c.sign("mldsa65", s[:1], [b""] * 3), polykem.ArgumentError,
                         r"pass sk\[0\]"),
    "contexts": (lambda c, p, s, g: c.sign("mldsa65", s, b"", context=[b""] * 3), polykem.ArgumentError, "2 secret"),
    "256 bytes": (lambda c, p, s, g: c.sign("mldsa65", s, b"", context=bytes(256)), polykem.SizeError, "at most 255"),
    "one of 256": (lambda c, p, s, g: c.verify("mldsa65", p, b"", g, context=[b"", bytes(256)]),
                   polykem.SizeError, "at most 255"),
    "mu": (lambda c, p, s, g: c.sign("mldsa65", s, bytes(63), mu=True), polykem.SizeError, "mu has 64"),
    "mu's context": (lambda c, p, s, g: c.sign("mldsa65", s, bytes(64), mu=True, context=b"c"),
                     polykem.ArgumentError, "neither context nor prehash"),
    "no hash": (lambda c, p, s, g: c.sign("mldsa65", s, b"", prehash="md5"), polykem.ArgumentError, "no hash 'md5'"),
    "no digest": (lambda c, p, s, g: c.sign("mldsa65", s, b"", prehash="sha256"), polykem.SizeError, "sha256 has 32"),
    "coins and none": (lambda c, p, s, g: c.sign("mldsa65", s, b"", deterministic=True, coins=bytes(32)),
                       polykem.ArgumentError, "one of the two"),
    "coins": (lambda c, p, s, g: c.sign("mldsa65", s, b"", coins=bytes(32)), polykem.SizeError, "coins has shape"),
    "signatures": (lambda c, p, s, g: c.verify("mldsa65", p, b"", g[:1]), polykem.ArgumentError, "2 public keys"),
    "short": (lambda c, p, s, g: c.verify("mldsa65", p, b"", g[:, 1:].copy()), polykem.SizeError, "sig has shape"),
    "another set's": (lambda c, p, s, g: c.verify("mldsa44", p, b"", bytes(2420)), polykem.SizeError, "pk has shape"),
    "an index": (lambda c, p, s, g: c.verify("mldsa65", p, b"", g, key_index=0), polykem.ArgumentError, "KeySet"),
    "on a GPU": (lambda c, p, s, g: c.verify("mldsa65", p, OnAGpu(), g), polykem.ArgumentError, "lies on a GPU"),
    "falling": (lambda c, p, s, g: polykem.Strings(b"abc", [0, 2, 1]), polykem.ArgumentError,
                r"offsets\[2\] is 1, less than offsets\[1\]"),
    "beyond": (lambda c, p, s, g: polykem.Strings(b"abc", [0, 4]), polykem.ArgumentError, "data has 3 bytes"),
    "negative": (lambda c, p, s, g: polykem.Strings(b"abc", [-1, 2]), polykem.ArgumentError, "count from 0"),
    "one offset": (lambda c, p, s, g: polykem.Strings(b"abc", [0]), polykem.ArgumentError, "n \\+ 1 numbers"),
    "fractions": (lambda c, p, s, g: polykem.Strings(b"abc", [0, .5]), polykem.ArgumentError, "float64"),
}


class OnAGpu:
    def __dlpack_device__(self):
        return (2, 0)


@pytest.mark.parametrize("what", REFUSED)
def test_refused(ctx, what):
    call, error, says = REFUSED[what]
    pk, sk = ctx.keygen("mldsa65", 2)
    with pytest.raises(error, match=says):
        call(ctx, pk, sk, np.zeros((2, 3309), np.uint8))
