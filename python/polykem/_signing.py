# SPDX-License-Identifier: Apache-2.0
"""Batches that sign and verify."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _core
from ._arrays import check_records, items_of
from ._batch import (EXPANDED, PER_ITEM, SHARED, Batch, Errors, Keys, check_key_count, checked_errors, coins_of,
                     form_of, keys_of_set, refuse_index)
from ._device import check_host, place_of
from ._errors import ArgumentError, ArgumentTypeError, SizeError
from ._keyset import KeySet
from ._messages import Messages, Strings, one_count
from ._places import HOST
from ._results import Signatures, Verified
from ._scheme import SIGN, VERIFY, SignatureLike, SignatureScheme, as_signature
from ._secret import secrets_of

_MESSAGE, _DIGEST, _MU = range(3)
_MAX_CONTEXT_BYTES, _MU_BYTES = 255, 64

# The last byte of an object identifier below 2.16.840.1.101.3.4.2, and the bytes of a digest [FIPS204, 5.4.1].
_HASHES = {"sha224": (4, 28), "sha256": (1, 32), "sha384": (2, 48), "sha512": (3, 64), "sha512224": (5, 28),
           "sha512256": (6, 32), "sha3224": (7, 28), "sha3256": (8, 32), "sha3384": (9, 48), "sha3512": (10, 64),
           "shake128": (11, 32), "shake256": (12, 64)}
_HASH_NAMES = ("sha224, sha256, sha384, sha512, sha512_224, sha512_256, sha3_224, sha3_256, sha3_384, sha3_512, "
               "shake_128 (32 bytes), shake_256 (64 bytes)")


@dataclass(repr=False)
class Signed:
    """The messages of a batch, their digests or mu, with the contexts."""

    kind: int
    messages: Messages
    contexts: Messages
    oid: bytes

    @classmethod
    def of(cls, messages: Any, context: Any, prehash: str | None, mu: bool) -> Signed:
        for value, name in ((messages, "messages"), (context, "context")):
            if not isinstance(value, (list, tuple, Strings)):
                check_host(place_of(value), name)
        given, contexts = Messages.of(messages, "messages"), Messages.bound(context, "context")
        if contexts.longest > _MAX_CONTEXT_BYTES:
            raise SizeError(f"a context has {contexts.longest} bytes; at most {_MAX_CONTEXT_BYTES} are allowed")
        if mu:
            if prehash is not None or contexts.data is not None:
                raise ArgumentError("mu already contains the context and the hash of the message; pass neither context "
                                    "nor prehash")
            _check_width(given, _MU_BYTES, "mu")
            return cls(_MU, given, contexts, b"")
        if prehash is None:
            return cls(_MESSAGE, given, contexts, b"")
        number, width = _hash_named(prehash)
        _check_width(given, width, f"a digest of {prehash}")
        return cls(_DIGEST, given, contexts, bytes((6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, number)))

    @property
    def counts(self) -> dict[str, int | None]:
        return {"messages": self.messages.count, "context": self.contexts.count}

    def core(self, deterministic: bool) -> Any:
        return self.kind, self.messages.core, self.contexts.core, self.oid, deterministic


def _check_width(messages: Messages, width: int, what: str) -> None:
    if messages.shortest != width or messages.longest != width:
        wrong = messages.shortest if messages.shortest != width else messages.longest
        raise SizeError(f"messages has a string of {wrong} bytes; {what} has {width}")


def _hash_named(name: Any) -> tuple[int, int]:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"prehash must be the name of a hash, not {type(name).__name__}")
    plain = "".join(c for c in name.lower() if c.isalnum())
    found = _HASHES.get(plain) or _HASHES.get(plain.replace("sha2", "sha", 1))
    if found is None:
        raise ArgumentError(f"there is no hash {name!r}; there are {_HASH_NAMES}")
    return found


def _keys(scheme: SignatureScheme, keys: Any, name: str, kind: str, key_index: Any,
          counts: dict[str, int | None]) -> tuple[Keys, int, int]:
    """Return the keys, their form and the number of items, which the other arguments in `counts` must agree with."""
    if isinstance(keys, KeySet):
        wanted = one_count(counts, 0) or None
        found, count = keys_of_set(keys, scheme, kind, key_index, wanted)
        return found, EXPANDED, count
    check_host(place_of(keys), name)
    array = HOST.input(keys, name)
    refuse_index(key_index)
    wanted = one_count(counts, 0) or None
    if kind == "secret":
        form = form_of(scheme, array, wanted, "messages")
    else:
        form = EXPANDED
        check_records(array, name, scheme.public_key_bytes)
        check_key_count(array, name, "public keys", wanted, "signatures")
    shared = array.ndim == 1
    count = wanted or items_of(array)
    return Keys(SHARED if shared else PER_ITEM, array), form, count


def sign(scheme: SignatureLike, sk: Any, messages: Any, *, context: Any = b"", prehash: str | None = None,
         mu: bool = False, deterministic: bool = False, coins: Any = None, key_index: Any = None,
         errors: Errors = "raise") -> Batch[Signatures]:
    scheme = as_signature(scheme)
    signed = Signed.of(messages, context, prehash, mu)
    if deterministic and coins is not None:
        raise ArgumentError("deterministic signatures take no coins; pass one of the two")
    check_host(place_of(coins), "coins")
    drawn = None if coins is None else HOST.input(coins, "coins")
    coins_count = None if drawn is None or drawn.ndim != 2 else items_of(drawn)
    keys, form, count = _keys(scheme, sk, "sk", "secret", key_index, {**signed.counts, "coins": coins_count})
    drawn = coins_of(HOST, drawn, scheme.sign_coin_bytes, count)
    result = Signatures(HOST.empty((count, scheme.signature_bytes)), HOST.status(count, False))
    request = _core.Request(SIGN, scheme._index, count, {
        "sk": keys.array, "coins": drawn, "sig_out": result.sig}, secret_form=form, item_status=result.status,
        messages=signed.core(bool(deterministic)), **keys.fields())
    return Batch(f"{count} signatures of {scheme.name}", SIGN, scheme, count, HOST, request, result,
                 checked_errors(errors), secrets=secrets_of(sk, coins, messages))


def verify(scheme: SignatureLike, pk: Any, messages: Any, sig: Any, *, context: Any = b"", prehash: str | None = None,
           mu: bool = False, key_index: Any = None) -> Batch[Verified]:
    scheme = as_signature(scheme)
    signed = Signed.of(messages, context, prehash, mu)
    check_host(place_of(sig), "sig")
    sig = HOST.input(sig, "sig")
    check_records(sig, "sig", scheme.signature_bytes)
    keys, _, count = _keys(scheme, pk, "pk", "public", key_index, {**signed.counts, "sig": items_of(sig)})
    result = Verified(HOST.status(count, False))
    request = _core.Request(VERIFY, scheme._index, count, {
        "pk": keys.array, "sig": sig}, item_status=result.status, messages=signed.core(False), **keys.fields())
    return Batch(f"{count} verifications of {scheme.name}", VERIFY, scheme, count, HOST, request, result, "return",
                 secrets=secrets_of(sig, messages))
