# SPDX-License-Identifier: Apache-2.0
"""Tests signatures of files: polykem keygen, sign and verify with ML-DSA, and list, kat, bench and profile."""

import gzip
import hashlib
import json
import os
import subprocess
import unittest

from program import BAD_INPUT, CHECK_FAILED, DATA, IO, PROGRAM, USAGE, Case

VECTORS = DATA / "mldsa"
SIGNER = "mldsa44"
RESOURCES = 7
OPENSSL = os.path.join(os.environ["POLYKEM_OPENSSL"], "bin/openssl") if "POLYKEM_OPENSSL" in os.environ else "openssl"
SIZES = {"mldsa44": (1312, 2560, 2420), "mldsa65": (1952, 4032, 3309), "mldsa87": (2592, 4896, 4627)}


def mu_of(pk, context, message):
    """Returns mu of a message with its context [FIPS204, Alg 7, L6]."""
    return hashlib.shake_256(hashlib.shake_256(pk).digest(64) + bytes([0, len(context)]) + context + message).digest(64)


class SignatureCase(Case):
    def setUp(self):
        super().setUp()
        self.keys(SIGNER)
        self.write("a", "one message")
        self.write("b", b"")

    def wrong(self, words, *args):
        """Checks that a command finds signatures that do not verify."""
        done = self.fails(CHECK_FAILED, words, "verify", *args)
        return done.stdout.decode()


