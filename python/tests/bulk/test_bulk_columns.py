# SPDX-License-Identifier: Apache-2.0
"""Tests which columns of which inputs a job reads, and how it treats their values."""

import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import fixed
from known_answers import ROOT
from test_bulk_jobs import small

import polykem
from polykem.bulk import BulkError, cli, distinct, open_dataset, read_key_file, values

KEY = ("--key-file", "key")
SUITE = ("--suite", "ML-KEM-768,HKDF-SHA256,AES-256-GCM")
ROWS = 40


def refused(place, *arguments, code=2, says=()):
    error = place(*arguments, expect=code)
    text = error["error"] + " " + error["hint"]
    for part in says:
        assert part in text, text


def hpke_place(place, monkeypatch):
    """A place with old and new keys, and letters that were sealed to the old ones."""
    pytest.importorskip("polykem.hpke")
    small(monkeypatch, 60_000)
    text = np.random.default_rng(7).integers(0, 256, (ROWS, 32), np.uint8)
    pq.write_table(pa.table({"plaintext": fixed(text), "id": pa.array(range(ROWS))}), "letters.parquet")
    for name in ("old", "new"):
        place("keygen", name, *SUITE, "--count", ROWS, *KEY)
    place("seal", "sent", *SUITE, "--input", "old", "--input", "letters.parquet", "--keep", "id", *KEY)
    return text


def rewrap(place, target, *options, **how):
    return place("rewrap", target, *SUITE, "--input", "old", "--input", "sent", "--input", "new", "--input-key", "key",
                 *options, *KEY, **how)


def opened_with(place, keys, sealed):
    place("open", f"{keys}-{sealed}", *SUITE, "--input", keys, "--input", sealed, "--input-key", "key", *KEY)
    return place.columns(f"{keys}-{sealed}", "plaintext", key="key")[0]


def test_a_rotation_seals_to_the_new_keys(place, monkeypatch):
    text = hpke_place(place, monkeypatch)
    summary = rewrap(place, "moved", "--column", "sk=1:sk", "--column", "to_pk=3:pk", "--keep", "2:id")
    assert (summary["distinct_keys"], summary["more_keys"], summary["partitions"] > 1) == (ROWS, False, True)
    assert np.array_equal(opened_with(place, "new", "moved"), text)
    assert place("open", "no", *SUITE, "--input", "old", "--input", "moved", "--input-key", "key", *KEY,
                 expect=3)["bad_rows"] == ROWS
    assert pq.read_table("moved/data").column("id").to_pylist() == list(range(ROWS))


def test_a_name_of_several_inputs_is_refused(place, monkeypatch):
    hpke_place(place, monkeypatch)

    def no(*options, **how):
        refused(place, "rewrap", "no", *SUITE, "--input", "old", "--input", "sent", "--input", "new", "--input-key",
                "key", *options, *KEY, **how)

    no("--column", "to_pk=pk", says=["several inputs have a column 'sk'", f"1 ({place / 'old'})",
                                     f"3 ({place / 'new'})", "--column sk=1:sk or --column sk=3:sk"])
    no("--column", "to_pk=pk", "--column", "sk=1:sk", says=["'pk'", "--column to_pk=1:pk or --column to_pk=3:pk"])
    sk = ("--column", "sk=1:sk", "--column", "to_pk=3:pk")
    no(*sk, "--keep", "pk", says=["--keep 1:pk or --keep 3:pk"])
    no("--column", "sk=4:sk", says=["names input 4, but there are 3", "counted from 1"])
    no("--column", "sk=0:sk", says=["names input 0"])
    no("--column", "sk=2:sk", code=3, says=["has no column 'sk'", "it has"])
    no(*sk, "--column", "to_pk=1:pk", says=["more than once"])
    no(*sk, "--one", "to_pk=key", says=["not both"])
    assert not (place / "no").exists()


