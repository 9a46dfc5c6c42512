# SPDX-License-Identifier: Apache-2.0
"""Instructions of AArch64 with their operands, from Capstone's text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import capstone

from proofs.machines.memory import NotFollowed

ZERO, STACK_POINTER = 32, 31  # numbers of the two registers that are encoded as 31


@dataclass(frozen=True)
class General:
    """A general register of 32 or 64 bits."""

    number: int
    width: int


@dataclass(frozen=True)
class Vector:
    """`count` lanes of a vector register, or lane `index` of it, or the lowest one as a scalar."""

    number: int
    width: int  # of a lane
    count: int = 1
    index: int | None = None
    is_scalar: bool = False


@dataclass(frozen=True)
class Group:
    """Vector registers that are loaded or stored together, or that are a table."""

    registers: tuple[Vector, ...]


@dataclass(frozen=True)
class Shifted:
    """An operand that is shifted or extended first."""

    operand: General | int
    kind: str
    by: int


@dataclass(frozen=True)
class Address:
    base: General
    offset: General | Shifted | int = 0
    writes_back: bool = False  # the address, before the access


Operand = General | Vector | Group | Shifted | Address | int | str


@dataclass(frozen=True)
class Instruction:
    at: int
    name: str
    operands: tuple[Operand, ...]
    text: str
    size: ClassVar[int] = 4


_GENERAL = re.compile(r"([xw])(\d+|zr)")
_VECTOR = re.compile(r"v(\d+)\.(\d*)([bhsdq])(?:\[(\w+)\])?")
_SCALAR = re.compile(r"([bhsdq])(\d+)")
_MODIFIER = re.compile(r"(lsl|lsr|asr|ror|msl|[su]xt[bhwx])(?: #(\w+))?")
_NUMBER = re.compile(r"#(-?)(0x[0-9a-f]+|\d+)")
_WIDTHS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128, "w": 32, "x": 64}

_disassembler = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)


def decode(code: bytes, at: int) -> Instruction:
    """Returns the instruction of four bytes at an address."""
    for _, _, name, operands in _disassembler.disasm_lite(code, at, 1):
        return Instruction(at, name, _operands(operands), f"{name} {operands}")
    raise NotFollowed(f"{code.hex()} at {at:#x} is no instruction that Capstone knows")


def _operands(text: str) -> tuple[Operand, ...]:
    result: list[Operand] = []
    for part in _split(text):
        modifier = _MODIFIER.fullmatch(part)
        if modifier and result and isinstance(result[-1], (General, int)):
            result[-1] = Shifted(result[-1], modifier[1], int(modifier[2] or "0", 0))
        else:
            result.append(_operand(part))
    return tuple(result)


def _split(text: str) -> list[str]:
    """Returns the parts between commas outside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _operand(text: str) -> Operand:
    if text[0] == "[":
        return _address(text)
    if text[0] == "{":
        return _group(text)
    if text[0] == "#":
        number = _NUMBER.fullmatch(text)
        return int(number[1] + number[2], 0) if number else text
    if text in ("sp", "wsp"):
        return General(STACK_POINTER, 64 if text == "sp" else 32)
    if general := _GENERAL.fullmatch(text):
        return General(ZERO if general[2] == "zr" else int(general[2]), _WIDTHS[general[1]])
    if vector := _VECTOR.fullmatch(text):
        index = None if vector[4] is None else int(vector[4], 0)
        return Vector(int(vector[1]), _WIDTHS[vector[3]], int(vector[2] or 1), index)
    if scalar := _SCALAR.fullmatch(text):
        return Vector(int(scalar[2]), _WIDTHS[scalar[1]], is_scalar=True)
    return text


def _address(text: str) -> Address:
    writes_back = text.endswith("!")
    base, *offset = _operands(text.rstrip("!")[1:-1])
    if not isinstance(base, General) or len(offset) > 1:
        raise NotFollowed(f"the address {text}")
    return Address(base, *offset, writes_back=writes_back)  # type: ignore[arg-type]


def _group(text: str) -> Group:
    inside, _, index = text.rstrip("]").partition("}")
    registers = [_operand(part + (f"{index}]" if index else "")) for part in _split(inside[1:])]
    return Group(tuple(registers))  # type: ignore[arg-type]
