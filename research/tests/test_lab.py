# SPDX-License-Identifier: Apache-2.0
"""Tests polykem-lab: every method of this CPU multiplies correctly, a wrong one is found; JSON, report and errors."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(os.environ.get("POLYKEM_LAB", "build/bin/polykem-lab"))
OK, WRONG, USAGE, NOTHING, FAILED = 0, 1, 2, 4, 5
REPORT = pathlib.Path(__file__).parents[2] / "research/lab/report.py"
CPU = ("--on", "portable,avx2,avx512,amx")


def run(*args):
    return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=120, check=False)


class Lab(unittest.TestCase):
    def ok(self, *args):
        done = run(*args)
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def fails(self, code, words, *args):
        done = run(*args)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("polykem-lab: ", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_all_methods_of_this_cpu(self):
        result = json.loads(self.ok(*CPU, "--items", "3", "--seconds", "0.0001", "--json", "-"))
        self.assertEqual(result["schema"], "polykem-lab-1")
        self.assertIn("--items 3", result["command"])
        self.assertTrue(result["complete"])
        self.assertEqual(result["planned"], len(result["records"]))
        for key in ("cpu", "commit", "compiler", "gpu", "no_gpu"):
            self.assertIn(key, result)
        self.assertRegex(result["sources"], "^[0-9a-f]{16}$")
        problems = {r["problem"] for r in result["records"]}
        self.assertEqual(
            problems,
            {
                "ntru509",
                "ntru677",
                "ntru701",
                "ntru821",
                "ring512",
                "lac512",
                "lac1024",
                "saber256",
                "kyber256",
                "frodo640",
                "frodo976",
                "frodo1344",
                "tensorfro560",
            },
        )
        self.assertTrue(any(r["used"] for r in result["records"]))
        for r in result["records"]:
            self.assertGreater(r["ns"], 0)
            self.assertAlmostEqual(r["ns"] * r["per_second"] / 1e9, 1, places=3)
            self.assertEqual(r["items"], 3)
            self.assertIn(r["shared"], ("none", "a"))
        self.assertGreaterEqual(result["compared"], 3 * len(result["records"]))

    def test_problems_that_must_be_named(self):
        """Every batch has extreme operands first; 37 items also have random ones."""
        text = self.ok(
            *CPU, "--check", "--items", "37", "--problem", "ntru509-general,ntru509-s3,ntru509-bytes,ntru1373"
        )
        self.assertIn("all right", text)

    def test_a_planted_error_is_noticed(self):
        for shared in ("none", "a", "b"):
            self.fails(
                WRONG,
                ["wrong product", "planted_error", "kyber256", "coefficient 255"],
                "--method",
                "planted_error",
                "--problem",
                "kyber256",
                "--shared",
                shared,
            )
        self.fails(
            WRONG,
            ["number 4", "tensorfro560"],
            "--method",
            "planted_error",
            "--problem",
            "tensorfro560",
            "--items",
            "5",
            "--shared",
            "none",
        )

    def test_axes_of_matrices(self):
        result = json.loads(
            self.ok(
                "--on",
                "portable",
                "--problem",
                "frodo640",
                "--n",
                "32,48",
                "--nbar",
                "3,8",
                "--items",
                "2",
                "--seconds",
                "0.0001",
                "--json",
                "-",
            )
        )
        shapes = {(r["n"], r["nbar"]) for r in result["records"]}
        self.assertEqual(shapes, {(32, 3), (32, 8), (48, 3), (48, 8)})

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.ok(
                "--on",
                "portable",
                "--problem",
                "saber256",
                "--items",
                "2",
                "--seconds",
                "0.0001",
                "--report",
                folder,
            )
            self.assertIn("Every method on one core", text)
            written = {path.name for path in pathlib.Path(folder).iterdir()}
            self.assertLessEqual({"lab.json", "report.md"}, written)

    def test_interrupted_run(self):
        """SIGTERM after the first of two problems leaves a file with its figures, and a report says what it lacks."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "lab.json")
            command = [PROGRAM, "--on", "portable", "--problem", "kyber256,ntru821", "--items", "1,2,3,4,5,6"]
            with subprocess.Popen([*command, "--json", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as lab:
                while not path.exists() and lab.poll() is None:
                    time.sleep(0.01)
                lab.send_signal(signal.SIGTERM)
                said = lab.communicate(timeout=60)[1].decode()
            self.assertEqual(lab.returncode, -signal.SIGTERM)
            self.assertIn("interrupted after", said)
            result = json.loads(path.read_text(encoding="utf-8"))
            self.assertFalse(result["complete"])
            self.assertEqual({r["problem"] for r in result["records"]} - {"ntru821"}, {"kyber256"})
            self.assertLess(len(result["records"]), result["planned"])
            drawn = subprocess.run(
                [sys.executable, "-B", REPORT, path, folder], capture_output=True, text=True, timeout=60, check=True
            )
            self.assertIn("incomplete", drawn.stderr)
            self.assertIn("This report is incomplete", pathlib.Path(folder, "report.md").read_text(encoding="utf-8"))

    def test_list_and_help(self):
        text = self.ok("--list")
        for word in ("ntru509", "frodo1344", "kyber256", "schoolbook"):
            self.assertIn(word, text)
        self.assertIn("--nbar", self.ok("--help"))

    def test_usage(self):
        self.fails(USAGE, ["ntru510"], "--problem", "ntru510")
        self.fails(USAGE, ["--items"], "--items", "0")
        self.fails(USAGE, ["multiple of 16"], "--n", "100")
        self.fails(USAGE, ["--frob"], "--frob")
        self.fails(USAGE, ["needs a value"], "--json")
        self.fails(USAGE, ["must be none, a or b"], "--shared", "c")
        self.fails(USAGE, ["--seconds"], "--seconds", "nan")
        self.fails(NOTHING, ["nothing here"], "--method", "no_such_method")
        self.fails(
            FAILED, ["cannot write"], "--on", "portable", "--problem", "kyber256", "--check", "--json", "/no/such/f"
        )


if __name__ == "__main__":
    unittest.main()
