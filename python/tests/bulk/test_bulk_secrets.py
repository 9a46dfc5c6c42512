# SPDX-License-Identifier: Apache-2.0
"""Tests secret columns at rest."""

import json

import pyarrow.parquet as pq
import pytest

import polykem
from polykem.bulk import secrets

KEY = ("--key-file", "key")


def occurs(folder, needle):
    return any(needle in path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_no_secret_is_at_rest_in_plain(place):
    place("keygen", "keys", "--count", 40, *KEY)
    sk, pk = place.columns("keys", "sk", "pk", key="key")
    assert not any(occurs(place / "keys", row[100:132].tobytes()) for row in sk)
    assert occurs(place / "keys", pk[0].tobytes())
    assert not occurs(place / "keys", (place / "key").read_bytes())


def test_plain_only_when_it_is_said_and_then_loudly(place, capfd):
    message = place("keygen", "keys", "--count", 4, "--job-secret", "key", expect=2)
    assert "no key to encrypt them" in message["error"] and not (place / "keys").exists()
    from polykem.bulk import cli
    assert cli.main("keygen keys --count 4 --job-secret key --plain-secrets --ray none --quiet".split()) == 0
    assert "IN PLAIN" in capfd.readouterr().err
    sk = pq.read_table("keys/data").column("sk")[0].as_py()
    assert occurs(place / "keys", sk)
    pairs = polykem.Context().encaps("mlkem768", place.columns("keys", "pk")[0])
    assert pairs.status.tolist() == [0] * 4


def test_another_key_opens_nothing(place):
    place("keygen", "keys", "--count", 4, *KEY)
    place("new-key", "other")
    assert "not the one" in place("export", "keys", "x", "--plain-secrets", "--key-file", "other", expect=3)["error"]
    assert "encrypted" in place("export", "keys", "x", "--plain-secrets", expect=2)["error"]
    assert "secrets in plain" in place("export", "keys", "x", *KEY, expect=2)["error"]
    assert not (place / "x").exists()


def test_an_altered_column_is_noticed_by_its_tag(place):
    place("keygen", "keys", "--count", 4, *KEY)
    sk, = place.columns("keys", "sk", key="key")
    path = place / "keys/data/part-000000.parquet"
    stored, data = pq.read_table(path).column("sk")[2].as_py(), bytearray(path.read_bytes())
    data[data.index(stored) + 7] ^= 1
    table = pq.read_table(path)
    cipher = secrets.ColumnCipher(bytes(32), "job", 0, bytes(32))
    assert table.num_rows == 4 and cipher.salt
    path.write_bytes(data)
    message = place("encaps", "sealed", "--input", "keys", *KEY)  # reads pk alone, whose pages are whole
    assert message["rows"] == 4
    assert "damaged" in place("export", "keys", "x", "--plain-secrets", "--column", "sk", *KEY, expect=3)["error"]


def test_a_column_of_another_place_is_not_accepted():
    from cryptography.exceptions import InvalidTag
    import numpy as np
    data, out = np.arange(60, dtype=np.uint8).reshape(3, 20), np.empty((3, 20), np.uint8)
    cipher = secrets.ColumnCipher(bytes(32), "job", 5)
    salt = cipher.salt_of({"sk": data})
    tag = cipher.seal("sk", 2, data, out)
    plain = np.ones_like(data)
    cipher.open("sk", 2, out, tag, plain)
    assert np.array_equal(plain, data) and not np.array_equal(out, data)
    for job, partition, name, group in (("job", 5, "ss", 2), ("job", 5, "sk", 1), ("job", 6, "sk", 2),
                                        ("bob", 5, "sk", 2)):
        with pytest.raises(InvalidTag):
            secrets.ColumnCipher(bytes(32), job, partition, salt).open(name, group, out, tag, plain)
        assert not plain.any()


def test_another_plaintext_takes_another_key():
    import numpy as np
    one, other = np.zeros((4, 16), np.uint8), np.zeros((4, 16), np.uint8)
    other[3, 3] = 1
    sealed = []
    for data in (one, other):
        cipher, out = secrets.ColumnCipher(bytes(32), "job", 0), np.empty_like(data)
        cipher.salt_of({"ss": data})
        cipher.seal("ss", 0, data, out)
        sealed.append(out)
    assert (sealed[0][0] != sealed[1][0]).any()


def test_key_files_are_checked(place):
    assert "exists" in place("new-key", "key", expect=2)["error"]
    (place / "short").write_bytes(b"x")
    (place / "short").chmod(0o600)
    assert "not a key file" in place("keygen", "k", "--count", 1, "--key-file", "short", expect=3)["error"]
    (place / "key").chmod(0o644)
    assert "others may read" in place("keygen", "k", "--count", 1, *KEY, expect=3)["error"]


def test_job_json_holds_no_secret(place):
    place("keygen", "keys", "--count", 4, *KEY)
    record = json.loads((place / "keys/job.json").read_text())["secrets"]
    assert record["kind"] == "aes-256-gcm" and len(bytes.fromhex(record["sealed"])) == 48
