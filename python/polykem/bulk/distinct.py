# SPDX-License-Identifier: Apache-2.0
"""How many different public keys a job used: exactly up to a limit, in memory that does not grow with the job."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable

from .column import Json, Records

LIMIT = 10_000
DIGEST_BYTES = 16


class Distinct:
    """A set of digests of keys that stops growing at LIMIT.

    Attributes
    ----------
    many : bool
        There are more than LIMIT.
    """

    def __init__(self) -> None:
        self.digests: set[bytes] = set()
        self.many = False

    def add(self, keys: Iterable[Records]) -> None:
        """Counts the rows of a uint8 array of shape (rows, width)."""
        for row in keys:
            if self.many:
                return
            self._put(hashlib.sha256(row.data).digest()[:DIGEST_BYTES])

    def add_receipt(self, record: Json) -> None:
        """Counts what `receipt` gave for one partition."""
        self.many = self.many or record["many"]
        data = base64.b64decode(record["digests"])
        for start in range(0, 0 if self.many else len(data), DIGEST_BYTES):
            self._put(data[start:start + DIGEST_BYTES])

    def _put(self, digest: bytes) -> None:
        self.digests.add(digest)
        if len(self.digests) > LIMIT:
            self.digests, self.many = set(), True

    def receipt(self) -> Json:
        """What a partition's receipt says; sorted, so that a retry writes the same."""
        return {"many": self.many, "digests": base64.b64encode(b"".join(sorted(self.digests))).decode()}

    def summary(self) -> Json:
        """{"distinct_keys": how many, "more_keys": whether there are more than that}."""
        return {"distinct_keys": LIMIT if self.many else len(self.digests), "more_keys": self.many}


def of_receipts(receipts: list[Json]) -> Json:
    """The summary of a job's partitions; empty where the operation encapsulates to no key."""
    records = [receipt["keys"] for receipt in receipts if receipt.get("keys")]
    if not records:
        return {}
    distinct = Distinct()
    for record in records:
        distinct.add_receipt(record)
    return distinct.summary()


def in_words(summary: Json) -> str:
    """The count for a reader: "1,000" or "more than 10,000"."""
    return ("more than " if summary["more_keys"] else "") + f"{summary['distinct_keys']:,}"
