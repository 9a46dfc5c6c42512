# SPDX-License-Identifier: Apache-2.0
"""Profiles: the time of each step of an operation, by the specification's stages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass(frozen=True)
class StepRecord:
    """The time of one step of a backend's plan."""

    op: str  #: "keygen", "encaps", "decaps"
    step: str  #: the backend's name for it
    stages: tuple[str, ...]  #: the specification's stages that it covers
    calls: int  #: times it ran, over chunks
    items: int  #: records it worked on
    nanoseconds: int  #: of all calls, summed over threads
    cycles: int  #: clock cycles, where the backend has a counter of its own ("rtl"); else 0


class Profile(List[StepRecord]):
    """A list of `StepRecord` in plan order, with what was measured."""

    scheme: str  #: registry name
    op: str
    backend: str
    count: int  # type: ignore[assignment]  #: operations that were measured
    batch: int  #: items of one call
    threads: int
    wall_nanoseconds: int  #: of all calls, seen from outside

    @property
    def stage_nanoseconds(self) -> int:
        """The sum over the steps."""
        return sum(record.nanoseconds for record in self)
