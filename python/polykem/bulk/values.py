# SPDX-License-Identifier: Apache-2.0
"""Converts Arrow columns to arrays of records of one width, and notes which rows hold no such record."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from .column import Records
from .memory import wipe
from .statuses import RowStatus

Faults = npt.NDArray[np.uint8] | None  # (rows,)


def width_of(kind: pa.DataType) -> int | None:
    """Returns the bytes of a value if the type fixes them, otherwise None."""
    return kind.byte_width if pa.types.is_fixed_size_binary(kind) else None


def is_binary(kind: pa.DataType) -> bool:
    """Returns whether values of this Arrow type can be records: bytes, of a fixed width or not."""
    if pa.types.is_dictionary(kind):
        return is_binary(kind.value_type)
    return (pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind)
            or pa.types.is_null(kind) or _is_view(kind))


def _is_view(kind: pa.DataType) -> bool:
    return hasattr(pa.types, "is_binary_view") and pa.types.is_binary_view(kind)


def take_secret(column: pa.ChunkedArray, width: int) -> tuple[Records, Faults]:
    """Does what `as_array` does, in memory of its own that can be wiped; overwrites the column's memory."""
    records, faults = np.zeros((len(column), width), np.uint8), np.zeros(len(column), np.uint8)
    done = 0
    for chunk in column.chunks:
        simple = _simple(chunk)
        piece, fault = _piece(simple, width)
        records[done:done + len(chunk)] = piece
        faults[done:done + len(chunk)] = 0 if fault is None else fault
        done += len(chunk)
        wipe(piece)
        _wipe_chunk(simple)
    wipe_column(column)
    return records, faults if faults.any() else None


def wipe_column(column: pa.ChunkedArray) -> None:
    """Overwrites the memory of a column that is no longer used, but not that of a mapped file."""
    for chunk in column.chunks:
        _wipe_chunk(chunk)


def _wipe_chunk(chunk: pa.Array) -> None:
    for part in [chunk, chunk.dictionary] if pa.types.is_dictionary(chunk.type) else [chunk]:
        for buffer in part.buffers():
            if buffer is not None and buffer.is_mutable:
                wipe(np.frombuffer(buffer, np.uint8))


def as_array(column: pa.ChunkedArray, width: int) -> tuple[Records, Faults]:
    """Returns a column as records: a view if it lies in one piece and has no gaps.

    Parameters
    ----------
    column : pyarrow.ChunkedArray
    width : int

    Returns
    -------
    tuple of numpy.ndarray
        uint8 (rows, width), zero where a row has no record; and uint8 (rows,) with its `RowStatus` there and else 0,
        or None where all rows have one.
    """
    pieces = [_piece(_simple(chunk), width) for chunk in column.chunks]
    if len(pieces) == 1:
        return pieces[0]
    if not pieces:
        return np.zeros((0, width), np.uint8), None
    faults = [np.zeros(len(array), np.uint8) if fault is None else fault for array, fault in pieces]
    some = any(fault is not None for _, fault in pieces)
    return np.concatenate([array for array, _ in pieces]), np.concatenate(faults) if some else None


def _simple(chunk: pa.Array) -> pa.Array:
    """Returns the same values as an array of fixed width, with offsets of 64 bits, or of nulls only."""
    if pa.types.is_dictionary(chunk.type):
        chunk = chunk.dictionary_decode()
    kind = chunk.type
    return chunk if pa.types.is_null(kind) or pa.types.is_fixed_size_binary(kind) else chunk.cast(pa.large_binary())


def _piece(chunk: pa.Array, width: int) -> tuple[Records, Faults]:
    if pa.types.is_null(chunk.type):
        return np.zeros((len(chunk), width), np.uint8), np.full(len(chunk), RowStatus.MISSING, np.uint8)
    if pa.types.is_fixed_size_binary(chunk.type):
        return _fixed(chunk)
    return _variable(chunk, width)


def _valid(chunk: pa.Array) -> npt.NDArray[np.bool_]:
    return np.asarray(chunk.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def _fixed(chunk: pa.Array) -> tuple[Records, Faults]:
    width = chunk.type.byte_width
    flat = np.frombuffer(chunk.buffers()[1] or b"", np.uint8)
    records = flat[chunk.offset * width:(chunk.offset + len(chunk)) * width].reshape(len(chunk), width)
    if not chunk.null_count:
        return records, None
    missing = ~_valid(chunk)
    records = records.copy()
    records[missing] = 0
    return records, np.where(missing, RowStatus.MISSING, 0).astype(np.uint8)


def _variable(chunk: pa.Array, width: int) -> tuple[Records, Faults]:
    """Returns the records of values that each have a length of their own."""
    rows = len(chunk)
    offsets = np.frombuffer(chunk.buffers()[1], np.int64)[chunk.offset:chunk.offset + rows + 1] if rows else \
        np.zeros(1, np.int64)
    data, valid = np.frombuffer(chunk.buffers()[2] or b"", np.uint8), _valid(chunk)
    good = valid & (np.diff(offsets) == width)
    if good.all():
        return data[offsets[0]:offsets[-1]].reshape(rows, width), None
    records = np.zeros((rows, width), np.uint8)
    ends = np.flatnonzero(np.diff(good, prepend=False, append=False))
    for begin, end in zip(ends[::2], ends[1::2]):  # runs of good rows, whose bytes are contiguous
        records[begin:end] = data[offsets[begin]:offsets[end]].reshape(-1, width)
    return records, np.where(good, 0, np.where(valid, RowStatus.LENGTH, RowStatus.MISSING)).astype(np.uint8)


def is_storable(kind: pa.DataType) -> bool:
    """Returns whether Parquet has a type for a column."""
    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([("column", kind)])).close()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


def as_column(array: Records, bad: npt.NDArray[np.bool_] | None = None) -> pa.Array:
    """Returns a uint8 array of shape (rows, width) as a column, without a copy; null where `bad` is true."""
    rows, width = array.shape
    good = None if bad is None or not bad.any() else pa.array(~bad).buffers()[1]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), rows, [good, pa.py_buffer(array)])
