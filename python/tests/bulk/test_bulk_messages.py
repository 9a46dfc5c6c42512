# SPDX-License-Identifier: Apache-2.0
"""Tests HPKE jobs: seal, open and rewrap, and jobs whose secrets are protected to a public key."""

import errno
import shutil
import signal
import subprocess
import sys

import numpy as np
import polykem
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import data_files, fixed, undisturbed
from polykem.bulk import job_folder
from test_bulk_jobs import small

hpke = pytest.importorskip("polykem.hpke")

KEY = ("--key-file", "key")
NEW = "MLKEM1024-P384,SHAKE256,ChaCha20Poly1305"
SUITES = ["ML-KEM-768,HKDF-SHA256,AES-256-GCM", "MLKEM768-X25519,SHAKE128,ChaCha20Poly1305"]
OLD = "DHKEM(X25519, HKDF-SHA256),HKDF-SHA256,AES-128-GCM"
ROWS = 60
BOUND = ("--info", "post", "--aad", "1")


@pytest.fixture
def letters(place, monkeypatch):
    """A place with a message of 100 bytes for each of sixty recipients."""
    small(monkeypatch, 40_000)
    text = np.random.default_rng(1).integers(0, 256, (ROWS, 100), np.uint8)
    pq.write_table(pa.table({"plaintext": fixed(text)}), "letters.parquet")
    place.text = text
    return place


def sealed(place, suite):
    place("keygen", "keys", "--suite", suite, "--count", ROWS, *KEY)
    place("seal", "sealed", "--suite", suite, "--input", "keys", "--input", "letters.parquet", *BOUND, *KEY)


@pytest.mark.parametrize("suite,to", [*((suite, NEW) for suite in SUITES), (OLD, "X-Wing,SHAKE256,AES-256-GCM")])
def test_letters_are_sealed_opened_and_wrapped_again(letters, suite, to):
    place = letters
    sealed(place, suite)
    bound = (*BOUND, "--input-key", "key", *KEY)
    summary = place("open", "opened", "--suite", suite, "--input", "keys", "--input", "sealed", *bound)
    assert summary["bad_rows"] == 0
    assert np.array_equal(place.columns("opened", "plaintext", key="key")[0], place.text)
    place("keygen", "new", "--suite", to, "--count", ROWS, *KEY)
    pq.write_table(pq.read_table("new/data", columns=["pk"]).rename_columns(["to_pk"]), "new.parquet")
    summary = place("rewrap", "moved", "--suite", suite, "--to-suite", to, "--input", "keys", "--input", "sealed",
                    "--input", "new.parquet", *bound)
    assert summary["bad_rows"] == 0 and summary["partitions"] > 1
    place("open", "arrived", "--suite", to, "--input", "new", "--input", "moved", *bound)
    assert np.array_equal(place.columns("arrived", "plaintext", key="key")[0], place.text)


@pytest.fixture
def contexts(letters):
    """The same place, with info of six bytes and additional data of nine for each letter."""
    values = np.arange(ROWS * 15, dtype=np.uint32).astype(np.uint8).reshape(ROWS, 15)
    pq.write_table(pa.table({"topic": fixed(values[:, :6]), "aad": fixed(values[:, 6:])}), "contexts.parquet")
    letters.values = values
    return letters


COLUMNS = ("--input", "contexts.parquet", "--column", "info=topic", "--column", "aad=aad")


