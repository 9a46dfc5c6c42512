# SPDX-License-Identifier: Apache-2.0
"""Tests that CKKS's secret keys leave nothing behind: a process searches the memory of one that loads and saves."""
import functools
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import polykem
import pytest

from folders import DATA
from memory_search import occurrences
from polykem import ckks

FOLDER = DATA / "openfhe"
PRELUDE = """
import gc, os, sys
from polykem import ckks
"""
POSTLUDE = """
gc.collect()
print("ready", flush=True)
sys.stdin.read()
"""
JOBS = {
    "a path": 'ckks.load(sys.argv[1], allow_insecure=True)',
    "a path, of a kind": 'ckks.load(sys.argv[1], kind="secret key", allow_insecure=True)',
    "a path, twice": 'a = ckks.load(sys.argv[1], allow_insecure=True)\nckks.load(sys.argv[1], a.context)\ndel a',
    "another kind": """
for kind in ("context", "public key", "ciphertext", "relinearisation keys", "automorphism keys"):
    try:
        ckks.load(sys.argv[1], kind=kind, allow_insecure=True)
    except ckks.FormatError:
        pass
""",
    "bytes that the caller wipes": """
data = bytearray(os.path.getsize(sys.argv[1]))
with open(sys.argv[1], "rb", buffering=0) as file:
    file.readinto(data)
ckks.load(data, allow_insecure=True)
ckks.load(memoryview(data), allow_insecure=True)
data[:] = bytes(len(data))
""",
    "binary": 'ckks.save(ckks.load(sys.argv[1], allow_insecure=True), sys.argv[2])',
    "json": 'ckks.save(ckks.load(sys.argv[1], allow_insecure=True), sys.argv[2], "json")',
}

if not hasattr(polykem._core, "OpenfheContext"):
    pytest.skip("built without nlohmann-json", allow_module_level=True)
pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc"),
    pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps freed memory"),
]


def residues():
    """Returns the residues of the secret key."""
    words = [int(x) for x in re.findall(rb"\d{12,}", (FOLDER / "secret.json").read_bytes())]
    context = {int(x) for x in re.findall(rb"\d{12,}", (FOLDER / "context.json").read_bytes())}
    return sorted(set(words) - context)


@functools.cache
def needles():
    """Returns the residues in the form of binary files and of memory, and in that of JSON files."""
    return [struct.pack("<Q", w) for w in residues()] + [str(w).encode() for w in residues()]


def run(program, *arguments):
    return subprocess.Popen([sys.executable, "-c", PRELUDE + program + POSTLUDE, *map(str, arguments)],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def findings(program, *arguments):
    with run(program, *arguments) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            return occurrences(process.pid, needles())
        finally:
            process.stdin.close()


def test_there_is_something_to_find():
    words = residues()
    assert len(words) > 40 and min(words) > 2 ** 35
    assert len(findings("kept = ckks.load(sys.argv[1], allow_insecure=True)", FOLDER / "secret.bin")) >= len(words) // 2
    assert findings("kept = open(sys.argv[1], 'rb').read()", FOLDER / "secret.json")


@pytest.mark.parametrize("form", ["bin", "json"])
@pytest.mark.parametrize("job", JOBS)
def test_nothing_is_left(tmp_path, job, form):
    assert findings(JOBS[job], FOLDER / f"secret.{form}", tmp_path / "copy") == {}


def test_the_head_that_tells_kinds_apart_has_no_residues(tmp_path):
    """The head of a file has no residues, even with the smallest possible context."""
    context = ckks.Context(ckks.Parameters(4, (97,)), allow_insecure=True)
    secret = ckks.SecretKey.generate(context)
    for form in ("binary", "json"):
        path = Path(tmp_path / form)
        ckks.save(secret, path, form)
        marker = secret.key_tag.encode()  # residues come after it
        assert path.read_bytes().index(marker) + len(marker) >= ckks._files._HEAD_BYTES
