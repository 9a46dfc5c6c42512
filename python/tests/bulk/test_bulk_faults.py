# SPDX-License-Identifier: Apache-2.0
"""Tests faults: their messages and exit codes, and that nothing is lost."""

import errno
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import data_files, fixed, undisturbed
from test_bulk_jobs import small

import polykem
from polykem.bulk import job_folder

KEY = ("--key-file", "key")


def keygen(place, name, *options, **how):
    return place("keygen", name, "--count", 200, *KEY, *options, **how)


@pytest.fixture
def done(place, monkeypatch):
    """A complete job of several partitions."""
    small(monkeypatch)
    assert keygen(place, "keys")["partitions"] == 4
    return place


def refused(place, *arguments, code, says):
    error = place(*arguments, expect=code)
    assert error["exit_code"] == code and says in error["error"] + error["hint"], error


def test_wrong_inputs_are_named(place):
    pk, _ = polykem.Context().keygen("mlkem768", 4)
    pq.write_table(pa.table({"pk": fixed(pk), "free": ["a", "bb", "c", "d"]}), "keys.parquet")
    pq.write_table(pa.table({"ct": fixed(pk)}), "ct.parquet")
    pq.write_table(pa.table({"other": fixed(pk[:2])}), "two.parquet")
    (place / "text.parquet").write_text("no parquet")
    (place / "empty").mkdir()

    def encaps(*arguments, **how):
        refused(place, "encaps", "out", *arguments, *KEY, **how)

    encaps("--input", "ct.parquet", code=3, says="the inputs have ct")
    encaps("--input", "keys.parquet", "--column", "pk=free", code=3, says="is string, but the operation reads bytes")
    encaps("--input", "keys.parquet", "--scheme", "mlkem512", code=3, says="has 1184 bytes a row")
    encaps("--input", "keys.parquet", "--scheme", "mlkem786", code=2, says="mlkem768")
    encaps("--input", "keys.parquet", "--input", "two.parquet", code=3, says="different numbers of rows")
    encaps("--input", "keys.parquet", "--keep", "nothing", code=3, says="no input has a column 'nothing'")
    encaps("--input", "keys.parquet", "--keep", "pk", "--only", "sk", code=2, says="it writes ct, ss, status")
    encaps("--input", "text.parquet", code=3, says="cannot be read")
    encaps("--input", "empty", code=3, says="holds no file")
    encaps("--input", "nowhere", code=5, says="no dataset")
    assert not (place / "out").exists()
    refused(place, "keygen", "x", *KEY, code=2, says="--count")
    refused(place, "keygen", "x", "--count", "0", *KEY, code=2, says="not a whole number from 1")
    refused(place, "keygen", "x", "--count", 5, *KEY, "--backend", "abacus", code=4, says="abacus")


def test_a_secret_column_is_not_kept(done):
    refused(done, "encaps", "out", "--input", "keys", "--keep", "sk", *KEY, code=2, says="in plain")


