# SPDX-License-Identifier: Apache-2.0
"""Tests encrypted private keys: what decaps decrypts, and where it gets the passphrase."""

import base64
import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
import unittest

from program import BAD_INPUT, DATA, IO, OK, PROGRAM, USAGE, Case

FOLDER = DATA / "foreign_keys"
PASSPHRASE = b"correct horse"
PLAIN = DATA / "rfc9935" / "ML-KEM-512-seed.priv"
PUBLIC = DATA / "rfc9935" / "ML-KEM-512.pub"
SCHEMES = {"aes-128-cbc", "aes-192-cbc", "aes-256-cbc", "des3", "hmac-sha1", "hmac-sha224", "hmac-sha384",
           "hmac-sha512", "scrypt", "pbe-sha1-3des", "empty"}
RIGHT_PADDING = (282, 339, 386, 438, 534, 656)
AES = FOLDER / "aes-256-cbc.pem"


class EncryptedKeys(Case):
    def setUp(self):
        super().setUp()
        self.ok("encaps", "--pk", PUBLIC, "--ct", "ct", "--ss", "sent")
        self.write("passphrase", PASSPHRASE + b"\n")

    def decaps(self, key, *options, **kwargs):
        """Runs decaps with that key, without a terminal."""
        return subprocess.run([PROGRAM, "decaps", "--sk", str(key), "--ct", "ct", "--ss", "got", "--force",
                               *map(str, options)], cwd=self.dir, capture_output=True, timeout=240, check=False,
                              start_new_session=True, **kwargs)

    def opens(self, key, *options, **kwargs):
        done = self.decaps(key, *options, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (OK, b""))
        self.assertEqual(self.read("got"), self.read("sent"))
        (self.dir / "got").unlink()

    def refuses(self, code, words, key, *options, **kwargs):
        done = self.decaps(key, *options, "--quiet", **kwargs)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error)
        for word in words:
            self.assertIn(word, error)
        self.assertNotIn(PASSPHRASE.decode(), error)
        self.assertFalse((self.dir / "got").exists())

    def test_every_scheme_that_openssl_writes(self):
        keys = [key for key in sorted(FOLDER.iterdir()) if key.stem in SCHEMES]
        self.assertEqual({key.stem for key in keys}, SCHEMES)
        for key in keys:
            with self.subTest(key.name):
                self.write("passphrase", b"\n" if key.stem == "empty" else PASSPHRASE)
                self.opens(key, "--passphrase-file", "passphrase", "--quiet")

    def test_a_scheme_that_openssl_has_dropped(self):
        self.refuses(BAD_INPUT, ["pbe-md5-des.pem", "OpenSSL cannot decrypt", "PBES2"], FOLDER / "pbe-md5-des.pem",
                     "--passphrase-file", "passphrase")

    def test_wrong_passphrases(self):
        """Some wrong passphrases leave padding that looks right: for aes-256-cbc.der those of RIGHT_PADDING."""
        for word in (*(f"guess {number}" for number in (1, *RIGHT_PADDING)), "", "correct horse ", "x" * 1024):
            self.write("wrong", word + "\n")
            for name in ("aes-256-cbc.der", "scrypt.pem", "pbe-sha1-3des.pem"):
                self.refuses(BAD_INPUT, [name, "the passphrase is wrong"], FOLDER / name, "--passphrase-file", "wrong")

    def test_passphrase_from_a_descriptor(self):
        for content, options in ((PASSPHRASE, {}), (PASSPHRASE + b"\nand more\n", {})):
            reader, writer = os.pipe()
            os.write(writer, content)
            os.close(writer)
            self.opens(AES, "--passphrase-fd", reader, "--quiet", pass_fds=(reader,), **options)
            os.close(reader)
        self.opens(AES, "--passphrase-fd", "0", "--quiet", input=PASSPHRASE)
        self.opens(AES, "--passphrase-file", "-", "--quiet", input=PASSPHRASE)
        self.opens("-", "--passphrase-file", "passphrase", "--quiet", input=AES.read_bytes())

    def test_a_key_and_its_passphrase_from_one_stream(self):
        for options in (("--passphrase-fd", "0"), ("--passphrase-file", "-")):
            self.refuses(USAGE, ["only one input can come from standard input"], "-", *options)

    def test_places_without_a_passphrase(self):
        self.refuses(USAGE, ["is encrypted, and there is no terminal", "--passphrase-file FILE"], AES)
        self.write("none", b"")
        self.refuses(BAD_INPUT, ["'none'", "holds no passphrase"], AES, "--passphrase-file", "none")
        self.write("long", b"x" * 1025)
        self.refuses(BAD_INPUT, ["'long'", "longer than 1024 bytes"], AES, "--passphrase-file", "long")
        self.refuses(IO, ["'missing'", "No such file"], AES, "--passphrase-file", "missing")
        # A descriptor number that the program's own files could get
        for number in (3, 4, 5, 17):
            self.refuses(IO, [f"descriptor {number}: Bad file descriptor"], AES, "--passphrase-fd", number)
        self.refuses(USAGE, ["--passphrase-fd"], AES, "--passphrase-fd", "-1")
        self.refuses(USAGE, ["excludes"], AES, "--passphrase-fd", "0", "--passphrase-file", "passphrase")

    def test_a_passphrase_that_is_not_needed(self):
        self.opens(PLAIN, "--passphrase-file", "passphrase", "--quiet")

    def test_the_passphrase_file_is_not_overwritten(self):
        args = ("decaps", "--sk", AES, "--ct", "ct", "--ss", "passphrase", "--force")
        self.fails(USAGE, ["would overwrite", "which is read"], *args, "--passphrase-file", "passphrase")
        with open(self.dir / "passphrase", "rb") as file:
            number = str(file.fileno())
            done = subprocess.run([PROGRAM, *args, "--passphrase-fd", number], cwd=self.dir, capture_output=True,
                                  timeout=240, check=False, pass_fds=(file.fileno(),))  # fmt: skip
        self.assertEqual(done.returncode, USAGE, done.stderr)
        self.assertIn(b"would overwrite", done.stderr)
        self.assertEqual(self.read("passphrase"), PASSPHRASE + b"\n")

    def test_several_keys_have_one_passphrase(self):
        self.write("keys", AES.read_bytes() + PLAIN.read_bytes() + (FOLDER / "scrypt.pem").read_bytes())
        self.ok("encaps", "--pk", PUBLIC, "--count", "3", "--ct", "ct", "--ss", "sent", "--force")
        self.opens("keys", "--passphrase-file", "passphrase", "--quiet")

    def test_an_encrypted_key_where_a_public_one_belongs(self):
        self.fails(BAD_INPUT, ["an encrypted private key, expected a public key"],
                   "encaps", "--pk", AES, "--ct", "x", "--ss", "y")

    def test_an_openssl_cnf_without_providers_does_not_matter(self):
        self.write("openssl.cnf", "openssl_conf = a\n[a]\nproviders = b\n[b]\nnull = c\n[c]\nactivate = 1\n")
        self.opens(AES, "--passphrase-file", "passphrase", "--quiet",
                   env={**os.environ, "OPENSSL_CONF": str(self.dir / "openssl.cnf")})

    def test_too_much_work(self):
        """A key that names 20,000,000 or 2^31 rounds, or scrypt with N r p of 2^40, is refused at once."""
        pbkdf2 = bytes.fromhex("02020800")  # 2048 rounds
        scrypt = bytes.fromhex("02024000 020108 020101")
        for file, old, new in (("aes-256-cbc", pbkdf2, bytes.fromhex("02040131 2d00")),
                               ("aes-256-cbc", pbkdf2, bytes.fromhex("02047fffffff")),
                               ("scrypt", scrypt, bytes.fromhex("02050080000000 020108 020140"))):
            with self.subTest(file, new=new.hex()):
                der = base64.b64decode(b"".join((FOLDER / f"{file}.pem").read_bytes().splitlines()[1:-1]))
                self.write("key", self.grown(der, der.index(old), old, new))
                start = time.monotonic()
                self.refuses(BAD_INPUT, ["more than the limit of 2^24 rounds", "with fewer rounds"],
                             "key", "--passphrase-file", "passphrase")
                self.assertLess(time.monotonic() - start, 60)


    @staticmethod
    def grown(der, place, old, new):
        """Returns `der` with `old` at `place` replaced, and with the lengths of the SEQUENCEs around it adapted."""
        more = len(new) - len(old)
        out = bytearray(der[:place] + new + der[place + len(old):])
        walk = 0
        while walk < place:
            tag, length = out[walk], out[walk + 1]
            if length >= 0x80:
                size = length & 0x7F
                content, value = walk + 2 + size, int.from_bytes(out[walk + 2:walk + 2 + size], "big")
            else:
                size, content, value = 0, walk + 2, length
            if tag == 0x30 and content + value > place:
                field = (value + more).to_bytes(size or 1, "big")
                at = walk + (2 if size else 1)
                out[at:at + len(field)] = field
                walk = content
            else:
                walk = content + value
        return bytes(out)

    def at_a_terminal(self, typed):
        """Runs decaps with a terminal and types `typed` at the prompt. Returns the output, the status, and whether the
        terminal echoes input before, during and after."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)

        def shows():
            return bool(termios.tcgetattr(slave)[3] & termios.ECHO)

        echo = [shows()]
        with subprocess.Popen([PROGRAM, "decaps", "--sk", AES, "--ct", "ct", "--ss", "got", "--force", "--quiet"],
                              cwd=self.dir, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                              start_new_session=True,
                              preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0)) as program:
            shown = b""
            while b"Passphrase for" not in shown or not shown.endswith(b": "):
                ready, _, _ = select.select([master], [], [], 240)
                self.assertTrue(ready, shown)
                shown += os.read(master, 4096)
            echo.append(shows())
            os.write(master, typed)
            program.wait(timeout=240)
            echo.append(shows())
            while select.select([master], [], [], 0.2)[0]:
                shown += os.read(master, 4096)
        return shown, program.returncode, echo

    def test_the_terminal_is_asked(self):
        shown, status, echo = self.at_a_terminal(PASSPHRASE + b"\n")
        self.assertEqual(status, OK, shown)
        self.assertEqual(self.read("got"), self.read("sent"))
        self.assertIn(f"Passphrase for '{AES}': ".encode(), shown)
        self.assertNotIn(PASSPHRASE, shown)
        self.assertEqual(echo, [True, False, True])

    def test_a_wrong_answer_at_the_terminal(self):
        shown, status, echo = self.at_a_terminal(b"wrong horse\n")
        self.assertEqual(status, BAD_INPUT, shown)
        self.assertIn(b"the passphrase is wrong", shown)
        self.assertNotIn(b"wrong horse", shown)
        self.assertEqual(echo, [True, False, True])

    def test_an_interrupt_at_the_prompt_gives_the_terminal_back(self):
        _, status, echo = self.at_a_terminal(b"corr\x03")
        self.assertEqual(status, -signal.SIGINT)
        self.assertEqual(echo, [True, False, True])
        self.assertFalse((self.dir / "got").exists())


if __name__ == "__main__":
    unittest.main()
