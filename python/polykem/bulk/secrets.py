# SPDX-License-Identifier: Apache-2.0
"""Keys of a job: coins that a retry repeats, and secret columns that are never at rest in plain.

    job secret ---HKDF---> coins of (job, inputs, partition, row)      AES-256-CTR as the expansion
         |
         +-------HKDF---> column key ---HKDF, keyed digest of the plaintext---> data key of a partition
                              |
                              +--> job.json, sealed to the key that the caller names

A data key depends on what it encrypts, so that two attempts at a partition use the same key and nonce only for the same
plaintext, and write the same file.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .column import Json, Records
from .errors import DATA, USAGE, BulkError, explained

KEY_BYTES = 32
TAG_BYTES = 16
BLOCK = 16  # of AES
LABEL = b"polykem-bulk-2 "


def derive(key: bytes, label: bytes, *context: bytes, salt: bytes | None = None) -> bytes:
    """Returns 32 bytes of HKDF-SHA-256 [RFC5869]; every part of `context` is preceded by its length."""
    info = LABEL + label + b"".join(len(part).to_bytes(8, "little") + part for part in context)
    return HKDF(hashes.SHA256(), KEY_BYTES, salt, info).derive(bytes(key))


def coins(secret: bytes, job_id: str, partition: int, rows: int, each: int, bound: bytes = b"") -> Records:
    """Returns the random inputs of a partition: row i takes `each` bytes from block i * ceil(each / 16) of its stream.

    The coins also depend on `bound`: job.json and what the partition reads. If another key or message had the same
    coins, whoever exchanged it would learn the secret of the first one.

    Returns
    -------
    numpy.ndarray
        uint8, shape (rows, each).
    """
    key = derive(secret, b"draws", job_id.encode(), partition.to_bytes(8, "little"), bound)
    stride = -(-each // BLOCK) * BLOCK
    stream = np.zeros((rows, stride), np.uint8)
    flat = stream.data.cast("B") if rows else memoryview(b"")
    counter = Cipher(algorithms.AES(key), modes.CTR(bytes(BLOCK))).encryptor()
    if rows:
        counter.update_into(flat, flat)
    if stride == each:
        return stream
    drawn = np.ascontiguousarray(stream[:, :each])
    stream.fill(0)
    return drawn


def make_key_file(path: str | os.PathLike[str]) -> None:
    """Writes 32 random bytes that only their owner may read; refuses to replace a file."""
    with explained(path):
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise BulkError(f"{path} exists", USAGE, "name another file") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())


def read_key_file(path: str | os.PathLike[str]) -> bytes:
    """Returns the 32 bytes of a key file."""
    with explained(path), open(path, "rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise BulkError(f"others may read the key file {path}", DATA, f"chmod 600 {path}")
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise BulkError(f"{path} is not a key file, which has {KEY_BYTES} bytes", DATA,
                        "polykem-bulk new-key FILE makes one")
    return key


def seal_under(key: bytes, job_id: str, column_key: bytes) -> dict[str, str]:
    """Returns `column_key` encrypted by AES-256-GCM under a key file's key, for job.json."""
    nonce = os.urandom(12)
    sealed = AESGCM(key).encrypt(nonce, column_key, LABEL + job_id.encode())
    return {"kind": "aes-256-gcm", "nonce": nonce.hex(), "sealed": sealed.hex()}


def open_under(key: bytes, job_id: str, record: Json) -> bytes:
    """Returns the column key of a job that was protected by a key file."""
    try:
        return AESGCM(key).decrypt(bytes.fromhex(record["nonce"]), bytes.fromhex(record["sealed"]),
                                   LABEL + job_id.encode())
    except (InvalidTag, KeyError, TypeError, ValueError):
        raise BulkError("the key file is not the one that this job was protected with", DATA) from None


class ColumnCipher:
    """Encrypts the secret columns of one partition, row group by row group, to records of the same width.

    Parameters
    ----------
    column_key : bytes
    job_id : str
    partition : int
    salt : bytes, optional
        For decryption: the result of `salt_of`.
    """

    def __init__(self, column_key: bytes, job_id: str, partition: int, salt: bytes | None = None) -> None:
        self.column_key, self.salt = column_key, salt
        self.partition_label = job_id.encode() + b" " + str(partition).encode()

    def salt_of(self, columns: dict[str, Records]) -> bytes:
        """Returns a keyed digest of all secret columns, from which the data keys are derived."""
        mac = hmac.new(derive(self.column_key, b"digest", self.partition_label), digestmod=hashlib.sha256)
        for name, data in columns.items():
            mac.update(len(name).to_bytes(8, "little") + name.encode() + data.nbytes.to_bytes(8, "little"))
            mac.update(data.data)
        self.salt = mac.digest()
        return self.salt

    def _cipher(self, name: str) -> AESGCM:
        return AESGCM(derive(self.column_key, b"data key", self.partition_label, name.encode(), salt=self.salt))

    def _bound(self, name: str, group: int, rows: int, width: int) -> bytes:
        return self.partition_label + f" {name} {group} {rows} {width}".encode()

    def seal(self, name: str, group: int, data: Records, out: Records) -> bytes:
        """Encrypts one row group, uint8 (rows, width), into `out` of the same shape. Returns the tag."""
        sealed = memoryview(self._cipher(name).encrypt(group.to_bytes(12, "little"), data.data.cast("B"),
                                                       self._bound(name, group, *data.shape)))
        out.data.cast("B")[:] = sealed[:-TAG_BYTES]
        return bytes(sealed[-TAG_BYTES:])

    def open(self, name: str, group: int, data: Records, tag: bytes, out: Records) -> None:
        """Decrypts one row group into `out` of the same shape. Raises `InvalidTag`, and then leaves nothing there."""
        try:
            self._cipher(name).decrypt_into(group.to_bytes(12, "little"), data.tobytes() + tag,
                                            self._bound(name, group, *data.shape), out.data.cast("B"))
        except BaseException:
            out.fill(0)
            raise
