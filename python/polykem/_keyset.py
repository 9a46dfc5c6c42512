# SPDX-License-Identifier: Apache-2.0
"""Keys that stay where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._arrays import ByteArray, check_count, check_records, items_of
from ._device import check_host, place_of
from ._errors import ArgumentError, check
from ._places import HOST
from ._scheme import AnySet, AnySetLike, SignatureScheme, as_set
from ._secret import check_unwiped, secrets_of

if TYPE_CHECKING:
    from ._context import Context

_KINDS = ("public", "secret", "seed")


class KeySet:
    """Keys in the memory of a context: the GPU's, or the host's in a form that saves work when a key is used again.

    They are zeroized when the set ends: with its last reference, at ``close()`` or at the end of a ``with`` block. A
    running batch keeps its set until it is done.

    Parameters
    ----------
    context : Context
    scheme : Scheme, SignatureScheme or str
    keys : array, uint8, (n, bytes) or (bytes,)
        Public keys, secret keys or seeds of secret keys; copied. A malformed key is reported when an item uses it.
    kind : {"public", "secret", "seed"}, optional
        None: determined by the size of the records.

    Raises
    ------
    ArgumentError, SizeError, OutOfMemory

    Examples
    --------
    >>> import polykem
    >>> ctx = polykem.Context(threads=1)
    >>> secret, pk = polykem.KeySet.generate(ctx, "mlkem768", 2)
    >>> secret
    <polykem.KeySet: 2 secret keys of mlkem768>
    >>> ct, ss, _ = ctx.encaps("mlkem768", pk[1], 5)
    >>> ctx.decaps("mlkem768", secret, ct, key_index=1).ss == ss
    True
    """

    def __init__(self, context: Context, scheme: AnySetLike, keys: Any, kind: str | None = None):
        self.scheme: AnySet = as_set(scheme)
        place = place_of(keys)
        if isinstance(self.scheme, SignatureScheme):
            check_host(place, "keys")
        array = place.input(keys, "keys")
        kind = _kind_of(self.scheme, array, kind)
        record = {"public": self.scheme.public_key_bytes, "secret": self.scheme.secret_key_bytes,
                  "seed": self.scheme.secret_seed_bytes}[kind]
        check_records(array, "keys", record)
        place.prepare(context, self.scheme)
        self._core = _core.KeySet(context._core, self.scheme._index, _KINDS.index(kind), items_of(array),
                                  place.lend(array))
        check(self._core.status, f"a key set of {self.scheme.name}")
        try:
            check_unwiped(secrets_of(keys), f"a key set of {self.scheme.name}")
        except ArgumentError:
            self.close()
            raise
        #: "public" or "secret"
        self.kind: str = "public" if kind == "public" else "secret"

    @classmethod
    def generate(cls, context: Context, scheme: AnySetLike, count: int) -> tuple[KeySet, ByteArray]:
        """Make `count` key pairs, whose secret keys never leave the set.

        Returns
        -------
        keyset : KeySet
            The secret keys.
        pk : numpy.ndarray
            uint8, (count, public_key_bytes).
        """
        self = cls.__new__(cls)
        self.scheme, self.kind = as_set(scheme), "secret"
        pk = HOST.empty((check_count(count), self.scheme.public_key_bytes))
        self._core = _core.KeySet.generate(context._core, self.scheme._index, count, pk)
        check(self._core.status, f"{count} key pairs of {self.scheme.name}")
        return self, pk

    @property
    def closed(self) -> bool:
        """True after `close`."""
        return self._core.closed

    def __len__(self) -> int:
        return self._core.size

    def close(self) -> None:
        """Overwrite the keys with zeros and free them, as soon as no batch uses them."""
        self._core.close()

    def __enter__(self) -> KeySet:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        size = "closed," if self.closed else str(len(self))
        return f"<polykem.KeySet: {size} {self.kind} keys of {self.scheme.name}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a KeySet cannot be pickled: its keys stay where they are used")


def _kind_of(scheme: AnySet, array: Any, kind: str | None) -> str:
    if kind is not None:
        if kind not in _KINDS:
            raise ArgumentError(f"kind is {kind!r}; expected one of {', '.join(_KINDS)}")
        return kind
    sizes = {scheme.public_key_bytes: "public", scheme.secret_key_bytes: "secret"}
    if scheme.secret_seed_bytes:
        sizes[scheme.secret_seed_bytes] = "seed"
    return sizes.get(array.shape[-1] if array.ndim else 0, "public")
