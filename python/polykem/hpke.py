# SPDX-License-Identifier: Apache-2.0
"""Hybrid public key encryption in batches: RFC 9180 in base mode, one message under each encapsulation.

The KEMs and the SHAKE key schedule are those of draft-ietf-hpke-pq [HPKEPQ].

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

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Generic, Sequence, Tuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ByteArray, StatusArray, as_array, as_bytes, check_count, check_records, items_of
from ._context import Context, Errors
from ._errors import ArgumentError, ItemsError, SizeError, check
from ._results import KeyPairs
from ._secret import Secret, check_unwiped, secrets_of

if not hasattr(_core, "HpkeSuite"):
    raise ImportError("this polykem was built without OpenSSL 3, which HPKE needs; install libssl-dev and build again")

TAG_BYTES = _core.HPKE_TAG_BYTES


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


class ItemStatus(IntEnum):
    """What became of an item."""

    OK = 0
    PUBLIC_KEY = 8
    SECRET_KEY = 9
    INTERNAL = 14
    ENCAPSULATION = 101
    OPEN = 102

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
    def _of_list(cls, values: Sequence[Any], name: str) -> _Messages:
        if not values:
            raise ArgumentError(f"{name} is empty; a batch has at least one item")
        items = [as_bytes(value, f"{name}[{i}]") for i, value in enumerate(values)]
        lengths = np.fromiter(map(len, items), np.uint64, len(items))
        data = b"".join(items)
        return cls(data, len(data), begins=_begins(lengths), lengths=lengths, count=len(values))


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
        "ML-KEM-512", "ML-KEM-768", "ML-KEM-1024", "MLKEM768-P256", "MLKEM1024-P384" or "MLKEM768-X25519" (X-Wing).
    kdf : Kdf, int or str
        "HKDF-SHA256", "HKDF-SHA384", "HKDF-SHA512", "SHAKE128" or "SHAKE256".
    aead : Aead, int or str
        "AES-128-GCM", "AES-256-GCM" or "ChaCha20Poly1305".

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
             count: int | None = None, coins: Any = None, errors: Errors = "raise") -> Sealed[list[bytes]]: ...
    @overload
    def seal(self, context: Context, pk: Any, plaintexts: Any, info: Any = b"", aad: Any = b"", *,
             count: int | None = None, coins: Any = None, errors: Errors = "raise") -> Sealed[ByteArray]: ...

    def seal(self, context: Context, pk: Any, plaintexts: Any, info: Any = b"", aad: Any = b"", *,
             count: int | None = None, coins: Any = None, errors: Errors = "raise") -> Sealed[Any]:
        """Seal messages, each under an encapsulation of its own.

        Parameters
        ----------
        context : Context
        pk : array, uint8
            (n, public_key_bytes): message i is for key i. (public_key_bytes,): all are for one key.
        plaintexts : array, Secret, bytes, or list of bytes
            uint8, (n, width), or a list of any lengths: one for each item. One message, (width,) or bytes: the same for
            all items.
        info, aad : bytes, or an array of uint8
            What the key schedule and the cipher bind the messages to; the same for all.
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
        info, aad = as_bytes(info, "info"), as_bytes(aad, "aad")
        keys, messages = as_array(pk, "pk"), _Messages.of(plaintexts, "plaintexts")
        check_records(keys, "pk", self.public_key_bytes)
        shared = keys.ndim == 1
        items = _one_count({"pk": None if shared else len(keys), "plaintexts": messages.count,
                            "count": None if count is None else check_count(count)}, 1)
        random = None if coins is None else as_array(coins, "coins")
        if random is not None:
            check_records(random, "coins", self.coin_bytes, items)
        enc, status = np.zeros((items, self.enc_bytes), np.uint8), np.zeros(items, np.int32)
        begins: npt.NDArray[np.uint64] | None = None
        out: ByteArray
        if messages.lengths is None:
            out = np.zeros((items, messages.width + TAG_BYTES), np.uint8)
        else:
            begins = _begins(messages.lengths + np.uint64(TAG_BYTES))
            out = np.zeros(int(begins[-1]), np.uint8)
        check(_core.hpke_seal(context._core, self._core, items, keys, shared, info, aad, messages.data,
                              messages.bytes, messages.width, messages.begins, messages.count is None, random, enc, out,
                              out.nbytes, begins, status), "sealing")
        check_unwiped(secrets_of(pk, plaintexts, coins), "sealing")
        return _finish("sealing", status, Sealed(enc, out if begins is None else _split(out, begins), status), errors)

    @overload
    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Listed, info: Any = b"", aad: Any = b"", *,
             errors: Errors = "raise") -> Opened[list[bytes]]: ...
    @overload
    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Any, info: Any = b"", aad: Any = b"", *,
             errors: Errors = "raise") -> Opened[Secret]: ...

    def open(self, context: Context, sk: Any, enc: Any, ciphertexts: Any, info: Any = b"", aad: Any = b"", *,
             errors: Errors = "raise") -> Opened[Any]:
        """Open messages.

        Parameters
        ----------
        context : Context
        sk : Secret or array, uint8
            (n, secret_key_bytes): message i was sealed for key i. (secret_key_bytes,): all for one key.
        enc : array, uint8, (n, enc_bytes) or (enc_bytes,)
        ciphertexts : array, bytes, or list of bytes
            uint8, (n, width + 16), or a list of any lengths; one ciphertext, (width + 16,) or bytes, of one item.
        info, aad : bytes, or an array of uint8
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
        info, aad = as_bytes(info, "info"), as_bytes(aad, "aad")
        keys, capsules = as_array(sk, "sk"), as_array(enc, "enc")
        messages = _Messages.of(ciphertexts, "ciphertexts")
        check_records(keys, "sk", self.secret_key_bytes)
        check_records(capsules, "enc", self.enc_bytes)
        shared = keys.ndim == 1
        items = _one_count({"sk": None if shared else len(keys), "enc": items_of(capsules),
                            "ciphertexts": messages.count or 1}, 1)
        status, begins = np.zeros(items, np.int32), None
        if messages.lengths is None:
            out = Secret.zeros((items, max(messages.width - TAG_BYTES, 0)))
        else:
            lengths = messages.lengths
            begins = _begins(np.where(lengths < TAG_BYTES, np.uint64(0), lengths - np.uint64(TAG_BYTES)))
            out = Secret.zeros(int(begins[-1]))
        check(_core.hpke_open(context._core, self._core, items, keys, shared, info, aad, capsules,
                              messages.data, messages.bytes, messages.width, messages.begins, out, out.nbytes, begins,
                              status), "opening")
        check_unwiped(secrets_of(sk, enc, ciphertexts), "opening")
        return _finish("opening", status, Opened(out if begins is None else _split(out, begins), status), errors)


def __dir__() -> list[str]:
    return __all__


__all__ = ["TAG_BYTES", "Aead", "ItemStatus", "Kdf", "Kem", "Opened", "Sealed", "Suite"]
