# SPDX-License-Identifier: Apache-2.0
"""A batch that is ready to run, and the arguments that all operations have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from ._arrays import check_count, check_records, shape_error
from ._errors import ArgumentError, RangeError, Status, check, items_error
from ._keyset import KeySet
from ._scheme import AnySet
from ._secret import Secret, check_unwiped, erase

PER_ITEM, SHARED = 0, 1
EXPANDED, SEED = 0, 1

Errors = Literal["raise", "return"]

Result = TypeVar("Result", bound=tuple[Any, ...])


@dataclass(repr=False)
class Batch(Generic[Result]):
    """A batch that is ready to run, and what it will return."""

    what: str
    op: int
    scheme: AnySet
    count: int
    place: Any
    request: _core.Request
    result: Result
    errors: str
    queued: bool = True  # on a GPU: on the caller's stream
    secrets: tuple[Secret, ...] = ()  # of the caller, who may wipe them while the batch runs


@dataclass(repr=False)
class Keys:
    """The keys of a batch: an array, or a key set with the indices of its keys."""

    mode: int
    array: Any = None
    keyset: KeySet | None = None
    index: npt.NDArray[np.uintp] | None = None

    def fields(self) -> dict[str, Any]:
        if self.keyset is None:
            return {"key_mode": self.mode}
        return {"key_mode": self.mode, "keyset": self.keyset._core, "key_index": self.index}


def finish(batch: Batch[Result], status: int) -> Result:
    try:
        check_unwiped(batch.secrets, batch.what)
    except ArgumentError:
        for output in batch.result:
            erase(output)
        raise
    if status == Status.ITEMS:
        if batch.errors == "return":
            return batch.result
        raise items_error(batch.what, batch.place.host_status(getattr(batch.result, "status")), batch.result)
    check(status, batch.what)
    return batch.result


def checked_errors(errors: str) -> str:
    if errors not in ("raise", "return"):
        raise ArgumentError(f'errors is {errors!r}; expected "raise" or "return"')
    return errors


def coins_of(place: Any, coins: Any, record: int, count: int) -> Any:
    if coins is None:
        return None
    coins = place.input(coins, "coins")
    check_records(coins, "coins", record, count)
    return coins


def refuse_index(key_index: Any) -> None:
    if key_index is not None:
        raise ArgumentError("key_index chooses keys of a KeySet; index the array instead")


def form_of(scheme: AnySet, sk: Any, count: int | None, of: str) -> int:
    """Return EXPANDED or SEED, by the size of the records of `sk`."""
    sizes = [size for size in (scheme.secret_key_bytes, scheme.secret_seed_bytes) if size]
    if sk.ndim not in (1, 2) or sk.shape[-1] not in sizes:
        rows = "n" if count is None else count
        records = " or ".join(f"({size},) or ({rows}, {size})" for size in sizes)
        raise shape_error("sk", sk.shape, records, scheme.secret_key_bytes)
    check_key_count(sk, "sk", "secret keys", count, of)
    return SEED if sk.shape[-1] == scheme.secret_seed_bytes else EXPANDED


def check_key_count(keys: Any, name: str, kind: str, count: int | None, of: str) -> None:
    """Raise unless there is one key, or one for each of `count` items. If `count` is None, any number will do."""
    if keys.ndim == 2 and count is not None and keys.shape[0] != count:
        hint = f"; pass {name}[0] to use one key for all" if keys.shape[0] == 1 else ""
        raise ArgumentError(f"there are {keys.shape[0]} {kind} for {count} {of}{hint}")


def keys_of_set(keyset: KeySet, scheme: AnySet, kind: str, key_index: Any, count: int | None) -> tuple[Keys, int]:
    size = len(keyset)
    if keyset.closed:
        raise ArgumentError("the key set is closed")
    if keyset.scheme is not scheme:
        raise ArgumentError(f"the key set is of {keyset.scheme.name}, not of {scheme.name}")
    if keyset.kind != kind:
        raise ArgumentError(f"the key set has {keyset.kind} keys; this takes {kind} keys")
    if key_index is None:
        count = size if count is None else check_count(count)
        if count > size:
            raise RangeError(f"{count} items of a key set of {size} keys; key_index says which key each item uses")
        return Keys(PER_ITEM, keyset=keyset), count
    try:
        index = np.asarray(key_index)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(f"key_index must be an int or a one-dimensional array of int: {error}") from error
    if index.dtype.kind not in "iu" or index.ndim > 1:
        raise ArgumentError("key_index must be an int or a one-dimensional array of int")
    if index.size == 0 or index.min() < 0 or index.max() >= size:
        raise RangeError(f"key_index must be within 0 to {size - 1}, as the set has {size} keys")
    if index.ndim == 0:
        count = 1 if count is None else check_count(count)
        return Keys(SHARED, keyset=keyset, index=_indices(index.reshape(1))), count
    if count not in (None, index.size):
        raise ArgumentError(f"key_index has {index.size} entries for {count} items")
    return Keys(PER_ITEM, keyset=keyset, index=_indices(index)), index.size


def _indices(index: npt.NDArray[Any]) -> npt.NDArray[np.uintp]:
    return np.ascontiguousarray(index, dtype=np.uintp)
