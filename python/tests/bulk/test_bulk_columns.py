# SPDX-License-Identifier: Apache-2.0
"""Which column of which input a job reads, and what it makes of the values there."""

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
from polykem.bulk import cli, distinct

KEY = ("--key-file", "key")
SUITE = ("--suite", "ML-KEM-768,HKDF-SHA256,AES-256-GCM")
ROWS = 40


def refused(place, *arguments, code=2, says=()):
    error = place(*arguments, expect=code)
    text = error["error"] + " " + error["hint"]
    for part in says:
        assert part in text, text


def hpke_place(place, monkeypatch):
    """Old and new keys, and letters that were sealed to the old ones."""
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
    no("--column", "sk=4:sk", says=["names input 4, and there are 3", "counted from 1"])
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
    rows = np.arange(11, dtype=np.uint8).repeat(2).reshape(11, 2)
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
