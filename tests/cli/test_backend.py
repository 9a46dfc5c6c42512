# SPDX-License-Identifier: Apache-2.0
"""Tests which backend runs, and how to force one."""

import unittest

from program import BACKEND, SET, USAGE, Case


class Backend(Case):
    def backend(self, *args, env=None):
        result = self.json("profile", "-s", SET, "--op", "encaps", "--count", "1", *args, env=env)
        return result["profiles"][0]["backend"]

    def test_option_and_variable_force(self):
        self.assertEqual(self.backend("--backend", "ref"), "ref")
        self.assertEqual(self.backend(env={"POLYKEM_BACKEND": "ref"}), "ref")
        for entry in self.json("list")["schemes"]:
            if entry["name"] == SET:
                self.assertEqual(self.backend(), entry["backends"][0])
                for name in entry["backends"]:
                    self.assertEqual(self.backend("--backend", name), name)
                    self.assertEqual(self.backend("--backend", name, env={"POLYKEM_BACKEND": "ref"}), name)

    def test_doctor_says_why(self):
        name = self.quick_backend()
        reasons = [
            self.json("doctor", *args, env=env)["schemes"][0]["because"]
            for args, env in ((["--backend", name], None), ([], {"POLYKEM_BACKEND": name}), ([], None))
        ]
        self.assertEqual(reasons, ["forced by --backend", "forced by POLYKEM_BACKEND", "best that runs here"])

    def test_unknown(self):
        args = ("keygen", "-s", SET, "--pk", "a", "--sk", "b")
        self.fails(USAGE, ["no backend 'fpga'", "ref"], *args, "--backend", "fpga")
        self.fails(USAGE, ["no backend 'fpga' (from POLYKEM_BACKEND)"], *args, env={"POLYKEM_BACKEND": "fpga"})
        self.assertEqual(self.files(), [])

    def test_unavailable(self):
        """A backend that this machine cannot run, or that has no plan for the set, ends with exit code 4."""
        listed = self.json("list")
        here = next(s["backends"] for s in listed["schemes"] if s["name"] == SET)
        absent = [b["name"] for b in listed["backends"] if b["name"] not in here]
        for name in absent:
            self.fails(BACKEND, [f"'{name}'"], "keygen", "-s", SET, "--pk", "a", "--sk", "b", "--backend", name)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
