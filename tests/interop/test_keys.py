# SPDX-License-Identifier: Apache-2.0
"""Tests keys in files between polykem and other programs: each reads the other's, and both get the same secret.

CTest runs it, or by hand, each class where its peer is:
  POLYKEM_PROGRAM=build/bin/polykem "$(tests/interop/pyca.sh)" -B tests/interop/test_keys.py Pyca
  POLYKEM_PROGRAM=build/bin/polykem POLYKEM_OPENSSL="$(tests/tls/openssl35.sh)" \\
    python3 -B tests/interop/test_keys.py OpenSsl
  POLYKEM_PROGRAM=build/bin/polykem POLYKEM_INTEROP=build/interop/release/polykem-interop \\
    python3 -B tests/interop/test_keys.py WolfSsl
"""

import itertools
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath(os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem"))
FORMS = ("seed", "expanded", "both")
ENCODINGS = ("pem", "der")


class Case(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def command(self, *args):
        done = subprocess.run([*map(str, args)], cwd=self.dir, capture_output=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout

    def polykem(self, *args):
        return self.command(PROGRAM, *args)

    def read(self, name):
        return (self.dir / name).read_bytes()

    def write(self, name, content):
        (self.dir / name).write_bytes(content)

    def keygen(self, name, encoding, form):
        self.polykem("keygen", "-s", name, "--format", encoding, "--sk-form", form, "--pk", "pk", "--sk", "sk", "-f")

    def encaps(self, public_key):
        """Encapsulates with polykem. Returns the ciphertext and the secret."""
        self.polykem("encaps", "--pk", public_key, "--ct", "ct", "--ss", "ss", "--format", "raw", "-f")
        return self.read("ct"), self.read("ss")

    def decaps(self, private_key, ciphertext):
        """Decapsulates with polykem. Returns the secret."""
        self.write("ct", ciphertext)
        self.polykem("decaps", "--sk", private_key, "--ct", "ct", "--ss", "ss", "--format", "raw", "-f")
        return self.read("ss")

    def each(self, *lists):
        """Yields every combination, as a subtest."""
        for combination in itertools.product(*lists):
            with self.subTest(" ".join(combination)):
                yield combination


class Pyca(Case):
    """Tests pyca/cryptography, which has ML-KEM-768 and 1024 and reads private keys only as seeds."""

    def setUp(self):
        super().setUp()
        from cryptography.hazmat.primitives import serialization  # pylint: disable=import-outside-toplevel
        from cryptography.hazmat.primitives.asymmetric import mlkem  # pylint: disable=import-outside-toplevel
        self.kinds = {"mlkem768": mlkem.MLKEM768PrivateKey, "mlkem1024": mlkem.MLKEM1024PrivateKey}
        self.encodings = {"pem": serialization.Encoding.PEM, "der": serialization.Encoding.DER}
        self.load_public = {"pem": serialization.load_pem_public_key, "der": serialization.load_der_public_key}
        self.load_private = {"pem": serialization.load_pem_private_key, "der": serialization.load_der_private_key}
        self.spki = serialization.PublicFormat.SubjectPublicKeyInfo
        self.pkcs8 = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())

    def test_reads_what_polykem_writes(self):
        for name, encoding in self.each(self.kinds, ENCODINGS):
            self.polykem("keygen", "-s", name, "--format", encoding, "--pk", "pk", "--sk", "sk", "-f")
            public = self.load_public[encoding](self.read("pk"))
            private = self.load_private[encoding](self.read("sk"), None)
            self.assertIsInstance(private, self.kinds[name])
            self.assertEqual(private.public_key().public_bytes_raw(), public.public_bytes_raw())
            self.assertEqual(public.public_bytes(self.encodings[encoding], self.spki), self.read("pk"))
            self.assertEqual(private.private_bytes(self.encodings[encoding], *self.pkcs8), self.read("sk"))
            secret, ciphertext = public.encapsulate()
            self.assertEqual(self.decaps("sk", ciphertext), secret)
            ciphertext, secret = self.encaps("pk")
            self.assertEqual(private.decapsulate(ciphertext), secret)

    def test_writes_what_polykem_reads(self):
        for name, encoding in self.each(self.kinds, ENCODINGS):
            private = self.kinds[name].generate()
            self.write("pk", private.public_key().public_bytes(self.encodings[encoding], self.spki))
            self.write("sk", private.private_bytes(self.encodings[encoding], *self.pkcs8))
            ciphertext, secret = self.encaps("pk")
            self.assertEqual(private.decapsulate(ciphertext), secret)
            secret, ciphertext = private.public_key().encapsulate()
            self.assertEqual(self.decaps("sk", ciphertext), secret)


class OpenSsl(Case):
    """Tests the program openssl of OpenSSL 3.5."""

    SETS = {"mlkem512": "ML-KEM-512", "mlkem768": "ML-KEM-768", "mlkem1024": "ML-KEM-1024"}

    def openssl(self, *args):
        return self.command(pathlib.Path(os.environ["POLYKEM_OPENSSL"]) / "bin" / "openssl", *args)

    def agree(self, encoding):
        """Checks that each side decapsulates what the other has encapsulated."""
        ciphertext, secret = self.encaps("pk")
        self.write("ct", ciphertext)
        self.openssl("pkeyutl", "-decap", "-keyform", encoding, "-inkey", "sk", "-in", "ct", "-secret", "ss")
        self.assertEqual(self.read("ss"), secret)
        self.openssl("pkeyutl", "-encap", "-keyform", encoding, "-pubin", "-inkey", "pk", "-out", "ct", "-secret", "ss")
        secret = self.read("ss")
        self.assertEqual(self.decaps("sk", self.read("ct")), secret)

    def test_reads_what_polykem_writes(self):
        for name, encoding, form in self.each(self.SETS, ENCODINGS, FORMS):
            self.keygen(name, encoding, form)
            self.openssl("pkey", "-inform", encoding, "-in", "sk", "-check", "-noout")
            from_private = self.openssl("pkey", "-inform", encoding, "-in", "sk", "-pubout", "-outform", encoding)
            self.assertEqual(from_private, self.read("pk"))
            written = {"seed": "seed-only", "expanded": "priv-only", "both": "seed-priv"}[form]
            again = self.openssl("pkey", "-inform", encoding, "-in", "sk", "-outform", encoding,
                                 "-provparam", f"ml-kem.output_formats={written}")
            self.assertEqual(again, self.read("sk"))
            self.agree(encoding)

    def test_writes_what_polykem_reads(self):
        for name, encoding, form in self.each(self.SETS, ENCODINGS, ("seed-priv", "seed-only", "priv-only")):
            self.openssl("genpkey", "-algorithm", self.SETS[name], "-outform", encoding, "-out", "sk",
                         "-provparam", f"ml-kem.output_formats={form}")
            self.openssl("pkey", "-inform", encoding, "-in", "sk", "-pubout", "-outform", encoding, "-out", "pk")
            self.agree(encoding)

    def test_text_before_the_key(self):
        self.openssl("genpkey", "-algorithm", "ML-KEM-768", "-out", "sk", "-outpubkey", "pk")
        self.write("sk", self.openssl("pkey", "-in", "sk", "-text"))
        self.write("pk", self.openssl("pkey", "-pubin", "-in", "pk", "-text"))
        self.assertIn(b"dk:", self.read("sk"))
        self.agree("pem")

    def test_encrypted_keys_without_a_passphrase_are_refused_until_they_are_decrypted(self):
        self.openssl("genpkey", "-algorithm", "ML-KEM-768", "-out", "plain", "-outpubkey", "pk")
        self.openssl("pkey", "-in", "plain", "-aes256", "-passout", "pass:x", "-out", "sealed")
        self.encaps("pk")
        done = subprocess.run([PROGRAM, "decaps", "--sk", "sealed", "--ct", "ct", "--ss", "x"], cwd=self.dir,
                              capture_output=True, timeout=60, check=False, start_new_session=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"is encrypted", done.stderr)
        self.openssl("pkey", "-in", "sealed", "-passin", "pass:x", "-out", "sk")
        self.agree("pem")


class WolfSsl(Case):
    """Tests wolfSSL 5.9.4, through the program polykem-interop. It has FrodoKEM's keys in DER."""

    #: Bytes of a public and of a private key.
    SETS = {prefix + size + hash_: sizes for size, sizes in (("976", (15632, 31296)), ("1344", (21520, 43088)))
            for prefix in ("frodokem", "efrodokem") for hash_ in ("shake", "aes")}

    def wolfssl(self, *args):
        self.command(os.environ["POLYKEM_INTEROP"], *args)

    def agree(self, name):
        """Checks that each side decapsulates what the other has encapsulated."""
        ciphertext, secret = self.encaps("pk")
        self.write("ct", ciphertext)
        self.wolfssl("decaps", name, "sk", "ct", "ss")
        self.assertEqual(self.read("ss"), secret)
        self.wolfssl("encaps", name, "pk", "ct", "ss")
        secret = self.read("ss")
        self.assertEqual(self.decaps("sk", self.read("ct")), secret)

    def headers(self, name):
        """Returns the headers of the key files, before the bytes of the keys."""
        return [self.read(file)[:-size] for file, size in zip(("pk", "sk"), self.SETS[name])]

    def test_keys_go_both_ways(self):
        for (name,) in self.each(self.SETS):
            self.keygen(name, "der", "expanded")
            headers = self.headers(name)
            self.agree(name)
            self.wolfssl("keygen", name, "pk", "sk")
            self.assertEqual(self.headers(name), headers)
            self.agree(name)

    def test_keys_of_another_set_are_refused(self):
        self.keygen("frodokem976shake", "der", "expanded")
        self.encaps("pk")
        for other in ("efrodokem976shake", "frodokem976aes", "frodokem1344shake"):
            with self.assertRaises(AssertionError):
                self.wolfssl("decaps", other, "sk", "ct", "ss2")
            with self.assertRaises(AssertionError):
                self.wolfssl("encaps", other, "pk", "ct", "ss2")


if __name__ == "__main__":
    unittest.main()
