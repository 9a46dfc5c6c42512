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

from __future__ import annotations

import contextlib
import os
import threading
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Iterator, Sequence, Tuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ByteArray, StatusArray, as_array, as_bytes, check_count, check_records, items_of
from ._context import Context, Errors
from ._errors import ArgumentError, BusyError, ItemsError, SizeError, Status, check
from ._results import KeyPairs
from ._secret import Secret, check_unwiped, secrets_of

if not hasattr(_core, "HpkeSuite"):
    raise ImportError("this polykem was built without OpenSSL 3, which HPKE needs; install libssl-dev and build again")

TAG_BYTES = _core.HPKE_TAG_BYTES
MIN_PSK_BYTES = _core.HPKE_MIN_PSK_BYTES


class Kem(IntEnum):
    """KEMs, by their number in IANA's registry."""

    ML_KEM_512 = 0x0040
    ML_KEM_768 = 0x0041
    ML_KEM_1024 = 0x0042
    MLKEM768_P256 = 0x0050
    MLKEM1024_P384 = 0x0051
    MLKEM768_X25519 = 0x647A


class Kdf(IntEnum):
    """Key derivation functions, by their number in IANA's registry."""

    HKDF_SHA256 = 0x0001
    HKDF_SHA384 = 0x0002
    HKDF_SHA512 = 0x0003
    SHAKE128 = 0x0010
    SHAKE256 = 0x0011


class Aead(IntEnum):
    """Ciphers, by their number in IANA's registry."""

    AES_128_GCM = 0x0001
    AES_256_GCM = 0x0002
    CHACHA20_POLY1305 = 0x0003
    EXPORT_ONLY = 0xFFFF


class ItemStatus(IntEnum):
    """What became of an item."""

    OK = 0
    PUBLIC_KEY = 8
    SECRET_KEY = 9
    INTERNAL = 14
    ENCAPSULATION = 101
    OPEN = 102
    NUMBER = 103

    @property
    def text(self) -> str:
        """A short English sentence."""
        return _core.hpke_status_text(int(self))


Ciphertexts = TypeVar("Ciphertexts")  # an array, or a list of bytes where the messages were one
Plaintexts = TypeVar("Plaintexts")
Listed = Union["list[Any]", "tuple[Any, ...]"]
Number = TypeVar("Number", bound=IntEnum)
T = TypeVar("T")


class Sealed(Tuple[ByteArray, Ciphertexts], Generic[Ciphertexts]):
    """Two arrays, ``enc, ciphertexts = suite.seal(...)``, and a status beside them.

    Attributes
    ----------
    enc : numpy.ndarray
        uint8, (n, enc_bytes).
    ciphertexts : numpy.ndarray or list of bytes
        uint8, (n, width + 16); a list where the messages were one.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` for each item.
    """

    status: StatusArray

    def __new__(cls, enc: ByteArray, ciphertexts: Ciphertexts, status: StatusArray) -> Sealed[Ciphertexts]:
        self = super().__new__(cls, (enc, ciphertexts))
        self.status = status
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.enc, self.ciphertexts, self.status

    @property
    def enc(self) -> ByteArray:
        """Encapsulations."""
        return self[0]

    @property
    def ciphertexts(self) -> Ciphertexts:
        """Ciphertexts, each with its tag at the end."""
        return self[1]

    def __repr__(self) -> str:
        return f"<polykem.hpke.Sealed: {len(self.enc)} messages>"


class Opened(Tuple[Plaintexts, StatusArray], Generic[Plaintexts]):
    """Messages that were opened: ``plaintexts, status = suite.open(...)``.

    Attributes
    ----------
    plaintexts : Secret or list of bytes
        Secret, (n, width); a list where the ciphertexts were one.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` for each item.
    """

    def __new__(cls, plaintexts: Plaintexts, status: StatusArray) -> Opened[Plaintexts]:
        return super().__new__(cls, (plaintexts, status))

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.plaintexts, self.status

    @property
    def plaintexts(self) -> Plaintexts:
        """Messages."""
        return self[0]

    @property
    def status(self) -> StatusArray:
        """int32, (n,): an ``ItemStatus`` for each item."""
        return self[1]

    def __repr__(self) -> str:
        return f"<polykem.hpke.Opened: {len(self.status)} messages>"


