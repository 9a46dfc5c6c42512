# SPDX-License-Identifier: Apache-2.0
"""Hybrid public key encryption in batches: RFC 9180 in the modes base and PSK.

`Suite.seal` and `Suite.open` have one message under each encapsulation; `Suite.sender` and `Suite.recipient` make
contexts for many, and for exported secrets. The KEMs and the SHAKE key schedule are those of draft-ietf-hpke-pq
[HPKEPQ].

>>> import polykem
>>> from polykem import hpke
>>> ctx = polykem.Context(threads=1)
>>> suite = hpke.Suite("MLKEM768-X25519", "HKDF-SHA256", "AES-256-GCM")
>>> pk, sk = suite.generate(ctx, 3)
>>> enc, ciphertexts = suite.seal(ctx, pk, [b"to Ada", b"to Grace", b"to Emmy"], info=b"letters")
>>> suite.open(ctx, sk, enc, ciphertexts, info=b"letters").plaintexts
[b'to Ada', b'to Grace', b'to Emmy']
"""

from .. import _core

if not hasattr(_core, "HpkeSuite"):
    raise ImportError("this polykem was built without OpenSSL 3, which HPKE needs; install libssl-dev and build again")

from ._algorithms import MIN_PSK_BYTES, TAG_BYTES, Aead, Kdf, Kem
from ._contexts import Recipient, Sender
from ._results import ItemStatus, Opened, Sealed
from ._suite import Suite

__all__ = ["MIN_PSK_BYTES", "TAG_BYTES", "Aead", "ItemStatus", "Kdf", "Kem", "Opened", "Recipient", "Sealed", "Sender",
           "Suite"]


def __dir__() -> list[str]:
    return __all__
