# SPDX-License-Identifier: Apache-2.0
"""Tests that the rates from which floors of GPU code are computed are at least those that were measured."""

import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Floors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        constants = re.findall(r"double k(\w+)PerSecond = ([0-9.e]+);", text("bench/cuda/floors_units.hpp"))
        cls.constants = {name: float(value) for name, value in constants}
        cls.rates = {rate["name"]: rate["per_second"]
                     for rate in json.loads(text("bench/results/h200_gpu_rates.json"))["rates"]}

    def assert_covers(self, constant, rate, what):
        self.assertGreaterEqual(self.constants[constant], rate, f"k{constant}PerSecond and {what}")

    def test_rates_of_units(self):
        used = re.findall(r'\{"(\w+)", "[^"]*",[^{}]*?\bk(\w+)PerSecond\}', text("bench/gpu_rates/main.cu"))
        self.assertEqual({constant for _, constant in used}, set(self.constants))
        for name, constant in used:
            if name in self.rates and name != "both_units":
                self.assert_covers(constant, self.rates[name], name)

    def test_both_units_at_once(self):
        self.assertLessEqual(self.rates.get("both_units", 0), 2 * self.constants["Lanes"])

    def test_cleared_memory(self):
        self.assert_covers("Bytes", self.rates["cleared_bytes"], "cleared_bytes")

    def test_rates_of_the_laboratory(self):
        rates = json.loads(text("bench/results/h200_lab.json"))["gpu_rates"]
        for constant, name in (("Macs", "imma"), ("Lanes", "imad"), ("Bytes", "bytes"), ("Butterflies", "butterfly")):
            self.assert_covers(constant, rates[name], name)


if __name__ == "__main__":
    unittest.main()
