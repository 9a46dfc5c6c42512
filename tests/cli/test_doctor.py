# SPDX-License-Identifier: Apache-2.0
"""Tests polykem doctor: self-tests, and from which batch size a GPU pays."""

import hashlib
import os
import re
import unittest

from program import BACKEND, Case, unpacked, vectors


class Doctor(Case):
    def test_all_is_well(self):
        said = self.ok("doctor", "--backend", self.quick_backend())
        self.assertIn("All is well.", said)
        self.assertRegex(said, r"CPUs to use   \d+ \(an affinity of \d+, (no quota of control groups|"
                               r"control groups with a quota of [0-9.]+)\)")

    def test_it_ends_with_commands_that_there_are(self):
        said = self.ok("doctor", "--backend", self.quick_backend())
        commands = re.findall(r"(?m)^  polykem (\S+) ?(\S*)", said.split("\nWhat next:\n")[1])
        self.assertGreaterEqual(len(commands), 3)
        for name, option in commands:
            self.assertRegex(self.ok(name, "--help"), rf"Usage: polykem {name}\b(?s:.*){option}")

    def test_json_and_known_answers(self):
        result = self.json("doctor")
        self.assertTrue(result["ok"])
        self.assertGreaterEqual(len(result["schemes"]), 6)
        for entry in result["schemes"]:
            self.assertTrue(entry["backend"])
            for test in entry["self_tests"]:
                self.assertTrue(test["ok"] and test["round_trip"] and test["rejection"] and test["known_answer"], test)
            answer = self.answer(entry["name"])
            self.assertEqual(entry["known_answer_digest"], hashlib.shake_128(answer).hexdigest(32))

    def answer(self, name):
        """Returns the bytes whose digest the set's self-test has."""
        if name.startswith("mldsa"):
            kind = "verify" if name == "mldsa87" else "sign_seed"
            group = unpacked(f"mldsa/mldsa_{name[5:]}_{kind}_test.json.gz")["testGroups"][0]
            return bytes.fromhex(group["publicKey"] + group["tests"][0]["sig"])
        case = vectors(name)["counts"][0]
        return bytes.fromhex(case["pk"] + case["sk"] + case["ct"] + case["ss"])

    def test_it_says_how_many_cpus_it_uses_and_why(self):
        before = os.sched_getaffinity(0)
        try:
            os.sched_setaffinity(0, {min(before)})
            result = self.json("doctor", "--backend", self.quick_backend())
        finally:
            os.sched_setaffinity(0, before)
        self.assertEqual(result["cpus"], 1)
        self.assertIn("an affinity of 1, ", result["cpus_reason"])

    def test_tune_without_a_gpu(self):
        self.fails(BACKEND, ["switched off"], "doctor", "--tune", "-q", env={"POLYKEM_CUDA_MODULE": ""})
        env = {"POLYKEM_CUDA_MODULE": "", "XDG_CACHE_HOME": str(self.dir)}
        crossover = self.json("doctor", "--backend", self.quick_backend(), env=env)["crossover"]
        self.assertEqual(crossover["sets"], [])
        self.assertIn("guessed", crossover["note"])


if __name__ == "__main__":
    unittest.main()
