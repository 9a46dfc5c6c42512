# SPDX-License-Identifier: Apache-2.0
"""Tests what a job that cannot be begun leaves behind, and what keeps a job from being resumed."""

import os
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import fixed
from test_bulk_jobs import small

import polykem
from polykem.bulk import job_folder

KEY = ("--key-file", "key")
PLAIN = {"use_dictionary": False, "compression": "none"}  # files of equal tables have equal sizes


def refused(place, *arguments, code, says):
    error = place(*arguments, expect=code)
    text = error["error"] + " " + error["hint"]
    assert all(part in text for part in says), text
    return text


@pytest.mark.parametrize("folder", ["keys", "deep/below/keys"])
def test_a_job_that_does_not_fit_leaves_nothing(place, monkeypatch, folder):
    monkeypatch.setattr(job_folder.Folder, "free_bytes", lambda self: 10**6)
    before = set(place.path.rglob("*"))
    refused(place, "keygen", folder, "--count", 1000, *KEY, code=5, says=["needs", "the disk of"])
    assert set(place.path.rglob("*")) == before
    monkeypatch.undo()
    os.chdir(place.path)
    place("keygen", folder, "--count", 10, *KEY)


def test_the_room_of_a_folder_that_is_not_there_yet(place):
    assert job_folder.Folder(place / "a/b/c").free_bytes() == job_folder.Folder(place.path).free_bytes() > 0


@pytest.mark.parametrize("failing", ["job.json", "folders"])
def test_a_job_that_cannot_be_begun_leaves_nothing(place, monkeypatch, failing):
    """If the disk is full when job.json is written, or before, an existing folder stays, with its contents."""
    (place / "there").mkdir()

    def full(*_, **__):
        raise OSError(28, "No space left on device")
    with monkeypatch.context() as patched:
        if failing == "job.json":
            patched.setattr("os.fsync", full)
        else:
            patched.setattr(job_folder.Folder, "make_folders", full)
        refused(place, "keygen", "new/below", "--count", 5, *KEY, code=5, says=["is full"])
        refused(place, "keygen", "there", "--count", 5, *KEY, code=5, says=["is full"])
    assert not (place / "new").exists() and not list((place / "there").iterdir())
    for folder in ("new/below", "there"):
        place("keygen", folder, "--count", 5, *KEY)


@pytest.fixture
def sent(place, monkeypatch):
    """A job over a folder of two files, with one partition to compute again."""
    small(monkeypatch, 30_000)
    (place / "in").mkdir()
    for name in ("a", "b"):
        pk, _ = polykem.Context().keygen("mlkem768", 20)
        pq.write_table(pa.table({"pk": fixed(pk)}), f"in/{name}.parquet", **PLAIN)
    place("encaps", "sent", "--input", "in", *KEY)
    (place / "sent/receipts/part-000001.json").unlink()
    return place


def resume(place, *options, **how):
    return place("encaps", "sent", "--input", "in", *KEY, "--resume", *options, **how)


def test_a_touched_input_is_named(sent):
    os.utime("in/b.parquet", ns=(10**18, 10**18))
    text = refused(sent, "encaps", "sent", "--input", "in", *KEY, "--resume", code=3,
                   says=["its input 1", str(sent / "in"), "b.parquet was written again at 2001-09-",
                         "--touched-inputs"])
    assert "{" not in text and "a.parquet" not in text
    assert resume(sent, "--touched-inputs")["computed_partitions"] == 1
    assert sent("verify", "sent", *KEY)["complete"]


def test_a_changed_input_is_named_with_what_changed(sent):
    def says(*parts, options=("--touched-inputs",)):
        text = refused(sent, "encaps", "sent", "--input", "in", *KEY, "--resume", *options, code=3, says=parts)
        assert "touched" not in text

    shutil.copytree("in", "saved")
    pk, _ = polykem.Context().keygen("mlkem768", 21)
    pq.write_table(pa.table({"pk": fixed(pk[:20])}), "in/a.parquet", **PLAIN)
    says("a.parquet has different contents")
    shutil.copy2("saved/a.parquet", "in/a.parquet")
    pq.write_table(pa.table({"pk": fixed(pk[:20])}), "in/b.parquet")
    says("b.parquet has", "bytes, but had")
    os.unlink("in/b.parquet")
    refused(sent, "encaps", "sent", "--input", "in", *KEY, "--resume", code=3, says=["rows is 40, not 20"])
    pq.write_table(pa.table({"pk": fixed(pk[:20])}), "in/c.parquet")
    says("b.parquet is no longer there")
    os.rename("in/c.parquet", "in/b.parquet")
    shutil.copy2("saved/b.parquet", "in/b.parquet")
    assert resume(sent)["computed_partitions"] == 1
    os.rename("in", "elsewhere")
    refused(sent, "encaps", "sent", "--input", "elsewhere", *KEY, "--resume", code=3,
            says=["its input 1 is", "/in, not", "/elsewhere"])


