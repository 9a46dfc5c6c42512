# SPDX-License-Identifier: Apache-2.0
"""The protection of a job's secret columns, and the secret from which its coins are derived."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import secrets
from .column import SUITE
from .errors import USAGE, BulkError


@dataclass(frozen=True)
class Keys:
    """The protection of a job's secret columns, made by `under`, `sealed_to` or `plain`.

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
        """Protect the secret columns: whoever has `key` can read them.

        Parameters
        ----------
        key : bytes
            32 bytes, as `read_key_file` returns them.
        job_secret : bytes, optional
            32 bytes from which the coins, and so all keys of the job, are derived; `key` unless given.
        """
        key = checked(key, "the key")
        return cls("aes-256-gcm", key if job_secret is None else checked(job_secret, "the job secret"), key)

    @classmethod
    def sealed_to(cls, public_key: bytes, job_secret: bytes, suite: str = SUITE) -> Keys:
        """Protect the secret columns: whoever has the private key of `public_key`, or the job secret, can read them.

        Parameters
        ----------
        public_key : bytes
            An HPKE public key.
        job_secret : bytes
            32 bytes that must be kept until the job is complete and should then be destroyed.
        suite : str
            KEM,KDF,AEAD of the public key.
        """
        return cls("hpke", checked(job_secret, "the job secret"), bytes(public_key), suite)

    @classmethod
    def plain(cls, job_secret: bytes) -> Keys:
        """Leave the secret columns unprotected: whoever can read the job's folder can read them.

        Parameters
        ----------
        job_secret : bytes
            As in `sealed_to`.
        """
        return cls("plain", checked(job_secret, "the job secret"))

    def secret_of(self, job_id: str) -> bytes:
        """Returns the secret of one job."""
        return secrets.derive(self._job_secret, b"job", job_id.encode())

    def protect(self, job_id: str, column_key: bytes) -> dict[str, str]:
        """Returns the protection's entry in job.json, which holds the sealed column key."""
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
