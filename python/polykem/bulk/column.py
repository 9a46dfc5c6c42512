# SPDX-License-Identifier: Apache-2.0
"""What a job reads and writes: columns of fixed width."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of fixed width. `role` is the operation's name for it, `name` the dataset's."""

    role: str
    name: str
    width: int
    secret: bool = False
