# SPDX-License-Identifier: Apache-2.0
"""Runs of x86-64 code, with AVX-512."""

from __future__ import annotations

from dataclasses import dataclass

import iced_x86 as iced

from proofs.algebra.terms import Term, bitwise, compare, concat, const, extract, ite, negate, variable, zext
from proofs.machines.machine import Argument, Machine
from proofs.machines.memory import (RETURN, STACK, THREAD, ZERO_BYTE, Byte, Library, NotFollowed, bytes_of, lanes_of,
                                    value_of)
from proofs.machines.x86.general import GENERAL, pop, registers_of_address
from proofs.machines.x86.tiles import TILES, Tiles
from proofs.machines.x86.vector import VECTOR

HIGH_BYTES = (iced.Register.AH, iced.Register.CH, iced.Register.DH, iced.Register.BH)
_ARGUMENTS = (7, 6, 2, 1, 8, 9)  # registers
_STACK_POINTER, _PRESERVED = 4, (3, 5, 12, 13, 14, 15)
_FORMATTER = iced.Formatter(iced.FormatterSyntax.INTEL)


def _number_of_general(register: int) -> int:
    if not iced.RegisterExt.is_gpr(register):
        raise NotFollowed("a register of another kind")
    return iced.RegisterExt.number(iced.RegisterExt.full_register(register))


def _number_of_vector(register: int) -> int:
    if not iced.RegisterExt.is_vector_register(register):
        raise NotFollowed("a register of another kind")
    return iced.RegisterExt.number(register)


@dataclass(frozen=True)
class Decoded:
    i: iced.Instruction
    name: str

    @property
    def size(self) -> int:
        return self.i.len

    @property
    def text(self) -> str:
        return _FORMATTER.format(self.i)


