# SPDX-License-Identifier: Apache-2.0
"""Counts the different public keys of a job: exactly up to a limit, in memory that does not grow with the job."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

import numpy as np

from .column import Json, Records

LIMIT = 10_000
DIGEST_BYTES = 16
BLOCK_ROWS = 1024


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

    def add(self, keys: Records) -> None:
        """Counts the rows of a uint8 array of shape (rows, width)."""
        for start in range(0, len(keys), BLOCK_ROWS):
            for row in _candidates(keys[start:start + BLOCK_ROWS]):
                if self.many:
                    return
                self._put(hashlib.sha256(row.data).digest()[:DIGEST_BYTES])

    def add_receipt(self, record: Json) -> None:
        """Adds what `receipt` returned for one partition."""
        self.many = self.many or record["many"]
        data = base64.b64decode(record["digests"])
        for start in range(0, 0 if self.many else len(data), DIGEST_BYTES):
            self._put(data[start:start + DIGEST_BYTES])

    def _put(self, digest: bytes) -> None:
        self.digests.add(digest)
        if len(self.digests) > LIMIT:
            self.digests, self.many = set(), True

    def receipt(self) -> Json:
        """Returns the entry for a partition's receipt, sorted, so that a retry writes the same."""
        return {"many": self.many, "digests": base64.b64encode(b"".join(sorted(self.digests))).decode()}

    def summary(self) -> Json:
        """Returns {"distinct_keys": how many, "more_keys": whether there are more than that}."""
        return {"distinct_keys": LIMIT if self.many else len(self.digests), "more_keys": self.many}


def _candidates(keys: Records) -> Iterator[Records]:
    """Returns the distinct rows, a few perhaps twice. Comparing rows that begin alike is faster than hashing all."""
    padded = keys if keys.shape[1] % 8 == 0 else np.pad(keys, ((0, 0), (0, -keys.shape[1] % 8)))
    words = np.ascontiguousarray(padded).view(np.uint64)
    _, firsts, groups = np.unique(words[:, 0], return_index=True, return_inverse=True)
    alike = (words == words[firsts[groups]]).all(axis=1)
    for row in (*firsts, *np.flatnonzero(~alike)):
        yield np.ascontiguousarray(keys[row])


def of_receipts(receipts: list[Json]) -> Json:
    """Returns the summary of a job's partitions; it is empty if the operation encapsulates to no key."""
    records = [receipt["keys"] for receipt in receipts if receipt.get("keys")]
    if not records:
        return {}
    distinct = Distinct()
    for record in records:
        distinct.add_receipt(record)
    return distinct.summary()


def in_words(summary: Json) -> str:
    """Returns the count as text: "1,000" or "more than 10,000"."""
    return ("more than " if summary["more_keys"] else "") + f"{summary['distinct_keys']:,}"