def test_info_and_additional_data_of_each_row(contexts):
    place, suite = contexts, SUITES[0]
    place("keygen", "keys", "--suite", suite, "--count", ROWS, *KEY)
    seal = ("--suite", suite, "--input", "keys", "--input", "letters.parquet", *COLUMNS, *KEY)
    summary = place("seal", "sealed", *seal)
    assert summary["bad_rows"] == 0 and summary["partitions"] > 1
    again = undisturbed(place, "sealed", "seal", *seal)
    assert again == data_files("sealed")
    with polykem.Context(threads=1) as ctx:
        enc, ciphertext = place.columns("sealed", "enc", "ciphertext")
        opened = hpke.Suite(*suite.split(",")).open(ctx, place.columns("keys", "sk", key="key")[0], enc, ciphertext,
                                                    np.ascontiguousarray(place.values[:, :6]),
                                                    np.ascontiguousarray(place.values[:, 6:]))
    assert opened.plaintexts == place.text
    reading = ("--suite", suite, "--input", "keys", "--input", "sealed", "--input-key", "key", *KEY)
    place("open", "opened", *reading, *COLUMNS)
    assert np.array_equal(place.columns("opened", "plaintext", key="key")[0], place.text)
    place("rewrap", "moved", *reading, *COLUMNS, "--column", "to_pk=1:pk")
    place("open", "others", *reading, "--input", "contexts.parquet", "--column", "info=topic", "--aad", "x", expect=3)
    assert set(place.columns("others", "status")[0].reshape(-1)) == {hpke.ItemStatus.OPEN}


def test_a_resume_with_other_columns_of_info_is_refused(contexts):
    place, suite = contexts, SUITES[0]
    place("keygen", "keys", "--suite", suite, "--count", ROWS, *KEY)
    seal = ("--suite", suite, "--input", "keys", "--input", "letters.parquet", "--input", "contexts.parquet", *KEY)
    place("seal", "sealed", *seal, "--column", "info=topic")
    before = data_files("sealed")
    for other in ((), ("--column", "info=aad"), ("--column", "info=topic", "--column", "aad=aad"), ("--info", "x"),
                  ("--column", "info=topic", "--aad", "x")):
        assert "holds another job: its " in place("seal", "sealed", *seal, *other, "--resume", expect=3)["error"]
    assert data_files("sealed") == before
    both = place("seal", "both", *seal, "--column", "info=topic", "--info", "x", expect=2)
    assert both["error"] == "info is given as one text and as a column"
    (place / "topic").write_bytes(b"one for all")
    place("seal", "one", *seal, "--one", "info=topic")
    place("open", "read", "--suite", suite, "--input", "keys", "--input", "one", "--info", "one for all",
          "--input-key", "key", *KEY)
    assert "reads no column" in place("keygen", "no", "--suite", suite, "--count", 3, "--column", "info=topic", *KEY,
                                      expect=2)["error"]


def test_no_plaintext_reaches_the_disk_and_a_retry_writes_the_same(letters):
    place = letters
    sealed(place, SUITES[0])
    place("open", "opened", "--suite", SUITES[0], "--input", "keys", "--input", "sealed", *BOUND, "--input-key",
          "key", *KEY)
    for job in ("sealed", "opened"):
        assert not any(row[:32].tobytes() in data for data in data_files(job).values() for row in place.text)
    again = undisturbed(place, "sealed", "seal", "--suite", SUITES[0], "--input", "keys", "--input", "letters.parquet",
                        *BOUND, *KEY)
    assert again == data_files("sealed")


def test_what_cannot_be_opened_is_a_bad_row_and_not_sealed_again(letters):
    place, suite = letters, SUITES[0]
    sealed(place, suite)
    table = pq.read_table("sealed/data")
    rows = [bytes(value.as_py()) for value in table.column("ciphertext")]
    rows[7] = rows[7][:-1] + bytes([rows[7][-1] ^ 1])
    bad = {"enc": table.column("enc"), "ciphertext": pa.array(rows, pa.binary(len(rows[0])))}
    pq.write_table(pa.table(bad), "bad.parquet")
    place("rewrap", "moved", "--suite", suite, "--input", "keys", "--input", "bad.parquet", "--column", "to_pk=1:pk",
          *BOUND, "--input-key", "key", *KEY, expect=3)
    status, ciphertext = place.columns("moved", "status", "ciphertext")
    assert np.flatnonzero(status).tolist() == [7] and status[7] == int(hpke.ItemStatus.OPEN)
    assert not ciphertext[7].any() and ciphertext[8].any()