def test_new_keys_are_not_taken_from_the_old_by_accident(place, monkeypatch):
    text = hpke_place(place, monkeypatch)
    two = ("rewrap", "moved", *SUITE, "--input", "old", "--input", "sent", "--input-key", "key", *KEY)
    refused(place, *two, "--column", "to_pk=pk", says=["which has the old secret keys too", "--column to_pk=1:pk"])
    place(*two, "--column", "to_pk=1:pk")
    assert np.array_equal(opened_with(place, "old", "moved"), text)


def test_the_summary_counts_distinct_keys(place, monkeypatch, capfd):
    small(monkeypatch)
    pk, _ = polykem.Context().keygen("mlkem768", 3)
    crowd = pk[np.arange(300) % 3]
    crowd[7] = 255  # malformed: encapsulated to nobody
    pq.write_table(pa.table({"pk": fixed(crowd)}), "crowd.parquet")
    summary = place("encaps", "sent", "--input", "crowd.parquet", *KEY, expect=3)
    assert summary["partitions"] > 1 and summary["distinct_keys"] == 3
    (place / "sent/receipts/part-000000.json").unlink()
    assert place("encaps", "sent", "--input", "crowd.parquet", *KEY, "--resume", expect=3)["distinct_keys"] == 3
    (place / "one").write_bytes(pk[0].tobytes())
    assert place("encaps", "all", "--input", "crowd.parquet", "--one", "pk=one", *KEY)["distinct_keys"] == 1
    assert "distinct_keys" not in place("keygen", "keys", "--count", 3, *KEY)
    assert cli.main("encaps again --input keys --key-file key --ray none".split()) == 0
    assert re.search(r"distinct public keys\W+3\b", capfd.readouterr().out)


def test_the_count_of_distinct_keys_is_bounded(monkeypatch):
    monkeypatch.setattr(distinct, "LIMIT", 10)
    rows = np.arange(11, dtype=np.uint8).repeat(20).reshape(11, 20)
    few, many, other = distinct.Distinct(), distinct.Distinct(), distinct.Distinct()
    few.add(rows[:10])
    many.add(rows)
    other.add(rows[5:])
    assert distinct.in_words(few.summary()) == "10" and distinct.in_words(many.summary()) == "more than 10"
    assert not many.digests and many.receipt()["digests"] == ""
    together = distinct.of_receipts([{"keys": part.receipt()} for part in (few, few)])
    assert together == {"distinct_keys": 10, "more_keys": False}
    for parts in ((few, other), (few, many), (many, few)):
        assert distinct.of_receipts([{"keys": part.receipt()} for part in parts])["more_keys"]


