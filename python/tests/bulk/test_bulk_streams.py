# SPDX-License-Identifier: Apache-2.0
"""polykem-bulk with standard streams that are closed or full."""

import json
import os
import subprocess
import sys

import pytest

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
    with open("/dev/full", "w", encoding="utf-8") as stream:
        yield stream


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("new-key", "key", "--json", "-"), ("--help",)])
def test_output_that_cannot_be_written(tmp_path, full, words, unbuffered, monkeypatch):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    for streams in ({"stdout": full}, {"close": (1,)}):
        done = run(tmp_path, *words, **streams)
        assert done.returncode == IO, done.stderr
        assert "standard output" in done.stderr and "defect" not in done.stderr
        (tmp_path / "key").unlink(missing_ok=True)


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


def test_errors_without_standard_error(tmp_path, full):
    for streams in ({"stderr": full}, {"close": (2,)}):
        assert run(tmp_path, "nonsense", **streams).returncode == USAGE
        assert run(tmp_path, "verify", "missing", **streams).returncode != 0
