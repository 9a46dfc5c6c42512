# SPDX-License-Identifier: Apache-2.0
"""Tests ckks/bench/report_ckks.py: tables and, if matplotlib is installed, plots of a small document."""

import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[3]
REPORT = ROOT / "ckks/bench/report_ckks.py"
sys.path.append(str(REPORT.parent))
import report_ckks  # noqa: E402


def row(operation, ns, floor_ns, **more):
    return {"operation": operation, "on": "cuda", "unit": "integer", "log_n": 16, "bits": 31, "batch": 1, "ns": ns,
            "per_second": 1e9 / ns, "floor_ns": floor_ns, "limit": "bytes", "used": False, **more}  # fmt: skip


def transform(operation, form, log_n, ns, **more):
    return row(operation, ns, 100, form=form, log_n=log_n, limbs=16, batch=1024, **more)


def switched(operation, unit, batch, ns):
    return row(operation, ns, 50e3, unit=unit, batch=batch, limbs=48, specials=12, digits=4, launches=11, registers=64,
               shared_bytes=1024, threads=256, blocks_per_multiprocessor=4, occupancy=0.5)  # fmt: skip


def fixture():
    records = [
        transform("ntt", "one block", 12, 200, used=True),
        transform("intt", "one block", 12, 250),
        transform("ntt", "cluster of 8", 16, 400, used=True, sustained_ns=500),
        transform("intt", "cluster of 8", 16, 500),
        transform("ntt", "imma 16x16x16x16", 16, 800, unit="imma"),
        transform("intt", "imma 16x16x16x16", 16, 1000, unit="imma"),
        transform("ntt", "cluster of 8", 16, 1000, bits=60),
        transform("intt", "cluster of 8", 16, 1000, bits=60),
        *(switched(operation, unit, batch, ns * (2 if batch == 1 else 1))
          for operation in ("hmult", "hrotate", "conversion_up") for batch in (1, 64)
          for unit, ns in (("integer", 300e3), ("imma", 200e3))),
        row("hmult", 500e3, 100e3, bits=60, limbs=24, specials=6, digits=4),
        row("hmult", 600e6, 200e6, on="cpu", limbs=48, specials=12, digits=4),
    ]  # fmt: skip
    return {"schema": "polykem-lab-ckks-1", "version": "0.1.0", "commit": "0123456", "compiler": "c", "command": "test",
            "cpu": "a core", "gpu": "a card", "no_gpu": None, "complete": True, "compared": 12345, "rates": {},
            "records": records}  # fmt: skip


class Tables(unittest.TestCase):
    def setUp(self):
        self.records, self.published = report_ckks.Records(fixture()), report_ckks.load_published()

    def rows(self, head_and_rows):
        head, rows = head_and_rows
        for cells in rows:
            self.assertEqual(len(cells), len(head))
        return {cells[0]: dict(zip(head, cells)) for cells in rows}

    def test_forms(self):
        rows = self.rows(report_ckks.forms_table(self.records, self.published, 32))
        self.assertEqual(rows["one block"], {"form": "one block", "2^12": "5 / 4 (x2.00, x2.50) *", "2^16": ""})
        self.assertEqual(rows["cluster of 8"]["2^16"], "2.5 / 2 (x4.00, x5.00) *")
        self.assertEqual(rows["those with *, for a second"]["2^16"], "2")
        self.assertEqual(rows["GPU-NTT, residues of 29 bits"]["2^12"], "18.4 / 17.8")
        self.assertEqual(rows["Cheddar, 48 limbs, each its prime"]["2^16"], "1.86 / 1.96")
        wide = self.rows(report_ckks.forms_table(self.records, self.published, 64))
        self.assertEqual(wide["cluster of 8"]["2^16"], "1 / 1 (x10.00, x10.00)")

    def test_operations(self):
        rows = self.rows(report_ckks.operations_table(self.records, self.published, 31))
        product = rows["HMULT with relinearisation"]
        self.assertEqual((product["batch 1"], product["batch 64"]), ("2,500", "5,000"))
        self.assertEqual((product["x floor, 1"], product["x floor, 64"]), ("8.00", "4.00"))
        self.assertEqual(product["batch 1 over Cheddar"], "1.07x")
        self.assertEqual(product["one core"], "1.67")
        wide = self.rows(report_ckks.operations_table(self.records, self.published, 60))
        self.assertEqual(wide["HMULT with relinearisation"]["batch 1 over Phantom"], "1.38x")

    def test_tensor_cores_lose_and_win(self):
        rows = self.rows(report_ckks.tensor_core_table(self.records))
        gains = {name: cells["tensor cores over integer units"] for name, cells in rows.items()}
        self.assertEqual(gains["NTT, N = 2^16"], "0.50x")
        self.assertEqual(gains["conversion alone, raising, batch 64"], "1.50x")

    def test_papers(self):
        rows = self.rows(report_ckks.papers_table(self.records, self.published))
        self.assertEqual(rows["TensorFHE"]["NTT a second"], "913,000")
        self.assertEqual(rows["polykem"]["HMULT a second"], "5,000")
        self.assertIn("48 + 12 limbs, batch 64", rows["polykem"]["parameters"])

    def test_published_figures_have_sources(self):
        for peer in self.published["measured"]["transforms"] + self.published["measured"]["operations"]:
            self.assertIn(peer["name"], self.published["measured"]["sources"])
        for peer in self.published["published"]["rows"]:
            self.assertTrue(peer["source"] and peer["parameters"] and peer["card"])


class Program(unittest.TestCase):
    def report(self, document, folder):
        path = pathlib.Path(folder, "ckks.json")
        path.write_text(json.dumps(document), encoding="utf-8")
        command = [sys.executable, "-B", REPORT, path, pathlib.Path(folder, "out")]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def test_report(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.report(fixture(), folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(pathlib.Path(folder, "out/report.md").read_text(encoding="utf-8"), done.stdout)
            self.assertIn("| 11 | 64 | 1,024 | 4 x 256, 50 % |", done.stdout)
            plots = {path.name for path in pathlib.Path(folder, "out").glob("*.svg")}
            if importlib.util.find_spec("matplotlib") is None:
                self.assertIn("matplotlib is missing", done.stderr)
            else:
                self.assertEqual(plots, {f"ckks_{n}.svg" for n in ("ntt", "ntt_floor", "batch", "tensor_cores")})

    def test_without_a_gpu(self):
        document = fixture()
        document.update(gpu=None, no_gpu="there is no GPU", complete=False)
        document["records"] = [r for r in document["records"] if r["on"] == "cpu"]
        with tempfile.TemporaryDirectory() as folder:
            done = self.report(document, folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("No figures of a GPU: there is no GPU.", done.stdout)
            self.assertIn("This report is incomplete", done.stdout)
            titles = re.findall("^## .*", done.stdout, re.M)
            self.assertEqual(titles, ["## What papers say of their own GPUs", "## One core"])
            self.assertIn("no plots", done.stderr)

    def test_other_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for document, words in (({"schema": "polykem-lab-1"}, "is not what polykem-lab ckks"),
                                    ({**fixture(), "records": []}, "has no figures")):  # fmt: skip
                done = self.report(document, folder)
                self.assertEqual(done.returncode, 1)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
