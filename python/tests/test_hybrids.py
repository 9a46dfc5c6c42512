# SPDX-License-Identifier: Apache-2.0
"""Tests TLS 1.3's hybrids with the ML-KEM and curves of pyca/cryptography and Go, joined as in RFC 10024, both ways."""

import base64
import json
import subprocess

import numpy as np
import pytest

from go_programs import go_program

PAIRS = 1000
GROUPS = {"x25519mlkem768": ("X25519", 768), "secp256r1mlkem768": ("SECP256R1", 768),
          "secp384r1mlkem1024": ("SECP384R1", 1024)}


class Pyca:
    """A thousand clients and servers with pyca/cryptography."""

    def __init__(self, group, _):
        mlkem = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.mlkem", reason="needs pyca/cryptography")
        curve, size = GROUPS[group]
        self.curve_first = curve != "X25519"
        self.curve = NistCurve(curve) if self.curve_first else X25519Curve()
        self.private, self.public = (getattr(mlkem, f"MLKEM{size}{kind}Key") for kind in ("Private", "Public"))

    def joined(self, of_curve, of_mlkem):
        return of_curve + of_mlkem if self.curve_first else of_mlkem + of_curve

    def split(self, both):
        point = self.curve.point_bytes
        return (both[:point], both[point:]) if self.curve_first else (both[-point:], both[:-point])

    def respond(self, share):
        point, key = self.split(share)
        own = self.curve.generate()
        secret, ciphertext = self.public.from_public_bytes(key).encapsulate()
        return self.joined(self.curve.public(own), ciphertext), self.joined(self.curve.agree(own, point), secret)

    def answer(self, shares):
        self.clients = [(self.curve.generate(), self.private.generate()) for _ in shares]
        own = [self.joined(self.curve.public(ec), pq.public_key().public_bytes_raw()) for ec, pq in self.clients]
        return *zip(*map(self.respond, shares), strict=True), own

    def finish(self, ciphertexts):
        for (ec, pq), both in zip(self.clients, ciphertexts, strict=True):
            point, ciphertext = self.split(both)
            yield self.joined(self.curve.agree(ec, point), pq.decapsulate(ciphertext))


class X25519Curve:
    point_bytes = 32

    def __init__(self):
        from cryptography.hazmat.primitives.asymmetric import x25519
        self.private, self.read = x25519.X25519PrivateKey, x25519.X25519PublicKey.from_public_bytes

    def generate(self):
        return self.private.generate()

    def public(self, key):
        return key.public_key().public_bytes_raw()

    def agree(self, key, point):
        return key.exchange(self.read(point))


class NistCurve:
    def __init__(self, name):
        from cryptography.hazmat.primitives import serialization as form
        from cryptography.hazmat.primitives.asymmetric import ec
        self.ec, self.curve = ec, getattr(ec, name)()
        self.form = form.Encoding.X962, form.PublicFormat.UncompressedPoint
        self.point_bytes = 1 + 2 * self.curve.key_size // 8

    def generate(self):
        return self.ec.generate_private_key(self.curve)

    def public(self, key):
        return key.public_key().public_bytes(*self.form)

    def agree(self, key, point):
        return key.exchange(self.ec.ECDH(), self.ec.EllipticCurvePublicKey.from_encoded_point(self.curve, point))


class Go:
    """The program of tests/interop/tls_go; Go has crypto/mlkem since 1.24."""

    def __init__(self, group, folder):
        self.group = group
        self.process = subprocess.Popen([go_program("tls_go", "1.24", folder)], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def answer(self, shares):
        answer = self.ask({"Group": self.group, "Shares": encoded(shares)})
        return (decoded(answer[name]) for name in ("Ciphertexts", "Secrets", "Shares"))

    def finish(self, ciphertexts):
        secrets = decoded(self.ask({"Ciphertexts": encoded(ciphertexts)}))
        self.process.communicate()
        return secrets


def encoded(records):
    return [base64.b64encode(record).decode() for record in records]


def decoded(texts):
    return list(map(base64.b64decode, texts))


def rows(records):
    return np.frombuffer(b"".join(records), np.uint8).reshape(len(records), -1)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("peer", [pytest.param(kind, marks=pytest.mark.long) for kind in (Pyca, Go)])
def test_both_ways(ctx, tmp_path, peer, group):
    pk, sk = ctx.keygen(group, PAIRS)
    theirs = peer(group, tmp_path)
    ciphertexts, secrets, shares = theirs.answer([share.tobytes() for share in pk])
    assert ctx.decaps(group, sk, rows(ciphertexts)).ss == rows(secrets)
    ct, ss, _ = ctx.encaps(group, rows(shares))
    assert ss == rows(list(theirs.finish([one.tobytes() for one in ct])))
