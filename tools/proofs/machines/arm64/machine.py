# SPDX-License-Identifier: Apache-2.0
"""Runs of AArch64 code, with NEON."""

from __future__ import annotations

from proofs.algebra.terms import Term, add, bitwise, compare, const, extract, ite, negate, sext, variable, zext
from proofs.machines.arm64.general import GENERAL, shifted
from proofs.machines.arm64.neon import NEON
from proofs.machines.arm64.text import (STACK_POINTER, ZERO, Address, General, Group, Instruction, Shifted, Vector,
                                        decode)
from proofs.machines.machine import Argument, Machine
from proofs.machines.memory import RETURN, STACK, ZERO_BYTE, Byte, Library, NotFollowed, bytes_of, lanes_of

LINK = 30  # the register that has the address to return to
_PRESERVED = (*range(19, 30), STACK_POINTER)
_OPPOSITES = {"ne": "eq", "cc": "cs", "lo": "hs", "pl": "mi", "vc": "vs", "ls": "hi", "ge": "lt", "le": "gt"}


class Arm64(Machine):
    """The registers of a run. Number 31 of the general ones is the stack pointer."""

    vector_bytes = 16

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self._decoded: dict[int, Instruction] = {}

    def forget_registers(self, when: str) -> None:
        self.general = [variable(f"general register {n} {when}", 64) for n in range(32)]
        self.vector = [bytes_of(variable(f"vector register {n} {when}", 128)) for n in range(32)]
        self.flags: tuple = ()

    def forget_registers_of_callee(self) -> None:
        general, vector = self.general, self.vector
        self.forget_registers(f"after step {self.steps}")
        for number in _PRESERVED:
            self.general[number] = general[number]
        for number in range(8, 16):
            self.vector[number][:8] = vector[number][:8]

    def preserved(self) -> list[object]:
        return [self.general[number] for number in _PRESERVED] + [self.vector[number][:8] for number in range(8, 16)]

    def set_arguments(self, arguments: tuple[Argument, ...]) -> None:
        at = STACK
        words = []
        for argument in arguments:  # a structure is a copy, and its address the argument
            if isinstance(argument, tuple):
                at -= 8 * len(argument)
                self._store_words(at, argument)
            words.append(at if isinstance(argument, tuple) else argument)
        for number, word in enumerate(words[:8]):
            self.general[number] = const(word, 64)
        top = (at - 8 * len(words[8:])) & ~15
        self._store_words(top, tuple(words[8:]))
        self.general[STACK_POINTER] = const(top, 64)
        self.general[LINK] = const(RETURN, 64)

    def _store_words(self, at: int, words: tuple[int, ...]) -> None:
        for n, word in enumerate(words):
            self.memory.store(at + 8 * n, bytes_of(const(word, 64)))

    def argument(self, n: int) -> Term:
        return self.general[n]

    def take_return_address(self) -> Term:
        return self.general[LINK]

    def set_result(self, value: Term) -> None:
        self.general[0] = value

    def decode(self, at: int) -> Instruction:
        if at not in self._decoded:
            code = self.library.read(at, 4)
            if code is None or at % 4:
                raise NotFollowed(f"jumps to {at:#x}, outside the library")
            self._decoded[at] = decode(code, at)
        return self._decoded[at]

    def execute(self, i: Instruction) -> None:
        of_vectors = any(isinstance(operand, (Vector, Group)) for operand in i.operands)
        handler = (NEON if of_vectors else GENERAL).get(i.name)
        if handler is not None:
            handler(self, i)
        elif i.name.startswith("b."):
            if self.known(self.condition(i.name[2:]), "a branch"):
                self.next = i.operands[0]  # type: ignore[assignment]
        else:
            raise NotFollowed("the meaning of this instruction is not given in arm64/general.py or arm64/neon.py")

    # Operands

    def read_general(self, register: General) -> Term:
        if register.number == ZERO:
            return const(0, register.width)
        return extract(self.general[register.number], register.width - 1, 0)

    def write_general(self, register: General, value: Term) -> None:
        if register.width != value.width:
            raise NotFollowed(f"{value.width} bits for a register of {register.width}")
        if register.number != ZERO:
            self.general[register.number] = zext(value, 64)

    def read(self, operand: object, width: int) -> Term:
        """Returns a general operand as `width` bits."""
        match operand:
            case int():
                return const(operand, width)
            case General():
                value = self.read_general(operand)
            case Shifted():
                value = shifted(self, operand, width)
            case _:
                raise NotFollowed("an operand of another kind")
        if value.width != width:
            raise NotFollowed("operands of different widths")
        return value

    def take_address(self, i: Instruction, n: int) -> int:
        """Returns the address that operand n is, and changes the base register if the instruction does."""
        address = i.operands[n]
        if isinstance(address, int):
            return address
        if not isinstance(address, Address):
            raise NotFollowed("an address is expected")
        base = self.known(self.read_general(address.base), "the address")
        offset = address.offset if isinstance(address.offset, int) else self.known(
            self.read(address.offset, 64), "the address")
        at = (base + offset) & ((1 << 64) - 1)
        if address.writes_back:
            self.write_general(address.base, const(at, 64))
        elif n + 1 < len(i.operands):
            by = self.known(self.read(i.operands[n + 1], 64), "the address")
            self.write_general(address.base, const(base + by, 64))
        return at

    def read_vector(self, v: Vector) -> list[Byte]:
        """Returns the bytes of a vector operand, or of one lane."""
        size = v.width // 8
        at = (v.index or 0) * size
        return self.vector[v.number][at:at + size * v.count]

    def write_vector(self, v: Vector, data: list[Byte]) -> None:
        """Writes a vector or a scalar, which clears the rest of the register, or one lane, which does not."""
        if len(data) * 8 != v.width * v.count:
            raise NotFollowed("lanes of another size are expected")
        if v.index is None:
            self.vector[v.number] = data + [ZERO_BYTE] * (16 - len(data))
        else:
            register, at = list(self.vector[v.number]), v.index * len(data)
            register[at:at + len(data)] = data
            self.vector[v.number] = register

    def lanes(self, v: Vector) -> list[Term]:
        return lanes_of(self.read_vector(v), v.width)

    def condition(self, code: str, flags: tuple | None = None) -> Term:
        """Returns one bit: whether the flags meet a condition."""
        flags = self.flags if flags is None else flags
        if code in _OPPOSITES:
            return negate(self.condition(_OPPOSITES[code], flags))
        if not flags:
            raise NotFollowed("no flag is known")
        if flags[0] == "choice":
            return ite(flags[1], self.condition(code, flags[2]), self.condition(code, flags[3]))
        if code == "hi":
            return bitwise("and", self.condition("cs", flags), self.condition("ne", flags))
        if code == "gt":
            return bitwise("and", self.condition("ge", flags), self.condition("ne", flags))
        if code == "vs":
            return bitwise("xor", self.condition("lt", flags), self.condition("mi", flags))
        if flags[0] == "bits":
            n, z, c, v = (flags[1] >> bit & 1 for bit in (3, 2, 1, 0))
            known = {"eq": z, "mi": n, "cs": c, "hs": c, "lt": n ^ v}
            if code not in known:
                raise NotFollowed(f"condition {code}")
            return const(known[code], 1)
        return self._condition_of_result(code, *flags)

    def _condition_of_result(self, code: str, kind: str, result: Term, a: Term, b: Term) -> Term:
        sign = extract(result, result.width - 1, result.width - 1)
        match code, kind:
            case "eq", _:
                return compare("eq", result, const(0, result.width))
            case "mi", _:
                return sign
            case "cs" | "hs", "sub":
                return negate(compare("ult", a, b))
            case "cs" | "hs", "add":
                return compare("ult", result, a)
            case "cs" | "hs", "logic":
                return const(0, 1)
            case "lt", "sub":
                return compare("slt", a, b)
            case "lt", "add":
                return extract(add(sext(a, a.width + 1), sext(b, b.width + 1)), a.width, a.width)
            case "lt", "logic":
                return sign
        raise NotFollowed(f"condition {code}")
