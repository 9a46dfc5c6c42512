# SPDX-License-Identifier: Apache-2.0
"""Runs a function of a compiled x86-64 library on inputs that are not known, and says what each byte that it writes
holds as a term over the inputs (terms.py).

Addresses and branches have to be known: where one depends on an unknown input, the run stops. That does not restrict
code in constant time. Instructions whose meaning is not given here stop the run too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar

import iced_x86 as iced
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from proofs.terms import (Term, add, bitwise, compare, concat, const, extract, ite, mul, negate, sext, shift_left,
                          shift_right, shift_right_signed, sub, variable, zext)

Byte = tuple[Term, int]  # byte number n of a term
ZERO_BYTE: Byte = (const(0, 8), 0)
STACK, STACK_BYTES = 0x7FFF_0000_0000, 1 << 20
RETURN = 0xDEAD_0000
OUTSIDE = 0xC000_0000_0000  # functions of other libraries, 16 bytes apart
THREAD, THREAD_BYTES = 0x6000_0000_0000, 1 << 12  # what the register fs points to
LOWEST = 0x1000  # no data is below


class NotFollowed(Exception):
    """An instruction, an address or a branch that the run cannot follow."""


class Library:
    """The code, constants and symbols of a shared library, at the addresses that its file gives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.bytes: dict[int, bytes] = {}
        self.functions: dict[str, int] = {}
        self.objects: dict[str, int] = {}
        self.outside: list[str] = []
        self.ambiguous: set[str] = set()  # names of several functions or objects
        self.variable: list[range] = []  # addresses that the program may write to
        self.linked: set[int] = set()  # addresses of pointers that only the dynamic linker writes
        with path.open("rb") as file:
            elf = ELFFile(file)
            for segment in elf.iter_segments("PT_LOAD"):
                start, size = segment["p_vaddr"], segment["p_memsz"]
                self.bytes[start] = segment.data() + bytes(size - segment["p_filesz"])
                if segment["p_flags"] & 2:
                    self.variable.append(range(start, start + size))
            for segment in elf.iter_segments("PT_GNU_RELRO"):
                end = segment["p_vaddr"] + segment["p_memsz"]
                self.variable = [part for old in self.variable for part in (
                    range(old.start, min(old.stop, segment["p_vaddr"])), range(max(old.start, end), old.stop))]
            table = elf.get_section_by_name(".symtab")
            if table is None:
                raise ValueError(f"{path}: stripped, expected the names of local functions")
            for symbol in table.iter_symbols():
                kinds = {"STT_FUNC": self.functions, "STT_OBJECT": self.objects}
                if symbol["st_info"]["type"] in kinds and symbol["st_value"]:
                    known = kinds[symbol["st_info"]["type"]]
                    if known.setdefault(symbol.name, symbol["st_value"]) != symbol["st_value"]:
                        self.ambiguous.add(symbol.name)
            self._relocate(elf)

    def _relocate(self, elf: ELFFile) -> None:
        """Fills in the pointers that the dynamic linker would, for a library at address 0."""
        relative, symbolic = 8, (1, 6, 7)  # R_X86_64_RELATIVE; _64, _GLOB_DAT, _JUMP_SLOT
        data = {start: bytearray(content) for start, content in self.bytes.items()}
        for section in elf.iter_sections():
            if not isinstance(section, RelocationSection):
                continue
            symbols = elf.get_section(section["sh_link"])
            for relocation in section.iter_relocations():
                value = relocation["r_addend"]
                if relocation["r_info_type"] in symbolic:
                    symbol = symbols.get_symbol(relocation["r_info_sym"])
                    value += symbol["st_value"] or self._address_outside(symbol.name)
                elif relocation["r_info_type"] != relative:
                    continue
                if relocation["r_info_type"] in symbolic[1:]:
                    self.linked |= set(range(relocation["r_offset"], relocation["r_offset"] + 8))
                for start, content in data.items():
                    if start <= relocation["r_offset"] < start + len(content):
                        at = relocation["r_offset"] - start
                        content[at:at + 8] = value.to_bytes(8, "little")
        self.bytes = {start: bytes(content) for start, content in data.items()}

    def _address_outside(self, name: str) -> int:
        if name not in self.outside:
            self.outside.append(name)
        return OUTSIDE + 16 * self.outside.index(name)

    def function(self, name: str) -> int:
        """Returns the address of a function, given by its symbol, or by that of a table of functions and the number of
        the pointer in it: "_ZN7polykem13kNttLanesAvx2E[2]"."""
        table, _, index = name.rstrip("]").partition("[")
        if table in self.ambiguous:
            raise NotFollowed(f"{self.path.name} has several of the name {table}")
        if not index:
            if name not in self.functions:
                raise NotFollowed(f"{self.path.name} has no function {name}")
            return self.functions[name]
        if table not in self.objects:
            raise NotFollowed(f"{self.path.name} has no object {table}")
        pointer = self.read(self.objects[table] + 8 * int(index), 8)
        return int.from_bytes(pointer or b"", "little")

    def read(self, address: int, size: int) -> bytes | None:
        """Returns `size` bytes at an address of the library, or None."""
        for start, data in self.bytes.items():
            if start <= address and address + size <= start + len(data):
                return data[address - start:address - start + size]
        return None


def value_of(data: Iterable[Byte]) -> Term:
    """Returns the term of bytes in memory, lowest first."""
    data = list(data)
    first, at = data[0]
    if len(data) * 8 == first.width and at == 0 and all(t is first and n == i for i, (t, n) in enumerate(data)):
        return first
    return concat(*(extract(t, 8 * n + 7, 8 * n) for t, n in reversed(data)))


