# SPDX-License-Identifier: Apache-2.0
"""Runs the report as its users do, and makes data for it.

The tests run through CTest, or by hand in this folder:
  POLYKEM_PROGRAM=../../build/bin/polykem python3 -B -m unittest -v
"""

import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
PROGRAM = os.path.abspath(os.environ.get("POLYKEM_PROGRAM", ROOT / "build/bin/polykem"))
OK, CHECK_FAILED, USAGE, BAD_INPUT, BACKEND, IO = range(6)
PUBLISHED = ("cpu_peers.json", "h200_mlkem.json", "h200_ntru.json", "h200_frodokem.json", "h200_seong2021.json",
             "h200_frodo_paper.json")
OPS = ("keygen", "encaps", "decaps")
BACKENDS = ("avx512", "avx2", "ref")


def doctor(device="a machine"):
    test = {"ok": True, "round_trip": True, "rejection": True, "known_answer": True, "error": ""}
    return {
        "schema": "polykem-doctor-1", "version": "1.2.3", "commit": "abc", "compiler": "a compiler", "device": device,
        "cpu_features": ["avx2"], "cpus": 4, "memory_bytes": 2**33,
        "backends": [{"name": b, "description": f"with {b}", "requirements": "a CPU", "available": True}
                     for b in BACKENDS],
        "schemes": [{"name": "mlkem768", "backend": "avx512", "because": "best",
                     "self_tests": [{"backend": b, **test} for b in BACKENDS], "ok": True}],
        "ok": True,
    }  # fmt: skip


def profile(device="a machine", scheme="mlkem768", backends=BACKENDS):
    def op(name, factor):
        steps = [("hash", 1000 * factor), ("gen A", 3000 * factor), ("product", 500 * factor), ("inversion", 0),
                 ("rest", 500 * factor)]
        return {"op": name, "count": 10, "batch": 5, "threads": 1, "wall_ns": 5000 * factor, "stages_ns": 4500 * factor,
                "steps": [{"step": step, "ns": ns, "share": 0} for step, ns in steps],
                "stages": [{"function": "sha3_256", "steps": 1, "calls": 2, "items": 10, "ns": 1000 * factor}]}

    return {"schema": "polykem-profile-1", "version": "1.2.3", "device": device,
            "profiles": [{"scheme": scheme, "backend": backend,
                          "ops": [op(name, (i + 1) * (j + 1) ** 2) for j, name in enumerate(OPS)]}
                         for i, backend in enumerate(backends)]}


def bench(device="a machine", scheme="mlkem768", backends=BACKENDS):
    return {"schema": "polykem-bench-1", "version": "1.2.3", "device": device, "threads": 4,
            "records": [{"scheme": scheme, "op": op, "backend": backend, "keys": "per-item", "count": 4**i,
                         "ops_per_s": 1000.5 * 3**i * (j + 1), "median_s": 1e-4}
                        for backend in backends for j, op in enumerate(OPS) for i in range(5)]}


def data(*documents):
    named = [{"name": f"document {i}", "origin": "a test", "content": content} for i, content in enumerate(documents)]
    return {"schema": "polykem-report-1", "created": "today", "documents": named}


def published():
    return [json.loads((RESULTS / name).read_text()) for name in PUBLISHED]


def everything():
    return data(doctor(), profile(), bench(), *published())


def replaced(value, change):
    """Returns a copy in which every string is changed, except for those that a program reads."""
    if isinstance(value, dict):
        return {key: copy.deepcopy(v) if key in ("schema", "keys") else replaced(v, change) for key, v in value.items()}
    if isinstance(value, list):
        return [replaced(v, change) for v in value]
    return change(value) if isinstance(value, str) else value


class Case(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_report(self, *words, **variables):
        environment = dict(os.environ, POLYKEM_PROGRAM=PROGRAM, PYTHONPATH=str(ROOT / "python/polykem"), **variables)
        return subprocess.run([sys.executable, "-B", "-m", "report", *map(str, words)], cwd=self.folder, timeout=150,
                              env=environment, capture_output=True, text=True, check=False)

    def report(self, *words, code=OK, **variables):
        done = self.run_report(*words, **variables)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def page(self, content, *words):
        """Returns the page that is made from the data."""
        self.report("--from", self.file("data.json", content), "--output", "page.html", "--force", *words)
        return (self.folder / "page.html").read_text()
