# SPDX-License-Identifier: Apache-2.0
"""Tests with many variants of a key file that polykem reads and refuses the same PEM as OpenSSL 3.0 and 3.5."""

import os
import re
import subprocess
import unittest

from program import BAD_INPUT, DATA, OK, USAGE, Case

OPENSSL = os.environ.get("POLYKEM_SYSTEM_OPENSSL", "openssl")
KEYS = DATA / "rfc9935"
BEGIN, END = b"-----BEGIN PRIVATE KEY-----", b"-----END PRIVATE KEY-----"
MARK = b"\xef\xbb\xbf"
CERTIFICATE = (DATA / "foreign_keys" / "ca.crt").read_bytes()
# Bytes that may be in a file of text, and some that may not.
BYTES = [b"\t", b"\x01", b"\x0b", b"\x0c", b"\r", b"\x1a", b"\x1b", b" ", b"*", b"=", b":", b"_", b"~", b"\x7f",
         b"\x80", b"\xa0", b"\xc3\xbc", b"\xff"]

# OpenSSL accepts these, and polykem refuses them with these words.
STRICTER = {
    "an END line before": "an END line without a BEGIN line",
    "an END line after": "an END line without a BEGIN line",
    "a damaged BEGIN line before": "the BEGIN line is damaged",
    "a damaged BEGIN line after": "the BEGIN line is damaged",
    "control characters before": "raw bytes do not name",
}


def body_of(pem):
    return b"".join(pem.split(b"\n")[1:-2])


def lines_of(body, size):
    return b"\n".join(body[i:i + size] for i in range(0, len(body), size))


def block(body, begin=BEGIN, end=END):
    return begin + b"\n" + body + b"\n" + end + b"\n"


def around(pem):
    """Returns variants with text and other blocks before and after."""
    yield "nothing", pem
    for name, text in (("byte order mark", MARK), ("two byte order marks", MARK + MARK), ("empty lines", b"\n\r\n \n"),
                       ("umlauts", "# Schlüssel für Zoë\n".encode()), ("umlauts in Latin-1", b"# Schl\xfcssel\n"),
                       ("Cyrillic", "Ключ сервера\n".encode()), ("dashes", b"-----\n"),
                       ("many dashes", b"-" * 70 + b"\n"),
                       ("a line of dashes and words", b"----- BEGIN -----\n"), ("a long line", b"x" * 1000 + b"\n"),
                       ("a mark and umlauts", MARK + "für\n".encode()), ("a colon", b"Proc-Type: 4,ENCRYPTED\n\n"),
                       ("attributes", b"Bag Attributes\n    friendlyName: my key\nKey Attributes: <No Attributes>\n"),
                       ("a certificate", CERTIFICATE),
                       ("a mark and a certificate", MARK + CERTIFICATE),
                       ("a public key", (KEYS / "ML-KEM-512.pub").read_bytes()),
                       ("parameters", b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n"
                                      b"-----END EC PARAMETERS-----\n"),
                       ("text without a line end", b"words "), ("a blank", b" "), ("a tab", b"\t"),
                       ("an END line", b"-----END X-----\n"), ("a damaged BEGIN line", b"-----BEGIN X----\n"),
                       ("control characters", b"\x01\x02\n")):
        yield f"{name} before", text + pem
        if text.endswith(b"\n"):
            yield f"{name} after", pem + text
    yield "a certificate and a mark before", CERTIFICATE + MARK + pem


def titles(body):
    """Returns variants of the BEGIN and END lines."""
    for name, begin in (("BEGIN with blanks behind", BEGIN + b" \t"),
                        ("BEGIN with a no-break space", BEGIN + b"\xc2\xa0"),
                        ("BEGIN with 4 dashes", BEGIN[:-1]), ("BEGIN with 6 dashes", b"-" + BEGIN),
                        ("BEGIN in small letters", BEGIN.lower()),
                        ("BEGIN of another label", BEGIN.replace(b"PRI", b"PRO")),
                        ("BEGIN with words behind", BEGIN + b" x"), ("no BEGIN", b"")):
        yield name, block(body, begin=begin)
    for name, end in (("END with blanks behind", END + b"  "), ("END with 4 dashes", END[1:]),
                      ("END of another label", END.replace(b"PRI", b"PRO")), ("END with words behind", END + b" x"),
                      ("END indented", b" " + END), ("no END", b""), ("END behind the base64", None)):
        yield name, BEGIN + b"\n" + body + END + b"\n" if end is None else block(body, end=end)
    yield "no line end", block(body)[:-1]
    yield "carriage returns", block(body).replace(b"\n", b"\r\n")
    yield "carriage returns alone", block(body).replace(b"\n", b"\r")


