# SPDX-License-Identifier: Apache-2.0
"""Tests that memory stays flat over many calls."""
import gc
import os
import resource
import sys

import polykem
import pytest

PAGE = resource.getpagesize()


def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * PAGE


def one_round(ctx, sks, pks):
    pk, sk = ctx.keygen("mlkem512", 1)
    ct, ss, _ = ctx.encaps("mlkem512", pk)
    assert ctx.decaps("mlkem512", sk[0], ct).ss == ss
    ctx.encaps("mlkem512", pks, key_index=0)
    ctx.decaps("mlkem512", sks, ct, key_index=0)


def some_errors(ctx):
    for call in (lambda: ctx.keygen("mlkem512", 1, coins=b"short"), lambda: polykem.Scheme("nosuchset"),
                 lambda: ctx.encaps("mlkem768", b"\xff" * 1184)):
        with pytest.raises(polykem.Error):
            call()
    ctx.submit("keygen", "mlkem512", 1).result(60)
    ctx.keyset("mlkem512", bytes(800)).close()
    polykem.Context(threads=1).close()


def many_rounds(ctx, sks, pks, rounds):
    for i in range(rounds):
        one_round(ctx, sks, pks)
        if i % 100 == 0:
            some_errors(ctx)
    gc.collect()


def assert_flat(rounds, limit):
    """Fails if the process keeps growing by `limit` bytes in `rounds`, as with a leak; caches grow only once."""
    ctx = polykem.Context(threads=1)
    sks, pk = polykem.KeySet.generate(ctx, "mlkem512", 1)
    pks = ctx.keyset("mlkem512", pk)
    many_rounds(ctx, sks, pks, min(rounds, 5000))
    growth = []
    while not growth or growth[-1] >= limit:
        assert len(growth) < 4, f"{rounds} rounds took {growth} more bytes"
        before = resident()
        many_rounds(ctx, sks, pks, rounds)
        growth.append(resident() - before)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps freed memory")
def test_flat_memory():
    """Memory grows by less than 512 KiB; one leaked ciphertext a round would make it 1.5 MB."""
    assert_flat(2000, 512 << 10)


@pytest.mark.long
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_flat_memory_over_a_million_calls():
    assert_flat(200_000, 1 << 20)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_no_reference_is_lost(ctx):
    """A call's arguments are released after it."""
    pk = ctx.keygen("mlkem512", 4).pk
    before = sys.getrefcount(pk)
    for _ in range(10):
        ctx.encaps("mlkem512", pk)
        ctx.submit("encaps", "mlkem512", pk).result(60)
        with pytest.raises(polykem.Error):
            ctx.encaps("mlkem512", pk, coins=b"short")
    ctx.submit("keygen", "mlkem512", 1).result(60)
    gc.collect()
    assert sys.getrefcount(pk) <= before + 1  # the thread of jobs may hold the last one a moment longer
    raw = bytearray(800)
    with pytest.raises(polykem.Error):
        ctx.keygen("mlkem512", 1, out=(raw, bytes(1632)))
    raw.append(0)  # no buffer of it is held
