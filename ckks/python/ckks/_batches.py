# SPDX-License-Identifier: Apache-2.0
"""Batches of plaintexts and ciphertexts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np
import numpy.typing as npt

from .. import _core
from . import _noise
from ._device import Device, moved, opened
from ._errors import ArgumentError
from ._noise import UNKNOWN, Estimate

if TYPE_CHECKING:
    from ._context import Context
    from ._evaluator import Evaluator


class _Batch:
    """The base of `Plaintexts` and `Ciphertexts`, which are immutable."""

    def __init__(self, context: Context, core: Any, degree: int = 1, estimate: Estimate = UNKNOWN):
        self.context = context
        self._core = core
        self.degree = degree
        """Scales that were multiplied without a rescaling."""
        self._estimate = estimate

    @property
    def count(self) -> int:
        """Items of the batch."""
        return int(self._core.count)

    @property
    def slots(self) -> int:
        """Complex numbers in an item."""
        return int(self._core.slots)

    @property
    def shape(self) -> tuple[int, int]:
        """(count, slots), the shape of the decrypted array."""
        return self.count, self.slots

    @property
    def limbs(self) -> int:
        """Number of primes that are left."""
        return int(self._core.limbs)

    @property
    def scale(self) -> float:
        """The factor that the numbers were multiplied by."""
        return float(self._core.scale)

    @property
    def level(self) -> int:
        """Number of primes that were dropped."""
        return len(self.context.parameters.q) - self.limbs

    @property
    def gpu(self) -> int | None:
        """The number of the batch's GPU; None: main memory."""
        return None if self._core.place < 0 else self._core.place

    def __len__(self) -> int:
        return self.count


class Plaintexts(_Batch):
    """Encoded numbers, a polynomial for each item; they are zeroized on release."""

    @classmethod
    def from_words(cls, context: Context, words: Any, slots: int, scale: float) -> Plaintexts:
        """Make plaintexts of residues.

        Parameters
        ----------
        context : Context
        words : array, uint64, (count, limbs, N)
            Rows as ``polykem/ckks.h`` has them; copied.
        slots : int
            Complex numbers in an item, a power of two.
        scale : float
            The factor of the numbers: above 0 and below the product of the limbs' primes.

        Raises
        ------
        ResidueError, LevelError, ScaleError, ArgumentError
        """
        array = _words(words, 3, context)
        core = _core.ckks_plaintexts(context._core, array, array.shape[0], array.shape[1], slots, scale)
        return cls(context, core)

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """uint64, (count, limbs, N): a view that cannot be written; of a batch on a GPU, a copy."""
        words: npt.NDArray[np.uint64] = self.to_host()._core.words(self.context._core)
        return words

    def to(self, device: Device | int | str) -> Plaintexts:
        """Copy the batch to a GPU, with the arguments and errors of `Ciphertexts.to`."""
        return self._like(moved(opened(self.context, device), self._core))

    def to_host(self) -> Plaintexts:
        """Copy the batch to main memory."""
        return self if self.gpu is None else self._like(_core.ckks_to_host(self._core))

    def _like(self, core: Any) -> Plaintexts:
        return Plaintexts(self.context, core, self.degree, self._estimate)

    def __repr__(self) -> str:
        return f"<polykem.ckks.Plaintexts: {self.count} x {self.slots} slots, {self.limbs} limbs>"


