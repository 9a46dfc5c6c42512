# SPDX-License-Identifier: Apache-2.0
"""Tests that a wiped Secret is refused wherever a secret is taken, so that its zeros are never a key or a message."""
import numpy as np
import polykem
import pytest
from polykem import _jobs, _places

SET, ITEMS = "mlkem768", 3
wiped_is_refused = pytest.raises(polykem.ArgumentError, match="wiped")


@pytest.fixture
def keys(ctx):
    pk, sk = ctx.keygen(SET, ITEMS)
    return pk, sk, ctx.encaps(SET, pk).ct


def wiped(secret, how):
    """Wipes a secret in the way that `how` names. Returns the argument to pass."""
    view = secret[:] if how == "by a view" else secret
    if how == "in part":
        secret[1][5:6].wipe()
    elif how == "by with":
        with secret:
            pass
    else:
        view.wipe()
    return secret


WAYS = ["whole", "by a view", "by with", "in part"]


@pytest.mark.parametrize("how", WAYS)
def test_keys_of_the_kem(ctx, keys, how):
    pk, sk, ct = keys
    sk = wiped(sk, how)
    for call in (lambda: ctx.decaps(SET, sk, ct), lambda: ctx.submit("decaps", SET, sk, ct),
                 lambda: ctx.keyset(SET, sk), lambda: polykem.KeySet(ctx, SET, sk, "secret"),
                 lambda: ctx.keygen(SET, ITEMS, out=(pk, sk)), lambda: ctx.decaps(SET, sk[1], ct)):
        with wiped_is_refused:
            call()


def test_seeds_and_coins(ctx, keys):
    seeds = wiped(polykem.Secret(np.ones((ITEMS, 64), np.uint8)), "whole")
    coins = wiped(polykem.Secret(np.ones((ITEMS, 32), np.uint8)), "whole")
    for call in (lambda: ctx.decaps(SET, seeds, keys[2]), lambda: ctx.keyset(SET, seeds),
                 lambda: ctx.keygen(SET, ITEMS, coins=seeds), lambda: ctx.encaps(SET, keys[0], coins=coins)):
        with wiped_is_refused:
            call()


@pytest.mark.parametrize("how", WAYS)
def test_hpke(ctx, how):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-128-GCM")
    pk, sk = suite.generate(ctx, ITEMS)
    messages = polykem.Secret(np.ones((ITEMS, 20), np.uint8))
    sealed = suite.seal(ctx, pk, messages)
    sk, messages = wiped(sk, how), wiped(messages, how)
    coins = wiped(polykem.Secret(np.ones((ITEMS, suite.coin_bytes), np.uint8)), how)
    for call in (lambda: suite.public_keys(ctx, sk), lambda: suite.derive_key_pairs(ctx, sk),
                 lambda: suite.open(ctx, sk, *sealed), lambda: suite.seal(ctx, pk, messages),
                 lambda: suite.seal(ctx, pk, [messages, b"", b""]), lambda: suite.seal(ctx, pk, b"m", coins=coins),
                 lambda: suite.seal(ctx, pk, b"m", info=messages), lambda: suite.seal(ctx, pk, b"m", aad=messages)):
        with wiped_is_refused:
            call()


@pytest.mark.parametrize("how", WAYS)
def test_copies_and_views_of_the_memory(how):
    secret = wiped(polykem.Secret(np.ones((3, 32), np.uint8)), how)
    for call in (secret.copy, secret.export, lambda: polykem.Secret(secret), lambda: memoryview(secret),
                 lambda: bytes(secret), lambda: np.asarray(secret), lambda: np.array(secret, np.int32),
                 lambda: np.from_dlpack(secret), lambda: secret[1].export(), lambda: secret[1:].copy()):
        with wiped_is_refused:
            call()
    assert secret == secret and secret != bytes(96) and secret != polykem.Secret(np.zeros((3, 32), np.uint8))
    assert secret[1] != bytes(32) and bytes(32) != secret[1] and secret.partly_wiped


def test_what_is_left_is_used(ctx, keys):
    pk, sk, ct = keys
    expected = ctx.decaps(SET, sk, ct).ss
    sk[1].wipe()
    assert sk.partly_wiped and not sk.wiped and sk[1].wiped and not sk[2].partly_wiped
    assert repr(sk).endswith("bytes, wiped in part>") and repr(sk[1]).endswith("bytes, wiped>")
    assert ctx.decaps(SET, sk[2], ct[2]).ss == expected[2:] and ctx.decaps(SET, sk[:1], ct[0]).ss == expected[:1]
    sk[0].wipe()
    sk[2].wipe()
    assert sk.wiped and repr(sk).endswith("bytes, wiped>")


def test_ranges_that_were_wiped():
    """Ranges are noted as exactly as with a flag for each byte."""
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 40):
        secret, marks = polykem.Secret(bytes(size)), np.zeros(size, bool)
        for _ in range(30):
            a, b = sorted(rng.integers(0, size + 1, 2).tolist())
            if rng.integers(2):
                secret[a:b].wipe()
                marks[a:b] = True
            c, d = sorted(rng.integers(0, size + 1, 2).tolist())
            if c < d:
                view = secret[c:d]
                assert (view.wiped, view.partly_wiped) == (bool(marks[c:d].all()), bool(marks[c:d].any()))


