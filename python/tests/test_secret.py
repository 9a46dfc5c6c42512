# SPDX-License-Identifier: Apache-2.0
"""Tests memory for secrets: what it shows, what it hides, and when it is wiped."""
import copy
import ctypes
import gc
import os
import pickle

import numpy as np
import polykem
import pytest

BYTES = bytes(range(1, 97))


@pytest.fixture
def secret():
    return polykem.Secret(np.frombuffer(BYTES, np.uint8).reshape(3, 32))


def test_nothing_prints_it(secret):
    for text in (repr(secret), str(secret), f"{secret}", repr([secret]), repr(secret[0])):
        assert "polykem.Secret" in text
        assert "\\x01" not in text and "1, 2" not in text and "0102" not in text
    keys = polykem.Context(threads=1).keygen("mlkem512", 1)
    assert repr(keys.sk) == "<polykem.Secret: 1 x 1632 bytes>"


def test_it_is_not_copied_by_accident(secret):
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="export"):
            attempt(secret)
    with pytest.raises(TypeError):
        hash(secret)


def test_exports(secret):
    assert secret[1].export() == BYTES[32:64] and type(secret[1].export()) is bytes
    copied = secret.export()
    assert copied.shape == (3, 32) and copied.tobytes() == BYTES
    copied[:] = 0
    assert secret.export().tobytes() == BYTES
    other = secret.copy()
    secret.wipe()
    assert other == BYTES


def test_views(secret):
    assert secret[-1] == BYTES[64:] and secret[1:] == BYTES[32:] and secret[1:][0][4:8] == BYTES[36:40]
    assert [s.export() for s in secret] == [BYTES[i:i + 32] for i in (0, 32, 64)]
    assert secret[1:].shape == (2, 32) and secret[5:].shape == (0, 32) and len(secret) == 3
    for wrong, error in ((3, IndexError), (-4, IndexError), (slice(None, None, 2), ValueError)):
        with pytest.raises(error):
            secret[wrong]
    with pytest.raises(TypeError, match="slice it"):
        secret[0][0]
    item = secret[2]
    del secret
    gc.collect()
    assert item == BYTES[64:]


def test_protocols(secret):
    array = np.asarray(secret)
    assert array.shape == (3, 32) and array.dtype == np.uint8 and array.tobytes() == BYTES
    assert np.shares_memory(array, np.asarray(secret[1]))
    assert np.shares_memory(array, np.from_dlpack(secret))
    assert np.array(secret, dtype=np.int32)[0, 0] == 1
    assert not np.shares_memory(array, secret.__array__(copy=True))
    assert memoryview(secret).shape == (3, 32) and bytes(secret[0]) == BYTES[:32]
    array[0, 0] = 77
    assert secret[0][:1] == b"M"


def test_equality(secret):
    array = np.frombuffer(BYTES, np.uint8)
    assert secret == BYTES and BYTES == secret and secret == secret.copy()
    assert secret != BYTES[:-1] and secret != b"" and secret != 5 and secret != None  # noqa: E711
    assert (array == secret) is True
    for i in (0, 50, 95):
        other = bytearray(BYTES)
        other[i] ^= 128
        assert secret != other


def test_wipe(secret):
    view, array = secret[1], np.asarray(secret)
    view.wipe()
    assert not secret.wiped and not array[1].any() and secret[0] == BYTES[:32]
    with secret:
        pass
    assert secret.wiped and not array.any() and "wiped" in repr(secret) and "wiped" in repr(view)


@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="reads freed memory")
def test_memory_is_zero_when_it_dies():
    """The bytes are overwritten before the memory is freed; a view keeps them until it is released."""
    secret = polykem.Secret.zeros((2, 1 << 22))
    np.asarray(secret)[:] = 0xA5
    view = secret[1][: 1 << 12]
    del secret
    gc.collect()
    assert np.asarray(view).min() == 0xA5

    small = polykem.Secret(b"\xa5" * 4096)
    address = np.asarray(small).ctypes.data
    keep = [bytearray(4096) for _ in range(4)]  # so that the allocator does not give the page back
    del small
    gc.collect()
    left = ctypes.string_at(address + 64, 4096 - 128)  # the allocator writes to the first words of what is free
    assert left.count(0xA5) == 0 and len(keep) == 4


def test_made_of(ctx):
    with pytest.raises(polykem.ArgumentError):
        polykem.Secret(np.zeros(4, np.float32))
    with pytest.raises(polykem.ArgumentError):
        polykem.Secret(np.zeros((1, 2, 3), np.uint8))
    with pytest.raises(TypeError):
        polykem.Secret("text")
    with pytest.raises(polykem.ArgumentError):
        polykem.Secret.zeros((2**40, 2**40))
    assert polykem.Secret.zeros(0) == b""
