# SPDX-License-Identifier: Apache-2.0
"""Arrays in the memory of a GPU, used where they lie: CuPy's and PyTorch's, and others through DLPack.

Outputs are arrays of the same library on the same device. A batch is queued on the library's current stream of that
device with `polykem_cuda_queue`, so the call returns before the GPU is done, and what the caller queues there later
finds the results. Both libraries' allocators order the reuse of memory by stream, so temporaries may be dropped at
once.
Batches with a key set or with seeds cannot be queued: the call waits for the stream, then for the batch.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, cast

import numpy as np

from . import _core
from ._arrays import StatusArray
from ._errors import ArgumentError, BackendUnavailable, OutOfMemory, Status
from ._places import HOST, Host

_NEEDS_CUDA = 'arrays on a GPU need polykem.Context(backend="cuda"); polykem.backends()[0] says what is missing'
_DLPACK_CUDA, _DLPACK_MANAGED = 2, 13


class _CuPy:
    name = "cupy"

    def __init__(self) -> None:
        self.module = importlib.import_module("cupy")

    def device_of(self, array: Any) -> int:
        return int(array.device.id)

    def guard(self, device: int) -> Any:
        return self.module.cuda.Device(device)

    def current_stream(self) -> Any:
        return self.module.cuda.get_current_stream()

    def stream_guard(self, stream: Any) -> Any:
        return stream

    def stream_address(self, stream: Any) -> int:
        return int(stream.ptr)

    def is_uint8(self, array: Any) -> bool:
        return bool(array.dtype == np.uint8)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.flags.c_contiguous)

    def address(self, array: Any) -> int:
        return int(array.data.ptr)

    def nbytes(self, array: Any) -> int:
        return int(array.nbytes)

    def empty(self, shape: Any, device: int) -> Any:
        return self.module.empty(shape, self.module.uint8)

    def zeros_int32(self, count: int, device: int) -> Any:
        return self.module.zeros(count, self.module.int32)

    def wipe(self, array: Any) -> None:
        array.fill(0)

    def to_host(self, array: Any) -> Any:
        return self.module.asnumpy(array)

    def used_by(self, array: Any, stream: Any) -> None:
        """Does nothing: CuPy's memory pools are per stream, and have no means to record another one."""


class _Torch:
    name = "torch"

    def __init__(self) -> None:
        self.module = importlib.import_module("torch")

    def device_of(self, array: Any) -> int:
        return int(array.device.index)

    def guard(self, device: int) -> Any:
        return self.module.cuda.device(device)

    def current_stream(self) -> Any:
        return self.module.cuda.current_stream()

    def stream_guard(self, stream: Any) -> Any:
        return self.module.cuda.stream(stream)

    def stream_address(self, stream: Any) -> int:
        return int(stream.cuda_stream)

    def is_uint8(self, array: Any) -> bool:
        return bool(array.dtype == self.module.uint8)

    def is_contiguous(self, array: Any) -> bool:
        return bool(array.is_contiguous())

    def address(self, array: Any) -> int:
        return int(array.data_ptr())

    def nbytes(self, array: Any) -> int:
        return int(array.numel() * array.element_size())

    def empty(self, shape: Any, device: int) -> Any:
        return self.module.empty(shape, dtype=self.module.uint8, device=f"cuda:{device}")

    def zeros_int32(self, count: int, device: int) -> Any:
        return self.module.zeros(count, dtype=self.module.int32, device=f"cuda:{device}")

    def wipe(self, array: Any) -> None:
        array.zero_()

    def to_host(self, array: Any) -> Any:
        return array.cpu().numpy()

    def used_by(self, array: Any, stream: Any) -> None:
        array.record_stream(stream)


_ADAPTERS: dict[str, Any] = {"cupy": _CuPy, "torch": _Torch}


class DeviceSecret:
    """Secret keys or shared secrets in the memory of a GPU.

    They are zeroized, on the stream that made them, at ``wipe()`` or when the object is released. If you take
    ``.array`` (or DLPack), you own the memory and must erase it. ``repr`` never prints the bytes.
    """

    def __init__(self, place: Device, array: Any, base: DeviceSecret | None = None):
        self._place, self._array, self._base = place, array, base
        self._taken = base is not None
        #: addresses that wipe() has overwritten, from and to; all views share it
        self._wiped: list[tuple[int, int]] = [] if base is None else base._wiped

    @property
    def array(self) -> Any:
        """The CuPy array or PyTorch tensor itself, (n, bytes) or (bytes,)."""
        self._take()
        return self._unwiped()

    @property
    def partly_wiped(self) -> bool:
        """True after wipe() of any of its bytes; reading it then raises ArgumentError."""
        begin, end = self._addresses()
        return any(first < end and begin < last for first, last in self._wiped)

    def _addresses(self) -> tuple[int, int]:
        begin = self._place.library.address(self._array)
        return begin, begin + self._place.library.nbytes(self._array)

    def _unwiped(self) -> Any:
        if self.partly_wiped:
            raise ArgumentError("this DeviceSecret was wiped, or a part of it")
        return self._array

    def _take(self) -> None:
        self._taken = True
        if self._base is not None:
            self._base._take()

    @property
    def shape(self) -> tuple[int, ...]:
        """(bytes,) of one secret, (n, bytes) of n."""
        return tuple(self._array.shape)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, key: Any) -> DeviceSecret:
        return DeviceSecret(self._place, self._array[key], self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DeviceSecret) or other.shape != self.shape:
            return NotImplemented
        if self.partly_wiped or other.partly_wiped:
            return self is other
        return not bool((self._array != other._array).any())

    __hash__ = None  # type: ignore[assignment]

    def wipe(self) -> None:
        """Overwrite the bytes with zeros. Calls then reject the secret and its views."""
        with self._place.on_its_stream():
            self._place.library.wipe(self._array)
        self._wiped.append(self._addresses())

    def export(self) -> Any:
        """Return a copy in host memory that is not protected: bytes of one secret, or an array of n."""
        with self._place.on_its_stream():
            array = self._place.library.to_host(self._unwiped())
        return array.tobytes() if array.ndim == 1 else array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, device = self._array.__dlpack_device__()
        return kind, device

    def __enter__(self) -> DeviceSecret:
        return self

    def __exit__(self, *exception: object) -> None:
        self.wipe()

    def __del__(self) -> None:
        if not self._taken and not sys.is_finalizing():  # the driver ends with the process, and its memory
            self.wipe()

    def __repr__(self) -> str:
        size, wiped = " x ".join(map(str, self.shape)), ", wiped" if self.partly_wiped else ""
        return f"<polykem.DeviceSecret: {size} bytes on GPU {self._place.device}{wiped}>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a DeviceSecret cannot be pickled, nor copied by accident; .export() copies the bytes")


