# SPDX-License-Identifier: Apache-2.0
"""Parameter sets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Sequence

from .. import _core
from ._errors import ParameterError

_SPECIAL_BITS = 60
_SHORT_BITS = 30
# Bits that the special primes have in OpenFHE 1.6 beyond those of a digit; the second in composite scaling.
_GUARD_BITS, _COMPOSITE_GUARD_BITS = 4, 7


@dataclass(frozen=True)
class Parameters:
    """A parameter set: the ring Z[X] / (X^N + 1) and its moduli.

    Attributes
    ----------
    log_n : int
        N = 2^log_n, 4 to 16. A ciphertext holds up to N/2 complex numbers.
    q : tuple of int
        Primes, 1 modulo 2N and below 2^61. A rescaling drops the last one.
    p : tuple of int
        Special primes of key switching, whose product is not below that of a digit. Empty: neither relinearisation nor
        rotations.
    digits : int
        The number of digits into which key switching decomposes `q` ("dnum"). More digits need fewer special primes,
        but more time and larger keys.
    q_roots, p_roots : tuple of int
        Primitive 2N-th roots of unity of each prime; empty: the smallest ones.
    scale : float
        The default scale of messages.
    limbs_per_level : int
        Primes that one rescaling drops. More than one is OpenFHE's composite scaling.
    extra_limb : bool
        Messages with all limbs are scaled by the last prime too, which the first product drops: they have one rounding
        less. This is OpenFHE's FLEXIBLEAUTOEXT.
    """

    log_n: int
    q: tuple[int, ...]
    p: tuple[int, ...] = ()
    digits: int = 1
    q_roots: tuple[int, ...] = ()
    p_roots: tuple[int, ...] = ()
    scale: float = 2.0 ** 40
    limbs_per_level: int = 1
    extra_limb: bool = False

    def __post_init__(self) -> None:
        for name in ("q", "p", "q_roots", "p_roots"):
            object.__setattr__(self, name, tuple(int(x) for x in getattr(self, name)))

    @classmethod
    def choose(cls, log_n: int, levels: int, scale_bits: int = 40, first_bits: int = 60,
               digits: int | None = None, short_primes: bool = False) -> Parameters:
        """Pick primes for circuits of `levels` products in a row.

        Parameters
        ----------
        log_n : int
            N = 2^log_n.
        levels : int
            Rescalings that will be possible.
        scale_bits : int
            Bits of each prime that a rescaling drops, 14 to 60, and of the scale. A fresh ciphertext with all slots in
            use has about ``scale_bits - log_n - 4`` correct bits after the binary point.
        first_bits : int
            Bits of the prime that remains at the end, at most 60. Results must be below
            ``2 ** (first_bits - scale_bits - 1)``.
        digits : int, optional
            Digits of key switching; by default 1 to 3, as in OpenFHE.
        short_primes : bool
            Take two primes of half as many bits for each, all below 2^31, so that a GPU computes with 32-bit words. A
            level then has two limbs, and the scale is the product of the last two, as in OpenFHE. scale_bits and
            first_bits must be even.

        Returns
        -------
        Parameters
            Its special primes are OpenFHE's, so that keys can be exchanged. Print it to see its
            security.

        Raises
        ------
        ParameterError
            There are no such primes.

        Examples
        --------
        >>> from polykem import ckks
        >>> print(ckks.Parameters.choose(log_n=14, levels=5))
        N = 2^14, 6 + 2 primes, 381 bits, 3 digits: 128 bits of security
        """
        if levels < 0:
            raise ParameterError(f"levels is {levels}; it must be 0 or more")
        if short_primes and (scale_bits % 2 or first_bits % 2):
            raise ParameterError("with short primes, scale_bits and first_bits must be even")
        each, special_bits = (2, _SHORT_BITS) if short_primes else (1, _SPECIAL_BITS)
        first = _primes_below(log_n, first_bits // each, each, [])
        q = (*first, *_core.ckks_find_primes(log_n, scale_bits // each, levels * each, first))
        size = -(-len(q) // (digits or (1 if levels == 0 else 2 if levels < 4 else 3)))
        digits = -(-len(q) // size)
        scale = level_scale(q, each) if short_primes else 2.0 ** scale_bits
        p = special_primes(log_n, q, digits, special_bits, each)
        return cls(log_n, q, p, digits, scale=scale, limbs_per_level=each)

    @property
    def modulus_bits(self) -> float:
        """Bits of the product of all primes."""
        return math.log2(math.prod(self.q) * math.prod(self.p))

    @cached_property
    def security_bits(self) -> int:
        """128 if the Homomorphic Encryption Standard attests to that many bits, else 0 [HES18, table 1]."""
        return int(self._core(1, True).security_bits)

    def __str__(self) -> str:
        security = f"{self.security_bits} bits of security" if self.security_bits else "not secure, for tests only"
        return (f"N = 2^{self.log_n}, {len(self.q)} + {len(self.p)} primes, {math.ceil(self.modulus_bits)} bits, "
                f"{self.digits} digit{'s' * (self.digits != 1)}: {security}")

    def fresh_scale(self, limbs: int) -> tuple[float, int]:
        """Return the default scale of messages of that many limbs, and how many scales it is the product of."""
        if self.extra_limb and limbs == len(self.q):
            return self.scale * self.q[-1], 2
        return self.scale, 1

    def divisor(self, limbs: int) -> float:
        """Return what a rescaling divides the scale of ciphertexts of that many limbs by."""
        return level_scale(self.q[:limbs], self.limbs_per_level)

    def levels(self, limbs: int) -> int:
        """Return how many rescalings ciphertexts of that many limbs have left."""
        return limbs // self.limbs_per_level - 1

    def same_rings(self, other: Parameters) -> bool:
        """Return whether objects of one set can be used with the other; both must have their roots."""
        def rings(x: Parameters) -> tuple[Any, ...]:
            return x.log_n, x.q, x.q_roots, x.p, x.p_roots, x.digits
        return rings(self) == rings(other)

    def _core(self, threads: int, allow_insecure: bool) -> Any:
        return _core.ckks_context(self.log_n, self.q, self.q_roots, self.p, self.p_roots, self.digits, threads,
                                  allow_insecure)


def _primes_below(log_n: int, bits: int, count: int, taken: Sequence[int]) -> list[int]:
    """Return the `count` largest primes below 2^bits that are not taken."""
    below: list[int] = []
    seen = list(taken)
    while len(below) < count:
        nearest = _core.ckks_find_primes(log_n, bits, count, seen)
        below += sorted((q for q in nearest if q < 2 ** bits), reverse=True)
        seen += nearest
    return below[:count]


def level_scale(q: Sequence[int], limbs_per_level: int) -> float:
    """Return the product of the primes that the first rescaling drops."""
    return math.prod(map(float, q[-limbs_per_level:]))


def special_primes(log_n: int, q: Sequence[int], digits: int, bits: int, limbs_per_level: int) -> tuple[int, ...]:
    """Return the special primes that OpenFHE takes for `q`, and does not write to a context's file: together they have
    as many bits as the largest digit, and a few more. For three limbs a level OpenFHE sometimes takes more."""
    guard = _GUARD_BITS if limbs_per_level == 1 else _COMPOSITE_GUARD_BITS
    size = -(-len(q) // digits)
    max_bits = max(math.prod(q[i:i + size]).bit_length() for i in range(0, len(q), size))
    return tuple(_primes_below(log_n, bits, -(-(max_bits + guard) // bits), q))
