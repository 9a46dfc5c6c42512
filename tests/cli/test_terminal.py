# SPDX-License-Identifier: Apache-2.0
"""Tests output to terminals: tables that fit, escape codes only where they are supported."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from program import OK, PROGRAM, SET, Case

ESCAPE = b"\x1b"


class Terminal(Case):
    def on_terminal(self, *args, columns=0, **variables):
        """Returns what a terminal with this many columns receives; 0: unknown."""
        env = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "POLYKEM_BACKEND")}
        env.update({"TERM": "xterm", **variables})
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 0, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *args], cwd=self.dir, env=env, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        out = b""
        try:
            while piece := os.read(master, 65536):
                out += piece
        except OSError:  # Linux: the other side has closed
            pass
        os.close(master)
        self.assertEqual(process.wait(), OK, out)
        return out

    def table(self, *args, **options):
        """Returns the lines up to the first text that is not a table."""
        lines = self.on_terminal(*args, **options).decode().replace("\r\n", "\n").split("\n")
        return lines[: next((i for i, line in enumerate(lines) if line.startswith("Sizes in bytes")), len(lines))]

    def test_tables_fit(self):
        sets = [entry["name"] for entry in self.json("list")["schemes"]]
        names = [b for entry in self.json("list")["schemes"] for b in entry["backends"]]
        for columns in (44, 60, 80, 100, 200):
            for options in ({"columns": columns}, {"columns": 300, "COLUMNS": str(columns)}):
                with self.subTest(options):
                    lines = self.table("list", **options)
                    self.assertLessEqual(max(map(len, lines)), columns)
                    words = " ".join(lines).split()
                    self.assertLessEqual({*sets, *names, "NTRU-HPS-4096-821", "43088"}, set(words))
        self.assertLessEqual(max(map(len, self.table("list"))), 80)
        self.assertGreater(max(map(len, self.table("list", columns=60, COLUMNS="nonsense"))), 50)

    def test_wide_tables_go_on_below(self):
        sets = ("ntruhps2048509", "ntruhps2048677", "ntruhps4096821", "ntruhrss701")
        lines = self.table("profile", "-s", ",".join(sets), "--op", "encaps", "--count", "10", columns=50)
        table = lines[next(i for i, line in enumerate(lines) if line.startswith("encaps")):]
        self.assertLessEqual(max(map(len, table)), 50)
        self.assertGreater(sum(line.startswith("encaps") for line in table), 1)
        for name in sets:
            self.assertTrue(any(name in line for line in table))

    def commands(self):
        def walk(command, words):
            yield words, command
            for child in command["commands"]:
                yield from walk(child, [*words, child["name"]])

        return list(walk(json.loads(self.ok("help", "--json"))["program"], []))

    def test_help_fits(self):
        for words, command in self.commands():
            shown = {columns: self.on_terminal(*words, "--help", columns=columns).decode().replace("\r\n", "\n")
                     for columns in (60, 80, 200)}  # fmt: skip
            shown["file"] = self.ok(*words, "--help")
            for columns, text in shown.items():
                with self.subTest(words, columns=columns):
                    most = {"file": 80, 200: 100}.get(columns, columns)
                    self.assertEqual([line for line in text.splitlines() if len(line) > most], [])
                    # Wrapped or not, each example can be copied, and every description is complete.
                    joined, flat = re.sub(r" \\\n +", " ", text), " ".join(text.split())
                    for example in command["examples"]:
                        self.assertIn("  " + example["command"], joined)
                        self.assertIn(" ".join(example["description"].split()), flat)
                    for part in (*command["options"], *command["positionals"], *command["commands"]):
                        self.assertIn(part["description"], flat)
                    self.assertIn(" ".join(command["notes"].split()), flat)

    def test_doctor_fits(self):
        backend = self.quick_backend()
        whole = " ".join(self.ok("doctor", "--backend", backend).split())
        for columns in (80, 60):
            text = self.on_terminal("doctor", "--backend", backend, columns=columns, NO_COLOR="1").decode()
            lines = [line for line in text.replace("\r\n", "\n").splitlines() if not line.startswith("self-test: ")]
            self.assertEqual([line for line in lines if len(line) > columns], [])
        self.assertEqual([line for line in self.ok("doctor", "--backend", backend).splitlines() if len(line) > 80], [])
        self.assertIn("not here: needs", whole)

    def test_a_file_gets_the_whole_width(self):
        self.assertGreater(max(map(len, self.ok("list").splitlines())), 90)

    def test_csv_and_markdown_are_never_wrapped(self):
        for form in ("csv", "markdown"):
            wide = self.on_terminal("list", "--format", form, columns=40)
            self.assertEqual(wide.replace(b"\r\n", b"\n").decode(), self.ok("list", "--format", form))

    def slow(self, **variables):
        return self.on_terminal("bench", "-s", SET, "--op", "encaps", "--batch", "1,2,4", "--seconds", "0.15",
                                **variables)  # fmt: skip

    def test_escape_codes(self):
        self.assertIn(ESCAPE, self.slow())
        self.assertNotIn(ESCAPE, self.slow(TERM="dumb"))
        self.assertNotIn(ESCAPE, self.slow(NO_COLOR="1"))
        self.assertIn(ESCAPE, self.slow(NO_COLOR=""))
        done = self.run_program("bench", "-s", SET, "--op", "encaps", "--batch", "1,2,4", "--seconds", "0.15")
        self.assertNotIn(ESCAPE, done.stdout + done.stderr)

    def test_progress_of_key_files(self):
        text = self.on_terminal("keygen", "-s", "frodokem640shake", "--backend", "ref", "--threads", "1",
                                "--count", "500", "--pk", "pk", "--sk", "sk")  # fmt: skip
        self.assertIn(b"of 500 key pairs", text)


if __name__ == "__main__":
    unittest.main()
