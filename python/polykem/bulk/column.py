# SPDX-License-Identifier: Apache-2.0
"""The columns that a job reads and writes, which have fixed widths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[np.uint8]  # (rows, width), or (1, width) for one record that counts for all rows
Json = dict[str, Any]

SUITE = "MLKEM768-X25519,HKDF-SHA256,AES-256-GCM"  # the default suite of HPKE


@dataclass(frozen=True)
class Column:
    """A column of fixed width.

    Attributes
    ----------
    role, name : str
        The operation's name for it, and the dataset's.
    source : int
        Of a column that is read: the number of its input, counted from 1; 0 where one record stands for it.
    """

    role: str
    name: str
    width: int
    secret: bool = False
    source: int = 0


@dataclass(frozen=True)
class Kept:
    """A column that is copied from an input, whose number counts from 1."""

    name: str
    source: int