class Signatures(SignatureCase):
    def test_every_set(self):
        for name, (pk, sk, sig) in SIZES.items():
            self.keys(name, "--format", "raw", "--force")
            self.ok("sign", "-s", name, "--sk", "sk", "--format", "raw", "a", "b", "--force")
            sizes = [len(self.read(file)) for file in ("pk", "sk", "a.sig", "b.sig")]
            self.assertEqual(sizes, [pk, sk, sig, sig])
            said = self.ok("verify", "-s", name, "--pk", "pk", "a", "b")
            self.assertEqual(said, f"2 of 2 signatures verify, {name}\n")

    def test_armour_names_the_set(self):
        said = self.ok("sign", "--sk", "sk", "a", "b")
        self.assertEqual(said, "a.sig: 1 signature, mldsa44\nb.sig: 1 signature, mldsa44\n")
        self.assertTrue(self.read("a.sig").startswith(b"-----BEGIN mldsa44 SIGNATURE-----\n"))
        self.ok("verify", "--pk", "pk", "a", "b")

    def test_which_message_fails(self):
        self.ok("sign", "--sk", "sk", "a", "b")
        self.write("b", "no longer empty")
        said = self.wrong(["'b': the signature is not one of this message"], "--pk", "pk", "a", "b")
        self.assertEqual(said, "1 of 2 signatures verify, mldsa44\n")
        self.write("a.sig", self.read("b.sig"))
        done = self.run_program("verify", "--pk", "pk", "a", "b", "--json", "-")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["schema"]), (CHECK_FAILED, "polykem-verify-1"))
        self.assertEqual((result["count"], result["valid"]), (2, 0))
        self.assertEqual(result["wrong"], [{"number": 1, "message": "'a'"}, {"number": 2, "message": "'b'"}])

    def test_contexts(self):
        self.ok("sign", "--sk", "sk", "--context", "ink", "a")
        self.ok("verify", "--pk", "pk", "--context-hex", b"ink".hex(), "a")
        for other in (), ("--context", "pen"):
            self.wrong(["'a'"], "--pk", "pk", "a", *other)
        self.ok("sign", "--sk", "sk", "--context-hex", "00" * 255, "b")
        self.fails(USAGE, ["has 256 bytes", "at most 255"], "sign", "--sk", "sk", "--context-hex", "00" * 256, "a")
        self.fails(USAGE, ["--context-hex"], "sign", "--sk", "sk", "--context-hex", "0g", "a")
        self.fails(USAGE, ["excludes"], "sign", "--sk", "sk", "--context-hex", "00", "--context", "x", "a")

    def test_deterministic_and_hedged(self):
        for option, same in (("--deterministic",), True), ((), False):
            made = []
            for _ in range(2):
                self.ok("sign", "--sk", "sk", "a", "--force", *option)
                made.append(self.read("a.sig"))
            self.assertEqual(made[0] == made[1], same)

    def test_records_of_one_file(self):
        self.write("log", bytes(range(200)) * 3)
        said = self.ok("sign", "--sk", "sk", "--message-bytes", "20", "log")
        self.assertEqual(said, "log.sig: 30 signatures, mldsa44\n")
        self.ok("verify", "--pk", "pk", "--message-bytes", "20", "log")
        self.write("log", bytes(range(200)) * 2 + bytes(range(199)) + b"x")
        self.wrong(["record 30 of 'log'"], "--pk", "pk", "--message-bytes", "20", "log")
        self.write("log", bytes(range(200)) * 2 + bytes(210))
        self.fails(BAD_INPUT, ["610 bytes, not a multiple of 20"], "verify", "--pk", "pk", "--message-bytes", "20",
                   "log")
        self.write("log", bytes(20))
        self.fails(BAD_INPUT, ["30 signatures", "1 messages"], "verify", "--pk", "pk", "--message-bytes", "20", "log")
        self.fails(USAGE, ["one file of messages"], "sign", "--sk", "sk", "--message-bytes", "20", "a", "b")
        self.write("log", b"")
        for size in "20", "9" * 14:
            self.fails(BAD_INPUT, ["'log': is empty"], "sign", "--sk", "sk", "--message-bytes", size, "log", "--force")

    def test_one_file_of_all_signatures(self):
        self.ok("sign", "--sk", "sk", "--sig", "all", "a", "b")
        self.assertEqual(self.read("all").count(b"BEGIN"), 2)
        self.ok("verify", "--pk", "pk", "--sig", "all", "a", "b")
        self.wrong(["'b'", "'a'"], "--pk", "pk", "--sig", "all", "b", "a")
        self.fails(BAD_INPUT, ["2 signatures", "1 messages"], "verify", "--pk", "pk", "--sig", "all", "a")
        self.write("a.sig", self.read("all"))
        self.fails(BAD_INPUT, ["several signatures", "--sig"], "verify", "--pk", "pk", "a")

    def test_a_key_for_each_message(self):
        self.ok("keygen", "-s", SIGNER, "--pk", "pks", "--sk", "sks", "--count", "2")
        self.ok("sign", "--sk", "sks", "a", "b")
        self.ok("verify", "--pk", "pks", "a", "b")
        self.fails(BAD_INPUT, ["2 secret keys", "1 messages"], "sign", "--sk", "sks", "a", "--force")
        self.fails(BAD_INPUT, ["2 secret keys", "more messages"], "sign", "--sk", "sks", "a", "b", "pk", "--force")
        self.assertEqual([name for name in self.files() if name.endswith(".sig")], ["a.sig", "b.sig"])

    def test_digests(self):
        for name in "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256", "sha3-224", "sha3-256", \
                "sha3-384", "sha3-512", "shake128", "shake256":
            self.ok("sign", "--sk", "sk", "--prehash", name, "a", "--force")
            self.ok("verify", "--pk", "pk", "--prehash", name, "a")
        self.wrong(["'a'"], "--pk", "pk", "--prehash", "sha512", "a")
        self.wrong(["'a'"], "--pk", "pk", "a")
        self.fails(USAGE, ["no hash 'md5'", "sha3-512"], "sign", "--sk", "sk", "--prehash", "md5", "a")

    def test_mu(self):
        """The signature of mu is that of its message."""
        self.keys(SIGNER, "--format", "raw", "--force")
        sign = ["sign", "-s", SIGNER, "--sk", "sk", "--deterministic", "--force"]
        verify = ["verify", "-s", SIGNER, "--pk", "pk"]
        self.ok(*sign, "--context", "c", "--sig", "all", "a", "b")
        messages = [self.read(name) for name in "ab"]
        mus = [mu_of(self.read("pk"), b"c", message) for message in messages]
        self.write("mus", b"".join(mus))
        for name, mu in zip(("a.mu", "b.mu"), mus):
            self.write(name, mu)
        for files in ("a.mu", "b.mu"), ("--message-bytes", "64", "mus"):
            self.ok(*sign, "--mu", "--sig", "by mu", *files)
            self.assertEqual(self.read("by mu"), self.read("all"))
            self.ok(*verify, "--mu", "--sig", "all", *files)
            self.wrong(["2 of 'mus'" if "mus" in files else "'b.mu'"], *verify[1:], "--sig", "all", *files)
        self.fails(BAD_INPUT, ["'a': 11 bytes, and mu has 64"], *sign, "--mu", "--sig", "x", "a.mu", "a")
        self.fails(USAGE, ["--message-bytes is 32, but mu has 64 bytes"], *sign, "--mu", "--message-bytes", "32", "mus")
        for option in ("--context", "c"), ("--context-hex", "00"), ("--prehash", "sha512"):
            self.fails(USAGE, ["excludes"], *verify, "--mu", *option, "a.mu")

    def test_standard_streams(self):
        made = self.run_program("sign", "--sk", "sk", "--sig", "-", "-", stdin=b"one message")
        self.write("a.sig", made.stdout)
        self.ok("verify", "--pk", "pk", "a")
        self.ok("verify", "--pk", "pk", "--sig", "a.sig", "-", stdin=b"one message")
        self.ok("verify", "--pk", "pk", "--sig", "-", "a", stdin=self.read("a.sig"))
        self.fails(USAGE, ["--sig"], "sign", "--sk", "sk", "-", stdin=b"x")
        self.fails(USAGE, ["--sig"], "verify", "--pk", "pk", "-", stdin=b"x")
        self.fails(USAGE, ["only one input"], "sign", "--sk", "-", "--sig", "s", "-", stdin=b"x")
        self.fails(USAGE, ["only one input"], "verify", "--pk", "-", "--sig", "a.sig", "-", stdin=b"x")

    def test_files_of_others(self):
        self.fails(IO, ["'none'"], "sign", "--sk", "sk", "a", "none")
        self.assertNotIn("a.sig", self.files())
        self.fails(IO, ["'a.sig'"], "verify", "--pk", "pk", "a")
        self.fails(BAD_INPUT, ["holds a public key, expected a secret key"], "sign", "--sk", "pk", "a")
        self.ok("sign", "--sk", "sk", "a")
        self.fails(USAGE, ["'a.sig' exists"], "sign", "--sk", "sk", "a")
        self.fails(USAGE, ["would overwrite 'b'"], "sign", "--sk", "sk", "--sig", "b", "b", "--force")
        self.keys("mldsa65", "--force")
        self.fails(BAD_INPUT, ["'a.sig': is of set mldsa44, expected mldsa65", "keys and signatures of one set"],
                   "verify", "--pk", "pk", "a")
        self.keys("mlkem768", "--force")
        for command in ("sign", "--sk", "sk", "b"), ("verify", "--pk", "pk", "a"):
            self.fails(BAD_INPUT, ["mlkem768 is a KEM's set", "keygen, encaps and decaps"], *command)

    def test_what_would_be_signed_otherwise_than_was_meant(self):
        for option in "--prehash", "--sig":
            self.fails(USAGE, [option, "is empty"], "sign", "--sk", "sk", option, "", "a")
            self.fails(USAGE, [option, "is empty"], "verify", "--pk", "pk", option, "", "a")
        self.fails(BAD_INPUT, ["11 bytes, not a multiple of 99,999,999,999,999,999"], "sign", "--sk", "sk",
                   "--message-bytes", "9" * 17, "a")
        self.keys(SIGNER, "--format", "raw", "--force")
        key = bytearray(self.read("sk"))
        key[2000] ^= 1
        self.write("damaged", bytes(key))
        self.fails(BAD_INPUT, ["'damaged'", "the secret key is malformed"], "sign", "-s", SIGNER, "--sk", "damaged",
                   "a")
        self.assertNotIn("a.sig", self.files())

    def test_a_kem_is_not_of_this_kind(self):
        self.fails(BAD_INPUT, ["mldsa44 is a signature set", "keygen, sign and verify"], "encaps", "--pk", "pk", "--ct",
                   "ct", "--ss", "ss")
        self.fails(USAGE, ["mldsa65 is a signature set"], "exchange", "--scheme", "mldsa65")
        self.fails(USAGE, ["'mldsa66'", "did you mean 'mldsa65'"], "keygen", "-s", "mldsa66", "--pk", "x", "--sk", "y")

    def test_a_large_message(self):
        """Messages may be longer than what is read at once."""
        self.write("a", os.urandom(1 << 20) * 20)
        self.ok("sign", "--sk", "sk", "a", "b")
        self.ok("verify", "--pk", "pk", "a", "b")
        with open(self.dir / "a", "r+b") as file:
            file.seek(19 << 20)
            file.write(b"altered")
        self.wrong(["'a'"], "--pk", "pk", "a", "b")

    def test_more_files_than_may_be_open(self):
        names = [f"m{i}" for i in range(200)]
        for name in names:
            self.write(name, name)
        limited = ["sh", "-c", 'ulimit -S -n 100; ulimit -H -n "$0"; exec "$@"']
        def sign(limit, *more):
            return subprocess.run([*limited, limit, PROGRAM, "sign", "--sk", "sk", *more, *names], cwd=self.dir,
                                  capture_output=True, text=True, check=False)
        done = sign("150")
        self.assertEqual((done.returncode, self.files()), (RESOURCES, sorted(["a", "b", "pk", "sk", *names])))
        self.assertIn("200 signature files", done.stderr)
        self.assertIn("--sig", done.stderr)
        self.assertEqual(sign("150", "--sig", "all").returncode, 0)
        self.assertEqual(sign("300").returncode, 0)
        self.ok("verify", "--pk", "pk", *names)
        self.ok("verify", "--pk", "pk", "--sig", "all", *names)

    def test_standard_keys(self):
        for form, kind in ("pem", "seed"), ("pem", "expanded"), ("der", "both"):
            self.keys(SIGNER, "--format", form, "--sk-form", kind, "--force")
            self.ok("sign", "--sk", "sk", "a", "--force")
            self.ok("verify", "--pk", "pk", "a")


