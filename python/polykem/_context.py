# SPDX-License-Identifier: Apache-2.0
"""A context and its batches."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Generic, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from . import _core, _jobs
from ._arrays import check_count, check_records, items_of, shape_error
from ._device import place_of
from ._errors import ArgumentError, ArgumentTypeError, RangeError, Status, check, items_error
from ._jobs import Job
from ._keyset import KeySet
from ._places import HOST
from ._profile import Profile, StepRecord
from ._results import Decapsulations, Encapsulations, KeyPairs
from ._scheme import (DECAPS, ENCAPS, KEYGEN, OPS, Backend, Scheme, SchemeLike, as_scheme, backend_name, op_index)
from ._secret import Secret, check_unwiped, erase, secrets_of

_PER_ITEM, _SHARED = 0, 1
_EXPANDED, _SEED = 0, 1

Errors = Literal["raise", "return"]


Result = TypeVar("Result", bound=tuple[Any, ...])


@dataclass(repr=False)
class _Batch(Generic[Result]):
    """A batch that is ready to run, and what it will return."""

    what: str
    op: int
    scheme: Scheme
    count: int
    place: Any
    request: _core.Request
    result: Result
    errors: str
    queued: bool = True  # on a GPU: on the caller's stream
    secrets: tuple[Secret, ...] = ()  # of the caller, who may wipe them while the batch runs


@dataclass(repr=False)
class _Keys:
    """The keys of a batch: an array, or a key set with the indices of its keys."""

    mode: int
    array: Any = None
    keyset: KeySet | None = None
    index: npt.NDArray[np.uintp] | None = None

    def fields(self) -> dict[str, Any]:
        if self.keyset is None:
            return {"key_mode": self.mode}
        return {"key_mode": self.mode, "keyset": self.keyset._core, "key_index": self.index}


class Context:
    """Threads, a choice of backend and random generators; every batch runs in a context.

    A context may be used by several threads at once. Its blocking calls release the GIL. It ends with its last
    reference, at ``close()`` or at the end of a ``with`` block; batches in flight still finish.

    Parameters
    ----------
    threads : int
        Worker threads; 0: one per CPU that this process may use.
    backend : str or Backend, optional
        Force one, "cuda" for example. None: the environment's POLYKEM_BACKEND if set, else the best available.

    Raises
    ------
    UnknownBackend, BackendUnavailable
        ``polykem.backends()`` lists the backends and what they lack.

    Examples
    --------
    >>> import polykem
    >>> ctx = polykem.Context(threads=1)
    >>> pk, sk = ctx.keygen("mlkem768", 3)
    >>> pk.shape, sk
    ((3, 1184), <polykem.Secret: 3 x 2400 bytes>)
    >>> ct, ss, status = ctx.encaps("mlkem768", pk)
    >>> ct.shape, ss, status.tolist()
    ((3, 1088), <polykem.Secret: 3 x 32 bytes>, [0, 0, 0])
    >>> ctx.decaps("mlkem768", sk, ct).ss == ss
    True
    """

    def __init__(self, threads: int = 0, backend: Backend | str | None = None):
        if not hasattr(threads, "__index__"):
            raise ArgumentTypeError(f"threads is a whole number, not {type(threads).__name__}")
        if not 0 <= threads <= 1024:
            raise ArgumentError(f"threads is {threads}; it is 0 to 1024")
        name = backend_name(backend)
        self._forced = name
        self._core = _core.Context(threads, name)
        check(self._core.status, "creating a context" + (f" with the backend {name!r}" if name else ""))

    @property
    def threads(self) -> int:
        """Worker threads."""
        return self._core.threads

    def backend(self, scheme: SchemeLike) -> str | None:
        """Name of the backend that runs `scheme` here, None if none can.

        If it is "cuda" and was not forced, small batches still run on the CPU.
        """
        return self._core.backend(as_scheme(scheme)._index)

    def close(self) -> None:
        """Release the context now. Batches and key sets that use it keep it until they end."""
        self._core.close()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a Context is not pickled: its threads belong to this process; make one in each process")

    # ---- batches

    def keygen(self, scheme: SchemeLike, count: int = 1, *, coins: Any = None, out: Any = None) -> KeyPairs:
        """Make `count` key pairs.

        Parameters
        ----------
        scheme : Scheme or str
        count : int
            At least 1.
        coins : array, uint8, (count, keygen_coin_bytes), optional
            The random inputs, for tests; None: taken from the context's generator. The same coins yield the same keys.
        out : KeyPairs or (pk, sk), optional
            Arrays for the result, of the shapes below; they may be on a GPU.

        Returns
        -------
        KeyPairs
            pk, uint8, (count, public_key_bytes); sk, Secret, (count, secret_key_bytes).

        Raises
        ------
        ArgumentError, SizeError, OutOfMemory, RandomError
        """
        return self._run(self._keygen(scheme, count, coins=coins, out=out))

    def encaps(self, scheme: SchemeLike, pk: Any, count: int | None = None, *, key_index: Any = None,
               coins: Any = None, errors: Errors = "raise") -> Encapsulations:
        """Encapsulate: make shared secrets and ciphertexts for the owners of the keys.

        Parameters
        ----------
        scheme : Scheme or str
        pk : array, uint8
            (n, public_key_bytes): item i uses key i. (public_key_bytes,): one key for all `count` items. Or a `KeySet`.
        count : int, optional
            Number of items if `pk` does not determine it; default 1.
        key_index : int or array of int, optional
            With a `KeySet`: an int: the key of all `count` items; (n,): item i uses key ``key_index[i]``; None: key i.
        coins : array, uint8, (count, encaps_coin_bytes), optional
            The random inputs, for tests.
        errors : {"raise", "return"}
            What to do about malformed items, after the others are done.

        Returns
        -------
        Encapsulations
            ct, uint8, (count, ciphertext_bytes); ss, Secret, (count, shared_secret_bytes); status, int32, (count,).

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a public key is malformed [FIPS203, 7.2]. It carries the result.
        ArgumentError, SizeError, OutOfMemory, RandomError
        """
        return self._run(self._encaps(scheme, pk, count, key_index=key_index, coins=coins, errors=errors))

    def decaps(self, scheme: SchemeLike, sk: Any, ct: Any, *, key_index: Any = None,
               errors: Errors = "raise") -> Decapsulations:
        """Recover shared secrets.

        A ciphertext that does not belong to the key is not an error: its item yields the scheme's rejection secret.

        Parameters
        ----------
        scheme : Scheme or str
        sk : Secret or array, uint8
            (n, secret_key_bytes): item i uses key i. (secret_key_bytes,): one key for all. Records of secret_seed_bytes
            are seeds. Or a `KeySet`.
        ct : array, uint8, (n, ciphertext_bytes) or (ciphertext_bytes,)
        key_index : int or array of int, optional
            With a `KeySet`, as in `encaps`.
        errors : {"raise", "return"}
            What to do about malformed items, after the others are done.

        Returns
        -------
        Decapsulations
            ss, Secret, (n, shared_secret_bytes); status, int32, (n,).

        Raises
        ------
        ItemsError
            With ``errors="raise"``: a secret key is malformed [FIPS203, 7.3]. It carries the result.
        ArgumentError, SizeError, OutOfMemory
        """
        return self._run(self._decaps(scheme, sk, ct, key_index=key_index, errors=errors))

    @overload
    def submit(self, op: Literal["keygen"], scheme: SchemeLike, count: int = 1, *, coins: Any = None,
               out: Any = None) -> Job[KeyPairs]: ...
    @overload
    def submit(self, op: Literal["encaps"], scheme: SchemeLike, pk: Any, count: int | None = None, *,
               key_index: Any = None, coins: Any = None, errors: Errors = "raise") -> Job[Encapsulations]: ...
    @overload
    def submit(self, op: Literal["decaps"], scheme: SchemeLike, sk: Any, ct: Any, *, key_index: Any = None,
               errors: Errors = "raise") -> Job[Decapsulations]: ...

    def submit(self, op: str, *args: Any, **kwargs: Any) -> Job[Any]:
        """Start a batch and return immediately.

        Parameters
        ----------
        op : {"keygen", "encaps", "decaps"}
        *args, **kwargs
            The arguments of the method of that name. Do not change the arrays before the job has finished; it raises
            ArgumentError if a Secret among them has been wiped.

        Returns
        -------
        Job
            A `concurrent.futures.Future` that can also be awaited.

        Examples
        --------
        >>> import polykem
        >>> ctx = polykem.Context(threads=2)
        >>> job = ctx.submit("keygen", "mlkem512", 10)
        >>> job.result(timeout=60).pk.shape
        (10, 800)
        """
        prepare: Callable[..., _Batch[Any]] = (self._keygen, self._encaps, self._decaps)[op_index(op)]
        batch: _Batch[Any] = prepare(*args, **kwargs)
        if batch.place is not HOST:
            raise ArgumentError(f'{op} on a GPU is queued on your stream and returns at once: call {op}(..., '
                                'errors="return") instead of submit')
        core = self._core

        def start(completions: _core.Completions, number: int) -> None:
            check(core.submit(batch.request, completions, number), batch.what)

        return _jobs.submit(start, lambda status: _finish(batch, status), (core, batch))

    def keyset(self, scheme: SchemeLike, keys: Any, kind: str | None = None) -> KeySet:
        """Copy keys into a `KeySet`.

        Parameters
        ----------
        scheme : Scheme or str
        keys : array, uint8, (n, bytes) or (bytes,)
            Public keys, secret keys or seeds of secret keys.
        kind : {"public", "secret", "seed"}, optional
            None: determined by the size of the records.
        """
        return KeySet(self, scheme, keys, kind)

    # ---- where the time goes

    def profile(self, scheme: SchemeLike, op: str, count: int = 1000, *, batch: int = 256) -> Profile:
        """Run about `count` operations and return the time of each step of the backend's plan.

        Other batches of this context that run meanwhile count as well.

        Parameters
        ----------
        scheme : Scheme or str
        op : {"keygen", "encaps", "decaps"}
        count : int
            Operations, rounded up to whole batches; one more batch warms up.
        batch : int
            Items of one call, each with its own key.

        Returns
        -------
        Profile
            A list of `StepRecord` in plan order.

        Examples
        --------
        >>> import polykem
        >>> p = polykem.Context(threads=1).profile("mlkem768", "encaps", 64, batch=32)
        >>> p.count, p.threads, p[0].op, all(record.stages for record in p)
        (64, 1, 'encaps', True)
        """
        scheme, number = as_scheme(scheme), op_index(op)
        batch = min(check_count(batch, "batch"), check_count(count))
        work = self._workload(scheme, number, batch)
        self._run(work)
        check(self._core.profile(True), "profiling")
        try:
            runs = -(-count // batch)
            begun = time.perf_counter_ns()
            for _ in range(runs):
                self._run(work)
            wall = time.perf_counter_ns() - begun
            records = self._core.profile_records()
        finally:
            self._core.profile(False)
        out = Profile(StepRecord(OPS[o], step, tuple(stages.split("+")), *measured)
                      for o, step, stages, *measured in records if o == number)
        out.scheme, out.op, out.backend = scheme.name, op, self.backend(scheme) or ""
        out.count, out.batch, out.threads, out.wall_nanoseconds = runs * batch, batch, self.threads, wall
        return out

    def plan(self, scheme: SchemeLike, op: str) -> list[tuple[str, tuple[str, ...]]]:
        """The steps of one operation here, each with the specification's stages that it covers."""
        return [(step, tuple(stages.split("+"))) for step, stages in
                self._core.plan(as_scheme(scheme)._index, op_index(op))]

    def _workload(self, scheme: Scheme, op: int, count: int) -> _Batch[Any]:
        if op == KEYGEN:
            return self._keygen(scheme, count)
        pk, sk = self.keygen(scheme, count)
        if op == ENCAPS:
            return self._encaps(scheme, pk)
        return self._decaps(scheme, sk, self.encaps(scheme, pk).ct)

    # ---- from arguments to batches

    def _run(self, batch: _Batch[Result]) -> Result:
        return _finish(batch, batch.place.run(self, batch))

    def _keygen(self, scheme: SchemeLike, count: int = 1, *, coins: Any = None, out: Any = None) -> _Batch[KeyPairs]:
        scheme, count = as_scheme(scheme), check_count(count)
        given_out = None if out is None else _pair(out)
        place = place_of(coins, *(given_out or ()))
        if given_out is None:
            result = written = KeyPairs(place.empty((count, scheme.public_key_bytes)),
                                        place.secret((count, scheme.secret_key_bytes)))
        else:
            result = given_out
            written = KeyPairs(place.output(result.pk, "out.pk"), place.output(result.sk, "out.sk"))
            check_records(written.pk, "out.pk", scheme.public_key_bytes, count)
            check_records(written.sk, "out.sk", scheme.secret_key_bytes, count)
        given, coins = coins, _coins(place, coins, scheme.keygen_coin_bytes, count)
        request = _core.Request(KEYGEN, scheme._index, count, {
            "coins": place.lend(coins), "pk_out": place.lend(written.pk), "sk_out": place.lend(written.sk)})
        return _Batch(f"{count} key pairs of {scheme.name}", KEYGEN, scheme, count, place, request, result, "raise",
                      secrets=secrets_of(given, *result))

    def _encaps(self, scheme: SchemeLike, pk: Any, count: int | None = None, *, key_index: Any = None,
                coins: Any = None, errors: Errors = "raise") -> _Batch[Encapsulations]:
        scheme = as_scheme(scheme)
        place, secrets = place_of(pk, coins), secrets_of(pk, coins)
        if isinstance(pk, KeySet):
            keys, count = _keys_of_set(pk, scheme, "public", key_index, count)
        else:
            pk = place.input(pk, "pk")
            check_records(pk, "pk", scheme.public_key_bytes, None if pk.ndim == 1 else count)
            _refuse_index(key_index)
            keys = _Keys(_SHARED if pk.ndim == 1 else _PER_ITEM, pk)
            count = items_of(pk) if count is None else check_count(count)
        coins = _coins(place, coins, scheme.encaps_coin_bytes, count)
        queued = keys.keyset is None
        result = Encapsulations(place.empty((count, scheme.ciphertext_bytes)),
                                place.secret((count, scheme.shared_secret_bytes)), place.status(count, queued))
        request = _core.Request(ENCAPS, scheme._index, count, {
            "coins": place.lend(coins), "pk": place.lend(keys.array), "ct_out": place.lend(result.ct),
            "ss_out": place.lend(result.ss)}, item_status=place.lend(result.status), **keys.fields())
        return _Batch(f"{count} encapsulations of {scheme.name}", ENCAPS, scheme, count, place, request, result,
                      _checked(errors), queued, secrets)

    def _decaps(self, scheme: SchemeLike, sk: Any, ct: Any, *, key_index: Any = None,
                errors: Errors = "raise") -> _Batch[Decapsulations]:
        scheme = as_scheme(scheme)
        place, secrets = place_of(sk, ct), secrets_of(sk, ct)
        ct = place.input(ct, "ct")
        check_records(ct, "ct", scheme.ciphertext_bytes)
        count, form = items_of(ct), _EXPANDED
        if isinstance(sk, KeySet):
            keys, count = _keys_of_set(sk, scheme, "secret", key_index, count)
        else:
            sk = place.input(sk, "sk")
            form = _form_of(scheme, sk, count)
            _refuse_index(key_index)
            keys = _Keys(_SHARED if sk.ndim == 1 else _PER_ITEM, sk)
        queued = keys.keyset is None and form == _EXPANDED
        result = Decapsulations(place.secret((count, scheme.shared_secret_bytes)), place.status(count, queued))
        request = _core.Request(DECAPS, scheme._index, count, {
            "sk": place.lend(keys.array), "ct": place.lend(ct), "ss_out": place.lend(result.ss)}, secret_form=form,
            item_status=place.lend(result.status), **keys.fields())
        return _Batch(f"{count} decapsulations of {scheme.name}", DECAPS, scheme, count, place, request, result,
                      _checked(errors), queued, secrets)


