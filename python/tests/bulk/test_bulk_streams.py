# SPDX-License-Identifier: Apache-2.0
"""Tests polykem-bulk with standard streams that are closed or full."""

import contextlib
import errno
import json
import os
import subprocess
import sys

import pytest

from polykem.report import streams
from polykem.bulk import BulkError, progress, recipient
from polykem.bulk.column import SUITE

USAGE, IO = 2, 5


def run(folder, *words, close=(), **streams):
    def closing():
        for number in close:
            os.close(number)

    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    return subprocess.run([sys.executable, "-m", "polykem.bulk", *words], cwd=folder, preexec_fn=closing, text=True,
                          check=False, timeout=120, **given)  # fmt: skip


@pytest.fixture
def full():
    stream = open("/dev/full", "w", encoding="utf-8")
    yield stream
    with contextlib.suppress(OSError):  # as its buffer cannot be written
        stream.close()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("new-key", "key", "--json", "-"), ("--help",)])
def test_output_that_cannot_be_written(tmp_path, full, words, unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    for given in ({"stdout": full}, {"close": (1,)}):
        done = run(tmp_path, *words, **given)
        assert done.returncode == IO, done.stderr
        assert "standard output" in done.stderr and "defect" not in done.stderr
        (tmp_path / "key").unlink(missing_ok=True)


def test_a_table_that_cannot_be_written_leaves_a_complete_job(tmp_path, full):
    assert run(tmp_path, "new-key", "key").returncode == 0
    words = ("--scheme", "mlkem512", "--count", "10", "--key-file", "key", "--ray", "none")
    for folder, given in (("a", {"stdout": full}), ("b", {"close": (1,)})):
        done = run(tmp_path, "keygen", folder, *words, **given)
        assert done.returncode == IO, done.stderr
        assert "the job is complete, but its table cannot be written to standard output" in done.stderr
        assert run(tmp_path, "verify", folder, "--key-file", "key").returncode == 0


def test_export_does_not_take_a_dash_for_a_file(tmp_path):
    done = run(tmp_path, "export", "job", "-")
    assert (done.returncode, list(tmp_path.iterdir())) == (USAGE, [])
    assert "not to standard output" in done.stderr


@pytest.mark.parametrize("words, wrong, close", [
    (("keygen", "--schme", "mlkem768"), "polykem-bulk keygen has no option '--schme'", "--scheme"),
    (("verify", "--key-fil=x", "--quite"), "polykem-bulk verify has no option '--quite'", "--quiet"),
    (("--versoin",), "polykem-bulk has no option '--versoin'", ""),
])
def test_an_unknown_option_is_named_before_one_that_is_missing(tmp_path, words, wrong, close):
    done = run(tmp_path, *words)
    assert done.returncode == USAGE
    assert wrong in done.stderr and close in done.stderr and "required" not in done.stderr


def test_files_get_nothing_that_belongs_on_a_stream(tmp_path):
    assert run(tmp_path, "new-key", "key", "--json", "out", close=(0, 1, 2)).returncode == 0
    assert json.loads((tmp_path / "out").read_text())["file"] == "key"
    assert (tmp_path / "key").stat().st_size == 32


def test_a_job_goes_on_without_standard_error(tmp_path, full):
    """Only its messages are lost: that a partition is computed again, that rows have no result."""
    assert run(tmp_path, "new-key", "key").returncode == 0
    words = ("keygen", "keys", "--count", "20", "--key-file", "key", "--ray", "none")
    assert run(tmp_path, *words, stderr=full).returncode == 0
    (tmp_path / "keys/data/part-000000.parquet").write_bytes(b"")
    assert run(tmp_path, *words, "--resume", stderr=full).returncode == 0
    assert run(tmp_path, "verify", "keys", "--key-file", "key").returncode == 0


def test_progress_without_standard_error(full, monkeypatch):
    monkeypatch.setattr("sys.stderr", full)
    progress.Reporter("keygen", 10).say("a worker on node 1 has died; 1 partitions go to another")
    monkeypatch.setattr("sys.stderr", full)
    print("a worker has died", file=streams.StandardError(), flush=True)


def test_json_on_standard_output_stands_alone(tmp_path):
    assert run(tmp_path, "new-key", "key").returncode == 0
    words = ("keygen", "keys", "--count", "20", "--key-file", "key", "--ray", "none", "--json", "-")
    assert json.loads(run(tmp_path, *words).stdout)["rows"] == 20
    (tmp_path / "keys/data/part-000000.parquet").write_bytes(b"")
    done = run(tmp_path, *words, "--resume")
    assert json.loads(done.stdout)["computed_rows"] == 20 and "partition 0 is computed again" in done.stderr


@pytest.mark.parametrize("there", ["pair", "pair.pub"])
def test_a_pair_is_made_whole_or_not_at_all(tmp_path, there):
    (tmp_path / there).write_bytes(b"mine")
    done = run(tmp_path, "new-pair", "pair")
    assert done.returncode == USAGE and f"{there} exists" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == [there] and (tmp_path / there).read_bytes() == b"mine"


def test_a_pair_whose_public_key_cannot_be_written(tmp_path, monkeypatch):
    opened = os.open

    def refuse(path, *arguments, **options):
        if str(path).endswith(".pub"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(BulkError, match="full"):
        recipient.make_pair(SUITE, str(tmp_path / "pair"))
    assert not list(tmp_path.iterdir())


def test_errors_without_standard_error(tmp_path, full):
    for given in ({"stderr": full}, {"close": (2,)}):
        assert run(tmp_path, "nonsense", **given).returncode == USAGE
        assert run(tmp_path, "verify", "missing", **given).returncode != 0
