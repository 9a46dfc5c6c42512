# SPDX-License-Identifier: Apache-2.0
"""Parameter sets and backends as values."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, Union

from . import _core
from ._errors import ArgumentError, ArgumentTypeError, UnknownScheme, check

OPS = ("keygen", "encaps", "decaps", "sign", "verify")
KEYGEN, ENCAPS, DECAPS, SIGN, VERIFY = range(5)

Self = TypeVar("Self", bound="_ParameterSet")


class _ParameterSet:
    """The fields that parameter sets of KEMs and of signatures share."""

    __slots__ = ("_index", "name", "family", "title", "aliases", "security_category", "public_key_bytes",
                 "secret_key_bytes", "keygen_coin_bytes", "secret_seed_bytes")

    ops: ClassVar[tuple[str, ...]]

    _index: int  # the extension's number for it
    name: str
    family: str
    title: str
    aliases: tuple[str, ...]
    security_category: int
    public_key_bytes: int
    secret_key_bytes: int
    keygen_coin_bytes: int
    secret_seed_bytes: int

    @classmethod
    def _at(cls: type[Self], index: int) -> Self:
        self = object.__new__(cls)
        object.__setattr__(self, "_index", index)
        slots = {*_ParameterSet.__slots__, *cls.__slots__}
        for field, value in _core.scheme_fields(index).items():
            if field in slots:
                object.__setattr__(self, field, value)
        return self

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a {type(self).__name__} is immutable")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __reduce__(self) -> tuple[type[_ParameterSet], tuple[str]]:
        return type(self), (self.name,)


class Scheme(_ParameterSet):
    """One parameter set of a KEM.

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
    >>> polykem.Scheme("X-Wing").name, polykem.Scheme("X-Wing").aliases
    ('mlkem768x25519', ('X-Wing',))
    >>> polykem.Scheme("mlkem786")
    Traceback (most recent call last):
        ...
    polykem._errors.UnknownScheme: there is no parameter set 'mlkem786'; did you mean 'mlkem768'?
    """

    __slots__ = ("ciphertext_bytes", "shared_secret_bytes", "encaps_coin_bytes", "public_key_at", "research")

    ops = OPS[:3]

    name: str  #: registry name, "mlkem768"
    family: str  #: "ntru", "mlkem", "frodokem", "saberkem", "lac", "hybrid"
    title: str  #: as the specification spells it, "ML-KEM-768"
    aliases: tuple[str, ...]  #: other names by which it is found
    security_category: int  #: NIST category 1..5, 0 where none was claimed
    public_key_bytes: int
    secret_key_bytes: int
    ciphertext_bytes: int
    shared_secret_bytes: int
    keygen_coin_bytes: int  #: coins of one key pair, in the order of the known-answer tests
    encaps_coin_bytes: int  #: the same for one encapsulation
    secret_seed_bytes: int  #: size of a secret key stored as a seed, 0 if the set has none
    public_key_at: int | None  #: offset of the public key in a secret key, in bytes; None if there is none
    research: bool  #: for research only, since attacks on it are published

    def __new__(cls, name: str) -> Scheme:
        index = _core.find_scheme(_checked_name(name))
        if index is not None:
            return _ALL[index]
        if _core.find_signature(name) is not None:
            raise ArgumentError(f"{name} is a signature set, which has {', '.join(SignatureScheme.ops)}; this needs a "
                                "KEM's set, which polykem.schemes() lists")
        raise _unknown(name, _core.suggest_scheme(name))


class SignatureScheme(_ParameterSet):
    """One parameter set of a signature scheme.

    Parameters
    ----------
    name : str
        Registry name or title; letter case, ``-`` and ``_`` do not matter.

    Raises
    ------
    UnknownScheme
        With the nearest name in the message.

    Examples
    --------
    >>> import polykem
    >>> s = polykem.SignatureScheme("ML-DSA-65")
    >>> s.name, s.public_key_bytes, s.signature_bytes
    ('mldsa65', 1952, 3309)
    """

    __slots__ = ("signature_bytes", "sign_coin_bytes")

    ops = ("keygen", "sign", "verify")

    name: str  #: registry name, "mldsa65"
    family: str  #: "mldsa"
    title: str  #: as the specification spells it, "ML-DSA-65"
    aliases: tuple[str, ...]  #: other names by which it is found
    security_category: int  #: NIST category
    public_key_bytes: int
    secret_key_bytes: int
    signature_bytes: int
    keygen_coin_bytes: int  #: coins of one key pair: xi of FIPS 204
    sign_coin_bytes: int  #: coins of one signature: rnd of FIPS 204
    secret_seed_bytes: int  #: size of a secret key stored as a seed

    def __new__(cls, name: str) -> SignatureScheme:
        index = _core.find_signature(_checked_name(name))
        if index is not None:
            return _SIGNATURES[index - len(_ALL)]
        if _core.find_scheme(name) is not None:
            raise ArgumentError(f"{name} is a KEM's set, which has {', '.join(Scheme.ops)}; this needs a "
                                "signature set, which polykem.signature_schemes() lists")
        raise _unknown(name, _core.suggest_signature(name))


def _checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise ArgumentTypeError(f"a parameter set is named by a str, not {type(name).__name__}")
    return name


def _unknown(name: str, nearest: str) -> UnknownScheme:
    return UnknownScheme(f"there is no parameter set {name!r}; did you mean {nearest!r}?", nearest)


_ALL = [Scheme._at(index) for index in range(_core.scheme_count())]
_SIGNATURES = [SignatureScheme._at(index) for index in range(_core.scheme_count(), _core.set_count())]

SchemeLike = Union[Scheme, str]
SignatureLike = Union[SignatureScheme, str]
AnySet = Union[Scheme, SignatureScheme]
AnySetLike = Union[Scheme, SignatureScheme, str]


def schemes() -> list[Scheme]:
    """Return all KEM parameter sets of this build, in registry order."""
    return list(_ALL)


def signature_schemes() -> list[SignatureScheme]:
    """Return all parameter sets of signatures.

    Examples
    --------
    >>> import polykem
    >>> [s.title for s in polykem.signature_schemes()]
    ['ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87']
    """
    return list(_SIGNATURES)


def as_scheme(scheme: SchemeLike) -> Scheme:
    if isinstance(scheme, Scheme):
        return scheme
    return Scheme(scheme.name if isinstance(scheme, SignatureScheme) else scheme)


def as_signature(scheme: SignatureLike) -> SignatureScheme:
    if isinstance(scheme, SignatureScheme):
        return scheme
    return SignatureScheme(scheme.name if isinstance(scheme, Scheme) else scheme)


def as_set(scheme: AnySetLike) -> AnySet:
    """Return a set of either kind."""
    if isinstance(scheme, (Scheme, SignatureScheme)):
        return scheme
    index = _core.find_scheme(_checked_name(scheme))
    if index is None:
        index = _core.find_signature(scheme)
    if index is None:
        raise _unknown(scheme, _nearest(scheme))
    return _ALL[index] if index < len(_ALL) else _SIGNATURES[index - len(_ALL)]


def _nearest(name: str) -> str:
    """Return the set's name, of a KEM or a signature, that shares most with `name`."""
    return max(_core.suggest_scheme(name), _core.suggest_signature(name),
               key=lambda other: difflib.SequenceMatcher(None, name.lower(), other).ratio())


