# SPDX-License-Identifier: Apache-2.0
"""Which machine runs the code of a library."""

from __future__ import annotations

from proofs.machines.arm64.machine import Arm64
from proofs.machines.machine import Machine
from proofs.machines.memory import Library
from proofs.machines.thumb.machine import Thumb
from proofs.machines.x86.machine import X86


MACHINES: dict[str, type[Machine]] = {"x86-64": X86, "AArch64": Arm64, "Thumb": Thumb}


def machine_of(library: Library) -> Machine:
    """Returns a machine of a library's instruction set."""
    return MACHINES[library.instruction_set](library)
