# SPDX-License-Identifier: Apache-2.0
"""Contexts: a parameter set with its tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from . import _noise
from ._batches import Ciphertexts, Plaintexts, checked_size
from ._device import Device
from ._errors import ArgumentError
from ._parameters import Parameters

if TYPE_CHECKING:
    from ._keys import PublicKey, SecretKey


class Context:
    """The tables of a parameter set, and the threads that compute with them. Several threads may use one.

    Parameters
    ----------
    parameters : Parameters
    threads : int
        Number of threads; 0: one for each CPU that the process may use.
    allow_insecure : bool
        Also allow less than 128 bits of security, for tests.

    Attributes
    ----------
    parameters : Parameters
        With the roots of all primes.

    Raises
    ------
    ParameterError
        The parameters are contradictory; the text says how.
    InsecureError
        They leave less than 128 bits of security.

    Examples
    --------
    >>> from polykem import ckks
    >>> ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
    <polykem.ckks.Context: N = 2^13, 3 + 2 primes, 216 bits, 2 digits: ...>
    """

    def __init__(self, parameters: Parameters, threads: int = 0, allow_insecure: bool = False):
        if threads < 0:
            raise ArgumentError(f"threads is {threads}; it must be 0 or more")
        self._core = parameters._core(threads, allow_insecure)
        count = len(parameters.q)
        roots = tuple(self._core.prime(i)[1] for i in range(count + len(parameters.p)))
        self.parameters = replace(parameters, q_roots=roots[:count], p_roots=roots[count:])
        self._openfhe: Any = None  # the context of a file, which is written again as it is
        self._openfhe_special = False  # the special primes are those of a file's keys
        self._weak = False  # of a file whose secrets or errors are smaller than the standard's
        self._noise = _noise.NoiseModel(self.parameters)

    @property
    def ring_dimension(self) -> int:
        """N."""
        return int(self._core.ring_dimension)

    @property
    def security_bits(self) -> int:
        """128, or 0 where less was allowed."""
        return 0 if self._weak else int(self._core.security_bits)

    def __repr__(self) -> str:
        weak = ", but its file's secrets or errors are too small" * self._weak
        return f"<polykem.ckks.Context: {self.parameters}{weak}>"

    def check(self, thing: Any) -> None:
        """Raise ArgumentError unless `thing`, a key or a batch, belongs to this parameter set."""
        if thing.context is not self and not self.parameters.same_rings(thing.context.parameters):
            raise ArgumentError(f"{type(thing).__name__} of another parameter set")

    def device(self, ordinal: int = 0, scratch_bytes: int = 0) -> Device:
        """Open a GPU with the tables of this context.

        Parameters
        ----------
        ordinal : int
            CUDA's number of the GPU.
        scratch_bytes : int
            Memory for an operation beyond its operands and result; larger batches are computed in parts. 0: 2 GiB, or a
            quarter of what is free if that is less.

        Raises
        ------
        DeviceError
            There is no such GPU, or no libpolykem_ckks_cuda.so; the text says what was looked for.
        ParameterError
            ``log_n`` is below 12, or there are too many digits and primes for a GPU.
        OutOfMemory
            The GPU's memory does not hold the tables.
        """
        if ordinal < 0 or scratch_bytes < 0:
            raise ArgumentError("ordinal and scratch_bytes must be 0 or more")
        return Device(self, _core.ckks_device(self._core, ordinal, scratch_bytes), ordinal)

    # ---- messages

    def encode(self, values: Any, *, limbs: int | None = None, scale: float | None = None) -> Plaintexts:
        """Encode numbers.

        Parameters
        ----------
        values : array, real or complex, (count, slots) or (slots,)
            Slots are a power of two, at most N/2.
        limbs : int, optional
            Primes of the plaintexts; by default all.
        scale : float, optional
            By default that of ``parameters.fresh_scale(limbs)``.

        Returns
        -------
        Plaintexts

        Raises
        ------
        ArgumentError
            A number is not finite, or too large for its scale and limbs; the scale is below 1; or the slots are no
            power of two.
        LevelError
            The parameters have fewer limbs.
        ScaleError
            The scale is not below the product of the limbs' primes.
        """
        try:
            array = np.asarray(values, dtype=np.complex128, order="C")
        except (TypeError, ValueError) as e:
            raise ArgumentError(f"values must be real or complex numbers: {e}") from None
        if array.ndim not in (1, 2):
            raise ArgumentError(f"values must have the shape (count, slots) or (slots,), not {array.shape}")
        count, slots = (1, len(array)) if array.ndim == 1 else array.shape
        limbs = len(self.parameters.q) if limbs is None else limbs
        default, degree = self.parameters.fresh_scale(limbs)
        core = _core.ckks_encode(self._core, array, count, slots, limbs, default if scale is None else scale)
        plaintexts = Plaintexts(self, core, degree if scale is None else 1)
        plaintexts._estimate = _noise.encoded(array, plaintexts.scale)
        return plaintexts

    def decode(self, plaintexts: Plaintexts) -> np.ndarray:
        """Decode plaintexts to numbers.

        Returns
        -------
        numpy.ndarray
            complex128, (count, slots).

        Raises
        ------
        DecryptionError
            A quarter of an item's coefficients are above a quarter of the modulus, which those of numbers below half of
            it over the scale never are.
        """
        self.check(plaintexts)
        plaintexts = plaintexts.to_host()
        out = np.empty(plaintexts.shape, np.complex128)
        _core.ckks_decode(self._core, plaintexts._core, out)
        return out

    def encrypt(self, key: PublicKey, values: Any, *, limbs: int | None = None, scale: float | None = None,
                magnitude: float = 1.0) -> Ciphertexts:
        """Encrypt numbers, or plaintexts.

        Parameters
        ----------
        key : PublicKey
        values : array, real or complex, (count, slots) or (slots,); or Plaintexts
        limbs, scale
            As `encode` takes them.
        magnitude : float
            A bound on the numbers' absolute values, which products need for `Ciphertexts.expected_error`, and nothing
            else. It is public: the numbers themselves are not looked at. A root mean square in its place gives an
            estimate that is closer for one product, and too small for powers.

        Returns
        -------
        Ciphertexts

        Raises
        ------
        ArgumentError, LevelError, ScaleError
            As `encode`; the magnitude is negative or not finite.
        RandomError
            The operating system gave no entropy.
        """
        self.check(key)
        magnitude = checked_size(magnitude, "magnitude")
        plaintexts = values if isinstance(values, Plaintexts) else self.encode(values, limbs=limbs, scale=scale)
        self.check(plaintexts)
        core = _core.ckks_encrypt(self._core, key._core, plaintexts.to_host()._core)
        estimate = self._noise.fresh(plaintexts.slots, plaintexts.scale, magnitude)
        return Ciphertexts(self, core, plaintexts.degree, key.key_tag, estimate)

    def decrypt(self, key: SecretKey, ciphertexts: Ciphertexts) -> np.ndarray:
        """Decrypt numbers.

        They carry the noise. An attacker who chose the ciphertexts and sees the numbers may be able to compute the
        secret key [LM21]: publish rounded numbers, or none.

        Parameters
        ----------
        key : SecretKey
        ciphertexts : Ciphertexts
            Of two or three parts.

        Returns
        -------
        numpy.ndarray
            complex128, (count, slots).

        Raises
        ------
        ArgumentError
            The ciphertexts belong to another key or parameter set.
        DecryptionError
            Nothing is left of the numbers: their coefficients are spread over the modulus.
        """
        return self.decode(self.decrypt_plaintexts(key, ciphertexts))

    def decrypt_plaintexts(self, key: SecretKey, ciphertexts: Ciphertexts) -> Plaintexts:
        """Decrypt ciphertexts, but leave the numbers encoded; otherwise as `decrypt`."""
        self.check(key)
        self.check(ciphertexts)
        check_tags(key, ciphertexts)
        core = _core.ckks_decrypt(self._core, key._core, ciphertexts.to_host()._core)
        return Plaintexts(self, core, ciphertexts.degree)


def check_tags(a: Any, b: Any) -> None:
    """Raise ArgumentError if two things are known to belong to different secret keys."""
    if a.key_tag and b.key_tag and a.key_tag != b.key_tag:
        raise ArgumentError(f"{type(a).__name__} and {type(b).__name__} of different secret keys: "
                            f"{a.key_tag} and {b.key_tag}")