@dataclass(repr=False)
class _Messages:
    """Messages of a batch: records of one width, or offsets where they were a list; or one for all items."""

    data: Any
    bytes: int
    width: int = 0
    begins: npt.NDArray[np.uint64] | None = None
    lengths: npt.NDArray[np.uint64] | None = None
    count: int | None = None  # None: one for all

    @classmethod
    def of(cls, value: Any, name: str) -> _Messages:
        if isinstance(value, (list, tuple)):
            return cls._of_list(value, name)
        array = as_array(value, name)
        if array.ndim == 1:
            return cls(array, array.nbytes, width=array.nbytes)
        if array.ndim != 2 or array.shape[0] == 0:
            raise ArgumentError(f"{name} has shape {array.shape}; pass (n, bytes), one message, or a list of bytes")
        return cls(array, array.nbytes, width=array.shape[1], count=array.shape[0])

    @classmethod
    def bound(cls, value: Any, name: str) -> _Messages:
        """The same for what messages are bound to: none, where a value has no bytes."""
        if isinstance(value, (list, tuple, Secret)) or getattr(value, "ndim", 1) == 2:
            return cls.of(value, name)
        data = as_bytes(value, name)
        return cls(data or None, len(data), width=len(data))

    @property
    def core(self) -> tuple[Any, int, int, npt.NDArray[np.uint64] | None, bool]:
        """As the extension takes them."""
        return self.data, self.bytes, self.width, self.begins, self.count is None

    @property
    def shortest(self) -> int:
        return self.width if self.lengths is None else int(self.lengths.min())

    @classmethod
    def _of_list(cls, values: Sequence[Any], name: str) -> _Messages:
        if not values:
            raise ArgumentError(f"{name} is empty; a batch has at least one item")
        items = [as_bytes(value, f"{name}[{i}]") for i, value in enumerate(values)]
        lengths = np.fromiter(map(len, items), np.uint64, len(items))
        data = b"".join(items)
        return cls(data, len(data), begins=_begins(lengths), lengths=lengths, count=len(values))


class _Bindings:
    """Info and pre-shared keys of a call."""

    def __init__(self, info: Any, psk: Any, psk_id: Any) -> None:
        self.secrets = secrets_of(info, psk, psk_id)
        self.info, self.psk, self.psk_id = (_Messages.bound(value, name) for value, name in
                                            ((info, "info"), (psk, "psk"), (psk_id, "psk_id")))
        if self.psk.data is None and self.psk_id.data is None:
            return
        if self.psk.data is None or self.psk_id.data is None or not self.psk_id.shortest:
            raise ArgumentError("a pre-shared key comes with its identity: pass both psk and psk_id, or neither")
        if self.psk.shortest < MIN_PSK_BYTES:
            raise SizeError(f"psk has {self.psk.shortest} bytes; a pre-shared key has at least {MIN_PSK_BYTES}, all of "
                            "them entropy")

    @property
    def counts(self) -> dict[str, int | None]:
        return {"info": self.info.count, "psk": self.psk.count, "psk_id": self.psk_id.count}

    @property
    def core(self) -> tuple[Any, Any, Any]:
        return self.info.core, self.psk.core, self.psk_id.core


class _Place:
    """Memory for what a call writes for messages: an array, or parts of one buffer where they were a list."""

    def __init__(self, messages: _Messages, items: int, difference: int, secret: bool) -> None:
        zeros: Any = Secret.zeros if secret else lambda shape: np.zeros(shape, np.uint8)
        self.begins: npt.NDArray[np.uint64] | None = None
        self.width = max(messages.width + difference, 0)
        if messages.lengths is None:
            self.data = zeros((items, self.width))
        else:
            self.begins = _begins(np.maximum(messages.lengths.astype(np.int64) + difference, 0).astype(np.uint64))
            self.data = zeros(int(self.begins[-1]))

    @property
    def core(self) -> tuple[Any, int, int, npt.NDArray[np.uint64] | None, bool]:
        return self.data, self.data.nbytes, self.width, self.begins, False

    @property
    def result(self) -> Any:
        return self.data if self.begins is None else _split(self.data, self.begins)


