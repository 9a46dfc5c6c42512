# SPDX-License-Identifier: Apache-2.0
"""The error to be expected of decrypted numbers, from parameters, operations and the size of the numbers alone.

Errors are variances in the slots, averages over keys and randomness [CCHMOP23]. Those of two operands count as
independent, unless both are the same ciphertexts. A slot is the value of a polynomial at a root of unity, so a
polynomial of N independent coefficients of variance v has the variance N v in each slot; and of m coefficients if
m / 2 slots are used, as decoding takes no others.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple, Sequence

import numpy as np

from ._parameters import Parameters

_ERROR_VARIANCE = 21 / 2
"""Of a coefficient of the errors that polykem samples: 2 times 21 bits, of variance 1/4 each."""
_TERNARY_VARIANCE = 2 / 3
SPARSE_WEIGHT = 192
"""Coefficients other than 0 of OpenFHE's sparse secrets."""
_ROUNDING_VARIANCE = 1 / 12
_DOUBLE_VARIANCE = 2.0 ** -106
_EULER = 0.5772156649015329


class Estimate(NamedTuple):
    """What is expected of a batch's numbers and errors. All are NaN where nothing is known.

    Attributes
    ----------
    mean : float
        The mean of the squared errors over the slots, but for `peak`.
    worst : float
        The expected squared error, but for `peak`, in the slot where that is largest.
    peak : float
        The squared error that key switching leaves in one slot.
    power : float
        The mean of the squared numbers.
    magnitude : float
        A bound on the numbers' absolute values.
    """

    mean: float
    worst: float
    peak: float
    power: float
    magnitude: float

    @property
    def known(self) -> bool:
        """True unless nothing is known of the errors."""
        return not math.isnan(self.mean)

    def error(self, slots: int) -> float:
        """Return the root mean square of the errors in so many slots after decryption."""
        return math.sqrt(self.mean + self.peak * 2 * slots / _peak(slots) + self._of_doubles(slots))

    def largest_error(self, slots: int, count: int) -> float:
        """Return about the largest error in a batch of `count` items after decryption.

        Of n normally distributed complex numbers of variance 1, the largest square has the mean ln n + gamma = x. Most
        errors are sums of products of two such numbers, of an error or a key with what is drawn for an item; theirs is
        x + x^2 / 8 within a tenth for n from 8 to 2^20.
        """
        x = math.log(slots * count) + _EULER
        return math.sqrt((self.worst + self._of_doubles(slots)) * (x + x * x / 8) + self.peak)

    def _of_doubles(self, slots: int) -> float:
        """Return the variance of roundings to doubles: in the layers of the Fourier transforms of encoding and
        decoding, by measurement, and at the end."""
        return (2 * math.log2(slots) + 0.25) * _DOUBLE_VARIANCE * self.power

    def times(self, factor: float) -> Estimate:
        """Return the estimate of numbers times an exact factor."""
        square = factor * factor
        return Estimate(self.mean * square, self.worst * square, self.peak * square, self.power * square,
                        self.magnitude * abs(factor))

    def of_magnitude(self, magnitude: float) -> Estimate:
        """Return the estimate of numbers that are known to have absolute values of at most `magnitude`."""
        return self._replace(power=magnitude * magnitude, magnitude=magnitude)

    def with_noise(self, variance: float, peak: float = 0.0) -> Estimate:
        """Return the estimate after independent noise of that variance in each slot, and its peak in one slot."""
        return Estimate(self.mean + variance, self.worst + variance, self.peak + peak, self.power, self.magnitude)


UNKNOWN = Estimate(*[math.nan] * 5)


def stated(error: float, magnitude: float) -> Estimate:
    """Return the estimate of numbers of at most that absolute value, with errors of that root mean square."""
    square = error * error
    return Estimate(square, square, 0.0, 0.0, 0.0).of_magnitude(magnitude)


def encoded(numbers: np.ndarray, scale: float) -> Estimate:
    """Return the estimate of plaintexts, whose errors are roundings.

    Parameters
    ----------
    numbers : numpy.ndarray
        complex128, (count, slots) or (slots,). A single slot is rounded as it is, more as coefficients of a polynomial.
    scale : float
    """
    slots = numbers.shape[-1]
    with np.errstate(over="ignore"):
        squares = numbers.real ** 2 + numbers.imag ** 2
    if slots == 1:
        parts = (numbers * scale).view(np.float64)
        rounding = 2 * float(np.mean(((np.rint(parts) - parts) / scale) ** 2))
    else:
        rounding = 2 * slots * _ROUNDING_VARIANCE / scale / scale
    return Estimate(rounding, rounding, 0.0, float(squares.sum()) / squares.size, math.sqrt(squares.max()))


def total(a: Estimate, b: Estimate, *, same: bool = False, mismatch: float = 0.0) -> Estimate:
    """Return the estimate of a sum or a difference.

    Parameters
    ----------
    a, b : Estimate
    same : bool
        They are the same ciphertexts: errors add up, not variances.
    mismatch : float
        The relative difference of the scales, by which the numbers of `b` are off.
    """
    if same:
        return a.times(2.0)
    off = mismatch * mismatch
    return Estimate(a.mean + b.mean + off * b.power, a.worst + b.worst + off * b.magnitude * b.magnitude,
                    a.peak + b.peak, a.power + b.power + 2 * math.sqrt(a.power * b.power), a.magnitude + b.magnitude)


