# SPDX-License-Identifier: Apache-2.0
"""Faults of Thumb-2's instructions: one bit of an instruction's code is another one."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.machines.memory import Library, NotFollowed
from proofs.machines.thumb.text import Instruction, Shifted, decode

# An instruction becomes another one with the same operands.
_PAIRS = {("add", "sub"), ("mla", "mls"), ("orr", "eor"), ("and", "bic"), ("orr", "bic"), ("eor", "and"),
          ("smulbb", "smultb"),
          ("smulbb", "smulbt"), ("smulwb", "smulwt"), ("smlabb", "smlatb"), ("smlabb", "smlabt"), ("smlatb", "smlatt"),
          ("smlabt", "smlatt"), ("smlad", "smladx"), ("smuad", "smuadx"), ("smmul", "smmulr"), ("smull", "smlal"),
          ("umull", "umlal"), ("uadd16", "uadd8"), ("usub16", "usub8"), ("uadd16", "usub16"), ("sadd16", "ssub16"),
          ("ssub8", "usub8"), ("sadd16", "sadd8"), ("pkhbt", "pkhtb"), ("ubfx", "sbfx"), ("sxth", "uxth"),
          ("sxtb", "uxtb"), ("sxtb16", "uxtb16"), ("sxth", "sxtb"), ("uxth", "uxtb"), ("lsl", "lsr"), ("rev", "rev16")}
_SWAPS = _PAIRS | {(new, old) for old, new in _PAIRS}
# Their last number becomes another one. The sign is the same wherever it is taken from above the highest bit.
_OF_DISTANCES = {"lsl", "lsr", "ror", "ubfx", "bfi"}
_OF_SHIFTED = {"and", "orr", "eor", "bic", "add", "sub", "pkhbt", "pkhtb"}
_NAMES = {old for old, _ in _SWAPS} | _OF_DISTANCES | _OF_SHIFTED


def _decoded(code: bytes, at: int) -> Instruction:
    return decode(code, at)[0]


def text_of(library: Library, at: int, code: bytes | None = None) -> str:
    """Returns the instruction at an address, or another one in its place, as text."""
    return _decoded(code or _code(library, at), at).text


def _code(library: Library, at: int) -> bytes:
    """Returns two or four bytes; those that begin with 0b11101, 0b11110 or 0b11111 have four."""
    first = library.read(at, 2) or b""
    return (library.read(at, 4) or b"") if len(first) == 2 and first[1] >= 0xE8 else first


def changes_of(library: Library, at: int) -> Iterator[bytes]:
    """Yields the instruction at an address with a fault: another operation, or another distance of a shift."""
    if _is_of_c_library(library, at):
        return
    code = _code(library, at)
    try:
        before = _decoded(code, at)
    except NotFollowed:  # one that the block of an IT instruction makes another
        return
    if before.name not in _NAMES:
        return
    for bit in range(8 * len(code)):
        changed = (int.from_bytes(code, "little") ^ 1 << bit).to_bytes(len(code), "little")
        try:
            after = _decoded(changed, at)
        except NotFollowed:
            continue
        if after.size == before.size and (_is_swapped(before, after) or _is_further(before, after)):
            yield changed


def _is_of_c_library(library: Library, at: int) -> bool:
    """Returns whether an instruction only copies or clears memory, of which the proof may look at nothing."""
    start = max((address for address in library.functions.values() if address <= at), default=0)
    return any(library.functions.get(name) == start for name in ("memcpy", "memmove", "memset"))


def _is_swapped(before: Instruction, after: Instruction) -> bool:
    """Loops are counted with constants."""
    counts = before.name in ("add", "sub") and isinstance(before.operands[-1], int)
    return (before.name, after.name) in _SWAPS and before.operands == after.operands and not counts


def _is_further(before: Instruction, after: Instruction) -> bool:
    first, second = before.operands[-1], after.operands[-1]
    if (before.name, before.operands[:-1]) != (after.name, after.operands[:-1]) or first == second:
        return False
    if before.name in _OF_DISTANCES:
        # Bits above a field that is taken out are often zero.
        return isinstance(first, int) and isinstance(second, int) and (before.name != "ubfx" or second < first)
    return isinstance(first, Shifted) and isinstance(second, Shifted) and (
        (first.register, first.kind) == (second.register, second.kind))