def _begins(lengths: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    begins = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(lengths, out=begins[1:])
    return begins


def _split(data: Any, begins: npt.NDArray[np.uint64]) -> list[bytes]:
    view, ends = memoryview(data), begins.tolist()
    return [bytes(view[first:last]) for first, last in zip(ends, ends[1:])]


def _member(kind: type[Number], value: Any, names: list[tuple[int, str]]) -> Number:
    """The number that a member, a number or a name stands for; case, "-" and "_" of a name do not matter."""
    if isinstance(value, str):
        known = {_plain(name): number for number, name in names}
        known.update({_plain(member.name): int(member) for member in kind})
        if _plain(value) not in known:
            raise ArgumentError(f"no {kind.__name__} {value!r}; there are {', '.join(name for _, name in names)}")
        return kind(known[_plain(value)])
    try:
        return kind(value)
    except ValueError:
        raise ArgumentError(f"no {kind.__name__} {value!r}; there are {', '.join(map(str, list(kind)))}") from None


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _one_count(what: dict[str, int | None], default: int) -> int:
    """The number of items that the arguments agree on."""
    counts = {name: count for name, count in what.items() if count is not None}
    if len(set(counts.values())) > 1:
        raise ArgumentError("different numbers of items: " + ", ".join(f"{n} has {c}" for n, c in counts.items()))
    return next(iter(counts.values()), default)


def _finish(what: str, status: StatusArray, result: T, errors: str) -> T:
    bad = np.flatnonzero(status)
    if errors == "return" or not len(bad):
        return result
    first = ", ".join(f"{i}: {ItemStatus(int(status[i])).text}" for i in bad[:3])
    more = ", ..." if len(bad) > 3 else ""
    raise ItemsError(f"{what}: {len(bad)} of {len(status)} items failed ({first}{more}); the others are in .result, "
                     'and errors="return" returns them without an exception', status, result)


def _check_errors(errors: str) -> None:
    if errors not in ("raise", "return"):
        raise ArgumentError(f'errors is {errors!r}; it is "raise" or "return"')


class Suite:
    """A KEM, a key derivation function and a cipher.

    A suite may be used by several threads at once, and with any context.

    Parameters
    ----------
    kem : Kem, int or str
        "ML-KEM-512", "ML-KEM-768", "ML-KEM-1024", "MLKEM768-P256", "MLKEM1024-P384", or "MLKEM768-X25519", which is
        also called "X-Wing".
    kdf : Kdf, int or str
        "HKDF-SHA256", "HKDF-SHA384", "HKDF-SHA512", "SHAKE128" or "SHAKE256".
    aead : Aead, int or str
        "AES-128-GCM", "AES-256-GCM" or "ChaCha20Poly1305"; "Export-only" has contexts that export secrets, and no
        messages.

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
        self.kem: Kem = _member(Kem, kem, _core.hpke_kems())
        self.kdf: Kdf = _member(Kdf, kdf, _core.hpke_kdfs())
        self.aead: Aead = _member(Aead, aead, _core.hpke_aeads())
        self._core = _core.HpkeSuite(int(self.kem), int(self.kdf), int(self.aead))

    @property
    def public_key_bytes(self) -> int:
        """Bytes of a public key."""
        return self._core.public_key_bytes

    @property
    def secret_key_bytes(self) -> int:
        """Bytes of a secret key, which is a seed: d, z of ML-KEM, or the 32 bytes of a hybrid."""
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
        check(_core.hpke_generate(context._core, self._core, len(pk), pk, sk), "generating keys")
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
        check(_core.hpke_derive(context._core, self._core, count, array, record, pk, sk, status), "deriving keys")
        check_unwiped(secrets_of(ikm), "deriving keys")
        return _finish("deriving keys", status, KeyPairs(pk, sk), "raise")

    def public_keys(self, context: Context, sk: Any) -> ByteArray:
        """The public keys of secret keys.

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
        check(_core.hpke_public_keys(context._core, self._core, count, array, pk, status), "public keys")
        check_unwiped(secrets_of(sk), "public keys")
        return _finish("public keys", status, pk, "raise")

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
            What happens if items fail, after the others are done.

        Returns
        -------
        Sealed
            A pair, enc, uint8, (n, enc_bytes), and ciphertexts, uint8, (n, width + 16), or a list where the messages
            were one; and its attribute ``status``, int32, (n,).

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a public key is malformed. It carries the result.
        ArgumentError, SizeError, OutOfMemory, RandomError
        """
        _check_errors(errors)
        bindings, data = _Bindings(info, psk, psk_id), _Messages.bound(aad, "aad")
        messages = _Messages.of(plaintexts, "plaintexts")
        keys, items, random = self._sender_arguments(pk, coins, count, {
            "plaintexts": messages.count, "aad": data.count, **bindings.counts})
        enc, status = np.zeros((items, self.enc_bytes), np.uint8), np.zeros(items, np.int32)
        out = _Place(messages, items, TAG_BYTES, False)
        self._check_cipher()
        check(_core.hpke_seal(context._core, self._core, items, keys, keys.ndim == 1, *bindings.core, data.core,
                              messages.core, random, enc, out.core, status), "sealing")
        check_unwiped((*bindings.secrets, *secrets_of(pk, plaintexts, aad, coins)), "sealing")
        return _finish("sealing", status, Sealed(enc, out.result, status), errors)

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
            What happens if items fail, after the others are done.

        Returns
        -------
        Opened
            plaintexts, Secret, (n, width), or a list where the ciphertexts were one; status, int32, (n,), an
            ``ItemStatus`` each. Of an item that failed the message is zeros.

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a message was not sealed for this key, info and aad, or was changed. It carries the
            result.
        ArgumentError, SizeError, OutOfMemory
        """
        _check_errors(errors)
        bindings, data = _Bindings(info, psk, psk_id), _Messages.bound(aad, "aad")
        messages = _Messages.of(ciphertexts, "ciphertexts")
        keys, capsules, items = self._recipient_arguments(sk, enc, {
            "ciphertexts": messages.count or 1, "aad": data.count, **bindings.counts})
        status, out = np.zeros(items, np.int32), _Place(messages, items, -TAG_BYTES, True)
        self._check_cipher()
        check(_core.hpke_open(context._core, self._core, items, keys, keys.ndim == 1, *bindings.core, data.core,
                              capsules, messages.core, out.core, status), "opening")
        check_unwiped((*bindings.secrets, *secrets_of(sk, enc, ciphertexts, aad)), "opening")
        return _finish("opening", status, Opened(out.result, status), errors)

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
        _check_errors(errors)
        bindings = _Bindings(info, psk, psk_id)
        keys, items, random = self._sender_arguments(pk, coins, count, bindings.counts)
        enc, status = np.zeros((items, self.enc_bytes), np.uint8), np.zeros(items, np.int32)
        made = _core.HpkeSender(context._core, self._core, items, keys, keys.ndim == 1, *bindings.core, random, enc,
                                status)
        check(made.failure, "setting up senders")
        check_unwiped((*bindings.secrets, *secrets_of(pk, coins)), "setting up senders")
        return _finish("setting up senders", status, Sender(self, made, status, enc), errors)

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
        _check_errors(errors)
        bindings = _Bindings(info, psk, psk_id)
        keys, capsules, items = self._recipient_arguments(sk, enc, bindings.counts)
        status = np.zeros(items, np.int32)
        made = _core.HpkeRecipient(context._core, self._core, items, keys, keys.ndim == 1, *bindings.core, capsules,
                                   status)
        check(made.failure, "setting up recipients")
        check_unwiped((*bindings.secrets, *secrets_of(sk, enc)), "setting up recipients")
        return _finish("setting up recipients", status, Recipient(self, made, status), errors)

    # ---- what calls have in common

    def _sender_arguments(self, pk: Any, coins: Any, count: int | None,
                          counts: dict[str, int | None]) -> tuple[ByteArray, int, ByteArray | None]:
        """(keys, number of items, coins)."""
        keys = as_array(pk, "pk")
        check_records(keys, "pk", self.public_key_bytes)
        items = _one_count({"pk": None if keys.ndim == 1 else len(keys),
                            "count": None if count is None else check_count(count), **counts}, 1)
        random = None if coins is None else as_array(coins, "coins")
        if random is not None:
            check_records(random, "coins", self.coin_bytes, items)
        return keys, items, random

    def _recipient_arguments(self, sk: Any, enc: Any,
                             counts: dict[str, int | None]) -> tuple[ByteArray, ByteArray, int]:
        """(keys, encapsulations, number of items)."""
        keys, capsules = as_array(sk, "sk"), as_array(enc, "enc")
        check_records(keys, "sk", self.secret_key_bytes)
        check_records(capsules, "enc", self.enc_bytes)
        return keys, capsules, _one_count({"sk": None if keys.ndim == 1 else len(keys), "enc": items_of(capsules),
                                           **counts}, 1)

    def _check_cipher(self) -> None:
        if self.aead is Aead.EXPORT_ONLY:
            raise ArgumentError("EXPORT_ONLY has no cipher for messages; sender() and recipient() export secrets")


class _Contexts:
    """What both sides' contexts are."""

    def __init__(self, suite: Suite, made: Any, status: StatusArray) -> None:
        self.suite, self.status, self._core, self._process = suite, status, made, os.getpid()
        self._in_use = threading.Lock()

    def __len__(self) -> int:
        return len(self.status)

    def __repr__(self) -> str:
        return f"<polykem.hpke.{type(self).__name__}: {len(self)} contexts of {self.suite!r}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("contexts are neither pickled nor copied: a copy would use the same nonces again")

    @contextlib.contextmanager
    def _turn(self, what: str) -> Iterator[None]:
        """A whole call's turn: the core takes turns too, but for each piece of a long call."""
        if not self._in_use.acquire(blocking=False):
            error = BusyError(f"{what}: another thread is using these contexts, and one at a time may")
            error.status = Status.BUSY
            raise error
        try:
            yield
        finally:
            self._in_use.release()

    @property
    def numbers(self) -> npt.NDArray[np.uint64]:
        """uint64, (n,): the number of each context's next message."""
        out = np.zeros(len(self), np.uint64)
        with self._turn("reading the numbers"):
            self._core.numbers(out)
        return out

    def skip_to(self, number: int) -> None:
        """Go on at a message number, wherever a context is before it: the messages in between are lost."""
        if not 0 <= number < 1 << 64:
            raise ArgumentError(f"number is {number}; message numbers have 64 bits")
        with self._turn("skipping messages"):
            self._core.skip_to(number)

    def export(self, exporter_context: Any, length: int, *, errors: Errors = "raise") -> Secret:
        """Export a secret from each context: the same on both sides.

        Parameters
        ----------
        exporter_context : bytes, array of uint8, (n, width), or list of bytes
            What the secrets are for; one for all contexts, or one for each.
        length : int
            Bytes of a secret; at most 255 hashes with HKDF, 65,535 with SHAKE.
        errors : {"raise", "return"}
            What happens if the setup of contexts had failed. Their secrets are zeros.

        Returns
        -------
        Secret
            (n, length).
        """
        _check_errors(errors)
        contexts = _Messages.bound(exporter_context, "exporter_context")
        most = self.suite._core.max_export_bytes
        if not 1 <= length <= most:
            raise SizeError(f"length is {length}; a context of {self.suite.kdf.name} exports 1 to {most} bytes")
        _one_count({"exporter_context": contexts.count, "the contexts": len(self)}, 1)
        out, status = Secret.zeros((len(self), length)), np.zeros(len(self), np.int32)
        with self._turn("exporting"):
            check(self._core.export_secrets(contexts.core, length, out, status), "exporting")
        check_unwiped(secrets_of(exporter_context), "exporting")
        return _finish("exporting", status, out, errors)


class Sender(_Contexts):
    """Contexts that seal messages: number 0, 1, 2, ... of each item. `Suite.sender` makes them.

    One thread at a time may use them; a second one gets an error. They do not seal in a forked process, where nonces
    would be used twice. Their keys are overwritten when they are released.

    Attributes
    ----------
    enc : numpy.ndarray
        uint8, (n, enc_bytes): what the recipients need.
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` of each setup.

    Examples
    --------
    >>> import polykem
    >>> from polykem import hpke
    >>> ctx = polykem.Context(threads=1)
    >>> suite = hpke.Suite("X-Wing", "HKDF-SHA256", "AES-256-GCM")
    >>> pk, sk = suite.generate(ctx, 2)
    >>> sender = suite.sender(ctx, pk, info=b"chat")
    >>> recipient = suite.recipient(ctx, sk, sender.enc, info=b"chat")
    >>> recipient.open(sender.seal([b"hello", b"ahoy"])).plaintexts
    [b'hello', b'ahoy']
    >>> recipient.open(sender.seal(b"more")).plaintexts.shape
    (2, 4)
    >>> sender.export(b"a key", 32) == recipient.export(b"a key", 32)
    True
    """

    def __init__(self, suite: Suite, made: Any, status: StatusArray, enc: ByteArray) -> None:
        super().__init__(suite, made, status)
        self.enc = enc

    @overload
    def seal(self, plaintexts: Listed, aad: Any = b"", *, errors: Errors = "raise") -> list[bytes]: ...
    @overload
    def seal(self, plaintexts: Any, aad: Any = b"", *, errors: Errors = "raise") -> ByteArray: ...

    def seal(self, plaintexts: Any, aad: Any = b"", *, errors: Errors = "raise") -> Any:
        """Seal the next message of every context.

        Parameters
        ----------
        plaintexts, aad
            As `Suite.seal` takes them.
        errors : {"raise", "return"}
            What happens if items fail, after the others are done. Their ciphertexts are zeros.

        Returns
        -------
        numpy.ndarray or list of bytes
            uint8, (n, width + 16); a list where the messages were one.
        """
        _check_errors(errors)
        self.suite._check_cipher()
        if os.getpid() != self._process:
            raise ArgumentError("a sender does not seal in a forked process, where nonces would be used twice; make a "
                                "new one there")
        messages, data = _Messages.of(plaintexts, "plaintexts"), _Messages.bound(aad, "aad")
        _one_count({"plaintexts": messages.count, "aad": data.count, "the contexts": len(self)}, 1)
        status, out = np.zeros(len(self), np.int32), _Place(messages, len(self), TAG_BYTES, False)
        with self._turn("sealing"):
            check(self._core.seal(data.core, messages.core, out.core, status), "sealing")
        check_unwiped(secrets_of(plaintexts, aad), "sealing")
        return _finish("sealing", status, out.result, errors)


class Recipient(_Contexts):
    """Contexts that open what a `Sender` sealed, in its order or by number. `Suite.recipient` makes them.

    One thread at a time may use them; a second one gets an error. Their keys are overwritten when they are released.

    Attributes
    ----------
    status : numpy.ndarray
        int32, (n,): an ``ItemStatus`` of each setup.
    """

    @overload
    def open(self, ciphertexts: Listed, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[list[bytes]]: ...
    @overload
    def open(self, ciphertexts: Any, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[Secret]: ...

    def open(self, ciphertexts: Any, aad: Any = b"", *, numbers: Any = None,
             errors: Errors = "raise") -> Opened[Any]:
        """Open the next message of every context.

        A message that does not open is not counted: the context's number stays.

        Parameters
        ----------
        ciphertexts, aad
            As `Suite.open` takes them.
        numbers : int, or array of whole numbers, (n,), optional
            Open the messages with these numbers instead; the contexts' own numbers stay.
        errors : {"raise", "return"}
            What happens if items fail, after the others are done.

        Returns
        -------
        Opened
            As `Suite.open` returns it.
        """
        _check_errors(errors)
        self.suite._check_cipher()
        messages, data = _Messages.of(ciphertexts, "ciphertexts"), _Messages.bound(aad, "aad")
        _one_count({"ciphertexts": messages.count or 1, "aad": data.count, "the contexts": len(self)}, 1)
        wanted = None if numbers is None else _message_numbers(numbers, len(self))
        status, out = np.zeros(len(self), np.int32), _Place(messages, len(self), -TAG_BYTES, True)
        with self._turn("opening"):
            check(self._core.open(data.core, messages.core, wanted, out.core, status), "opening")
        check_unwiped(secrets_of(ciphertexts, aad), "opening")
        return _finish("opening", status, Opened(out.result, status), errors)


def _message_numbers(numbers: Any, count: int) -> npt.NDArray[np.uint64]:
    array = np.asarray(numbers)
    if array.dtype.kind not in "iu" or array.shape not in ((), (count,)) or (array < 0).any():
        raise ArgumentError(f"numbers are {array.dtype} of shape {array.shape}; pass one message number or {count}")
    return np.ascontiguousarray(np.broadcast_to(array.astype(np.uint64), (count,)))


def __dir__() -> list[str]:
    return __all__


__all__ = ["MIN_PSK_BYTES", "TAG_BYTES", "Aead", "ItemStatus", "Kdf", "Kem", "Opened", "Recipient", "Sealed", "Sender",
           "Suite"]
