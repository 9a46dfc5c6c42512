# SPDX-License-Identifier: Apache-2.0
"""Tests partitions and records that were exchanged or edited without the job's key, and coins of changed inputs."""

import hashlib
import json
import os
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import data_files, fixed, undisturbed
from test_bulk_jobs import small

import polykem
from polykem.bulk import secrets

KEY = ("--key-file", "key")
PLAIN = ("--plain-secrets", "--job-secret", "key")


def data(job, number):
    return job / f"data/part-{number:06d}.parquet"


def receipt(job, number):
    return job / f"receipts/part-{number:06d}.json"


def edit(path, change):
    """Applies a change to the parsed content of a JSON file."""
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))


@pytest.fixture
def done(place, monkeypatch):
    """Three jobs with partitions of the same sizes: keys, twin and, without protection, plain."""
    small(monkeypatch)
    for name, protection in (("keys", KEY), ("twin", KEY), ("plain", PLAIN)):
        assert place("keygen", name, "--count", 200, "--seeds", *protection)["partitions"] >= 2
    assert place("verify", "keys", *KEY)["authenticated"]
    assert place("verify", "plain", "--job-secret", "key")["complete"]
    return place


def exchange(job, other, one, two):
    """Exchanges files and their entries in receipts and manifests, as somebody without a key can."""
    paths = [(job, one), (other, two)]
    sums = [(json.loads(receipt(*path).read_text())["sha256"], json.loads(receipt(*path).read_text())["bytes"])
            for path in paths]
    contents = [data(*path).read_bytes() for path in paths]
    for path, (sha256, size), content in zip(paths, reversed(sums), reversed(contents)):
        data(*path).write_bytes(content)
        edit(receipt(*path), lambda record: record.update(sha256=sha256, bytes=size))
        edit(path[0] / "manifest.json", lambda record: record["files"][path[1]].update(sha256=sha256, bytes=size))


def found(place, name, says, *protection, expect=1):
    protection = protection or KEY
    place.capfd.readouterr()
    from polykem.bulk import cli
    assert cli.main(["verify", name, *protection]) == expect
    out, err = place.capfd.readouterr()
    assert says in out + err, out + err


@pytest.mark.parametrize("name, protection", [("keys", KEY), ("plain", ("--job-secret", "key"))])
def test_two_partitions_that_changed_places(done, name, protection):
    exchange(done / name, done / name, 0, 1)
    assert done("verify", name, *protection, expect=1)["damaged"] == 2
    assert done("verify", name)["authenticated"] is False  # checksums alone tell nothing


def test_encrypted_columns_are_read_from_their_own_place_only(done):
    export = ("export", "keys", "x", "--plain-secrets", "--column", "seed", *KEY)
    manifest = (done / "keys/manifest.json").read_text()
    exchange(done / "keys", done / "keys", 0, 1)
    assert "is not as the job wrote it" in done(*export, expect=3)["error"]
    (done / "keys/manifest.json").write_text(manifest)
    assert "its place is that of partition" in done(*export, expect=3)["error"]
    data(done / "twin", 0).replace(data(done / "keys", 0))
    assert "of job" in done(*export, expect=3)["error"] and not (done / "x").exists()


def test_a_partition_of_another_job(done):
    exchange(done / "keys", done / "twin", 1, 1)
    assert done("verify", "keys", *KEY, expect=1)["damaged"] == 1
    shutil.copy(receipt(done / "twin", 0), receipt(done / "keys", 0))
    shutil.copy(data(done / "twin", 0), data(done / "keys", 0))
    assert done("verify", "keys", *KEY, expect=1)["damaged"] == 2


