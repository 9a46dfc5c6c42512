# SPDX-License-Identifier: Apache-2.0
"""Statuses of rows: 0, a number of `polykem.Status` or `polykem.hpke.ItemStatus`, or one of `RowStatus`."""

from __future__ import annotations

from collections import Counter
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

import polykem

from .column import Json


class RowStatus(IntEnum):
    """Reasons why a row of the inputs cannot be computed; none of the numbers is one of `polykem.Status` or of HPKE."""

    MISSING = 201
    LENGTH = 202

    @property
    def text(self) -> str:
        """A short English sentence."""
        return {RowStatus.MISSING: "the row has no value in a column that is read",
                RowStatus.LENGTH: "a value does not have the length that the operation needs"}[self]


def text(code: int) -> str:
    """Returns the English sentence of a status."""
    if code in list(RowStatus):
        return RowStatus(code).text
    if code in list(polykem.Status):
        return polykem.Status(code).text
    from polykem import hpke
    return hpke.ItemStatus(code).text


def counted(status: npt.NDArray[Any], first: int) -> Json:
    """Returns, for the receipt of a partition that begins at row `first`, how many rows have each status but 0."""
    bad = np.flatnonzero(status)
    counts = Counter(np.asarray(status).reshape(-1)[bad].tolist())
    return {"bad_rows": len(bad), "statuses": {str(code): counts[code] for code in sorted(counts)},
            "first_bad_row": first + int(bad[0]) if len(bad) else None}


def of_receipts(receipts: list[Json]) -> Json:
    """Returns the counts of all partitions together."""
    total: Counter[int] = Counter()
    firsts: list[int] = []
    for receipt in receipts:
        total.update({int(code): count for code, count in receipt["statuses"].items()})
        firsts += [receipt["first_bad_row"]] if receipt["bad_rows"] else []
    return {"bad_rows": total.total(), "statuses": {str(code): total[code] for code in sorted(total)},
            "first_bad_row": min(firsts, default=None)}


def in_words(summary: Json) -> tuple[str, str]:
    """Returns (sentence, hint) on the rows that have no result."""
    reasons = ", ".join(f"{count:,} with status {code} ({text(int(code)).rstrip('.')})"
                        for code, count in summary["statuses"].items())
    hint = "the column 'status' says which and why; their other columns are empty, secret ones zero"
    if summary["bad_rows"] == summary["rows"]:
        hint += "; as no row has a result: are these the right columns and the right parameter set?"
    return (f"{summary['bad_rows']:,} of {summary['rows']:,} rows have no result: {reasons}; the first is row "
            f"{summary['first_bad_row']:,}, counted from 0"), hint
