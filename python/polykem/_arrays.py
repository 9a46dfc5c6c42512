# SPDX-License-Identifier: Apache-2.0
"""Converts and checks the arrays that callers pass."""

from __future__ import annotations

import contextlib
import operator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ._errors import ArgumentError, ArgumentTypeError, SizeError

ByteArray = npt.NDArray[np.uint8]
StatusArray = npt.NDArray[np.int32]

_MAX_ITEMS = 1 << 40


def as_array(value: Any, name: str) -> ByteArray:
    """Return a C-contiguous uint8 array that shares memory with `value`: a NumPy array, or an object with the buffer
    protocol or, in host memory, DLPack."""
    array: npt.NDArray[Any]
    if isinstance(value, np.ndarray):
        array = value
    else:
        try:
            array = np.asarray(memoryview(value))
        except TypeError:
            if not hasattr(value, "__dlpack__"):
                raise ArgumentTypeError(f"{name} is {type(value).__name__}; pass an array of uint8 (NumPy, bytes, the "
                                        f"buffer protocol or DLPack){_joined(value, name)}") from None
            array = _from_dlpack(value, name)
    if array.ndim == 0:
        raise ArgumentTypeError(f"{name} is a number; pass an array of uint8")
    if array.dtype == object:
        raise ArgumentTypeError(f"{name} has Python objects as elements; pass uint8{_joined(value, name)}")
    if array.dtype != np.uint8:
        raise ArgumentError(f"{name} has elements of {array.dtype}; pass uint8 (array.view(numpy.uint8) reads the same "
                            "bytes)")
    if not array.flags.c_contiguous:
        raise ArgumentError(f"{name} is not C-contiguous; pass numpy.ascontiguousarray({name})")
    return cast(ByteArray, array)


def _from_dlpack(value: Any, name: str) -> npt.NDArray[Any]:
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:  # from its library or from NumPy
        raise ArgumentError(
            f"{name} cannot be read by DLPack: {error}; pass an array of uint8 in host memory") from error


def _joined(value: Any, name: str) -> str:
    """Return advice for columns of bytes: lists, columns of pandas and polars, arrays of objects."""
    if not hasattr(value, "__iter__") or isinstance(value, str):
        return ""
    return f'; of records in bytes, numpy.frombuffer(b"".join({name}), numpy.uint8).reshape(len({name}), -1) makes one'


def as_bytes(value: Any, name: str) -> bytes | memoryview:
    """Return the bytes of an object with the buffer protocol; they are copied only if they are not contiguous."""
    if type(value) is bytes:
        return value
    view: memoryview | None = None
    with contextlib.suppress(TypeError):
        view = memoryview(value)
    if view is None or view.ndim == 0 or view.format not in ("B", "b", "c"):
        raise ArgumentTypeError(f"{name} is {type(value).__name__}; pass bytes, or an array of uint8")
    return flat(view)


def flat(view: memoryview) -> memoryview:
    """Return the view in one dimension."""
    if not view.c_contiguous:
        view = memoryview(view.tobytes())
    return view.cast("B") if view.nbytes else memoryview(b"")


def shape_error(name: str, shape: tuple[int, ...], sizes: str, record: int) -> SizeError:
    advice = ""
    if len(shape) == 1 and shape[0] and shape[0] % record == 0:
        advice = f"; {name}.reshape(-1, {record}) makes records of it"
    return SizeError(f"{name} has shape {tuple(shape)}; expected {sizes}{advice}")


def check_records(array: Any, name: str, record: int, count: int | None = None, *, one: bool = True) -> None:
    """Raise unless the shape is (n, record), or (record,) if `one`; n must be `count` unless that is None."""
    shape = tuple(array.shape)
    if one and shape == (record,) and count in (None, 1):
        return
    if len(shape) == 2 and shape[1] == record and shape[0] > 0 and count in (None, shape[0]):
        return
    rows = "n" if count is None else str(count)
    sizes = f"({record},) or ({rows}, {record})" if one and count in (None, 1) else f"({rows}, {record})"
    raise shape_error(name, shape, sizes, record)


def items_of(array: Any) -> int:
    """Return the number of records in an array."""
    return 1 if array.ndim == 1 else int(array.shape[0])


def check_whole(value: Any, name: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be a whole number, not {type(value).__name__}")
    return number


def check_count(count: Any, name: str = "count") -> int:
    number = check_whole(count, name)
    if number < 1:
        raise ArgumentError(f"{name} is {number}; a batch has at least one item")
    if number > _MAX_ITEMS:
        raise ArgumentError(f"{name} is {number}, more than memory can hold")
    return number