class SignatureCommands(SignatureCase):
    def test_list(self):
        sets = {s["name"]: s for s in self.json("list")["signatures"]}
        for name, sizes in SIZES.items():
            got = tuple(sets[name][f"{what}_bytes"] for what in ("public_key", "secret_key", "signature"))
            self.assertEqual(got, sizes)
            self.assertIn("ref", sets[name]["backends"])
        self.assertIn("ML-DSA-65", self.ok("list"))
        kems = {s["name"]: s["aliases"] for s in self.json("list")["schemes"]}
        self.assertEqual(kems["mlkem768x25519"], ["X-Wing"])
        self.assertIn("X-Wing", self.ok("list"))

    def test_bench(self):
        args = ["--batch", "1,9", "--seconds", "0.01", "--keys", "both"]
        records = self.json("bench", "--scheme", "mldsa44", *args)["records"]
        self.assertEqual({record["op"] for record in records}, {"keygen", "sign", "verify"})
        self.assertTrue(all(record["verified"] > 0 for record in records))
        self.assertEqual(len(records), 2 + 4 + 4)
        self.fails(USAGE, ["nothing to measure"], "bench", "--scheme", "mldsa44", "--op", "encaps")

    def test_profile(self):
        result = self.json("profile", "--scheme", "mldsa44", "--count", "20", "--op", "sign")
        text = json.dumps(result)
        for stage in "expand_mask", "sample_in_ball", "hint":
            self.assertIn(stage, text)
        self.fails(USAGE, ["no operation 'encaps'"], "profile", "--scheme", "mldsa44", "--op", "encaps")
        self.fails(USAGE, ["one table"], "profile", "--scheme", "mldsa44,mlkem512", "--op", "keygen")
        self.ok("profile", "--scheme", "mldsa44,mlkem512", "--op", "keygen", "--steps", "--count", "20")
        both = self.json("profile", "--scheme", "mldsa44,mlkem512", "--op", "sign", "--count", "20")
        self.assertEqual([entry["scheme"] for entry in both["profiles"]], ["mldsa44"])


