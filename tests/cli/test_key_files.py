# SPDX-License-Identifier: Apache-2.0
"""Tests keys, ciphertexts and secrets in files: polykem keygen, encaps, decaps."""

import os
import stat
import unittest

from program import BAD_INPUT, IO, OK, SET, USAGE, Case


class KeyFiles(Case):
    def exchange(self, name, *form):
        self.ok("keygen", "-s", name, "--pk", "pk", "--sk", "sk", *form)
        self.ok("encaps", "-s", name, "--pk", "pk", "--ct", "ct", "--ss", "ss1", *form)
        self.ok("decaps", "-s", name, "--sk", "sk", "--ct", "ct", "--ss", "ss2", *form)
        self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_round_trip_of_every_set_armoured(self):
        for entry in self.json("list")["schemes"]:
            with self.subTest(entry["name"]):
                self.exchange(entry["name"], "--force")

    def test_round_trip_raw_has_the_records_sizes(self):
        self.exchange(SET, "--format", "raw")
        sizes = [len(self.read(n)) for n in ("pk", "sk", "ct", "ss1")]
        self.assertEqual(sizes, [699, 935, 699, 32])

    def test_armour_names_the_set_so_scheme_is_not_needed(self):
        self.keys()
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss1")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "ss2")
        self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_batches_of_records(self):
        self.exchange(SET, "--format", "raw", "--force")
        self.ok("keygen", "-s", SET, "--pk", "pks", "--sk", "sks", "--count", "5")
        self.ok("encaps", "--pk", "pks", "--ct", "cts", "--ss", "a")
        self.ok("decaps", "--sk", "sks", "--ct", "cts", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertEqual(self.read("a").count(b"BEGIN"), 5)
        self.fails(BAD_INPUT, ["one key per ciphertext"], "decaps", "--sk", "sks", "--ct", "ct", "--ss", "c")
        self.fails(USAGE, ["holds 5 keys"], "encaps", "--pk", "pks", "--count", "3", "--ct", "x", "--ss", "y")

    def test_one_key_for_many(self):
        self.keys()
        self.ok("encaps", "--pk", "pk", "--count", "4", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertEqual(len(set(self.read("a").split(b"-----END"))), 5)

    def test_secret_files_are_private_and_public_ones_follow_the_umask(self):
        old = os.umask(0o022)
        self.addCleanup(os.umask, old)
        self.exchange(SET)
        modes = {n: stat.S_IMODE((self.dir / n).stat().st_mode) for n in ("pk", "ct", "sk", "ss1", "ss2")}
        self.assertEqual(modes, {"pk": 0o644, "ct": 0o644, "sk": 0o600, "ss1": 0o600, "ss2": 0o600})

    def test_existing_files_are_kept_without_force(self):
        self.write("sk", "precious")
        self.fails(USAGE, ["'sk' exists", "--force"], "keygen", "-s", SET, "--pk", "pk", "--sk", "sk")
        self.assertEqual(self.read("sk"), b"precious")
        self.assertEqual(self.files(), ["sk"])
        self.ok("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--force")
        self.assertEqual(stat.S_IMODE((self.dir / "sk").stat().st_mode), 0o600)
        self.assertEqual(self.files(), ["pk", "sk"])

    def test_no_partial_outputs(self):
        self.fails(IO, ["no/sk"], "keygen", "-s", SET, "--pk", "pk", "--sk", "no/sk")
        self.assertEqual(self.files(), [])
        self.fails(IO, ["/dev/full"], "keygen", "-s", SET, "--pk", "pk", "--sk", "/dev/full")
        self.assertEqual(self.files(), [])
        (self.dir / "folder").mkdir()
        self.fails(IO, ["is a directory"], "keygen", "-s", SET, "--pk", "folder", "--sk", "sk", "--force")
        self.assertEqual(self.files(), ["folder"])

    def test_same_file_twice(self):
        self.fails(USAGE, ["two outputs"], "keygen", "-s", SET, "--pk", "k", "--sk", "./k")
        self.fails(USAGE, ["standard output"], "keygen", "-s", SET, "--pk", "-", "--sk", "-")
        self.assertEqual(self.files(), [])

    def test_dangling_link_is_kept_without_force(self):
        (self.dir / "pk").symlink_to("nowhere")
        self.fails(USAGE, ["'pk' exists"], "keygen", "-s", SET, "--pk", "pk", "--sk", "sk")
        self.assertEqual(self.files(), ["pk"])

    def test_force_writes_through_a_link(self):
        self.write("real", "old")
        (self.dir / "link").symlink_to("real")
        self.ok("keygen", "-s", SET, "--pk", "link", "--sk", "sk", "--force")
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertIn(b"PUBLIC KEY", self.read("real"))

    def test_standard_streams(self):
        self.keys()
        ct = self.run_program("encaps", "--pk", "-", "--ct", "-", "--ss", "ss1", stdin=self.read("pk"))
        self.assertEqual(ct.returncode, OK, ct.stderr)
        self.ok("decaps", "--sk", "sk", "--ct", "-", "--ss", "ss2", stdin=ct.stdout)
        self.assertEqual(self.read("ss1"), self.read("ss2"))
        self.fails(USAGE, ["only one input"], "decaps", "--sk", "-", "--ct", "-", "--ss", "x")

    def test_altered_ciphertext_is_no_error_but_another_secret(self):
        self.exchange(SET, "--format", "raw")
        ct = bytearray(self.read("ct"))
        ct[100] ^= 1
        self.write("bad", bytes(ct))
        for out in ("r1", "r2"):
            self.ok("decaps", "-s", SET, "--sk", "sk", "--ct", "bad", "--ss", out, "--format", "raw")
        self.assertNotEqual(self.read("r1"), self.read("ss1"))
        self.assertEqual(self.read("r1"), self.read("r2"))

    def test_unknown_set_suggests(self):
        self.fails(USAGE, ["no parameter set", "did you mean 'ntruhps4096821'"], "keygen", "-s", "ntruhps496821",
                   "--pk", "a", "--sk", "b")

    def test_aliases(self):
        self.keys("NTRU-HPS-2048-509")
        self.assertIn(b"BEGIN ntruhps2048509 PUBLIC KEY", self.read("pk"))

    def test_counts(self):
        for count, words in (("0", "at least 1"), ("-1", "not a whole number"), ("two", "not a whole number"),
                             ("99999999999999999999", "too large")):
            self.fails(USAGE, [words], "keygen", "-s", SET, "--pk", "a", "--sk", "b", "--count", count)
        self.assertEqual(self.files(), [])

    def test_wrong_sizes_and_raw_without_a_set(self):
        self.exchange(SET, "--format", "raw")
        self.fails(USAGE, ["name it with --scheme"], "encaps", "--pk", "pk", "--ct", "x", "--ss", "y")
        self.write("cut", self.read("pk")[:-1])
        self.fails(BAD_INPUT, ["698 bytes", "699"], "encaps", "-s", SET, "--pk", "cut", "--ct", "x", "--ss", "y")
        self.fails(BAD_INPUT, ["size of a ntruhps2048509 secret key"], "encaps", "-s", SET, "--pk", "sk", "--ct", "x",
                   "--ss", "y")
        self.write("empty", b"")
        self.fails(BAD_INPUT, ["is empty"], "encaps", "-s", SET, "--pk", "empty", "--ct", "x", "--ss", "y")
        self.fails(IO, ["No such file"], "encaps", "-s", SET, "--pk", "missing", "--ct", "x", "--ss", "y")

    def test_json_result_holds_no_secret(self):
        result = self.json("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--count", "2")
        self.assertEqual(result["schema"], "polykem-keygen-1")
        self.assertEqual((result["scheme"], result["count"], result["format"]), (SET, 2, "armour"))
        self.assertEqual([f["kind"] for f in result["files"]], ["public key", "secret key"])
        self.assertEqual([f["record_bytes"] for f in result["files"]], [699, 935])


if __name__ == "__main__":
    unittest.main()
