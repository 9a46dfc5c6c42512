# SPDX-License-Identifier: Apache-2.0
"""Exceptions, one class for each status of ``polykem/ckks.h``. Their text is the library's: what is wrong and what to
do."""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import Any

from .. import _errors
from .._errors import Error


class Status(IntEnum):
    """The status of a call; the numbers of ``polykem_ckks_status``."""

    OK = 0
    ARGUMENT = 1
    OUT_OF_MEMORY = 5
    RANDOM = 6
    INTERNAL = 14
    PARAMETERS = 32
    INSECURE = 33
    LEVELS = 34
    SCALES = 35
    PARTS = 36
    NO_LEVEL = 37
    RESIDUES = 38
    DEVICE = 39
    DECRYPTION = 40
    FORMAT = 41


class CkksError(Error):
    """The base class of the errors of arithmetic on encrypted numbers.

    Attributes
    ----------
    status : Status
        The C API's code.
    """

    status: IntEnum = Status.INTERNAL


class ArgumentError(_errors.ArgumentError, CkksError):
    """An invalid argument: an array of the wrong shape, objects of different parameter sets or keys."""


class OutOfMemory(_errors.OutOfMemory, CkksError):
    """There is not enough memory."""


class RandomError(_errors.RandomError, CkksError):
    """The operating system gave no entropy."""


class InternalError(_errors.InternalError, CkksError):
    """A defect in polykem; please report it."""


class ParameterError(CkksError, ValueError):
    """Invalid parameters: moduli, roots or sizes."""

    status = Status.PARAMETERS


class InsecureError(ParameterError):
    """Less than 128 bits of security, which was not allowed."""

    status = Status.INSECURE


class LevelError(CkksError, ValueError):
    """Operands with different numbers of limbs."""

    status = Status.LEVELS


class ScaleError(CkksError, ValueError):
    """Operands with different scales, a scale that is not below its modulus, or one that a file cannot express."""

    status = Status.SCALES


class PartsError(CkksError, ValueError):
    """A product that should have been relinearised first, or the other way round."""

    status = Status.PARTS


class NoLevelError(LevelError):
    """One limb is left, which rescaling would drop."""

    status = Status.NO_LEVEL


class MissingKeyError(CkksError, LookupError):
    """The evaluator lacks a key; the text says how to make it."""

    status = Status.ARGUMENT


class ResidueError(CkksError, ValueError):
    """Words that are not below their prime, or a secret that is not ternary."""

    status = Status.RESIDUES


class DeviceError(CkksError, RuntimeError):
    """No such GPU, one that failed, or operands in different places."""

    status = Status.DEVICE


class DecryptionError(CkksError, ValueError):
    """Decrypted coefficients are spread over the modulus: another key's, or of numbers that it does not hold."""

    status = Status.DECRYPTION


class FormatError(CkksError, ValueError):
    """Not a file of OpenFHE for CKKS; the text names the place."""

    status = Status.FORMAT


class MissingReaderError(CkksError, ImportError):
    """This build does not read OpenFHE's files."""

    status = Status.FORMAT


_CLASSES: dict[int, type[Error]] = {
    Status.ARGUMENT: ArgumentError,
    Status.OUT_OF_MEMORY: OutOfMemory,
    Status.RANDOM: RandomError,
    Status.PARAMETERS: ParameterError,
    Status.INSECURE: InsecureError,
    Status.LEVELS: LevelError,
    Status.SCALES: ScaleError,
    Status.PARTS: PartsError,
    Status.NO_LEVEL: NoLevelError,
    Status.RESIDUES: ResidueError,
    Status.DEVICE: DeviceError,
    Status.DECRYPTION: DecryptionError,
    Status.FORMAT: FormatError,
}


def whole_number(value: Any, name: str) -> int:
    """Return an integer of 64 bits; raise ArgumentError if the value is none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name} must be whole numbers, not {value!r}") from None
    if not -2 ** 63 <= number < 2 ** 63:
        raise ArgumentError(f"{name} must fit 64 bits")
    return number


def error(status: int, text: str) -> Error:
    """Return the exception of a status; the extension raises it."""
    return _CLASSES.get(status, InternalError)(text)
