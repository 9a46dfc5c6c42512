# SPDX-License-Identifier: Apache-2.0
"""The places of a batch's arrays: host memory, or the memory of a GPU (_device.py).

A place checks inputs, makes outputs beside them, lends both to the library and runs the batch.
"""

from __future__ import annotations

from typing import Any, Callable, cast

import numpy as np

from ._arrays import StatusArray, as_array
from ._errors import ArgumentError, OutOfMemory
from ._secret import Secret


class Host:
    """Host memory. Inputs may be NumPy arrays, or anything with the buffer protocol or DLPack."""

    def input(self, value: Any, name: str) -> Any:
        return as_array(value, name)

    def output(self, value: Any, name: str) -> Any:
        array = as_array(value, name)
        if not array.flags.writeable:
            raise ArgumentError(f"{name} is read-only; pass an array that can be written")
        return array

    def empty(self, shape: tuple[int, int]) -> Any:
        return _allocated(shape, lambda: np.empty(shape, np.uint8))

    def secret(self, shape: tuple[int, int]) -> Any:
        return _allocated(shape, lambda: Secret._make(shape))

    def status(self, count: int, queued: bool) -> Any:
        return np.zeros(count, np.int32)

    def host_status(self, status: Any) -> StatusArray:
        return cast(StatusArray, status)

    def lend(self, array: Any) -> Any:
        return array

    def prepare(self, context: Any, scheme: Any) -> None:
        """Prepare for reads of inputs outside of `run`; host memory needs nothing."""

    def run(self, context: Any, batch: Any) -> int:
        return int(context._core.run(batch.request))


def _allocated(shape: tuple[int, int], allocate: Callable[[], Any]) -> Any:
    try:
        return allocate()
    except MemoryError as error:
        raise OutOfMemory(f"no memory for {shape[0]} records of {shape[1]} bytes") from error


HOST = Host()