class X86(Machine):
    """The registers of a run."""

    vector_bytes = 64

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.tiles = Tiles()
        self._decoded: dict[int, Decoded] = {}

    def forget_registers(self, when: str) -> None:
        self.general = [variable(f"general register {n} {when}", 64) for n in range(16)]
        self.vector = [bytes_of(variable(f"vector register {n} {when}", 512)) for n in range(32)]
        self.mask = [variable(f"mask register {n} {when}", 64) for n in range(8)]
        self.flags: tuple = ()

    def forget_registers_of_callee(self) -> None:
        general = self.general
        self.forget_registers(f"after step {self.steps}")
        for number in (_STACK_POINTER, *_PRESERVED):
            self.general[number] = general[number]

    def preserved(self) -> list[object]:
        return [self.general[number] for number in _PRESERVED]  # and the stack pointer: it finds the return address

    def set_arguments(self, arguments: tuple[Argument, ...]) -> None:
        words = [argument for argument in arguments if isinstance(argument, int)]
        for number, word in zip(_ARGUMENTS, words):
            self.general[number] = const(word, 64)
        on_stack = [RETURN, *words[len(_ARGUMENTS):]]
        for argument in arguments:
            if isinstance(argument, tuple):
                on_stack += argument
        self.general[4] = const(STACK - 8, 64)
        for n, word in enumerate(on_stack):
            self.memory.store(STACK - 8 + 8 * n, bytes_of(const(word, 64)))

    def argument(self, n: int) -> Term:
        return self.general[_ARGUMENTS[n]]

    def take_return_address(self) -> Term:
        return pop(self)

    def set_result(self, value: Term) -> None:
        self.general[0] = value

    def decode(self, at: int) -> Decoded:
        if at not in self._decoded:
            code = next(filter(None, (self.library.read(at, size) for size in range(15, 0, -1))), None)
            if code is None:
                raise NotFollowed(f"jumps to {at:#x}, outside the library")
            instruction = iced.Decoder(64, code, ip=at).decode()
            self._decoded[at] = Decoded(instruction, _FORMATTER.format_mnemonic(instruction).split()[-1])
        return self._decoded[at]

    # Operands

    def address(self, i: iced.Instruction) -> int:
        of_thread = i.memory_segment == iced.Register.FS
        if i.has_segment_prefix and (not of_thread or i.is_ip_rel_memory_operand):
            raise NotFollowed("a segment")
        if i.is_ip_rel_memory_operand:
            return i.ip_rel_memory_address
        result = i.memory_displacement + (THREAD if of_thread else 0)
        for register, scale in registers_of_address(i):
            result += self.known(self.read_general(register), "the address") * scale
        return result & ((1 << 64) - 1)

    def read_general(self, register: int) -> Term:
        full, size = self.general[_number_of_general(register)], iced.RegisterExt.size(register)
        if register in HIGH_BYTES:
            return extract(full, 15, 8)
        return extract(full, 8 * size - 1, 0)

    def write_general(self, register: int, value: Term) -> None:
        number, size = _number_of_general(register), iced.RegisterExt.size(register)
        if size >= 4:
            self.general[number] = zext(value, 64)
        elif register in HIGH_BYTES:
            old = self.general[number]
            self.general[number] = concat(extract(old, 63, 16), value, extract(old, 7, 0))
        else:
            self.general[number] = concat(extract(self.general[number], 63, 8 * size), value)

    def read(self, i: iced.Instruction, n: int) -> Term:
        """Returns a general operand: a register, memory or a number."""
        kind = i.op_kind(n)
        if kind == iced.OpKind.REGISTER:
            register = i.op_register(n)
            if iced.RegisterExt.is_k(register):
                return self.mask[iced.RegisterExt.number(register)]
            if iced.RegisterExt.is_vector_register(register):
                return value_of(self.vector[iced.RegisterExt.number(register)][:8])
            return self.read_general(register)
        if kind == iced.OpKind.MEMORY:
            return value_of(self.memory.load(self.address(i), iced.MemorySizeExt.size(i.memory_size)))
        return const(i.immediate(n), self.width(i, 0))

    def width(self, i: iced.Instruction, n: int) -> int:
        if i.op_kind(n) == iced.OpKind.REGISTER:
            return 8 * iced.RegisterExt.size(i.op_register(n))
        return 8 * iced.MemorySizeExt.size(i.memory_size)

    def write(self, i: iced.Instruction, value: Term) -> None:
        if i.op_kind(0) == iced.OpKind.MEMORY:
            self.memory.store(self.address(i), bytes_of(value))
        else:
            self.write_general(i.op_register(0), value)

    def read_vector(self, i: iced.Instruction, n: int, size: int) -> list[Byte]:
        """Returns the first `size` bytes of a vector operand; a broadcast is repeated."""
        if i.op_kind(n) == iced.OpKind.REGISTER:
            return self.vector[_number_of_vector(i.op_register(n))][:size]
        if i.is_broadcast:
            one = self.memory.load(self.address(i), iced.MemorySizeExt.element_size(i.memory_size))
            return one * (size // len(one))
        return self.memory.load(self.address(i), size)

    def lanes(self, i: iced.Instruction, n: int, size: int, width: int) -> list[Term]:
        return lanes_of(self.read_vector(i, n, size), width)

    def write_vector(self, i: iced.Instruction, data: list[Byte], mask_width: int = 0) -> None:
        """Writes a vector operand. An instruction with a mask keeps or clears lanes of mask_width bits."""
        if i.op_kind(0) == iced.OpKind.MEMORY:
            self._store(i, data, mask_width)
            return
        if i.op_mask != iced.Register.NONE:
            data = self._masked(i, data, mask_width)
        number = _number_of_vector(i.op_register(0))
        legacy = i.encoding == iced.EncodingKind.LEGACY
        self.vector[number] = data + (self.vector[number][len(data):] if legacy else [ZERO_BYTE] * (64 - len(data)))

    def _store(self, i: iced.Instruction, data: list[Byte], width: int) -> None:
        """Stores a vector, or the lanes of `width` bits that a mask selects, which has to be known."""
        at, step = self.address(i), width // 8
        if i.op_mask == iced.Register.NONE:
            self.memory.store(at, data)
            return
        if not step:
            raise NotFollowed("a mask is not expected here")
        mask = self.mask[iced.RegisterExt.number(i.op_mask)]
        for first in range(0, len(data), step):
            if self.known(extract(mask, first // step, first // step), "a mask of memory"):
                self.memory.store(at + first, data[first:first + step])

    def _masked(self, i: iced.Instruction, data: list[Byte], width: int) -> list[Byte]:
        mask, step = self.mask[iced.RegisterExt.number(i.op_mask)], width // 8
        if not step:
            raise NotFollowed("a mask is not expected here")
        old = [ZERO_BYTE] * len(data) if i.zeroing_masking else self.read_vector(i, 0, len(data))
        result: list[Byte] = []
        for lane in range(len(data) // step):
            there, here = extract(mask, lane, lane), slice(lane * step, (lane + 1) * step)
            result += bytes_of(ite(there, value_of(data[here]), value_of(old[here])))
        return result

    def vector_size(self, i: iced.Instruction, n: int = 0) -> int:
        if i.op_kind(n) == iced.OpKind.REGISTER:
            return iced.RegisterExt.size(i.op_register(n))
        return iced.MemorySizeExt.size(i.memory_size)

    def condition(self, code: str) -> Term:
        """Returns one bit: whether the flags meet a condition, by the letters that instructions use."""
        if code.startswith("n") and code not in ("ns", "no", "np"):
            return negate(self.condition(code[1:]))
        if code in ("ns",):
            return negate(self.condition("s"))
        if code in ("ae", "be", "ge", "le") and code[0] in "ag":
            return negate(self.condition({"a": "b", "g": "l"}[code[0]]))
        if code in ("a", "g"):
            return negate(self.condition({"a": "be", "g": "le"}[code]))
        if not self.flags:
            raise NotFollowed("no flag is known")
        kind, result, a, b = self.flags
        zero = compare("eq", result, const(0, result.width))
        sign = extract(result, result.width - 1, result.width - 1)
        if code in ("e", "z"):
            return zero
        if code == "s":
            return sign
        if code in ("b", "c", "be"):
            if kind == "sub":
                carry = compare("ult", a, b)
            elif kind == "add":
                carry = compare("ult", result, a)
            elif kind == "logic":
                carry = const(0, 1)
            else:
                raise NotFollowed("the carry flag of this instruction is not known")
            return carry if code != "be" else bitwise("or", carry, zero)
        if code in ("l", "le"):
            if kind == "sub":
                less = compare("slt", a, b)
            elif kind == "logic":
                less = sign
            else:
                raise NotFollowed("the overflow flag of this instruction is not known")
            return less if code == "l" else bitwise("or", less, zero)
        raise NotFollowed(f"condition {code}")

    # Instructions

    def execute(self, instruction: Decoded) -> None:
        i, name = instruction.i, instruction.name
        if name in GENERAL:
            GENERAL[name](self, i)
        elif name[0] == "j":
            self.jump(i, name[1:])
        elif name.startswith("set"):
            self.write(i, zext(self.condition(name[3:]), 8))
        elif name.startswith("cmov"):
            self.write(i, ite(self.condition(name[4:]), self.read(i, 1), self.read(i, 0)))
        elif name in VECTOR:
            VECTOR[name](self, i)
        elif name[0] == "v" and name[1:] in VECTOR:
            VECTOR[name[1:]](self, i)
        elif name in TILES:
            TILES[name](self, i)
        else:
            raise NotFollowed("the meaning of this instruction is not given in general.py, vector.py or tiles.py")

    def target(self, i: iced.Instruction) -> int:
        """Returns where a jump or a call goes."""
        if i.op_kind(0) in (iced.OpKind.REGISTER, iced.OpKind.MEMORY):
            return self.known(self.read(i, 0), "a jump")
        return i.near_branch_target

    def jump(self, i: iced.Instruction, code: str) -> None:
        if code == "mp":
            self.next = self.target(i)
        elif self.known(self.condition(code), "a branch"):
            self.next = i.near_branch_target
