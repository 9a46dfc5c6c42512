# SPDX-License-Identifier: Apache-2.0
"""Polynomials of encrypted numbers."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, Callable, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from ._batches import Ciphertexts
from ._errors import ArgumentError, NoLevelError, ScaleError, whole_number
from ._evaluator import Evaluator, check_evaluator

_NEGLIGIBLE = 2.0 ** -50
_ROUNDING = 2.0 ** -45
_MOST_DRIFT_BITS = 8


class _Node(NamedTuple):
    """constant + the sum of c T_j over terms {j: c} + the sum of quotient T_m over products [(m, quotient)]."""

    constant: complex
    terms: dict[int, complex]
    products: list[tuple[int, Any]]


class Chebyshev:
    """A polynomial of real numbers in an interval, as a sum of Chebyshev polynomials, that an evaluator computes in
    every slot of ciphertexts.

    It is evaluated as by Paterson and Stockmeyer [PS73], with Chebyshev polynomials for powers. Scales are chosen from
    the result on, so that no level is lost to align them [BMTH21].

    Parameters
    ----------
    coefficients : array, real or complex, (degree + 1,); or numpy.polynomial.Chebyshev
        Those of T_0, T_1, ... in ``u = (2 x - a - b) / (b - a)``, as in `numpy.polynomial.Chebyshev`. The degree is 1
        or more. They are copied.
    interval : tuple of two floats, optional
        (a, b), which holds all numbers x. Outside, values grow rapidly and may exceed the modulus. By default (-1, 1),
        or the domain of a `numpy.polynomial.Chebyshev`.

    Attributes
    ----------
    coefficients : numpy.ndarray
        It cannot be written.
    interval : tuple of two floats

    Raises
    ------
    ArgumentError
        The coefficients are not finite, or their degree is 0; the interval is empty; NumPy's polynomial has a window
        other than (-1, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from polykem import ckks
    >>> context = ckks.Context(ckks.Parameters.choose(log_n=14, levels=4, scale_bits=40, first_bits=50))
    >>> secret = ckks.SecretKey.generate(context)
    >>> ev = ckks.Evaluator(context, ckks.Keys.generate(context, secret))
    >>> x = context.encrypt(ckks.PublicKey.generate(context, secret), [-4, -1, 0, 3])
    >>> sigmoid = ckks.Chebyshev.fit(lambda x: 1 / (1 + np.exp(-x)), degree=7, interval=(-4, 4))
    >>> sigmoid.depth, sigmoid.key_switches
    (4, 4)
    >>> bool(np.abs(context.decrypt(secret, sigmoid.apply(ev, x)) - sigmoid([-4, -1, 0, 3])).max() < 1e-6)
    True
    """

    def __init__(self, coefficients: Any, interval: tuple[float, float] | None = None):
        domain: Any = (-1.0, 1.0)
        if isinstance(coefficients, chebyshev.Chebyshev):
            if tuple(coefficients.window) != domain:
                raise ArgumentError(f"the window of coefficients must be (-1, 1), not {coefficients.window}: convert "
                                    "them")
            coefficients, domain = coefficients.coef, coefficients.domain
        self.interval = _checked_interval(domain if interval is None else interval)
        try:
            array = np.asarray(coefficients, complex)
        except (TypeError, ValueError, OverflowError) as e:
            raise ArgumentError(f"coefficients must be an array of numbers: {e}") from None
        if array.ndim != 1 or not np.isfinite(array).all():
            raise ArgumentError("coefficients must be finite numbers, in an array of one dimension")
        array = np.trim_zeros(array, "b")
        if len(array) < 2:
            raise ArgumentError("coefficients above that of T_0 must not all be 0: a constant needs no ciphertext")
        self.coefficients = np.array(array if array.imag.any() else array.real)
        self.coefficients.setflags(write=False)

    @classmethod
    def fit(cls, function: Callable[[np.ndarray], Any], degree: int, interval: tuple[float, float]) -> Chebyshev:
        """Return the polynomial of at most that degree which interpolates a function at the Chebyshev nodes; its
        largest error is within a small factor of the least possible. Compare it with the function before use: a call of
        the polynomial computes it in plain numbers.

        Parameters
        ----------
        function : callable
            Takes an array of numbers in the interval and returns one of the same shape.
        degree : int
            1 or more.
        interval : tuple of two floats

        Raises
        ------
        ArgumentError
            As the class; the function does not take an array, returns another shape, or a number that is not finite.
        """
        if whole_number(degree, "degrees") < 1:
            raise ArgumentError(f"the degree is {degree}; it must be 1 or more")
        a, b = _checked_interval(interval)
        x = ((b - a) * chebyshev.chebpts1(degree + 1) + a + b) / 2
        try:
            values = np.asarray(function(x))
            finite = np.isfinite(values)
        except TypeError as e:
            raise ArgumentError(f"the function must take an array and return numbers: {e}; numpy.vectorize makes one "
                                "of a function of a number") from e
        if values.shape != x.shape:
            raise ArgumentError(f"the function must return as many numbers as it takes, {len(x)}, not an array of "
                                f"the shape {values.shape}")
        if not finite.all():
            raise ArgumentError(f"the function must be finite in the interval, and is {values[~finite][0]} at "
                                f"{x[~finite][0]}")
        c = _interpolated(values)
        c = np.where(np.abs(c) < _NEGLIGIBLE * np.abs(c).max(), 0, c)
        if not c[1:].any():
            raise ArgumentError("the function is constant at the nodes: a constant needs no ciphertext, add the number")
        return cls(c, interval)

    def __call__(self, x: Any) -> np.ndarray:
        """Compute it in plain numbers."""
        a, b = self.interval
        values: np.ndarray = chebyshev.chebval((2 * np.asarray(x) - a - b) / (b - a), self.coefficients)
        return values

    @property
    def degree(self) -> int:
        """The number of the last coefficient, which is not 0."""
        return len(self.coefficients) - 1

    @property
    def depth(self) -> int:
        """Levels that it takes: ceil(log2(degree + 1)), and one more unless 2 / (b - a) is a whole number, as for the
        intervals (-1, 1) and (0, 1)."""
        return self.degree.bit_length() + (not self._factor.is_integer())

    @property
    def key_switches(self) -> int:
        """Key switches of an evaluation, all of them relinearisations: about ``sqrt(2 degree) + log2(degree)``, for
        even polynomials fewer."""
        return _key_switches(self._root)

    @property
    def _factor(self) -> float:
        """2 / (b - a), without a rounding of a whole number."""
        a, b = self.interval
        factor = 2 / (b - a)
        return float(round(factor)) if abs(round(factor) / factor - 1) < _ROUNDING else factor

    @cached_property
    def _root(self) -> _Node:
        """The evaluation with the fewest key switches, of those by one number of baby steps."""
        return min((_node(self.coefficients, 1 << i, self.degree.bit_length())
                    for i in range(self.degree.bit_length() + 1)), key=_key_switches)

    @cached_property
    def _magnitude(self) -> float:
        """About the polynomial's largest absolute value in the interval."""
        nodes = chebyshev.chebpts2(4 * self.degree + 1)
        return float(np.abs(chebyshev.chebval(nodes, self.coefficients)).max())

    def apply(self, evaluator: Evaluator, x: Ciphertexts) -> Ciphertexts:
        """Return the polynomial's values, at the scale of `x` and `depth` levels lower.

        Raises
        ------
        NoLevelError
            There are fewer levels left; the text says how many are needed.
        ScaleError
            The scale of `x` is so far from the primes that the scales of Chebyshev polynomials would be lost.
        MissingKeyError
            There is no relinearisation key.
        """
        check_evaluator(evaluator)
        x = evaluator._of_one_scale(x)
        parameters = evaluator.context.parameters
        levels = parameters.levels(x.limbs)
        if levels < self.depth:
            raise NoLevelError(f"a polynomial of degree {self.degree} on the interval {self.interval} takes "
                               f"{self.depth} levels, and the ciphertexts have {levels} left: choose parameters with "
                               f"{self.depth - levels} more, or a lower degree")
        primes = math.log2(parameters.divisor(x.limbs))
        # T_j has the scale of x, times its ratio to the primes j - 1 times.
        if abs(math.log2(x.scale) - primes) * self.degree > _MOST_DRIFT_BITS:
            raise ScaleError(f"the ciphertexts' scale, 2^{math.log2(x.scale):.2f}, is too far from the primes that a "
                             f"level drops, 2^{primes:.2f}, for a polynomial of degree {self.degree}: align them "
                             "to the parameters' scale, or encrypt at that")
        u = self._in_unit_interval(evaluator, x)
        limbs = x.limbs - parameters.limbs_per_level * self.depth
        return _bounded(_Evaluation(evaluator, u).value(self._root, limbs, x.scale), self._magnitude)

    def _in_unit_interval(self, evaluator: Evaluator, x: Ciphertexts) -> Ciphertexts:
        a, b = self.interval
        if self._factor != 1:
            # A whole number is exact at the scale 1, which takes no level.
            whole = self._factor.is_integer()
            scale = 1.0 if whole else evaluator.context.parameters.divisor(x.limbs)
            factor = evaluator.context.encode([self._factor], limbs=x.limbs, scale=scale)
            factor.degree = 0 if whole else 1
            x = evaluator.mul(x, factor, rescale=False)
            x = _bounded(x if whole else evaluator.rescale(x), max(abs(a), abs(b)) * self._factor)
        return _bounded(evaluator.sub(x, (a + b) / (b - a)), 1.0) if a + b else x

    def __repr__(self) -> str:
        return (f"<polykem.ckks.Chebyshev: degree {self.degree} on {self.interval}, {self.depth} levels, "
                f"{self.key_switches} key switches>")


class _Evaluation:
    """The Chebyshev polynomials of ciphertexts, computed when they are needed, and sums of them."""

    def __init__(self, evaluator: Evaluator, u: Ciphertexts):
        self._evaluator = evaluator
        self._step = evaluator.context.parameters.limbs_per_level
        self._known = {1: u}

    def value(self, node: _Node, limbs: int, scale: float) -> Ciphertexts:
        before = limbs + self._step
        wanted = scale * self._evaluator.context.parameters.divisor(before)
        products = [(self._chebyshev(m), self.value(quotient, before, wanted / self._chebyshev(m).scale))
                    for m, quotient in node.products]
        return self._sum(products, node.terms, node.constant, before, wanted)

    def _chebyshev(self, j: int) -> Ciphertexts:
        """Return T_j = 2 T_m T_n - T_(m - n), where m is the largest power of two below j, and m + n = j."""
        if j not in self._known:
            m = _below(j)
            x, y = self._chebyshev(m), self._chebyshev(j - m)
            before = min(x.limbs, y.limbs)
            terms: dict[int, complex] = {} if 2 * m == j else {2 * m - j: -1.0}
            constant = 0.0 if terms else -1.0
            value = self._sum([(x, self._evaluator.add(y, y))], terms, constant, before, x.scale * y.scale)
            self._known[j] = _bounded(value, 1.0)
        return self._known[j]

    def _sum(self, products: list[tuple[Ciphertexts, Ciphertexts]], terms: dict[int, complex], constant: complex,
             before: int, wanted: float) -> Ciphertexts:
        """Return the sum of x y over products, of c T_j over terms, and the constant. They are added up with `before`
        limbs at the scale `wanted`, so that there are one relinearisation and one rescaling for all."""
        ev = self._evaluator
        total: Ciphertexts | None = None
        for x, y in products:
            xy = ev.mul(ev.keep_limbs(x, before), ev.keep_limbs(y, before), relinearise=False, rescale=False)
            total = xy if total is None else ev.add(total, xy)
        total = None if total is None else ev.relinearise(total)
        for j, c in terms.items():
            t = ev.keep_limbs(self._chebyshev(j), before)
            ct = ev.mul(t, ev.context.encode([c], limbs=before, scale=wanted / t.scale), rescale=False)
            total = ct if total is None else ev.add(total, ct)
        assert total is not None
        total = ev.rescale(total)
        return ev.add(total, constant) if constant else total


def _bounded(a: Ciphertexts, magnitude: float) -> Ciphertexts:
    """Return new ciphertexts, after noting that their numbers are at most that large."""
    a._estimate = a._estimate.of_magnitude(magnitude)
    return a


def _checked_interval(interval: Any) -> tuple[float, float]:
    try:
        a, b = map(float, interval)
    except (TypeError, ValueError, OverflowError) as e:
        raise ArgumentError(f"the interval must be two numbers, not {interval!r}: {e}") from None
    if not (math.isfinite(b - a) and a < b):
        raise ArgumentError(f"the interval must be (a, b) with finite a < b, not {interval}")
    return a, b


def _interpolated(values: np.ndarray) -> np.ndarray:
    """Return Chebyshev coefficients of values at the Chebyshev nodes, ascending, by a cosine transform."""
    n = len(values)
    c = np.fft.fft(np.concatenate([values[::-1], values]))[:n] * np.exp(-0.5j * np.pi / n * np.arange(n)) / n
    c[0] /= 2
    out: np.ndarray = c if np.iscomplexobj(values) else c.real
    return out


def _below(j: int) -> int:
    """Return the largest power of two below j, which is 2 or more."""
    return 1 << ((j - 1).bit_length() - 1)


def _node(c: np.ndarray, babies: int, levels: int) -> _Node:
    """Return how to compute the polynomial of Chebyshev coefficients c, of a degree below 2^levels, in that many
    levels, with terms T_j for j below `babies` and powers of two."""
    terms: dict[int, complex] = {}
    products = []
    c = c.copy()
    while True:
        present = [j for j in range(1, len(c)) if c[j]]
        if all((j < babies or not j & (j - 1)) and (j - 1).bit_length() < levels for j in present):
            break
        m = 1 << (present[-1].bit_length() - 1)
        c, quotient = _divided(c, m)
        if len(quotient) > 1:
            products.append((m, _node(quotient, babies, levels - 1)))
        else:
            terms[m] = quotient[0]
    terms |= {j: c[j] for j in present}
    return _Node(c[0], terms, products)


def _divided(c: np.ndarray, m: int) -> tuple[np.ndarray, np.ndarray]:
    """Return remainder and quotient of a division by T_m, where m is above half of the degree: 2 T_m T_i = T_(m+i) +
    T_(m-i)."""
    c = np.trim_zeros(c, "b")
    quotient, remainder = 2 * c[m:], c[:m].copy()
    quotient[0] /= 2
    upper = c[m + 1:]
    remainder[m - len(upper):] -= upper[::-1]
    return remainder, quotient


def _key_switches(root: _Node) -> int:
    """Return the products of ciphertexts that need a relinearisation: one for each T_j, and for each node's sum."""
    known = {1}

    def know(j: int) -> None:
        if j not in known:
            known.add(j)
            m = _below(j)
            for other in (m, j - m, 2 * m - j):
                know(other or 1)

    def sums(node: _Node) -> int:
        for j in (*node.terms, *(m for m, _ in node.products)):
            know(j)
        return bool(node.products) + sum(sums(quotient) for _, quotient in node.products)
    return sums(root) + len(known) - 1