def test_one_message_to_all(letters):
    place, suite = letters, SUITES[1]
    (place / "message").write_bytes(b"to everybody")
    place("keygen", "keys", "--suite", suite, "--count", ROWS, *KEY)
    place("seal", "sealed", "--suite", suite, "--input", "keys", "--one", "plaintext=message", *KEY)
    place("open", "opened", "--suite", suite, "--input", "keys", "--input", "sealed", "--input-key", "key", *KEY)
    assert {row.tobytes() for row in place.columns("opened", "plaintext", key="key")[0]} == {b"to everybody"}


def test_coins_of_a_job_are_bound_to_its_messages(letters, monkeypatch):
    from polykem.bulk import secrets
    drawn, seen = secrets.coins, []
    monkeypatch.setattr(secrets, "coins", lambda *arguments: seen.append(arguments[5]) or drawn(*arguments))
    letters("keygen", "keys", "--suite", SUITES[0], "--count", ROWS, *KEY)
    seen.clear()
    letters("seal", "sealed", "--suite", SUITES[0], "--input", "keys", "--input", "letters.parquet", *KEY)
    assert len(seen) == len(set(seen)) > 1 and all(len(bound) == 32 for bound in seen)


def test_other_messages_take_other_coins(letters):
    from polykem.bulk import messages, secrets
    one = {"pk": np.zeros((2, 8), np.uint8), "plaintext": np.zeros((2, 4), np.uint8)}
    other = {**one, "plaintext": np.ones((2, 4), np.uint8)}
    coins = [secrets.coins(bytes(32), "job", 0, 2, 64, messages.digest_of(inputs)) for inputs in (one, other, one)]
    assert np.array_equal(coins[0], coins[2]) and not (coins[0] == coins[1]).all(axis=1).any()


def test_secrets_that_only_a_private_key_opens(place):
    place("new-pair", "archive")
    place("new-pair", "other")
    protected = ("--to", "archive.pub", "--job-secret", "key")
    place("keygen", "keys", "--count", 30, *protected)
    place("encaps", "sealed", "--input", "keys", *protected)
    assert "encrypted" in place("decaps", "opened", "--input", "keys", "--input", "sealed", *KEY, expect=2)["error"]
    place("decaps", "opened", "--input", "keys", "--input", "sealed", "--input-private", "archive", *KEY)
    error = place("decaps", "again", "--input", "keys", "--input", "sealed", "--input-private", "other", *KEY, expect=3)
    assert "not the one" in error["error"]
    place("export", "sealed", "out.parquet", "--private", "archive", "--plain-secrets")
    ss = np.array([list(value.as_py()) for value in pq.read_table("out.parquet").column("ss")], np.uint8)
    assert np.array_equal(ss, place.columns("opened", "ss", key="key")[0])


def test_suites_that_do_not_exist(letters):
    for suite in ("ML-KEM-768", "ML-KEM-768,HKDF-SHA256,ROT13"):
        assert place_error(letters, suite)["exit_code"] == 2


def test_suites_without_a_cipher_have_keys_only(letters):
    place, export_only = letters, "ML-KEM-768,HKDF-SHA256,Export-only"
    place("keygen", "keys", "--suite", export_only, "--count", ROWS, *KEY)
    error = place_error(place, export_only)
    assert error["exit_code"] == 2 and error["error"] == f"suite '{export_only}' has no cipher for messages"
    sealed_by = ("--input", "keys", "--input", "letters.parquet", *KEY)
    place("seal", "sealed", "--suite", "ML-KEM-768,HKDF-SHA256,AES-128-GCM", *sealed_by)
    error = place("rewrap", "moved", "--suite", "ML-KEM-768,HKDF-SHA256,AES-128-GCM", "--to-suite", export_only,
                  "--input", "keys", "--input", "sealed", "--column", "to_pk=1:pk", "--input-key", "key", *KEY,
                  expect=2)
    assert "has no cipher for messages" in error["error"]


def test_rewrap_to_keys_of_another_suite_asks_for_it(letters):
    place = letters
    sealed(place, OLD)
    place("keygen", "new", "--suite", NEW, "--count", ROWS, *KEY)
    error = place("rewrap", "moved", "--suite", OLD, "--input", "keys", "--input", "sealed", "--input", "new",
                  "--column", "to_pk=3:pk", "--column", "sk=1:sk", *BOUND, "--input-key", "key",
                  *KEY, expect=3)
    assert "column 'pk' has 1665 bytes a row, but the operation needs 32" in error["error"]
    assert error["hint"] == "give the new keys' --to-suite"


