# SPDX-License-Identifier: Apache-2.0
"""Tests Ctrl-C in a long batch, and batches that the main thread computes in pieces."""
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polykem
import pytest

PROGRAM = str(Path(__file__).with_name("interrupt_program.py"))
KEM = ["keygen", "encaps", "encaps with a key set", "decaps", "decaps with a key set", "profile", "a job's result",
       "out"]
HPKE = ["hpke.generate", "hpke.derive_key_pairs", "hpke.public_keys", "hpke.seal", "hpke.open", "hpke.sender",
        "hpke.recipient"]


@pytest.mark.parametrize("name", KEM + (HPKE if hasattr(polykem._core, "HpkeSuite") else []))
def test_ctrl_c(name):
    result = subprocess.run([sys.executable, PROGRAM, name], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 3


def in_a_thread(call):
    """Runs a call in another thread, where batches are not computed in pieces."""
    result = []
    thread = threading.Thread(target=lambda: result.append(call()))
    thread.start()
    thread.join()
    return result[0]


def same(a, b):
    return all(one == other if isinstance(one, polykem.Secret) else np.array_equal(one, other)
               for one, other in zip(a, b))


@pytest.mark.parametrize("name", ["mlkem512", "ntruhps2048509", "frodokem640shake"])
def test_pieces_yield_what_the_whole_does(name):
    """A new context begins with 64 items: every array, key mode and form of key comes in several pieces."""
    count, scheme = 200, polykem.Scheme(name)
    rng = np.random.default_rng(1)
    keygen_coins = rng.integers(0, 256, (count, scheme.keygen_coin_bytes), np.uint8)
    encaps_coins = rng.integers(0, 256, (count, scheme.encaps_coin_bytes), np.uint8)
    index = rng.integers(0, count, count)
    whole = in_a_thread(lambda: polykem.Context(threads=1).keygen(name, count, coins=keygen_coins))
    pk, sk = whole
    ct = polykem.Context(threads=1).encaps(name, pk, coins=encaps_coins).ct
    seeds = keygen_coins if scheme.secret_seed_bytes else sk
    calls = [lambda c: c.keygen(name, count, coins=keygen_coins),
             lambda c: c.encaps(name, pk, coins=encaps_coins),
             lambda c: c.encaps(name, pk[3], count, coins=encaps_coins),
             lambda c: c.encaps(name, c.keyset(name, pk), coins=encaps_coins),
             lambda c: c.encaps(name, c.keyset(name, pk), key_index=index, coins=encaps_coins),
             lambda c: c.encaps(name, c.keyset(name, pk), count, key_index=5, coins=encaps_coins),
             lambda c: c.decaps(name, sk, ct),
             lambda c: c.decaps(name, sk[7], ct),
             lambda c: c.decaps(name, seeds, ct),
             lambda c: c.decaps(name, c.keyset(name, sk), ct),
             lambda c: c.decaps(name, c.keyset(name, sk), ct, key_index=index)]
    for call in calls:
        assert same(call(polykem.Context(threads=1)), in_a_thread(lambda: call(polykem.Context(threads=1))))


def test_malformed_items_in_pieces():
    ctx, count = polykem.Context(threads=1), 900
    pk = ctx.keygen("mlkem768", count).pk
    wrong = [0, 63, 64, 500, 899]
    pk[wrong, :384] = 255
    fresh = polykem.Context(threads=1)
    ct, ss, status = fresh.encaps("mlkem768", pk, errors="return")
    assert np.flatnonzero(status).tolist() == wrong and not ct[wrong].any() and ct[[1, 65, 898]].any(1).all()
    with pytest.raises(polykem.ItemsError) as caught:
        polykem.Context(threads=1).encaps("mlkem768", pk)
    assert caught.value.items.tolist() == wrong


def test_hpke_in_pieces(ctx):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite, count = hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-128-GCM"), 300
    rng = np.random.default_rng(2)
    ikm = rng.integers(0, 256, (count, 40), np.uint8)
    keygen_coins = rng.integers(0, 256, (count, suite.coin_bytes), np.uint8)
    messages = rng.integers(0, 256, (count, 24), np.uint8)
    listed = [bytes(m[:i % 25]) for i, m in enumerate(messages)]
    pk, sk = suite.derive_key_pairs(ctx, ikm)
    for texts in (messages, listed, b"one for all"):
        for keys, secrets in ((pk, sk), (pk[2], sk[2])):
            def exchange():
                sealed = suite.seal(ctx, keys, texts, coins=keygen_coins, count=count)
                return [*sealed, *suite.open(ctx, secrets, *sealed)]
            pieces, whole = exchange(), in_a_thread(exchange)
            assert all(a == b if isinstance(a, (list, polykem.Secret)) else np.array_equal(a, b)
                       for a, b in zip(pieces, whole))
    infos = [bytes(m[:i % 7]) for i, m in enumerate(messages)]

    def contexts():
        sender = suite.sender(ctx, pk, infos, psk=messages[0].tobytes() + ikm[0].tobytes(), psk_id=infos[6],
                              coins=keygen_coins)
        return [sender.enc, sender.seal(messages, infos), sender.seal(messages), sender.export(messages, 20)]
    assert same(contexts(), in_a_thread(contexts))
    assert same(in_a_thread(lambda: suite.derive_key_pairs(ctx, ikm)), (pk, sk))
    assert np.array_equal(suite.public_keys(ctx, sk), pk)
    pk, sk = suite.generate(ctx, count)
    assert np.array_equal(suite.public_keys(ctx, sk), pk) and len(set(map(bytes, pk))) == count


def test_a_handler_that_does_not_raise():
    """A signal handler runs during a batch, which is completed."""
    ctx, ticks = polykem.Context(threads=1), []
    before = signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        pk, sk = ctx.keygen("frodokem640shake", 1500)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    every = slice(None, None, 50)
    pk, sk = np.ascontiguousarray(pk[every]), np.ascontiguousarray(np.asarray(sk)[every])
    ct, ss, _ = ctx.encaps("frodokem640shake", pk)
    assert ticks and ctx.decaps("frodokem640shake", sk, ct).ss == ss
