# SPDX-License-Identifier: Apache-2.0
"""Tests exchanges with independent implementations, both ways: pyca/cryptography (OpenSSL or AWS-LC, with keys in PEM
and PKCS #8), kyber-py (Python), pqcrypto (C)."""
import os

import numpy as np
import pytest

ITEMS = 20


def encaps_to(ctx, scheme, pk, decaps):
    """Checks that polykem's encapsulation to a foreign key can be decapsulated by its owner."""
    ct, ss, _ = ctx.encaps(scheme, pk, ITEMS)
    for i in range(ITEMS):
        assert ss[i] == decaps(bytes(ct[i]))


def decaps_from(ctx, scheme, encaps):
    """Checks that polykem decapsulates what a foreign program has encapsulated to polykem's keys."""
    pk, sk = ctx.keygen(scheme, ITEMS)
    sent = [encaps(bytes(key)) for key in pk]  # (secret, ciphertext)
    ct = np.frombuffer(b"".join(c for _, c in sent), np.uint8).reshape(ITEMS, -1)
    assert ctx.decaps(scheme, sk, ct).ss == b"".join(s for s, _ in sent)


@pytest.mark.parametrize("size", [768, 1024])
def test_pyca(ctx, size):
    mlkem = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.mlkem")
    from cryptography.hazmat.primitives import serialization as form

    private_type, public_type = (getattr(mlkem, f"MLKEM{size}{kind}Key") for kind in ("Private", "Public"))
    scheme = f"mlkem{size}"

    def encaps(pk):
        return public_type.from_public_bytes(pk).encapsulate()

    theirs = private_type.generate()
    encaps_to(ctx, scheme, theirs.public_key().public_bytes_raw(), theirs.decapsulate)
    decaps_from(ctx, scheme, encaps)

    # Their key in a file of PKCS #8: here its seed decapsulates.
    pem = theirs.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    seed = form.load_pem_private_key(pem, None).private_bytes_raw()
    secret, ct = theirs.public_key().encapsulate()
    assert ctx.decaps(scheme, seed, ct).ss == secret

    # Our key, of a seed, in their files: PEM and DER of both halves.
    seed = os.urandom(64)
    pk, sk = ctx.keygen(scheme, 1, coins=seed)
    ours = private_type.from_seed_bytes(seed)
    der = ours.private_bytes(form.Encoding.DER, form.PrivateFormat.PKCS8, form.NoEncryption())
    public = ours.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    assert form.load_pem_public_key(public).public_bytes_raw() == bytes(pk[0])
    encaps_to(ctx, scheme, pk[0], form.load_der_private_key(der, None).decapsulate)
    secret, ct = form.load_pem_public_key(public).encapsulate()
    assert ctx.decaps(scheme, sk[0], ct).ss == secret


@pytest.mark.parametrize("size", [512, 768, 1024])
def test_kyber_py(ctx, size):
    theirs = getattr(pytest.importorskip("kyber_py.ml_kem"), f"ML_KEM_{size}")
    pk, sk = theirs.keygen()
    encaps_to(ctx, f"mlkem{size}", pk, lambda ct: theirs.decaps(sk, ct))
    decaps_from(ctx, f"mlkem{size}", theirs.encaps)
    made = theirs.key_derive(seed := bytes(range(64)))
    assert (bytes(ctx.keygen(f"mlkem{size}", 1, coins=seed).pk[0])) == made[0]


@pytest.mark.parametrize("size", [512, 768, 1024])
def test_pqcrypto(ctx, size):
    theirs = pytest.importorskip(f"pqcrypto.kem.ml_kem_{size}")
    pk, sk = theirs.keygen()
    encaps_to(ctx, f"mlkem{size}", bytes(pk), lambda ct: theirs.decaps(sk, ct))
    ct, secret = theirs.encaps(pk)
    order = slice(None) if len(ct) < len(secret) else slice(None, None, -1)
    decaps_from(ctx, f"mlkem{size}", lambda key: theirs.encaps(key)[order])
