# SPDX-License-Identifier: Apache-2.0
"""Who can read the secret columns of a job, and from what its coins are derived."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import secrets
from .column import SUITE
from .errors import USAGE, BulkError


@dataclass(frozen=True)
class Keys:
    """How a job's secret columns are protected: made by `under`, `sealed_to` or `plain`.

    Attributes
    ----------
    kind : str
        "aes-256-gcm", "hpke" or "plain".
    """

    kind: str
    _job_secret: bytes = field(repr=False)
    _key: bytes = field(repr=False, default=b"")
    _suite: str = field(repr=False, default="")

    @classmethod
    def under(cls, key: bytes, job_secret: bytes | None = None) -> Keys:
        """Whoever has `key` can read the secret columns.

        Parameters
        ----------
        key : bytes
            32 bytes, as `read_key_file` returns them.
        job_secret : bytes, optional
            32 bytes from which coins follow, and with them all keys of the job; `key` unless given.
        """
        key = checked(key, "the key")
        return cls("aes-256-gcm", key if job_secret is None else checked(job_secret, "the job secret"), key)

    @classmethod
    def sealed_to(cls, public_key: bytes, job_secret: bytes, suite: str = SUITE) -> Keys:
        """Whoever has the private key of an HPKE public key, or the job secret, can read the secret columns.

        Parameters
        ----------
        public_key : bytes
        job_secret : bytes
            32 bytes that must be kept until the job is complete and should then be destroyed.
        suite : str
            KEM,KDF,AEAD of the public key.
        """
        return cls("hpke", checked(job_secret, "the job secret"), bytes(public_key), suite)

    @classmethod
    def plain(cls, job_secret: bytes) -> Keys:
        """Whoever can read the job's folder can read its secret columns.

        Parameters
        ----------
        job_secret : bytes
            As in `sealed_to`.
        """
        return cls("plain", checked(job_secret, "the job secret"))

    def secret_of(self, job_id: str) -> bytes:
        """The secret of one job."""
        return secrets.derive(self._job_secret, b"job", job_id.encode())

    def protect(self, job_id: str, column_key: bytes) -> dict[str, str]:
        """What job.json says of the protection; holds the sealed column key."""
        if self.kind == "aes-256-gcm":
            return secrets.seal_under(self._key, job_id, column_key)
        if self.kind == "hpke":
            from . import recipient
            return recipient.seal_key(self._suite, self._key, job_id, column_key)
        return {"kind": "plain"}


def checked(secret: bytes, what: str) -> bytes:
    if not isinstance(secret, (bytes, bytearray, memoryview)) or len(bytes(secret)) != secrets.KEY_BYTES:
        raise BulkError(f"{what} must have {secrets.KEY_BYTES} bytes", USAGE,
                        "make_key_file(path) makes such a file, read_key_file(path) reads it")
    return bytes(secret)
