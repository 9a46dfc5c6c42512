# SPDX-License-Identifier: Apache-2.0
"""The part of CuPy that polykem uses, over the memory of tests/cuda_module's simulated device."""
import ctypes
import os
import weakref

import numpy as np

uint8, int32 = np.uint8, np.int32
_module = ctypes.CDLL(os.environ["POLYKEM_CUDA_MODULE"])
_module.simulated_device_allocate.restype = ctypes.c_void_p
_module.simulated_device_allocate.argtypes = [ctypes.c_size_t]
_module.simulated_device_release.argtypes = [ctypes.c_void_p]
_module.simulated_device_last_stream.restype = ctypes.c_void_p
log = []  # events, in order


class Pointer:
    def __init__(self, ptr):
        self.ptr = ptr


class ndarray:
    """An array whose bytes only this module can read."""

    def __init__(self, host, owner):
        self._host, self._owner = host, owner

    device = property(lambda self: Device(0))
    data = property(lambda self: Pointer(self._host.ctypes.data))
    shape = property(lambda self: self._host.shape)
    ndim = property(lambda self: self._host.ndim)
    dtype = property(lambda self: self._host.dtype)
    nbytes = property(lambda self: self._host.nbytes)
    flags = property(lambda self: self._host.flags)

    def __getitem__(self, key):
        return ndarray(self._host[key], self._owner)

    def __ne__(self, other):
        return self._host != other._host

    def fill(self, value):
        log.append(("fill", self._host.nbytes, cuda.get_current_stream().ptr))
        self._host[...] = value

    def __dlpack_device__(self):
        return (2, 0)


ndarray.__module__ = "cupy"


class _Owner:
    pass


def zeros(shape, dtype):
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    address = _module.simulated_device_allocate(size)
    owner = _Owner()
    # not at exit, as arrays may outlive that
    weakref.finalize(owner, _module.simulated_device_release, address).atexit = False
    host = np.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype).reshape(shape)
    host[...] = 0
    return ndarray(host, owner)


def empty(shape, dtype):
    return zeros(shape, dtype)


def asarray(host):
    array = zeros(host.shape, host.dtype)
    array._host[...] = host
    return array


def asnumpy(array):
    return np.array(array._host)


class Device:
    def __init__(self, number):
        self.id = number

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


class Stream:
    def __init__(self, ptr):
        self.ptr = ptr

    def synchronize(self):
        log.append(("synchronize", self.ptr))

    def __enter__(self):
        cuda.streams.append(self)

    def __exit__(self, *exception):
        cuda.streams.pop()


class cuda:
    Device, Stream = Device, Stream
    streams = [Stream(0)]

    @staticmethod
    def get_current_stream():
        return cuda.streams[-1]


def last_stream():
    """Returns the stream of the batch that was queued last."""
    return _module.simulated_device_last_stream() or 0
