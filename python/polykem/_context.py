# SPDX-License-Identifier: Apache-2.0
"""A context and its batches."""

from __future__ import annotations

import time
from typing import Any, Callable, Literal, overload

import numpy as np
import numpy.typing as npt

from . import _core, _jobs, _signing
from ._arrays import check_count, check_records, items_of
from ._batch import (EXPANDED, PER_ITEM, SHARED, Batch, Errors, Keys, Result, checked_errors, coins_of, finish, form_of,
                     keys_of_set, refuse_index)
from ._device import check_host, place_of
from ._errors import ArgumentError, ArgumentTypeError, check
from ._jobs import Job
from ._keyset import KeySet
from ._places import HOST
from ._profile import Profile, StepRecord
from ._results import Decapsulations, Encapsulations, KeyPairs, Signatures, Verified
from ._scheme import (DECAPS, ENCAPS, KEYGEN, OPS, SIGN, AnySet, AnySetLike, Backend, SchemeLike, SignatureLike,
                      SignatureScheme, as_scheme, as_set, backend_name, op_index)
from ._secret import secrets_of


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
            raise ArgumentTypeError(f"threads must be a whole number, not {type(threads).__name__}")
        if not 0 <= threads <= 1024:
            raise ArgumentError(f"threads is {threads}; expected 0 to 1024")
        name = backend_name(backend)
        self._forced = name
        self._core = _core.Context(threads, name)
        check(self._core.status, "creating a context" + (f" with the backend {name!r}" if name else ""))

    @property
    def threads(self) -> int:
        """Worker threads."""
        return self._core.threads

    def backend(self, scheme: AnySetLike) -> str | None:
        """Return the name of the backend that runs `scheme` here, or None if none can.

        If it is "cuda" and was not forced, small batches still run on the CPU.
        """
        return self._core.backend(as_set(scheme)._index)

    def close(self) -> None:
        """Release the context now. Batches and key sets that use it keep it until they end."""
        self._core.close()

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a Context cannot be pickled: its threads belong to this process; make one in each process")

    # ---- batches

    def keygen(self, scheme: AnySetLike, count: int = 1, *, coins: Any = None, out: Any = None) -> KeyPairs:
        """Make `count` key pairs.

        Parameters
        ----------
        scheme : Scheme, SignatureScheme or str
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

    def sign(self, scheme: SignatureLike, sk: Any, messages: Any, *, context: Any = b"", prehash: str | None = None,
             mu: bool = False, deterministic: bool = False, coins: Any = None, key_index: Any = None,
             errors: Errors = "raise") -> Signatures:
        """Sign messages.

        An expanded private key is not checked [FIPS204, Alg 25]: signatures by a damaged one do not verify.

        Parameters
        ----------
        scheme : SignatureScheme or str
        sk : Secret or array, uint8
            (n, secret_key_bytes): item i uses key i. (secret_key_bytes,): one key for all. Records of secret_seed_bytes
            are seeds. Or a `KeySet`.
        messages : list of bytes, array or Strings
            A list has a message of any length for each item; (n, bytes) are n of one length; ``bytes`` or (bytes,) are
            one for all.
        context : bytes, list of bytes, array or Strings
            At most 255 bytes for each item, in the same forms: what the verifier must know besides the message.
        prehash : str, optional
            HashML-DSA: `messages` are digests by the hash of that name, "sha512" for example.
        mu : bool
            `messages` are the 64 bytes mu of each item [FIPS204, 5.4]; the context is in them.
        deterministic : bool
            The same message yields the same signature.
        coins : array, uint8, (n, sign_coin_bytes), optional
            The random inputs, for tests.
        key_index : int or array of int, optional
            With a `KeySet`, as in `encaps`.
        errors : {"raise", "return"}
            What to do about items with a status of their own, after the others are done.

        Returns
        -------
        Signatures
            sig, uint8, (n, signature_bytes); status, int32, (n,).

        Raises
        ------
        ArgumentError, SizeError, OutOfMemory, RandomError

        Examples
        --------
        >>> import polykem
        >>> ctx = polykem.Context(threads=1)
        >>> pk, sk = ctx.keygen("mldsa65")
        >>> sig, status = ctx.sign("mldsa65", sk[0], [b"to Ada", b"to Grace"], context=b"letters")
        >>> ctx.verify("mldsa65", pk[0], [b"to Ada", b"to Emmy"], sig, context=b"letters").tolist()
        [True, False]
        """
        return self._run(_signing.sign(scheme, sk, messages, context=context, prehash=prehash, mu=mu,
                                       deterministic=deterministic, coins=coins, key_index=key_index, errors=errors))

    def verify(self, scheme: SignatureLike, pk: Any, messages: Any, sig: Any, *, context: Any = b"",
               prehash: str | None = None, mu: bool = False, key_index: Any = None) -> npt.NDArray[np.bool_]:
        """Verify signatures.

        Parameters
        ----------
        scheme : SignatureScheme or str
        pk : array, uint8
            (n, public_key_bytes): item i uses key i. (public_key_bytes,): one key for all. Or a `KeySet`.
        messages, context, prehash, mu
            As in `sign`.
        sig : array, uint8, (n, signature_bytes) or (signature_bytes,)
        key_index : int or array of int, optional
            With a `KeySet`, as in `encaps`.

        Returns
        -------
        numpy.ndarray
            bool, (n,): True where the signature is valid for the message under the key; ``.all()`` sums it up.

        Raises
        ------
        ArgumentError, SizeError, OutOfMemory
        """
        return self._run(_signing.verify(scheme, pk, messages, sig, context=context, prehash=prehash, mu=mu,
                                         key_index=key_index)).valid

    @overload
    def submit(self, op: Literal["keygen"], scheme: AnySetLike, count: int = 1, *, coins: Any = None,
               out: Any = None) -> Job[KeyPairs]: ...
    @overload
    def submit(self, op: Literal["encaps"], scheme: SchemeLike, pk: Any, count: int | None = None, *,
               key_index: Any = None, coins: Any = None, errors: Errors = "raise") -> Job[Encapsulations]: ...
    @overload
    def submit(self, op: Literal["decaps"], scheme: SchemeLike, sk: Any, ct: Any, *, key_index: Any = None,
               errors: Errors = "raise") -> Job[Decapsulations]: ...
    @overload
    def submit(self, op: Literal["sign"], scheme: SignatureLike, sk: Any, messages: Any, *, context: Any = b"",
               prehash: str | None = None, mu: bool = False, deterministic: bool = False, coins: Any = None,
               key_index: Any = None, errors: Errors = "raise") -> Job[Signatures]: ...
    @overload
    def submit(self, op: Literal["verify"], scheme: SignatureLike, pk: Any, messages: Any, sig: Any, *,
               context: Any = b"", prehash: str | None = None, mu: bool = False,
               key_index: Any = None) -> Job[npt.NDArray[np.bool_]]: ...

    def submit(self, op: str, *args: Any, **kwargs: Any) -> Job[Any]:
        """Start a batch and return immediately.

        Parameters
        ----------
        op : {"keygen", "encaps", "decaps", "sign", "verify"}
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
        prepare: dict[str, Callable[..., Batch[Any]]] = {
            "keygen": self._keygen, "encaps": self._encaps, "decaps": self._decaps, "sign": _signing.sign,
            "verify": _signing.verify}
        if op not in prepare:
            raise ArgumentError(f"there is no operation {op!r}; there are {', '.join(OPS)}")
        batch = prepare[op](*args, **kwargs)
        if batch.place is not HOST:
            raise ArgumentError(f'{op} on a GPU is queued on your stream and returns at once: call {op}(..., '
                                'errors="return") instead of submit')
        core = self._core

        def start(completions: _core.Completions, number: int) -> None:
            check(core.submit(batch.request, completions, number), batch.what)

        def end(status: int) -> Any:
            result = finish(batch, status)
            return result.valid if isinstance(result, Verified) else result

        return _jobs.submit(start, end, (core, batch))

    def keyset(self, scheme: AnySetLike, keys: Any, kind: str | None = None) -> KeySet:
        """Copy keys into a `KeySet`.

        Parameters
        ----------
        scheme : Scheme, SignatureScheme or str
        keys : array, uint8, (n, bytes) or (bytes,)
            Public keys, secret keys or seeds of secret keys.
        kind : {"public", "secret", "seed"}, optional
            None: determined by the size of the records.
        """
        return KeySet(self, scheme, keys, kind)

    # ---- where the time goes

    def profile(self, scheme: AnySetLike, op: str, count: int = 1000, *, batch: int = 256) -> Profile:
        """Run about `count` operations and return the time of each step of the backend's plan.

        Other batches of this context that run meanwhile count as well.

        Parameters
        ----------
        scheme : Scheme, SignatureScheme or str
        op : {"keygen", "encaps", "decaps", "sign", "verify"}
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
        scheme = as_set(scheme)
        number = op_index(op, scheme)
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

    def plan(self, scheme: AnySetLike, op: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the steps of an operation on this machine, each with the specification's stages that it covers."""
        scheme = as_set(scheme)
        return [(step, tuple(stages.split("+"))) for step, stages in
                self._core.plan(scheme._index, op_index(op, scheme))]

    def _workload(self, scheme: AnySet, op: int, count: int) -> Batch[Any]:
        if op == KEYGEN:
            return self._keygen(scheme, count)
        pk, sk = self.keygen(scheme, count)
        if isinstance(scheme, SignatureScheme):
            messages = np.arange(count, dtype=np.uint64).view(np.uint8).reshape(count, 8)
            if op == SIGN:
                return _signing.sign(scheme, sk, messages)
            return _signing.verify(scheme, pk, messages, self.sign(scheme, sk, messages).sig)
        if op == ENCAPS:
            return self._encaps(scheme, pk)
        return self._decaps(scheme, sk, self.encaps(scheme, pk).ct)

    # ---- from arguments to batches

    def _run(self, batch: Batch[Result]) -> Result:
        return finish(batch, batch.place.run(self, batch))

    def _keygen(self, scheme: AnySetLike, count: int = 1, *, coins: Any = None, out: Any = None) -> Batch[KeyPairs]:
        scheme, count = as_set(scheme), check_count(count)
        given_out = None if out is None else _pair(out)
        place = place_of(coins, *(given_out or ()))
        if isinstance(scheme, SignatureScheme):
            check_host(place, "coins or out")
        if given_out is None:
            result = written = KeyPairs(place.empty((count, scheme.public_key_bytes)),
                                        place.secret((count, scheme.secret_key_bytes)))
        else:
            result = given_out
            written = KeyPairs(place.output(result.pk, "out.pk"), place.output(result.sk, "out.sk"))
            check_records(written.pk, "out.pk", scheme.public_key_bytes, count)
            check_records(written.sk, "out.sk", scheme.secret_key_bytes, count)
        given, coins = coins, coins_of(place, coins, scheme.keygen_coin_bytes, count)
        request = _core.Request(KEYGEN, scheme._index, count, {
            "coins": place.lend(coins), "pk_out": place.lend(written.pk), "sk_out": place.lend(written.sk)})
        return Batch(f"{count} key pairs of {scheme.name}", KEYGEN, scheme, count, place, request, result, "raise",
                      secrets=secrets_of(given, *result))

    def _encaps(self, scheme: SchemeLike, pk: Any, count: int | None = None, *, key_index: Any = None,
                coins: Any = None, errors: Errors = "raise") -> Batch[Encapsulations]:
        scheme = as_scheme(scheme)
        place, secrets = place_of(pk, coins), secrets_of(pk, coins)
        if isinstance(pk, KeySet):
            keys, count = keys_of_set(pk, scheme, "public", key_index, count)
        else:
            pk = place.input(pk, "pk")
            check_records(pk, "pk", scheme.public_key_bytes, None if pk.ndim == 1 else count)
            refuse_index(key_index)
            keys = Keys(SHARED if pk.ndim == 1 else PER_ITEM, pk)
            count = items_of(pk) if count is None else check_count(count)
        coins = coins_of(place, coins, scheme.encaps_coin_bytes, count)
        queued = keys.keyset is None
        result = Encapsulations(place.empty((count, scheme.ciphertext_bytes)),
                                place.secret((count, scheme.shared_secret_bytes)), place.status(count, queued))
        request = _core.Request(ENCAPS, scheme._index, count, {
            "coins": place.lend(coins), "pk": place.lend(keys.array), "ct_out": place.lend(result.ct),
            "ss_out": place.lend(result.ss)}, item_status=place.lend(result.status), **keys.fields())
        return Batch(f"{count} encapsulations of {scheme.name}", ENCAPS, scheme, count, place, request, result,
                      checked_errors(errors), queued, secrets)

    def _decaps(self, scheme: SchemeLike, sk: Any, ct: Any, *, key_index: Any = None,
                errors: Errors = "raise") -> Batch[Decapsulations]:
        scheme = as_scheme(scheme)
        place, secrets = place_of(sk, ct), secrets_of(sk, ct)
        ct = place.input(ct, "ct")
        check_records(ct, "ct", scheme.ciphertext_bytes)
        count, form = items_of(ct), EXPANDED
        if isinstance(sk, KeySet):
            keys, count = keys_of_set(sk, scheme, "secret", key_index, count)
        else:
            sk = place.input(sk, "sk")
            form = form_of(scheme, sk, count, "ciphertexts")
            refuse_index(key_index)
            keys = Keys(SHARED if sk.ndim == 1 else PER_ITEM, sk)
        queued = keys.keyset is None and form == EXPANDED
        result = Decapsulations(place.secret((count, scheme.shared_secret_bytes)), place.status(count, queued))
        request = _core.Request(DECAPS, scheme._index, count, {
            "sk": place.lend(keys.array), "ct": place.lend(ct), "ss_out": place.lend(result.ss)}, secret_form=form,
            item_status=place.lend(result.status), **keys.fields())
        return Batch(f"{count} decapsulations of {scheme.name}", DECAPS, scheme, count, place, request, result,
                      checked_errors(errors), queued, secrets)


def _pair(out: Any) -> KeyPairs:
    try:
        return KeyPairs(*out)
    except TypeError:
        raise ArgumentTypeError("out must be two arrays, (pk, sk)") from None