def place_error(place, suite):
    return place("seal", "sealed", "--suite", suite, "--input", "letters.parquet", *KEY, expect=2)


# ---- columns of info and additional data: what is wrong with them, and what happens to a job that reads them

# A worker process of polykem-bulk with small partitions, which dies while it writes its second.
KILLED_AFTER_A_PARTITION = """
import os, signal, sys
from pathlib import Path
from polykem.bulk import cli, job, job_folder
job.rows_of_a_partition = lambda row, *_: (max(1, 40_000 // row), max(1, 40_000 // 3 // row))
whole = job_folder.Hashed.write

def die(self, data):
    receipts = Path("job/receipts")
    if receipts.is_dir() and list(receipts.iterdir()):
        os.kill(os.getpid(), signal.SIGKILL)
    return whole(self, data)

job_folder.Hashed.write = die
cli.main(sys.argv[1:])
"""
READING = ("--input", "keys", "--input", "sealed", "--input-key", "key")


@pytest.fixture
def bound(contexts):
    """The place with keys, letters and contexts, and the options that bind letters to these."""
    contexts("keygen", "keys", "--suite", SUITES[0], "--count", ROWS, *KEY)
    contexts.sealing = ("--suite", SUITES[0], "--input", "keys", "--input", "letters.parquet")
    return contexts


def contexts_with(place, **columns):
    """Writes contexts.parquet with other columns, whose values are bytes."""
    table = pq.read_table("contexts.parquet")
    for name, (change, kind) in columns.items():
        values = change([value.as_py() for value in table.column(name)])
        table = table.set_column(table.column_names.index(name), name, pa.array(values, kind))
    pq.write_table(table, "contexts.parquet")


def changed(*changes):
    def change(values):
        for row, value in changes:
            values[row] = value
        return values
    return change


def test_a_row_without_info_or_additional_data_has_a_status(bound):
    place = bound
    contexts_with(place, topic=(changed((0, None), (17, b"")), pa.binary()),
                  aad=(changed((18, None), (59, b"longer than others")), pa.large_binary()))
    summary = place("seal", "sealed", *place.sealing, *COLUMNS, *KEY, expect=3)
    assert summary["statuses"] == {"201": 2, "202": 2} and summary["first_bad_row"] == 0
    sealed = pq.read_table("sealed/data")
    bad = np.flatnonzero(place.columns("sealed", "status")[0])
    assert bad.tolist() == [0, 17, 18, 59]
    for name in ("enc", "ciphertext"):
        assert np.flatnonzero(sealed.column(name).is_null().to_numpy()).tolist() == bad.tolist()
    for job, more in (("open", ()), ("rewrap", ("--column", "to_pk=1:pk"))):
        target = f"{job}-again"
        place(job, target, "--suite", SUITES[0], *READING, *COLUMNS, *more, *KEY, expect=3)
        assert np.flatnonzero(place.columns(target, "status", key="key")[0]).tolist() == bad.tolist()
    plaintext, = place.columns("open-again", "plaintext", key="key")
    assert not plaintext[bad].any()
    assert np.array_equal(np.delete(plaintext, bad, 0), np.delete(place.text, bad, 0))


