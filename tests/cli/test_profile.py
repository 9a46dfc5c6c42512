# SPDX-License-Identifier: Apache-2.0
"""Tests polykem profile."""

import csv
import io
import unittest

from program import OTHER, SET, USAGE, Case


class Profile(Case):
    def test_json(self):
        result = self.json("profile", "-s", SET, "--count", "20", "--batch", "8")
        self.assertEqual(result["schema"], "polykem-profile-1")
        (profile,) = result["profiles"]
        self.assertEqual([op["op"] for op in profile["ops"]], ["keygen", "encaps", "decaps"])
        for op in profile["ops"]:
            self.assertEqual(op["count"], 20)
            self.assertEqual(op["stages_ns"], sum(s["ns"] for s in op["stages"]))
            self.assertLessEqual(op["stages_ns"], op["wall_ns"])
            self.assertLessEqual(sum(s["share"] for s in op["stages"]), 1.0001)
            for s in op["stages"]:
                self.assertEqual(s["items"], 20 * s["steps"], s)
                self.assertGreater(s["ns"], 0)

    def test_merge(self):
        merged = self.json("profile", "-s", SET, "--op", "keygen", "--count", "4", "--backend", "ref")
        single = self.json("profile", "-s", SET, "--op", "keygen", "--count", "4", "--backend", "ref", "--no-merge")
        rows = [[s["function"] for s in r["profiles"][0]["ops"][0]["stages"]] for r in (merged, single)]
        self.assertEqual(len(rows[0]), len(set(rows[0])))
        self.assertFalse(any("." in name for name in rows[0]), rows[0])
        self.assertTrue(any("." in name for name in rows[1]), rows[1])
        self.assertEqual({name.split(".")[0] for name in rows[1]}, set(rows[0]))

    def test_tables(self):
        text = self.ok("profile", "-s", SET, "--count", "4")
        for word in ("keygen", "encaps", "decaps", "poly_Rq_mul", "total", "100.0"):
            self.assertIn(word, text)
        side = self.ok("profile", "-s", f"{SET},{OTHER}", "--op", "encaps", "--count", "4", "--format", "markdown")
        self.assertIn(f"{SET} ms", side)
        self.assertIn(f"{OTHER} ms", side)
        rows = list(csv.DictReader(io.StringIO(self.ok("profile", "--all", "--count", "2", "--format", "csv"))))
        sets = self.json("list")
        names = {s["name"] for s in [*sets["schemes"], *sets["signatures"]]}
        self.assertEqual({r["scheme"] for r in rows}, names)
        for name in {r["scheme"] for r in rows}:
            total = sum(float(r["percent"]) for r in rows if r["scheme"] == name and r["op"] == "keygen")
            self.assertAlmostEqual(total, 100, delta=0.1)

    def test_steps(self):
        sets = ["efrodokem640aes", "frodokem640shake", "saber", "lac128"]
        args = ("profile", "-s", ",".join(sets), "--steps", "--backend", "all", "--count", "2")
        result = self.json(*args)
        available = [b["name"] for b in self.json("list")["backends"] if b["available"]]
        backends = [name for name in available if name not in ("cuda", "rtl")]
        found = [(p["scheme"], p["backend"]) for p in result["profiles"] if p["backend"] in backends]
        # A set that a backend leaves to another appears once: amx serves FrodoKEM alone.
        served = [(name, backend) for name in sets for backend in backends if backend != "amx" or "frodo" in name]
        self.assertEqual(found, served)
        for profile in result["profiles"]:
            for op in profile["ops"]:
                self.assertAlmostEqual(sum(step["share"] for step in op["steps"]), 1, delta=1e-6)
                steps = {step["step"]: step["ns"] for step in op["steps"]}
                for name in ("hash", "gen A", "product", "sampling", "rest"):
                    fused = steps["gen A, product"] if name in ("gen A", "product") else 0
                    self.assertGreater(steps[name] + fused, 0, (profile["scheme"], op["op"], name))
                self.assertEqual(steps["inversion"], 0)
                self.assertEqual(steps["OS randomness"] == 0, op["op"] == "decaps")
        text = self.ok(*args)
        for word in ("OS randomness", "gen A", "sampling", "frodokem640shake"):
            self.assertIn(word, text)
        self.assertNotIn("inversion", text)
        self.fails(USAGE, ["--steps"], "profile", "-s", SET, "--backend", "all")

    def test_family_and_errors(self):
        self.assertEqual(len(self.json("profile", "-s", "ntru", "--op", "encaps", "--count", "1")["profiles"]), 6)
        self.fails(USAGE, ["--all"], "profile")
        self.fails(USAGE, ["no operation 'sign'"], "profile", "-s", SET, "--op", "sign")
        self.fails(USAGE, ["no operation 'seal'"], "profile", "-s", SET, "--op", "seal")
        self.fails(USAGE, ["did you mean"], "profile", "-s", "ntruhps2048508")
        self.fails(USAGE, ["at least 1"], "profile", "-s", SET, "--count", "0")
        self.fails(USAGE, ["excludes"], "profile", "-s", SET, "--all")


if __name__ == "__main__":
    unittest.main()
