# SPDX-License-Identifier: Apache-2.0
"""Products of an encrypted vector with a matrix."""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any, Mapping

import numpy as np

from ._batches import Ciphertexts, Plaintexts
from ._context import Context
from ._device import Device, opened
from ._errors import ArgumentError, LevelError, NoLevelError, whole_number
from ._evaluator import Evaluator, check_evaluator


class LinearTransform:
    """A matrix by which an evaluator multiplies the slots of each ciphertext, with its diagonals encoded.

    Diagonal number k of a matrix M, modulo the slots, has ``M[i, (i + k) % slots]`` at place i. The product is the sum
    over k of diagonal k times the ciphertext rotated by k. Each ``k = giant + baby`` is split, so that rotations by the
    babies serve all giants ("baby step / giant step" [HS18]).

    Parameters
    ----------
    context : Context
    matrix : array (slots, slots), or mapping of int to array (slots,)
        The matrix, or its diagonals by their numbers, which may be negative. Diagonals without a number other than 0
        are left out. Real or complex; slots are a power of two, at most N/2.
    limbs : int, optional
        Limbs of the ciphertexts, of which those with more drop some. By default all, in FLEXIBLEAUTOEXT all but one.
        The diagonals are encoded for this number now, and for a smaller one when ciphertexts first have it; they are
        kept, and each takes 8 N limbs bytes.

    Attributes
    ----------
    context : Context
    slots, limbs : int
    rotations : list of int
        The steps for which the evaluator needs keys: pass them to `Keys.generate`. One application costs as many key
        switches, of which those of the babies share a decomposition (see `Evaluator.rotate_many`), and a level. All n
        diagonals need about 2 sqrt(n).

    Raises
    ------
    ArgumentError
        The matrix is not square, a diagonal has another length, or there is no diagonal.
    LevelError
        `limbs` leave no level, or the parameters have fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from polykem import ckks
    >>> context = ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
    >>> secret = ckks.SecretKey.generate(context)
    >>> matrix = ckks.LinearTransform(context, [[1, 2, 0, 0], [0, 1, 2, 0], [0, 0, 1, 2], [2, 0, 0, 1]])
    >>> matrix.rotations
    [1]
    >>> ev = ckks.Evaluator(context, ckks.Keys.generate(context, secret, rotations=matrix.rotations))
    >>> x = context.encrypt(ckks.PublicKey.generate(context, secret), [1, 0, 2, 0])
    >>> np.round(context.decrypt(secret, matrix.apply(ev, x)).real, 1)
    array([[1., 4., 2., 2.]])
    """

    def __init__(self, context: Context, matrix: Any, *, limbs: int | None = None):
        diagonals = _of_mapping(matrix) if isinstance(matrix, Mapping) else _of_matrix(matrix)
        parameters = context.parameters
        step = parameters.limbs_per_level
        self.context = context
        self.slots = len(next(iter(diagonals.values())))
        self.limbs = len(parameters.q) - parameters.extra_limb if limbs is None else whole_number(limbs, "limbs")
        if self.limbs < 2 * step:
            raise NoLevelError(f"a linear transform takes a level: it needs {2 * step} limbs, not {self.limbs}")
        if self.limbs > len(parameters.q):
            raise LevelError(f"the parameters have {len(parameters.q)} limbs, not {self.limbs}")
        size = _baby_steps(list(diagonals), self.slots)
        self._diagonals: dict[int, dict[int, np.ndarray]] = defaultdict(dict)
        for k in sorted(diagonals):
            giant = k - k % size
            # The giant rotation comes after the product, so the diagonal is rotated back.
            self._diagonals[giant][k % size] = np.roll(diagonals[k], giant)
        self._babies = sorted({baby for row in self._diagonals.values() for baby in row})
        self.rotations = sorted({*self._babies, *self._diagonals} - {0})
        self._device: Device | None = None
        self._encoded: dict[int, dict[int, dict[int, Plaintexts]]] = {}
        self._for_limbs(self.limbs)

    def apply(self, evaluator: Evaluator, a: Ciphertexts) -> Ciphertexts:
        """Return the product of the matrix with each ciphertext's slots, at the ciphertexts' scale and one level lower.

        Raises
        ------
        ArgumentError
            The ciphertexts have other slots, or belong to another parameter set.
        MissingKeyError
            There are no keys for some of `rotations`; the text lists them.
        NoLevelError
            There is no level left.
        """
        check_evaluator(evaluator)
        evaluator.context.check(self)
        evaluator._check(a)
        if a.slots != self.slots:
            raise ArgumentError(f"the matrix has {self.slots} rows, but the ciphertexts have {a.slots} slots")
        evaluator.keys._check_rotations(self.rotations)
        a = evaluator._of_one_scale(a)
        if a.limbs > self.limbs:
            a = evaluator.keep_limbs(a, self.limbs)
        if self.context.parameters.levels(a.limbs) < 1:
            raise NoLevelError(f"a linear transform takes a level, and the ciphertexts have none left: {a!r}")
        rotated = dict(zip(self._babies, evaluator.rotate_many(a, self._babies)))
        total: Ciphertexts | None = None
        for giant, row in self._for_limbs(a.limbs).items():
            part: Ciphertexts | None = None
            for baby, diagonal in row.items():
                product = evaluator.mul(rotated[baby], diagonal, rescale=False)
                part = product if part is None else evaluator.add(part, product)
            assert part is not None
            part = evaluator.rotate(part, giant)
            total = part if total is None else evaluator.add(total, part)
        assert total is not None
        return evaluator.rescale(total)

    def to(self, device: Device | int | str) -> LinearTransform:
        """Return the transform with its diagonals on a GPU, with the arguments and errors of `Ciphertexts.to`; each
        application there copies others."""
        out = copy.copy(self)
        out._device, out._encoded = opened(self.context, device), {}
        out._for_limbs(self.limbs)
        return out

    def _for_limbs(self, limbs: int) -> dict[int, dict[int, Plaintexts]]:
        """Return the diagonals at the scale that a rescaling of so many limbs divides by."""
        if limbs not in self._encoded:
            scale = self.context.parameters.divisor(limbs)

            def encoded(diagonal: np.ndarray) -> Plaintexts:
                out = self.context.encode(diagonal, limbs=limbs, scale=scale)
                return out if self._device is None else out.to(self._device)
            self._encoded[limbs] = {giant: {baby: encoded(diagonal) for baby, diagonal in row.items()}
                                    for giant, row in self._diagonals.items()}
        return self._encoded[limbs]

    def __repr__(self) -> str:
        diagonals = sum(map(len, self._diagonals.values()))
        return (f"<polykem.ckks.LinearTransform: {self.slots} x {self.slots}, {diagonals} diagonals, "
                f"{len(self.rotations)} rotations, {self.limbs} limbs>")


