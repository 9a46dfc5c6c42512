# SPDX-License-Identifier: Apache-2.0
"""Tests the list of sets, their sizes and backends: polykem list."""

import csv
import io
import json
import unittest

from program import DATA, IO, SET, USAGE, Case


class List(Case):
    def test_table_names_all_vector_sets(self):
        text = self.ok("list")
        for path in DATA.glob("ntru*.json"):
            self.assertIn(path.stem, text)

    def test_json_sizes_agree_with_the_vectors(self):
        result = self.json("list")
        self.assertEqual(result["schema"], "polykem-list-1")
        sets = {s["name"]: s for s in result["schemes"]}
        paths = [*DATA.glob("ntru*.json"), *DATA.glob("lac*.json")]
        self.assertGreaterEqual(len(paths), 6)
        for path in paths:
            want = json.loads(path.read_text())
            got = sets[path.stem]
            sizes = [got[f"{k}_bytes"] for k in ("public_key", "secret_key", "ciphertext", "shared_secret")]
            self.assertEqual(sizes, [want["bytes"][k] for k in ("pk", "sk", "ct", "ss")])
            self.assertEqual(got["keygen_coin_bytes"], sum(want["keypair_draw_lengths"]))
            self.assertEqual(got["encaps_coin_bytes"], sum(want["encaps_draw_lengths"]))
            self.assertIn("ref", got["backends"])
        self.assertIn("ref", [b["name"] for b in result["backends"] if b["available"]])

    def test_lac_is_for_research_only(self):
        sets = {s["name"]: s["research"] for s in self.json("list")["schemes"]}
        self.assertEqual({s for s in sets if sets[s]}, {s for s in sets if s.startswith("lac")})
        self.assertIn("lac128", sets)
        self.assertIn("LAC-128, lac128_r2, research only", self.ok("list"))

    def test_formats(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("list", "--format", "csv"))))
        self.assertIn(SET, [r["set"] for r in rows])
        self.assertTrue(self.ok("list", "--format", "markdown").startswith("| set"))
        self.fails(USAGE, ["no table format 'html'"], "list", "--format", "html")

    def test_json_file_is_written_whole(self):
        self.ok("list", "--json", "out.json")
        self.assertEqual(self.files(), ["out.json"])
        self.assertIn("schemes", json.loads(self.read("out.json")))
        self.fails(IO, ["no/such/out.json"], "list", "--json", "no/such/out.json")


if __name__ == "__main__":
    unittest.main()
