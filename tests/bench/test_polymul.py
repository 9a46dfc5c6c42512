# SPDX-License-Identifier: Apache-2.0
"""polykem_bench_polymul: its products are right, its JSON and its errors are those of the other programs."""

from program import USAGE, Case


class Polymul(Case):
    def test_polymul(self):
        result = self.json("--cpu", "--n", "509")
        self.assertEqual(result["schema"], "polykem-bench-polymul-1")
        self.assertEqual(result["checked"], len(result["records"]))
        self.assertTrue(any(r["used"] for r in result["records"]))
        for r in result["records"]:
            self.assertEqual(r["n"], 509)
            self.assertGreater(r["time"], 0)
        self.assertIn("asked for the CPU", self.ok("--cpu", "--n", "509"))
        self.fails(USAGE, ["510"], "--n", "510")
        self.fails(USAGE, ["--batch"], "--batch", "0")
