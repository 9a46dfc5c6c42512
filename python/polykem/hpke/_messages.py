# SPDX-License-Identifier: Apache-2.0
"""What a call reads for its items, and memory for what it writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Sequence, Union

import numpy as np
import numpy.typing as npt

from .._arrays import as_array, as_bytes
from .._errors import ArgumentError, SizeError
from .._secret import Secret, secrets_of
from ._algorithms import MIN_PSK_BYTES

Listed = Union["list[Any]", "tuple[Any, ...]"]


@dataclass(repr=False)
class Messages:
    """Messages of a batch: records of one width, or offsets where they were a list; or one for all items."""

    data: Any
    bytes: int
    width: int = 0
    begins: npt.NDArray[np.uint64] | None = None
    lengths: npt.NDArray[np.uint64] | None = None
    count: int | None = None  # None: one for all

    @classmethod
    def of(cls, value: Any, name: str) -> Messages:
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
    def _of_list(cls, values: Sequence[Any], name: str) -> Messages:
        if not values:
            raise ArgumentError(f"{name} is empty; a batch has at least one item")
        items = [as_bytes(value, f"{name}[{i}]") for i, value in enumerate(values)]
        lengths = np.fromiter(map(len, items), np.uint64, len(items))
        at = begins(lengths)
        data = join(items, at)
        return cls(data, len(data), begins=at, lengths=lengths, count=len(values))


class Bindings:
    """Info and pre-shared keys of a call."""

    def __init__(self, info: Any, psk: Any, psk_id: Any) -> None:
        self.secrets = secrets_of(info, psk, psk_id)
        self.info, self.psk, self.psk_id = (Messages.bound(value, name) for value, name in
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


class Place:
    """Memory for what a call writes for messages: an array, or parts of one buffer where they were a list."""

    def __init__(self, messages: Messages, items: int, difference: int, secret: bool) -> None:
        zeros: Any = Secret.zeros if secret else lambda shape: np.zeros(shape, np.uint8)
        self.begins: npt.NDArray[np.uint64] | None = None
        self.width = max(messages.width + difference, 0)
        if messages.lengths is None:
            self.data = zeros((items, self.width))
        else:
            self.begins = begins(np.maximum(messages.lengths.astype(np.int64) + difference, 0).astype(np.uint64))
            self.data = zeros(int(self.begins[-1]))

    @property
    def core(self) -> tuple[Any, int, int, npt.NDArray[np.uint64] | None, bool]:
        return self.data, self.data.nbytes, self.width, self.begins, False

    @property
    def result(self) -> Any:
        return self.data if self.begins is None else split(self.data, self.begins)


def one_count(what: dict[str, int | None], default: int) -> int:
    """The number of items that the arguments agree on."""
    counts = {name: count for name, count in what.items() if count is not None}
    if len(set(counts.values())) > 1:
        raise ArgumentError("different numbers of items: " + ", ".join(f"{n} has {c}" for n, c in counts.items()))
    return next(iter(counts.values()), default)


def join(items: list[bytes | memoryview], at: npt.NDArray[np.uint64]) -> bytes | Secret:
    """In memory that is wiped, unless all are bytes, which nobody can wipe."""
    if all(type(item) is bytes for item in items):
        return b"".join(items)
    data = Secret.zeros(int(at[-1]))
    view, ends = memoryview(data), at.tolist()
    for item, first, last in zip(items, ends, ends[1:]):
        view[first:last] = item
    return data


def begins(lengths: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    begins = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(lengths, out=begins[1:])
    return begins


def split(data: Any, begins: npt.NDArray[np.uint64]) -> list[bytes]:
    view, ends = memoryview(data), begins.tolist()
    return [bytes(view[first:last]) for first, last in zip(ends, ends[1:])]
