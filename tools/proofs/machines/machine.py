# SPDX-License-Identifier: Apache-2.0
"""Runs a function of a compiled library on inputs that are not known, and says what each byte that it writes
holds as a term over the inputs (terms.py).

Addresses and branches have to be known: where one depends on an unknown input, the run stops. That does not restrict
code in constant time. Instructions whose meaning is not given stop the run too.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from proofs.algebra.terms import Term, alike, extract
from proofs.machines.memory import OUTSIDE, RETURN, Byte, Library, Memory, NotFollowed, NotRestored, bytes_of, value_of

MOST_KEPT = 1 << 12  # lists of bytes that are kept because they are compared faster than equal ones
Argument = int | tuple[int, ...]  # a word, or the words of a structure that is passed by value and has more than two


class Decoded(Protocol):
    """An instruction that is decoded."""

    @property
    def size(self) -> int:
        """Returns its bytes."""

    @property
    def text(self) -> str:
        """Returns it in assembly language."""


class Machine(abc.ABC):
    """The memory of a run, and what all instruction sets have; each has a class of its own, with its registers."""

    most_steps: ClassVar[int] = 20_000_000
    vector_bytes: ClassVar[int]  # of the largest vector register
    pointer_bytes: ClassVar[int] = 8

    def __init__(self, library: Library) -> None:
        self.library = library
        self.memory = Memory(library)
        self.forget_registers("at the call")
        self.steps = 0
        self.executed: set[int] = set()  # addresses of instructions
        self.instead: dict[int, Callable[[Machine], None]] = {}  # what is done instead of the function at an address
        self.alike = False  # whether registers may hold lanes of which one is known: terms.alike()
        self._alike: dict[Term, tuple[Term, list[Byte]]] = {}  # lanes, and what lanes_alike() has made of them

    @abc.abstractmethod
    def forget_registers(self, when: str) -> None:
        """Makes all registers unknown."""

    @abc.abstractmethod
    def forget_registers_of_callee(self) -> None:
        """Makes the registers unknown that a function need not preserve."""

    @abc.abstractmethod
    def preserved(self) -> list[object]:
        """Returns the contents of the registers that a function must leave as they were."""

    @abc.abstractmethod
    def set_arguments(self, arguments: tuple[Argument, ...]) -> None:
        """Prepares registers and the stack for a call that returns to RETURN."""

    @abc.abstractmethod
    def argument(self, n: int) -> Term:
        """Returns argument n of a function that begins, one of the first four."""

    @abc.abstractmethod
    def take_return_address(self) -> Term:
        """Returns where a function that begins returns to, and leaves its frame."""

    @abc.abstractmethod
    def set_result(self, value: Term) -> None:
        """Sets what a function returns."""

    @abc.abstractmethod
    def decode(self, at: int) -> Decoded:
        """Returns the instruction at an address."""

    @abc.abstractmethod
    def execute(self, instruction: Any) -> None:
        """Does what an instruction that decode() has returned does; a jump sets `next`."""

    def step(self, at: int) -> int:
        """Executes the instruction at an address, and returns the address of the next one."""
        instruction = self.decode(at)
        self.executed.add(at)
        self.next = at + instruction.size
        try:
            self.execute(instruction)
        except (NotFollowed, KeyError) as error:
            kind, reason = (type(error), str(error)) if isinstance(error, NotFollowed) else (NotFollowed, repr(error))
            raise kind(f"{at:#x}: {instruction.text}: {reason}") from error
        return self.next

    def call(self, function: str, *arguments: Argument) -> None:
        """Runs the function until it returns."""
        self.set_arguments(arguments)
        before = self.preserved()
        at = self.library.function(function)
        self.memory.program_runs = True
        while at != RETURN:
            if self.steps >= self.most_steps:
                raise NotFollowed(f"no return after {self.most_steps} instructions")
            self.steps += 1
            if at >= OUTSIDE:
                number, beside = divmod(at - OUTSIDE, 16)
                if beside or number >= len(self.library.outside):
                    raise NotFollowed(f"jumps to {at:#x}, outside the library")
                at = self._done_instead(lambda _, number=number: self.call_outside(self.library.outside[number]))
            elif at in self.instead:
                at = self._done_instead(self.instead[at])
            else:
                at = self.step(at)
        self.memory.program_runs = False
        if self.preserved() != before:
            raise NotRestored("returns with other contents of registers that a function has to preserve")

    def _done_instead(self, f: Callable[[Machine], None]) -> int:
        """Does something instead of a function, and returns the address after its call."""
        after = self.known(self.take_return_address(), "a return")
        f(self)
        return after

    def call_outside(self, name: str) -> None:
        """Does what a function of the C library does."""
        to, second, size = (self.argument(n) for n in range(3))
        if name in ("memcpy", "memmove", "__memcpy_chk"):
            data = self.memory.load(self.known(second, "an address"), self.known(size, "a size"))
        elif name == "memset":
            data = bytes_of(extract(second, 7, 0)) * self.known(size, "a size")
        else:
            raise NotFollowed(f"calls {name}")
        self.memory.store(self.known(to, "an address"), data)
        self.forget_registers_of_callee()
        self.set_result(to)

    def known(self, term: Term, what: str) -> int:
        if term.value is None:
            raise NotFollowed(f"{what} depends on an input")
        return term.value

    def lanes_alike(self, lane: Term, size: int) -> list[Byte]:
        """Returns `size` bytes of lanes, each of which is the same function of its own item."""
        term = alike(lane, 8 * size // lane.width)
        known = self._alike.get(term)
        if known is None or known[0] is not lane:
            if len(self._alike) >= MOST_KEPT:
                self._alike.clear()
            known = self._alike[term] = lane, bytes_of(term)
        return list(known[1])

    def lane_of(self, data: list[Byte], width: int) -> Term | None:
        """Returns the lane of bytes that lanes_alike() has made, or of constants that are equal; None if there is no
        such lane of `width` bits."""
        term = data[0][0]
        lane, known = self._alike.get(term, (None, None))
        if lane is None or lane.width != width or data != known:
            if term.op == "alike":
                return term.args[0] if term.args[0].width == width and data == bytes_of(term) else None
            part = term.args[-1] if term.op == "concat" else term
            if part.op == "extract" and part.args[0].op == "alike":  # lanes that were moved, and are in order again
                whole = value_of(data)
                return whole.args[0] if whole.op == "alike" and whole.args[0].width == width else None
            if term.value is None or (whole := value_of(data)).value is None:
                return None
            lane = extract(whole, width - 1, 0)
            if alike(lane, whole.width // width) is not whole:
                return None
            self.lanes_alike(lane, len(data))
        return lane
