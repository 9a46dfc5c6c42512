# SPDX-License-Identifier: Apache-2.0
"""Arithmetic on encrypted numbers in batches: the scheme CKKS, on CPUs and GPUs, with files of OpenFHE.

>>> import numpy as np
>>> from polykem import ckks
>>> context = ckks.Context(ckks.Parameters.choose(log_n=13, levels=2, scale_bits=30, first_bits=36))
>>> secret = ckks.SecretKey.generate(context)
>>> public = ckks.PublicKey.generate(context, secret)
>>> ev = ckks.Evaluator(context, ckks.Keys.generate(context, secret, rotations=[1]))
>>> x = context.encrypt(public, [[0.5, -0.5, 1.0, 2.0]])
>>> y = ev.rotate(ev.mul(x, x), 1)
>>> np.round(context.decrypt(secret, y).real, 2)
array([[0.25, 1.  , 4.  , 0.25]])
"""

from ._batches import Ciphertexts, Plaintexts, join
from ._context import Context
from ._device import Device
from ._errors import (ArgumentError, CkksError, DecryptionError, DeviceError, FormatError, InsecureError, InternalError,
                      LevelError, MissingKeyError, MissingReaderError, NoLevelError, OutOfMemory, ParameterError,
                      PartsError, RandomError, ResidueError, ScaleError, Status)
from ._evaluator import Evaluator
from ._files import load, save
from ._inspector import Inspector, Row
from ._keys import Keys, PublicKey, SecretKey, sum_rotations
from ._parameters import Parameters
from ._polynomials import Chebyshev
from ._transforms import LinearTransform

__all__ = [
    "ArgumentError", "Chebyshev", "Ciphertexts", "CkksError", "Context", "DecryptionError", "Device", "DeviceError",
    "Evaluator", "FormatError", "InsecureError", "Inspector", "InternalError", "Keys", "LevelError",
    "LinearTransform", "MissingKeyError", "MissingReaderError", "NoLevelError", "OutOfMemory", "ParameterError",
    "Parameters", "PartsError", "Plaintexts", "PublicKey", "RandomError", "ResidueError", "Row", "ScaleError",
    "SecretKey", "Status", "join", "load", "save", "sum_rotations",
]


def __dir__() -> list[str]:
    return __all__
