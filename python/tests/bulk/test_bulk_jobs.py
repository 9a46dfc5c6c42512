# SPDX-License-Identifier: Apache-2.0
"""Tests small jobs of each kind, without Ray: the files that they write, and that these are right."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import array_of, data_files, fixed, undisturbed

import polykem
from polykem.bulk import describe

KEY = ("--key-file", "key")


def small(monkeypatch, bytes_of_a_partition=200_000):
    """Makes partitions and row groups of a few rows, whatever --partition-mb says."""
    monkeypatch.setattr("polykem.bulk.job.rows_of_a_partition", lambda row, *_: (
        max(1, bytes_of_a_partition // row), max(1, bytes_of_a_partition // 3 // row)))


@pytest.mark.parametrize("scheme", ["mlkem768", "ntruhps2048509", "frodokem640aes"])
def test_a_round_of_three_jobs(place, monkeypatch, scheme):
    small(monkeypatch)
    rows = 150
    assert place("keygen", "keys", "--scheme", scheme, "--count", rows, *KEY)["rows"] == rows
    place("encaps", "sealed", "--scheme", scheme, "--input", "keys", *KEY)
    summary = place("decaps", "opened", "--scheme", scheme, "--input", "keys", "--input", "sealed",
                    "--input-key", "key", *KEY)
    assert summary["partitions"] > 1 and summary["bad_rows"] == 0
    pk, sk = place.columns("keys", "pk", "sk", key="key")
    ct, ss = place.columns("sealed", "ct", "ss", key="key")
    again, = place.columns("opened", "ss", key="key")
    assert np.array_equal(ss, again)
    assert len(np.unique(pk, axis=0)) == len(np.unique(sk, axis=0)) == len(np.unique(ss, axis=0)) == rows
    direct = polykem.Context().decaps(scheme, sk, ct)
    assert np.array_equal(np.asarray(direct.ss), ss)


def test_keygen_keeps_the_identities_of_its_input(place):
    names = [f"device-{i}" for i in range(10)]
    pq.write_table(pa.table({"name": names}), "devices.parquet")
    place("keygen", "keys", "--input", "devices.parquet", "--keep", "name", *KEY)
    table = pq.read_table("keys/data")
    assert table.column("name").to_pylist() == names and table.column_names == ["name", "pk", "sk"]


def test_seeds_make_the_same_keys(place):
    place("keygen", "keys", "--count", 20, "--seeds", *KEY)
    pk, seeds = place.columns("keys", "pk", "seed", key="key")
    assert seeds.shape == (20, 64)
    pairs = polykem.Context().keygen("mlkem768", 20, coins=seeds)
    assert np.array_equal(pairs.pk, pk)
    place("encaps", "sealed", "--input", "keys", *KEY)
    place("decaps", "opened", "--input", "keys", "--input", "sealed", "--seeds", "--input-key", "key", *KEY)
    assert np.array_equal(*(place.columns(job, "ss", key="key")[0] for job in ("sealed", "opened")))


def test_one_key_for_all_rows(place):
    pk, sk = polykem.Context().keygen("mlkem768", 1)
    (place / "pk").write_bytes(pk.tobytes())
    (place / "sk").write_bytes(bytes(memoryview(sk).cast("B")))
    pq.write_table(pa.table({"n": range(30)}), "crowd.parquet")
    place("encaps", "sealed", "--input", "crowd.parquet", "--one", "pk=pk", *KEY)
    place("decaps", "opened", "--input", "sealed", "--one", "sk=sk", *KEY)
    ss, again = (place.columns(job, "ss", key="key")[0] for job in ("sealed", "opened"))
    assert np.array_equal(ss, again) and len(np.unique(ss, axis=0)) == 30


def test_arrow_files_and_renamed_columns(place):
    pk, _ = polykem.Context().keygen("mlkem512", 25)
    table = pa.table({"device_key": fixed(pk)})
    with pa.OSFile("keys.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=10)
    place("encaps", "sealed", "--scheme", "mlkem512", "--input", "keys.arrow", "--column", "pk=device_key", *KEY)
    assert len(place.columns("sealed", "ct")[0]) == 25


def test_bad_rows_have_a_status_and_an_exit_code(place):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    pk[3] = 255
    pq.write_table(pa.table({"pk": fixed(pk)}), "keys.parquet")
    summary = place("encaps", "sealed", "--input", "keys.parquet", *KEY, expect=3)
    assert summary["bad_rows"] == 1
    status, ct = place.columns("sealed", "status", "ct")
    assert status.tolist() == [0, 0, 0, int(polykem.Status.PUBLIC_KEY), 0]
    assert not ct[3].any() and ct[2].any()


def test_only_some_columns(place):
    place("keygen", "keys", "--count", 10, "--only", "pk", *KEY)
    assert pq.read_table("keys/data").column_names == ["pk"]


def test_the_same_job_writes_the_same_bytes_and_another_does_not(place, monkeypatch):
    small(monkeypatch)
    command = ("keygen", "--count", 200, *KEY)
    place(command[0], "one", *command[1:])
    place(command[0], "two", *command[1:])
    assert data_files("one") == undisturbed(place, "one", *command)
    assert not set(data_files("one").values()) & set(data_files("two").values())


def test_coins_depend_on_job_partition_and_row():
    from polykem.bulk import secrets
    one = secrets.coins(bytes(32), "a", 0, 50, 40)
    assert one.shape == (50, 40) and len(np.unique(one, axis=0)) == 50
    assert np.array_equal(one[:7], secrets.coins(bytes(32), "a", 0, 7, 40))
    for other in (secrets.coins(bytes(32), "b", 0, 50, 40), secrets.coins(bytes(32), "a", 1, 50, 40),
                  secrets.coins(bytes([1]) * 32, "a", 0, 50, 40)):
        assert not (one == other).all(axis=1).any()


def test_the_manifest_names_every_file(place, monkeypatch):
    import hashlib
    small(monkeypatch)
    place("keygen", "keys", "--count", 200, *KEY)
    manifest = json.loads((place / "keys/manifest.json").read_text())
    assert manifest["complete"] and manifest["rows"] == 200 == sum(file["rows"] for file in manifest["files"])
    for file in manifest["files"]:
        data = (place / "keys" / file["name"]).read_bytes()
        assert len(data) == file["bytes"] and hashlib.sha256(data).hexdigest() == file["sha256"]
    assert len(manifest["files"]) == len(data_files("keys")) > 1


def test_partitions_are_sized_in_bytes():
    job = describe("keygen", "mlkem768", rows=10**9, partition_bytes=256 << 20, group_bytes=16 << 20)
    width = 1184 + 2400
    assert job.partition_rows * width <= 256 << 20 < (job.partition_rows + 1) * width
    assert job.group_rows * width <= 16 << 20
    assert sum(job.span(partition)[1] for partition in (0, job.partitions - 1)) \
        + (job.partitions - 2) * job.partition_rows == 10**9


def test_columns_are_of_fixed_width(place):
    place("keygen", "keys", "--count", 10, *KEY)
    schema = pq.read_schema("keys/data/part-000000.parquet")
    assert schema.field("pk").type == pa.binary(1184) and schema.field("sk").type == pa.binary(2400)
    assert array_of(pq.read_table("keys/data"), "pk").shape == (10, 1184)