@pytest.mark.parametrize("width", [8, 20, 1184])
def test_keys_that_differ_in_one_byte_are_distinct(width):
    same = np.tile(np.arange(width, dtype=np.uint8), (3000, 1))
    same[5::7, -1] ^= 1
    same[2900, width // 2] ^= 1
    counted = distinct.Distinct()
    counted.add(same)
    assert counted.summary()["distinct_keys"] == 3


def test_the_rotation_of_the_page_is_one(place):
    page = ROOT / "docs" / "bulk.md"
    if not page.exists():
        pytest.skip("the pages are not here")
    pytest.importorskip("polykem.hpke")
    text = np.random.default_rng(7).integers(0, 256, (1000, 32), np.uint8)
    pq.write_table(pa.table({"plaintext": fixed(text)}), "letters.parquet")
    block = next(block for block in re.findall(r"^```\n(.*?)^```$", page.read_text(), re.M | re.S) if "rewrap" in block)
    for line in block.replace("\\\n", " ").splitlines():
        program, *arguments = shlex.split(line)
        assert program == "polykem-bulk"
        summary = place(*arguments)
    assert summary["operation"] == "open" and summary["bad_rows"] == 0
    assert np.array_equal(place.columns("read", "plaintext", key="key")[0], text)
    assert json.loads((place / "re/job.json").read_text())["reads"][3]["source"] == 3


def holes(pk, kind):
    """Returns keys in a column of an Arrow type, the second without a value."""
    return pa.array([None if row == 1 else key.tobytes() for row, key in enumerate(pk)], kind)


@pytest.mark.parametrize("kind", ["fixed", "binary", "large_binary", "dictionary", "view"])
def test_a_row_without_a_value_has_a_status(place, monkeypatch, kind):
    small(monkeypatch, 30_000)
    if kind == "view" and not hasattr(pa, "binary_view"):
        pytest.skip("this pyarrow has no views")
    pk, sk = polykem.Context().keygen("mlkem768", ROWS)
    column = holes(pk, {"fixed": pa.binary(1184), "large_binary": pa.large_binary()}.get(kind, pa.binary()))
    if kind in ("dictionary", "view"):
        column = column.dictionary_encode() if kind == "dictionary" else column.cast(pa.binary_view())
    table = pa.table({"pk": column, "id": range(ROWS)})
    with pa.OSFile("keys.arrow", "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    summary = place("encaps", "sent", "--input", "keys.arrow", "--keep", "id", *KEY, expect=3)
    assert summary["statuses"] == {"201": 1} and summary["bad_rows"] == 1 and summary["first_bad_row"] == 1
    assert summary["partitions"] > 1 and summary["distinct_keys"] == ROWS - 1
    rows = pq.read_table("sent/data")
    assert rows.column("status").to_pylist() == [0, 201, *[0] * (ROWS - 2)]
    assert rows.column("ct").is_null().to_pylist() == [row == 1 for row in range(ROWS)]
    assert rows.column("id").to_pylist() == list(range(ROWS))
    ct, ss = place.columns("sent", "ct", "ss", key="key")
    good = np.arange(ROWS) != 1
    assert np.array_equal(np.asarray(polykem.Context().decaps("mlkem768", np.asarray(sk)[good], ct[good]).ss), ss[good])
    assert not ss[1].any()
    assert place("encaps", "sent", "--input", "keys.arrow", "--keep", "id", *KEY, "--resume",
                 expect=3)["computed_partitions"] == 0


def test_a_value_of_another_length_has_a_status(place):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    values = [key.tobytes() for key in pk]
    values[1], values[2], values[4] = values[1][:-1], values[2] + b"x", b""
    pq.write_table(pa.table({"pk": pa.array(values, pa.binary())}), "keys.parquet")
    summary = place("encaps", "sent", "--input", "keys.parquet", *KEY, expect=3)
    assert place.columns("sent", "status")[0].tolist() == [0, 202, 202, 0, 202]
    assert summary["statuses"] == {"202": 3}
    pq.write_table(pa.table({"pk": pa.array([values[1], None], pa.binary())}), "none.parquet")
    assert place("encaps", "none", "--input", "none.parquet", *KEY, expect=3)["statuses"] == {"201": 1, "202": 1}


def test_a_row_that_an_earlier_job_could_not_compute_is_missing(place):
    """Its zeros are not decapsulated, to a secret that nobody has, and a zero plaintext is not sealed as a message."""
    pk, sk = polykem.Context().keygen("mlkem768", 4)
    table = pa.table({"pk": holes(pk, pa.binary()), "sk": fixed(np.asarray(sk))})
    pq.write_table(table, "keys.parquet")
    place("encaps", "sent", "--input", "keys.parquet", *KEY, expect=3)
    place("decaps", "got", "--input", "keys.parquet", "--input", "sent", *KEY, expect=3)
    assert place.columns("got", "status")[0].tolist() == [0, 201, 0, 0]
    place("encaps", "bare", "--input", "keys.parquet", "--only", "ct", *KEY, expect=3)
    assert place("decaps", "gone", "--input", "keys.parquet", "--input", "bare", *KEY, expect=3)["first_bad_row"] == 1


def test_a_plaintext_that_did_not_open_is_not_sealed(place, monkeypatch):
    text = hpke_place(place, monkeypatch)
    table = pq.read_table("sent/data")
    rows = [value.as_py() for value in table.column("ciphertext")]
    rows[3] = None
    pq.write_table(pa.table({"enc": table.column("enc"), "ciphertext": pa.array(rows, pa.binary())}), "bad.parquet")
    place("open", "read", *SUITE, "--input", "old", "--input", "bad.parquet", "--input-key", "key", *KEY, expect=3)
    plaintext, status = place.columns("read", "plaintext", "status", key="key")
    assert np.flatnonzero(status).tolist() == [3] and not plaintext[3].any()
    assert np.array_equal(np.delete(plaintext, 3, 0), np.delete(text, 3, 0))
    place("seal", "again", *SUITE, "--input", "new", "--input", "read", "--input-key", "key", *KEY, expect=3)
    status, = place.columns("again", "status")
    assert np.flatnonzero(status).tolist() == [3] and status[3] == 201


def test_messages_in_a_column_without_a_width(place):
    pytest.importorskip("polykem.hpke")
    place("keygen", "keys", *SUITE, "--count", 4, *KEY)
    pq.write_table(pa.table({"plaintext": pa.array([None, b"12345678", b"1234567", b"abcdefgh"], pa.large_binary())}),
                   "letters.parquet")
    place("seal", "sent", *SUITE, "--input", "keys", "--input", "letters.parquet", *KEY, expect=3)
    assert place.columns("sent", "status")[0].tolist() == [201, 0, 202, 0]
    place("open", "read", *SUITE, "--input", "keys", "--input", "sent", "--input-key", "key", *KEY, expect=3)
    plaintext, status = place.columns("read", "plaintext", "status", key="key")
    assert [row.tobytes() for row in plaintext[[1, 3]]] == [b"12345678", b"abcdefgh"]
    assert status.tolist() == [201, 0, 201, 0]
    pq.write_table(pa.table({"plaintext": pa.array([None] * 4, pa.binary())}), "empty.parquet")
    refused(place, "seal", "no", *SUITE, "--input", "keys", "--input", "empty.parquet", *KEY, code=3,
            says=["no value whose length"])


def test_the_end_of_a_job_names_statuses_and_rows(place, capfd):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    pk[3] = 255
    pq.write_table(pa.table({"pk": holes(pk, pa.binary())}), "keys.parquet")
    assert cli.main("encaps sent --input keys.parquet --key-file key --ray none --quiet".split()) == 3
    said = capfd.readouterr().err
    assert "2 of 5 rows have no result: 1 with status 8 (" in said and "1 with status 201 (" in said
    assert "the first is row 1, counted from 0" in said


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_pandas_and_polars_write_is_read(place, library):
    frames = pytest.importorskip(library)
    pk, sk = polykem.Context().keygen("mlkem768", 5)
    frame = frames.DataFrame({"pk": [key.tobytes() for key in pk], "id": list("abcde")})
    frame.to_parquet("keys.parquet") if library == "pandas" else frame.write_parquet("keys.parquet")
    place("encaps", "sent", "--input", "keys.parquet", "--keep", "id", *KEY)
    ct, ss = place.columns("sent", "ct", "ss", key="key")
    assert np.array_equal(np.asarray(polykem.Context().decaps("mlkem768", sk, ct).ss), ss)
    assert pq.read_table("sent/data").column("id").to_pylist() == list("abcde")


def test_values_out_of_slices_and_several_chunks():
    data = [b"aa", None, b"bbb", b"cc", b"dd", b"ee"]
    column = pa.chunked_array([pa.array(data[:4], pa.binary()).slice(1), pa.array(data[4:], pa.binary())])
    array, faults = values.as_array(column, 2)
    assert [row.tobytes() for row in array] == [b"\0\0", b"\0\0", b"cc", b"dd", b"ee"]
    assert faults.tolist() == [201, 202, 0, 0, 0]
    whole, none = values.as_array(pa.chunked_array([pa.array(data[3:], pa.binary()).slice(1)]), 2)
    assert [row.tobytes() for row in whole] == [b"dd", b"ee"] and none is None
    one = pa.array([b"xx", None, b"yy"], pa.binary(2)).slice(1)
    array, faults = values.as_array(pa.chunked_array([one]), 2)
    assert [row.tobytes() for row in array] == [b"\0\0", b"yy"] and faults.tolist() == [201, 0]
    array, faults = values.as_array(pa.chunked_array([pa.nulls(2)]), 3)
    assert array.shape == (2, 3) and faults.tolist() == [201, 201]


@pytest.fixture
def jobs(place):
    place("keygen", "keys", "--count", ROWS, "--seeds", *KEY)
    place("encaps", "sent", "--input", "keys", *KEY)
    (place / "parent").mkdir()
    (place / "keys").rename("parent/keys")
    (place / "copy").mkdir()
    part = pq.read_table("parent/keys/data/part-000000.parquet")
    pq.write_table(part.slice(0, 0).replace_schema_metadata(None), "copy/a.parquet")
    pq.write_table(part, "copy/b.parquet")
    with pa.OSFile("copy.arrow", "wb") as file, pa.ipc.new_file(file, part.schema) as writer:
        writer.write_table(part)
    return place


@pytest.mark.parametrize("source", ["parent/keys/data", "parent", "parent/keys/data/part-000000.parquet", "copy",
                                    "copy.arrow"])
def test_encrypted_columns_away_from_their_job_are_refused(jobs, source):
    place, says = jobs, ("column 'seed'", source, "is an encrypted column of a bulk job", "where job.json is")
    refused(place, "decaps", "out", "--input", source, "--input", "sent", "--seeds", *KEY, code=3, says=says)
    refused(place, "encaps", "out", "--input", source, "--keep", "seed", *KEY, code=3, says=says)
    with pytest.raises(BulkError, match="encrypted column"):
        open_dataset(source).read(0, 1, ["seed"])
    assert not (place / "out").exists()
    place("encaps", "public", "--input", source, *KEY)


def test_rows_that_were_decrypted_say_nothing_of_encryption(jobs):
    place = jobs
    dataset = open_dataset("parent/keys", read_key_file("key"))
    pq.write_table(dataset.read(0, ROWS, ["seed", "pk"]), "plain.parquet")
    assert place("decaps", "out", "--input", "plain.parquet", "--input", "sent", "--seeds", *KEY)["bad_rows"] == 0
    assert np.array_equal(place.columns("out", "ss", key="key")[0], place.columns("sent", "ss", key="key")[0])


@pytest.mark.parametrize("exported", [False, True])
def test_rows_without_a_message_are_no_messages_of_zeros(place, monkeypatch, exported):
    text = hpke_place(place, monkeypatch)
    sent = pq.read_table("sent/data")
    broken = [bytes(48) if row in (3, 30) else value.as_py() for row, value in enumerate(sent.column("ciphertext"))]
    sent = sent.drop_columns(["ciphertext", "status"]).append_column("ciphertext", pa.array(broken))
    pq.write_table(sent, "bad.parquet")
    opened = ("open", "read", *SUITE, "--input", "old", "--input", "bad.parquet", "--only", "plaintext")
    assert place(*opened, "--input-key", "key", *KEY, expect=3)["bad_rows"] == 2
    source = "read"
    if exported:
        source = "read.parquet"
        place("export", "read", source, "--column", "plaintext", "--plain-secrets", *KEY)
        table = pq.read_table(source)
        assert np.flatnonzero(table.column("status").to_numpy()).tolist() == [3, 30]
        assert [row for row, value in enumerate(table.column("plaintext")) if value.as_py() is None] == [3, 30]
        assert table.column("plaintext")[4].as_py() == text[4].tobytes()
    again = place("seal", "again", *SUITE, "--input", "new", "--input", source, "--column", "plaintext=2:plaintext",
                  "--input-key", "key", *KEY, expect=3)
    assert again["bad_rows"] == 2 and again["statuses"] == {"201": 2} and again["first_bad_row"] == 3
