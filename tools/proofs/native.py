# SPDX-License-Identifier: Apache-2.0
"""Runs a function on this CPU and by machine.py, on the same drawn inputs: both must write the same bytes."""

from __future__ import annotations

import ctypes
import mmap
import re
from pathlib import Path
from random import Random

from proofs.claims import DISTANCE, FIRST_ADDRESS, Claim, Run
from proofs.machine import Machine
from proofs.memory import Library

ARRAYS = 8
_MAP_FIXED_NOREPLACE = 0x100000


class Differs(Exception):
    """machine.py does not do what the CPU does."""


class _Done(Exception):
    """The call has been compared; there is nothing to prove."""


class Cpu:
    """Libraries in this process, and memory at the addresses of a run's arrays."""

    def __init__(self) -> None:
        self._bases: dict[Path, int] = {}
        self._flags = set(re.findall(r"\w+", Path("/proc/cpuinfo").read_text(encoding="utf-8")))
        self._size = (ARRAYS + 1) * DISTANCE
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        at = libc.mmap(ctypes.c_void_p(FIRST_ADDRESS), ctypes.c_size_t(self._size), mmap.PROT_READ | mmap.PROT_WRITE,
                       mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_FIXED_NOREPLACE, -1, ctypes.c_long(0))
        if at != FIRST_ADDRESS:
            raise OSError(ctypes.get_errno(), "no memory at the address of the arrays")

    def runs(self, name: str) -> bool:
        """Returns whether this CPU has the instructions of the claim of that name."""
        needed = {"avx2": {"avx2", "bmi2"}, "avx512": {"avx512_vbmi2", "avx512_vnni"}}
        return all(flags <= self._flags for isa, flags in needed.items() if isa in name.split())

    def _base(self, path: Path) -> int:
        """Returns the address of a library, which is loaded the first time."""
        if path not in self._bases:
            ctypes.CDLL(str(path))
            maps = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
            self._bases[path] = next(int(line.split("-")[0], 16) for line in maps if line.endswith(str(path)))
        return self._bases[path]

    def compare(self, claim: Claim, library: Library, seed: int) -> None:
        """Raises Differs unless both write the same."""
        cpu, base = self, self._base(library.path.resolve())

        class Compared(Machine):
            def call(self, function: str, *arguments: int) -> None:
                before = dict(self.memory.written)
                super().call(function, *arguments)
                inputs = {at: _value(byte) for at, byte in before.items()}
                cpu._run(base + library.function(function), arguments, inputs)
                cpu._check({at: _value(byte) for at, byte in self.memory.written.items()
                            if FIRST_ADDRESS <= at < FIRST_ADDRESS + cpu._size})
                raise _Done

        Run.machine_type, Run.drawn = Compared, Random(seed)
        try:
            claim.prove(library, claim.function)
        except _Done:
            pass
        finally:
            Run.machine_type, Run.drawn = Machine, None

    def _run(self, function: int, arguments: tuple[int, ...], memory: dict[int, int]) -> None:
        for at, value in memory.items():
            ctypes.c_ubyte.from_address(at).value = value
        kinds = [ctypes.c_uint64] * len(arguments)
        ctypes.CFUNCTYPE(None, *kinds)(function)(*arguments)

    def _check(self, memory: dict[int, int]) -> None:
        for at, value in memory.items():
            there = ctypes.c_ubyte.from_address(at).value
            if there != value:
                raise Differs(f"byte {at:#x} is {there} on the CPU, {value} by machine.py")


def _value(byte: tuple[object, int]) -> int:
    term, n = byte
    value = term.value  # type: ignore[attr-defined]
    if value is None:
        raise Differs(f"{term} is not known though all inputs are")
    return value >> 8 * n & 255
