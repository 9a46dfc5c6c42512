# SPDX-License-Identifier: Apache-2.0
"""The memory of a run: a library as its file has it, and above it what the run has written."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from proofs.algebra.terms import Term, concat, const, extract, variable

Byte = tuple[Term, int]  # byte number n of a term
ZERO_BYTE: Byte = (const(0, 8), 0)
STACK, STACK_BYTES = 0x7FFF_0000_0000, 1 << 20
RETURN = 0xDEAD_0000
OUTSIDE = 0xC000_0000_0000  # functions of other libraries, 16 bytes apart
THREAD, THREAD_BYTES = 0x6000_0000_0000, 1 << 12  # what the register fs points to
LOWEST = 0x1000  # no data is below


class NotFollowed(Exception):
    """An instruction, an address or a branch that the run cannot follow."""


class NotWritten(NotFollowed):
    """A read outside the arrays, or of a part that nothing has written."""


class NotRestored(NotFollowed):
    """A register that a function has to preserve, and does not."""


# What the dynamic linker writes: the base and an addend, or the address of a symbol and an addend. Words that only it
# writes are of the last two kinds, GLOB_DAT and JUMP_SLOT.
_RELOCATIONS = {"x86-64": (8, (1, 6, 7)), "AArch64": (1027, (257, 1025, 1026))}
_INSTRUCTION_SETS = {"EM_X86_64": "x86-64", "EM_AARCH64": "AArch64", "EM_ARM": "Thumb"}


class Library:
    """The code, constants and symbols of a shared library, or for Thumb of a program, at the addresses that its file
    gives. The lowest bit of a function's address in Thumb only says that it is one."""

    instruction_set = "x86-64"

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
            self.instruction_set = _INSTRUCTION_SETS.get(elf["e_machine"], "")
            if not self.instruction_set or self.instruction_set == "Thumb" and elf["e_type"] != "ET_EXEC":
                raise ValueError(f"{path}: expected a library for x86-64 or AArch64, or a program for Thumb")
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
                    address = self._of_code(symbol["st_value"]) if known is self.functions else symbol["st_value"]
                    if known.setdefault(symbol.name, address) != address:
                        self.ambiguous.add(symbol.name)
            if self.instruction_set in _RELOCATIONS:
                self._relocate(elf)

    def _of_code(self, address: int) -> int:
        return address & ~1 if self.instruction_set == "Thumb" else address

    def _relocate(self, elf: ELFFile) -> None:
        """Fills in the pointers that the dynamic linker would, for a library at address 0."""
        relative, symbolic = _RELOCATIONS[self.instruction_set]
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
        the pointer in it: "_ZN7polykem8kNttAvx2E[2]". In a symbol, * stands for any text."""
        if "*" in name:
            found = fnmatch.filter(self.functions, name)
            if len(found) != 1:
                raise NotFollowed(f"{self.path.name} has {len(found)} functions like {name}")
            name = found[0]
        table, _, index = name.rstrip("]").partition("[")
        if table in self.ambiguous:
            raise NotFollowed(f"{self.path.name} has several of the name {table}")
        if not index:
            if name not in self.functions:
                raise NotFollowed(f"{self.path.name} has no function {name}")
            return self.functions[name]
        if table not in self.objects:
            raise NotFollowed(f"{self.path.name} has no object {table}")
        size = 4 if self.instruction_set == "Thumb" else 8
        pointer = self.read(self.objects[table] + size * int(index), size)
        return self._of_code(int.from_bytes(pointer or b"", "little"))

    @property
    def grid(self) -> list[range]:
        """Addresses of what wrappers of CUDA code have for shared memory and the indices of threads."""
        return self.variable if "threadIdx" in self.objects else []

    def overlaps(self, addresses: range) -> bool:
        """Returns whether the library has bytes at some of the addresses."""
        return any(start < addresses.stop and addresses.start < start + len(data) for start, data in self.bytes.items())

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


def lanes_of(data: list[Byte], width: int) -> list[Term]:
    step = width // 8
    return [value_of(data[at:at + step]) for at in range(0, len(data), step)]


def bytes_of(term: Term) -> list[Byte]:
    return [(term, n) for n in range(term.width // 8)]


class Memory:
    """Bytes by address; the library's constants beneath what was written."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.written: dict[int, Byte] = {}
        self.constants: set[int] = set()  # addresses of the library's bytes that were read as data
        self.unknown: list[range] = []  # addresses whose bytes are unknown until they are written, as the stack's are
        self.program_runs = False
        self.unread: set[int] = set()  # addresses that the program has written to, and which a claim has not used since

    def load(self, address: int, size: int) -> list[Byte]:
        if not self.program_runs:
            self.unread.difference_update(range(address, address + size))
        result = [self.written.get(at) for at in range(address, address + size)]
        for n, byte in enumerate(result):
            if byte is None:
                result[n] = self.written[address + n] = (self._unwritten(address + n), 0)
        return result  # type: ignore[return-value]

    def _unwritten(self, at: int) -> Term:
        """Returns a byte that nothing has written: a constant of the library, or an unknown one."""
        constant = self.library.read(at, 1)
        if (STACK - STACK_BYTES <= at < STACK or THREAD <= at < THREAD + THREAD_BYTES or self._is_guard(at) or
                any(at in addresses for addresses in self.unknown)):
            return variable(f"byte {at:#x}", 8)
        if constant is None or at < LOWEST:
            raise NotWritten(f"reads {at:#x}, which nothing has written")
        if at not in self.library.linked and any(at in addresses for addresses in self.library.variable):
            raise NotFollowed(f"reads {at:#x}, which the program may have changed")
        self.constants.add(at)
        return const(constant[0], 8)

    def _is_guard(self, at: int) -> bool:
        """Returns whether an address is that of the C library's word that stack frames are compared with."""
        number = (at - OUTSIDE) // 16
        return 0 <= number < len(self.library.outside) and self.library.outside[number] == "__stack_chk_guard"

    def store(self, address: int, data: list[Byte]) -> None:
        addresses = range(address, address + len(data))
        if self.program_runs:
            self.unread.update(addresses)
        else:
            self.unread.difference_update(addresses)
        for n, byte in enumerate(data):
            self.written[address + n] = byte
