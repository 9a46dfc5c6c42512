# SPDX-License-Identifier: Apache-2.0
"""Runs a function on this CPU, or by QEMU, and by machine.py, on the same drawn inputs: both must write the same
bytes."""

from __future__ import annotations

import abc
import ctypes
import mmap
import re
from pathlib import Path
from random import Random

from proofs.claims import DISTANCE, FIRST_ADDRESS, Claim, Run
from proofs.machines.arm64 import native as arm64
from proofs.machines.instruction_sets import MACHINES, machine_of
from proofs.machines.machine import Argument
from proofs.machines.memory import Library
from proofs.machines.thumb import native as thumb

_MAP_FIXED_NOREPLACE = 0x100000
_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, _XTILEDATA = 158, 0x1023, 18


class Differs(Exception):
    """machine.py does not do what the CPU does."""


class _Done(Exception):
    """The call has been compared; there is nothing to prove."""


class Processor(abc.ABC):
    """What runs functions that machine.py runs too."""

    @abc.abstractmethod
    def runs(self, name: str) -> bool:
        """Returns whether it has the instructions of the claim of that name."""

    @abc.abstractmethod
    def call(self, library: Library, function: int, arguments: tuple[Argument, ...], inputs: dict[int, int],
             arrays: range, wanted: set[int]) -> dict[int, int]:
        """Returns the bytes at the wanted addresses after a call of the function, with the given bytes in memory, all
        of which are among the addresses of the arrays."""

    def compare(self, claim: Claim, library: Library, seed: int) -> None:
        """Raises Differs unless both write the same."""
        processor = self

        class Compared(MACHINES[library.instruction_set]):  # type: ignore[misc]
            def call(self, function: str, *arguments: Argument) -> None:
                before = dict(self.memory.written)
                super().call(function, *arguments)
                arrays, inputs = Run.latest().arrays, {at: _value(byte) for at, byte in before.items()}
                if outside := [at for at in inputs if at not in arrays]:
                    raise Differs(f"{min(outside):#x} is given, which is in no array")
                expected = {at: _value(byte) for at, byte in self.memory.written.items() if at in arrays}
                found = processor.call(library, library.function(function), arguments, inputs, arrays, set(expected))
                for at, value in expected.items():
                    if found[at] != value:
                        raise Differs(f"byte {at:#x} is {found[at]} on the CPU, {value} by machine.py")
                raise _Done

        Run.machine_of, Run.drawn = Compared, Random(seed)
        try:
            claim.prove(library, claim.function)
            raise Differs("the claim calls no function")
        except _Done:
            pass
        finally:
            Run.machine_of, Run.drawn = staticmethod(machine_of), None


class Emulator(Processor):
    """QEMU, or this CPU, for AArch64."""

    def __init__(self) -> None:
        arm64.compiled(arm64.CALL)

    def runs(self, name: str) -> bool:
        return True

    def call(self, library: Library, function: int, arguments: tuple[Argument, ...], inputs: dict[int, int],
             arrays: range, wanted: set[int]) -> dict[int, int]:
        return arm64.call(library.path.resolve(), function, arguments, inputs, arrays, wanted)


class ThumbEmulator(Processor):
    """QEMU, for Thumb."""

    def __init__(self) -> None:
        thumb.compiled(thumb.CALL)

    def runs(self, name: str) -> bool:
        return True

    def call(self, library: Library, function: int, arguments: tuple[Argument, ...], inputs: dict[int, int],
             arrays: range, wanted: set[int]) -> dict[int, int]:
        return thumb.call(library.bytes, function, arguments, inputs, arrays, wanted)


def may_use_tiles() -> bool:
    """Asks the kernel for the state of the matrix tiles, which it only saves for processes that ask."""
    return ctypes.CDLL(None).syscall(_ARCH_PRCTL, _ARCH_REQ_XCOMP_PERM, ctypes.c_ulong(_XTILEDATA)) == 0


class Cpu(Processor):
    """Libraries in this process, and memory at the addresses of a run's arrays."""

    def __init__(self) -> None:
        self._bases: dict[Path, int] = {}
        self._flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text(encoding="utf-8")))
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._mapped = FIRST_ADDRESS  # from there up to this address there is memory
        self._map(FIRST_ADDRESS + DISTANCE)  # lest the heap grows beyond

    def _map(self, end: int) -> None:
        """Maps memory for arrays up to an address."""
        if end <= self._mapped:
            return
        at = self._libc.mmap(ctypes.c_void_p(self._mapped), ctypes.c_size_t(end - self._mapped),
                             mmap.PROT_READ | mmap.PROT_WRITE,
                             mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED_NOREPLACE, -1, ctypes.c_long(0))
        if at != self._mapped:
            raise OSError(ctypes.get_errno(), f"no memory for arrays from {self._mapped:#x} to {end:#x}")
        self._mapped = end

    def runs(self, name: str) -> bool:
        """Returns whether this CPU has the instructions of the claim of that name, and may execute them."""
        needed = {"avx2": {"avx2", "bmi2"}, "avx512": {"avx512_vbmi2", "avx512_vnni"},
                  "amx": {"amx_tile", "amx_int8", "avx512_vbmi2", "avx512_vnni"}}
        named = needed.keys() & set(name.split())
        return all(needed[isa] <= self._flags for isa in named) and ("amx" not in named or may_use_tiles())

    def _base(self, path: Path) -> int:
        """Returns the address of a library, which is loaded the first time."""
        if path not in self._bases:
            ctypes.CDLL(str(path))
            maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
            self._bases[path] = next(int(line.split("-")[0], 16) for line in maps if line.endswith(str(path)))
        return self._bases[path]

    def call(self, library: Library, function: int, arguments: tuple[Argument, ...], inputs: dict[int, int],
             arrays: range, wanted: set[int]) -> dict[int, int]:
        self._map(arrays.stop)
        for at, value in inputs.items():
            ctypes.c_ubyte.from_address(at).value = value
        words = [argument for argument in arguments if isinstance(argument, int)]
        structures = [word for argument in arguments if isinstance(argument, tuple) for word in argument]
        if structures:  # on the stack, where words are after the first six
            words += [0] * (6 - len(words)) + structures
        kinds = [ctypes.c_uint64] * len(words)
        ctypes.CFUNCTYPE(None, *kinds)(self._base(library.path.resolve()) + function)(*words)
        return {at: ctypes.c_ubyte.from_address(at).value for at in wanted}


def _value(byte: tuple[object, int]) -> int:
    term, n = byte
    value = term.value  # type: ignore[attr-defined]
    if value is None:
        raise Differs(f"{term} is not known though all inputs are")
    return value >> 8 * n & 255


def processor_of(instruction_set: str) -> Processor:
    """Returns what runs the code of an instruction set. Raises Missing if there is nothing that does."""
    return {"AArch64": Emulator, "Thumb": ThumbEmulator}.get(instruction_set, Cpu)()
