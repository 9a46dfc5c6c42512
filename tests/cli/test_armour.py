# SPDX-License-Identifier: Apache-2.0
"""Tests the armour around keys and ciphertexts, and what is refused in it."""

import base64
import unittest

from program import BAD_INPUT, OTHER, SET, Case


class Armour(Case):
    def setUp(self):
        super().setUp()
        self.keys()
        self.pk = self.read("pk").decode()

    def refused(self, text, words):
        self.write("bad", text)
        self.fails(BAD_INPUT, words, "encaps", "--pk", "bad", "--ct", "x", "--ss", "y")
        self.assertEqual(self.files(), ["bad", "pk", "sk"])

    def test_is_plain_base64(self):
        lines = self.pk.splitlines()
        raw = base64.b64decode("".join(lines[1:-1]), validate=True)
        self.assertEqual(len(raw), 699)
        self.assertTrue(all(len(line) == 64 for line in lines[1:-2]))
        self.write("raw", raw)
        self.ok("encaps", "-s", SET, "--pk", "raw", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))

    def test_foreign_line_ends_and_blanks(self):
        self.write("dos", "\r\n" + self.pk.replace("\n", "\r\n") + "\r\n")
        self.ok("encaps", "--pk", "dos", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))

    def test_truncated_anywhere(self):
        for length in (20, 45, 100, 500, len(self.pk) // 2, len(self.pk) - 30, len(self.pk) - 3):
            with self.subTest(length):
                self.refused(self.pk[:length], ["'bad'"])

    def test_shortened_body(self):
        lines = self.pk.splitlines()
        self.refused("\n".join(lines[:3] + lines[4:]), ["651 bytes", "699"])

    def test_wrong_kind_and_set(self):
        outputs = ("--ct", "x", "--ss", "y")
        self.fails(BAD_INPUT, ["a secret key, expected a public key"], "encaps", "--pk", "sk", *outputs)
        self.fails(BAD_INPUT, [f"is of set {SET}, expected {OTHER}"], "encaps", "-s", OTHER, "--pk", "pk", *outputs)
        self.refused(self.pk.replace(SET, OTHER), ["699 bytes", "expected 1,138 for NTRU-HRSS-701"])
        self.refused(self.pk.replace(SET, "ntruhps2048510"), ["no parameter set 'ntruhps2048510'", SET])

    def test_sets_do_not_mix(self):
        self.ok("keygen", "-s", OTHER, "--pk", "pk2", "--sk", "sk2")
        self.ok("encaps", "--pk", "pk2", "--ct", "ct2", "--ss", "a")
        hint = "use keys and ciphertexts of one set"
        self.fails(BAD_INPUT, [hint], "decaps", "--sk", "sk", "--ct", "ct2", "--ss", "b")
        self.write("mixed", self.pk + self.read("pk2").decode())
        self.fails(BAD_INPUT, ["is of set"], "encaps", "--pk", "mixed", "--ct", "x", "--ss", "y")

    def test_damage(self):
        lines = self.pk.splitlines()
        self.refused("\n".join([lines[0], "*" + lines[1][1:], *lines[2:]]), ["line 2", "not base64"])
        self.refused("\n".join([lines[0], lines[1][:-1] + "=", *lines[2:]]), ["line 3", "after its padding"])
        self.refused("\n".join([*lines[:-1], lines[-1].replace("PUBLIC", "SECRET")]), ["END line"])
        self.refused("\n".join(["-----BEGIN CERTIFICATE-----", *lines[1:]]), ["line 17", "the END line does not fit"])
        self.refused(self.pk + "trailing words\n", ["outside of a block"])


if __name__ == "__main__":
    unittest.main()
