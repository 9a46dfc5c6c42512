# SPDX-License-Identifier: Apache-2.0
"""Keys."""

from __future__ import annotations

import secrets
from typing import Any, Iterable, Mapping

from .. import _core
from ._context import Context, check_tags
from ._device import Device, moved, opened
from ._errors import ArgumentError, MissingKeyError


class SecretKey:
    """A secret key. It is zeroized on release, and neither printed nor pickled.

    Attributes
    ----------
    context : Context
    key_tag : str
        The key's name, which is not secret: public keys and ciphertexts have it too.
    """

    def __init__(self, context: Context, core: Any, key_tag: str):
        self.context, self._core, self.key_tag = context, core, key_tag

    @classmethod
    def generate(cls, context: Context) -> SecretKey:
        """Generate a ternary key.

        Raises
        ------
        RandomError
            The operating system gave no entropy.
        """
        return cls(context, _core.ckks_secret_key(context._core), secrets.token_hex(16))

    def __repr__(self) -> str:
        return "<polykem.ckks.SecretKey>"

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("a SecretKey cannot be pickled; polykem.ckks.save writes it to a file")


class PublicKey:
    """A public key.

    Attributes
    ----------
    context : Context
    key_tag : str
        Names the secret key.
    """

    def __init__(self, context: Context, core: Any, key_tag: str):
        self.context, self._core, self.key_tag = context, core, key_tag

    @classmethod
    def generate(cls, context: Context, secret: SecretKey) -> PublicKey:
        """Generate a public key for a secret key.

        Raises
        ------
        RandomError
            The operating system gave no entropy.
        """
        context.check(secret)
        return cls(context, _core.ckks_public_key(context._core, secret._core), secret.key_tag)

    def __repr__(self) -> str:
        return f"<polykem.ckks.PublicKey of {self.key_tag}>"


class Keys:
    """An evaluator's keys: a relinearisation key, and keys for rotations and conjugation. They are public.

    ``a | b`` has the keys of both.

    Attributes
    ----------
    context : Context
    key_tag : str
        Names the secret key.
    """

    def __init__(self, context: Context, key_tag: str, relinearisation: Any, automorphisms: Mapping[int, Any]):
        self.context, self.key_tag = context, key_tag
        self._relinearisation = relinearisation
        self._automorphisms = dict(automorphisms)

    @classmethod
    def generate(cls, context: Context, secret: SecretKey, *, rotations: Iterable[int] = (), conjugation: bool = False,
                 relinearisation: bool = True) -> Keys:
        """Generate keys.

        Parameters
        ----------
        context : Context
        secret : SecretKey
        rotations : iterable of int
            Steps by which the evaluator can rotate; negative ones rotate the other way. See `sum_rotations`.
        conjugation, relinearisation : bool
            Whether to make these keys.

        Raises
        ------
        ParameterError
            The parameter set has no special primes.
        RandomError
            The operating system gave no entropy.
        """
        context.check(secret)
        core = context._core
        elements = {core.rotation_element(steps) for steps in rotations} - {1}
        if conjugation:
            elements.add(core.conjugation_element)
        key = _core.ckks_switching_key(core, secret._core, None) if relinearisation else None
        return cls(context, secret.key_tag, key,
                   {g: _core.ckks_switching_key(core, secret._core, g) for g in sorted(elements)})

    @property
    def relinearises(self) -> bool:
        """True if there is a relinearisation key."""
        return self._relinearisation is not None

    @property
    def elements(self) -> list[int]:
        """The numbers g of X -> X^g for which there are keys, ascending."""
        return sorted(self._automorphisms)

    def can_rotate(self, steps: int) -> bool:
        """Return whether there is a key for a rotation by `steps`."""
        g = self.context._core.rotation_element(steps)
        return g == 1 or g in self._automorphisms

    def to(self, device: Device | int | str) -> Keys:
        """Copy the keys to a GPU, all or none, with the arguments and errors of `Ciphertexts.to`. An evaluator with a
        device does so by itself."""
        there = opened(self.context, device)
        return Keys(self.context, self.key_tag,
                    None if self._relinearisation is None else moved(there, self._relinearisation),
                    {g: moved(there, key) for g, key in self._automorphisms.items()})

    @property
    def _on_gpu(self) -> bool:
        return any(key is not None and key.place >= 0 for key in [self._relinearisation, *self._automorphisms.values()])

    def __or__(self, other: Keys) -> Keys:
        if not isinstance(other, Keys):
            return NotImplemented
        self.context.check(other)
        check_tags(self, other)
        return Keys(self.context, self.key_tag or other.key_tag, self._relinearisation or other._relinearisation,
                    {**other._automorphisms, **self._automorphisms})

    def __repr__(self) -> str:
        relinearisation = "relinearisation and " if self.relinearises else ""
        return f"<polykem.ckks.Keys: {relinearisation}{len(self._automorphisms)} automorphisms>"

    def _for_relinearisation(self) -> Any:
        if self._relinearisation is None:
            raise MissingKeyError("there is no relinearisation key: make it with Keys.generate(context, secret), in "
                                  "OpenFHE with EvalMultKeyGen(secretKey)")
        return self._relinearisation

    def _check_rotations(self, rotations: Iterable[int]) -> None:
        missing = [steps for steps in rotations if not self.can_rotate(steps)]
        if missing:
            raise MissingKeyError(f"there are no keys for rotations by {missing}: make them with "
                                  f"Keys.generate(context, secret, rotations={missing}), in OpenFHE with "
                                  f"EvalRotateKeyGen(secretKey, {missing})")

    def _for_conjugation(self, g: int) -> Any:
        if g not in self._automorphisms:
            raise MissingKeyError(f"there is no key for conjugation (g = {g}): make it with "
                                  f"Keys.generate(context, secret, conjugation=True), in OpenFHE with "
                                  f"EvalAutomorphismKeyGen(secretKey, [{g}])")
        return self._automorphisms[g]


def sum_rotations(slots: int) -> list[int]:
    """Return the steps that ``Evaluator.sum_slots`` rotates by: 1, 2, 4, ..., slots / 2.

    Examples
    --------
    >>> from polykem import ckks
    >>> ckks.sum_rotations(16)
    [1, 2, 4, 8]
    """
    if slots < 1 or slots & (slots - 1):
        raise ArgumentError(f"slots must be a power of two, not {slots}")
    return [1 << i for i in range(slots.bit_length() - 1)]
