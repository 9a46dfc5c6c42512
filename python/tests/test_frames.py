# SPDX-License-Identifier: Apache-2.0
"""Tests columns of data frames: the page's one line makes an array of them, and errors give that line."""
import numpy as np
import pytest


def columns(values):
    """Yields the same column as a list, as an array of objects, and in the libraries that are installed."""
    made = [list(values), tuple(values), np.array(values, object)]
    for library in ("pandas", "polars"):
        try:
            made.append(__import__(library).Series(values))
        except ImportError:
            pass
    return made


def test_columns_of_bytes(ctx):
    pk, sk = ctx.keygen("mlkem512", 3)
    sent = ctx.encaps("mlkem512", pk)
    for column in columns([bytes(record) for record in sent.ct]):
        with pytest.raises(TypeError, match="frombuffer"):
            ctx.decaps("mlkem512", sk, column)
        ct = np.frombuffer(b"".join(column), np.uint8).reshape(len(column), -1)
        assert ctx.decaps("mlkem512", sk, ct).ss == sent.ss


def test_messages(ctx):
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    suite = hpke.Suite("ML-KEM-768", "HKDF-SHA256", "AES-128-GCM")
    pk, sk = suite.generate(ctx, 3)
    messages = [b"a", b"", b"three"]
    for column in columns(messages):
        if not isinstance(column, (list, tuple)):
            with pytest.raises(TypeError, match="plaintexts"):
                suite.seal(ctx, pk, column)
        sealed = suite.seal(ctx, pk, list(column))
        assert suite.open(ctx, sk, *sealed).plaintexts == messages
