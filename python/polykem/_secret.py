# SPDX-License-Identifier: Apache-2.0
"""Memory for secret keys and shared secrets."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Any, Iterator, NoReturn

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import ByteArray, flat
from ._errors import ArgumentError, ArgumentTypeError


class Secret(_core.SecretMemory):
    """Bytes that are overwritten with zeros when the last view of them is released, or on ``wipe()``.

    Wiped bytes are never read: a call that takes the Secret, or a view with a wiped byte, raises ArgumentError instead
    of computing with zeros, and so do ``export()``, ``copy()`` and the buffer protocol. It equals only itself. Arrays
    made from it before contain zeros.

    ``repr`` and ``str`` never print the bytes, ``pickle`` and ``copy`` refuse them, and ``==`` takes the same time
    whatever they are. The buffer protocol, ``numpy.asarray`` and DLPack see the memory itself, without a copy, and keep
    it alive. Erase copies that you make of it yourself.

    Parameters
    ----------
    data : bytes-like, shape (bytes,) or (n, bytes), uint8
        Copied; the original is unchanged.

    Examples
    --------
    >>> import polykem
    >>> s = polykem.Secret(b"0123456789abcdef")
    >>> s
    <polykem.Secret: 16 bytes>
    >>> s == b"0123456789abcdef"
    True
    >>> s[:4].export()
    b'0123'
    >>> s.wipe()
    >>> s
    <polykem.Secret: 16 bytes, wiped>
    """

    __slots__ = ("__weakref__",)

    def __init__(self, data: Any):
        try:
            view = data if isinstance(data, (Secret, np.ndarray)) else np.asarray(memoryview(data))
        except TypeError:
            raise ArgumentTypeError(f"a Secret is made of bytes or of an array of uint8, not of {type(data).__name__}; "
                                    "Secret.zeros(n) makes one of n zeros") from None
        if not isinstance(view, Secret) and (view.dtype != np.uint8 or view.ndim not in (1, 2)):
            raise ArgumentError(f"a Secret is made of uint8 in one or two dimensions, not {view.dtype} in {view.ndim}")
        super().__init__(view.shape)
        np.asarray(self)[...] = view

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...]) -> Secret:
        """Make a Secret of zeros, of shape (bytes,) or (n, bytes), to be written through ``numpy.asarray``."""
        return cls._make((shape,) if isinstance(shape, int) else tuple(shape))

    @classmethod
    def _make(cls, shape: tuple[int, ...], base: Secret | None = None, offset: int = 0) -> Secret:
        self = cls.__new__(cls)
        _core.SecretMemory.__init__(self, shape, base, offset)
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """(bytes,) of one secret, (n, bytes) of n."""
        return tuple(self.extents)

    @property
    def ndim(self) -> int:
        """1 or 2."""
        return len(self.extents)

    def __len__(self) -> int:
        return self.extents[0]

    def __getitem__(self, key: int | slice) -> Secret:
        """Return a view: item ``key``, or a range of items without gaps; of one secret, a range of its bytes."""
        count, *rest = self.extents
        stride = rest[0] if rest else 1
        if isinstance(key, slice):
            start, stop, step = key.indices(count)
            if step != 1:
                raise ArgumentError("a Secret cannot be sliced with a step; numpy.asarray(secret) takes any index")
            return self._make((max(stop - start, 0), *rest), self, min(start, count) * stride)
        index = int(key.__index__())
        if not rest:
            raise TypeError("one secret has no items; slice it, or export() it")
        if not -count <= index < count:
            raise IndexError(f"item {index} of a Secret of {count}")
        return self._make((stride,), self, index % count * stride)

    def __iter__(self) -> Iterator[Secret]:
        """Yield views of the items."""
        return map(self.__getitem__, range(len(self)))

    if TYPE_CHECKING:
        def __buffer__(self, flags: int) -> memoryview: ...

    def __eq__(self, other: object) -> bool:
        if self.partly_wiped or (isinstance(other, Secret) and other.partly_wiped):
            return self is other
        try:
            theirs = memoryview(other)  # type: ignore[arg-type]
        except TypeError:
            return NotImplemented
        return hmac.compare_digest(flat(memoryview(self)), flat(theirs))

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # array == secret asks the secret

    def export(self) -> Any:
        """Return a copy that is not protected: bytes of one secret, or an array of uint8, (n, bytes), of n."""
        return bytes(memoryview(self)) if self.ndim == 1 else np.array(self)

    def copy(self) -> Secret:
        """Return a Secret with memory of its own."""
        return Secret(self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array: ByteArray = np.asarray(memoryview(self))
        if dtype is not None and np.dtype(dtype) != np.uint8:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(self, **options: Any) -> Any:
        return np.asarray(memoryview(self)).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __enter__(self) -> Secret:
        return self

    def __exit__(self, *exception: object) -> None:
        self.wipe()

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.extents))
        wiped = ", wiped" if self.wiped else ", wiped in part" if self.partly_wiped else ""
        return f"<polykem.Secret: {size} bytes{wiped}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a Secret cannot be pickled, nor copied by accident; .export() copies the bytes, .copy() makes "
                        "another Secret")

    def __copy__(self) -> NoReturn:
        self.__reduce_ex__(0)

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__reduce_ex__(0)


def secrets_of(*values: Any) -> tuple[Secret, ...]:
    """Return the values that are a Secret."""
    return tuple(value for value in values if isinstance(value, Secret))


def check_unwiped(secrets: tuple[Secret, ...], what: str) -> None:
    """Raise if a Secret was wiped while a batch, which runs without the GIL, read or wrote it."""
    if any(secret.partly_wiped for secret in secrets):
        raise ArgumentError(f"{what}: a Secret was wiped while the batch read it; wipe it after the batch has ended")


def erase(value: Any) -> None:
    """Overwrite an output with zeros; a Secret is wiped, so that its zeros cannot be used as a key."""
    if isinstance(value, Secret):
        value.wipe()
    else:
        np.asarray(value if isinstance(value, np.ndarray) else memoryview(value))[...] = 0
