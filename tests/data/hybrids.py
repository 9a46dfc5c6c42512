#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes known answers of the hybrids: ML-KEM by polykem, which is tested with NIST's; curves by pyca/cryptography,
hashes by hashlib.

    python tests/data/hybrids.py    writes a file for each set here, and prints the entries of accumulated.json
"""

import hashlib
import json
import pathlib

import numpy as np
import polykem
from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = pathlib.Path(__file__).parent
CONTEXT = polykem.Context(backend="ref")


class Drbg:
    """AES-256 CTR_DRBG without a derivation function [SP80090A, 10.2.1], as NIST's PQCgenKAT has it."""

    def __init__(self, seed):
        self.key, self.value = bytes(32), 0
        self.update(seed)

    def blocks(self, count):
        out = b""
        encryptor = Cipher(algorithms.AES(self.key), modes.ECB()).encryptor()
        for _ in range(count):
            self.value = (self.value + 1) % 2**128
            out += encryptor.update(self.value.to_bytes(16, "big"))
        return out

    def update(self, seed=bytes(48)):
        fresh = bytes(a ^ b for a, b in zip(self.blocks(3), seed))
        self.key, self.value = fresh[:32], int.from_bytes(fresh[32:], "big")

    def generate(self, size):
        out = self.blocks(-(-size // 16))[:size]
        self.update()
        return out


class X25519:
    point_bytes = scalar_bytes = candidate_bytes = 32

    @staticmethod
    def scalar(seed):
        return seed

    @staticmethod
    def public(scalar):
        return x25519.X25519PrivateKey.from_private_bytes(scalar).public_key().public_bytes_raw()

    @staticmethod
    def secret(scalar, point):
        public = x25519.X25519PublicKey.from_public_bytes(point)
        return x25519.X25519PrivateKey.from_private_bytes(scalar).exchange(public)


class Nist:
    def __init__(self, curve, order, candidates):
        self.curve, self.order = curve, order
        self.scalar_bytes = (order.bit_length() + 7) // 8
        self.point_bytes, self.candidate_bytes = 2 * self.scalar_bytes + 1, candidates * self.scalar_bytes

    def scalar(self, seed):
        for at in range(0, len(seed), self.scalar_bytes):
            candidate = seed[at:at + self.scalar_bytes]
            if 0 < int.from_bytes(candidate, "big") < self.order:
                return candidate
        raise ValueError("no scalar")

    def key(self, scalar):
        return ec.derive_private_key(int.from_bytes(scalar, "big"), self.curve)

    def public(self, scalar):
        return self.key(scalar).public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def secret(self, scalar, point):
        return self.key(scalar).exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(self.curve, point))


P256 = Nist(ec.SECP256R1(), 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551, 3)
P384 = Nist(ec.SECP384R1(), int("ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf"
                                "581a0db248b0a77aecec196accc52973", 16), 1)


class Hybrid:
    """A hybrid of TLS [RFC10024] or, with a label, of HPKE [HYBRIDKEMS]."""

    def __init__(self, kem, curve, label=None, curve_first=False):
        self.kem, self.curve, self.label, self.curve_first = kem, curve, label, curve_first
        self.seed_bytes = 64 + curve.candidate_bytes
        self.keygen_coins = self.seed_bytes if label is None else 32
        self.encaps_coins = 32 + curve.candidate_bytes

    def join(self, kem, curve):
        return curve + kem if self.curve_first else kem + curve

    def split(self, record, curve_bytes):
        if self.curve_first:
            return record[curve_bytes:], record[:curve_bytes]
        return record[:-curve_bytes], record[-curve_bytes:]

    def expand(self, coins):
        seed = coins if self.label is None else hashlib.shake_256(coins).digest(self.seed_bytes)
        pair = CONTEXT.keygen(self.kem, coins=np.frombuffer(seed[:64], np.uint8).reshape(1, -1))
        return pair.pk.tobytes(), bytes(pair.sk), self.curve.scalar(seed[64:])

    def combine(self, kem_secret, curve_secret, ephemeral, recipient):
        if self.label is None:
            return self.join(kem_secret, curve_secret)
        return hashlib.sha3_256(kem_secret + curve_secret + ephemeral + recipient + self.label).digest()

    def keygen(self, coins):
        ek, dk, scalar = self.expand(coins)
        pk = self.join(ek, self.curve.public(scalar))
        return pk, (self.join(dk, scalar) if self.label is None else coins)

    def encaps(self, pk, coins):
        ek, recipient = self.split(pk, self.curve.point_bytes)
        made = CONTEXT.encaps(self.kem, np.frombuffer(ek, np.uint8).reshape(1, -1),
                              coins=np.frombuffer(coins[:32], np.uint8).reshape(1, -1))
        scalar = self.curve.scalar(coins[32:])
        ephemeral = self.curve.public(scalar)
        secret = self.combine(bytes(made.ss), self.curve.secret(scalar, recipient), ephemeral, recipient)
        return self.join(made.ct.tobytes(), ephemeral), secret

    def decaps(self, coins, ct):
        ek, dk, scalar = self.expand(coins)
        kem_ct, ephemeral = self.split(ct, self.curve.point_bytes)
        secret = bytes(CONTEXT.decaps(self.kem, np.frombuffer(dk, np.uint8).reshape(1, -1),
                                      np.frombuffer(kem_ct, np.uint8).reshape(1, -1)).ss)
        return self.combine(secret, self.curve.secret(scalar, ephemeral), ephemeral, self.curve.public(scalar))


SETS = {
    "x25519mlkem768": Hybrid("mlkem768", X25519),
    "secp256r1mlkem768": Hybrid("mlkem768", P256, curve_first=True),
    "secp384r1mlkem1024": Hybrid("mlkem1024", P384, curve_first=True),
    "mlkem768x25519": Hybrid("mlkem768", X25519, rb"\.//^\ "[:-1]),
    "mlkem768p256": Hybrid("mlkem768", P256, b"MLKEM768-P256"),
    "mlkem1024p384": Hybrid("mlkem1024", P384, b"MLKEM1024-P384"),
}


def known_answers(name, hybrid):
    counts, seeds = [], Drbg(bytes(range(48)))
    for count in range(10):
        seed = seeds.generate(48)
        drbg = Drbg(seed)
        keygen_coins, encaps_coins = drbg.generate(hybrid.keygen_coins), drbg.generate(hybrid.encaps_coins)
        pk, sk = hybrid.keygen(keygen_coins)
        ct, ss = hybrid.encaps(pk, encaps_coins)
        if hybrid.decaps(keygen_coins, ct) != ss:
            raise SystemExit(f"{name}: the sides differ")
        kem_at = hybrid.curve.point_bytes if hybrid.curve_first else 0
        reject = []
        for at in (0, 500, 1000):
            changed = bytearray(ct)
            changed[kem_at + at] ^= 1 << count % 8
            reject.append({"byte": kem_at + at, "xor": 1 << count % 8,
                           "ss": hybrid.decaps(keygen_coins, bytes(changed)).hex()})
        counts.append({"count": count, "seed": seed.hex(),
                       "keypair_draws": [keygen_coins.hex()], "encaps_draws": [encaps_coins.hex()],
                       "pk": pk.hex(), "sk": sk.hex(), "ct": ct.hex(), "ss": ss.hex(), "reject": reject})
    return {"name": name, "counts": counts}


def accumulated(hybrid, rounds=100):
    each = hybrid.keygen_coins + hybrid.encaps_coins
    stream = hashlib.shake_128().copy().digest(rounds * each)
    hashed = hashlib.shake_128()
    for i in range(rounds):
        coins = stream[i * each:(i + 1) * each]
        pk, sk = hybrid.keygen(coins[:hybrid.keygen_coins])
        ct, ss = hybrid.encaps(pk, coins[hybrid.keygen_coins:])
        for record in (pk, sk, ct, ss):
            hashed.update(record)
    return {"pk,sk,ct,ss": {str(rounds): hashed.digest(32).hex()}}


if __name__ == "__main__":
    for set_name, parts in SETS.items():
        text = json.dumps(known_answers(set_name, parts), separators=(",", ":"))
        (HERE / f"{set_name}.json").write_text(text + "\n", encoding="utf-8")
    print(json.dumps({set_name: accumulated(parts) for set_name, parts in SETS.items()}, indent=1))
