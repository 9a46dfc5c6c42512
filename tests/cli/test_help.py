# SPDX-License-Identifier: Apache-2.0
"""Tests the command tree from which man pages and completion are made: polykem help --json."""

import json
import re
import shlex
import unittest

from program import DATA, SET, Case

# Words of an example's command line that are not in the tree.
PLACEHOLDER = re.compile(r"^[A-Za-z0-9_.,/:=+-]+$")


def walk(command):
    yield command
    for child in command["commands"]:
        yield from walk(child)


class Help(Case):
    def setUp(self):
        super().setUp()
        tree = json.loads(self.ok("help", "--json"))
        self.assertEqual(tree["schema"], "polykem-help-1")
        self.program = tree["program"]
        self.commands = {c["usage"]: c for c in walk(self.program)}

    def option(self, usage, name):
        return next(o for o in self.commands[usage]["options"] if name in o["names"])

    def test_every_command_and_option_is_there(self):
        for usage, command in self.commands.items():
            text = self.ok(*usage.split()[1:], "--help")
            names = [n for o in command["options"] for n in o["names"]]
            self.assertEqual(sorted(set(re.findall(r"^  (-\w,|--[\w-]+)", text, re.M))),
                             sorted({n + "," if len(n) == 2 else n
                                     for o in command["options"] for n in o["names"][:1]}))  # fmt: skip
            self.assertEqual(len(names), len(set(names)))
            for child in command["commands"]:
                self.assertIn("\n  " + child["name"], text)
            for option in command["options"] + command["positionals"]:
                self.assertTrue(option["description"], (usage, option))

    def test_what_an_option_takes(self):
        self.assertEqual(self.option("polykem keygen", "--format")["values"], ["armour", "pem", "der", "raw"])
        self.assertEqual(self.option("polykem encaps", "--format")["values"], ["armour", "raw"])
        self.assertEqual(self.option("polykem list", "--format")["values"], ["text", "markdown", "csv"])
        scheme = self.option("polykem keygen", "-s")
        self.assertEqual((scheme["names"], scheme["argument"], scheme["required"]), (["-s", "--scheme"], "NAME", True))
        self.assertIn(SET, scheme["values"])
        self.assertNotIn("ntru", scheme["values"])
        self.assertIn("ntru", self.option("polykem bench", "--scheme")["values"])
        kem, signature = SET, "mldsa65"
        for command, sets in (("keygen", (True, True)), ("encaps", (True, False)), ("swarm", (True, False)),
                              ("verify", (False, True)), ("kat", (True, True))):
            values = self.option(f"polykem {command}", "--scheme")["values"]
            self.assertEqual((kem in values, signature in values), sets, command)
        self.assertIn("ref", self.option("polykem keygen", "--backend")["values"])
        self.assertTrue(self.option("polykem keygen", "--pk")["file"])
        quiet = self.option("polykem keygen", "--quiet")
        self.assertEqual((quiet["argument"], quiet["file"], quiet["values"]), (None, False, []))
        files = self.commands["polykem kat"]["positionals"]
        self.assertEqual([(f["names"], f["file"], f["repeats"]) for f in files], [(["files"], True, True)])

    def test_every_command_has_two_to_four_examples_of_its_own(self):
        for usage, command in self.commands.items():
            if usage == "polykem":
                continue
            examples = [e["command"] for e in command["examples"]]
            self.assertTrue(2 <= len(examples) <= 4, (usage, examples))
            self.assertEqual([e for e in examples if not (e + " ").startswith(usage + " ")], [], usage)

    def test_examples_use_options_that_exist(self):
        for command in self.commands.values():
            for example in command["examples"]:
                words = shlex.split(example["command"])
                self.assertTrue(all(PLACEHOLDER.match(w) for w in words), words)
                usage = words.pop(0)
                while words and f"{usage} {words[0]}" in self.commands:
                    usage += " " + words.pop(0)
                known = {n for o in self.commands[usage]["options"] for n in o["names"]}
                self.assertLessEqual({w for w in words if w.startswith("--")}, known, example)

    def test_cheap_examples_run(self):
        """Runs examples in the order of the help; each input file comes from an earlier example."""
        self.write("mlkem768.json", (DATA / "mlkem768.json").read_bytes())
        ran = 0
        for usage in ("polykem list", "polykem keygen", "polykem encaps", "polykem decaps", "polykem kat",
                      "polykem doctor"):  # fmt: skip
            for example in self.commands[usage]["examples"]:
                words = shlex.split(example["command"])[1:]
                inputs = [w for w in words if w.endswith((".rsp", ".gz")) or w == "accumulated.json"]
                if inputs or "--tune" in words:
                    continue
                with self.subTest(example["command"]):
                    self.ok(*words, *(("--force",) if usage == "polykem decaps" else ()))
                    ran += 1
        self.assertGreater(ran, 10)


if __name__ == "__main__":
    unittest.main()
