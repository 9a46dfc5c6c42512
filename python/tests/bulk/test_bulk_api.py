# SPDX-License-Identifier: Apache-2.0
"""polykem.bulk as functions; docs/bulk.md's example runs in test_docs.py."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import fixed

import polykem
from polykem import bulk
from polykem.bulk.column import SUITE

RULE = {"scheme": "mlkem512"}


@pytest.fixture
def key(place):
    return bulk.read_key_file("key")


def rows_of(dataset, name):
    return [value.as_py() for value in dataset.read(0, dataset.rows, [name]).column(name)]


def test_secrets_under_a_key(place, key):
    summary = bulk.run("keygen", **RULE, count=20, output=place / "keys", keys=bulk.Keys.under(key))
    assert summary["rows"] == 20 and summary["secrets"] == "aes-256-gcm"
    dataset = bulk.open_dataset(place / "keys", key)
    sk, pk = rows_of(dataset, "sk"), rows_of(dataset, "pk")
    sent = polykem.Context().encaps("mlkem512", np.array([list(one) for one in pk], np.uint8))
    got = polykem.Context().decaps("mlkem512", np.array([list(one) for one in sk], np.uint8), sent.ct)
    assert np.array_equal(np.asarray(got.ss), np.asarray(sent.ss))
    with pytest.raises(bulk.BulkError, match="encrypted"):
        bulk.open_dataset("keys").read(0, 1, ["sk"])
    with pytest.raises(bulk.BulkError, match="not the one"):
        bulk.open_dataset("keys", bytes(32))


def test_what_the_program_and_the_function_do_is_one_job(place, key):
    bulk.run("keygen", **RULE, count=20, output="keys", keys=bulk.Keys.under(key))
    again = ("keygen", "keys", "--scheme", "mlkem512", "--count", 20, "--key-file", "key", "--resume")
    assert place(*again)["computed_partitions"] == 0
    (place / "keys/receipts/part-000000.json").unlink()
    assert bulk.run("keygen", **RULE, count=20, output="keys", keys=bulk.Keys.under(key),
                    resume=True)["computed_partitions"] == 1


def test_secrets_sealed_to_a_public_key(place, key):
    pytest.importorskip("polykem.hpke")
    bulk.make_pair(SUITE, "archive")
    keys = bulk.Keys.sealed_to((place / "archive.pub").read_bytes(), job_secret=key)
    bulk.run("keygen", **RULE, count=5, output="keys", keys=keys)
    bulk.run("encaps", **RULE, inputs=["keys"], output="sent", keys=keys)
    both = [bulk.open_dataset(job, private_key=(place / "archive").read_bytes()) for job in ("keys", "sent")]
    bulk.run("decaps", **RULE, inputs=both, output="got", keys=bulk.Keys.under(key))
    assert rows_of(both[1], "ss") == rows_of(bulk.open_dataset("got", key), "ss")


def test_plain_secrets(place, key):
    bulk.run("keygen", **RULE, count=5, output="keys", keys=bulk.Keys.plain(job_secret=key))
    assert len(set(rows_of(bulk.open_dataset("keys"), "sk"))) == 5


def test_public_columns_alone_need_a_job_secret_only(place):
    base = ("keygen", "keys", "--count", 5, "--only", "pk", "--job-secret", "key")
    place(*base)
    assert place(*base, "--resume")["computed_partitions"] == 0


def test_options_and_statuses(place, key):
    pk, _ = polykem.Context().keygen("mlkem512", 6)
    table = pa.table({"device": pa.array([None, *(one.tobytes() for one in pk[1:])], pa.binary()), "id": range(6)})
    pq.write_table(table, "devices.parquet")
    pq.write_table(pa.table({"pk": fixed(pk)}), "others.parquet")
    summary = bulk.run("encaps", **RULE, inputs=["others.parquet", place / "devices.parquet"], output="sent",
                       keys=bulk.Keys.under(key), names={"pk": "2:device"}, keep=["id"], only=["ct", "status"])
    assert summary["statuses"] == {str(int(bulk.RowStatus.MISSING)): 1}
    assert pq.read_table("sent/data").column_names == ["id", "ct", "status"]
    one = bulk.run("encaps", **RULE, inputs=["others.parquet"], output="one", keys=bulk.Keys.under(key),
                   constants={"pk": pk[0].tobytes()})
    assert one["distinct_keys"] == 1


def test_what_is_wrong_is_said(place, key):
    def refused(match, **how):
        with pytest.raises(bulk.BulkError, match=match) as raised:
            bulk.run(**{"operation": "keygen", **RULE, "count": 3, "output": "x", "keys": bulk.Keys.under(key), **how})
        return raised.value.code

    assert refused("Keys.under", keys=key) == 2
    assert refused("whole number", count=1e30) == 2
    assert refused("no operation", operation="keygenerate") == 2
    for wrong in (b"short", "x" * 32, None, bytes(33)):
        with pytest.raises(bulk.BulkError, match="must have 32 bytes"):
            bulk.Keys.under(wrong)
        with pytest.raises(bulk.BulkError, match="must have 32 bytes"):
            bulk.Keys.plain(job_secret=wrong)
    assert not (place / "x").exists()


def test_keys_show_no_secret(key):
    shown = repr(bulk.Keys.under(key)) + str(bulk.Keys.plain(key)) + repr(bulk.Keys.sealed_to(b"public", key))
    assert key.hex() not in shown and repr(key)[2:-1] not in shown and "_key" not in shown


def test_only_what_is_public_is_listed():
    assert set(dir(bulk)) == set(bulk.__all__)
    assert all(getattr(bulk, name).__doc__ for name in bulk.__all__)