def test_an_older_file_with_its_own_receipt_is_not_what_the_manifest_names(done):
    """An older file and receipt, which the job wrote when its input was another one, are not accepted."""
    from polykem.bulk.job import check_secret
    from polykem.bulk.job_folder import Folder
    folder = Folder(done / "keys")
    job = folder.job()
    authority = check_secret(job, secrets.derive(secrets.read_key_file("key"), b"job", job.id.encode()))
    old = data(done / "keys", 0).read_bytes().replace(b"PAR1", b"PAR1", 1)[:-1] + b"2"
    data(done / "keys", 0).write_bytes(old)

    def sign(record):
        record.update(sha256=hashlib.sha256(old).hexdigest())
        record.update(authority.signed("receipt", record))
    edit(receipt(done / "keys", 0), sign)
    found(done, "keys", "the manifest names another file")


@pytest.mark.parametrize("field, value", [("bad_rows", 1), ("host", "nowhere"), ("first_row", 1), ("mac", "00"),
                                          ("mac", None), ("rows", "all"), ("bytes", None)])
def test_an_edited_receipt(done, field, value):
    edit(receipt(done / "keys", 1), lambda record: record.update({field: value}))
    assert done("verify", "keys", *KEY, expect=1)["damaged"] == 1
    assert done("keygen", "keys", "--count", 200, "--seeds", *KEY, "--resume")["computed_partitions"] == 1
    assert done("verify", "keys", *KEY)["complete"]


@pytest.mark.parametrize("change", [{"rows": 100}, {"partition_rows": 1}, {"group_rows": 3}, {"keep": ["x"]},
                                    {"id": "0" * 32}, {"mac": ""}, {"secret_check": "00"}])
def test_an_edited_job(done, change):
    edit(done / "keys/job.json", lambda record: record.update(change))
    command = ("keygen", "keys", "--count", change.get("rows", 200), "--seeds", *KEY, "--resume")
    for arguments in (("verify", "keys", *KEY), ("export", "keys", "x", "--plain-secrets", *KEY), command):
        done(*arguments, expect=3)


def test_an_edited_manifest(done):
    edit(done / "keys/manifest.json", lambda record: record.update(rows=199))
    found(done, "keys", "manifest.json is not as the job wrote it")
    edit(done / "twin/manifest.json", lambda record: record["files"][0].update(name="data/../../secret"))
    assert not done("verify", "twin", expect=1)["complete"]
    done("encaps", "sealed", "--input", "twin", *KEY, expect=3)


def test_a_job_that_has_lost_its_folders(done):
    for name in ("data", "receipts"):
        shutil.rmtree(done / "keys" / name)
    result = done("verify", "keys", *KEY, expect=1)
    assert result["missing"] == result["partitions"] and not result["complete"]
    assert done("keygen", "keys", "--count", 200, "--seeds", *KEY, "--resume")["computed_partitions"] > 1
    assert done("verify", "keys", *KEY)["complete"]


def test_a_file_that_was_added(done):
    shutil.copy(data(done / "twin", 0), done / "keys/data/part-000099.parquet")
    found(done, "keys", "part-000099.parquet is not a file of this job")


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"schema": "polykem-bulk-job-2"}', "\xff"])
def test_what_is_no_job_json(done, text):
    (done / "keys/job.json").write_bytes(text.encode("latin-1"))
    done("verify", "keys", expect=3)


@pytest.mark.parametrize("change", [{"partition_rows": 0}, {"rows": 10**30}, {"rows": 1.5}, {"secrets": []},
                                    {"reads": 3}, {"writes": [{"role": 1, "name": "pk", "width": "x"}]}, {"id": 3}])
def test_a_job_json_of_other_types(done, change):
    edit(done / "keys/job.json", lambda record: record.update(change))
    assert "does not describe a bulk job" in done("verify", "keys", expect=3)["error"]


def test_a_job_of_the_former_version(done):
    edit(done / "keys/job.json", lambda record: (record.update(schema="polykem-bulk-job-1"), record.pop("mac")))
    for arguments in (("verify", "keys"), ("encaps", "sealed", "--input", "keys", *KEY),
                      ("keygen", "keys", "--count", 200, "--seeds", *KEY, "--resume")):
        assert "earlier version" in done(*arguments, expect=3)["error"]


