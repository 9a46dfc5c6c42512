# SPDX-License-Identifier: Apache-2.0
"""Tests keys in PEM and DER: keygen --format, and what encaps and decaps read."""

import base64
import stat
import unittest

from program import BAD_INPUT, DATA, OK, SET, USAGE, Case

SETS = ("mlkem512", "mlkem768", "mlkem1024")
FORMS = ("seed", "expanded", "both")
EXPANDED_BYTES = {"mlkem512": 1632, "mlkem768": 2400, "mlkem1024": 3168}
SEED_BYTES = 64
FOREIGN = DATA / "foreign_keys"
#: FrodoKEM's sets with an object identifier, 1.0.18033.2.2.7 and a number, and the bytes of their private keys.
FRODO = {"frodokem976shake": (1, 31296), "frodokem1344shake": (2, 43088), "efrodokem976shake": (3, 31296),
         "efrodokem1344shake": (4, 43088), "frodokem976aes": (5, 31296), "frodokem1344aes": (6, 43088),
         "efrodokem976aes": (7, 31296), "efrodokem1344aes": (8, 43088)}
FRODO_ARC = bytes.fromhex("06082881 8c710202 07")


def content(block):
    """Returns the bytes of a file with one PEM block."""
    return base64.b64decode(b"".join(block.split(b"\n")[1:-2]), validate=True)


