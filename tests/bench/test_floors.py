# SPDX-License-Identifier: Apache-2.0
"""Tests the floors of CPU cores, and which measured record a table shows."""

import json
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench/results"
sys.path += [str(ROOT / "tools"), str(ROOT / "python/polykem")]

PACKAGE = types.ModuleType("polykem")  # without its __init__, which needs the extension
PACKAGE.__path__ = [str(ROOT / "python/polykem")]
sys.modules["polykem"] = PACKAGE

from page_tables import cpu as cpu_tables  # noqa: E402  pylint: disable=wrong-import-position
import cpu_floors  # noqa: E402  pylint: disable=wrong-import-position
import polykem.report.documents  # noqa: E402  pylint: disable=wrong-import-position
from cpu_floors import (GOLDEN_COVE, GOLDEN_COVE_AMX, ZEN5, PortModel,  # noqa: E402  pylint: disable=C0413
                        floors, model_of)


def measured():
    """Returns the documents of `make bench-peers`, one for each kind of machine that was measured."""
    files = [RESULTS / kind.file for kind in (cpu_tables.ZEN5, cpu_tables.XEON)]
    return [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]


def row(count, backend, ratio, **more):
    return {"scheme": "mlkem768", "op": "encaps", "threads": 1, "keys": "per-item", "count": count,
            "backend": backend, "ratio": ratio, **more}


class Layouts(unittest.TestCase):
    def test_ports_that_are_shared_bound_the_sum(self):
        model = PortModel({"add": "05", "rotate": "0", "permute": "5"})
        self.assertEqual(model.cycles(rotate=10, permute=4), 10)
        self.assertEqual(model.cycles(rotate=10, permute=8, add=6), 12)
        self.assertEqual(model.cycles(add=30), 15)
        self.assertEqual(model.cycles(), 0)

    def test_machines(self):
        for words, model in ((cpu_tables.ZEN5.machine, ZEN5), ("AMD EPYC 9965 192-Core Processor, AVX-512", ZEN5),
                              (cpu_tables.XEON.machine, GOLDEN_COVE_AMX),
                              ("Intel(R) Xeon(R) Processor, AVX-512, AMX", GOLDEN_COVE_AMX),
                              ("Intel(R) Xeon(R) Processor, AVX-512", GOLDEN_COVE),
                              ("Intel(R) Xeon(R) CPU E5-2680", None), ("AMD EPYC 7763 64-Core Processor", None)):
            self.assertIs(model_of(words), model, words)

    def test_the_models_are_what_was_measured(self):
        for kind, model in ((cpu_tables.ZEN5, ZEN5), (cpu_tables.XEON, GOLDEN_COVE_AMX)):
            document = json.loads((RESULTS / kind.rates_file).read_text(encoding="utf-8"))
            rates = {r["name"]: r["per_cycle"] for r in document["rates"]}
            for name, operation in cpu_tables.RATES_OF_FLOORS.items():
                self.check(rates[name], 1 / model.cycles(**{operation: 1}), name)
            for first, second in (("vprolq", "vpternlogq"), ("vpmullw", "vpaddw"), ("vpminud", "vpternlogq"),
                                  ("vaesenc", "vpmullw"), ("vaesenc", "vpaddw")):
                operations = {cpu_tables.RATES_OF_FLOORS[name]: 1 for name in (first, second)}
                self.check(rates[f"{first}, {second}"], 2 / model.cycles(**operations), (first, second))
            if model.tile_macs:
                self.assertTrue(0.85 * 1024 < rates["tdpbusd"] < model.tile_macs)

    def check(self, measured_rate, rate, what):
        self.assertTrue(0.95 * rate < measured_rate < 1.01 * rate, (what, measured_rate, rate))


class Floors(unittest.TestCase):
    def test_comparators(self):
        """The numbers for the merge exchange of 2 to 8 keys, and of 16, are those of [KNUTH3, 5.3.4]."""
        self.assertEqual([cpu_floors.comparators(n) for n in range(2, 9)], [1, 3, 5, 9, 12, 16, 19])
        self.assertEqual(cpu_floors.comparators(16), 63)

    def test_permutation(self):
        """A permutation is 90 operations a round, 24 rounds, for eight messages."""
        self.assertEqual(cpu_floors.permutation(ZEN5), 90 / 4 * 24 / 8)
        self.assertEqual(cpu_floors.permutation(GOLDEN_COVE), 90 / 2 * 24 / 8)

    def test_frodo_matrix(self):
        """A takes eight AES rounds for four blocks of eight coefficients, its product eight multiplications a
        coefficient, 32 an instruction; on a Zen 5, with AES, 9 / 16 as many, and additions on ports that are free."""
        rounds, products = 976 * 976 / 8 * 8 / 4, 8 * 976 * 976 / 32
        self.assertEqual(cpu_floors.frodo_matrix(ZEN5, 976, True, False), (rounds + products * 9 / 16) / 2)
        self.assertEqual(cpu_floors.frodo_matrix(GOLDEN_COVE, 976, True, False), rounds)  # products fit beside
        self.assertEqual(cpu_floors.frodo_matrix(GOLDEN_COVE, 976, True, True), products / 2)
        self.assertEqual(cpu_floors.frodo_matrix(GOLDEN_COVE_AMX, 976, True, True), 2 * 8 * 976 * 976 / 1024)

    def test_nothing_measured_is_below_its_floor(self):
        checked = 0
        for document in measured():
            model = model_of(document["machine"])
            for r in document["records"]:
                if r["threads"] == 1 and r["backend"] != "avx2" and r["keys"] != "parsed":
                    floor = floors(r["scheme"], r["keys"] == "shared", model)[r["op"]]
                    self.assertGreater(document["ghz"] * 1e9 / r["ours_ops_per_s"], floor, r)
                    checked += 1
        self.assertGreater(checked, 100)

    def test_unknown_machines_and_sets_have_none(self):
        self.assertEqual(cpu_floors.floor("mlkem768", "encaps", "some CPU"), 0)
        self.assertEqual(cpu_floors.floor("nosuchset", "encaps", cpu_tables.ZEN5.machine), 0)
        self.assertGreater(cpu_floors.floor("mlkem768", "encaps", cpu_tables.ZEN5.machine), 0)