class SignatureVectors(SignatureCase):
    FILES = {"acvp_key-gen": 15, "acvp_sig-gen": 30, "acvp_sig-ver": 45, "mldsa_44_sign_seed_test": 86,
             "mldsa_65_sign_seed_test": 105, "mldsa_44_verify_test": 180, "mldsa_65_verify_test": 210,
             "mldsa_87_verify_test": 241}

    def vectors(self, name):
        return json.loads(gzip.decompress((VECTORS / f"{name}.json.gz").read_bytes()))

    def test_all_files(self):
        for options in (), ("--key-sets",), ("--batch", "7"):
            result = self.json("kat", *(VECTORS / f"{name}.json.gz" for name in self.FILES), *options)
            cases = {}
            for row in result["files"]:
                name = os.path.basename(row["file"]).removesuffix(".json.gz")
                cases[name] = cases.get(name, 0) + row["cases"]
            self.assertEqual((cases, result["failed"]), (self.FILES, 0))

    def failures(self, root, count):
        self.write("file", json.dumps(root))
        done = self.run_program("kat", "file", "--json", "-")
        self.assertEqual((done.returncode, json.loads(done.stdout)["failed"]), (CHECK_FAILED, count), done.stderr)

    def test_wrong_answers_are_found(self):
        root = self.vectors("acvp_sig-gen")
        root["testGroups"][0]["tests"][0]["signature"] = "00" * 2420
        root["testGroups"][1]["tests"][0]["rnd"] = "00" * 32
        self.failures(root, 2)
        root = self.vectors("acvp_sig-ver")
        for group in root["testGroups"]:
            group["tests"][0]["testPassed"] = not group["tests"][0]["testPassed"]
        self.failures(root, 3)
        root = self.vectors("mldsa_44_verify_test")
        root["testGroups"][0]["tests"][0]["msg"] = "00"
        self.failures(root, 1)
        root = self.vectors("acvp_sig-gen")
        root["mode"] = "sign"
        self.write("file", json.dumps(root))
        self.fails(BAD_INPUT, ["'ML-DSA', mode 'sign'"], "kat", "file", "--quiet")

    def test_interfaces_of_newer_releases(self):
        """Groups that name their interface are read: messages with contexts, digests of them, mu. They are made
        here from the program's signatures, in the form of NIST's files, as only the parsers are under test."""
        self.keys(SIGNER, "--format", "raw", "--force")
        pk, sk = self.read("pk"), self.read("sk")
        message = self.read("a")

        def signature(*options):
            self.ok("sign", "-s", SIGNER, "--sk", "sk", "--format", "raw", "--deterministic", "--force", "a", *options)
            return self.read("a.sig").hex()

        mu = mu_of(pk, b"c", message).hex()
        common = {"pk": pk.hex(), "sk": sk.hex(), "message": message.hex(), "context": b"c".hex()}
        pure, hashed = signature("--context", "c"), signature("--context", "c", "--prehash", "sha512-224")
        groups = [
            ({"signatureInterface": "external", "preHash": "pure"}, {"hashAlg": "none", "signature": pure}),
            ({"signatureInterface": "external", "preHash": "preHash"},
             {"hashAlg": "SHA2-512/224", "signature": hashed}),
            ({"signatureInterface": "internal", "externalMu": True}, {"mu": mu, "signature": pure}),
            ({"signatureInterface": "internal", "externalMu": False},
             {"message": (b"\0\1c" + message).hex(), "signature": pure})]
        for mode in "sigGen", "sigVer":
            root = {"vsId": 1, "algorithm": "ML-DSA", "mode": mode, "revision": "FIPS204", "testGroups": [
                {"parameterSet": "ML-DSA-44", "deterministic": True, **group,
                 "tests": [{"tcId": i, **common, "testPassed": True, **test}]}
                for i, (group, test) in enumerate(groups)]}
            self.write("file", json.dumps(root))
            self.assertEqual(self.json("kat", "file")["passed"], 4)
            root["testGroups"][0]["preHash"] = "prehashed"
            self.write("file", json.dumps(root))
            self.fails(BAD_INPUT, ["test 0", "unknown preHash 'prehashed'"], "kat", "file", "--quiet")
            root["testGroups"][0]["preHash"] = "pure"
            for group in root["testGroups"]:
                group["tests"][0]["signature"] = ("01" if mode == "sigGen" else "00") * 2420
            self.failures(root, 4)