def _finish(batch: _Batch[Result], status: int) -> Result:
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


def _checked(errors: str) -> str:
    if errors not in ("raise", "return"):
        raise ArgumentError(f'errors is {errors!r}; it is "raise" or "return"')
    return errors


def _pair(out: Any) -> KeyPairs:
    try:
        return KeyPairs(*out)
    except TypeError:
        raise ArgumentTypeError("out is two arrays, (pk, sk)") from None


def _coins(place: Any, coins: Any, record: int, count: int) -> Any:
    if coins is None:
        return None
    coins = place.input(coins, "coins")
    check_records(coins, "coins", record, count)
    return coins


def _refuse_index(key_index: Any) -> None:
    if key_index is not None:
        raise ArgumentError("key_index chooses keys of a KeySet; index the array instead")


def _form_of(scheme: Scheme, sk: Any, count: int) -> int:
    """Expanded keys or seeds, by the size of the records."""
    sizes = [size for size in (scheme.secret_key_bytes, scheme.secret_seed_bytes) if size]
    if sk.ndim not in (1, 2) or sk.shape[-1] not in sizes:
        records = " or ".join(f"({size},) or ({count}, {size})" for size in sizes)
        raise shape_error("sk", sk.shape, records, scheme.secret_key_bytes)
    if sk.ndim == 2 and sk.shape[0] != count:
        hint = "; pass sk[0] to use one key for all" if sk.shape[0] == 1 else ""
        raise ArgumentError(f"there are {sk.shape[0]} secret keys for {count} ciphertexts{hint}")
    return _SEED if sk.shape[-1] == scheme.secret_seed_bytes else _EXPANDED


def _keys_of_set(keyset: KeySet, scheme: Scheme, kind: str, key_index: Any, count: int | None) -> tuple[_Keys, int]:
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
        return _Keys(_PER_ITEM, keyset=keyset), count
    try:
        index = np.asarray(key_index)
    except (RuntimeError, TypeError, ValueError) as error:
        raise ArgumentError(f"key_index is an int or a one-dimensional array of int: {error}") from error
    if index.dtype.kind not in "iu" or index.ndim > 1:
        raise ArgumentError("key_index is an int or a one-dimensional array of int")
    if index.size == 0 or index.min() < 0 or index.max() >= size:
        raise RangeError(f"key_index has 0 to {size - 1}, the keys of the set")
    if index.ndim == 0:
        count = 1 if count is None else check_count(count)
        return _Keys(_SHARED, keyset=keyset, index=_indices(index.reshape(1))), count
    if count not in (None, index.size):
        raise ArgumentError(f"key_index has {index.size} entries for {count} items")
    return _Keys(_PER_ITEM, keyset=keyset, index=_indices(index)), index.size


def _indices(index: npt.NDArray[Any]) -> npt.NDArray[np.uintp]:
    return np.ascontiguousarray(index, dtype=np.uintp)