class Ciphertexts(_Batch):
    """A batch of encrypted numbers with the same number of parts and limbs and the same scale.

    ``batch[i]`` and ``batch[i:j]`` are copies of some items on the same device; with a step other than 1, in main
    memory. An evaluator's ``bind``, and what it computes, allow ``+``, ``-`` and ``*`` with numbers, arrays, plaintexts
    and other ciphertexts.

    Attributes
    ----------
    context : Context
    key_tag : str
        Names the secret key that decrypts it, as OpenFHE does; empty if it is not known.
    """

    __array_ufunc__ = None  # array * ciphertexts asks the ciphertexts

    def __init__(self, context: Context, core: Any, degree: int = 1, key_tag: str = "", estimate: Estimate = UNKNOWN):
        super().__init__(context, core, degree, estimate)
        self.key_tag = key_tag
        self._evaluator: Evaluator | None = None

    @classmethod
    def from_words(cls, context: Context, words: Any, slots: int, scale: float, *, degree: int = 1,
                   key_tag: str = "") -> Ciphertexts:
        """Make ciphertexts of residues.

        Parameters
        ----------
        context : Context
        words : array, uint64, (count, parts, limbs, N)
            Rows as ``polykem/ckks.h`` has them; copied.
        slots : int
            Complex numbers in an item, a power of two.
        scale : float
            The factor of the numbers: above 0 and below the product of the limbs' primes.
        degree : int
            Scales that were multiplied without a rescaling.
        key_tag : str
            Names the secret key.

        Raises
        ------
        ResidueError, LevelError, ScaleError, ArgumentError
        """
        array = _words(words, 4, context)
        core = _made(context, array, slots, scale)
        return cls(context, core, degree, key_tag)

    @property
    def parts(self) -> int:
        """2, or 3 for a product that was not relinearised."""
        return int(self._core.parts)

    @property
    def words(self) -> npt.NDArray[np.uint64]:
        """uint64, (count, parts, limbs, N): a view that cannot be written; of a batch on a GPU, a copy."""
        words: npt.NDArray[np.uint64] = self.to_host()._core.words(self.context._core)
        return words

    def to(self, device: Device | int | str) -> Ciphertexts:
        """Copy the batch to a GPU.

        Parameters
        ----------
        device : Device, int or str
            Of ``Context.device``; or a number, "cuda" or "cuda:1", which open the GPU for this batch alone.

        Raises
        ------
        DeviceError
            There is no such GPU, or the batch lies on another device.
        OutOfMemory
        """
        return self._like(moved(opened(self.context, device), self._core))

    def to_host(self) -> Ciphertexts:
        """Copy the batch to main memory."""
        return self if self.gpu is None else self._like(_core.ckks_to_host(self._core))

    def with_scale(self, scale: float) -> Ciphertexts:
        """Return the same residues at another scale, which multiplies the numbers by the old scale over the new one.

        Parameters
        ----------
        scale : float
            Above 0 and below the product of the limbs' primes.

        Raises
        ------
        ScaleError, ArgumentError
        """
        out = self._like(_core.ckks_with_scale(self.context._core, self._core, scale))
        out._estimate = self._estimate.times(self.scale / scale)
        return out

    @property
    def expected_error(self) -> float | None:
        """The root mean square, over all slots, of the absolute error that decrypted numbers are expected to have; None
        of ciphertexts from files or words and of what is computed from them (see `with_estimate`), and in contexts of
        OpenFHE with Gaussian secrets.

        It is computed without the secret key, from the parameters, the operations, and the `magnitude` of the numbers:
        an average over keys and noise, not a bound [CCHMOP23]. Secrets are uniform ternary, or sparse if a file says
        so. Operands count as independent unless they are one object, so that x^2 x has 3 errors of x where 2.2 are
        expected. A polynomial's distance from a function is not an error here.

        Examples
        --------
        >>> from polykem import ckks
        >>> context = ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
        >>> secret = ckks.SecretKey.generate(context)
        >>> public = ckks.PublicKey.generate(context, secret)
        >>> a = context.encrypt(public, [5.0, -3.0, 0.0, 1.0], magnitude=5)
        >>> b = ckks.Evaluator(context, ckks.Keys.generate(context, secret)).square(a)
        >>> print(f"{a.expected_error:.1e} {b.expected_error:.1e}, {b.expected_precision:.1f} correct bits")
        8.9e-07 8.9e-06, 16.1 correct bits
        """
        return self._estimate.error(self.slots) if self._estimate.known else None

    @property
    def expected_precision(self) -> float | None:
        """The correct bits after the binary point that every number is expected to have, -log2 of about the largest
        error in the batch; None where nothing is known. `Inspector` measures it.

        It is lower than -log2 of `expected_error`: the largest of many errors is a few times the average, and key
        switching leaves a larger error in one slot, that of number 0 if no rotation follows.
        """
        if not self._estimate.known:
            return None
        error = self._estimate.largest_error(self.slots, self.count)
        return -math.log2(error) if error > 0 else math.inf

    @property
    def magnitude(self) -> float | None:
        """The bound on the numbers' absolute values by which errors are expected; None where nothing is known.

        `Context.encrypt` is told it. Sums add magnitudes up, products multiply them, and `Chebyshev` and plaintexts
        have the largest of their numbers. Decryption tells whether it holds.
        """
        return self._estimate.magnitude if self._estimate.known else None

    def with_estimate(self, *, magnitude: float | None = None, error: float | None = None) -> Ciphertexts:
        """Return the same ciphertexts with what you know of them: those that were read from a file or made of words, or
        numbers that are smaller than computed.

        Parameters
        ----------
        magnitude : float, optional
            A bound on the numbers' absolute values, as `Context.encrypt` takes it. By default the present one, or 1
            where nothing is known.
        error : float, optional
            The `expected_error`, the same in all slots. By default the present one, or that of an encryption with a
            public key where nothing is known.

        Raises
        ------
        ArgumentError
            They are negative or not finite.
        """
        out = self._like(self._core)
        known = self._estimate.known
        if magnitude is not None or not known:
            magnitude = checked_size(1.0 if magnitude is None else magnitude, "magnitude")
            out._estimate = (self._estimate.of_magnitude(magnitude) if known else
                             self.context._noise.fresh(self.slots, self.scale, magnitude))
        if error is not None:
            out._estimate = _noise.stated(checked_size(error, "error"), out._estimate.magnitude)
        return out

    def __getitem__(self, key: int | slice) -> Ciphertexts:
        if not isinstance(key, slice):
            index = int(key.__index__())
            if not -self.count <= index < self.count:
                raise IndexError(f"item {index} of a batch of {self.count}")
            return self._like(_core.ckks_items(self.context._core, self._core, index % self.count, 1))
        first, end, step = key.indices(self.count)
        if not range(first, end, step):
            raise ArgumentError("a batch has at least one item")
        if step == 1:
            return self._like(_core.ckks_items(self.context._core, self._core, first, end - first))
        words = np.ascontiguousarray(self.words[key])
        core = _made(self.context, words, self.slots, self.scale)
        return self._like(core)

    def _like(self, core: Any, degree: int | None = None) -> Ciphertexts:
        """Return a batch of the same numbers, or some of them, and the same errors."""
        out = Ciphertexts(self.context, core, self.degree if degree is None else degree, self.key_tag, self._estimate)
        out._evaluator = self._evaluator
        return out

    def _bound(self) -> Evaluator:
        if self._evaluator is None:
            raise ArgumentError("operators need an evaluator: begin with Evaluator.bind(ciphertexts)")
        return self._evaluator

    def __add__(self, other: Any) -> Ciphertexts:
        return self._bound().add(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Ciphertexts:
        return self._bound().sub(self, other)

    def __rsub__(self, other: Any) -> Ciphertexts:
        return self._bound().add(self._bound().negate(self), other)

    def __mul__(self, other: Any) -> Ciphertexts:
        return self._bound().mul(self, other)

    __rmul__ = __mul__

    def __neg__(self) -> Ciphertexts:
        return self._bound().negate(self)

    def __repr__(self) -> str:
        return (f"<polykem.ckks.Ciphertexts: {self.count} x {self.slots} slots, {self.parts} parts, "
                f"{self.limbs} limbs, scale 2^{np.log2(self.scale):.2f}>")


def join(batches: Sequence[Ciphertexts]) -> Ciphertexts:
    """Join batches into one in main memory, with all items in order.

    Parameters
    ----------
    batches : sequence of Ciphertexts
        Of one context and key, with equal slots, parts, limbs and scale.

    Raises
    ------
    ArgumentError
        They differ.
    """
    if not batches:
        raise ArgumentError("there is nothing to join")
    first = batches[0]
    for other in batches[1:]:
        first.context.check(other)
        for name in ("slots", "parts", "limbs", "scale", "key_tag"):
            if getattr(first, name) != getattr(other, name):
                raise ArgumentError(f"batches with different {name} cannot be joined: "
                                    f"{getattr(first, name)} and {getattr(other, name)}")
    words = np.concatenate([batch.words for batch in batches])
    core = _made(first.context, words, first.slots, first.scale)
    out = first._like(core, max(batch.degree for batch in batches))
    out._estimate = _noise.joined([(batch.count, batch._estimate) for batch in batches])
    return out


def checked_size(value: Any, name: str) -> float:
    """Return a number that is 0 or more and finite; raise ArgumentError if the value is none."""
    try:
        size = float(value)
    except (TypeError, ValueError, OverflowError):
        size = math.nan
    if not 0 <= size < math.inf:
        raise ArgumentError(f"{name} must be a finite number from 0 on, not {value!r}")
    return size


def _words(words: Any, dimensions: int, context: Context) -> np.ndarray:
    array = np.asarray(words)
    if array.dtype != np.uint64 or array.ndim != dimensions or array.shape[-1] != context.ring_dimension:
        raise ArgumentError(f"words must be uint64 in {dimensions} dimensions, the last of N = "
                            f"{context.ring_dimension}, not {array.dtype} of shape {array.shape}")
    return np.ascontiguousarray(array)


def _made(context: Context, words: npt.NDArray[np.uint64], slots: int, scale: float) -> _core.CkksCiphertexts:
    count, parts, limbs, _ = words.shape
    return _core.ckks_ciphertexts(context._core, words, count, parts, limbs, slots, scale)