def test_an_earlier_job_may_be_touched(place):
    place("keygen", "keys", "--count", 10, *KEY)
    place("encaps", "sent", "--input", "keys", *KEY)
    os.utime("keys/data/part-000000.parquet", ns=(10**18, 10**18))
    assert place("encaps", "sent", "--input", "keys", *KEY, "--resume")["computed_partitions"] == 0
    shutil.rmtree("keys")
    place("keygen", "keys", "--count", 10, *KEY)
    refused(place, "encaps", "sent", "--input", "keys", *KEY, "--resume", code=3,
            says=["its input 1", "part-000000.parquet has "])  # sizes may differ by a byte


def test_what_differs_of_a_job_is_said_in_words(place):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    pq.write_table(pa.table({"pk": fixed(pk), "other": fixed(pk)}), "keys.parquet")
    (place / "one").write_bytes(pk[0].tobytes())
    (place / "two").write_bytes(pk[1].tobytes())
    base = ("encaps", "sent", "--input", "keys.parquet", *KEY)
    place(*base, "--one", "pk=one")
    for options, parts in [
            (("--one", "pk=two"), ["one record", "same names"]),
            ((), ["read"]), (("--one", "pk=one", "--keep", "other"), ["copied is empty, not 1:other"]),
            (("--one", "pk=one", "--only", "ct"), ["written is ct, ss, status, not ct"])]:
        text = refused(place, *base, *options, "--resume", code=3, says=parts)
        assert "Column(" not in text and "{" not in text


@pytest.mark.parametrize("option, value", [
    ("--count", "1e30"), ("--count", "1e999999999"), ("--count", "nan"), ("--count", "inf"), ("--count", "-5"),
    ("--count", "1.5"), ("--count", "0"), ("--count", "9" * 5000), ("--count", "1e400"), ("--count", "0x10"),
    ("--count", ""), ("--count", "1e-3"), ("--cpus", "1025"), ("--cpus", "-1"), ("--cpus", "1" * 40), ("--cpus", "two"),
    ("--partition-mb", "1e30"), ("--partition-mb", "-1"), ("--partition-mb", "nan")])
def test_absurd_numbers_are_refused(place, option, value):
    count = () if option == "--count" else ("--count", 5)
    text = refused(place, "keygen", "keys", *count, f"{option}={value}", *KEY, code=2, says=["not a whole number from"])
    assert len(text) < 300 and not (place / "keys").exists()


def test_numbers_that_are_right(place):
    assert place("keygen", "keys", "--count", "1e1", "--partition-mb", "1_000", "--cpus", "1", *KEY)["rows"] == 10
    for number in ("--first=10", "--first=1e12"):
        refused(place, "export", "keys", "x.parquet", number, "--column", "pk", code=2, says=["does not exist"])
    refused(place, "export", "keys", "x.parquet", "--first=-1", code=2, says=["not a whole number"])
    refused(place, "export", "keys", "x.parquet", "--column", "pk", "--column", "pk", code=2, says=["more than once"])
    assert place("export", "keys", "x.parquet", "--column", "pk", "--first", 9, "--count", "1e12")["rows"] == 1
    refused(place, "keygen", "vast", "--count", "1e13", *KEY, code=5, says=["the job needs"])
    assert not (place / "vast").exists()


@pytest.mark.parametrize("value", [0, -1, 1e30, 10**30, float("nan"), "5", True, 2.0])
def test_describe_takes_whole_numbers_only(value):
    from polykem.bulk import BulkError, describe
    for name in ("rows", "partition_bytes", "group_bytes"):
        with pytest.raises(BulkError, match="whole number") as raised:
            describe("keygen", "mlkem768", **{"rows": 5, name: value})
        assert raised.value.code == 2
    with pytest.raises(BulkError, match="no operation"):
        describe("encrypt", "mlkem768")


