# SPDX-License-Identifier: Apache-2.0
"""Runs the polykem program as its users do, and loads the known answers to compare with.

The tests run through CTest, or by hand:
  POLYKEM_PROGRAM=build/bin/polykem POLYKEM_TEST_DATA=tests/data python3 -B -m unittest discover -s tests/cli
"""

import gzip
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem"))
DATA = pathlib.Path(os.environ.get("POLYKEM_TEST_DATA", "tests/data")).resolve()
if "POLYKEM_OPENSSL" in os.environ:  # an OpenSSL other than the system's, for all processes
    os.environ["LD_LIBRARY_PATH"] = os.environ["POLYKEM_OPENSSL"] + "/lib"

OK, CHECK_FAILED, USAGE, BAD_INPUT, BACKEND, IO = range(6)
SET = "ntruhps2048509"  # the quickest set
OTHER = "ntruhrss701"


def vectors(name):
    """Returns the known answers of a set."""
    plain = DATA / f"{name}.json"
    return json.loads(plain.read_bytes()) if plain.exists() else unpacked(f"{name}.json.gz")


def unpacked(name):
    """Returns the content of a gzipped JSON file of the test data."""
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


class Case(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_program(self, *args, env=None, stdin=None):
        full = {k: v for k, v in os.environ.items() if k != "POLYKEM_BACKEND"}
        full.update(env or {})
        return subprocess.run(
            [PROGRAM, *map(str, args)],
            cwd=self.dir,
            env=full,
            input=stdin,
            capture_output=True,
            timeout=240,
            check=False,
        )

    def quick_backend(self):
        """Returns the best of this CPU's backends, whose self-test is also the fastest."""
        return next(name for name in self.json("list")["schemes"][0]["backends"] if name not in ("cuda", "rtl"))

    def ok(self, *args, **kwargs):
        """Runs a command that must succeed and returns its standard output as text."""
        done = self.run_program(*args, **kwargs)
        self.assertEqual(done.returncode, OK, done.stderr.decode())
        return done.stdout.decode()

    def json(self, *args, **kwargs):
        return json.loads(self.ok(*args, "--json", "-", **kwargs))

    def fails(self, code, words, *args, **kwargs):
        """Runs a command that must fail with that exit code and all these words on standard error."""
        done = self.run_program(*args, **kwargs)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error)
        self.assertTrue(error.startswith("polykem: "), error)
        for word in words:
            self.assertIn(word, error)
        return done

    def keys(self, name=SET, *more):
        self.ok("keygen", "--scheme", name, "--pk", "pk", "--sk", "sk", *more)

    def files(self):
        return sorted(p.name for p in self.dir.iterdir())

    def read(self, name):
        return (self.dir / name).read_bytes()

    def write(self, name, content):
        (self.dir / name).write_bytes(content if isinstance(content, bytes) else content.encode())
