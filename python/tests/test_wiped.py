# SPDX-License-Identifier: Apache-2.0
"""A Secret that was wiped is refused wherever a secret is taken: never are its zeros used as a key or a message."""
import numpy as np
import polykem
import pytest

SET, ITEMS = "mlkem768", 3
wiped_is_refused = pytest.raises(polykem.ArgumentError, match="wiped")


@pytest.fixture
def keys(ctx):
    pk, sk = ctx.keygen(SET, ITEMS)
    return pk, sk, ctx.encaps(SET, pk).ct


def wiped(secret, how):
    """The argument that is passed after `how` it was wiped."""
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


def test_seeds_and_draws(ctx, keys):
    seeds = wiped(polykem.Secret(np.ones((ITEMS, 64), np.uint8)), "whole")
    draws = wiped(polykem.Secret(np.ones((ITEMS, 32), np.uint8)), "whole")
    for call in (lambda: ctx.decaps(SET, seeds, keys[2]), lambda: ctx.keyset(SET, seeds),
                 lambda: ctx.keygen(SET, ITEMS, draws=seeds), lambda: ctx.encaps(SET, keys[0], draws=draws)):
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
    draws = wiped(polykem.Secret(np.ones((ITEMS, suite.draw_bytes), np.uint8)), how)
    for call in (lambda: suite.public_keys(ctx, sk), lambda: suite.derive_key_pairs(ctx, sk),
                 lambda: suite.open(ctx, sk, *sealed), lambda: suite.seal(ctx, pk, messages),
                 lambda: suite.seal(ctx, pk, [messages, b"", b""]), lambda: suite.seal(ctx, pk, b"m", draws=draws),
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
    """Against a byte for each byte."""
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