def _array(numbers: Any) -> np.ndarray:
    try:
        return np.asarray(numbers)
    except ValueError as e:
        raise ArgumentError(f"rows and diagonals must be equally long: {e}") from None


def _of_matrix(matrix: Any) -> dict[int, np.ndarray]:
    array = _array(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise ArgumentError(f"the matrix must have the shape (slots, slots), not {array.shape}: fill it up with 0")
    places = np.arange(len(array))
    return _checked({k: array[places, (places + k) % len(array)] for k in range(len(array))})


def _of_mapping(matrix: Mapping[int, Any]) -> dict[int, np.ndarray]:
    if not all(isinstance(k, (int, np.integer)) for k in matrix):
        raise ArgumentError(f"diagonals are numbered by whole numbers, not {list(matrix)}")
    arrays = {int(k): _array(diagonal) for k, diagonal in matrix.items()}
    shapes = {array.shape for array in arrays.values()}
    if len(shapes) > 1 or any(len(shape) != 1 for shape in shapes):
        raise ArgumentError(f"all diagonals must have the shape (slots,), not {sorted(shapes)}")
    diagonals: dict[int, np.ndarray] = {}
    for k, array in arrays.items():
        k %= max(len(array), 1)
        if k in diagonals:
            raise ArgumentError(f"there are two diagonals number {k} modulo the {len(array)} slots")
        diagonals[k] = array
    return _checked(diagonals)


def _checked(diagonals: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    diagonals = {k: diagonal for k, diagonal in diagonals.items() if diagonal.any()}
    if not diagonals:
        raise ArgumentError("the matrix has no diagonal with a number other than 0")
    return diagonals


def _baby_steps(numbers: list[int], slots: int) -> int:
    """Return the power of two, of babies from 0 on, with the fewest rotations, and then with the most babies."""
    def rotations(size: int) -> int:
        return len({k % size for k in numbers} - {0}) + len({k // size for k in numbers} - {0})
    return min((1 << i for i in range(slots.bit_length())), key=lambda size: (rotations(size), -size))
