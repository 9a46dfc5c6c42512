# SPDX-License-Identifier: Apache-2.0
"""The results of the operations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import ByteArray, StatusArray
from ._secret import Secret


class KeyPairs(NamedTuple):
    """`count` key pairs."""

    pk: ByteArray  #: public keys, uint8, (count, public_key_bytes)
    sk: Secret  #: secret keys, (count, secret_key_bytes)


class Encapsulations(NamedTuple):
    """`count` ciphertexts and their shared secrets."""

    ct: ByteArray  #: uint8, (count, ciphertext_bytes)
    ss: Secret  #: (count, shared_secret_bytes)
    status: StatusArray  #: int32, (count,): 0, or what is wrong with the item, a Status


class Decapsulations(NamedTuple):
    """`count` shared secrets."""

    ss: Secret  #: (count, shared_secret_bytes)
    status: StatusArray  #: int32, (count,): 0, or what is wrong with the item, a Status


class Signatures(NamedTuple):
    """`count` signatures."""

    sig: ByteArray  #: uint8, (count, signature_bytes)
    status: StatusArray  #: int32, (count,): 0, or what is wrong with the item, a Status


class Verified(NamedTuple):
    """The result of `count` verifications."""

    status: StatusArray

    @property
    def valid(self) -> npt.NDArray[np.bool_]:
        return np.equal(self.status, 0)
