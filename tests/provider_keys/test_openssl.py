# SPDX-License-Identifier: Apache-2.0
"""Tests the provider's keys through the program openssl, that of this system and that of OpenSSL 3.5.

CTest runs it, or by hand:
  OPENSSL_MODULES=build/ossl-modules python3 -B tests/provider_keys/test_openssl.py System
  OPENSSL_MODULES=build/ossl-modules POLYKEM_OPENSSL="$(tests/tls/openssl35.sh)" \\
    python3 -B tests/provider_keys/test_openssl.py OpenSsl35
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

POLYKEM = os.path.abspath(os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem"))
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "program.md"
SYSTEM = os.environ.get("POLYKEM_SYSTEM_OPENSSL", "openssl")
DATA = pathlib.Path(os.environ.get("POLYKEM_TEST_DATA", "tests/data")).resolve()
EXAMPLES, MLDSA_EXAMPLES = DATA / "rfc9935", DATA / "rfc9881"
MLDSA = ("ML-DSA-44", "ML-DSA-65", "ML-DSA-87")
SETS = ("ML-KEM-512", "ML-KEM-768", "ML-KEM-1024")
#: The last arc of their object identifiers, below 1.0.18033.2.2.7.
FRODO = {"FrodoKEM-976-SHAKE": 1, "FrodoKEM-1344-SHAKE": 2, "eFrodoKEM-976-SHAKE": 3, "eFrodoKEM-1344-SHAKE": 4,
         "FrodoKEM-976-AES": 5, "FrodoKEM-1344-AES": 6, "eFrodoKEM-976-AES": 7, "eFrodoKEM-1344-AES": 8}
WITH_PROVIDER = ("-provider", "polykem", "-provider", "default")


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def call(self, program, command, *args):
        return subprocess.run([program, command, *map(str, args)], cwd=self.dir, capture_output=True, timeout=60,
                              check=False)

    def command(self, program, command, *args):
        done = self.call(program, command, *args)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def system(self, command, *args):
        """Runs the system's openssl with the provider."""
        return self.command(SYSTEM, command, *WITH_PROVIDER, *args)

    def certify(self, openssl, authority, name):
        """Makes an authority's certificate, and one that it signs."""
        (self.dir / "leaf.cnf").write_text("basicConstraints = critical,CA:FALSE\n", encoding="utf-8")
        (self.dir / "req.cnf").write_text("[req]\ndistinguished_name = name\nx509_extensions = extensions\n[name]\n"
                                          "[extensions]\nbasicConstraints = critical,CA:TRUE\n", encoding="utf-8")
        new = ("req", "-config", "req.cnf", "-nodes", "-newkey")
        openssl(*new, authority, "-x509", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca")
        openssl(*new, name, "-new", "-keyout", "key", "-out", "request", "-subj", "/CN=leaf")
        openssl("x509", "-req", "-in", "request", "-CA", "ca.crt", "-CAkey", "ca.key", "-set_serial", "1", "-extfile",
                "leaf.cnf", "-out", "leaf")

    def read(self, name):
        return (self.dir / name).read_bytes()

    def each(self, *lists):
        for combination in itertools.product(*lists):
            with self.subTest(" ".join(combination)):
                yield combination


    def run_the_page(self, program, **environment):
        """Runs the commands of docs/program.md about keys for other programs, as printed, with that openssl. None may
        change an existing file."""
        text = PAGE.read_text(encoding="utf-8")
        block = re.search(r"## Keys for other programs\n.*?\n```\n(.*?)\n```", text, re.DOTALL).group(1)
        commands = [line for line in block.splitlines() if line]
        self.assertGreaterEqual(sum("openssl" in command for command in commands), 3)
        (self.dir / "bin").mkdir()
        for name, target in (("openssl", program), ("polykem", POLYKEM)):
            (self.dir / "bin" / name).symlink_to(shutil.which(target))
        path = f"{self.dir / 'bin'}:{os.environ['PATH']}"
        for command in commands:
            before = self.contents()
            done = subprocess.run(["sh", "-c", command], cwd=self.dir, capture_output=True, timeout=60, check=False,
                                  env={**os.environ, "PATH": path, **environment})
            self.assertEqual(done.returncode, 0, f"{command}: {done.stderr.decode()}")
            self.assertEqual({name: self.contents()[name] for name in before}, before, command)
        self.assertIn("message.ct", self.contents())

    def contents(self):
        return {file.name: file.read_bytes() for file in self.dir.iterdir() if file.is_file()}


class System(Case):
    """Tests the system's OpenSSL, which may be 3.0 and have no ML-KEM of its own."""

    def test_the_commands_of_the_page(self):
        config = self.dir / "openssl.cnf"
        config.write_text("openssl_conf = init\n[init]\nproviders = list\n[list]\ndefault = on\npolykem = on\n"
                          "[on]\nactivate = 1\n", encoding="utf-8")
        self.run_the_page(SYSTEM, OPENSSL_CONF=str(config))

    def test_encrypted_keys_for_polykem(self):
        """polykem decrypts the keys that this openssl encrypts."""
        self.system("genpkey", "-algorithm", "ML-KEM-768", "-out", "key")
        self.system("pkey", "-in", "key", "-pubout", "-out", "pub")
        (self.dir / "passphrase").write_text("secret\n", encoding="utf-8")
        self.polykem("encaps", "--pk", "pub", "--ct", "ct", "--ss", "sent")
        for options in (("-v2", "aes-256-cbc"), ("-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA512"), ("-scrypt",)):
            self.system("pkcs8", "-topk8", "-in", "key", *options, "-passout", "file:passphrase", "-out", "sealed")
            self.polykem("decaps", "--sk", "sealed", "--ct", "ct", "--ss", "got", "--force", "--passphrase-file",
                         "passphrase")
            self.assertEqual(self.read("got"), self.read("sent"))

    def polykem(self, *args):
        self.command(POLYKEM, *args)

    def test_examples_of_the_standard(self):
        for name, form in self.each(SETS, ("seed", "expanded", "both")):
            private, public = EXAMPLES / f"{name}-{form}.priv", (EXAMPLES / f"{name}.pub").read_bytes()
            self.assertEqual(self.system("pkey", "-in", private, "-pubout"), public)
            # A private key keeps its seed; without one it cannot have it.
            written = EXAMPLES / f"{name}-{'expanded' if form == 'expanded' else 'both'}.priv"
            self.assertEqual(self.system("pkey", "-in", private), written.read_bytes())
            self.assertEqual(self.system("pkey", "-pubin", "-in", EXAMPLES / f"{name}.pub"), public)

    def test_inconsistent_keys_are_refused(self):
        for number in range(1, 5):
            key = EXAMPLES / f"bad-ML-KEM-512-{number}.priv"
            done = self.call(SYSTEM, "pkey", *WITH_PROVIDER, "-noout", "-in", key)
            self.assertNotEqual(done.returncode, 0, number)

    def test_examples_of_mldsa(self):
        for name, form in self.each(MLDSA, ("seed", "expanded", "both")):
            private, public = MLDSA_EXAMPLES / f"{name}-{form}.priv", (MLDSA_EXAMPLES / f"{name}.pub").read_bytes()
            self.assertEqual(self.system("pkey", "-in", private, "-pubout"), public)
            written = MLDSA_EXAMPLES / f"{name}-{'expanded' if form == 'expanded' else 'both'}.priv"
            self.assertEqual(self.system("pkey", "-in", private), written.read_bytes())
            certificate = MLDSA_EXAMPLES / f"{name}.crt"
            self.assertEqual(self.system("x509", "-in", certificate, "-noout", "-pubkey"), public)
            self.system("verify", "-check_ss_sig", "-CAfile", certificate, certificate)
        for number in range(1, 4):
            key = MLDSA_EXAMPLES / f"bad-ML-DSA-44-{number}.priv"
            done = self.call(SYSTEM, "pkey", *WITH_PROVIDER, "-noout", "-in", key)
            self.assertNotEqual(done.returncode, 0, number)

    def test_certificates_of_mldsa(self):
        for authority, name in (("mldsa87", "ML-DSA-44"), ("ML-DSA-44", "mldsa65"), ("id-ml-dsa-65", "mldsa87")):
            self.certify(self.system, authority, name)
            self.system("req", "-config", "req.cnf", "-in", "request", "-verify", "-noout")
            self.system("verify", "-check_ss_sig", "-CAfile", "ca.crt", "leaf")
            der = bytearray(self.system("x509", "-in", "leaf", "-outform", "der"))
            der[-1000] ^= 1
            (self.dir / "wrong").write_bytes(der)
            done = self.call(SYSTEM, "verify", *WITH_PROVIDER, "-CAfile", "ca.crt", "wrong")
            self.assertIn(b"certificate signature failure", done.stderr)

    def test_text_of_mldsa(self):
        text = self.system("pkey", "-in", MLDSA_EXAMPLES / "ML-DSA-44-seed.priv", "-text", "-noout").decode()
        self.assertEqual([line for line in text.splitlines() if not line.startswith(" ")],
                         ["ML-DSA-44 Private-Key:", "seed:", "priv:", "pub:"])
        text = self.system("x509", "-in", MLDSA_EXAMPLES / "ML-DSA-44.crt", "-noout", "-text").decode()
        self.assertIn("Signature Algorithm: ML-DSA-44", text)
        self.assertIn("ML-DSA-44 Public-Key:", text)

    def test_frodokem(self):
        """This openssl with the provider and polykem each read and rewrite the keys that the other writes."""
        for name, encoding in self.each(FRODO, ("pem", "der")):
            self.polykem("keygen", "-s", name, "--format", encoding, "--pk", "pub", "--sk", "key", "--force")
            again = self.system("pkey", "-in", "key", "-inform", encoding, "-outform", encoding)
            self.assertEqual(again, self.read("key"))
            public = self.system("pkey", "-in", "key", "-inform", encoding, "-pubout", "-outform", encoding)
            self.assertEqual(public, self.read("pub"))
            tree = self.command(SYSTEM, "asn1parse", "-in", "pub", "-inform", encoding).decode()
            self.assertIn(f":1.0.18033.2.2.7.{FRODO[name]}\n", tree)
            self.system("genpkey", "-algorithm", name, "-outform", encoding, "-out", "key")
            self.system("pkey", "-in", "key", "-inform", encoding, "-pubout", "-outform", encoding, "-out", "pub")
            self.assert_polykem_agrees("pub", "key")

    def test_encrypted_frodokem(self):
        (self.dir / "passphrase").write_text("secret\n", encoding="utf-8")
        for (name,) in self.each(FRODO):
            self.polykem("keygen", "-s", name, "--format", "pem", "--pk", "pub", "--sk", "key", "--force")
            self.system("pkey", "-in", "key", "-aes256", "-passout", "file:passphrase", "-out", "sealed")
            self.assertTrue(self.read("sealed").startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
            self.assert_polykem_agrees("pub", "sealed", "--passphrase-file", "passphrase")
            self.assertEqual(self.system("pkey", "-in", "sealed", "-passin", "file:passphrase"), self.read("key"))

    def test_frodokem_in_certificates(self):
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        self.command(SYSTEM, "req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=ca")
        self.command(SYSTEM, "req", "-new", *curve, "-keyout", "unused", "-out", "request", "-subj", "/CN=alice")
        for (name,) in self.each(FRODO):
            self.polykem("keygen", "-s", name, "--format", "pem", "--pk", "pub", "--sk", "key", "--force")
            self.system("x509", "-req", "-in", "request", "-force_pubkey", "pub", "-CA", "ca.crt", "-CAkey", "ca.key",
                        "-set_serial", "1", "-out", "leaf")
            self.assertEqual(self.system("x509", "-in", "leaf", "-noout", "-pubkey"), self.read("pub"))
            self.assertIn(f"{name} Public-Key:", self.system("x509", "-in", "leaf", "-noout", "-text").decode())
            self.system("verify", "-CAfile", "ca.crt", "leaf")
            self.assert_polykem_agrees("leaf", "key")

    def test_text_of_frodokem(self):
        self.system("genpkey", "-algorithm", "FrodoKEM-976-AES", "-out", "key")
        text = self.system("pkey", "-in", "key", "-text", "-noout").decode().splitlines()
        self.assertEqual([line for line in text if not line.startswith(" ")],
                         ["FrodoKEM-976-AES Private-Key:", "priv:", "pub:"])
        self.assertEqual(sum(line.count(":") + (not line.endswith(":")) for line in text if line.startswith(" ")),
                         31296 + 15632)

    def assert_polykem_agrees(self, public, private, *options):
        self.polykem("encaps", "--pk", public, "--ct", "ct", "--ss", "sent", "--force")
        self.polykem("decaps", "--sk", private, "--ct", "ct", "--ss", "got", "--force", *options)
        self.assertEqual(self.read("got"), self.read("sent"))

    def test_round_trips(self):
        for name, encoding in self.each((*SETS, *FRODO, *MLDSA), ("pem", "der")):
            self.system("genpkey", "-algorithm", name, "-outform", encoding, "-out", "key")
            self.system("pkey", "-inform", encoding, "-in", "key", "-outform", "der", "-out", "key.der")
            again = self.system("pkey", "-inform", "der", "-in", "key.der", "-outform", encoding)
            self.assertEqual(again, self.read("key"))
            self.system("pkey", "-in", "key.der", "-inform", "der", "-pubout", "-outform", encoding, "-out", "pub")
            again = self.system("pkey", "-pubin", "-inform", encoding, "-in", "pub", "-outform", encoding)
            self.assertEqual(again, self.read("pub"))
            self.system("pkey", "-in", "key", "-inform", encoding, "-check", "-noout")

    def test_text(self):
        text = self.system("pkey", "-in", EXAMPLES / "ML-KEM-512-seed.priv", "-text", "-noout").decode().splitlines()
        self.assertEqual(text[2], "    00:01:02:03:04:05:06:07:08:09:0a:0b:0c:0d:0e:")
        self.assertEqual([line for line in text if not line.startswith(" ")],
                         ["ML-KEM-512 Private-Key:", "seed:", "dk:", "ek:"])
        self.assertEqual(text[6], "    3c:3d:3e:3f")
        text = self.system("pkey", "-pubin", "-in", EXAMPLES / "ML-KEM-512.pub", "-text", "-noout").decode()
        self.assertTrue(text.startswith("ML-KEM-512 Public-Key:\nek:\n    "))

    def test_encrypted_private_keys(self):
        self.system("genpkey", "-algorithm", "ML-KEM-768", "-out", "key")
        for cipher in ("-aes256", "-aes-128-cbc"):
            self.system("pkey", "-in", "key", cipher, "-passout", "pass:secret", "-out", "sealed")
            self.assertTrue(self.read("sealed").startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
            self.assertEqual(self.system("pkey", "-in", "sealed", "-passin", "pass:secret"), self.read("key"))
            done = self.call(SYSTEM, "pkey", *WITH_PROVIDER, "-in", "sealed", "-passin", "pass:wrong", "-noout")
            self.assertNotEqual(done.returncode, 0)

    def test_other_keys_are_read_as_before(self):
        for algorithm in ("X25519", "ED25519"):
            self.command(SYSTEM, "genpkey", "-algorithm", algorithm, "-out", "key")
            self.assertEqual(self.system("pkey", "-in", "key"), self.read("key"))


class OpenSsl35(Case):
    """Tests keys and certificates between OpenSSL 3.5's own ML-KEM and ML-DSA and the provider in the system's."""

    def setUp(self):
        super().setUp()
        self.program = str(pathlib.Path(os.environ["POLYKEM_OPENSSL"]) / "bin" / "openssl")

    def newer(self, command, *args):
        return self.command(self.program, command, *args)

    def test_the_commands_of_the_page(self):
        self.run_the_page(self.program)

    def test_encrypted_keys_for_polykem(self):
        self.newer("genpkey", "-algorithm", "ML-KEM-768", "-out", "key")
        self.newer("pkey", "-in", "key", "-pubout", "-out", "pub")
        (self.dir / "passphrase").write_text("secret\n", encoding="utf-8")
        self.newer("pkey", "-in", "key", "-aes256", "-passout", "file:passphrase", "-out", "sealed")
        self.command(POLYKEM, "encaps", "--pk", "pub", "--ct", "ct", "--ss", "sent")
        self.command(POLYKEM, "decaps", "--sk", "sealed", "--ct", "ct", "--ss", "got", "--passphrase-file",
                     "passphrase")
        self.assertEqual(self.read("got"), self.read("sent"))

    def test_its_keys_are_read(self):
        for name, form in self.each((*SETS, *MLDSA), ("seed-priv", "seed-only", "priv-only")):
            family = "ml-dsa" if name in MLDSA else "ml-kem"
            self.newer("genpkey", "-algorithm", name, "-out", "key", "-provparam", f"{family}.output_formats={form}")
            self.newer("pkey", "-in", "key", "-pubout", "-out", "pub")
            self.assertEqual(self.system("pkey", "-in", "key", "-pubout"), self.read("pub"))
            for arguments in (("-in", "key", "-text", "-noout"), ("-pubin", "-in", "pub", "-text", "-noout")):
                self.assertEqual(self.system("pkey", *arguments), self.newer("pkey", *arguments))

    def test_keys_are_read_by_it(self):
        for (name,) in self.each((*SETS, *MLDSA)):
            self.system("genpkey", "-algorithm", name, "-out", "key")
            self.newer("pkey", "-in", "key", "-check", "-noout")
            self.assertEqual(self.newer("pkey", "-in", "key"), self.read("key"))
            self.assertEqual(self.newer("pkey", "-in", "key", "-pubout"), self.system("pkey", "-in", "key", "-pubout"))

    def test_frodokem_with_the_provider_in_it(self):
        for (name,) in self.each(FRODO):
            self.newer("genpkey", *WITH_PROVIDER, "-algorithm", name, "-out", "key")
            self.assertEqual(self.system("pkey", "-in", "key"), self.read("key"))
            public = self.newer("pkey", *WITH_PROVIDER, "-in", "key", "-pubout")
            self.assertEqual(self.system("pkey", "-in", "key", "-pubout"), public)

    def test_encrypted_keys_both_ways(self):
        for one, other in ((self.newer, self.system), (self.system, self.newer)):
            one("genpkey", "-algorithm", "ML-KEM-768", "-out", "key")
            one("pkey", "-in", "key", "-aes256", "-passout", "pass:secret", "-out", "sealed")
            self.assertEqual(other("pkey", "-in", "sealed", "-passin", "pass:secret"), self.read("key"))

    def test_certificates_of_mldsa_both_ways(self):
        for one, other in ((self.newer, self.system), (self.system, self.newer)):
            for authority, name in (("ML-DSA-65", "ML-DSA-44"), ("ML-DSA-87", "ML-DSA-65")):
                self.certify(one, authority, name)
                other("verify", "-check_ss_sig", "-CAfile", "ca.crt", "leaf")
                other("req", "-config", "req.cnf", "-in", "request", "-verify", "-noout")

    def test_signatures_both_ways(self):
        ours = (*WITH_PROVIDER, "-propquery", "?provider=polykem")
        (self.dir / "message").write_bytes(b"message" * 100)
        for name, context in self.each(MLDSA, ("", "0011ff")):
            self.newer("genpkey", "-algorithm", name, "-out", "key")
            options = ("-rawin", "-in", "message", "-inkey", "key",
                       *(("-pkeyopt", f"hexcontext-string:{context}") if context else ()))
            for one, other in ((ours, ()), ((), ours)):
                self.newer("pkeyutl", "-sign", *one, *options, "-out", "signature")
                self.newer("pkeyutl", "-verify", *other, *options, "-sigfile", "signature")

    def test_the_provider_beside_its_own(self):
        """With the provider beside OpenSSL's own algorithms, either may be used; the keys are the same."""
        self.newer("genpkey", "-algorithm", "ML-KEM-768", "-out", "key")
        for preferred in ("polykem", "default"):
            again = self.newer("pkey", *WITH_PROVIDER, "-propquery", f"?provider={preferred}", "-in", "key")
            self.assertEqual(again, self.read("key"))


class Pyca(Case):
    """Tests keys, certificates and signatures between the provider and pyca/cryptography, whose Python runs this."""

    def test_keys(self):
        from cryptography.hazmat.primitives import serialization as s
        from cryptography.hazmat.primitives.asymmetric import mldsa
        for (name,) in self.each(MLDSA):  # pyca reads private keys as seeds alone
            self.system("pkey", "-in", MLDSA_EXAMPLES / f"{name}-both.priv", "-pubout", "-out", "pub")
            key = s.load_pem_private_key((MLDSA_EXAMPLES / f"{name}-seed.priv").read_bytes(), None)
            self.assertEqual(s.load_pem_public_key(self.read("pub")), key.public_key())
            theirs = getattr(mldsa, name.replace("-", "") + "PrivateKey").generate()
            (self.dir / "theirs").write_bytes(
                theirs.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
            public = theirs.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
            self.assertEqual(self.system("pkey", "-in", "theirs", "-pubout"), public)

    def test_certificates(self):
        from cryptography import x509
        for authority, name in (("ML-DSA-87", "ML-DSA-44"), ("ML-DSA-44", "ML-DSA-65")):
            self.certify(self.system, authority, name)
            root, leaf = (x509.load_pem_x509_certificate(self.read(file)) for file in ("ca.crt", "leaf"))
            leaf.verify_directly_issued_by(root)
            root.verify_directly_issued_by(root)


if __name__ == "__main__":
    unittest.main()
