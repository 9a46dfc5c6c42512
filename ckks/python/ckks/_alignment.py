# SPDX-License-Identifier: Apache-2.0
"""What is to be done to operands before they are added or multiplied, decided from their limbs and scales alone.

A level has a scale of its own, and an operand comes to another level by a product with a constant and a rescaling
[KPP22].
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ._errors import LevelError, ScaleError
from ._parameters import Parameters

SCALE_ROUNDING = 2.0 ** -45
"""The relative difference of scales that were computed as products of the same numbers in different orders."""
_SCALE_TOLERANCE = 2.0 ** -30
"""The relative difference of scales that count as equal in a sum, in ``polykem/ckks.h`` too."""


class KeepLimbs(NamedTuple):
    """Drop the last limbs until so many are left, at the same scale."""

    limbs: int


class MultiplyByOne(NamedTuple):
    """Multiply by 1, encoded at a scale: the factor, 1 or more."""

    factor: float


class Rescale(NamedTuple):
    """Divide scale and modulus by the primes of the last level, and drop them."""


Step = KeepLimbs | MultiplyByOne | Rescale


@dataclass(frozen=True)
class Operand:
    """What is known of an operand, and what is to be done to it.

    Attributes
    ----------
    limbs : int
        Primes that are left after the steps.
    scale : float
        The factor of its numbers after the steps.
    degree : int
        Scales that were multiplied without a rescaling.
    fixed : bool
        It stays as it is: plaintexts.
    steps : tuple of Step
        What is to be done to it, in this order.
    """

    limbs: int
    scale: float
    degree: int = 1
    fixed: bool = False
    steps: tuple[Step, ...] = ()

    def after(self, step: Step, **changes: Any) -> Operand:
        return replace(self, steps=(*self.steps, step), **changes)

    def kept(self, limbs: int) -> Operand:
        return self.after(KeepLimbs(limbs), limbs=limbs)

    def at_most(self, limbs: int) -> Operand:
        return self if self.fixed or self.limbs <= limbs else self.kept(limbs)


class Alignment:
    """Decides, for the ciphertexts of a parameter set. `Evaluator` says what the decisions are."""

    def __init__(self, parameters: Parameters):
        self._parameters = parameters
        self._step = parameters.limbs_per_level

    def sum(self, a: Operand, b: Operand) -> tuple[Operand, Operand]:
        """Return the operands of a sum, with one number of limbs and one scale, but for plaintexts with more limbs.

        Raises
        ------
        ScaleError
            The scales differ, and no level is left, or the factor would be rounded.
        """
        a, b = self._rescaled(a, 1, b.scale), self._rescaled(b, 1, a.scale)
        a, b = self._lowered(a, b), self._lowered(b, a)
        if not _alike(a.scale, b.scale):
            if b.fixed or (a.limbs, b.scale) > (b.limbs, a.scale):
                a = self._one_level_lower(a, b)
            else:
                b = self._one_level_lower(b, a)
        return a.at_most(b.limbs), b.at_most(a.limbs)

    def product(self, a: Operand, b: Operand, *, rescale: bool = True,
                automatic: bool = True) -> tuple[Operand, Operand]:
        """Return the operands of a product, with one number of limbs, but for plaintexts with more. They keep scales
        that differ by a factor of 2 or more.

        Parameters
        ----------
        a, b : Operand
        rescale : bool
            The product will be rescaled: first the factors are (see `factor`).
        automatic : bool
            Bring them to one number of limbs. Without it that is done only to what `rescale` made different.
        """
        if rescale:
            a, b = self.factor(a), self.factor(b)
        if automatic:
            a = self._rescaled(a, b.limbs)
            b = self._rescaled(b, a.limbs)
            a, b = self._lowered(a, b), self._lowered(b, a)
        return (a.at_most(b.limbs), b.at_most(a.limbs)) if automatic or a.steps or b.steps else (a, b)

    def factor(self, a: Operand) -> Operand:
        """Return a factor of a product that will be rescaled, itself rescaled until its degree is 1 or no level is
        left."""
        return self._rescaled(a, 1)

    def to(self, a: Operand, limbs: int, scale: float) -> Operand:
        """Return ciphertexts with so many limbs and that scale. A product that was not rescaled is rescaled first.

        Raises
        ------
        LevelError
            They have fewer limbs, or `limbs` is below 1.
        ScaleError
            The scale is not above 0 and finite; or it differs, and there are no limbs to drop, or the factor is so
            small that its rounding would change the numbers.
        """
        if limbs < 1:
            raise LevelError(f"ciphertexts keep a limb or more, not {limbs}")
        if not 0 < scale < math.inf:
            raise ScaleError(f"a scale is above 0 and finite, not {scale}")
        a, before = self._rescaled(a, limbs, scale), limbs + self._step
        if a.limbs < limbs:
            raise LevelError(f"{a.limbs} limbs cannot become {limbs}: align the operand with more limbs")
        if _alike(a.scale, scale, SCALE_ROUNDING if a.limbs >= before else _SCALE_TOLERANCE):
            return a.kept(limbs)
        if a.limbs < before:
            raise ScaleError(f"a change of scale, here from 2^{math.log2(a.scale):.2f} to 2^{math.log2(scale):.2f}, "
                             f"drops {self._step} limb{'s' * (self._step > 1)}, and {a.limbs} limbs cannot become "
                             f"{limbs}: align to fewer, or rescale the other operand")
        factor = scale / a.scale * self._parameters.divisor(before)
        if abs(round(factor) / factor - 1) > max(_SCALE_TOLERANCE, 1 / scale):
            raise ScaleError(f"the scale 2^{math.log2(a.scale):.2f} cannot become 2^{math.log2(scale):.2f} with "
                             f"{limbs} limbs: the factor, {factor:.3g}, would be rounded; rescale the operand first")
        a = a.kept(before).after(MultiplyByOne(factor), scale=a.scale * factor, degree=a.degree + 1)
        return self._rescale(a)

    def _one_level_lower(self, a: Operand, b: Operand) -> Operand:
        """Return an operand with the scale of the other one and at most its limbs, in a level below its own."""
        limbs = a.limbs - self._step
        if limbs < 1:
            raise ScaleError(f"the operands' scales differ, 2^{math.log2(a.scale):.6f} and 2^{math.log2(b.scale):.6f}, "
                             "and no level is left to align them: align or encode them at one scale while there are "
                             "more limbs, or with_scale if the difference does not matter")
        return self.to(a, min(b.limbs, limbs), b.scale)

    def _rescaled(self, a: Operand, limbs: int, scale: float = 0.0) -> Operand:
        """Return a product that was not rescaled, rescaled as often as its scale comes nearer to another one and no
        fewer limbs are left."""
        while (not a.fixed and a.degree > 1 and a.limbs >= limbs + self._step
               and a.scale > scale * math.sqrt(self._parameters.divisor(a.limbs))):
            a = self._rescale(a)
        return a

    def _lowered(self, a: Operand, b: Operand) -> Operand:
        """Return an operand with more limbs than the other one at its limbs and scale, if that is within a factor of 2
        and can be reached."""
        if not a.fixed and a.limbs > b.limbs and 0.5 < a.scale / b.scale < 2:
            with contextlib.suppress(ScaleError):
                return self.to(a, b.limbs, b.scale)
        return a

    def _rescale(self, a: Operand) -> Operand:
        limbs, scale = a.limbs - self._step, a.scale
        for prime in reversed(self._parameters.q[limbs:a.limbs]):
            scale /= prime
        return a.after(Rescale(), limbs=limbs, scale=scale, degree=a.degree - 1)


def _alike(a: float, b: float, tolerance: float = _SCALE_TOLERANCE) -> bool:
    """Return whether scales count as equal."""
    return abs(a - b) <= tolerance * b