def test_folders_that_cannot_be_written(place, monkeypatch):
    (place / "file").write_text("x")
    refused(place, "keygen", "file", "--count", 5, *KEY, code=5, says="not a folder")
    refused(place, "keygen", "file/below", "--count", 5, *KEY, code=5, says="file/below")
    (place / "full").mkdir()
    (place / "full/precious").write_text("x")
    refused(place, "keygen", "full", "--count", 5, *KEY, code=2, says="other files")

    def forbidden(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.mkdir", forbidden)
        error = place("keygen", "new", "--count", 5, *KEY, expect=5)
    assert "no permission" in error["error"]


def test_a_full_disk_stops_the_job_and_loses_nothing(place, monkeypatch):
    small(monkeypatch)
    whole, written = job_folder.Hashed.write, []

    def fill(self, data):
        if len(written) > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(len(data))
        return whole(self, data)
    monkeypatch.setattr(job_folder.Hashed, "write", fill)
    refused(place, "keygen", "keys", "--count", 2000, *KEY, code=5, says="is full")
    committed = len(list((place / "keys/receipts").iterdir()))
    assert 0 < committed < 36 and not list((place / "keys/tmp").iterdir())
    monkeypatch.setattr(job_folder.Hashed, "write", whole)
    summary = place("keygen", "keys", "--count", 2000, *KEY, "--resume")
    assert summary["computed_partitions"] == summary["partitions"] - committed
    assert data_files("keys") == undisturbed(place, "keys", "keygen", "--count", 2000, *KEY)


def test_a_job_that_does_not_fit_is_not_begun(place, monkeypatch):
    monkeypatch.setattr(job_folder.Folder, "free_bytes", lambda self: 10**6)
    refused(place, "keygen", "keys", "--count", 1000, *KEY, code=5, says="needs 0.0 GB")


def test_resume_does_only_what_is_missing(done):
    before = {path: path.stat().st_mtime_ns for path in (done / "keys/data").iterdir()}
    (done / "keys/receipts/part-000002.json").unlink()
    (done / "keys/tmp").mkdir()
    (done / "keys/tmp/part-000001.parquet.123.tmp").write_text("half")
    summary = keygen(done, "keys", "--resume")
    assert summary["computed_partitions"] == 1
    changed = [path.name for path, time in before.items() if path.stat().st_mtime_ns != time]
    assert changed == ["part-000002.parquet"]
    assert keygen(done, "keys", "--resume")["computed_partitions"] == 0


@pytest.mark.parametrize("harm", ["flip", "cut", "lose"])
def test_a_corrupted_partition_is_noticed_and_computed_again(done, harm):
    good, path = data_files("keys"), done / "keys/data/part-000001.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    if harm == "lose":
        path.unlink()
    else:
        path.write_bytes(data if harm == "flip" else data[:-5])
    found = done("verify", "keys", expect=1)
    assert (found["good"], found["damaged"] + found["missing"], found["complete"]) == (3, 1, False)
    if harm == "flip":
        assert keygen(done, "keys", "--quick-resume")["computed_partitions"] == 0  # sizes do not show it
    assert keygen(done, "keys", "--resume")["computed_partitions"] == 1
    assert data_files("keys") == good and done("verify", "keys", *KEY)["complete"]


def test_a_damaged_input_stops_the_job_that_reads_it(done):
    path = done / "keys/data/part-000001.parquet"
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    refused(done, "encaps", "sealed", "--input", "keys", *KEY, code=3, says="damaged")


@pytest.mark.parametrize("checksums", [True, False])
def test_a_flipped_bit_of_a_foreign_input(place, checksums):
    """A flipped bit is noticed if the writer gave pages checksums, and only then, as docs/bulk.md says."""
    pk, _ = polykem.Context(threads=1).keygen("mlkem768", 5)
    pq.write_table(pa.table({"pk": fixed(pk)}), "keys.parquet", compression="none", use_dictionary=False,
                   write_statistics=False, write_page_checksum=checksums)
    data = bytearray((place / "keys.parquet").read_bytes())
    data[data.index(pk[3].tobytes()) + 1183] ^= 1  # in rho, which may be anything
    (place / "keys.parquet").write_bytes(data)
    if checksums:
        refused(place, "encaps", "sealed", "--input", "keys.parquet", *KEY, code=3, says="is damaged")
    else:
        assert place("encaps", "sealed", "--input", "keys.parquet", *KEY)["bad_rows"] == 0


def test_an_input_that_changed_is_another_job(place):
    def write(rows):
        pk, _ = polykem.Context().keygen("mlkem768", rows)
        pq.write_table(pa.table({"pk": fixed(pk)}), "keys.parquet")
    write(5)
    place("encaps", "sealed", "--input", "keys.parquet", *KEY)
    write(5)
    refused(place, "encaps", "sealed", "--input", "keys.parquet", *KEY, "--resume", code=3,
            says="keys.parquet has ")


def test_another_job_in_the_folder(done):
    refused(done, "keygen", "keys", "--count", 200, *KEY, code=2, says="--resume")
    refused(done, "keygen", "keys", "--count", 201, *KEY, "--resume", code=3, says="rows is 200, not 201")
    refused(done, "keygen", "keys", "--count", 200, "--scheme", "mlkem512", *KEY, "--resume", code=3, says="scheme")
    done("new-key", "other")
    refused(done, "keygen", "keys", "--count", 200, "--key-file", "other", "--resume", code=3, says="job secret")
    keygen(done, "twin")
    os.replace("twin/receipts/part-000001.json", "keys/receipts/part-000001.json")
    refused(done, "keygen", "keys", "--count", 200, *KEY, "--resume", code=3, says="another job")


def test_an_unfinished_job_is_no_input(done):
    (done / "keys/manifest.json").unlink()
    refused(done, "encaps", "sealed", "--input", "keys", *KEY, code=3, says="not complete")


def test_two_drivers_do_not_share_a_folder(done):
    with job_folder.Folder("keys").locked():
        refused(done, "keygen", "keys", "--count", 200, *KEY, "--resume", code=5, says="another process")


def test_json_goes_to_a_file_that_does_not_exist(place):
    from polykem.bulk import cli
    command = "keygen keys --count 3 --key-file key --ray none --quiet --json out.json".split()
    assert cli.main(command) == 0
    assert json.loads((place / "out.json").read_text())["rows"] == 3
    command[1] = "again"
    assert cli.main(command) == 2
    assert not (place / "again").exists()
    assert cli.main(["keygen", "--nonsense", "--json", "error.json"]) == 2
    assert json.loads((place / "error.json").read_text())["schema"] == "polykem-error-1"


def test_no_row_is_left_out_when_a_row_group_is_read_in_pieces(done):
    from polykem.bulk import Dataset
    dataset = Dataset("keys")
    whole = np.concatenate([np.frombuffer(value, np.uint8)[None] for value in
                            dataset.read(0, 200, ["pk"]).column("pk").to_pylist()])
    for first, rows in ((0, 1), (17, 60), (50, 150), (199, 1), (54, 2)):
        part = dataset.read(first, rows, ["pk"]).column("pk").to_pylist()
        assert part == [row.tobytes() for row in whole[first:first + rows]]
