# SPDX-License-Identifier: Apache-2.0
"""Arithmetic with ciphertexts."""

from __future__ import annotations

import contextlib
import math
from typing import Any, Iterable

import numpy as np

from .. import _core
from ._batches import Ciphertexts, Plaintexts
from ._context import Context, check_tags
from ._device import Device, moved, opened
from ._errors import ArgumentError, LevelError, ScaleError, whole_number
from ._keys import Keys, sum_rotations

_ADD, _SUB, _MUL = 1, 2, 3
_SCALE_TOLERANCE = 2.0 ** -30
_SCALE_ROUNDING = 2.0 ** -45


class Evaluator:
    """Computes with ciphertexts. It has no secrets; several threads may use one.

    Where a method takes another operand, that is ``Ciphertexts`` of the same count; ``Plaintexts``; a number for all
    slots; or an array, (slots,) for all items or (count, slots). Numbers and arrays are encoded at the ciphertexts'
    scale.

    Operands of `add`, `sub` and `mul` may have different limbs and scales, unless `automatic` is False:

    - The operand with more limbs takes the limbs and the scale of the other one (see `align`), so that products with
      equal limbs have one scale, as in OpenFHE. In a product it is rescaled first if it was not, and if its scale
      differs by a factor of 2 or more, it keeps that and drops limbs, which changes no number.
    - In a sum, a product that was not rescaled is rescaled if the other operand was, which adds less noise than
      encryption did. Of operands with equal limbs, the one with the smaller scale takes the other's, by which both
      lose a level.
    - Plaintexts keep their scale; the ciphertexts are aligned to them.

    This takes no key switch. Operands that fit are not changed: their results are those of ``automatic=False``, bit for
    bit.

    Parameters
    ----------
    context : Context
    keys : Keys, optional
        Keys for relinearisation, rotations and conjugation.
    device : Device, int or str, optional
        Compute on this GPU: a ``Context.device``, a number, "cuda" or "cuda:1". Keys are copied there now, operands
        when they come from main memory, and results stay there; decryption fetches them. Without it, an operation
        computes where its operands lie.
    automatic : bool
        Align the operands of `add`, `sub` and `mul`. Without it those that do not fit raise LevelError or ScaleError.

    Raises
    ------
    DeviceError
        There is no such GPU; or, by every method, operands lie in different places.
    LevelError, ScaleError, PartsError
        By every method: the operands do not fit. The text says what to do.
    MissingKeyError
        A method needs a key that is missing.
    """

    def __init__(self, context: Context, keys: Keys | None = None, device: Device | int | str | None = None,
                 automatic: bool = True):
        if keys is not None:
            context.check(keys)
        self.context = context
        self.keys = keys if keys is not None else Keys(context, "", None, {})
        self.automatic = automatic
        self.device = None if device is None else opened(context, device)
        if self.device is not None:
            self.keys = self.keys.to(self.device)

    def bind(self, ciphertexts: Ciphertexts) -> Ciphertexts:
        """Return the same ciphertexts, for which ``+``, ``-`` and ``*`` use this evaluator."""
        return self._made(ciphertexts, ciphertexts._core)

    # ---- sums

    def add(self, a: Ciphertexts, b: Any) -> Ciphertexts:
        """Compute a + b.

        Raises
        ------
        ScaleError, LevelError
            The operands do not fit: they were not aligned, or no level is left for that.
        """
        return self._sum(_ADD, a, b)

    def sub(self, a: Ciphertexts, b: Any) -> Ciphertexts:
        """Compute a - b, with the errors of `add`."""
        return self._sum(_SUB, a, b)

    def negate(self, a: Ciphertexts) -> Ciphertexts:
        """Compute -a."""
        self._check(a)
        return self._made(a, _core.ckks_negate(self.context._core, self._at(a)))

    def sum_slots(self, a: Ciphertexts) -> Ciphertexts:
        """Compute the sum of an item's slots in each of its slots, with the keys of ``sum_rotations(a.slots)``."""
        for steps in sum_rotations(a.slots):
            a = self.add(a, self.rotate(a, steps))
        return a

    def sum_items(self, a: Ciphertexts) -> Ciphertexts:
        """Compute the sum of a batch's items, a batch of one."""
        odd = []
        while a.count > 1:
            half = a.count // 2
            if a.count % 2:
                odd.append(self._items(a, slice(2 * half, None)))
            a = self.add(self._items(a, slice(half)), self._items(a, slice(half, 2 * half)))
        for item in odd:
            a = self.add(a, item)
        return a

    # ---- products

    def mul(self, a: Ciphertexts, b: Any, *, relinearise: bool = True, rescale: bool = True) -> Ciphertexts:
        """Compute a b, slot by slot, after alignment of the operand with more limbs (see `Evaluator`).

        Parameters
        ----------
        a : Ciphertexts
        b : Ciphertexts, Plaintexts, number or array
        relinearise : bool
            Bring the product of ciphertexts back to two parts.
        rescale : bool
            Bring the scale back, which takes a level. Ciphertexts that are products without a rescaling are rescaled
            first, as OpenFHE's automatic techniques do, and the other operand takes as many limbs.

        Raises
        ------
        NoLevelError
            There is no level left to rescale.
        LevelError
            The operands have different limbs, and were not aligned.
        """
        self._check(a)
        x, y = self._rescaled(a, b) if rescale else (a, b)
        if self.automatic and isinstance(y, (Ciphertexts, Plaintexts)):
            x = self._rescaled_towards(x, y.limbs, 0)
            y = self._rescaled_towards(y, x.limbs, 0) if isinstance(y, Ciphertexts) else y
            x, y = self._of_one_level(x, y)
        if self.automatic or x is not a or y is not b:
            x, y = self._of_equal_limbs(x, y)
        out = self._combine(_MUL, x, y)
        if relinearise and out.parts == 3:
            out = self.relinearise(out)
        return self.rescale(out) if rescale else out

    def square(self, a: Ciphertexts, *, relinearise: bool = True, rescale: bool = True) -> Ciphertexts:
        """Compute a a, with the options of `mul`."""
        return self.mul(a, a, relinearise=relinearise, rescale=rescale)

    def relinearise(self, a: Ciphertexts) -> Ciphertexts:
        """Reduce a product from three parts to two."""
        self._check(a)
        key = self.keys._for_relinearisation()
        return self._made(a, _core.ckks_relinearise(self.context._core, self._at(a), key))

    def rescale(self, a: Ciphertexts) -> Ciphertexts:
        """Divide scale and modulus by the last prime, and drop it; in composite scaling, by the last few.

        Raises
        ------
        NoLevelError
            One limb is left.
        """
        self._check(a)
        core = self._at(a)
        for _ in range(self.context.parameters.limbs_per_level):
            core = _core.ckks_rescale(self.context._core, core)
        return self._made(a, core, max(a.degree - 1, 1))

    # ---- slots

    def rotate(self, a: Ciphertexts, steps: int) -> Ciphertexts:
        """Move slot ``i + steps`` to slot ``i``, round the end: ``numpy.roll(x, -steps)``.

        Raises
        ------
        MissingKeyError
            There is no key for these steps; the text says how to make it.
        """
        self._check(a)
        steps = whole_number(steps, "steps")
        self.keys._check_rotations([steps])
        g = self.context._core.rotation_element(steps)
        if g == 1:
            return self._made(a, self._at(a))
        return self._automorphism(a, g, self.keys._automorphisms[g])

    def rotate_many(self, a: Ciphertexts, steps: Iterable[int]) -> list[Ciphertexts]:
        """Rotate by each of several steps: the batches that `rotate` returns, bit for bit.

        Each different rotation is a key switch. On the CPU they share the decomposition of `a` ("hoisted" rotations):
        of 16 at N = 2^14 that saves a fifth of the time with AVX-512, two fifths with AVX2.

        Raises
        ------
        MissingKeyError
            There are no keys for some of the steps; the text lists them.

        Examples
        --------
        >>> from polykem import ckks
        >>> context = ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
        >>> secret = ckks.SecretKey.generate(context)
        >>> ev = ckks.Evaluator(context, ckks.Keys.generate(context, secret, rotations=[1, -1]))
        >>> a = context.encrypt(ckks.PublicKey.generate(context, secret), [1, 2, 3, 4])
        >>> left, right = ev.rotate_many(a, [1, -1])
        >>> np.round(context.decrypt(secret, right).real)
        array([[4., 1., 2., 3.]])
        """
        self._check(a)
        steps, core = step_list(steps), self.context._core
        self.keys._check_rotations(steps)
        gs = [core.rotation_element(n) for n in steps]
        keys = {g: self.keys._automorphisms[g] for g in gs if g != 1}
        here = self._at(a)
        rotated = {1: here}
        if keys:
            rotated |= zip(keys, _core.ckks_automorphisms(core, here, list(keys), list(keys.values())))
        return [self._made(a, rotated[g]) for g in gs]

    def conjugate(self, a: Ciphertexts) -> Ciphertexts:
        """Compute the complex conjugate of every slot."""
        self._check(a)
        g = self.context._core.conjugation_element
        return self._automorphism(a, g, self.keys._for_conjugation(g))

    # ---- limbs and scales

    def keep_limbs(self, a: Ciphertexts, limbs: int) -> Ciphertexts:
        """Drop limbs, at the same scale."""
        self._check(a)
        core = self._at(a)
        return self._made(a, core if limbs == a.limbs else _core.ckks_keep_limbs(self.context._core, core, limbs))

    def align(self, a: Ciphertexts, limbs: int, scale: float) -> Ciphertexts:
        """Bring ciphertexts to fewer limbs and another scale, so that they fit other ciphertexts.

        A scale is changed by a product with 1, encoded at a factor, and a rescaling. The factor, the new scale over the
        old one times what the rescaling divides by, is rounded to a whole number, which changes the numbers relatively
        by at most half of 1 / factor.

        Parameters
        ----------
        a : Ciphertexts
            Rescaled first if it is a product that was not.
        limbs : int
            At most ``a.limbs``.
        scale : float
            The scale to reach.

        Raises
        ------
        LevelError
            There are fewer limbs.
        ScaleError
            The scale differs, and there are no limbs to drop, or the factor is so small that its rounding would
            change the numbers.
        """
        step = self.context.parameters.limbs_per_level
        a = self._rescaled_towards(a, limbs, scale)
        if a.limbs < limbs:
            raise LevelError(f"{a.limbs} limbs cannot become {limbs}: align the operand with more limbs")
        before = limbs + step
        if _alike(a.scale, scale, _SCALE_ROUNDING if a.limbs >= before else _SCALE_TOLERANCE):
            return self.keep_limbs(a, limbs)
        if a.limbs < before:
            raise ScaleError(f"a change of scale, here from 2^{math.log2(a.scale):.2f} to 2^{math.log2(scale):.2f}, "
                             f"drops {step} limb{'s' * (step > 1)}, and {a.limbs} limbs cannot become {limbs}: align "
                             "to fewer, or rescale the other operand")
        factor = scale / a.scale * self._dropped(before)
        if abs(round(factor) / factor - 1) > max(_SCALE_TOLERANCE, 1 / scale):
            raise ScaleError(f"the scale 2^{math.log2(a.scale):.2f} cannot become 2^{math.log2(scale):.2f} with "
                             f"{limbs} limbs: the factor, {factor:.3g}, would be rounded; rescale the operand first")
        one = self.context.encode([1.0], limbs=before, scale=factor)
        return self.rescale(self.mul(self.keep_limbs(a, before), one, rescale=False))

    # ---- the rest

    def _dropped(self, limbs: int) -> float:
        """Return what a rescaling divides ciphertexts of that many limbs by."""
        x = self.context.parameters
        return math.prod(map(float, x.q[limbs - x.limbs_per_level:limbs]))

    def _levels_left(self, a: Ciphertexts) -> int:
        return a.limbs // self.context.parameters.limbs_per_level - 1

    def _sum(self, operation: int, a: Ciphertexts, b: Any) -> Ciphertexts:
        if self.automatic and isinstance(b, (Ciphertexts, Plaintexts)):
            self._check(a)
            self.context.check(b)
            a, b = self._aligned(a, b)
        return self._combine(operation, a, b)

    def _aligned(self, a: Ciphertexts, b: Any) -> tuple[Ciphertexts, Any]:
        """Return operands with one number of limbs and one scale. Plaintexts stay as they are."""
        x, y = self._rescaled_towards(a, 1, b.scale), b
        if isinstance(y, Ciphertexts):
            y = self._rescaled_towards(y, 1, a.scale)
        x, y = self._of_one_level(x, y)
        if not _alike(x.scale, y.scale):
            if isinstance(y, Plaintexts) or (x.limbs, y.scale) > (y.limbs, x.scale):
                x = self._aligned_to(x, y)
            else:
                y = self._aligned_to(y, x)
        return self._of_equal_limbs(x, y)

    def _aligned_to(self, a: Ciphertexts, b: Ciphertexts | Plaintexts) -> Ciphertexts:
        limbs = a.limbs - self.context.parameters.limbs_per_level
        if limbs < 1:
            raise ScaleError(f"the operands' scales differ, 2^{math.log2(a.scale):.6f} and 2^{math.log2(b.scale):.6f}, "
                             "and no level is left to align them: align or encode them at one scale while there are "
                             "more limbs, or with_scale if the difference does not matter")
        return self.align(a, min(b.limbs, limbs), b.scale)

    def _rescaled_towards(self, a: Ciphertexts, limbs: int, scale: float) -> Ciphertexts:
        """Return a product that was not rescaled, rescaled as often as its scale comes nearer to another one and no
        fewer limbs are left."""
        step = self.context.parameters.limbs_per_level
        while a.degree > 1 and a.limbs >= limbs + step and a.scale > scale * math.sqrt(self._dropped(a.limbs)):
            a = self.rescale(a)
        return a

    def _of_one_level(self, a: Ciphertexts, b: Ciphertexts | Plaintexts) -> tuple[Ciphertexts, Any]:
        """Return operands, of which ciphertexts that have a level more than the other one take its limbs and scale, if
        that is within a factor of 2."""
        if 0.5 < a.scale / b.scale < 2:
            x = self._lowered(a, b)
            return x, self._lowered(b, a) if isinstance(b, Ciphertexts) else b
        return a, b

    def _lowered(self, a: Ciphertexts, b: Ciphertexts | Plaintexts) -> Ciphertexts:
        """Return `a` at the level of `b`, or as it is if it is not above, or if that would change the numbers."""
        if a.limbs < b.limbs + self.context.parameters.limbs_per_level:
            return a
        with contextlib.suppress(ScaleError):
            return self.align(a, b.limbs, b.scale)
        return a

    def _of_equal_limbs(self, a: Ciphertexts, b: Any) -> tuple[Ciphertexts, Any]:
        """Return operands, of which ciphertexts drop limbs that the other one has not."""
        if not isinstance(b, (Ciphertexts, Plaintexts)) or a.limbs == b.limbs:
            return a, b
        if a.limbs > b.limbs:
            return self.keep_limbs(a, b.limbs), b
        return a, self.keep_limbs(b, a.limbs) if isinstance(b, Ciphertexts) else b

    def _rescaled(self, a: Ciphertexts, b: Any) -> tuple[Ciphertexts, Any]:
        """Return operands of a product, rescaled if they are products that were not."""
        x = self._of_one_scale(a)
        return x, x if b is a else self._of_one_scale(b) if isinstance(b, Ciphertexts) else b

    def _of_one_scale(self, a: Ciphertexts) -> Ciphertexts:
        self._check(a)
        while a.degree > 1 and a.limbs > self.context.parameters.limbs_per_level:
            a = self.rescale(a)
        return a

    def _combine(self, operation: int, a: Ciphertexts, b: Any) -> Ciphertexts:
        self._check(a)
        if not isinstance(b, (Ciphertexts, Plaintexts)):
            b = self._encoded(a, b)
        self.context.check(b)
        if isinstance(b, Ciphertexts):
            check_tags(a, b)
        if b.slots != a.slots and (b.slots != 1 or isinstance(b, Ciphertexts)):
            raise ArgumentError(f"the operands have {a.slots} and {b.slots} slots; they must have the same number")
        x = self._at(a)
        core = _core.ckks_combine(self.context._core, operation, x, x if b is a else self._at(b))
        return self._made(a, core, a.degree + b.degree if operation == _MUL else max(a.degree, b.degree))

    def _encoded(self, a: Ciphertexts, b: Any) -> Plaintexts:
        """Encode a number or an array at the scale of `a`. A number needs one slot only, which stands for all."""
        array = np.asarray(b)
        if array.ndim == 0:
            array = array[np.newaxis]
        elif array.shape[-1] != a.slots:
            raise ArgumentError(f"the array has the shape {array.shape}, but the ciphertexts have {a.shape}")
        plaintexts = self.context.encode(array, limbs=a.limbs, scale=a.scale)
        plaintexts.degree = a.degree
        return plaintexts

    def _items(self, a: Ciphertexts, which: slice) -> Ciphertexts:
        return a[which]

    def _automorphism(self, a: Ciphertexts, g: int, key: Any) -> Ciphertexts:
        return self._made(a, _core.ckks_automorphism(self.context._core, self._at(a), g, key))

    def _at(self, a: Ciphertexts | Plaintexts) -> Any:
        """Return the operand on the evaluator's device, if it has one."""
        return a._core if self.device is None else moved(self.device, a._core)

    def _check(self, a: Ciphertexts) -> None:
        if not isinstance(a, Ciphertexts):
            raise ArgumentError(f"the first operand must be Ciphertexts, not {type(a).__name__}")
        self.context.check(a)
        check_tags(self.keys, a)

    def _made(self, like: Ciphertexts, core: Any, degree: int | None = None) -> Ciphertexts:
        out = like._like(core, degree)
        out._evaluator = self
        return out


def check_evaluator(thing: Any) -> None:
    """Raise ArgumentError unless `thing` is an evaluator."""
    if not isinstance(thing, Evaluator):
        raise ArgumentError(f"the first argument must be an Evaluator, not {type(thing).__name__}")


def step_list(steps: Any) -> list[int]:
    """Return the steps of rotations; raise ArgumentError unless they are several whole numbers."""
    if not isinstance(steps, Iterable):
        raise ArgumentError(f"steps must be several whole numbers, not {steps!r}: rotate takes one")
    return [whole_number(n, "steps") for n in steps]


def _alike(a: float, b: float, tolerance: float = _SCALE_TOLERANCE) -> bool:
    """Return whether scales count as equal."""
    return abs(a - b) <= tolerance * b
