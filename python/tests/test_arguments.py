# SPDX-License-Identifier: Apache-2.0
"""Tests that arguments are refused that would compute something else than what was meant: numbers as bytes, short key
material, the same memory for two outputs."""
import array

import numpy as np
import polykem
import pytest

PK, SK = 1184, 2400


def not_bytes():
    """Returns objects that bytes() converts to bytes, or numpy to arrays, but that are not bytes."""
    return [5, 0, True, 5.0, None, "text", [1, 2], (1, 2), {1, 2}, np.uint8(5), np.float64(1), np.array(5, np.uint8),
            np.ones(3), np.array(["a"]), array.array("H", [1]), range(3), object()]


@pytest.fixture(scope="module")
def suite():
    hpke = pytest.importorskip("polykem.hpke", exc_type=ImportError)
    return hpke.Suite("ML-KEM-768", "HKDF-SHA256", "AES-128-GCM")


@pytest.mark.parametrize("value", not_bytes(), ids=repr)
@pytest.mark.parametrize("name", ["info", "aad"])
def test_info_and_aad_are_bytes(ctx, suite, name, value):
    pk, sk = suite.generate(ctx, 1)
    sealed = suite.seal(ctx, pk, b"message")
    with pytest.raises(TypeError, match=rf"{name}(\[0\])? is .*; pass bytes"):
        suite.seal(ctx, pk, b"message", **{name: value})
    with pytest.raises(TypeError, match=rf"{name}(\[0\])? is .*; pass bytes"):
        suite.open(ctx, sk, *sealed, **{name: value})


@pytest.mark.parametrize("value", [b"ab", bytearray(b"ab"), memoryview(b"ab"), np.frombuffer(b"ab", np.uint8),
                                   memoryview(b"a-b-")[::2], array.array("B", b"ab"), polykem.Secret(b"ab")], ids=repr)
def test_any_bytes_are_the_same_info(ctx, suite, value):
    pk, sk = suite.generate(ctx, 1)
    sealed = suite.seal(ctx, pk, b"message", info=value, aad=value)
    assert suite.open(ctx, sk, *sealed, info=b"ab", aad=b"ab").plaintexts == b"message"


@pytest.mark.parametrize("value", [v for v in not_bytes() if not isinstance(v, (np.ndarray, list, tuple))], ids=repr)
def test_arrays_are_bytes(ctx, suite, value):
    pk, sk = suite.generate(ctx, 1)
    enc, ciphertexts = suite.seal(ctx, pk, b"message")
    for call in (lambda: ctx.encaps("mlkem768", value), lambda: ctx.decaps("mlkem768", value, bytes(1088)),
                 lambda: ctx.decaps("mlkem768", bytes(SK), value), lambda: ctx.keyset("mlkem768", value),
                 lambda: ctx.keygen("mlkem768", out=(value, bytearray(SK))),
                 lambda: polykem.Secret(value), lambda: suite.seal(ctx, value, b"m"),
                 lambda: suite.seal(ctx, pk, value), lambda: suite.seal(ctx, pk, [value]),
                 lambda: suite.open(ctx, value, enc, ciphertexts), lambda: suite.open(ctx, sk, value, ciphertexts),
                 lambda: suite.open(ctx, sk, enc, value), lambda: suite.open(ctx, sk, enc, [value]),
                 lambda: suite.public_keys(ctx, value), lambda: suite.derive_key_pairs(ctx, value)):
        with pytest.raises((TypeError, polykem.ArgumentError)):
            call()


def test_short_key_material(ctx, suite):
    """Key material must have at least as many bytes as a secret key [RFC 9180, 7.1.3]."""
    from polykem import hpke
    for kem in hpke.Kem:
        suite = hpke.Suite(kem, "HKDF-SHA256", "AES-128-GCM")
        minimum = suite.secret_key_bytes
        for ikm in (b"", b"a", bytes(minimum - 1), np.zeros((3, minimum - 1), np.uint8), np.zeros((2, 0), np.uint8)):
            with pytest.raises(polykem.SizeError, match=f"at least {minimum}"):
                suite.derive_key_pairs(ctx, ikm)
        assert suite.derive_key_pairs(ctx, bytes(minimum)).pk.shape[0] == 1
        assert suite.derive_key_pairs(ctx, np.zeros((2, minimum + 1), np.uint8)).pk.shape[0] == 2


def test_outputs_with_one_memory(ctx):
    memory = np.zeros(2 * (PK + SK) + 64, np.uint8)
    for pk_at, sk_at in ((0, 0), (0, PK - 1), (0, 100), (SK - 1, 0), (100, 0)):
        with pytest.raises(polykem.ArgumentError, match="overlap"):
            ctx.keygen("mlkem768", 1, out=(memory[pk_at:pk_at + PK], memory[sk_at:sk_at + SK]))
    assert not memory.any()
    coins = memory[:64]
    coins[:] = 1
    for out in ((memory[63:63 + PK], memory[64 + PK:64 + PK + SK]), (memory[PK + SK:2 * PK + SK], memory[:SK])):
        with pytest.raises(polykem.ArgumentError, match="overlap"):
            ctx.keygen("mlkem768", 1, coins=coins, out=out)
    secret = polykem.Secret.zeros(PK + SK)
    with pytest.raises(polykem.ArgumentError, match="overlap"):
        ctx.submit("keygen", "mlkem768", 1, out=(np.asarray(secret)[:PK], secret[:SK]))
    made = ctx.keygen("mlkem768", 1, coins=coins, out=(memory[64:64 + PK], memory[64 + PK:64 + PK + SK]))
    ct, ss, _ = ctx.encaps("mlkem768", made.pk)
    assert ctx.decaps("mlkem768", made.sk, ct).ss == ss


@pytest.mark.parametrize("call", [
    lambda ctx, pk: polykem.Secret(5), lambda ctx, pk: polykem.Secret("x"), lambda ctx, pk: polykem.Secret([1, 2]),
    lambda ctx, pk: polykem.Secret(None), lambda ctx, pk: ctx.encaps("mlkem512", pk, 2.5),
    lambda ctx, pk: ctx.keygen("mlkem512", "2"), lambda ctx, pk: ctx.keygen(5), lambda ctx, pk: polykem.Context("2"),
    lambda ctx, pk: polykem.Context(threads=1.5), lambda ctx, pk: polykem.KeySet.generate(ctx, "mlkem512", 1.0)])
def test_another_type_is_an_error_of_the_package(ctx, call):
    pk = ctx.keygen("mlkem512", 1).pk[0]
    with pytest.raises(polykem.ArgumentTypeError):
        call(ctx, pk)


def test_an_array_that_no_batch_has():
    with pytest.raises(polykem.ArgumentError, match="no array of that name"):
        polykem._core.Request(0, 0, 1, {"pk_in": bytearray(800)})