@dataclass(frozen=True)
class Backend:
    """One way to run a set: a CPU's instruction set or an accelerator."""

    name: str  #: "cuda", "amx", "avx512", "avx2", "neon-sha3", "neon", "ref"
    description: str
    requirements: str  #: what the machine must have and, if known, why the backend is not available here
    available: bool


def backends() -> list[Backend]:
    """Return the backends of this build, best first; ``available`` says whether this machine can run one.

    Examples
    --------
    >>> import polykem
    >>> [b.name for b in polykem.backends()][-1]
    'ref'
    """
    return [Backend(**_core.backend_fields(index)) for index in range(_core.backend_count())]


def cpu_features() -> list[str]:
    """Return the names of the detected CPU features that polykem uses."""
    return _core.cpu_features().split()


@dataclass(frozen=True)
class Crossover:
    """The batch size from which the GPU computes; ``items`` is None if it never does."""

    items: int | None
    measured: bool  #: False if it is a guess


def crossover(scheme: AnySetLike, op: str) -> Crossover:
    """Return the batch size at which ``op`` of ``scheme`` moves to the GPU, unless a backend is forced."""
    scheme = as_set(scheme)
    items, measured = _core.crossover(scheme._index, op_index(op, scheme))
    return Crossover(None if items == 2**64 - 1 else items, measured)


def tune(scheme: AnySetLike) -> None:
    """Measure the crossovers of a set, which takes about a second, and store them in a file for later processes.

    Raises
    ------
    BackendUnavailable
        If the set cannot run on a GPU here.
    """
    check(_core.tune(as_set(scheme)._index), "measuring the crossover")


def op_index(op: str, scheme: AnySet) -> int:
    if op not in scheme.ops:
        raise ArgumentError(f"{scheme.name} has no operation {op!r}; it has {', '.join(scheme.ops)}")
    return OPS.index(op)


def backend_name(backend: Backend | str | None) -> str | None:
    return backend.name if isinstance(backend, Backend) else backend