class Device(Host):
    """The memory of one GPU, as one library sees it, and that library's current stream."""

    def __init__(self, library: Any, device: int):
        self.library, self.device = library, device
        with library.guard(device):
            self.stream = library.current_stream()

    def input(self, value: Any, name: str) -> Any:
        array = _unwrap(value)
        if _library_of(array) != self.library.name or self.library.device_of(array) != self.device:
            raise ArgumentError(f"{name} is not a {self.library.name} array on GPU {self.device}, where another "
                                "argument lies; move one of them")
        if not self.library.is_uint8(array):
            raise ArgumentError(f"{name} has elements of {array.dtype}; pass uint8")
        if not self.library.is_contiguous(array):
            raise ArgumentError(f"{name} is not contiguous; pass a contiguous copy")
        return array

    output = input

    def empty(self, shape: tuple[int, int]) -> Any:
        with self.library.guard(self.device):
            return self.library.empty(shape, self.device)

    def secret(self, shape: tuple[int, int]) -> DeviceSecret:
        return DeviceSecret(self, self.empty(shape))

    def status(self, count: int, queued: bool) -> Any:
        if not queued:
            return HOST.status(count, queued)
        with self.library.guard(self.device):
            return self.library.zeros_int32(count, self.device)

    def host_status(self, status: Any) -> StatusArray:
        if isinstance(status, np.ndarray):
            return status
        with self.on_its_stream():
            return cast(StatusArray, self.library.to_host(status))

    def lend(self, array: Any) -> Any:
        if array is None or isinstance(array, np.ndarray):
            return array
        array = _unwrap(array)
        self.library.used_by(array, self.stream)
        return _core.DeviceBytes(self.library.address(array), self.library.nbytes(array))

    def on_its_stream(self) -> Any:
        return self.library.stream_guard(self.stream)

    def prepare(self, context: Any, scheme: Any) -> None:
        """Raise unless the context computes on a GPU, and wait for the caller's work on the arrays."""
        forced = context._forced or os.environ.get("POLYKEM_BACKEND")
        if forced != "cuda" or context.backend(scheme) != "cuda":
            raise BackendUnavailable(_NEEDS_CUDA)
        self.stream.synchronize()

    def run(self, context: Any, batch: Any) -> int:
        if not batch.queued:
            self.prepare(context, batch.scheme)
            return int(context._core.run(batch.request))
        core, library = context._core, self.library
        if context.backend(batch.scheme) != "cuda":
            raise BackendUnavailable(_NEEDS_CUDA)
        bytes_needed = core.queue_bytes(batch.op, batch.scheme._index, batch.count)
        with library.guard(self.device), self.on_its_stream():
            try:
                workspace = library.empty((max(bytes_needed, 1),), self.device)
            except MemoryError as error:
                raise OutOfMemory(f"no memory for {bytes_needed} bytes of workspace on GPU {self.device}") from error
            status: int = core.queue(batch.request, library.address(workspace), library.stream_address(self.stream))
        if status == Status.OK and batch.errors == "raise" and hasattr(batch.result, "status"):
            return Status.ITEMS if self.host_status(batch.result.status).any() else Status.OK
        return status


def _unwrap(value: Any) -> Any:
    return value._unwiped() if isinstance(value, DeviceSecret) else value


def _library_of(array: Any) -> str | None:
    """Return the name of the library of an array on a GPU; None if the array lies in host memory."""
    root = type(array).__module__.partition(".")[0]
    if root == "cupy":
        return root
    if root == "torch":
        return root if array.is_cuda else None
    return None


def _dlpack_device_of(array: Any) -> int | None:
    """Return DLPack's number of the kind of device; None if the array does not state it."""
    try:
        kind: int = array.__dlpack_device__()[0]
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None
    return kind


def check_host(place: Host, name: str) -> None:
    """Raise for an array on a GPU: signatures take arrays in host memory only."""
    if place is not HOST:
        raise ArgumentError(f"{name} is on a GPU, and signatures take arrays in host memory; copy it there, by "
                            "cupy.asnumpy(array) or tensor.cpu()")


def place_of(*arrays: Any) -> Host:
    """Return the GPU of the first array that is on one, otherwise the host. Arrays may be None."""
    for value in arrays:
        if value is None or isinstance(value, np.ndarray):
            continue
        array = _unwrap(value)
        name = _library_of(array)
        if name is not None:
            library = _ADAPTERS[name]()
            return Device(library, library.device_of(array))
        if _dlpack_device_of(array) in (_DLPACK_CUDA, _DLPACK_MANAGED):
            raise ArgumentError(f"{type(array).__name__} lies on a GPU; pass cupy.from_dlpack(array) or "
                                "torch.from_dlpack(array), so that the results have a type and a stream")
    return HOST