def bodies(body):
    """Returns variants of the base64."""
    for size in (1, 4, 48, 63, 64, 65, 76, 100, 200, 10_000):
        yield f"lines of {size}", block(lines_of(body, size))
        yield f"an empty line, lines of {size}", block(b"\n" + lines_of(body, size))
    lines = lines_of(body, 64)
    yield "two empty lines", block(b"\n\n" + lines)
    yield "an empty line at the end", block(lines + b"\n")
    yield "an empty line inside", block(lines.replace(b"\n", b"\n\n", 1))
    yield "a line of blanks at first", block(b"  \t\n" + lines)
    yield "a header", block(b"Comment: a key of mine\n\n" + lines)
    yield "a header of old encryption", block(b"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n" + lines)
    yield "indented", block(b"  " + lines.replace(b"\n", b"\n  "))
    yield "blanks everywhere", block(lines.replace(b"A", b"A \t"))
    yield "cut off", block(lines[:-4])
    yield "no base64", block(b"")
    for what in BYTES:
        yield f"{what} inside", block(lines[:20] + what + lines[20:])
        yield f"{what} at a line's end", block(lines.replace(b"\n", what + b"\n", 1))
        yield f"{what} at a line's beginning", block(what + lines)
        yield f"{what} at the end", block(lines + what)


def padding(body):
    """Returns variants of the end of the base64, whose padding is one '='."""
    plain = body.rstrip(b"=")
    for count in range(5):
        yield f"{count} times =", block(plain + b"=" * count)
    yield "padding on its own line", block(plain + b"\n=")
    yield "stray bits", block(plain[:-1] + bytes([plain[-1] + 1]) + b"=" * (len(body) - len(plain)))
    yield "more after the padding", block(body + b"AAAA")
    yield "padding inside", block(body[:8] + b"=" + body[8:])


class PemAsOpenssl(Case):
    def setUp(self):
        super().setUp()
        version = subprocess.run([OPENSSL, "version"], capture_output=True, check=True).stdout.decode()
        if re.findall(r"OpenSSL (\d+\.\d+)", version)[-1] not in ("3.0", "3.5"):  # the library's comes last
            self.skipTest(f"the rules of {version.strip()} may be others")
        self.ok("encaps", "--pk", KEYS / "ML-KEM-512.pub", "--ct", "ct", "--ss", "sent")

    def openssl_takes(self, file):
        done = subprocess.run([OPENSSL, "pkey", "-provider", "polykem", "-provider", "default", "-in", file, "-noout",
                               "-passin", "pass:x"], cwd=self.dir, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=60, check=False)
        return done.returncode == 0

    def agree(self, variants):
        count = 0
        for name, content in variants:
            count += 1
            with self.subTest(name):
                self.write("key", content)
                taken = self.openssl_takes("key")
                done = self.run_program("decaps", "--sk", "key", "--ct", "ct", "--ss", "got", "--force", "--quiet")
                error = done.stderr.decode()
                if name in STRICTER:
                    self.assertTrue(taken, "OpenSSL refuses it too")
                    self.assertNotEqual(done.returncode, OK)
                    self.assertIn(STRICTER[name], error)
                    continue
                self.assertEqual(done.returncode == OK, taken, error)
                if taken:
                    self.assertEqual(self.read("got"), self.read("sent"))
                    continue
                # The reason and, for a line, its number
                self.assertIn(done.returncode, (BAD_INPUT, USAGE), error)
                self.assertRegex(error, r"line \d+: |holds .* where|holds no block|do not name their parameter set")
        return count

    def test_text_and_blocks_around(self):
        pem = (KEYS / "ML-KEM-512-seed.priv").read_bytes()
        self.assertGreater(self.agree(around(pem)), 30)

    def test_titles(self):
        self.agree(titles(lines_of(body_of((KEYS / "ML-KEM-512-seed.priv").read_bytes()), 64)))

    def test_bodies(self):
        self.agree(bodies(body_of((KEYS / "ML-KEM-512-seed.priv").read_bytes())))

    def test_a_long_body(self):
        self.agree(bodies(body_of((KEYS / "ML-KEM-512-both.priv").read_bytes())))

    def test_padding(self):
        self.agree(padding(body_of((KEYS / "ML-KEM-512-seed.priv").read_bytes())))


if __name__ == "__main__":
    unittest.main()
