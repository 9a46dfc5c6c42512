# SPDX-License-Identifier: Apache-2.0
"""Tests files of very many records: memory stays flat, results are those of single records, errors name the record."""

import base64
import os
import subprocess
import unittest

from program import BAD_INPUT, PROGRAM, USAGE, Case

QUICK = "mlkem512"
PK, SK, CT, SS = 800, 1632, 768, 32
MANY = 100_000
AT_ONCE = (16 << 20) // (PK + SK + CT + SS)  # of items_at_once(), so that the tests know where batches end
FLAT_MIB = 64


def sanitized():
    with open(PROGRAM, "rb") as program:
        return b"__asan_init" in program.read()


class ManyRecords(Case):
    def flat(self, *args):
        """Runs a command that must succeed within FLAT_MIB of memory."""
        process = subprocess.Popen([PROGRAM, *args], cwd=self.dir, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        if not sanitized():
            self.assertLess(usage.ru_maxrss >> 10, FLAT_MIB, args[0])

    def test_memory_is_flat(self):
        raw = ("--format", "raw", "--threads", "2")
        self.flat("keygen", "-s", QUICK, "--count", str(MANY), "--pk", "pk", "--sk", "sk", *raw)
        self.assertEqual((self.dir / "sk").stat().st_size, MANY * SK)
        self.flat("encaps", "-s", QUICK, "--pk", "pk", "--ct", "ct", "--ss", "a", *raw)
        self.flat("decaps", "-s", QUICK, "--sk", "sk", "--ct", "ct", "--ss", "b", *raw)
        self.assertEqual(len(self.read("a")), MANY * SS)
        self.assertTrue(self.read("a") == self.read("b"))

    def test_memory_is_flat_with_armour_and_one_key(self):
        self.ok("keygen", "-s", QUICK, "--pk", "pk", "--sk", "sk")
        self.flat("encaps", "--pk", "pk", "--count", str(MANY), "--ct", "ct", "--ss", "a")
        self.flat("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertTrue(self.read("a") == self.read("b"))

    def test_armour_of_several_batches(self):
        count = 2 * AT_ONCE + 3
        self.ok("keygen", "-s", QUICK, "--pk", "pk", "--sk", "sk")
        self.ok("encaps", "--pk", "pk", "--count", count, "--ct", "ct", "--ss", "a", "--format", "raw")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        secrets = self.read("a")
        self.assertEqual(len(secrets), count * SS)
        label = f"{QUICK} SHARED SECRET-----\n"
        want = "".join(
            f"-----BEGIN {label}{base64.b64encode(secrets[i:i + SS]).decode()}\n-----END {label}"
            for i in range(0, len(secrets), SS)
        )
        self.assertTrue(self.read("b").decode() == want)

    def test_bad_key_is_named_by_its_place(self):
        self.ok("keygen", "-s", QUICK, "--pk", "pk", "--sk", "sk", "--format", "raw")
        self.ok("encaps", "-s", QUICK, "--pk", "pk", "--ct", "ct", "--ss", "ss", "--format", "raw")
        place = 3 * AT_ONCE + 17
        keys = bytearray(self.read("pk") * (place + 100))
        for i in (place - 1, place + 5):
            keys[i * PK:i * PK + 3] = b"\xff\xff\xff"
        self.write("bad", bytes(keys))
        self.fails(BAD_INPUT, [f"'bad': public key {place}:", "1 more"], "encaps", "-s", QUICK, "--pk", "bad",
                   "--ct", "x", "--ss", "y")  # fmt: skip
        keys = bytearray(self.read("sk") * (AT_ONCE + 2))
        keys[-40] ^= 1  # the key's hash of the public key
        self.write("bad", bytes(keys))
        self.write("cts", self.read("ct") * (AT_ONCE + 2))
        decaps = ("decaps", "-s", QUICK, "--sk", "bad", "--ct", "cts", "--ss", "x")
        self.fails(BAD_INPUT, [f"'bad': secret key {AT_ONCE + 2}:"], *decaps)
        self.write("bad", bytes(keys[-SK:]))
        self.fails(BAD_INPUT, ["'bad': secret key 1:"], *decaps)
        self.assertEqual(self.files(), ["bad", "ct", "cts", "pk", "sk", "ss"])

    def test_damage_far_behind_leaves_nothing(self):
        self.ok("keygen", "-s", QUICK, "--pk", "pk", "--sk", "sk", "--count", AT_ONCE + 5)
        text = self.read("pk")
        self.write("cut", text[:-100])
        self.fails(BAD_INPUT, ["'cut'", "cut off"], "encaps", "--pk", "cut", "--ct", "x", "--ss", "y")
        self.write("foreign", text + b"words\n")
        line = text.count(b"\n") + 1
        self.fails(BAD_INPUT, [f"line {line}:"], "encaps", "--pk", "foreign", "--ct", "x", "--ss", "y")
        self.assertEqual(self.files(), ["cut", "foreign", "pk", "sk"])

    def test_counts_that_do_not_fit(self):
        count = AT_ONCE + 5
        raw = ("--format", "raw", "-s", QUICK)
        self.ok("keygen", *raw, "--pk", "pk", "--sk", "sk", "--count", count)
        self.ok("encaps", *raw, "--pk", "pk", "--ct", "ct", "--ss", "ss", "--count", count)
        for asked in (3, count - 1, count + 1):
            self.fails(USAGE, [f"'pk' holds {count} keys, --count asks for {asked}"], "encaps", *raw, "--pk", "pk",
                       "--ct", "x", "--ss", "y", "--count", asked)  # fmt: skip
        self.write("less", self.read("ct")[:-CT])
        self.fails(BAD_INPUT, [f"'sk' holds {count} secret keys and 'less' {count - 1} ciphertexts"], "decaps", *raw,
                   "--sk", "sk", "--ct", "less", "--ss", "x")  # fmt: skip
        self.assertEqual(self.files(), ["ct", "less", "pk", "sk", "ss"])


if __name__ == "__main__":
    unittest.main()
