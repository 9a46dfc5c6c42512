# SPDX-License-Identifier: Apache-2.0
"""Tests how jobs end from outside, and what they say; without Ray (test_bulk_cluster.py tests the same with it)."""

import json
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from bulk_support import data_files, undisturbed

from polykem.bulk import BulkError, cli, head

COMMAND = ["keygen", "--scheme", "frodokem640shake", "--count", "400", "--key-file", "key", "--partition-mb", "1"]
SLOWLY = ["--backend", "ref", "--cpus", "1"]
WAIT_SECONDS = 60


@pytest.mark.parametrize("number, code", [
    (signal.SIGTERM, 143), pytest.param(signal.SIGINT, 130, marks=pytest.mark.long),
    pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long)])
def test_a_signal_names_the_command_that_goes_on(place, number, code):
    process = subprocess.Popen([sys.executable, "-m", "polykem.bulk", COMMAND[0], "my keys", *COMMAND[1:], *SLOWLY,
                                "--ray", "none", "--json", "out.json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    for _ in range(WAIT_SECONDS * 100):
        if len(list(place.path.glob("my keys/receipts/*.json"))) >= 2:
            break
        time.sleep(0.01)
    process.send_signal(number)
    _, err = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == code == json.loads((place / "out.json").read_text())["exit_code"], err
    command = next(line for line in err.splitlines() if "to go on: " in line).partition("to go on: ")[2]
    program, *arguments = shlex.split(command)
    assert program == "polykem-bulk" and arguments[:2] == ["keygen", "my keys"] and arguments[-1] == "--resume"
    done = len(list(place.path.glob("my keys/receipts/*.json")))
    assert not list((place / "my keys/tmp").iterdir())
    again = subprocess.run([sys.executable, "-m", "polykem.bulk", *arguments, "--json", "-"], stdout=subprocess.PIPE,
                           text=True, check=True, timeout=WAIT_SECONDS)
    summary = json.loads(again.stdout)
    assert 0 < summary["computed_partitions"] == summary["partitions"] - done
    assert data_files("my keys") == undisturbed(place, "my keys", *COMMAND)


def raised_from(behind, hidden):
    """Raises `behind`, hidden by a SystemError as compiled code raises it, or by another error on the way out."""
    try:
        raise behind
    except BaseException as error:
        if hidden:
            raise OSError("the head is gone")
        raise SystemError("returned a result with an exception set") from error


@pytest.mark.parametrize("behind, hidden, code", [
    (cli.Terminated(), False, 143), (cli.Terminated(signal.SIGHUP), True, 129), (KeyboardInterrupt(), False, 130),
    (KeyboardInterrupt(), True, 130), (ValueError("odd"), False, 6)])
def test_a_signal_behind_another_error_and_a_defect(tmp_path, monkeypatch, capfd, behind, hidden, code):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cli, "run_new_key", lambda options: raised_from(behind, hidden))
    assert cli.main(["new-key", "key", "--json", "out"]) == code == json.loads(Path("out").read_text())["exit_code"]
    said = capfd.readouterr().err
    assert ("please report it" in said) == ("Traceback" in said) == (code == 6)


def test_a_caller_keeps_its_handler_of_sigterm(place):
    def mine(*_):
        raise AssertionError
    before = signal.signal(signal.SIGTERM, mine)
    try:
        place("keygen", "keys", "--count", 3, "--key-file", "key")
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.fixture
def listening(monkeypatch):
    monkeypatch.setattr(head, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(head, "PATIENCE_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_head_that_answers_is_asked(listening):
    with head.Head(f"127.0.0.1:{listening.getsockname()[1]}") as one:
        assert one.ask(lambda: 5) == 5
        with pytest.raises(KeyError):
            one.ask(lambda: {}[1])
        time.sleep(2 * head.PATIENCE_SECONDS)
        one.check()


def test_nobody_waits_for_a_head_that_is_gone(listening):
    never, began = threading.Event(), time.monotonic()
    with head.Head(f"127.0.0.1:{listening.getsockname()[1]}") as one:
        listening.close()
        with pytest.raises(BulkError, match="no longer answers") as raised:
            one.ask(never.wait)
        assert raised.value.code == 7 and time.monotonic() - began >= head.PATIENCE_SECONDS
        with pytest.raises(BulkError):
            one.check()
    never.set()
