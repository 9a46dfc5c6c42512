# SPDX-License-Identifier: Apache-2.0
"""Runs of Thumb-2 code for a Cortex-M4."""

from __future__ import annotations

from proofs.algebra.terms import Term, add, bitwise, compare, const, extract, ite, negate, sext, variable, zext
from proofs.machines.machine import Argument, Machine
from proofs.machines.memory import RETURN, STACK_BYTES, Library, NotFollowed, bytes_of
from proofs.machines.thumb.general import GENERAL
from proofs.machines.thumb.text import (COUNTER, LINK, LONGEST_BLOCK, STACK_POINTER, Address, Float, Instruction,
                                        Register, Shifted, decode)
from proofs.machines.words import SHIFTS

STACK = 0x7000_0000
_PRESERVED = (*range(4, 12), STACK_POINTER)
_OPPOSITES = {"ne": "eq", "lo": "hs", "pl": "mi", "vc": "vs", "ls": "hi", "ge": "lt", "le": "gt"}

# A flag of a sum or a difference of two words, ("add", a, b) or ("sub", a, b), or a bit, ("bit", bit).
Flag = tuple[object, ...]


class Thumb(Machine):
    """The registers of a run. Number 13 of the general ones is the stack pointer, 14 the link register."""

    vector_bytes = 4
    pointer_bytes = 4

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._decoded: dict[int, Instruction] = {}
        self.memory.unknown.append(range(STACK - STACK_BYTES, STACK))

    def forget_registers(self, when: str) -> None:
        self.general = [variable(f"general register {n} {when}", 32) for n in range(15)]
        self.single = [variable(f"register s{n} {when}", 32) for n in range(32)]
        self.result: Term | None = None  # of which N and Z are
        self.carry: Flag | None = None
        self.overflow: Flag | None = None
        self.greater_or_equal: tuple[Term, ...] = ()  # the flags GE of two halves or of four bytes, the lowest first

    def forget_registers_of_callee(self) -> None:
        general, single = self.general, self.single
        self.forget_registers(f"after step {self.steps}")
        for number in _PRESERVED:
            self.general[number] = general[number]
        self.single[16:] = single[16:]

    def preserved(self) -> list[object]:
        return [self.general[number] for number in _PRESERVED] + self.single[16:]

    def set_arguments(self, arguments: tuple[Argument, ...]) -> None:
        """A structure's words are arguments of their own, in registers too."""
        words = [word for argument in arguments
                 for word in (argument if isinstance(argument, tuple) else (argument,))]
        for number, word in enumerate(words[:4]):
            self.general[number] = const(word, 32)
        top = (STACK - 4 * len(words[4:])) & ~7
        for n, word in enumerate(words[4:]):
            self.memory.store(top + 4 * n, bytes_of(const(word, 32)))
        self.general[STACK_POINTER] = const(top, 32)
        self.general[LINK] = const(RETURN | 1, 32)

    def argument(self, n: int) -> Term:
        return self.general[n]

    def take_return_address(self) -> Term:
        return bitwise("and", self.general[LINK], const(~1, 32))

    def set_result(self, value: Term) -> None:
        self.general[0] = value

    def decode(self, at: int) -> Instruction:
        if at not in self._decoded:
            size = next((size for size in (LONGEST_BLOCK, 4, 2) if self.library.read(at, size)), 0)
            if not size or at % 2:
                raise NotFollowed(f"jumps to {at:#x}, outside the library")
            for instruction in decode(self.library.read(at, size) or b"", at):
                self._decoded[instruction.at] = instruction
        return self._decoded[at]

    def execute(self, i: Instruction) -> None:
        handler = GENERAL.get(i.name)
        if handler is None:
            raise NotFollowed("the meaning of this instruction is not given in thumb/general.py")
        condition = self.condition(i.condition) if i.condition else const(1, 1)
        if condition.value is None:
            self._execute_if(condition, i)
        elif condition.value:
            handler(self, i)

    def _execute_if(self, condition: Term, i: Instruction) -> None:
        """Executes an instruction on general registers if a condition that is not known holds."""
        if i.name in ("b", "bl", "blx", "bx", "pop", "ldm"):
            self.known(condition, "a branch")
        if i.name.startswith(("str", "stm", "push", "v")):
            raise NotFollowed("a store depends on an input")
        general, next_address = list(self.general), self.next
        flags = self.result, self.carry, self.overflow, self.greater_or_equal
        GENERAL[i.name](self, i)
        if flags != (self.result, self.carry, self.overflow, self.greater_or_equal) or self.next != next_address:
            raise NotFollowed("whether flags change depends on an input")
        self.general = [_chosen(condition, new, old) for new, old in zip(self.general, general)]

    # Operands

    def write(self, operand: object, value: Term) -> None:
        """Writes a general register; the program counter by a jump."""
        if not isinstance(operand, Register) or value.width != 32:
            raise NotFollowed("a general register is expected")
        if operand.number == COUNTER:
            self.jump(value)
        else:
            self.general[operand.number] = value

    def jump(self, to: Term) -> None:
        self.next = self.known(to, "a jump") & ~1

    def read(self, operand: object, i: Instruction) -> Term:
        """Returns an operand of 32 bits of an instruction."""
        match operand:
            case int():
                return const(operand, 32)
            case Register(number):
                return const(i.at + 4, 32) if number == COUNTER else self.general[number]
            case Shifted():
                return SHIFTS[operand.kind](self.read(operand.register, i), operand.by)
            case Float(number, 32):
                return self.single[number]
        raise NotFollowed("an operand of another kind")

    def take_address(self, i: Instruction, n: int) -> int:
        """Returns the address that operand n is, and changes the base register if the instruction does."""
        address = i.operands[n]
        if not isinstance(address, Address):
            raise NotFollowed("an address is expected")
        base = self.known(self.read(address.base, i), "the address")
        if address.base.number == COUNTER:
            base &= ~3
        offset = self.known(self.read(address.offset, i), "the address")
        at = (base + offset) & 0xFFFF_FFFF
        if address.writes_back:
            self.write(address.base, const(at, 32))
        elif n + 1 < len(i.operands):
            by = self.known(self.read(i.operands[n + 1], i), "the address")
            self.write(address.base, const(base + by, 32))
        return at

    def singles(self, operand: object) -> list[int]:
        """Returns the numbers of the registers of 32 bits that a floating-point register is."""
        if not isinstance(operand, Float) or operand.number * operand.width >= 32 * 32:
            raise NotFollowed("a floating-point register of a Cortex-M4 is expected")
        return [operand.number] if operand.width == 32 else [2 * operand.number, 2 * operand.number + 1]

    # Flags

    def set_flags(self, result: Term, carry: Flag | None, overflow: Flag | None) -> None:
        self.result, self.carry, self.overflow = result, carry, overflow

    def condition(self, code: str) -> Term:
        """Returns one bit: whether the flags meet a condition."""
        if code in _OPPOSITES:
            return negate(self.condition(_OPPOSITES[code]))
        if code == "hi":
            return bitwise("and", self.condition("hs"), self.condition("ne"))
        if code == "gt":
            return bitwise("and", self.condition("ge"), self.condition("ne"))
        if code == "lt":
            if self.overflow and self.overflow[0] == "sub":
                return compare("slt", *self.overflow[1:])
            return bitwise("xor", self.condition("mi"), self.condition("vs"))
        if code == "hs":
            return _carry(self.carry)
        if code == "vs":
            return _overflow(self.overflow)
        if self.result is None:
            raise NotFollowed("no flag is known")
        return compare("eq", self.result, const(0, 32)) if code == "eq" else extract(self.result, 31, 31)


def _chosen(condition: Term, new: Term, old: Term) -> Term:
    """Returns the new word if a condition holds, otherwise the old one, which may be a choice by the opposite."""
    if old.op == "ite" and old.args[0] is negate(condition):
        old = old.args[1]
    return ite(condition, new, old)


def _carry(flag: Flag | None) -> Term:
    match flag:
        case ("bit", bit):
            return bit
        case ("add", a, b):
            return extract(add(zext(a, 33), zext(b, 33)), 32, 32)
        case ("sub", a, b):
            return negate(compare("ult", a, b))
    raise NotFollowed("no carry is known")


def _overflow(flag: Flag | None) -> Term:
    match flag:
        case ("bit", bit):
            return bit
        case ("add", a, b):
            total = add(sext(a, 33), sext(b, 33))
            return bitwise("xor", extract(total, 32, 32), extract(total, 31, 31))
        case ("sub", a, b):
            difference = add(sext(a, 33), add(bitwise("xor", sext(b, 33), const(-1, 33)), const(1, 33)))
            return bitwise("xor", extract(difference, 32, 32), extract(difference, 31, 31))
    raise NotFollowed("no overflow is known")
