# SPDX-License-Identifier: Apache-2.0
"""Memory of results: ordinary memory, or pinned memory, which a GPU reads and writes at the full speed of its bus."""

from __future__ import annotations

import threading

import numpy as np

import polykem
from polykem import _core

from .column import Records

SECRET_ROLES = {"sk", "seed", "ss", "plaintext"}


def wipe(*arrays: object) -> None:
    """Overwrites arrays that held secrets, if they can be written, and what this thread's calls have left of them.

    Where libraries bind a function at its first call, the dynamic linker saves the vector registers on the stack; with
    AVX-512 the C library copies through registers that keep what they hold.
    """
    for array in arrays:
        if hasattr(array, "wipe"):
            array.wipe()
        elif isinstance(array, np.ndarray) and array.flags.writeable:
            array.fill(0)
    _core.zeroize_stack()


class Ordinary:
    """Every partition has memory of its own; that of secrets is overwritten when it is no longer used."""

    def take(self, role: str, shape: tuple[int, int]) -> Records:
        """Returns uint8 memory for a column."""
        return np.asarray(polykem.Secret.zeros(shape)) if role in SECRET_ROLES else np.empty(shape, np.uint8)

    def give_back(self, arrays: dict[str, Records]) -> None:
        """Takes back arrays, by role, that are no longer used."""
        wipe(*(array for role, array in arrays.items() if role in SECRET_ROLES))


class Pinned:
    """Pinned memory that partitions use in turn. Needs CuPy.

    What held secrets waits for the next ones as it is, since overwriting it takes a core longer than making them takes
    a GPU. It is overwritten as soon as no partition has memory of this object.
    """

    def __init__(self) -> None:
        import cupy
        self.allocate, self.error = cupy.cuda.alloc_pinned_memory, cupy.cuda.runtime.CUDARuntimeError
        self.free: dict[tuple[str, tuple[int, ...]], list[Records]] = {}
        self.taken, self.lock = 0, threading.Lock()

    def take(self, role: str, shape: tuple[int, int]) -> Records:
        with self.lock:
            waiting = self.free.get((role, shape))
            array = waiting.pop() if waiting else self._new(shape)
            self.taken += 1
        return array

    def give_back(self, arrays: dict[str, Records]) -> None:
        with self.lock:
            for role, array in arrays.items():
                self.free.setdefault((role, array.shape), []).append(array)
            self.taken -= len(arrays)
            if not self.taken:
                wipe(*(array for (role, _), free in self.free.items() if role in SECRET_ROLES for array in free))

    def _new(self, shape: tuple[int, int]) -> Records:
        size = shape[0] * shape[1]
        try:
            return np.frombuffer(self.allocate(size), np.uint8, size).reshape(shape)
        except self.error as error:
            raise MemoryError from error


Memory = Ordinary | Pinned


def memory_for(context: polykem.Context, scheme: str) -> Memory:
    """Returns pinned memory if a GPU computes and CuPy is installed, otherwise ordinary memory."""
    if context.backend(scheme) == "cuda":
        try:
            return Pinned()
        except ImportError:
            pass
    return Ordinary()