BROKEN = os.fsdecode(b"na\xffme")


@pytest.mark.parametrize("arguments", [
    ("keygen", BROKEN, "--count", "5", *KEY), ("encaps", "x", "--input", BROKEN, *KEY),
    ("encaps", "x", "--input", "keys.parquet", "--column", "pk=" + BROKEN, *KEY),
    ("encaps", "x", "--input", "keys.parquet", "--keep", BROKEN, *KEY), ("keygen", "x", "--scheme", BROKEN, *KEY),
    ("keygen", "x", "--count", "5", "--key-file", BROKEN), ("verify", BROKEN), ("new-key", BROKEN),
    ("seal", "x", "--info", BROKEN, *KEY), (BROKEN, "x")])
def test_names_that_are_not_utf8_are_refused(place, arguments):
    refused(place, *arguments, code=2, says=["'na\\udcffme' is not UTF-8"] if "=" not in "".join(arguments) else
            ["na\\udcffme' is not UTF-8"])


def test_files_and_folders_that_are_not_utf8_are_refused(place, monkeypatch):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    (place / "in").mkdir()
    pq.write_table(pa.table({"pk": fixed(pk)}), "in/a.parquet")
    os.rename("in/a.parquet", os.path.join("in", BROKEN + ".parquet"))
    refused(place, "encaps", "x", "--input", "in", *KEY, code=2, says=["not UTF-8"])
    os.mkdir(BROKEN)
    monkeypatch.chdir(BROKEN)
    refused(place, "keygen", "x", "--count", 5, "--key-file", "../key", code=2, says=["the folder", "not UTF-8"])


def test_columns_that_come_twice_are_refused(place):
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    twice = pa.Table.from_arrays([fixed(pk), fixed(pk), fixed(pk)], names=["pk", "pk", "fine"])
    pq.write_table(twice, "twice.parquet")
    refused(place, "encaps", "x", "--input", "twice.parquet", *KEY, code=3, says=["several columns 'pk'"])
    refused(place, "encaps", "x", "--input", "twice.parquet", "--column", "pk=fine", "--keep", "pk", *KEY, code=3,
            says=["several columns 'pk'"])
    refused(place, "encaps", "x", "--input", "twice.parquet", "--column", "pk=fine", "--keep", "fine", "--keep", "fine",
            *KEY, code=2, says=["two output columns"])
    refused(place, "encaps", "x", "--input", "twice.parquet", "--column", "pk=fine", "--column", "pk=pk", *KEY, code=2,
            says=["more than once"])
    place("encaps", "good", "--input", "twice.parquet", "--column", "pk=fine", *KEY)


def test_odd_inputs_end_in_a_sentence(place):
    """Odd inputs do not end as a defect, with exit code 6."""
    pk, _ = polykem.Context().keygen("mlkem768", 5)
    odd = pa.table({"pk": fixed(pk), "interval": pa.array([None] * 5, pa.month_day_nano_interval()),
                    "length": pa.array([5] * 5, pa.duration("s")), "list": [[1]] * 5})
    with pa.OSFile("odd.arrow", "wb") as file, pa.ipc.new_file(file, odd.schema) as writer:
        writer.write_table(odd)
    base = ("encaps", "x", "--input", "odd.arrow", *KEY)
    refused(place, *base, "--keep", "interval", code=3, says=["Parquet cannot hold"])
    refused(place, *base, "--column", "pk=list", code=3, says=["reads bytes"])
    refused(place, "encaps", "x", "--input", "", *KEY, code=2, says=["without a name"])
    place(*base, "--keep", "length", "--keep", "list")
    for name, text in (("number", "5"), ("list", "[]"), ("deep", "[" * 100_000), ("empty", "")):
        (place / name).mkdir()
        (place / name / "job.json").write_text(text)
        refused(place, "verify", name, code=3, says=["does not describe a bulk job"])
        refused(place, "encaps", "y", "--input", name, *KEY, code=3, says=["does not describe a bulk job"])
    (place / "x/manifest.json").write_text("[" * 100_000)
    assert not place("verify", "x", expect=1)["complete"]
