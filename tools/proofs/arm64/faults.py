# SPDX-License-Identifier: Apache-2.0
"""Faults of AArch64's instructions: one bit of an instruction's code is another one."""

from __future__ import annotations

from collections.abc import Iterator

from proofs.arm64.text import General, Instruction, decode
from proofs.memory import Library, NotFollowed

# An instruction becomes another one with the same operands.
_PAIRS = {("add", "sub"), ("mla", "mls"), ("and", "orr"), ("sqdmulh", "sqrdmulh"), ("smull", "umull"),
          ("smull2", "umull2"), ("smlal", "smlsl"), ("smlal2", "smlsl2"), ("umlal", "umlsl"), ("umlal2", "umlsl2"),
          ("madd", "msub"), ("zip1", "zip2"), ("trn1", "trn2"), ("uzp1", "uzp2"), ("umin", "smin"), ("umax", "smax"),
          ("umin", "umax"), ("smin", "smax"), ("bit", "bif"), ("cmgt", "cmhi"), ("uaddw", "usubw"), ("uaddl", "usubl"),
          ("saddw", "ssubw"), ("saddl", "ssubl"), ("uxtl", "sxtl"), ("uxtl2", "sxtl2")}
_SWAPS = _PAIRS | {(new, old) for old, new in _PAIRS}
# Their last number becomes another one. The sign is the same wherever it is taken from above the highest bit.
_OF_DISTANCES = {"shl", "ushr", "srshr", "urshr", "usra", "ssra", "sli", "sri", "shrn", "shrn2", "rshrn", "ext", "lsr",
                 "ushll", "ushll2", "sshll", "sshll2"}


def text_of(library: Library, at: int, code: bytes | None = None) -> str:
    """Returns the instruction at an address, or another one in its place, as text."""
    return decode(code or library.read(at, 4) or b"", at).text


def changes_of(library: Library, at: int) -> Iterator[bytes]:
    """Yields the instruction at an address with a fault: another operation, or another distance of a shift."""
    code = library.read(at, 4) or b""
    before = decode(code, at)
    if before.name not in _OF_DISTANCES and not any(before.name == old for old, _ in _SWAPS):
        return
    for bit in range(32):
        changed = (int.from_bytes(code, "little") ^ 1 << bit).to_bytes(4, "little")
        try:
            after = decode(changed, at)
        except NotFollowed:
            continue
        if _is_fault(before, after):
            yield changed


def _is_fault(before: Instruction, after: Instruction) -> bool:
    if (before.name, after.name) in _SWAPS:
        # Loops and addresses are counted in 64 bits, or with constants.
        counts = any(isinstance(o, int) or isinstance(o, General) and o.width == 64 for o in before.operands)
        return before.operands == after.operands and not counts
    return (before.name == after.name and before.name in _OF_DISTANCES and
            before.operands[:-1] == after.operands[:-1] and
            isinstance(before.operands[-1], int) and isinstance(after.operands[-1], int))
