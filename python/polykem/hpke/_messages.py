# SPDX-License-Identifier: Apache-2.0
"""A call's info and pre-shared keys, and the memory for the messages that it writes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._errors import ArgumentError, SizeError
from .._messages import Messages, offsets_of
from .._secret import Secret, secrets_of
from ._algorithms import MIN_PSK_BYTES


class Bindings:
    """The info and the pre-shared keys of a call."""

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


class OutputBuffer:
    """Memory for the messages that a call writes: an array, or parts of one buffer if the inputs were a list."""

    def __init__(self, messages: Messages, items: int, difference: int, secret: bool) -> None:
        zeros: Any = Secret.zeros if secret else lambda shape: np.zeros(shape, np.uint8)
        self.offsets: npt.NDArray[np.uint64] | None = None
        self.width = max(messages.width + difference, 0)
        if messages.lengths is None:
            self.data = zeros((items, self.width))
        else:
            self.offsets = offsets_of(np.maximum(messages.lengths.astype(np.int64) + difference, 0).astype(np.uint64))
            self.data = zeros(int(self.offsets[-1]))

    @property
    def core(self) -> tuple[Any, int, int, npt.NDArray[np.uint64] | None, bool]:
        return self.data, self.data.nbytes, self.width, self.offsets, False

    @property
    def result(self) -> Any:
        return self.data if self.offsets is None else split(self.data, self.offsets)


def split(data: Any, offsets: npt.NDArray[np.uint64]) -> list[bytes]:
    view, ends = memoryview(data), offsets.tolist()
    return [bytes(view[first:last]) for first, last in zip(ends, ends[1:])]
