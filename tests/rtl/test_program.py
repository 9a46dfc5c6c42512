# SPDX-License-Identifier: Apache-2.0
"""Tests the program with the backend rtl. RTL_MODULE: the core; FAKE_RTL_MODULE: one that fails on request."""

import json
import os
import re
import subprocess
import unittest

PROGRAM, MODULE, FAKE = os.environ["POLYKEM_PROGRAM"], os.environ["RTL_MODULE"], os.environ["FAKE_RTL_MODULE"]
OPS = ("keygen", "encaps", "decaps")


class Program(unittest.TestCase):
    def run_program(self, *args, module=MODULE, **env):
        return subprocess.run([PROGRAM, *args], capture_output=True, text=True, timeout=200, check=False,
                              env={**os.environ, "POLYKEM_RTL_MODULE": module, **env})

    def ok(self, *args, **env):
        done = self.run_program(*args, **env)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def backend(self, **env):
        return next(b for b in json.loads(self.ok("list", "--json", "-", **env))["backends"] if b["name"] == "rtl")

    def test_list(self):
        self.assertTrue(self.backend()["available"])
        sets = json.loads(self.ok("list", "--json", "-"))["schemes"]
        self.assertEqual({s["name"] for s in sets if "rtl" in s["backends"]},
                         {f"{name}{level}" for name in ("mlkem", "kyber") for level in (512, 768, 1024)})
        self.assertTrue(all(s["backends"][0] != "rtl" for s in sets if s["family"] != "mlkem"))

    def test_it_is_never_chosen(self):
        doctor = json.loads(self.ok("doctor", "--json", "-"))
        self.assertFalse([s for s in doctor["schemes"] if s["backend"] == "rtl"])
        tested = next(s for s in doctor["schemes"] if s["name"] == "kyber768")["self_tests"]
        self.assertTrue(next(t for t in tested if t["backend"] == "rtl")["ok"], "but doctor tests it")

    def test_doctor_with_it(self):
        doctor = json.loads(self.ok("doctor", "--json", "-", POLYKEM_BACKEND="rtl"))
        self.assertTrue(doctor["ok"])
        chosen = [s["backend"] for s in doctor["schemes"] if re.fullmatch("(mlkem|kyber)[0-9]+", s["name"])]
        self.assertEqual(chosen, ["rtl"] * 6)
        self.assertTrue(all(s["because"] == "forced by POLYKEM_BACKEND" for s in doctor["schemes"]))

    def test_profile_has_cycles(self):
        args = ("profile", "-s", "mlkem768", "--backend", "rtl", "--count", "3")
        (profile,) = json.loads(self.ok(*args, "--json", "-"))["profiles"]
        self.assertEqual(profile["backend"], "rtl")
        for op in profile["ops"]:
            core = next(s for s in op["stages"] if s["function"].startswith("core"))
            self.assertGreater(core["cycles"], 0)
            self.assertGreater(core["ns"], 0)
        self.assertIn("cycles", self.ok(*args))
        self.assertIn("cycles", self.ok(*args[:2], "mlkem768,kyber512", *args[3:]))
        self.assertNotIn("cycles", self.ok("profile", "-s", "mlkem768", "--backend", "ref", "--count", "3"))

    def test_bench(self):
        bench = json.loads(self.ok("bench", "-s", "kyber512", "--backend", "rtl", "--batch", "1,5", "--seconds", "0.01",
                                   "--json", "-"))
        self.assertIn('"rtl"', json.dumps(bench))

    def test_exchange(self):
        for transport in ("inproc", "tcp"):
            report = json.loads(self.ok("exchange", "-s", "mlkem512", "--backend", "rtl", "--clients", "20",
                                        "--transport", transport, "--compare-seconds", "0", "--json", "-"))
            self.assertIn('"rtl"', json.dumps(report))

    def test_why_not(self):
        for words, env in (("switched off", {"module": ""}), ("another version", {"FAKE_RTL": "other_abi"}),
                           ("no polykem core", {"FAKE_RTL": "foreign"}), ("does not answer", {"FAKE_RTL": "dead"}),
                           ("three devices", {"POLYKEM_RTL_UIO": "/dev/uio7"}), ("was not found", None)):
            if env is None:
                env = {k: v for k, v in os.environ.items() if k != "POLYKEM_RTL_MODULE"}
                command = [PROGRAM, "list", "--json", "-"]
                done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
                if "libpolykem_rtl.so" in os.listdir(os.path.dirname(PROGRAM)):
                    continue
                found = next(b for b in json.loads(done.stdout)["backends"] if b["name"] == "rtl")
            else:
                found = self.backend(**{"module": FAKE, **env})
            self.assertFalse(found["available"])
            self.assertIn(words, found["requirements"])
        done = self.run_program("bench", "-s", "mlkem512", "--backend", "rtl", module="")
        self.assertEqual(done.returncode, 4, done.stderr)

    def test_the_cpu_takes_over(self):
        for fault, words in (("hangs", "in time"), ("ends_early", "sent less"), ("refuses", "refused")):
            done = self.run_program("doctor", "--backend", "rtl", module=FAKE, FAKE_RTL=fault, FAKE_RTL_AFTER="20")
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn("rtl failed: the CPU computed", done.stdout)
            self.assertIn(words, done.stdout)
            self.assertNotIn("cuda failed", done.stdout)

    def test_doctor_finds_wrong_answers(self):
        done = self.run_program("doctor", "--backend", "rtl", module=FAKE, FAKE_RTL="wrong_bit")
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED", done.stdout)
        self.assertIn("What next:\n  polykem doctor --json", done.stdout)


if __name__ == "__main__":
    unittest.main()