class Ending:
    """A batch of a context, run at once or submitted, after which `wipe` is called before its result is taken."""

    def __init__(self, monkeypatch, submitted):
        self.submitted, self.wipe = submitted, lambda: None
        complete, run = _jobs._complete, _places.Host.run

        def wiped_then_complete(job, finish, status):
            self.wipe()
            complete(job, finish, status)

        def run_then_wiped(host, context, batch):
            status = run(host, context, batch)
            self.wipe()
            return status

        monkeypatch.setattr(_jobs, "_complete", wiped_then_complete)
        monkeypatch.setattr(_places.Host, "run", run_then_wiped)

    def __call__(self, ctx, op, *arguments, wipe, **options):
        self.wipe = wipe
        try:
            if self.submitted:
                return ctx.submit(op, SET, *arguments, **options).result(60)
            return getattr(ctx, op)(SET, *arguments, **options)
        finally:
            self.wipe = lambda: None


@pytest.mark.parametrize("submitted", [True, False])
def test_wiped_while_a_batch_reads_it(ctx, keys, monkeypatch, submitted):
    call = Ending(monkeypatch, submitted)
    pk, sk, ct = keys
    coins = polykem.Secret(np.ones((ITEMS, 32), np.uint8))
    seeds = polykem.Secret(np.ones((ITEMS, 64), np.uint8))
    assert call(ctx, "decaps", sk, ct, wipe=sk[1].copy().wipe).ss.shape == (ITEMS, 32)
    for part in (slice(7, 8), slice(None)):
        key = sk.copy()
        with wiped_is_refused:
            call(ctx, "decaps", key, ct, wipe=key[1][part].wipe, errors="return")
    with wiped_is_refused:
        call(ctx, "encaps", pk, coins=coins, wipe=coins.wipe)
    out = (bytearray(b"x" * pk.size), polykem.Secret.zeros((ITEMS, 2400)))
    out = (np.frombuffer(out[0], np.uint8).reshape(pk.shape), out[1])
    with wiped_is_refused:
        call(ctx, "keygen", ITEMS, coins=seeds, out=out, wipe=seeds[2].wipe)
    assert not out[0].any() and out[1].wiped
    pk, sk = np.ones_like(pk), polykem.Secret.zeros((ITEMS, 2400))
    with wiped_is_refused:
        call(ctx, "keygen", ITEMS, out=(pk, sk), wipe=sk[0].wipe)
    assert not pk.any() and sk.wiped


def test_wiped_while_a_batch_runs_in_another_thread():
    """A batch whose keys are wiped by another thread is refused; it takes far longer than the wiping."""
    ctx = polykem.Context(threads=1, backend="ref")
    pk, sk = ctx.keygen("frodokem640shake", 1)
    ct = np.repeat(ctx.encaps("frodokem640shake", pk).ct, 400, axis=0)
    job = ctx.submit("decaps", "frodokem640shake", sk[0], ct)
    sk.wipe()
    with wiped_is_refused:
        job.result(600)


def test_wiped_while_a_key_set_is_made(ctx, keys, monkeypatch):
    sk = keys[1]

    def made(*arguments):
        try:
            return make(*arguments)
        finally:
            sk[1].wipe()

    make = polykem._core.KeySet
    monkeypatch.setattr(polykem._core, "KeySet", made)
    with wiped_is_refused:
        ctx.keyset(SET, sk)


def test_wiped_while_hpke_reads_it(ctx, monkeypatch):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-128-GCM")
    pk, sk = suite.generate(ctx, ITEMS)
    message, coins = polykem.Secret(b"m" * 20), polykem.Secret(np.ones((ITEMS, suite.coin_bytes), np.uint8))
    sealed = suite.seal(ctx, pk, message)
    for name, secret, call in (("derive", sk, suite.derive_key_pairs), ("public_keys", sk, suite.public_keys),
                               ("open", sk, lambda ctx, sk: suite.open(ctx, sk, *sealed)),
                               ("seal", message, lambda ctx, message: suite.seal(ctx, pk, message)),
                               ("seal", coins, lambda ctx, coins: suite.seal(ctx, pk, b"m", coins=coins))):
        secret, compute = secret.copy(), getattr(polykem._core, f"hpke_{name}")

        def then_wiped(*arguments, compute=compute, secret=secret):
            try:
                return compute(*arguments)
            finally:
                secret.wipe()

        with monkeypatch.context() as patch, wiped_is_refused:
            patch.setattr(polykem._core, f"hpke_{name}", then_wiped)
            call(ctx, secret)


def test_what_is_bound_and_listed_for_hpke_has_no_other_copy(ctx, monkeypatch):
    """A list is joined in memory that is wiped; a bytearray, which its owner wipes, is read where it is."""
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-128-GCM")
    pk, sk = suite.generate(ctx, ITEMS)
    messages, read = [polykem.Secret(bytes([i]) * (30 + i)) for i in range(1, ITEMS + 1)], []
    listed, psk = b"".join(map(bytes, messages)), bytearray(b"p" * 40)
    psks = [bytearray(bytes([i]) * 40) for i in range(1, ITEMS + 1)]

    def seal(*arguments):
        read.extend(one[0] for one in arguments if isinstance(one, tuple) and one[0] is not None)
        return compute(*arguments)

    compute = polykem._core.hpke_seal
    monkeypatch.setattr(polykem._core, "hpke_seal", seal)
    sealed = suite.seal(ctx, pk, messages, psk=psk, psk_id=b"id")
    assert suite.open(ctx, sk, *sealed, psk=psk, psk_id=b"id").plaintexts == list(map(bytes, messages))
    assert [isinstance(one, polykem.Secret) for one in read if bytes(one) == listed] == [True]
    assert [one.obj is psk for one in read if bytes(one) == psk] == [True]
    suite.seal(ctx, pk, b"m", psk=psks, psk_id=b"id")
    assert [isinstance(one, polykem.Secret) for one in read if bytes(one) == b"".join(psks)] == [True]
