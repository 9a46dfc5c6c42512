# SPDX-License-Identifier: Apache-2.0
"""Batched post-quantum key exchange, and signatures.

One call computes a batch: arrays of records in, arrays of records out.

>>> import polykem
>>> with polykem.Context() as ctx:
...     pk, sk = ctx.keygen("mlkem768", 1000)
...     ct, ss, status = ctx.encaps("mlkem768", pk)
...     ctx.decaps("mlkem768", sk, ct).ss == ss
True
"""

from ._context import Context
from ._core import version as _version
from ._device import DeviceSecret
from ._errors import (ArgumentError, ArgumentTypeError, BackendUnavailable, BusyError, Error, InternalError, ItemsError,
                      OutOfMemory, RandomError, RangeError, SizeError, Status, UnknownBackend, UnknownScheme)
from ._jobs import Job
from ._keyset import KeySet
from ._messages import Strings
from ._profile import Profile, StepRecord
from ._results import Decapsulations, Encapsulations, KeyPairs, Signatures
from ._scheme import (Backend, Crossover, Scheme, SignatureScheme, backends, cpu_features, crossover, schemes,
                      signature_schemes, tune)
from ._secret import Secret

__version__ = _version()

__all__ = [
    "ArgumentError", "ArgumentTypeError", "Backend", "BackendUnavailable", "BusyError", "Context", "Crossover",
    "Decapsulations", "DeviceSecret", "Encapsulations", "Error", "InternalError", "ItemsError", "Job", "KeyPairs",
    "KeySet", "OutOfMemory", "Profile", "RandomError", "RangeError", "Scheme", "Secret", "SignatureScheme",
    "Signatures", "SizeError", "Status", "StepRecord", "Strings", "UnknownBackend", "UnknownScheme", "__version__",
    "backends", "cpu_features", "crossover", "schemes", "signature_schemes", "tune",
]


def __dir__() -> list[str]:
    """List the public names and the submodules that have been imported."""
    return sorted({*__all__, *({"bulk", "ckks", "hpke", "report"} & globals().keys())})
