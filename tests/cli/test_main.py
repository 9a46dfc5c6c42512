# SPDX-License-Identifier: Apache-2.0
"""Tests no command, unknown commands and options, help, version."""

import subprocess
import unittest

from program import IO, PROGRAM, USAGE, Case


class Main(Case):
    def test_no_arguments_shows_help(self):
        self.assertIn("Subcommands:", self.ok())

    def test_every_command_has_help_with_examples(self):
        commands = ["list", "keygen", "encaps", "decaps", "sign", "verify", "profile", "bench", "kat", "doctor"]
        general = self.ok("--help")
        for command in commands:
            self.assertIn(command, general)
            text = self.ok(command, "--help")
            self.assertIn("Examples:", text)
            self.assertIn("--json", text)
            self.assertEqual(text, self.ok("help", command))

    def test_version(self):
        self.assertRegex(self.ok("--version"), r"^polykem \d+\.\d+\.\d+ \(.+\)\n$")

    def test_unknown_command_suggests(self):
        self.fails(USAGE, ["no command 'keygn'", "did you mean 'keygen'"], "keygn")

    def test_unknown_option(self):
        self.fails(USAGE, ["--nonsense", "polykem list --help"], "list", "--nonsense")

    def test_closed_output_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "list"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, IO)
        self.assertIn(b"standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
