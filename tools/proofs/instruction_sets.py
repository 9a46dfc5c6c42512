# SPDX-License-Identifier: Apache-2.0
"""Which machine runs the code of a library."""

from __future__ import annotations

from proofs.arm64.machine import Arm64
from proofs.machine import Machine
from proofs.memory import Library
from proofs.thumb.machine import Thumb
from proofs.x86 import X86


MACHINES: dict[str, type[Machine]] = {"x86-64": X86, "AArch64": Arm64, "Thumb": Thumb}


def machine_of(library: Library) -> Machine:
    """Returns a machine of a library's instruction set."""
    return MACHINES[library.instruction_set](library)