def product(a: Estimate, b: Estimate, *, same: bool = False) -> Estimate:
    """Return the estimate of a product, before a relinearisation and a rescaling; `same` as for `total`."""
    twice = 2.0 if same else 1.0
    x, y = a.magnitude * a.magnitude, b.magnitude * b.magnitude
    return Estimate(twice * (a.power * b.mean + b.power * a.mean) + a.mean * b.mean,
                    twice * (x * b.worst + y * a.worst) + a.worst * b.worst,
                    twice * (x * b.peak + y * a.peak) + a.peak * b.peak,
                    min(a.power * y, b.power * x), a.magnitude * b.magnitude)


def joined(estimates: Sequence[tuple[int, Estimate]]) -> Estimate:
    """Return the estimate of a batch of several, each with its number of items."""
    counts, rows = [count for count, _ in estimates], np.array([estimate for _, estimate in estimates])
    averages, largest = Estimate(*np.average(rows, 0, counts).tolist()), Estimate(*rows.max(0).tolist())
    return largest._replace(mean=averages.mean, power=averages.power)


class NoiseModel:
    """The noise that encryption, rescaling and key switching add with a parameter set.

    Parameters
    ----------
    parameters : Parameters
    secret_weight : float, optional
        The expected square of the secret's norm; by default that of uniform ternary coefficients, 2 N / 3.
    key_variance : float
        The variance of the errors in public and evaluation keys.
    """

    def __init__(self, parameters: Parameters, secret_weight: float | None = None,
                 key_variance: float = _ERROR_VARIANCE):
        self._n = 1 << parameters.log_n
        self._parameters = parameters
        self._weight = _TERNARY_VARIANCE * self._n if secret_weight is None else secret_weight
        self._key_variance = key_variance
        self._switching = cache(self._switching_noise)

    def fresh(self, slots: int, scale: float, magnitude: float) -> Estimate:
        """Return the estimate of an encryption with a public key: its error times a ternary polynomial, an error times
        the secret, and an error [CKKS17, section 3.2]. The rounding of the message is nothing beside them.

        Parameters
        ----------
        slots : int
            Numbers in an item.
        scale : float
        magnitude : float
            A bound on the numbers' absolute values.
        """
        coefficient = self._key_variance * _TERNARY_VARIANCE * self._n + _ERROR_VARIANCE * (1 + self._weight)
        return stated(math.sqrt(2 * slots * coefficient) / scale, magnitude)

    def rescaled(self, a: Estimate, parts: int, slots: int, scale: float) -> Estimate:
        """Return the estimate after a division by one prime, which rounds each part [CHKKS18, section 3.3].

        Parameters
        ----------
        a : Estimate
            Of the same numbers before.
        parts : int
            Those of the ciphertexts: 2 or 3.
        slots : int
        scale : float
            The scale after the division.
        """
        return a.with_noise(2 * slots * _ROUNDING_VARIANCE * self._of_parts(parts) / scale / scale)

    def switched(self, a: Estimate, limbs: int, slots: int, scale: float) -> Estimate:
        """Return the estimate after a key switch of ciphertexts of so many limbs: a relinearisation or a rotation."""
        spread, bias = self._switching(limbs)
        square = scale * scale
        return a.with_noise(2 * slots * spread / square, _peak(slots) * bias / square)

    def _of_parts(self, parts: int) -> float:
        """Return the mean over the slots of |1|^2 + |s|^2, and of |s^2|^2 for three parts: the values of the secret in
        the slots are about normally distributed, so that their fourth powers have the mean 2 weight^2."""
        return 1 + self._weight + (2 * self._weight * self._weight if parts == 3 else 0.0)

    def _switching_noise(self, limbs: int) -> tuple[float, float]:
        """Return a key switch's variance of a coefficient, and the square of the mean of all coefficients.

        Conversions between bases are not corrected by the small multiple of the product [HK20, 2.2]. So a digit of k
        primes and product D is D times a sum of k numbers uniform in [0, 1), which meets the error of a key; and of
        the division by P, which has k primes, such a sum remains in each part.
        """
        x = self._parameters
        size = -(-len(x.q) // x.digits)
        special = math.prod(x.p)
        spread, bias = (moment * self._of_parts(2) for moment in _uniform_sum(len(x.p)))
        for first in range(0, limbs, size):
            digit = x.q[first:min(first + size, limbs)]
            factor = (math.prod(digit) / special) ** 2 * self._key_variance * self._n
            spread, bias = (noise + factor * moment
                            for noise, moment in zip((spread, bias), _uniform_sum(len(digit))))
        return spread, bias


def _uniform_sum(count: int) -> tuple[float, float]:
    """Return variance and squared mean of a sum of numbers that are uniform in [0, 1)."""
    return count / 12, count * count / 4


def _peak(slots: int) -> float:
    """Return the square of the largest value in a slot of the polynomial whose coefficients are all 1, which is
    2 / (1 - zeta)."""
    return 1 / math.sin(math.pi / (4 * slots)) ** 2
