# SPDX-License-Identifier: Apache-2.0
"""Tests polykem-lab ckks without a GPU: figures of a core, detection of a wrong transform, JSON, report and errors."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ.get("POLYKEM_LAB", "build/bin/polykem-lab"))
OK, WRONG, USAGE, NOTHING, FAILED = 0, 1, 2, 4, 5
SMALL = ("--on", "cpu", "--log-n", "12", "--seconds", "0.0001")


def run(*args):
    # No GPU, even where there is one.
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [PROGRAM, "ckks", *args], capture_output=True, text=True, timeout=120, check=False, env=environment
    )


class LabCkks(unittest.TestCase):
    def ok(self, *args):
        done = run(*args)
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def fails(self, code, words, *args):
        done = run(*args)
        self.assertEqual(done.returncode, code, done.stderr)
        for word in ("polykem-lab: ", *words):
            self.assertIn(word, done.stderr)

    def test_json(self):
        document = json.loads(self.ok(*SMALL, "--json", "-"))
        self.assertEqual(document["schema"], "polykem-lab-ckks-1")
        self.assertTrue(document["complete"])
        self.assertIsNone(document["gpu"])
        self.assertIn("--log-n 12", document["command"])
        for key in ("version", "commit", "sources", "compiler", "cpu", "no_gpu"):
            self.assertTrue(document[key], key)
        self.assertGreater(document["rates"]["cpu"]["slots"], 1e8)
        self.assertGreater(document["rates"]["cpu"]["bytes"], 1e8)
        self.assertGreater(document["compared"], 10000)
        operations = {(r["operation"], r["bits"]) for r in document["records"]}
        names = ("ntt", "intt", "hadd", "hsub", "plain_add", "plain_mul", "tensor", "rescale", "hmult", "hrotate")
        self.assertEqual(operations, {(name, bits) for name in names for bits in (31, 60)})
        for r in document["records"]:
            self.assertEqual((r["on"], r["log_n"], r["batch"], r["used"]), ("cpu", 12, 1, True))
            self.assertAlmostEqual(r["ns"] * r["per_second"] / 1e9, 1, places=3)
            rate = document["rates"]["cpu"][r["limit"]]
            self.assertAlmostEqual(r["floor_ns"] / (1e9 * r[r["limit"]] / rate), 1, places=3)

    def test_without_a_gpu_there_is_the_core(self):
        text = self.ok("--log-n", "12", "--only", "ntt", "--seconds", "0.0001")
        self.assertIn("No figures of a GPU: ", text)
        self.assertRegex(text, "portable|avx2|avx512")
        self.fails(NOTHING, ["nothing here can do that; no GPU"], "--on", "cuda", "--check")

    def test_check_measures_nothing(self):
        text = self.ok("--check", "--on", "cpu", "--log-n", "12,13", "--only", "intt")
        self.assertIn("all right", text)
        self.assertNotIn("x floor", text)

    def test_a_planted_error_is_noticed(self):
        self.fails(
            WRONG,
            ["ntt, planted_error, 2^12 on cpu: value 4095", "are wrong on cpu"],
            *SMALL,
            "--only",
            "ntt",
            "--planted-error",
        )

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            inner = pathlib.Path(folder, "made", "here")
            text = self.ok(*SMALL, "--only", "ntt,hmult", "--report", str(inner))
            self.assertIn("## One core", text)
            self.assertLessEqual({"ckks.json", "report.md"}, {path.name for path in inner.iterdir()})

    def test_usage(self):
        self.fails(USAGE, ["--frob", "is no option"], "--frob")
        self.fails(USAGE, ["--seconds"], "--seconds", "0")
        self.fails(USAGE, ["neither cpu nor cuda"], "--on", "avx2")
        self.fails(USAGE, ["there is no 'fft'"], "--only", "fft")
        self.fails(USAGE, ["--only"], "--only", ",")
        self.fails(USAGE, ["from 12 to 16"], "--log-n", "11")
        self.fails(USAGE, ["1 to 16"], "--log-n", "17")
        self.fails(USAGE, ["needs a value"], "--json")
        self.fails(USAGE, ["needs a folder"], "--report", "")
        self.fails(USAGE, ["--check"], "--report", "x", "--check")
        self.fails(FAILED, ["cannot write"], *SMALL, "--only", "ntt", "--json", "/no/such/folder/f")
        self.fails(FAILED, [""], *SMALL, "--only", "ntt", "--report", "/proc/no/such/folder")
        self.assertIn("--planted-error", self.ok("--help"))


if __name__ == "__main__":
    unittest.main()
