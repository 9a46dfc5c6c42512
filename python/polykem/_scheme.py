# SPDX-License-Identifier: Apache-2.0
"""Parameter sets and backends as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from . import _core
from ._errors import ArgumentError, ArgumentTypeError, UnknownScheme, check

OPS = ("keygen", "encaps", "decaps")
KEYGEN, ENCAPS, DECAPS = range(3)


class Scheme:
    """One parameter set.

    Parameters
    ----------
    name : str
        Registry name or alias; letter case, ``-`` and ``_`` do not matter.

    Raises
    ------
    UnknownScheme
        With the nearest name in the message.

    Examples
    --------
    >>> import polykem
    >>> s = polykem.Scheme("ML-KEM-768")
    >>> s.name, s.public_key_bytes, s.security_category
    ('mlkem768', 1184, 3)
    >>> polykem.Scheme("mlkem786")
    Traceback (most recent call last):
        ...
    polykem._errors.UnknownScheme: there is no parameter set 'mlkem786'; did you mean 'mlkem768'?
    """

    __slots__ = ("_index", "name", "family", "title", "security_category", "public_key_bytes", "secret_key_bytes",
                 "ciphertext_bytes", "shared_secret_bytes", "keygen_coin_bytes", "encaps_coin_bytes",
                 "secret_seed_bytes", "public_key_at", "research")

    _index: int  # in the registry
    name: str  #: registry name, "mlkem768"
    family: str  #: "ntru", "mlkem", "frodokem", "saberkem", "lac"
    title: str  #: as the specification spells it, "ML-KEM-768"
    security_category: int  #: NIST category 1..5, 0 where none was claimed
    public_key_bytes: int
    secret_key_bytes: int
    ciphertext_bytes: int
    shared_secret_bytes: int
    keygen_coin_bytes: int  #: coins of one key pair, in the order of the known-answer tests
    encaps_coin_bytes: int  #: the same for one encapsulation
    secret_seed_bytes: int  #: of a secret key in its form as a seed, 0 if the set has none
    public_key_at: int | None  #: where a secret key holds its public key, in bytes from its start; None if it does not
    research: bool  #: for research only, since attacks on it are published

    def __new__(cls, name: str) -> Scheme:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"a parameter set is named by a str, not {type(name).__name__}")
        index = _core.find_scheme(name)
        if index is None:
            nearest = _core.suggest_scheme(name)
            raise UnknownScheme(f"there is no parameter set {name!r}; did you mean {nearest!r}?", nearest)
        return _ALL[index]

    @classmethod
    def _at(cls, index: int) -> Scheme:
        self = object.__new__(cls)
        object.__setattr__(self, "_index", index)
        for field, value in _core.scheme_fields(index).items():
            object.__setattr__(self, field, value)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Scheme does not change")

    def __repr__(self) -> str:
        return f"Scheme({self.name!r})"

    def __reduce__(self) -> tuple[type[Scheme], tuple[str]]:
        return Scheme, (self.name,)


_ALL = [Scheme._at(index) for index in range(_core.scheme_count())]

SchemeLike = Union[Scheme, str]


def schemes() -> list[Scheme]:
    """All parameter sets of this build, in registry order."""
    return list(_ALL)


def as_scheme(scheme: SchemeLike) -> Scheme:
    return scheme if isinstance(scheme, Scheme) else Scheme(scheme)


@dataclass(frozen=True)
class Backend:
    """One way to run a set: a CPU's instruction set or an accelerator."""

    name: str  #: "cuda", "amx", "avx512", "avx2", "neon-sha3", "neon", "ref"
    description: str
    requirements: str  #: what the machine must have, and why it is not available here if that is known
    available: bool


def backends() -> list[Backend]:
    """The backends of this build, best first; ``available`` says whether this machine can run one.

    Examples
    --------
    >>> import polykem
    >>> [b.name for b in polykem.backends()][-1]
    'ref'
    """
    return [Backend(**_core.backend_fields(index)) for index in range(_core.backend_count())]


def cpu_features() -> list[str]:
    """Names of the detected CPU features that polykem uses."""
    return _core.cpu_features().split()


@dataclass(frozen=True)
class Crossover:
    """The batch size from which the GPU computes; ``items`` is None if it never does."""

    items: int | None
    measured: bool  #: False: a guess


def crossover(scheme: SchemeLike, op: str) -> Crossover:
    """The batch size at which ``op`` of ``scheme`` moves from the CPU to the GPU, without a forced backend."""
    items, measured = _core.crossover(as_scheme(scheme)._index, op_index(op))
    return Crossover(None if items == 2**64 - 1 else items, measured)


def tune(scheme: SchemeLike) -> None:
    """Measure the crossovers of a set, which takes about a second, and store them in a file for later processes.

    Raises
    ------
    BackendUnavailable
        If the set cannot run on a GPU here.
    """
    check(_core.tune(as_scheme(scheme)._index), "measuring the crossover")


def op_index(op: str) -> int:
    try:
        return OPS.index(op)
    except ValueError:
        raise ArgumentError(f"there is no operation {op!r}; there are {', '.join(OPS)}") from None


def backend_name(backend: Backend | str | None) -> str | None:
    return backend.name if isinstance(backend, Backend) else backend
