# SPDX-License-Identifier: Apache-2.0
"""HPKE in bulk jobs: key pairs, seal, open, rewrap. A suite is written KEM,KDF,AEAD."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

import polykem

from .column import Column, Records
from .errors import BACKEND, DATA, RESOURCES, USAGE, BulkError
from .memory import Memory, Ordinary, wipe

if TYPE_CHECKING:
    from polykem.hpke import Suite

    from .job import Job

OPERATIONS = ("seal", "open", "rewrap")
IKM_BYTES = 64  # of a key pair: at least as much entropy as any secret key has bytes
TAG_BYTES = 16
BOUND = ("info", "aad")  # bound to messages: texts of the job, or columns


def is_suite(text: str) -> bool:
    return "," in text


def suite(text: str) -> Suite:
    """Returns the polykem.hpke.Suite that KEM,KDF,AEAD names."""
    try:
        from polykem import hpke
    except ImportError as error:
        raise BulkError(str(error), RESOURCES) from None
    parts = [part.strip() for part in text.rsplit(",", 2)]  # DHKEM's name has a comma
    if len(parts) != 3:
        raise BulkError(f"'{text}' is not a suite", USAGE,
                        "a suite is KEM,KDF,AEAD: ML-KEM-768,HKDF-SHA256,AES-256-GCM")
    try:
        return hpke.Suite(*parts)
    except polykem.ArgumentError as error:
        raise BulkError(str(error), USAGE) from None


def message_bytes(operation: str, width: int) -> int:
    """Returns the bytes of a plaintext, from the width of the column of messages."""
    if operation == "seal":
        return width
    if width <= TAG_BYTES:
        raise BulkError(f"a ciphertext of {width} bytes holds no message", DATA)
    return width - TAG_BYTES


def columns(operation: str, scheme: str, to_scheme: str,
            plaintext_bytes: int | None) -> tuple[list[Column], list[Column]]:
    """Returns (columns read, columns written) of an operation with suites."""
    status = Column("status", "status", 1)
    of, to = suite(scheme), suite(to_scheme or scheme)
    pk, sk = Column("pk", "pk", to.public_key_bytes), Column("sk", "sk", of.secret_key_bytes, True)
    if operation == "keygen":
        return [], [pk, sk]
    for name, its in ((scheme, of), (to_scheme, to)):
        if its.aead.name == "EXPORT_ONLY":
            raise BulkError(f"suite '{name}' has no cipher for messages", USAGE,
                            "replace Export-only by AES-128-GCM, AES-256-GCM or ChaCha20Poly1305")
    assert plaintext_bytes is not None  # of every operation on messages
    plaintext = Column("plaintext", "plaintext", plaintext_bytes, True)
    ciphertext = Column("ciphertext", "ciphertext", plaintext_bytes + TAG_BYTES)
    enc_in, enc_out = Column("enc", "enc", of.enc_bytes), Column("enc", "enc", to.enc_bytes)
    return {"seal": ([pk, plaintext], [enc_out, ciphertext, status]),
            "open": ([sk, enc_in, ciphertext], [plaintext, status]),
            "rewrap": ([sk, enc_in, ciphertext, Column("to_pk", "to_pk", to.public_key_bytes)],
                       [enc_out, ciphertext, status])}[operation]


def coin_bytes(job: Job) -> int:
    """Returns the number of random bytes that a row takes; 0 if the operation takes none."""
    if job.operation == "keygen":
        return IKM_BYTES
    return 0 if job.operation == "open" else suite(job.to_scheme or job.scheme).coin_bytes


def digest_of(inputs: dict[str, Records]) -> bytes:
    """Returns a digest of all inputs of a partition. Coins depend on it, so that two messages never share coins."""
    digest = hashlib.sha256()
    for role in sorted(inputs):
        digest.update(role.encode() + inputs[role].nbytes.to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(inputs[role]).data)
    return digest.digest()


class MessageComputer:
    """Computes rows of one job with suites; the same interface as `kem.Computer`."""

    def __init__(self, job: Job, threads: int = 0, backend: str | None = None) -> None:
        try:
            self.context = polykem.Context(threads=threads, backend=backend)
        except (polykem.BackendUnavailable, polykem.UnknownBackend) as error:
            raise BulkError(str(error).rstrip("."), BACKEND) from None
        self.job = job
        self.memory: Memory = Ordinary()
        self.suite, self.to_suite = suite(job.scheme), suite(job.to_scheme or job.scheme)
        self.texts = {"info": job.info.encode(), "aad": job.aad.encode()}

    def run(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        """Computes one partition; see `kem.Computer.run`."""
        compute = {"keygen": self._keygen, "seal": self._seal, "open": self._open, "rewrap": self._rewrap}
        return compute[self.job.operation](rows, inputs, coins)

    def _keygen(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        pairs = self.suite.derive_key_pairs(self.context, coins)
        return {"pk": pairs.pk, "sk": np.asarray(pairs.sk).reshape(rows, -1)}

    def _bound(self, rows: int, inputs: dict[str, Records]) -> dict[str, bytes | Records]:
        """Returns the info and the additional data of the rows."""
        return {role: one_or_all(inputs[role], rows) if role in inputs else self.texts[role] for role in BOUND}

    def _seal(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        sealed = self.to_suite.seal(self.context, one_or_all(inputs["pk"], rows),
                                    one_or_all(inputs["plaintext"], rows), count=rows, coins=coins, errors="return",
                                    **self._bound(rows, inputs))
        return {"enc": sealed.enc, "ciphertext": np.asarray(sealed.ciphertexts), "status": narrow(sealed.status)}

    def _open(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        opened = self.suite.open(self.context, one_or_all(inputs["sk"], rows), inputs["enc"], inputs["ciphertext"],
                                 errors="return", **self._bound(rows, inputs))
        return {"plaintext": np.asarray(opened.plaintexts).reshape(rows, -1), "status": narrow(opened.status)}

    def _rewrap(self, rows: int, inputs: dict[str, Records], coins: Records | None) -> dict[str, Records]:
        opened = self._open(rows, inputs, None)
        try:
            sealed = self._seal(rows, {**inputs, "pk": inputs["to_pk"], "plaintext": opened["plaintext"]}, coins)
        finally:
            wipe(opened["plaintext"])
        bad = opened["status"][:, 0] != 0
        for role in ("enc", "ciphertext"):
            sealed[role][bad] = 0
        sealed["status"][bad] = opened["status"][bad]
        return sealed


def one_or_all(records: Records, rows: int) -> Records:
    """Returns the records, or the only one if it stands for all rows."""
    return records[0] if len(records) == 1 and rows > 1 else records


def narrow(status: npt.NDArray[np.int32]) -> Records:
    return np.asarray(status).astype(np.uint8).reshape(-1, 1)
