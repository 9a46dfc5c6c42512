# SPDX-License-Identifier: Apache-2.0
"""Tests that no command that the program or the pages advise writes to a file that it reads."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("cli", "formats", "provider", "python", "src", "hpke", "include", "docs", "examples", "bench", "hw",
           "embedded")
ENDINGS = {".cpp", ".hpp", ".h", ".c", ".py", ".md", ".1", ".8", ".in", ".sh", ".ipynb"}

WORD = r"([\w./~$<>{}*-]+)"
OPTION = re.compile(r"(?<![\w-])(-{1,2}[a-z][\w-]*)[ =]" + WORD)
READ_AND_WRITTEN = (
    re.compile(rf"-in[ =]{WORD}\b.*?-(?:out|keyout)[ =]\1(?![\w./-])"),
    re.compile(rf"-(?:out|keyout)[ =]{WORD}\b.*?-in[ =]\1(?![\w./-])"),
    re.compile(rf"(?<![<-])<\s*{WORD}[^|;&]*?(?<![>-])>\s*\1(?![\w./-])"),
    re.compile(rf"\b(?:cat|sed|jq|sort|tr|base64|zcat|awk|grep|head|tail|openssl)\b"
               rf"[^|;&>`]*?\s{WORD}\s*>\s*\1(?![\w./-])"),
)
FILES_OF_POLYKEM = {"--pk", "--sk", "--ct", "--ss", "--sig", "--json", "--svg", "--passphrase-file"}


def overwrites(line):
    """Returns a file that a line's command reads and also writes, None if there is none. The line may be text."""
    for pattern in READ_AND_WRITTEN:
        if found := pattern.search(line):
            return found.group(1)
    if re.search(r"\bpolykem (keygen|encaps|decaps|sign|verify)\b", line):
        files = [value for option, value in OPTION.findall(line) if option in FILES_OF_POLYKEM and value != "-"]
        for value in files:
            if files.count(value) > 1:
                return value
    return None


def lines():
    """Yields every line of the sources and the pages, joined with its continuation lines."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
    for folder in FOLDERS:
        files += [file for file in sorted((ROOT / folder).rglob("*")) if file.suffix in ENDINGS and file.is_file()]
    for file in files:
        text = file.read_text(encoding="utf-8")
        text = re.sub(r"\\\n\s*", " ", text)        # a shell's continued line
        text = re.sub(r'"\n\s*(?:f|fmt::format\()?"', "", text)  # a string in two parts
        for number, line in enumerate(text.splitlines(), 1):
            yield f"{file.relative_to(ROOT)}:{number}", line


class Hints(unittest.TestCase):
    def test_faults_are_seen(self):
        for line in ("decrypt it first: openssl pkey -in FILE -out FILE, with OpenSSL 3.5 or newer",
                     "decrypt it with `openssl pkey -in FILE -out FILE` first.", "openssl x509 -out a.pem -in a.pem",
                     "openssl pkey -in key.pem -passin file:x -out key.pem", "sort names > names", "tr a b < x > x",
                     "openssl pkey -in=alice.key -out=alice.key", "polykem encaps --pk k --ct k --ss s",
                     "polykem decaps --sk a.sk --ct m.ct --ss a.sk", "polykem sign --sk a.sk --sig a.sk m",
                     "jq . result.json >result.json"):
            self.assertIsNotNone(overwrites(line), line)

    def test_other_commands_are_not(self):
        for line in ("openssl pkey -in OLD -out NEW", "openssl pkey -in bob.key -pubout -out bob.key.pub",
                     "sort names > sorted", "tr a b < x > y", "cat a b > c", "polykem keygen --pk a.pk --sk a.sk",
                     "polykem encaps --pk - --ct - --ss s", "if (a < b && b > a) return;"):
            self.assertIsNone(overwrites(line), line)

    def test_nothing_advises_to_write_to_what_is_read(self):
        count = 0
        for place, line in lines():
            count += 1
            if re.search(r"openssl|polykem (keygen|encaps|decaps|sign|verify)|\$ |^\s*(cat|sort|sed|jq) ", line):
                self.assertIsNone(overwrites(line), f"{place}: {line.strip()}")
        self.assertGreater(count, 50_000)


if __name__ == "__main__":
    unittest.main()
