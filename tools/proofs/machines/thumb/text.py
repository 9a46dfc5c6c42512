# SPDX-License-Identifier: Apache-2.0
"""Instructions of Thumb-2, as a Cortex-M4 has them, with their operands, from Capstone's text."""

from __future__ import annotations

import re
from dataclasses import dataclass

import capstone

from proofs.machines.memory import NotFollowed

STACK_POINTER, LINK, COUNTER = 13, 14, 15  # numbers of registers
LONGEST_BLOCK = 18  # bytes of an IT instruction and the four instructions that it makes conditional


@dataclass(frozen=True)
class Register:
    """A general register, 15 of which is the address of the instruction plus 4."""

    number: int


@dataclass(frozen=True)
class Float:
    """A floating-point register of 32 or 64 bits, of which number n is that of 32 bits or a pair of those."""

    number: int
    width: int


@dataclass(frozen=True)
class Shifted:
    """A register that is shifted first."""

    register: Register
    kind: str
    by: int


@dataclass(frozen=True)
class Address:
    base: Register
    offset: Register | Shifted | int = 0
    writes_back: bool = False  # the address, before the access; of several words, the address after them


Operand = Register | Float | Shifted | Address | tuple["Operand", ...] | int | str


@dataclass(frozen=True)
class Instruction:
    at: int
    size: int
    name: str
    operands: tuple[Operand, ...]
    text: str
    sets_flags: bool = False
    condition: str = ""


CONDITIONS = ("eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
_FLAGGED = {"adc", "add", "and", "asr", "bic", "eor", "lsl", "lsr", "mov", "mul", "mvn", "orn", "orr", "ror", "rsb",
            "sbc", "sub"}  # these set flags if their name ends with s
_NAMES = {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": STACK_POINTER, "lr": LINK, "pc": COUNTER,
          **{f"r{n}": n for n in range(13)}}
_FLOAT = re.compile(r"([sd])(\d+)")
_MODIFIER = re.compile(r"(lsl|lsr|asr|ror) #(\w+)")
_NUMBER = re.compile(r"#(-?)(0x[0-9a-f]+|\d+)")

_disassembler = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)


def decode(code: bytes, at: int) -> list[Instruction]:
    """Returns the instruction that begins at an address; after an IT instruction those too that it makes
    conditional."""
    result: list[Instruction] = []
    for start, size, mnemonic, operands in _disassembler.disasm_lite(code, at, 5):
        conditional = bool(result)
        if not conditional or len(result) < len(result[0].name):
            result.append(_instruction(start, size, mnemonic, operands, conditional))
        if not result[0].name.startswith("it"):
            break
    if not result or result[0].name.startswith("it") and len(result) != len(result[0].name):
        raise NotFollowed(f"{code[:4].hex()} at {at:#x} is no instruction that Capstone knows")
    return result


def _instruction(at: int, size: int, mnemonic: str, operands: str, conditional: bool) -> Instruction:
    name, condition = re.sub(r"\.\w+$", "", mnemonic), ""
    if name[0] == "b" and name[1:] in CONDITIONS:
        name, condition = "b", name[1:]
    elif conditional:
        name, condition = name[:-2], name[-2:]
        if condition not in CONDITIONS:
            raise NotFollowed(f"{mnemonic} at {at:#x} has no condition")
    sets_flags = name.endswith("s") and name[:-1] in _FLAGGED
    text = f"{mnemonic} {operands}".strip()
    return Instruction(at, size, name[:-1] if sets_flags else name, _operands(operands), text, sets_flags, condition)


def _operands(text: str) -> tuple[Operand, ...]:
    result: list[Operand] = []
    for part in _split(text):
        modifier = _MODIFIER.fullmatch(part)
        if modifier and result and isinstance(result[-1], Register):
            result[-1] = Shifted(result[-1], modifier[1], int(modifier[2], 0))
        else:
            result.append(_operand(part))
    return tuple(result)


def _split(text: str) -> list[str]:
    """Returns the parts between commas outside of brackets."""
    return [part.strip() for part in re.findall(r"(?:\[[^]]*\]!?|\{[^}]*\}|[^,[{])+", text) if part.strip()]


def _operand(text: str) -> Operand:
    if text[0] == "[":
        return _address(text)
    if text[0] == "{":
        return tuple(map(_operand, _split(text[1:-1])))
    if text[0] == "#":
        number = _NUMBER.fullmatch(text)
        return int(number[1] + number[2], 0) if number else text
    if text in _NAMES:
        return Register(_NAMES[text])
    if text[-1] == "!" and text[:-1] in _NAMES:
        return Address(Register(_NAMES[text[:-1]]), writes_back=True)
    if register := _FLOAT.fullmatch(text):
        return Float(int(register[2]), 32 if register[1] == "s" else 64)
    return text


def _address(text: str) -> Address:
    base, *offset = _operands(text.rstrip("!")[1:-1])
    if not isinstance(base, Register) or len(offset) > 1:
        raise NotFollowed(f"the address {text}")
    return Address(base, *offset, writes_back=text.endswith("!"))  # type: ignore[arg-type]