class KeyFormats(Case):
    def make(self, name, *options):
        self.ok("keygen", "-s", name, "--pk", "pk", "--sk", "sk", "--force", *options)

    def agree(self, pk="pk", sk="sk", *options):
        """Encapsulates to one file and decapsulates with the other."""
        self.ok("encaps", "--pk", pk, "--ct", "ct", "--ss", "ss1", "--force", *options)
        self.ok("decaps", "--sk", sk, "--ct", "ct", "--ss", "ss2", "--force", *options)
        self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_every_set_and_form_of_private_keys(self):
        for name in SETS:
            for form in FORMS:
                for encoding in ("pem", "der"):
                    with self.subTest(f"{name} {form} {encoding}"):
                        self.make(name, "--format", encoding, "--sk-form", form)
                        self.agree()

    def test_private_keys_hold_what_their_form_says(self):
        # Tags and lengths around the key: 22 bytes for a seed, 30 or 34 more than the contents for the others.
        headers = {"seed": 22, "expanded": 28, "both": 34}
        for name in SETS:
            for form in FORMS:
                self.make(name, "--format", "der", "--sk-form", form)
                size = headers[form] + (form != "expanded") * SEED_BYTES + (form != "seed") * EXPANDED_BYTES[name]
                self.assertEqual(len(self.read("sk")), size, (name, form))
        self.make("mlkem768", "--format", "der")
        self.assertEqual(len(self.read("sk")), 22 + SEED_BYTES)

    def test_frodokem(self):
        for name, (number, size) in FRODO.items():
            for encoding in ("pem", "der"):
                with self.subTest(f"{name} {encoding}"):
                    self.make(name, "--format", encoding)
                    self.agree()
                    for file in ("pk", "sk"):
                        der = content(self.read(file)) if encoding == "pem" else self.read(file)
                        self.assertIn(FRODO_ARC + bytes([number]), der[:24])
                    self.assertEqual(len(der), size + 27)
        self.make("frodokem976aes", "--format", "pem", "--sk-form", "expanded", "--count", "3")
        self.agree()
        self.assertEqual(self.read("ss1").count(b"BEGIN"), 3)
        result = self.json("keygen", "-s", "frodokem976aes", "--format", "der", "--pk", "a", "--sk", "b")
        self.assertEqual(result["sk_form"], "expanded")

    def test_frodokem_keys_that_are_refused(self):
        files = ("--pk", "a", "--sk", "b")
        for form in ("seed", "both"):
            self.fails(USAGE, ["of frodokem976aes has no form as a seed", "leave --sk-form out"],
                       "keygen", "-s", "frodokem976aes", "--format", "pem", "--sk-form", form, *files)
        for name in ("frodokem640aes", "efrodokem640shake", "saber"):
            self.fails(USAGE, [f"{name} has no object identifier", "leave --format out", "FrodoKEM-976"],
                       "keygen", "-s", name, "--format", "der", *files)
        self.make("frodokem976shake", "--format", "der")
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss1")
        pk, sk = self.read("pk"), self.read("sk")
        self.refused(pk[:-1], ["key 1 is cut off: 15652 of 15653"])
        self.refused(pk + b"\0", ["the bytes after key 1 are not a key"])
        self.refused(pk.replace(FRODO_ARC + b"\1", FRODO_ARC + b"\2"), ["has 15632 bytes, expected 21520"])
        self.refused(pk.replace(FRODO_ARC + b"\1", FRODO_ARC + b"\x09"), ["of algorithm 1.0.18033.2.2.7.9"])
        for change, words in ((sk[:-1], "key 1 is cut off"), (sk[:-1] + bytes([sk[-1] ^ 1]), "is damaged"),
                              (sk.replace(FRODO_ARC + b"\1", FRODO_ARC + b"\5"), "is damaged")):
            self.write("bad", change)
            self.fails(BAD_INPUT, ["'bad'", words], "decaps", "--sk", "bad", "--ct", "ct", "--ss", "x")
        self.make("efrodokem976shake", "--format", "der")
        self.fails(BAD_INPUT, ["'ct': is of set frodokem976shake, expected efrodokem976shake"],
                   "decaps", "--sk", "sk", "--ct", "ct", "--ss", "x")

    def test_keys_of_wolfssl(self):
        self.agree(FOREIGN / "wolfssl_pk.der", FOREIGN / "wolfssl_sk.der")
        self.assertIn(b"BEGIN frodokem976shake CIPHERTEXT", self.read("ct"))

    def test_armour_stays_the_default(self):
        self.make("mlkem768")
        self.assertTrue(self.read("pk").startswith(b"-----BEGIN mlkem768 PUBLIC KEY-----\n"))
        self.assertTrue(self.read("sk").startswith(b"-----BEGIN mlkem768 SECRET KEY-----\n"))

    def test_titles_and_modes(self):
        self.make("mlkem768", "--format", "pem")
        self.assertTrue(self.read("pk").startswith(b"-----BEGIN PUBLIC KEY-----\n"))
        self.assertTrue(self.read("sk").endswith(b"\n-----END PRIVATE KEY-----\n"))
        self.assertEqual(stat.S_IMODE((self.dir / "sk").stat().st_mode), 0o600)

    def test_forms_mix(self):
        """A key pair is the same key in every encoding."""
        self.make("mlkem768", "--format", "pem", "--sk-form", "both")
        self.write("pk.der", content(self.read("pk")))
        self.write("sk.der", content(self.read("sk")))
        self.write("pk.raw", self.read("pk.der")[-1184:])
        self.write("sk.raw", self.read("sk.der")[-2400:])
        for pk in ("pk", "pk.der"):
            for sk in ("sk", "sk.der"):
                self.agree(pk, sk)
        self.agree("pk.raw", "sk.raw", "-s", "mlkem768")
        self.agree("pk", "sk.raw", "-s", "mlkem768")

    def test_many_keys_in_a_file(self):
        for encoding in ("pem", "der"):
            for form in FORMS:
                self.make("mlkem512", "--format", encoding, "--sk-form", form, "--count", "5")
                self.agree()
                self.assertEqual(self.read("ss1").count(b"BEGIN"), 5)

    def test_keys_from_a_pipe(self):
        for encoding in ("pem", "der"):
            self.make("mlkem512", "--format", encoding)
            made = self.run_program("encaps", "--pk", "-", "--ct", "-", "--ss", "ss1", "--force", stdin=self.read("pk"))
            self.assertEqual(made.returncode, OK, made.stderr)
            self.write("ct", made.stdout)
            self.run_program("decaps", "--sk", "-", "--ct", "ct", "--ss", "ss2", "--force", stdin=self.read("sk"))
            self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_text_around_pem(self):
        self.make("mlkem768", "--format", "pem")
        for name in ("pk", "sk"):
            dos = self.read(name).replace(b"\n", b"\r\n")
            self.write(name, b"Subject: a key\r\n\r\n" + dos + b"the end\n")
        self.agree()

    def test_examples_of_the_standard(self):
        folder = DATA / "rfc9935"
        for name in ("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024"):
            for form in FORMS:
                self.agree(folder / f"{name}.pub", folder / f"{name}-{form}.priv")
        self.ok("encaps", "--pk", folder / "ML-KEM-512.pub", "--ct", "ct", "--ss", "ss1", "--force")
        for number, words in ((1, "not match"), (2, "damaged"), (3, "damaged"),
                              (4, "not match")):
            key = folder / f"bad-ML-KEM-512-{number}.priv"
            self.fails(BAD_INPUT, [key.name, words], "decaps", "--sk", key, "--ct", "ct", "--ss", "x")

    def test_json_names_the_form(self):
        result = self.json("keygen", "-s", "mlkem768", "--format", "pem", "--sk-form", "seed", "--pk", "a", "--sk", "b")
        self.assertEqual((result["format"], result["sk_form"]), ("pem", "seed"))
        self.assertEqual(result["files"][1]["file_bytes"], len(self.read("b")))
        self.assertNotIn("sk_form", self.json("keygen", "-s", SET, "--pk", "c", "--sk", "d"))

    def test_sets_and_options_without_a_standard(self):
        files = ("--pk", "a", "--sk", "b")
        self.fails(USAGE, [f"{SET} has no object identifier", "leave --format out"],
                   "keygen", "-s", SET, "--format", "pem", *files)
        self.fails(USAGE, ["--sk-form needs"], "keygen", "-s", "mlkem768", "--sk-form", "seed", *files)
        self.fails(USAGE, ["text not in"], "keygen", "-s", "mlkem768", "--format", "text", *files)
        self.make("mlkem768", "--format", "pem")
        self.fails(USAGE, ["is a format of keys"], "encaps", "--pk", "pk", "--format", "pem", "--ct", "x", "--ss", "y")
        self.fails(USAGE, ["is a format of keys"], "decaps", "--sk", "sk", "--format", "der", "--ct", "x", "--ss", "y")

    def refused(self, bytes_, words):
        self.write("bad", bytes_)
        self.fails(BAD_INPUT, ["'bad'", *words], "encaps", "--pk", "bad", "--ct", "x", "--ss", "y")

    def test_other_keys_and_damage(self):
        self.make("mlkem768", "--format", "pem")
        pk, sk = self.read("pk"), self.read("sk")
        der, outputs = content(pk), ("--ct", "x", "--ss", "y")
        self.refused(sk, ["holds a secret key, expected a public key"])
        self.refused(sk.replace(b"PRIVATE", b"PUBLIC"), ["line 4: between BEGIN and END PUBLIC KEY is a secret key"])
        self.refused(pk.replace(b"PUBLIC", b"EC PRIVATE"), ["holds 'EC PRIVATE KEY', expected a public key"])
        self.refused(pk + pk.replace(b"PUBLIC KEY", b"CERTIFICATE"), ["line 56", "DER"])
        self.refused(pk + pk.replace(b"PUBLIC KEY", b"mlkem768 PUBLIC KEY"),
                     ["line 29", "polykem's own format among keys in PEM"])
        self.refused(b" " + pk, ["line 28: an END line without", "that on line 1 has text or blanks before it"])
        self.refused(pk[:-40], ["cut off"])
        self.refused(pk.replace(pk.split(b"\n")[3] + b"\n", b""), ["line 27", "DER"])
        self.refused(der[:-1], ["key 1 is cut off: 1205 of 1206"])
        self.refused(der + b"\0", ["the bytes after key 1 are not a key"])
        self.refused(der + der[:600], ["key 2 is cut off: 600 of 1206"])
        ed25519 = bytes.fromhex("302a300506032b6570032100") + bytes(32)
        self.refused(ed25519, ["of algorithm 1.3.101.112", "reads keys of ML-KEM, FrodoKEM-976"])
        self.fails(BAD_INPUT, ["is of set mlkem768"], "encaps", "-s", "mlkem512", "--pk", "pk", *outputs)
        self.make("mlkem512", "--format", "pem")
        self.refused(pk + self.read("pk"), ["is of set mlkem512, expected mlkem768"])

    def test_certificates(self):
        """encaps takes the key in a certificate, alone, in DER, and in a chain with issuers that have other keys."""
        leaf, issuer = (FOREIGN / "mlkem768.crt").read_bytes(), (FOREIGN / "ca.crt").read_bytes()
        self.write("leaf", leaf)
        self.write("leaf.der", content(leaf))  # of version 1, which the certificate does not state
        self.write("chain", b"subject=CN = alice\n\n" + leaf + b"subject=CN = ca\n\n" + issuer)
        self.write("issuer first", issuer + leaf)
        for certificate in ("leaf", "leaf.der", "chain", "issuer first"):
            self.agree(certificate, FOREIGN / "mlkem768.key")
            self.assertEqual(self.read("ss1").count(b"BEGIN"), 1)
        self.write("two", leaf + issuer + leaf)
        self.agree("two", FOREIGN / "mlkem768.key")
        self.assertEqual(self.read("ss1").count(b"BEGIN"), 2)

    def test_certificates_without_a_kem_key(self):
        issuer = (FOREIGN / "ca.crt").read_bytes()
        words = ["certificate whose key is of algorithm 1.2.840.10045.2.1 (EC)", "polykem keygen --scheme mlkem768"]
        self.refused(issuer, words)
        self.refused(content(issuer), words)
        self.refused(issuer[:200] + issuer[210:], ["line "])
        self.refused(content(issuer)[:-1], ["key 1 is cut off"])
        self.make("mlkem768", "--format", "pem")
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss1")
        for name in ("ca.crt", "mlkem768.crt"):
            self.write("der", content((FOREIGN / name).read_bytes()))
            for file in (FOREIGN / name, "der"):
                self.fails(BAD_INPUT, ["holds a certificate, expected a secret key"],
                           "decaps", "--sk", file, "--ct", "ct", "--ss", "x")

    def test_bundles(self):
        """The key is found in a file with certificates, as `openssl pkcs12 -nodes` writes them."""
        for bundle in ("pkcs12_nodes.pem", "key_first.pem"):
            self.agree(FOREIGN / bundle, FOREIGN / bundle)

    def test_blocks_of_the_other_kind_are_passed_over(self):
        self.make("mlkem768", "--format", "pem")
        pk, sk = self.read("pk"), self.read("sk")
        self.write("both", pk + sk)
        self.write("other order", sk + pk)
        for file in ("both", "other order"):
            self.agree(file, file)
        self.fails(BAD_INPUT, ["holds a public key, expected a secret key"],
                   "decaps", "--sk", "pk", "--ct", "ct", "--ss", "x")
        self.write("rsa", b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nZm9v\n"
                          b"-----END RSA PRIVATE KEY-----\n")
        self.fails(BAD_INPUT, ["holds 'RSA PRIVATE KEY', expected a secret key"],
                   "decaps", "--sk", "rsa", "--ct", "ct", "--ss", "x")
        self.write("with rsa", self.read("rsa") + sk)
        self.agree("pk", "with rsa")

    def test_keys_that_are_malformed_inside(self):
        self.make("mlkem768", "--format", "der")
        pk = bytearray(self.read("pk"))
        pk[-1184:-1181] = b"\xff\xff\xff"  # a coefficient that is not reduced
        self.write("bad", bytes(pk))
        self.fails(BAD_INPUT, ["public key 1"], "encaps", "--pk", "bad", "--ct", "x", "--ss", "y")


if __name__ == "__main__":
    unittest.main()
