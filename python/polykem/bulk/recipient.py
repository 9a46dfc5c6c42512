# SPDX-License-Identifier: Apache-2.0
"""Seals a job's column key to a public key, so that the machines that compute cannot read what they wrote."""

from __future__ import annotations

import os

import numpy as np

import polykem

from .column import Json, Records
from .errors import DATA, USAGE, BulkError, explained
from .messages import suite

INFO = b"polykem-bulk-2 column key"


def record(data: bytes, width: int, what: str) -> Records:
    if len(data) != width:
        raise BulkError(f"the {what} has {len(data)} bytes, but those of the suite have {width}", DATA)
    return np.frombuffer(data, np.uint8)


def seal_key(text: str, public_key: bytes, job_id: str, column_key: bytes) -> dict[str, str]:
    """Returns the entry in job.json for a column key that only the private key's owner can open."""
    chosen = suite(text)
    with polykem.Context(threads=1) as context:
        key = record(public_key, chosen.public_key_bytes, "public key")
        sealed = chosen.seal(context, key, column_key, info=INFO, aad=job_id.encode())
    return {"kind": "hpke", "suite": text, "enc": sealed.enc[0].tobytes().hex(),
            "sealed": np.asarray(sealed.ciphertexts).tobytes().hex()}


def open_key(private_key: bytes, job_id: str, sealed: Json) -> bytes:
    """Returns the column key of a job that was protected to a public key."""
    try:
        text, enc, ciphertext = sealed["suite"], bytes.fromhex(sealed["enc"]), bytes.fromhex(sealed["sealed"])
    except (KeyError, TypeError, ValueError):
        raise BulkError("job.json holds no key that was sealed to a public key", DATA) from None
    chosen = suite(text)
    with polykem.Context(threads=1) as context:
        key = record(private_key, chosen.secret_key_bytes, "private key")
        opened = chosen.open(context, key, record(enc, chosen.enc_bytes, "sealed key in job.json"), ciphertext,
                             info=INFO, aad=job_id.encode(), errors="return")
    if opened.status.any():
        raise BulkError("the private key is not the one that this job was protected to", DATA)
    return np.asarray(opened.plaintexts).tobytes()


def make_pair(text: str, path: str) -> None:
    """Writes a private key to `path`, which only its owner may read, and its public key to `path`.pub."""
    chosen = suite(text)
    with polykem.Context(threads=1) as context:
        pairs = chosen.generate(context, 1)
    files = ((path, np.asarray(pairs.sk).tobytes(), 0o600), (path + ".pub", pairs.pk.tobytes(), 0o644))
    for name, _, _ in files:
        if os.path.lexists(name):
            raise exists(name)
    made = []
    try:
        for name, data, mode in files:
            with explained(name):
                descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
                made.append(name)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(data)
    except BaseException as error:  # a private key without its public key is useless
        for name in made:
            os.unlink(name)
        if isinstance(error.__cause__, FileExistsError):
            raise exists(name) from None
        raise


def exists(name: str) -> BulkError:
    return BulkError(f"{name} exists", USAGE, "name another file")
