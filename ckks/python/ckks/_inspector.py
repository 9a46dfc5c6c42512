# SPDX-License-Identifier: Apache-2.0
"""Shows what operations do to precision and noise."""

from __future__ import annotations

import math
from typing import Any, Iterable, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ._batches import Ciphertexts, Plaintexts
from ._evaluator import _ADD, _SUB, Evaluator, step_list
from ._keys import SecretKey


class Row(NamedTuple):
    """The precision and the noise after one operation.

    Attributes
    ----------
    operation : str
        Its name.
    limbs : int
        Primes that are left.
    scale : float
        log2 of the scale.
    precision : float
        Correct bits after the binary point in every number: -log2 of the largest error.
    noise : float
        log2 of the standard deviation of the error, in coefficients of the polynomial.
    room : float
        Bits between the largest number and what the modulus holds. Below 0 the numbers are lost.
    """

    operation: str
    limbs: int
    scale: float
    precision: float
    noise: float
    room: float


class Inspector(Evaluator):
    """An evaluator for debugging, with the secret key: it also computes on the plain numbers and records the difference
    after each operation. ``print(inspector)`` shows the table.

    Parameters
    ----------
    evaluator : Evaluator
        Its context and keys are used.
    secret : SecretKey

    Attributes
    ----------
    rows : list of Row
        One for each operation, in order.

    Examples
    --------
    >>> from polykem import ckks
    >>> context = ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
    >>> secret = ckks.SecretKey.generate(context)
    >>> x = context.encrypt(ckks.PublicKey.generate(context, secret), [0.5, 0.25])
    >>> ev = ckks.Inspector(ckks.Evaluator(context, ckks.Keys.generate(context, secret)), secret)
    >>> y = ev.mul(ev.watch(x, [0.5, 0.25]), x)
    >>> print(ev)
    operation      limbs  scale  precision  noise   room
    watch              3  30.00     ...
    mul                3  60.00     ...
    relinearise        3  60.00     ...
    rescale            2  30.00     ...
    """

    def __init__(self, evaluator: Evaluator, secret: SecretKey):
        super().__init__(evaluator.context, evaluator.keys, evaluator.device, evaluator.automatic)
        self.context.check(secret)
        self._secret = secret
        self._expected: WeakKeyDictionary[Ciphertexts, np.ndarray] = WeakKeyDictionary()
        self.rows: list[Row] = []

    def watch(self, a: Ciphertexts, values: Any) -> Ciphertexts:
        """Note what `a` should hold, (count, slots) or (slots,). An operand without a note is taken for correct as
        decrypted."""
        out = self._made(a, a._core)
        expected = np.broadcast_to(np.asarray(values, complex), a.shape)
        self._expected[a] = expected
        return self._note("watch", out, expected)

    def negate(self, a: Ciphertexts) -> Ciphertexts:
        return self._note("negate", super().negate(a), -self._of(a))

    def relinearise(self, a: Ciphertexts) -> Ciphertexts:
        return self._note("relinearise", super().relinearise(a), self._of(a))

    def rescale(self, a: Ciphertexts) -> Ciphertexts:
        return self._note("rescale", super().rescale(a), self._of(a))

    def keep_limbs(self, a: Ciphertexts, limbs: int) -> Ciphertexts:
        return self._note("keep_limbs", super().keep_limbs(a, limbs), self._of(a))

    def rotate(self, a: Ciphertexts, steps: int) -> Ciphertexts:
        return self._note(f"rotate {steps}", super().rotate(a, steps), np.roll(self._of(a), -steps, axis=1))

    def rotate_many(self, a: Ciphertexts, steps: Iterable[int]) -> list[Ciphertexts]:
        steps = step_list(steps)
        return [self._note(f"rotate {n}", out, np.roll(self._of(a), -n, axis=1))
                for n, out in zip(steps, super().rotate_many(a, steps))]

    def conjugate(self, a: Ciphertexts) -> Ciphertexts:
        return self._note("conjugate", super().conjugate(a), np.conj(self._of(a)))

    def _combine(self, operation: int, a: Ciphertexts, b: Any) -> Ciphertexts:
        if not isinstance(b, (Ciphertexts, Plaintexts)):
            self._check(a)
            y, b = np.asarray(b), self._encoded(a, b)
        else:
            y = self._of(b) if isinstance(b, Ciphertexts) else self.context.decode(b)
        out, x = super()._combine(operation, a, b), self._of(a)
        if operation == _ADD:
            return self._note("add", out, x + y)
        return self._note("sub", out, x - y) if operation == _SUB else self._note("mul", out, x * y)

    def _items(self, a: Ciphertexts, which: slice) -> Ciphertexts:
        out = super()._items(a, which)
        self._expected[out] = self._of(a)[which]
        return out

    def _of(self, a: Ciphertexts) -> np.ndarray:
        expected = self._expected.get(a)
        return self.context.decrypt(self._secret, a) if expected is None else expected

    def _note(self, operation: str, out: Ciphertexts, expected: np.ndarray) -> Ciphertexts:
        self._expected[out] = expected
        error = np.abs(self.context.decrypt(self._secret, out) - expected)
        modulus = math.log2(math.prod(self.context.parameters.q[:out.limbs]))
        scale, largest = math.log2(out.scale), float(np.max(np.abs(expected)))
        deviation = float(np.sqrt(np.mean(error ** 2)) / math.sqrt(2 * out.slots))
        self.rows.append(Row(operation, out.limbs, scale, -_log2(float(error.max())), _log2(deviation) + scale,
                             modulus - 1 - scale - _log2(largest)))
        return out

    def __str__(self) -> str:
        head = f"{'operation':<14} limbs  scale  precision  noise   room"
        return "\n".join([head] + [f"{r.operation:<14} {r.limbs:5} {r.scale:6.2f} {r.precision:10.1f} {r.noise:6.1f} "
                                   f"{r.room:6.1f}" for r in self.rows])


def _log2(x: float) -> float:
    return math.log2(x) if x > 0 else -math.inf
