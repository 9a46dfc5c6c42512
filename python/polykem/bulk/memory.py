# SPDX-License-Identifier: Apache-2.0
"""Memory of results: ordinary memory, or pinned memory, which a GPU reads and writes at the full speed of its bus."""

from __future__ import annotations

import threading

import numpy as np

import polykem

SECRET_ROLES = {"sk", "seed", "ss", "plaintext"}


def wipe(*arrays):
    """Overwrites arrays that held secrets, where they can be written."""
    for array in arrays:
        if hasattr(array, "wipe"):
            array.wipe()
        elif isinstance(array, np.ndarray) and array.flags.writeable:
            array.fill(0)


class Ordinary:
    """Every partition has memory of its own; that of secrets is overwritten when it is no longer used."""

    def take(self, role, shape):
        """uint8 memory for a column."""
        return np.asarray(polykem.Secret.zeros(shape)) if role in SECRET_ROLES else np.empty(shape, np.uint8)

    def give_back(self, arrays):
        """role -> array; nobody uses them any more."""
        wipe(*(array for role, array in arrays.items() if role in SECRET_ROLES))


class Pinned:
    """Pinned memory that partitions use in turn. Needs CuPy."""

    def __init__(self):
        import cupy
        self.allocate = cupy.cuda.alloc_pinned_memory
        self.free, self.lock = {}, threading.Lock()

    def take(self, role, shape):
        with self.lock:
            waiting = self.free.get(shape)
            if waiting:
                return waiting.pop()
        size = shape[0] * shape[1]
        return np.frombuffer(self.allocate(size), np.uint8, size).reshape(shape)

    def give_back(self, arrays):
        wipe(*(array for role, array in arrays.items() if role in SECRET_ROLES))
        with self.lock:
            for array in arrays.values():
                self.free.setdefault(array.shape, []).append(array)


def memory_for(context, scheme):
    """Pinned memory where a GPU computes and CuPy is installed, ordinary memory elsewhere."""
    if context.backend(scheme) == "cuda":
        try:
            return Pinned()
        except ImportError:
            pass
    return Ordinary()
