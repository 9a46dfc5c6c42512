# SPDX-License-Identifier: Apache-2.0
"""Suites of algorithms: keys, single messages, and the setup of contexts."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from .. import _core
from .._arrays import ByteArray, as_array, check_count, check_records, items_of
from .._batch import Errors
from .._context import Context
from .._errors import ArgumentError, ArgumentTypeError, SizeError
from .._messages import Listed, Messages, one_count
from .._results import KeyPairs
from .._secret import Secret, check_unwiped, secrets_of
from ._algorithms import TAG_BYTES, Aead, Kdf, Kem, algorithm
from ._contexts import Recipient, Sender
from ._messages import Bindings, OutputBuffer
from ._results import Opened, Sealed, check, check_errors, finish


class Suite:
    """A KEM, a key derivation function and a cipher.

    A suite may be used by several threads at once, and with any context.

    Parameters
    ----------
    kem : Kem, int or str
        "ML-KEM-512", "ML-KEM-768", "ML-KEM-1024", "MLKEM768-P256", "MLKEM1024-P384", or "MLKEM768-X25519", which is
        also called "X-Wing". "DHKEM(X25519, HKDF-SHA256)", also called "X25519", is for compatibility with older
        messages: it is not post-quantum.
    kdf : Kdf, int or str
        "HKDF-SHA256", "HKDF-SHA384", "HKDF-SHA512", "SHAKE128" or "SHAKE256".
    aead : Aead, int or str
        "AES-128-GCM", "AES-256-GCM" or "ChaCha20Poly1305"; with "Export-only", contexts export secrets and there are
        no messages.

    Raises
    ------
    ArgumentError
        There is no such algorithm.

    Examples
    --------
    >>> from polykem import hpke
    >>> suite = hpke.Suite(hpke.Kem.ML_KEM_768, hpke.Kdf.SHAKE256, hpke.Aead.AES_128_GCM)
    >>> suite.public_key_bytes, suite.secret_key_bytes, suite.enc_bytes
    (1184, 64, 1088)
    """

    def __init__(self, kem: Kem | int | str, kdf: Kdf | int | str, aead: Aead | int | str):
        self.kem: Kem = algorithm(Kem, kem, _core.hpke_kems())
        self.kdf: Kdf = algorithm(Kdf, kdf, _core.hpke_kdfs())
        self.aead: Aead = algorithm(Aead, aead, _core.hpke_aeads())
        self._core = _core.HpkeSuite(int(self.kem), int(self.kdf), int(self.aead))

    @property
    def public_key_bytes(self) -> int:
        """Bytes of a public key."""
        return self._core.public_key_bytes

    @property
    def secret_key_bytes(self) -> int:
        """Bytes of a secret key: d, z of ML-KEM, the seed of a hybrid, or the scalar of DHKEM."""
        return self._core.secret_key_bytes

    @property
    def enc_bytes(self) -> int:
        """Bytes of an encapsulation."""
        return self._core.enc_bytes

    @property
    def coin_bytes(self) -> int:
        """Random bytes that one encapsulation takes."""
        return self._core.coin_bytes

    def __repr__(self) -> str:
        return f"<polykem.hpke.Suite: {self.kem.name}, {self.kdf.name}, {self.aead.name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Suite) and self._numbers() == other._numbers()

    def __hash__(self) -> int:
        return hash(self._numbers())

    def __reduce__(self) -> Any:
        return Suite, tuple(map(int, self._numbers()))

    def _numbers(self) -> tuple[Kem, Kdf, Aead]:
        return self.kem, self.kdf, self.aead

    # ---- keys

    def generate(self, context: Context, count: int = 1) -> KeyPairs:
        """Make `count` key pairs of random bytes.

        Returns
        -------
        KeyPairs
            pk, uint8, (count, public_key_bytes); sk, Secret, (count, secret_key_bytes).
        """
        pk, sk = self._pairs(check_count(count))
        check(_core.hpke_generate(core_of(context), self._core, len(pk), pk, sk), "generating keys")
        return KeyPairs(pk, sk)

    def derive_key_pairs(self, context: Context, ikm: Any) -> KeyPairs:
        """Make key pairs of input key material: the drafts' DeriveKeyPair.

        Parameters
        ----------
        context : Context
        ikm : Secret or array, uint8, (n, bytes) or (bytes,)
            At least `secret_key_bytes` each, all of them entropy.

        Returns
        -------
        KeyPairs
            As `generate` makes them.

        Raises
        ------
        SizeError
            Records shorter than `secret_key_bytes`: whoever guesses one has the key.
        """
        array = as_array(ikm, "ikm")
        if array.ndim not in (1, 2) or array.shape[-1] < self.secret_key_bytes:
            raise SizeError(f"ikm has shape {array.shape}; pass (bytes,) or (n, bytes) with at least "
                            f"{self.secret_key_bytes} random bytes for a key of {self.kem.name}")
        count, record = items_of(array), array.shape[-1]
        pk, sk = self._pairs(check_count(count, "the number of records in ikm"))
        status = np.zeros(count, np.int32)
        check(_core.hpke_derive(core_of(context), self._core, count, array, record, pk, sk, status), "deriving keys")
        check_unwiped(secrets_of(ikm), "deriving keys")
        return finish("deriving keys", status, KeyPairs(pk, sk), "raise")

    def public_keys(self, context: Context, sk: Any) -> ByteArray:
        """Compute the public keys of secret keys.

        Parameters
        ----------
        context : Context
        sk : Secret or array, uint8, (n, secret_key_bytes) or (secret_key_bytes,)

        Returns
        -------
        numpy.ndarray
            uint8, (n, public_key_bytes).
        """
        array = as_array(sk, "sk")
        check_records(array, "sk", self.secret_key_bytes)
        count = items_of(array)
        pk, status = np.zeros((count, self.public_key_bytes), np.uint8), np.zeros(count, np.int32)
        check(_core.hpke_public_keys(core_of(context), self._core, count, array, pk, status), "public keys")
        check_unwiped(secrets_of(sk), "public keys")
        return finish("public keys", status, pk, "raise")

    def _pairs(self, count: int) -> tuple[ByteArray, Secret]:
        return np.zeros((count, self.public_key_bytes), np.uint8), Secret.zeros((count, self.secret_key_bytes))

    # ---- messages

    @overload
    def seal(self, context: Context, pk: Any, plaintexts: Listed, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", count: int | None = None, coins: Any = None,
             errors: Errors = "raise") -> Sealed[list[bytes]]: ...
    @overload
    def seal(self, context: Context, pk: Any, plaintexts: Any, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", count: int | None = None, coins: Any = None,
             errors: Errors = "raise") -> Sealed[ByteArray]: ...

    def seal(self, context: Context, pk: Any, plaintexts: Any, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", count: int | None = None, coins: Any = None,
             errors: Errors = "raise") -> Sealed[Any]:
        """Seal messages, each under an encapsulation of its own.

        Parameters
        ----------
        context : Context
        pk : array, uint8
            (n, public_key_bytes): message i is for key i. (public_key_bytes,): all are for one key.
        plaintexts : array, Secret, bytes, or list of bytes
            uint8, (n, width), or a list of any lengths: one for each item. One message, (width,) or bytes: the same for
            all items.
        info, aad : bytes, array of uint8, (n, width), or list of bytes
            What the key schedule and the cipher bind the messages to; one for all items, or one for each.
        psk, psk_id : the same, optional
            A pre-shared key of at least 32 bytes, and its identity.
        count : int, optional
            Number of items where neither `pk` nor `plaintexts` says it.
        coins : array, uint8, (n, coin_bytes), optional
            For tests: instead of random bytes. Messages under the same coins and key are no longer secret.
        errors : {"raise", "return"}
            What to do if items fail, after the others are done.

        Returns
        -------
        Sealed
            A pair, enc, uint8, (n, enc_bytes), and ciphertexts, uint8, (n, width + 16), or a list if `plaintexts` is
            one; and its attribute ``status``, int32, (n,).

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a public key is malformed. It carries the result.
        ArgumentError, SizeError, OutOfMemory, RandomError
        """
        check_errors(errors)
        bindings, data = Bindings(info, psk, psk_id), Messages.bound(aad, "aad")
        messages = Messages.of(plaintexts, "plaintexts")
        keys, items, random = self._sender_arguments(pk, coins, count, {
            "plaintexts": messages.count, "aad": data.count, **bindings.counts})
        enc, status = np.zeros((items, self.enc_bytes), np.uint8), np.zeros(items, np.int32)
        out = OutputBuffer(messages, items, TAG_BYTES, False)
        self._check_cipher()
        check(_core.hpke_seal(core_of(context), self._core, items, keys, keys.ndim == 1, *bindings.core, data.core,
                              messages.core, random, enc, out.core, status), "sealing")
        check_unwiped((*bindings.secrets, *secrets_of(pk, plaintexts, aad, coins)), "sealing")
        return finish("sealing", status, Sealed(enc, out.result, status), errors)

    @overload
    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Listed, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", errors: Errors = "raise") -> Opened[list[bytes]]: ...
    @overload
    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Any, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", errors: Errors = "raise") -> Opened[Secret]: ...

    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Any, info: Any = b"", aad: Any = b"", *,
             psk: Any = b"", psk_id: Any = b"", errors: Errors = "raise") -> Opened[Any]:
        """Open messages.

        Parameters
        ----------
        context : Context
        sk : Secret or array, uint8
            (n, secret_key_bytes): message i was sealed for key i. (secret_key_bytes,): all for one key.
        enc : array, uint8, (n, enc_bytes) or (enc_bytes,)
        ciphertexts : array, bytes, or list of bytes
            uint8, (n, width + 16), or a list of any lengths; one ciphertext, (width + 16,) or bytes, of one item.
        info, aad, psk, psk_id : bytes, array of uint8, (n, width), or list of bytes
            What the messages were sealed with.
        errors : {"raise", "return"}
            What to do if items fail, after the others are done.

        Returns
        -------
        Opened
            plaintexts, Secret, (n, width), or a list if `ciphertexts` is one; status, int32, (n,), an ``ItemStatus``
            for each. The message of an item that failed is zeros.

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a message was not sealed for this key, info and aad, or was changed. It carries the
            result.
        ArgumentError, SizeError, OutOfMemory
        """
        check_errors(errors)
        bindings, data = Bindings(info, psk, psk_id), Messages.bound(aad, "aad")
        messages = Messages.of(ciphertexts, "ciphertexts")
        keys, capsules, items = self._recipient_arguments(sk, enc, {
            "ciphertexts": messages.count or 1, "aad": data.count, **bindings.counts})
        status, out = np.zeros(items, np.int32), OutputBuffer(messages, items, -TAG_BYTES, True)
        self._check_cipher()
        check(_core.hpke_open(core_of(context), self._core, items, keys, keys.ndim == 1, *bindings.core, data.core,
                              capsules, messages.core, out.core, status), "opening")
        check_unwiped((*bindings.secrets, *secrets_of(sk, enc, ciphertexts, aad)), "opening")
        return finish("opening", status, Opened(out.result, status), errors)

    # ---- contexts

    def sender(self, context: Context, pk: Any, info: Any = b"", *, psk: Any = b"", psk_id: Any = b"",
               count: int | None = None, coins: Any = None, errors: Errors = "raise") -> Sender:
        """Set up a context for each item, to seal many messages or to export secrets.

        Parameters
        ----------
        context : Context
            For the setup; later calls use as many threads as it has.
        pk, info, psk, psk_id, count, coins, errors
            As `seal` takes them.

        Returns
        -------
        Sender
            Its ``enc`` goes to the recipients.
        """
        check_errors(errors)
        bindings = Bindings(info, psk, psk_id)
        keys, items, random = self._sender_arguments(pk, coins, count, bindings.counts)
        enc, status = np.zeros((items, self.enc_bytes), np.uint8), np.zeros(items, np.int32)
        made = _core.HpkeSender(core_of(context), self._core, items, keys, keys.ndim == 1, *bindings.core, random, enc,
                                status)
        check(made.failure, "setting up senders")
        check_unwiped((*bindings.secrets, *secrets_of(pk, coins)), "setting up senders")
        return finish("setting up senders", status, Sender(self, made, status, enc), errors)

    def recipient(self, context: Context, sk: Any, enc: Any, info: Any = b"", *, psk: Any = b"", psk_id: Any = b"",
                  errors: Errors = "raise") -> Recipient:
        """Set up a context for each encapsulation that a `sender` made.

        Parameters
        ----------
        context : Context
            For the setup; later calls use as many threads as it has.
        sk, enc, info, psk, psk_id, errors
            As `open` takes them.

        Returns
        -------
        Recipient
        """
        check_errors(errors)
        bindings = Bindings(info, psk, psk_id)
        keys, capsules, items = self._recipient_arguments(sk, enc, bindings.counts)
        status = np.zeros(items, np.int32)
        made = _core.HpkeRecipient(core_of(context), self._core, items, keys, keys.ndim == 1, *bindings.core, capsules,
                                   status)
        check(made.failure, "setting up recipients")
        check_unwiped((*bindings.secrets, *secrets_of(sk, enc)), "setting up recipients")
        return finish("setting up recipients", status, Recipient(self, made, status), errors)

    # ---- what calls have in common

    def _sender_arguments(self, pk: Any, coins: Any, count: int | None,
                          counts: dict[str, int | None]) -> tuple[ByteArray, int, ByteArray | None]:
        """Return (keys, number of items, coins)."""
        keys = as_array(pk, "pk")
        check_records(keys, "pk", self.public_key_bytes)
        items = one_count({"pk": None if keys.ndim == 1 else len(keys),
                            "count": None if count is None else check_count(count), **counts}, 1)
        random = None if coins is None else as_array(coins, "coins")
        if random is not None:
            check_records(random, "coins", self.coin_bytes, items)
        return keys, items, random

    def _recipient_arguments(self, sk: Any, enc: Any,
                             counts: dict[str, int | None]) -> tuple[ByteArray, ByteArray, int]:
        """Return (keys, encapsulations, number of items)."""
        keys, capsules = as_array(sk, "sk"), as_array(enc, "enc")
        check_records(keys, "sk", self.secret_key_bytes)
        check_records(capsules, "enc", self.enc_bytes)
        return keys, capsules, one_count({"sk": None if keys.ndim == 1 else len(keys), "enc": items_of(capsules),
                                           **counts}, 1)

    def _check_cipher(self) -> None:
        if self.aead is Aead.EXPORT_ONLY:
            raise ArgumentError("EXPORT_ONLY has no cipher for messages; sender() and recipient() export secrets")


def core_of(context: Any) -> Any:
    if not isinstance(context, Context):
        raise ArgumentTypeError(f"context is {type(context).__name__}; pass a polykem.Context")
    return context._core
