# SPDX-License-Identifier: Apache-2.0
"""What instructions on vectors have in common: operands, and what is done lane by lane."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, extract
from proofs.machines.memory import Byte, bytes_of, lanes_of
from proofs.machines.x86.general import Handler

if TYPE_CHECKING:
    from proofs.machines.x86.machine import X86 as Machine

WIDTHS = (("b", 8), ("w", 16), ("d", 32), ("q", 64))  # by the letters of names


def sign(a: Term) -> Term:
    return extract(a, a.width - 1, a.width - 1)


def flatten(lanes: Iterable[Term]) -> list[Byte]:
    return [byte for lane in lanes for byte in bytes_of(lane)]


def sources(i: iced.Instruction) -> tuple[int, int]:
    """Returns the operands of an instruction of two sources; the first is the destination in the legacy encoding."""
    return (0, 1) if i.encoding == iced.EncodingKind.LEGACY else (1, 2)


def lanewise(width: int, f: Callable[[Term, Term], Term], mask_width: int = 0) -> Handler:
    def run(m: Machine, i: iced.Instruction) -> None:
        size = m.vector_size(i)
        first, second = (m.read_vector(i, n, size) for n in sources(i))
        if m.alike and i.op_mask == iced.Register.NONE:
            a, b = m.lane_of(first, width), m.lane_of(second, width)
            if a is not None and b is not None:
                m.write_vector(i, m.lanes_alike(f(a, b), size))
                return
        m.write_vector(i, flatten(map(f, lanes_of(first, width), lanes_of(second, width))), mask_width or width)

    return run
