# SPDX-License-Identifier: Apache-2.0
"""Tests that a job leaves none of the secrets that it has read or made in its process's memory."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bulk_support import fixed
from memory_search import occurrences

pytestmark = pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="reads memory of other processes in /proc")

KEY = ("--key-file", "key")
# ML-KEM-768's keys take 3,648 bytes a row and decapsulation from seeds 1,185: a partition reads several row groups.
ROWS = 2000
SHOWN = b"this is found in any process that is searched"
PROGRAM = """
import gc, sys
from polykem.bulk import cli
code = cli.main(sys.argv[1:])
gc.collect()
print("ended with", code, flush=True)
sys.stdin.read()
"""


def left_by(secrets, *arguments, code=0):
    """Returns how many of these secrets are in a process's memory after a job, by searching for 16 bytes of each."""
    needles = [row[place:place + 16].tobytes() for rows in secrets for row in rows for place in (0, rows.shape[1] - 16)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, arguments), "--quiet"], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "SHOWN": SHOWN.decode()})
    try:
        line = process.stdout.readline()
        assert line.split() == ["ended", "with", str(code)], line
        found = occurrences(process.pid, [SHOWN, *needles])
    finally:
        process.communicate()
    assert found.pop(SHOWN)
    return len(found)


@pytest.fixture
def jobs(place):
    """Jobs with keys as seeds and with what was sent to them, and some rows of all their secrets."""
    small = ("--partition-mb", 1, *KEY)
    place("keygen", "keys", "--count", ROWS, "--seeds", *small)
    place("encaps", "sent", "--input", "keys", *small)
    assert len(list((place / "keys/data").iterdir())) > 5
    some = [0, 1, ROWS // 3, ROWS // 2, ROWS - 1]
    place.secrets = [place.columns(job, name, key="key")[0][some] for job, name in (("keys", "seed"), ("sent", "ss"))]
    return place


DECAPS = ("decaps", "got", "--seeds", "--ray", "none", *KEY)


@pytest.mark.long  # the next test reads as many secrets
def test_decapsulation_from_seeds(jobs):
    assert left_by(jobs.secrets, *DECAPS, "--input", "keys", "--input", "sent", "--input-key", "key",
                   "--partition-mb", 4) == 0


def test_after_an_error_in_the_last_row_group(jobs):
    path = sorted((jobs / "keys/data").iterdir())[-1]
    data = bytearray(path.read_bytes())
    data[data.index(pq.read_table(path).column("seed")[-1].as_py())] ^= 1
    path.write_bytes(data)
    assert left_by(jobs.secrets, *DECAPS, "--input", "keys", "--input", "sent", "--input-key", "key",
                   "--partition-mb", 64, code=3) == 0


@pytest.mark.parametrize("command", ["verify", pytest.param("keygen", marks=pytest.mark.long),
                                     pytest.param("encaps", marks=pytest.mark.long)])
def test_other_commands(jobs, command):
    if command == "verify":
        assert left_by(jobs.secrets[:1], "verify", "keys", *KEY) == 0
    else:
        name, options = ("keys", ("--count", ROWS, "--seeds")) if command == "keygen" else ("sent", ("--input", "keys"))
        receipts = list((jobs / name / "receipts").iterdir())
        for receipt in receipts:
            receipt.unlink()
        secrets = jobs.secrets[:1] if command == "keygen" else jobs.secrets[1:]
        assert left_by(secrets, command, name, *options, "--ray", "none", "--partition-mb", 1, *KEY, "--resume") == 0


@pytest.mark.long
def test_messages(place):
    hpke = pytest.importorskip("polykem.hpke")
    assert hpke
    suite = ("--suite", "ML-KEM-768,HKDF-SHA256,AES-128-GCM", "--partition-mb", 1, *KEY)
    text = np.random.default_rng(1).integers(0, 256, (ROWS, 64), np.uint8)
    pq.write_table(pa.table({"plaintext": fixed(text)}), "letters.parquet", row_group_size=300, compression="none")
    place("keygen", "keys", "--count", ROWS, *suite)
    place("seal", "sealed", *suite, "--input", "keys", "--input", "letters.parquet")
    some = [0, 1, ROWS // 2, ROWS - 1]
    sk, = place.columns("keys", "sk", key="key")
    opened = ("--input", "keys", "--input", "sealed", "--input-key", "key", "--ray", "none")
    assert left_by([text[some], sk[some]], "open", "opened", *suite, *opened) == 0
    assert left_by([text[some], sk[some]], "rewrap", "moved", *suite, *opened, "--column", "to_pk=1:pk") == 0