def bytes_of(term: Term) -> list[Byte]:
    return [(term, n) for n in range(term.width // 8)]


class Memory:
    """Bytes by address; the library's constants beneath what was written."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.written: dict[int, Byte] = {}
        self.constants: set[int] = set()  # addresses of the library's bytes that were read as data

    def load(self, address: int, size: int) -> list[Byte]:
        result = []
        for at in range(address, address + size):
            byte = self.written.get(at)
            if byte is None:
                byte = self.written[at] = (self._unwritten(at), 0)
            result.append(byte)
        return result

    def _unwritten(self, at: int) -> Term:
        """Returns a byte that nothing has written: a constant of the library, or an unknown one."""
        constant = self.library.read(at, 1)
        if STACK - STACK_BYTES <= at < STACK or THREAD <= at < THREAD + THREAD_BYTES:
            return variable(f"byte {at:#x}", 8)
        if constant is None or at < LOWEST:
            raise NotFollowed(f"reads {at:#x}, which nothing has written")
        if at not in self.library.linked and any(at in addresses for addresses in self.library.variable):
            raise NotFollowed(f"reads {at:#x}, which the program may have changed")
        self.constants.add(at)
        return const(constant[0], 8)

    def store(self, address: int, data: list[Byte]) -> None:
        for n, byte in enumerate(data):
            self.written[address + n] = byte


HIGH_BYTES = (iced.Register.AH, iced.Register.CH, iced.Register.DH, iced.Register.BH)


def _number_of_general(register: int) -> int:
    if not iced.RegisterExt.is_gpr(register):
        raise NotFollowed("a register of another kind")
    return iced.RegisterExt.number(iced.RegisterExt.full_register(register))


def _number_of_vector(register: int) -> int:
    if not iced.RegisterExt.is_vector_register(register):
        raise NotFollowed("a register of another kind")
    return iced.RegisterExt.number(register)


def _registers_of_address(i: iced.Instruction) -> Iterator[tuple[int, int]]:
    """Yields the registers of which an address is a sum, and their factors."""
    for register, scale in ((i.memory_base, 1), (i.memory_index, i.memory_index_scale)):
        if register != iced.Register.NONE:
            if not iced.RegisterExt.is_gpr64(register):
                raise NotFollowed("an address that is not a sum of registers of 64 bits")
            yield register, scale


class Machine:
    """The registers, and the memory, of a run."""

    most_steps: ClassVar[int] = 20_000_000

    def __init__(self, library: Library) -> None:
        self.library = library
        self.memory = Memory(library)
        self._forget_registers("at the call")
        self.steps = 0
        self.executed: set[int] = set()  # addresses of instructions
        self._decoded: dict[int, tuple[iced.Instruction, str]] = {}
        self._formatter = iced.Formatter(iced.FormatterSyntax.INTEL)

    def _forget_registers(self, when: str) -> None:
        self.general = [variable(f"general register {n} {when}", 64) for n in range(16)]
        self.vector = [bytes_of(variable(f"vector register {n} {when}", 512)) for n in range(32)]
        self.mask = [variable(f"mask register {n} {when}", 64) for n in range(8)]
        self.flags: tuple = ()

    def call(self, function: str, *arguments: int) -> None:
        """Runs the function until it returns. Arguments are integers or addresses; those after six are on the stack."""
        for register, argument in zip((7, 6, 2, 1, 8, 9), arguments):
            self.general[register] = const(argument, 64)
        self.general[4] = const(STACK - 8, 64)
        for n, argument in enumerate((RETURN, *arguments[6:])):
            self.memory.store(STACK - 8 + 8 * n, bytes_of(const(argument, 64)))
        at = self.library.function(function)
        while at != RETURN:
            if self.steps >= self.most_steps:
                raise NotFollowed(f"no return after {self.most_steps} instructions")
            self.steps += 1
            if at >= OUTSIDE:
                number, beside = divmod(at - OUTSIDE, 16)
                if beside or number >= len(self.library.outside):
                    raise NotFollowed(f"jumps to {at:#x}, outside the library")
                self.call_outside(self.library.outside[number])
                at = self.known(_pop(self), "a return")
                continue
            instruction, name = self.decode(at)
            self.executed.add(at)
            self.next = instruction.next_ip
            try:
                self.execute(instruction, name)
            except (NotFollowed, KeyError) as error:
                reason = str(error) if isinstance(error, NotFollowed) else repr(error)
                raise NotFollowed(f"{at:#x}: {self._formatter.format(instruction)}: {reason}") from error
            at = self.next

    def call_outside(self, name: str) -> None:
        """Does what a function of the C library does."""
        to, second, size = (self.general[n] for n in (7, 6, 2))
        if name in ("memcpy", "memmove", "__memcpy_chk"):
            data = self.memory.load(self.known(second, "an address"), self.known(size, "a size"))
        elif name == "memset":
            data = bytes_of(extract(second, 7, 0)) * self.known(size, "a size")
        else:
            raise NotFollowed(f"calls {name}")
        self.memory.store(self.known(to, "an address"), data)
        kept = {number: self.general[number] for number in (3, 4, 5, 12, 13, 14, 15)}
        self._forget_registers(f"after step {self.steps}")
        for number, value in kept.items():
            self.general[number] = value
        self.general[0] = to

    def decode(self, at: int) -> tuple[iced.Instruction, str]:
        if at not in self._decoded:
            code = self.library.read(at, 15)
            if code is None:
                raise NotFollowed(f"jumps to {at:#x}, outside the library")
            instruction = iced.Decoder(64, code, ip=at).decode()
            self._decoded[at] = (instruction, self._formatter.format_mnemonic(instruction).split()[-1])
        return self._decoded[at]

    # Operands

    def address(self, i: iced.Instruction) -> int:
        of_thread = i.memory_segment == iced.Register.FS
        if i.has_segment_prefix and (not of_thread or i.is_ip_rel_memory_operand):
            raise NotFollowed("a segment")
        if i.is_ip_rel_memory_operand:
            return i.ip_rel_memory_address
        result = i.memory_displacement + (THREAD if of_thread else 0)
        for register, scale in _registers_of_address(i):
            result += self.known(self.read_general(register), "the address") * scale
        return result & ((1 << 64) - 1)

    def known(self, term: Term, what: str) -> int:
        if term.value is None:
            raise NotFollowed(f"{what} depends on an input")
        return term.value

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
        data, step = self.read_vector(i, n, size), width // 8
        return [value_of(data[at:at + step]) for at in range(0, size, step)]

    def write_vector(self, i: iced.Instruction, data: list[Byte], mask_width: int = 0) -> None:
        """Writes a vector operand. An instruction with a mask keeps or clears lanes of mask_width bits."""
        if i.op_mask != iced.Register.NONE:
            data = self._masked(i, data, mask_width)
        if i.op_kind(0) == iced.OpKind.MEMORY:
            self.memory.store(self.address(i), data)
            return
        number = _number_of_vector(i.op_register(0))
        legacy = i.encoding == iced.EncodingKind.LEGACY
        self.vector[number] = data + (self.vector[number][len(data):] if legacy else [ZERO_BYTE] * (64 - len(data)))

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

    def execute(self, i: iced.Instruction, name: str) -> None:
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
        else:
            raise NotFollowed("the meaning of this instruction is not given in machine.py")

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


def _push(m: Machine, value: Term) -> None:
    if value.width != 64:
        raise NotFollowed("a push of other than 64 bits")
    top = m.known(m.general[4], "the stack") - 8
    m.general[4] = const(top, 64)
    m.memory.store(top, bytes_of(value))


def _pop(m: Machine) -> Term:
    top = m.known(m.general[4], "the stack")
    m.general[4] = const(top + 8, 64)
    return value_of(m.memory.load(top, 8))


def _call(m: Machine, i: iced.Instruction) -> None:
    _push(m, const(i.next_ip, 64))
    m.next = m.target(i)


def _return(m: Machine, i: iced.Instruction) -> None:
    m.next = m.known(_pop(m), "a return")


def _leave(m: Machine, i: iced.Instruction) -> None:
    m.general[4] = m.general[5]
    m.general[5] = _pop(m)


def _arithmetic(kind: str, f: Callable[[Term, Term], Term],
                keep: bool = True) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, b = m.read(i, 0), m.read(i, 1)
        result = f(a, b)
        m.flags = (kind, result, a, b)
        if keep:
            m.write(i, result)

    return run


def _one(f: Callable[[Term], Term]) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        result = f(m.read(i, 0))
        m.flags = ("other", result, result, result)
        m.write(i, result)

    return run


def _shift(f: Callable[[Term, int], Term]) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        a = m.read(i, 0)
        by = i.immediate(1) if i.op_kind(1) == iced.OpKind.IMMEDIATE8 else m.known(m.read(i, 1), "a shift")
        by &= 63 if a.width == 64 else 31
        result = f(a, by)
        if by:
            m.flags = ("other", result, a, a)
        m.write(i, result)

    return run


def _shift_x(f: Callable[[Term, int], Term]) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        a = m.read(i, 1)
        m.write(i, f(a, m.known(m.read(i, 2), "a shift") & (a.width - 1)))

    return run


def _imul(m: Machine, i: iced.Instruction) -> None:
    if i.op_count == 1:
        raise NotFollowed("a product of double width")
    a, b = (m.read(i, 0), m.read(i, 1)) if i.op_count == 2 else (m.read(i, 1), m.read(i, 2))
    m.flags = ()
    m.write(i, mul(a, b))


def _negate(m: Machine, i: iced.Instruction) -> None:
    a = m.read(i, 0)
    result = sub(const(0, a.width), a)
    m.flags = ("sub", result, const(0, a.width), a)
    m.write(i, result)


def _subtract_with_borrow(m: Machine, i: iced.Instruction) -> None:
    a, b = m.read(i, 0), m.read(i, 1)
    result = sub(sub(a, b), zext(m.condition("b"), a.width))
    m.flags = ("other", result, a, b)
    m.write(i, result)


def _exchange(m: Machine, i: iced.Instruction) -> None:
    if i.op_count == 0:  # nop, which is also written as an exchange of eax with itself
        return
    a, b = m.read(i, 0), m.read(i, 1)
    if a is not b or i.op_register(0) != i.op_register(1):
        m.write(i, b)
        m.write_general(i.op_register(1), a)


def _store_string(size: int) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        count = m.known(m.general[1], "a count") if i.has_rep_prefix else 1
        at = m.known(m.general[7], "an address")
        for n in range(count):
            m.memory.store(at + n * size, bytes_of(extract(m.general[0], 8 * size - 1, 0)))
        m.general[7] = const(at + count * size, 64)
        if i.has_rep_prefix:
            m.general[1] = const(0, 64)

    return run


def _move_string(size: int) -> Callable[[Machine, iced.Instruction], None]:
    def run(m: Machine, i: iced.Instruction) -> None:
        count = m.known(m.general[1], "a count") if i.has_rep_prefix else 1
        to, source = m.known(m.general[7], "an address"), m.known(m.general[6], "an address")
        for n in range(count):
            m.memory.store(to + n * size, m.memory.load(source + n * size, size))
        m.general[7], m.general[6] = const(to + count * size, 64), const(source + count * size, 64)
        if i.has_rep_prefix:
            m.general[1] = const(0, 64)

    return run


def _nothing(m: Machine, i: iced.Instruction) -> None:
    pass


def _clear_upper(m: Machine, i: iced.Instruction) -> None:
    for register in range(16):
        m.vector[register] = m.vector[register][:16] + [ZERO_BYTE] * 48


GENERAL: dict[str, Callable[[Machine, iced.Instruction], None]] = {
    "mov": lambda m, i: m.write(i, m.read(i, 1)),
    "movabs": lambda m, i: m.write(i, m.read(i, 1)),
    "movzx": lambda m, i: m.write(i, zext(m.read(i, 1), m.width(i, 0))),
    "movsx": lambda m, i: m.write(i, sext(m.read(i, 1), m.width(i, 0))),
    "movsxd": lambda m, i: m.write(i, sext(m.read(i, 1), m.width(i, 0))),
    "cdqe": lambda m, i: m.write_general(iced.Register.RAX, sext(extract(m.general[0], 31, 0), 64)),
    "lea": lambda m, i: m.write(i, _effective(m, i)),
    "add": _arithmetic("add", add),
    "sub": _arithmetic("sub", sub),
    "cmp": _arithmetic("sub", sub, keep=False),
    "and": _arithmetic("logic", lambda a, b: bitwise("and", a, b)),
    "or": _arithmetic("logic", lambda a, b: bitwise("or", a, b)),
    "xor": _arithmetic("logic", lambda a, b: bitwise("xor", a, b)),
    "test": _arithmetic("logic", lambda a, b: bitwise("and", a, b), keep=False),
    "sbb": _subtract_with_borrow,
    "inc": _one(lambda a: add(a, const(1, a.width))),
    "dec": _one(lambda a: sub(a, const(1, a.width))),
    "not": lambda m, i: m.write(i, bitwise("xor", m.read(i, 0), const(-1, m.width(i, 0)))),
    "neg": _negate,
    "shl": _shift(shift_left),
    "shr": _shift(shift_right),
    "sar": _shift(shift_right_signed),
    "shlx": _shift_x(shift_left),
    "shrx": _shift_x(shift_right),
    "sarx": _shift_x(shift_right_signed),
    "imul": _imul,
    "push": lambda m, i: _push(m, m.read(i, 0)),
    "pop": lambda m, i: m.write(i, _pop(m)),
    "call": _call,
    "ret": _return,
    "leave": _leave,
    "xchg": _exchange,
    "nop": _nothing,
    "endbr64": _nothing,
    "vzeroupper": _clear_upper,
    "stosq": _store_string(8),
    "stosd": _store_string(4),
    "stosb": _store_string(1),
    "movsq": _move_string(8),
    "kmovq": lambda m, i: _move_mask(m, i, 64),
    "kmovd": lambda m, i: _move_mask(m, i, 32),
    "kmovw": lambda m, i: _move_mask(m, i, 16),
    "kmovb": lambda m, i: _move_mask(m, i, 8),
}


def _effective(m: Machine, i: iced.Instruction) -> Term:
    """Returns what lea computes; unlike an address it may depend on inputs."""
    if i.is_ip_rel_memory_operand:
        return const(i.ip_rel_memory_address, m.width(i, 0))
    result = const(i.memory_displacement, 64)
    for register, scale in _registers_of_address(i):
        result = add(result, mul(m.read_general(register), const(scale, 64)))
    return extract(result, m.width(i, 0) - 1, 0)


def _move_mask(m: Machine, i: iced.Instruction, width: int) -> None:
    value = m.read(i, 1)
    value = zext(extract(value, width - 1, 0) if value.width > width else value, 64)
    if i.op_kind(0) == iced.OpKind.REGISTER and iced.RegisterExt.is_k(i.op_register(0)):
        m.mask[iced.RegisterExt.number(i.op_register(0))] = value
    elif i.op_kind(0) == iced.OpKind.REGISTER:
        m.write_general(i.op_register(0), extract(value, m.width(i, 0) - 1, 0))
    else:
        m.memory.store(m.address(i), bytes_of(extract(value, width - 1, 0)))


# Vector instructions

Handler = Callable[[Machine, iced.Instruction], None]


def _sign(a: Term) -> Term:
    return extract(a, a.width - 1, a.width - 1)


def _is_zero(a: Term) -> Term:
    return compare("eq", a, const(0, a.width))


def _flatten(lanes: Iterable[Term]) -> list[Byte]:
    return [byte for lane in lanes for byte in bytes_of(lane)]


def _sources(i: iced.Instruction) -> tuple[int, int]:
    """Returns the operands of an instruction of two sources; the first is the destination in the legacy encoding."""
    return (0, 1) if i.encoding == iced.EncodingKind.LEGACY else (1, 2)


def _lanewise(width: int, f: Callable[[Term, Term], Term], mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = _sources(i)
        lanes = map(f, m.lanes(i, first, size, width), m.lanes(i, second, size, width))
        m.write_vector(i, _flatten(lanes), mask_width or width)

    return run


def _mapped(width: int, f: Callable[[Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        m.write_vector(i, _flatten(map(f, m.lanes(i, 1, m.vector_size(i), width))), width)

    return run


def _shift_lanes(width: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, last = m.vector_size(i), i.op_count - 1
        source = 0 if i.encoding == iced.EncodingKind.LEGACY else 1
        if i.op_kind(last) == iced.OpKind.IMMEDIATE8:
            by = i.immediate(last)
        else:
            by = m.known(value_of(m.read_vector(i, last, 8)), "a shift")
        m.write_vector(i, _flatten(f(lane, by) for lane in m.lanes(i, source, size, width)), width)

    return run


def _shift_each(width: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        counts = m.lanes(i, 2, size, width)
        lanes = (f(lane, m.known(by, "a shift")) for lane, by in zip(m.lanes(i, 1, size, width), counts))
        m.write_vector(i, _flatten(lanes), width)

    return run


def _high(extend: Callable[[Term, int], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: extract(mul(extend(a, 2 * a.width), extend(b, 2 * b.width)), 2 * a.width - 1, a.width)


def _rounded_high(a: Term, b: Term) -> Term:
    product = mul(sext(a, 32), sext(b, 32))
    return extract(add(extract(product, 31, 14), const(1, 18)), 16, 1)


def _of_low_half(extend: Callable[[Term, int], Term]) -> Callable[[Term, Term], Term]:
    return lambda a, b: mul(extend(extract(a, 31, 0), 64), extend(extract(b, 31, 0), 64))


def _pair_products(a: Term, b: Term) -> Term:
    low = mul(sext(extract(a, 15, 0), 32), sext(extract(b, 15, 0), 32))
    return add(low, mul(sext(extract(a, 31, 16), 32), sext(extract(b, 31, 16), 32)))


def _dot_words(m: Machine, i: iced.Instruction) -> None:
    size = m.vector_size(i)
    sums, a, b = (m.lanes(i, n, size, 32) for n in range(3))
    m.write_vector(i, _flatten(add(s, _pair_products(x, y)) for s, x, y in zip(sums, a, b)), 32)


def _least(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), a, b)


def _greatest(less: str) -> Callable[[Term, Term], Term]:
    return lambda a, b: ite(compare(less, a, b), b, a)


def _mask_of(bit: Term, width: int) -> Term:
    return ite(bit, const(-1, width), const(0, width))


def _compare(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    """A comparison whose result is a vector of masks, or, in a mask register, one bit a lane."""

    def run(m: Machine, i: iced.Instruction) -> None:
        if iced.RegisterExt.is_k(i.op_register(0)):
            size = m.vector_size(i, 1)
            _write_mask(m, i, [f(a, b) for a, b in zip(m.lanes(i, 1, size, width), m.lanes(i, 2, size, width))])
        else:
            _lanewise(width, lambda a, b: _mask_of(f(a, b), width))(m, i)

    return run


def _write_mask(m: Machine, i: iced.Instruction, bits: list[Term]) -> None:
    if i.op_mask != iced.Register.NONE:
        old = m.mask[iced.RegisterExt.number(i.op_mask)]
        bits = [bitwise("and", bit, extract(old, n, n)) for n, bit in enumerate(bits)]
    m.mask[iced.RegisterExt.number(i.op_register(0))] = zext(concat(*reversed(bits)), 64)


def _signs(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), width)
        _write_mask(m, i, [extract(lane, width - 1, width - 1) for lane in lanes])

    return run


def _saturated(a: Term, width: int, low: int, high: int) -> Term:
    lowest, highest = const(low, a.width), const(high, a.width)
    above = ite(compare("slt", highest, a), highest, a)
    return extract(ite(compare("slt", a, lowest), lowest, above), width - 1, 0)


def _pack(width: int, low: int, high: int) -> Handler:
    """Packs lanes of 2 `width` bits, saturated to [low, high], in each 128 bits."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, 2 * width) for n in _sources(i))
        step, result = 64 // width, []
        for at in range(0, len(first), step):
            result += [_saturated(lane, width, low, high) for lane in first[at:at + step] + second[at:at + step]]
        m.write_vector(i, _flatten(result), width)

    return run


def _unpack(width: int, upper: bool) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        half, result = 64 // width, []
        for at in range(half if upper else 0, len(first), 2 * half):
            for a, b in zip(first[at:at + half], second[at:at + half]):
                result += [a, b]
        m.write_vector(i, _flatten(result), width)

    return run


def _move(width: int = 0, aligned: bool = False) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = min(m.vector_size(i, 0), m.vector_size(i, 1))
        if aligned and iced.OpKind.MEMORY in (i.op_kind(0), i.op_kind(1)) and m.address(i) % size:
            raise NotFollowed("the address is not a multiple of the size")
        if i.op_mask != iced.Register.NONE and iced.OpKind.MEMORY in (i.op_kind(0), i.op_kind(1)):
            _move_masked(m, i, size, width // 8)
        else:
            m.write_vector(i, list(m.read_vector(i, 1, size)), width)

    return run


def _move_masked(m: Machine, i: iced.Instruction, size: int, step: int) -> None:
    """Moves lanes from or to memory, where the others are not touched."""
    mask, at = m.mask[iced.RegisterExt.number(i.op_mask)], m.address(i)
    stores = i.op_kind(0) == iced.OpKind.MEMORY
    result = list(m.read_vector(i, 1, size)) if stores else (
        [ZERO_BYTE] * size if i.zeroing_masking else list(m.read_vector(i, 0, size)))
    for lane in range(size // step):
        here = slice(lane * step, (lane + 1) * step)
        if m.known(extract(mask, lane, lane), "a mask of memory"):
            if stores:
                m.memory.store(at + lane * step, result[here])
            else:
                result[here] = m.memory.load(at + lane * step, step)
    if not stores:
        m.vector[iced.RegisterExt.number(i.op_register(0))] = result + [ZERO_BYTE] * (64 - size)


def _move_low(size: int) -> Handler:
    """Moves the lowest `size` bytes, and clears the rest of a vector register."""

    def run(m: Machine, i: iced.Instruction) -> None:
        value = m.read(i, 1)
        data = bytes_of(extract(value, 8 * size - 1, 0))
        if i.op_kind(0) == iced.OpKind.REGISTER and iced.RegisterExt.is_vector_register(i.op_register(0)):
            m.write_vector(i, data + [ZERO_BYTE] * (16 - size))
        elif i.op_kind(0) == iced.OpKind.REGISTER:
            m.write_general(i.op_register(0), value_of(data))
        else:
            m.memory.store(m.address(i), data)

    return run


def _broadcast(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if i.op_kind(1) == iced.OpKind.REGISTER and not iced.RegisterExt.is_vector_register(i.op_register(1)):
            one = bytes_of(m.read_general(i.op_register(1)))[:size]
            one = bytes_of(value_of(one))
        else:
            one = list(m.read_vector(i, 1, size))
        m.write_vector(i, one * (m.vector_size(i) // size), mask_width or 8 * size)

    return run


def _shuffle_words(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(2)
    lanes = m.lanes(i, 1, size, 32)
    m.write_vector(i, _flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 32)


def _shuffle_bytes(m: Machine, i: iced.Instruction) -> None:
    size = m.vector_size(i)
    first, second = _sources(i)
    data, result = m.read_vector(i, first, size), []
    for n, index in enumerate(m.lanes(i, second, size, 8)):
        part = data[n // 16 * 16:n // 16 * 16 + 16]
        if index.value is not None:
            result.append(ZERO_BYTE if index.value & 0x80 else part[index.value & 15])
        else:
            chosen = _chosen([value_of([byte]) for byte in part], index)
            result.append((ite(extract(index, 7, 7), const(0, 8), chosen), 0))
    m.write_vector(i, result, 8)


def _shuffle_floats(m: Machine, i: iced.Instruction) -> None:
    size, control = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.lanes(i, n, size, 32) for n in _sources(i))
    result = []
    for at in range(0, len(first), 4):
        for n in range(4):
            result.append((first if n < 2 else second)[at + (control >> 2 * n & 3)])
    m.write_vector(i, _flatten(result), 32)


def _shuffle_quarters(mask_width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(3)
        parts, bits = size // 16, 2 if size == 64 else 1
        first, second = m.read_vector(i, 1, size), m.read_vector(i, 2, size)
        result: list[Byte] = []
        for n in range(parts):
            source, index = first if n < parts // 2 else second, control >> bits * n & (parts - 1)
            result += source[16 * index:16 * index + 16]
        m.write_vector(i, result, mask_width)

    return run


def _permute_quads(m: Machine, i: iced.Instruction) -> None:
    if i.op_kind(2) != iced.OpKind.IMMEDIATE8:
        return _permute(64)(m, i)
    size, control = m.vector_size(i), i.immediate(2)
    lanes = m.lanes(i, 1, size, 64)
    m.write_vector(i, _flatten(lanes[n // 4 * 4 + (control >> 2 * (n % 4) & 3)] for n in range(len(lanes))), 64)


def _chosen(lanes: list[Term], index: Term) -> Term:
    """Returns the lane that the lowest bits of an index name."""
    if len(lanes) == 1:
        return lanes[0]
    top = len(lanes).bit_length() - 2
    half = len(lanes) // 2
    return ite(extract(index, top, top), _chosen(lanes[half:], index), _chosen(lanes[:half], index))


def _permute(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, lanes = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        m.write_vector(i, _flatten(_chosen(lanes, index) for index in indices), width)

    return run


def _permute_two(width: int, tables_first: bool) -> Handler:
    """vpermt2 (tables_first: the destination is the first table) and vpermi2 (the destination holds the indices)."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        indices, first = (1, 0) if tables_first else (0, 1)
        lanes = m.lanes(i, first, size, width) + m.lanes(i, 2, size, width)
        m.write_vector(i, _flatten(_chosen(lanes, index) for index in m.lanes(i, indices, size, width)), width)

    return run


def _permute_halves(m: Machine, i: iced.Instruction) -> None:
    control = i.immediate(3)
    both, result = m.read_vector(i, 1, 32) + m.read_vector(i, 2, 32), []
    for n in (0, 1):
        index = control >> 4 * n
        result += [ZERO_BYTE] * 16 if index & 8 else both[16 * (index & 3):16 * (index & 3) + 16]
    m.write_vector(i, result)


def _blend(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, control = m.vector_size(i), i.immediate(i.op_count - 1)
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        m.write_vector(i, _flatten((b if control >> n % 8 & 1 else a) for n, (a, b) in enumerate(zip(first, second))))

    return run


def _blend_by_mask(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        if i.op_mask == iced.Register.NONE:
            raise NotFollowed("a mask is expected here")
        size, mask = m.vector_size(i), m.mask[iced.RegisterExt.number(i.op_mask)]
        first, second = m.lanes(i, 1, size, width), m.lanes(i, 2, size, width)
        if i.zeroing_masking:
            first = [const(0, width)] * len(first)
        data = _flatten(ite(extract(mask, n, n), b, a) for n, (a, b) in enumerate(zip(first, second)))
        m.vector[iced.RegisterExt.number(i.op_register(0))] = data + [ZERO_BYTE] * (64 - size)

    return run


def _extract_part(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        whole = m.vector[iced.RegisterExt.number(i.op_register(1))]
        at = i.immediate(2) % (m.vector_size(i, 1) // size) * size
        m.write_vector(i, whole[at:at + size], mask_width)

    return run


def _insert_part(size: int, mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        whole = list(m.read_vector(i, 1, m.vector_size(i)))
        at = i.immediate(3) % (len(whole) // size) * size
        whole[at:at + size] = m.read_vector(i, 2, size)
        m.write_vector(i, whole, mask_width)

    return run


def _rotate(width: int) -> Handler:
    return _shift_lanes(width, lambda a, by: concat(extract(a, width - 1 - by % width, 0),
                                                    extract(a, width - 1, width - by % width)) if by % width else a)


def _ternary(mask_width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size, table = m.vector_size(i), i.immediate(3)
        columns = [m.lanes(i, n, size, 64) for n in range(3)]
        m.write_vector(i, _flatten(_ternary_of(table, *lane) for lane in zip(*columns)), mask_width)

    return run


def _ternary_of(table: int, a: Term, b: Term, c: Term) -> Term:
    ones = const(-1, a.width)
    result = const(0, a.width)
    for n in range(8):
        if table >> n & 1:
            term = ones
            for bit, x in ((4, a), (2, b), (1, c)):
                term = bitwise("and", term, x if n & bit else bitwise("xor", x, ones))
            result = bitwise("or", result, term)
    return result


def _align(m: Machine, i: iced.Instruction) -> None:
    """palignr: in each 128 bits, the bytes of both operands from a number on."""
    size, by = m.vector_size(i), i.immediate(i.op_count - 1)
    first, second = (m.read_vector(i, n, size) for n in _sources(i))
    result: list[Byte] = []
    for at in range(0, size, 16):
        both = second[at:at + 16] + first[at:at + 16] + [ZERO_BYTE] * 16
        result += both[min(by, 32):][:16]
    m.write_vector(i, result, 8)


def _extend(source: int, target: int, f: Callable[[Term, int], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        lanes = m.lanes(i, 1, size * source // target, source)
        m.write_vector(i, _flatten(f(lane, target) for lane in lanes), target)

    return run


def _truncate(source: int, target: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, m.vector_size(i, 1), source)
        data = _flatten(extract(lane, target - 1, 0) for lane in lanes)
        m.write_vector(i, data, target)  # and clears the rest of the register

    return run


def _shift_bytes(left: bool) -> Handler:
    """pslldq and psrldq: in each 128 bits, by bytes."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size, by = m.vector_size(i), min(i.immediate(i.op_count - 1), 16)
        data = m.read_vector(i, 0 if i.encoding == iced.EncodingKind.LEGACY else 1, size)
        result: list[Byte] = []
        for at in range(0, size, 16):
            part = list(data[at:at + 16])
            result += [ZERO_BYTE] * by + part[:16 - by] if left else part[by:] + [ZERO_BYTE] * by
        m.write_vector(i, result)

    return run


def _add_neighbours(width: int) -> Handler:
    """phaddw and phaddd: in each 128 bits, the sums of neighbours of the first operand, then of the second."""

    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.lanes(i, n, size, width) for n in _sources(i))
        step, result = 128 // width, []
        for at in range(0, len(first), step):
            for lanes in (first, second):
                result += [add(lanes[n], lanes[n + 1]) for n in range(at, at + step, 2)]
        m.write_vector(i, _flatten(result))

    return run


def _multishift(m: Machine, i: iced.Instruction) -> None:
    """vpmultishiftqb: each byte is eight bits of its 64-bit lane, from a bit on that the first operand names."""
    size = m.vector_size(i)
    bits, lanes = m.lanes(i, 1, size, 8), m.lanes(i, 2, size, 64)
    result = []
    for n, bit in enumerate(bits):
        by, lane = m.known(bit, "a shift") & 63, lanes[n // 8]
        result.append(extract(concat(lane, lane), by + 7, by))
    m.write_vector(i, _flatten(result), 8)


def _of_masks(width: int, f: Callable[[Term, Term], Term]) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        a, b = (extract(m.read(i, n), width - 1, 0) for n in (1, 2))
        m.mask[iced.RegisterExt.number(i.op_register(0))] = zext(f(a, b), 64)

    return run


def _insert_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        legacy = i.encoding == iced.EncodingKind.LEGACY
        lanes = m.lanes(i, 0 if legacy else 1, 16, width)
        lanes[i.immediate(i.op_count - 1) % len(lanes)] = extract(m.read(i, 1 if legacy else 2), width - 1, 0)
        m.write_vector(i, _flatten(lanes))

    return run


def _extract_word(width: int) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        lanes = m.lanes(i, 1, 16, width)
        lane = lanes[i.immediate(2) % len(lanes)]
        m.write(i, zext(lane, max(32, width)) if i.op_kind(0) == iced.OpKind.REGISTER else lane)

    return run


VECTOR: dict[str, Handler] = {}
for _letter, _width in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    for _op in ("and", "or", "xor"):
        VECTOR[f"k{_op}{_letter}"] = _of_masks(_width, lambda a, b, op=_op: bitwise(op, a, b))
    VECTOR[f"kxnor{_letter}"] = _of_masks(_width, lambda a, b: bitwise("xor", bitwise("xor", a, b), const(-1, a.width)))
    VECTOR[f"kandn{_letter}"] = _of_masks(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b))
for _letter, _width in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    VECTOR |= {
        f"padd{_letter}": _lanewise(_width, add),
        f"psub{_letter}": _lanewise(_width, sub),
        f"pcmpeq{_letter}": _compare(_width, lambda a, b: compare("eq", a, b)),
        f"pcmpgt{_letter}": _compare(_width, lambda a, b: compare("slt", b, a)),
        f"pminu{_letter}": _lanewise(_width, _least("ult")),
        f"pmins{_letter}": _lanewise(_width, _least("slt")),
        f"pmaxu{_letter}": _lanewise(_width, _greatest("ult")),
        f"pmaxs{_letter}": _lanewise(_width, _greatest("slt")),
        f"pabs{_letter}": _mapped(_width, lambda a: ite(_sign(a), sub(const(0, a.width), a), a)),
        f"psll{_letter}": _shift_lanes(_width, shift_left),
        f"psrl{_letter}": _shift_lanes(_width, shift_right),
        f"psra{_letter}": _shift_lanes(_width, shift_right_signed),
        f"psllv{_letter}": _shift_each(_width, shift_left),
        f"psrlv{_letter}": _shift_each(_width, shift_right),
        f"psrav{_letter}": _shift_each(_width, shift_right_signed),
        f"prol{_letter}": _rotate(_width),
        f"pbroadcast{_letter}": _broadcast(_width // 8),
        f"perm{_letter}": _permute(_width),
        f"permt2{_letter}": _permute_two(_width, True),
        f"permi2{_letter}": _permute_two(_width, False),
        f"pblendm{_letter}": _blend_by_mask(_width),
        f"pmov{_letter}2m": _signs(_width),
        f"ptestm{_letter}": _compare(_width, lambda a, b: negate(_is_zero(bitwise("and", a, b)))),
        f"pinsr{_letter}": _insert_word(_width),
        f"pextr{_letter}": _extract_word(_width),
    }
    for _kind, _less in (("", "slt"), ("u", "ult")):
        VECTOR |= {
            f"pcmplt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, a, b)),
            f"pcmpnlt{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, a, b))),
            f"pcmple{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: negate(compare(less, b, a))),
            f"pcmpnle{_kind}{_letter}": _compare(_width, lambda a, b, less=_less: compare(less, b, a)),
            f"pcmpneq{_kind}{_letter}": _compare(_width, lambda a, b: negate(compare("eq", a, b))),
        }
for _suffix in ("", "d", "q"):
    _width = {"": 64, "d": 32, "q": 64}[_suffix]
    for _op in ("and", "or", "xor"):
        VECTOR[f"p{_op}{_suffix}"] = _lanewise(_width, lambda a, b, op=_op: bitwise(op, a, b))
    VECTOR[f"pandn{_suffix}"] = _lanewise(_width, lambda a, b: bitwise("and", bitwise("xor", a, const(-1, a.width)), b))
VECTOR["lddqu"] = _move()
for _letter, _aligned in (("a", True), ("u", False)):
    VECTOR |= {f"mov{_letter}ps": _move(32, _aligned), f"mov{_letter}pd": _move(64, _aligned),
               f"movdq{_letter}": _move(0, _aligned)}
    VECTOR |= {f"movdq{_letter}{_width}": _move(_width, _aligned) for _width in (8, 16, 32, 64)}
for _from, _first in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
    for _to, _second in (("b", 8), ("w", 16), ("d", 32), ("q", 64)):
        if _first < _second:
            VECTOR[f"pmovzx{_from}{_to}"] = _extend(_first, _second, zext)
            VECTOR[f"pmovsx{_from}{_to}"] = _extend(_first, _second, sext)
            VECTOR[f"pmov{_to}{_from}"] = _truncate(_second, _first)
VECTOR |= {
    "andps": _lanewise(32, lambda a, b: bitwise("and", a, b)),
    "xorps": _lanewise(32, lambda a, b: bitwise("xor", a, b)),
    "pmullw": _lanewise(16, mul),
    "pmulld": _lanewise(32, mul),
    "pmullq": _lanewise(64, mul),
    "pmulhw": _lanewise(16, _high(sext)),
    "pmulhuw": _lanewise(16, _high(zext)),
    "pmulhrsw": _lanewise(16, _rounded_high),
    "pmuldq": _lanewise(64, _of_low_half(sext)),
    "pmuludq": _lanewise(64, _of_low_half(zext)),
    "pmaddwd": _lanewise(32, _pair_products),
    "pdpwssd": _dot_words,
    "packssdw": _pack(16, -0x8000, 0x7FFF),
    "packusdw": _pack(16, 0, 0xFFFF),
    "packsswb": _pack(8, -0x80, 0x7F),
    "packuswb": _pack(8, 0, 0xFF),
    "punpcklbw": _unpack(8, False),
    "punpckhbw": _unpack(8, True),
    "punpcklwd": _unpack(16, False),
    "punpckhwd": _unpack(16, True),
    "punpckldq": _unpack(32, False),
    "punpckhdq": _unpack(32, True),
    "punpcklqdq": _unpack(64, False),
    "punpckhqdq": _unpack(64, True),
    "pshufd": _shuffle_words,
    "pshufb": _shuffle_bytes,
    "shufps": _shuffle_floats,
    "shufi64x2": _shuffle_quarters(64),
    "shufi32x4": _shuffle_quarters(32),
    "permq": _permute_quads,
    "perm2i128": _permute_halves,
    "pblendw": _blend(16),
    "pblendd": _blend(32),
    "extracti128": _extract_part(16),
    "extracti32x4": _extract_part(16, 32),
    "extracti64x2": _extract_part(16, 64),
    "extracti64x4": _extract_part(32, 64),
    "inserti128": _insert_part(16),
    "inserti32x4": _insert_part(16, 32),
    "inserti64x2": _insert_part(16, 64),
    "inserti64x4": _insert_part(32, 64),
    "broadcasti128": _broadcast(16),
    "broadcasti32x4": _broadcast(16, 32),
    "broadcasti64x2": _broadcast(16, 64),
    "broadcasti64x4": _broadcast(32, 64),
    "palignr": _align,
    "pmultishiftqb": _multishift,
    "pslldq": _shift_bytes(True),
    "psrldq": _shift_bytes(False),
    "phaddw": _add_neighbours(16),
    "phaddd": _add_neighbours(32),
    "pternlogd": _ternary(32),
    "pternlogq": _ternary(64),
    "movd": _move_low(4),
    "movq": _move_low(8),
}
