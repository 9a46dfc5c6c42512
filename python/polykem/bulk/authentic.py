# SPDX-License-Identifier: Apache-2.0
"""Authenticates a job's records: job.json, receipts and manifest carry an HMAC-SHA-256 under a key of the job.

The key is derived from the column key, so that whoever may read a job's secret columns, or has its job secret, can
verify the records.
"""

from __future__ import annotations

import hashlib
import hmac
import json

from . import secrets
from .column import Json

JOB, RECEIPT, MANIFEST = "job", "receipt", "manifest"


class Authority:
    """Authenticates the records of one job.

    Parameters
    ----------
    column_key : bytes
    job_id : str
    """

    def __init__(self, column_key: bytes, job_id: str) -> None:
        self.key = secrets.derive(column_key, b"records", job_id.encode())

    def mac(self, kind: str, record: Json) -> str:
        """Returns the MAC of all fields of a record but "mac", independent of their order and of blanks in the file."""
        said = {name: value for name, value in record.items() if name != "mac"}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"))
        return hmac.new(self.key, f"{kind} {text}".encode(), hashlib.sha256).hexdigest()

    def signed(self, kind: str, record: Json) -> Json:
        """Returns the record with its "mac" at the end."""
        return {**record, "mac": self.mac(kind, record)}

    def wrote(self, kind: str, record: Json) -> bool:
        """Returns whether this job wrote the record and nothing in it has changed."""
        mac = record.get("mac")
        return isinstance(mac, str) and hmac.compare_digest(mac.encode(), self.mac(kind, record).encode())
