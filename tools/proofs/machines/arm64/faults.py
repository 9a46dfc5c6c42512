# SPDX-License-Identifier: Apache-2.0
"""Faults of AArch64's instructions: one bit of an instruction's code is another one."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.machines.arm64.text import General, Instruction, Shifted, decode
from proofs.machines.memory import Library, NotFollowed

# An instruction becomes another one with the same operands.
_PAIRS = {("add", "sub"), ("mla", "mls"), ("and", "orr"), ("sqdmulh", "sqrdmulh"), ("smull", "smlal"),
          ("smull2", "smlal2"), ("smlal", "smlsl"), ("smlal2", "smlsl2"), ("umlal", "umlsl"), ("umlal2", "umlsl2"),
          ("madd", "msub"), ("mul", "mneg"), ("smull", "smnegl"), ("smaddl", "smsubl"), ("orr", "eor"),
          ("zip1", "zip2"), ("trn1", "trn2"), ("uzp1", "uzp2"), ("umin", "smin"), ("umax", "smax"), ("umin", "umax"),
          ("smin", "smax"), ("bit", "bif"), ("cmgt", "cmhi"), ("uaddw", "usubw"), ("uaddl", "usubl"),
          ("saddw", "ssubw"), ("saddl", "ssubl"), ("ushll", "sshll"), ("ushll2", "sshll2"), ("rev16", "rev64")}
_SWAPS = _PAIRS | {(new, old) for old, new in _PAIRS}
# Their last number becomes another one. The sign is the same wherever it is taken from above the highest bit.
_OF_DISTANCES = {"shl", "ushr", "srshr", "urshr", "usra", "ssra", "sli", "sri", "shrn", "shrn2", "rshrn", "ext", "lsr",
                 "ushll", "ushll2", "sshll", "sshll2", "ubfx", "ubfiz", "bfi", "bfxil", "extr"}
_OF_SHIFTED = {"and", "orr", "eor", "bic"}


def text_of(library: Library, at: int, code: bytes | None = None) -> str:
    """Returns the instruction at an address, or another one in its place, as text."""
    return decode(code or library.read(at, 4) or b"", at).text


def changes_of(library: Library, at: int) -> Iterator[bytes]:
    """Yields the instruction at an address with a fault: another operation, or another distance of a shift."""
    code = library.read(at, 4) or b""
    before = decode(code, at)
    if before.name not in _NAMES:
        return
    for bit in range(32):
        changed = (int.from_bytes(code, "little") ^ 1 << bit).to_bytes(4, "little")
        try:
            after = decode(changed, at)
        except NotFollowed:
            continue
        if _is_swapped(before, after) or _is_further(before, after):
            yield changed


def _is_swapped(before: Instruction, after: Instruction) -> bool:
    """Loops and addresses are counted with constants, and in sums of 64 bits."""
    counts = any(isinstance(operand, int) for operand in before.operands) or before.name in ("add", "sub") and any(
        isinstance(operand, General) and operand.width == 64 for operand in before.operands)
    return (before.name, after.name) in _SWAPS and before.operands == after.operands and not counts


def _is_further(before: Instruction, after: Instruction) -> bool:
    if before.name != after.name or before.operands[:-1] != after.operands[:-1]:
        return False
    first, second = before.operands[-1], after.operands[-1]
    if before.name in _OF_DISTANCES:
        # Bits above a field that is taken out are often zero.
        return isinstance(first, int) and isinstance(second, int) and (before.name != "ubfx" or second < first)
    return before.name in _OF_SHIFTED and isinstance(first, Shifted) and isinstance(second, Shifted) and (
        (first.operand, first.kind) == (second.operand, second.kind) and isinstance(first.operand, General))


_NAMES = {old for old, _ in _SWAPS} | _OF_DISTANCES | _OF_SHIFTED
