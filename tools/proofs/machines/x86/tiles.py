# SPDX-License-Identifier: Apache-2.0
"""What instructions on tiles do: eight registers of up to 16 rows of up to 64 bytes. [Intel SDM vol. 1, 18; vol. 2]"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import iced_x86 as iced

from proofs.algebra.terms import Term, add, extract, mul, sext, zext
from proofs.machines.memory import ZERO_BYTE, Byte, NotFollowed, bytes_of, value_of
from proofs.machines.x86.general import registers_of_address

if TYPE_CHECKING:
    from proofs.machines.machine import Machine

COUNT, MOST_ROWS, MOST_BYTES, CONFIG_BYTES = 8, 16, 64, 64

Extend = Callable[[Term, int], Term]


class Tiles:
    """The tiles' sizes, each (rows, bytes of a row), and their contents: 16 rows of 64 bytes each."""

    def __init__(self) -> None:
        self.sizes: list[tuple[int, int]] = []  # none: the tiles are in their initial state, and no instruction may
        self.rows: list[list[list[Byte]]] = []

    def configure(self, sizes: list[tuple[int, int]]) -> None:
        self.sizes = sizes
        self.rows = [[[ZERO_BYTE] * MOST_BYTES] * MOST_ROWS for _ in sizes]

    def size(self, tile: int) -> tuple[int, int]:
        if not self.sizes or 0 in self.sizes[tile]:
            raise NotFollowed("the tile is not configured")
        return self.sizes[tile]

    def write(self, tile: int, rows: list[list[Byte]]) -> None:
        """Sets a tile; rows and bytes beyond those given become zero."""
        full = [row + [ZERO_BYTE] * (MOST_BYTES - len(row)) for row in rows]
        self.rows[tile] = full + [[ZERO_BYTE] * MOST_BYTES] * (MOST_ROWS - len(rows))


def _tile(i: iced.Instruction, n: int) -> int:
    return i.op_register(n) - iced.Register.TMM0


def _places(m: Machine, i: iced.Instruction, rows: int) -> list[int]:
    """Returns the addresses of a tile's rows: the index register of the operand is their distance."""
    parts = [m.known(m.read_general(register), "the address") * scale for register, scale in registers_of_address(i)]
    if i.memory_base == iced.Register.NONE or i.memory_index == iced.Register.NONE or i.has_segment_prefix:
        raise NotFollowed("rows without a base or a distance")
    return [i.memory_displacement + parts[0] + row * parts[1] & (1 << 64) - 1 for row in range(rows)]


def _configure(m: Machine, i: iced.Instruction) -> None:
    at = m.address(i)
    data = [m.known(extract(term, 8 * n + 7, 8 * n), "the tiles' configuration")
            for term, n in m.memory.load(at, CONFIG_BYTES)]
    if data[0] == 0:
        m.tiles.configure([])
        return
    sizes = [(data[48 + n], data[16 + 2 * n] | data[17 + 2 * n] << 8) for n in range(COUNT)]
    unused = data[1:16] + data[32:48] + data[56:]
    if data[0] != 1 or any(unused) or any(
            rows > MOST_ROWS or size > MOST_BYTES or size % 4 or (rows == 0) != (size == 0) for rows, size in sizes):
        raise NotFollowed("a configuration that is not for this palette, or begins amid a tile")
    m.tiles.configure(sizes)


def _release(m: Machine, _: iced.Instruction) -> None:
    m.tiles.configure([])


def _clear(m: Machine, i: iced.Instruction) -> None:
    m.tiles.size(_tile(i, 0))
    m.tiles.write(_tile(i, 0), [])


def _load(m: Machine, i: iced.Instruction) -> None:
    rows, size = m.tiles.size(_tile(i, 0))
    m.tiles.write(_tile(i, 0), [m.memory.load(at, size) for at in _places(m, i, rows)])


def _store(m: Machine, i: iced.Instruction) -> None:
    rows, size = m.tiles.size(_tile(i, 1))
    for at, row in zip(_places(m, i, rows), m.tiles.rows[_tile(i, 1)]):
        m.memory.store(at, row[:size])


def _dot(first: Extend, second: Extend) -> Callable[[Machine, iced.Instruction], None]:
    """Adds products of four neighbouring bytes to sums of 32 bits. `first` and `second` extend bytes of the second and
    of the third operand."""

    def extended(row: list[Byte], size: int, extend: Extend) -> list[Term]:
        return [extend(extract(term, 8 * n + 7, 8 * n), 32) for term, n in row[:size]]

    def run(m: Machine, i: iced.Instruction) -> None:
        sums, a, b = (_tile(i, n) for n in range(3))
        (rows, size), (rows_a, size_a), (rows_b, size_b) = map(m.tiles.size, (sums, a, b))
        if len({sums, a, b}) < 3 or rows_a != rows or size_b != size or size_a != 4 * rows_b:
            raise NotFollowed("sizes of tiles do not go together")
        of_b = [extended(row, size_b, second) for row in m.tiles.rows[b][:rows_b]]
        result = []
        for row, old in zip(m.tiles.rows[a][:rows], m.tiles.rows[sums]):
            of_a = extended(row, size_a, first)
            totals = [value_of(old[at:at + 4]) for at in range(0, size, 4)]
            for k, line in enumerate(of_b):
                for column in range(size // 4):
                    for byte in range(4):
                        product = mul(of_a[4 * k + byte], line[4 * column + byte])
                        totals[column] = add(totals[column], product)
            result.append([byte for total in totals for byte in bytes_of(total)])
        m.tiles.write(sums, result)

    return run


TILES: dict[str, Callable[[Machine, iced.Instruction], None]] = {
    "ldtilecfg": _configure, "tilerelease": _release, "tilezero": _clear, "tileloadd": _load, "tileloaddt1": _load,
    "tilestored": _store, "tdpbssd": _dot(sext, sext), "tdpbsud": _dot(sext, zext), "tdpbusd": _dot(zext, sext),
    "tdpbuud": _dot(zext, zext)}