class Report(unittest.TestCase):
    def test_small_batches_and_threads_are_not_drawn(self):
        more = {"peer": "liboqs", "ours_ops_per_s": 1000}
        rows = [row(count, "amx", 2, forced=False, **more) for count in (1, 2, 16, 1024)]
        rows += [row(1024, "avx2", 2, forced=True, **more),
                 row(8192, "amx", 2, **{**more, "peer": "polykem, 1 thread"})]  # fmt: skip
        document = {"machine": cpu_tables.XEON.machine, "ghz": 1, "records": rows}
        records = polykem.report.documents.Records()
        polykem.report.documents.read_peers(document, records)
        self.assertEqual([(p.batch, p.backend) for p in records.peers], [(1, "amx"), (1024, "amx"), (1024, "avx2")])
        self.assertEqual([f.time for f in records.floors], [1e6])
        self.assertEqual(records.floors[0].floor, floors("mlkem768", False, GOLDEN_COVE_AMX)["encaps"])


class Tables(unittest.TestCase):
    def core(self, *records):
        core = cpu_tables.Core(cpu_tables.Kind("", "_nowhere", ""))
        core.records = list(records)
        return core

    def test_a_file_of_an_earlier_version(self):
        core = self.core(row(1024, "avx2", 2), row(1, "avx512", 1), row(1024, "avx512", 5))
        self.assertEqual(core.find("mlkem768", "encaps")["ratio"], 5)
        self.assertEqual(core.find("mlkem768", "encaps", count=1)["ratio"], 1)
        self.assertEqual(core.find("mlkem768", "encaps", "avx2")["ratio"], 2)

    def test_backends_that_were_chosen_or_forced(self):
        core = self.core(row(2, "avx512", 7, forced=False), row(64, "avx2", 2, forced=True),
                         row(64, "amx", 6, forced=False))  # fmt: skip
        self.assertEqual(core.find("mlkem768", "encaps")["ratio"], 6)
        self.assertEqual(core.find("mlkem768", "encaps", count=2)["ratio"], 7)
        self.assertEqual(core.find("mlkem768", "encaps", "avx2")["ratio"], 2)
        self.assertIsNone(core.find("mlkem768", "encaps", count=4))

    def test_all_peers_and_small_batches(self):
        peers = [{"name": "A", "ops_per_s": 2000, "ratio": 6}, {"name": "B", "ops_per_s": 1000, "ratio": 12}]
        more = {"forced": False, "peers": peers, "peer": "A", "ours_ops_per_s": 12000}
        results = mock.Mock(sets=[{"name": "mlkem768"}])
        results.xeon = self.core(*(row(count, "avx512", count / 10, op=op, **more)
                                   for op in cpu_tables.OPS for count in (1, 4, 1024)))  # fmt: skip
        self.assertIn("| mlkem768 | encaps | 12,000 | 2,000 | 1,000 |", cpu_tables.table_each_peer(results))
        self.assertIn("| set | single item | 4 | full batch |", cpu_tables.table_small(results))
        self.assertIn("| mlkem768 | 0.10, 0.10, 0.10 | 0.40, 0.40, 0.40 | 102.40, 102.40, 102.40 |",
                      cpu_tables.table_small(results))

    def test_results_go_to_the_files_of_their_machine(self):
        document = {"machine": "Intel(R) Xeon(R) Processor, AVX-512, AMX", "ghz": 3.5, "records": [row(1, "amx", 2)]}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "bench-peers.json").write_text(json.dumps(document), encoding="utf-8")
            with mock.patch.multiple(cpu_tables, BUILD=Path(folder), RESULTS=Path(folder)):
                cpu_tables.record()
            found = json.loads(Path(folder, "cpu_peers_xeon.json").read_text(encoding="utf-8"))
            self.assertEqual(found, {**document, "machine": cpu_tables.XEON.machine, "commit": cpu_tables.commit()})
            self.assertEqual(len(list(Path(folder).iterdir())), 2)

    def test_results_of_other_machines_are_not_recorded(self):
        document = {"machine": "AMD EPYC 9354 32-Core Processor, AVX-512", "ghz": 3.5, "records": []}
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "bench-peers.json").write_text(json.dumps(document), encoding="utf-8")
            with mock.patch.multiple(cpu_tables, BUILD=Path(folder), RESULTS=Path(folder)):
                with self.assertRaisesRegex(SystemExit, "EPYC 9354.*only results of a Zen 5"):
                    cpu_tables.record()
            self.assertEqual(len(list(Path(folder).iterdir())), 1)


if __name__ == "__main__":
    unittest.main()