def test_the_recipient_of_a_job_and_its_secret_verify_it(place):
    pytest.importorskip("polykem.hpke")
    place("new-pair", "archive")
    place("keygen", "keys", "--count", 20, "--to", "archive.pub", "--job-secret", "key")
    for protection in (("--private", "archive"), ("--job-secret", "key")):
        assert place("verify", "keys", *protection)["authenticated"]
    place("new-key", "other")
    assert "job secret" in place("verify", "keys", "--job-secret", "other", expect=3)["error"]


def shared_secret(coins, public_key):
    """Returns K of ML-KEM.Encaps_internal [FIPS203, algorithm 17]."""
    return hashlib.sha3_512(coins.tobytes() + hashlib.sha3_256(public_key.tobytes()).digest()).digest()[:32]


def test_another_public_key_takes_other_coins(place, monkeypatch):
    """If row 2 becomes an attacker's key, with size and time kept, its partition is computed with other coins."""
    context = polykem.Context(threads=1)
    pk, stranger = (context.keygen("mlkem768", 4).pk.copy() for _ in range(2))

    def write(keys):
        pq.write_table(pa.table({"pk": fixed(keys)}), "in.parquet", compression="none", use_dictionary=False,
                       write_statistics=False)
    write(pk)
    times = os.stat("in.parquet")
    draw, drawn = secrets.coins, []

    def watched(*arguments):
        drawn.append(draw(*arguments))
        return drawn[-1].copy()  # the worker wipes its own
    monkeypatch.setattr(secrets, "coins", watched)
    command = ("encaps", "out", "--input", "in.parquet", *KEY)
    place(*command)
    (first,) = place.columns("out", "ss", key="key")
    before = data_files("out")
    os.unlink("out/receipts/part-000000.json")
    place(*command, "--resume")
    assert data_files("out") == before  # the same input: the same bytes
    honest = pk[2].copy()
    pk[2] = stranger[2]
    write(pk)
    os.utime("in.parquet", ns=(times.st_atime_ns, times.st_mtime_ns))
    os.unlink("out/receipts/part-000000.json")
    place(*command, "--resume")
    second, = place.columns("out", "ss", key="key")
    assert shared_secret(drawn[0][2], pk[2]) != first[2].tobytes() == shared_secret(drawn[0][2], honest)
    assert second[2].tobytes() == shared_secret(drawn[-1][2], pk[2])
    assert not (drawn[0] == drawn[-1]).all(axis=1).any() and not (first == second).all(axis=1).any()


OPERATIONS = {"encaps": {"pk": 8}, "seal": {"pk": 8, "plaintext": 4}, "rewrap": {"sk": 8, "ciphertext": 4}}


@pytest.mark.parametrize("operation, inputs", OPERATIONS.items())
def test_coins_depend_on_all_that_is_read(operation, inputs):
    from polykem.bulk import messages
    read = {role: np.zeros((2, width), np.uint8) for role, width in inputs.items()}
    kinds = [read]
    for role in read:
        kinds.append({**read, role: read[role] + np.array([[0], [1]], np.uint8)})
    drawn = [secrets.coins(bytes(32), "job", 0, 2, 32, messages.digest_of(one)) for one in kinds]
    assert not any((one == drawn[0]).all(axis=1).any() for one in drawn[1:])


def test_coins_depend_on_kept_columns(place, monkeypatch):
    """Other devices get other keys, although keygen reads nothing else."""
    def write(names):
        pq.write_table(pa.table({"name": names}), "devices.parquet", write_statistics=False)  # the same footer
    command = ("keygen", "keys", "--input", "devices.parquet", "--keep", "name", *KEY)
    write(["a", "b", "c"])
    times = os.stat("devices.parquet")
    place(*command)
    first, = place.columns("keys", "pk")
    assert undisturbed(place, "keys", *command[:1], *command[2:]) == data_files("keys")
    write(["a", "b", "d"])
    os.utime("devices.parquet", ns=(times.st_atime_ns, times.st_mtime_ns))
    os.unlink("keys/receipts/part-000000.json")
    place(*command, "--resume")
    assert not (place.columns("keys", "pk")[0] == first).all(axis=1).any()