@pytest.mark.parametrize("role", ["info", "aad"])
def test_columns_of_info_that_cannot_be_used_are_refused(bound, role):
    place = bound
    table = pq.read_table("contexts.parquet")
    more = {"text": pa.array(["topic"] * ROWS), "number": pa.array(range(ROWS)), "empty": pa.array([b""] * ROWS),
            "nothing": pa.nulls(ROWS, pa.binary()), "untyped": pa.nulls(ROWS), "list": pa.array([[b"x"]] * ROWS)}
    for name, column in more.items():
        table = table.append_column(name, column)
    pq.write_table(table, "contexts.parquet")

    def refused(name, code, *says):
        error = place("seal", "no", *place.sealing, "--input", "contexts.parquet", "--column", f"{role}={name}", *KEY,
                      expect=code)
        for part in says:
            assert part in error["error"] + " " + error["hint"], error
    for name, kind in (("text", "string"), ("number", "int64"), ("list", "list")):
        refused(name, 3, f"is {kind}", "reads bytes", "cast it")
    for name in ("empty", "nothing", "untyped"):
        refused(name, 3, "no value whose length")
    refused("absent", 3, "no input has a column 'absent'", "topic")
    refused("2:topic", 3, "input 2", "letters.parquet", "has no column 'topic'", "it has plaintext")
    refused("4:topic", 2, "names input 4, but there are 3")
    letters = pq.read_table("letters.parquet")
    pq.write_table(letters.append_column("topic", table.column("topic")), "letters.parquet")
    refused("topic", 2, "several inputs have a column 'topic'", f"--column {role}=2:topic or --column {role}=3:topic")
    assert not (place / "no").exists()


def test_a_file_without_the_column_of_info_is_refused(bound):
    place = bound
    table = pq.read_table("contexts.parquet")
    (place / "split").mkdir()
    pq.write_table(table.slice(0, 40), "split/a.parquet")
    pq.write_table(table.slice(40).drop_columns(["topic"]), "split/b.parquet")
    error = place("seal", "no", *place.sealing, "--input", "split", "--column", "info=topic", *KEY, expect=3)
    assert "b.parquet" in error["error"] and not (place / "no").exists()
    pq.write_table(table.slice(40), "split/b.parquet")
    place("seal", "sealed", *place.sealing, "--input", "split", "--column", "info=topic", *KEY)
    place("open", "opened", "--suite", SUITES[0], *READING, "--input", "contexts.parquet", "--column", "info=topic",
          *KEY)
    assert np.array_equal(place.columns("opened", "plaintext", key="key")[0], place.text)


@pytest.mark.parametrize("operation", ["seal", "open", "rewrap"])
def test_a_job_with_columns_of_info_survives_a_full_disk(bound, monkeypatch, operation):
    place = bound
    contexts_with(place, topic=(changed((3, None)), pa.binary(6)))
    arguments = (operation, "job", *place.sealing, *COLUMNS, *KEY)
    if operation != "seal":
        place("seal", "sealed", *place.sealing, *COLUMNS, *KEY, expect=3)
        more = ("--column", "to_pk=1:pk") if operation == "rewrap" else ()
        arguments = (operation, "job", "--suite", SUITES[0], *READING, *COLUMNS, *more, *KEY)
    whole, written = job_folder.Hashed.write, []

    def fill(self, data):
        if (place / "job/receipts").is_dir() and list((place / "job/receipts").iterdir()):
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(len(data))
        return whole(self, data)
    with monkeypatch.context() as patched:
        patched.setattr(job_folder.Hashed, "write", fill)
        assert "is full" in place(*arguments, expect=5)["error"]
    assert written and not list((place / "job/tmp").iterdir())
    summary = place(*arguments, "--resume", expect=3)
    assert 0 < summary["computed_partitions"] < summary["partitions"] and summary["statuses"] == {"201": 1}
    other = place / "undisturbed"
    other.mkdir()
    shutil.copy("job/job.json", other)
    place(operation, other, *arguments[2:], "--resume", expect=3)
    assert data_files("job") == data_files(other)


def test_a_killed_job_with_columns_of_info_is_resumed(bound):
    place = bound
    arguments = ("seal", "job", *place.sealing, *COLUMNS, *KEY)
    killed = subprocess.run([sys.executable, "-c", KILLED_AFTER_A_PARTITION, *map(str, arguments), "--ray", "none"],
                            capture_output=True, text=True, timeout=120)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    committed = len(list((place / "job/receipts").iterdir()))
    summary = place(*arguments, "--resume")
    assert 0 < committed == summary["partitions"] - summary["computed_partitions"] < summary["partitions"]
    assert data_files("job") == undisturbed(place, "job", *arguments[:1], *arguments[2:])
