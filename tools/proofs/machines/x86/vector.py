# SPDX-License-Identifier: Apache-2.0
"""What vector instructions do, by their names without a v."""

from __future__ import annotations

from proofs.machines.x86.arithmetic import ARITHMETIC
from proofs.machines.x86.general import Handler
from proofs.machines.x86.logic import LOGIC
from proofs.machines.x86.masks import MASKS
from proofs.machines.x86.moves import MOVES
from proofs.machines.x86.order import ORDER
from proofs.machines.x86.shifts import SHIFTS

VECTOR: dict[str, Handler] = ARITHMETIC | SHIFTS | LOGIC | MASKS | MOVES | ORDER
