# SPDX-License-Identifier: Apache-2.0
"""Byte strings of any lengths for the items of a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._arrays import as_array, as_bytes
from ._errors import ArgumentError, ArgumentTypeError
from ._secret import Secret

Listed = Union["list[Any]", "tuple[Any, ...]"]


@dataclass(repr=False)
class Messages:
    """The messages of a batch: records of one width, strings at offsets if they were a list, or one for all items."""

    data: Any
    bytes: int
    width: int = 0
    offsets: npt.NDArray[np.uint64] | None = None
    lengths: npt.NDArray[np.uint64] | None = None
    count: int | None = None  # None: one for all

    @classmethod
    def of(cls, value: Any, name: str) -> Messages:
        if isinstance(value, Strings):
            return value._messages
        if isinstance(value, (list, tuple)):
            return cls._of_list(value, name)
        array = as_array(value, name)
        if array.ndim == 1:
            return cls(array, array.nbytes, width=array.nbytes)
        if array.ndim != 2 or array.shape[0] == 0:
            raise ArgumentError(f"{name} has shape {array.shape}; pass (n, bytes), one message, or a list of bytes")
        return cls(array, array.nbytes, width=array.shape[1], count=array.shape[0])

    @classmethod
    def bound(cls, value: Any, name: str) -> Messages:
        """Convert what messages are bound to; a value without bytes becomes None."""
        if isinstance(value, (list, tuple, Secret, Strings)) or getattr(value, "ndim", 1) == 2:
            return cls.of(value, name)
        data = as_bytes(value, name)
        return cls(data or None, len(data), width=len(data))

    @property
    def core(self) -> tuple[Any, int, int, npt.NDArray[np.uint64] | None, bool]:
        """The arguments of the extension for these messages."""
        return self.data, self.bytes, self.width, self.offsets, self.count is None

    @property
    def shortest(self) -> int:
        return self.width if self.lengths is None else int(self.lengths.min())

    @property
    def longest(self) -> int:
        return self.width if self.lengths is None else int(self.lengths.max())

    @classmethod
    def _of_list(cls, values: Sequence[Any], name: str) -> Messages:
        if not values:
            raise ArgumentError(f"{name} is empty; a batch has at least one item")
        items = [as_bytes(value, f"{name}[{i}]") for i, value in enumerate(values)]
        lengths = np.fromiter(map(len, items), np.uint64, len(items))
        offsets = offsets_of(lengths)
        data = join(items, offsets)
        return cls(data, len(data), offsets=offsets, lengths=lengths, count=len(values))


class Strings:
    """Strings that lie in one buffer: string i is ``data[offsets[i]:offsets[i + 1]]``.

    Nothing is copied but the offsets.

    Parameters
    ----------
    data : array, uint8, (bytes,)
    offsets : array of int, (n + 1,)
        From 0 to at most the size of `data`, none less than the one before.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import polykem
    >>> polykem.Strings(b"onetwothree", [0, 3, 6, 11])
    <polykem.Strings: 3 of 3 to 5 bytes>
    """

    def __init__(self, data: Any, offsets: Any):
        bytes_ = as_array(data, "data")
        if bytes_.ndim != 1:
            raise ArgumentError(f"data has shape {bytes_.shape}; pass one dimension, data.reshape(-1)")
        at = _checked_offsets(offsets, bytes_.nbytes)
        self._messages = Messages(bytes_, bytes_.nbytes, offsets=at, lengths=np.diff(at), count=len(at) - 1)

    def __len__(self) -> int:
        return self._messages.count or 0

    def __repr__(self) -> str:
        return f"<polykem.Strings: {len(self)} of {self._messages.shortest} to {self._messages.longest} bytes>"


def _checked_offsets(offsets: Any, size: int) -> npt.NDArray[np.uint64]:
    try:
        given = np.asarray(offsets)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ArgumentTypeError(f"offsets must be an array of int: {error}") from error
    if given.dtype.kind not in "iu" or given.ndim != 1 or given.size < 2:
        raise ArgumentError(f"offsets has shape {given.shape} and elements of {given.dtype}; pass n + 1 numbers for n "
                            "strings: where each begins, and where the last ends")
    if given.dtype.kind == "i" and given.min() < 0:
        raise ArgumentError(f"offsets[{int(given.argmin())}] is {given.min()}; offsets count from 0")
    at = given.astype(np.uint64)
    falls = np.flatnonzero(at[1:] < at[:-1])
    if falls.size:
        i = int(falls[0])
        raise ArgumentError(f"offsets[{i + 1}] is {at[i + 1]}, less than offsets[{i}], which is {at[i]}; a string does "
                            "not end before it begins")
    if int(at[-1]) > size:
        raise ArgumentError(f"offsets end at {at[-1]}, but data has {size} bytes")
    return at


def one_count(what: dict[str, int | None], default: int) -> int:
    """Return the number of items that the arguments agree on."""
    counts = {name: count for name, count in what.items() if count is not None}
    if len(set(counts.values())) > 1:
        raise ArgumentError("different numbers of items: " + ", ".join(f"{n} has {c}" for n, c in counts.items()))
    return next(iter(counts.values()), default)


def join(items: list[bytes | memoryview], offsets: npt.NDArray[np.uint64]) -> bytes | Secret:
    """Join strings in memory that is wiped afterwards, unless all are bytes, which cannot be wiped."""
    if all(type(item) is bytes for item in items):
        return b"".join(items)
    data = Secret.zeros(int(offsets[-1]))
    view, ends = memoryview(data), offsets.tolist()
    for item, first, last in zip(items, ends, ends[1:]):
        view[first:last] = item
    return data


def offsets_of(lengths: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    offsets = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets
