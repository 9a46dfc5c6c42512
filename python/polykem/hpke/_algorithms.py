# SPDX-License-Identifier: Apache-2.0
"""Algorithms of suites, by IANA's numbers and by name."""

from __future__ import annotations

import contextlib
from enum import IntEnum
from typing import Any, TypeVar

from .. import _core
from .._errors import ArgumentError

TAG_BYTES = _core.HPKE_TAG_BYTES
MIN_PSK_BYTES = _core.HPKE_MIN_PSK_BYTES

Number = TypeVar("Number", bound=IntEnum)


class Kem(IntEnum):
    """KEMs, by their number in IANA's registry."""

    DHKEM_X25519 = 0x0020
    ML_KEM_512 = 0x0040
    ML_KEM_768 = 0x0041
    ML_KEM_1024 = 0x0042
    MLKEM768_P256 = 0x0050
    MLKEM1024_P384 = 0x0051
    MLKEM768_X25519 = 0x647A


class Kdf(IntEnum):
    """Key derivation functions, by their number in IANA's registry."""

    HKDF_SHA256 = 0x0001
    HKDF_SHA384 = 0x0002
    HKDF_SHA512 = 0x0003
    SHAKE128 = 0x0010
    SHAKE256 = 0x0011


class Aead(IntEnum):
    """Ciphers, by their number in IANA's registry."""

    AES_128_GCM = 0x0001
    AES_256_GCM = 0x0002
    CHACHA20_POLY1305 = 0x0003
    EXPORT_ONLY = 0xFFFF


def algorithm(kind: type[Number], value: Any, names: list[tuple[int, str]]) -> Number:
    """Return the member for a member, a number or a name; case, spaces, "-" and "_" of a name do not matter."""
    if isinstance(value, str):
        known = {_plain(name): number for number, name in names}
        known.update({_plain(member.name): int(member) for member in kind})
        if _plain(value) in known:
            return kind(known[_plain(value)])
    else:
        with contextlib.suppress(ValueError):
            return kind(value)
    wrong = f"{value:#06x}" if isinstance(value, int) else repr(value)
    there = ", ".join(f"{number:#06x} ({' or '.join(name for n, name in names if n == number)})" for number in kind)
    raise ArgumentError(f"no {kind.__name__} {wrong}; there are {there}")


def _plain(name: str) -> str:
    return name.lower().translate({ord(c): None for c in "-_ "})