class SignaturesOfOpenssl(SignatureCase):
    """Tests with OpenSSL 3.5 or newer: each side verifies the other's signatures, with keys in PEM."""

    def openssl(self, *args, code=0):
        done = subprocess.run([OPENSSL, *map(str, args)], cwd=self.dir, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout

    def test_both_ways(self):
        version = self.openssl("version")
        if tuple(map(int, version.split()[1].split(".")[:2])) < (3, 5):
            self.skipTest(f"needs OpenSSL 3.5, not {version}")
        for name in SIZES:
            self.keys(name, "--format", "pem", "--force")
            self.ok("sign", "--sk", "sk", "--context", "c", "--format", "raw", "a", "--force")
            verify = ["pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", "pk", "-sigfile", "a.sig", "-in", "a",
                      "-pkeyopt"]
            self.openssl(*verify, "context-string:c")
            self.openssl(*verify, "context-string:d", code=1)
            self.openssl("genpkey", "-algorithm", name.replace("mldsa", "ML-DSA-"), "-out", "theirs")
            self.openssl("pkey", "-in", "theirs", "-pubout", "-out", "theirs.pub")
            self.openssl("pkeyutl", "-sign", "-rawin", "-inkey", "theirs", "-in", "a", "-out", "a.sig")
            self.ok("verify", "--pk", "theirs.pub", "a")
            self.ok("sign", "--sk", "theirs", "a", "--force")
            self.ok("verify", "--pk", "theirs.pub", "a")
            self.write("mu", os.urandom(64))
            mu = ["-rawin", "-in", "mu", "-pkeyopt", "mu:1"]
            self.openssl("pkeyutl", "-sign", "-inkey", "theirs", "-out", "mu.sig", *mu)
            self.ok("verify", "--pk", "theirs.pub", "--mu", "mu")
            self.ok("sign", "--sk", "theirs", "--mu", "--format", "raw", "mu", "--force")
            self.openssl("pkeyutl", "-verify", "-pubin", "-inkey", "theirs.pub", "-sigfile", "mu.sig", *mu)


if __name__ == "__main__":
    unittest.main()
