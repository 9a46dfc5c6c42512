# SPDX-License-Identifier: Apache-2.0
"""Tests errors as JSON, files that --json may not replace, and names that resemble nothing."""

import json
import unittest

from program import BAD_INPUT, CHECK_FAILED, DATA, IO, SET, USAGE, Case, vectors


class Errors(Case):
    def error(self, code, *args, **kwargs):
        """Returns the JSON of a command that must fail with that exit code; standard error must have the same words."""
        done = self.run_program(*args, "--json", "-", **kwargs)
        self.assertEqual(done.returncode, code, done.stderr)
        out = json.loads(done.stdout)
        self.assertEqual((out["schema"], out["exit_code"]), ("polykem-error-1", code))
        self.assertEqual(list(out), ["schema", "version", "error", "exit_code", "hint"])
        lines = done.stderr.decode().splitlines()
        self.assertEqual(lines[0], "polykem: " + out["error"])
        self.assertEqual("".join(lines[1:]).strip(), out["hint"])
        return out

    def test_every_kind_of_error(self):
        keygen = ("keygen", "--pk", "pk", "--sk", "sk")
        self.assertIn("did you mean", self.error(USAGE, *keygen, "-s", "ntruhps2048508")["hint"])
        self.assertIn("--nonsense", self.error(USAGE, "list", "--nonsense")["error"])
        self.assertIn("keygn", self.error(USAGE, "keygn")["error"])
        self.assertIn("required", self.error(USAGE, "keygen")["error"])
        self.assertIn("at least 1", self.error(USAGE, *keygen, "-s", SET, "--count", "0")["error"])
        self.error(USAGE, "exchange", "--scheme", "rsa")
        self.write("bad", "no key")
        self.error(BAD_INPUT, "encaps", "-s", SET, "--pk", "bad", "--ct", "x", "--ss", "y")
        self.error(IO, "keygen", "-s", SET, "--pk", "no/pk", "--sk", "sk")

    def test_one_object_per_run(self):
        """A result that was printed is not followed by an error, nor an error by a result."""
        known = vectors(SET)
        known["counts"][0]["ss"] = "00" * 32
        self.write("wrong.json", json.dumps(known))
        for name, code in (("wrong.json", CHECK_FAILED), ("missing.json", IO)):
            done = self.run_program("kat", name, "--json", "-")
            self.assertEqual(done.returncode, code)
            self.assertNotIn("exit_code", json.loads(done.stdout))

    def test_errors_in_a_file(self):
        self.fails(USAGE, ["rsa"], "keygen", "-s", "rsa", "--pk", "a", "--sk", "b", "--json", "out")
        self.assertEqual(json.loads(self.read("out"))["exit_code"], USAGE)
        self.assertEqual(self.files(), ["out"])
        self.write("out", "mine")
        self.fails(USAGE, ["'out' exists"], "keygen", "-s", "rsa", "--pk", "a", "--sk", "b", "--json=out")
        self.assertEqual(self.read("out"), b"mine")
        self.fails(USAGE, ["rsa"], "keygen", "-s", "rsa", "--pk", "a", "--sk", "b", "--json=out", "-f")
        self.fails(USAGE, ["--nonsense"], "encaps", "--pk", "out", "--ct", "a", "--ss", "b", "--nonsense",
                   "--json=out", "-f")  # fmt: skip
        self.assertEqual(self.read("out"), b"mine")

    def test_no_json_without_the_option(self):
        done = self.fails(USAGE, ["rsa"], "keygen", "-s", "rsa", "--pk", "a", "--sk", "b")
        self.assertEqual(done.stdout, b"")
        self.assertEqual(self.files(), [])

    def test_results_replace_no_file_without_force(self):
        kat = DATA / "ntruhps2048509.json"
        commands = (
            ("list",), ("doctor", "--backend", self.quick_backend()), ("kat", kat),
            ("keygen", "-s", SET, "--pk", "pk", "--sk", "sk"),
            ("profile", "-s", SET, "--count", "10"), ("bench", "-s", SET, "--batch", "1", "--seconds", "0"),
            ("bench", "frodo-scaling", "--n", "64", "--size", "72", "--width", "8", "--seconds", "0"),
            ("exchange", "--clients", "3", "--transport", "inproc", "--compare-seconds", "0"),
        )  # fmt: skip
        for command in commands:
            with self.subTest(command):
                self.write("out", "mine")
                self.fails(USAGE, ["'out' exists already", "--force"], *command, "--json", "out")
                self.assertEqual(self.read("out"), b"mine")
                self.ok(*command, "--json", "out", "--force")
                self.assertTrue(json.loads(self.read("out"))["schema"])
        self.write("plot", "mine")
        scaling = next(c for c in commands if "frodo-scaling" in c)
        self.fails(USAGE, ["'plot' exists already"], *scaling, "--svg", "plot")
        self.assertEqual(self.read("plot"), b"mine")

    def commands(self):
        """Returns every command with its words; the program itself has none."""

        def walk(command, words):
            yield words, command
            for child in command["commands"]:
                yield from walk(child, [*words, child["name"]])

        return walk(json.loads(self.ok("help", "--json"))["program"], [])

    def test_an_unknown_option_is_named_before_one_that_is_missing(self):
        told = self.fails(USAGE, ["polykem keygen has no option '--schem'", "did you mean '--scheme'?"], "keygen",
                          "--schem", SET, "--pk", "a", "--sk", "b").stderr  # fmt: skip
        self.assertNotIn(b"required", told)
        self.fails(USAGE, ["polykem has no option '--versio'", "did you mean '--version'?"], "--versio")
        self.fails(USAGE, ["polykem serve has no option '--clents'"], "serve", "--clents=3")
        self.fails(USAGE, ["polykem keygen has no option '-z'"], "keygen", "-qz")
        for wrong in ("-scheme", "-pk", "-format=pem"):  # openssl's habit
            name = wrong.partition("=")[0]
            self.fails(USAGE, [f"polykem keygen has no option '{name}'", f"did you mean '-{name}'?"], "keygen", wrong,
                       "mlkem512", "--sk", "b")
        self.fails(USAGE, ["polykem bench has no option '--batchs'"], "bench", "-s", SET, "--batchs", "1")
        for words, command in self.commands():
            names = [n for option in command["options"] for n in option["names"] if n.startswith("--")]
            for name in names:
                with self.subTest(words, option=name):
                    for wrong in (name[:-1], name + "x"):
                        if wrong not in names and len(wrong) > 4:
                            self.fails(USAGE, [f"has no option '{wrong}'", "did you mean '--"], *words, wrong, "1")
            self.fails(USAGE, ["has no option '--frobnicate'", "--help' shows the options"], *words, "--frobnicate")

    def test_control_characters_of_a_path_reach_no_terminal(self):
        name, shown = "a\x1b[31m\nb\x7f\u009b\u00fc", "'a?[31m?b???\u00fc'"
        for args in (("encaps", "--pk", name, "--ct", "ct", "--ss", "ss"), ("kat", name),
                     ("keygen", "-s", SET, "--pk", f"{name}/x", "--sk", "sk")):  # fmt: skip
            error = self.fails(IO, [shown.removesuffix("'")], *args).stderr
            self.assertEqual(error.count(b"\n"), 1, error)
            self.assertNotIn(b"\x1b", error)
        said = self.ok("keygen", "-s", SET, "--pk", name, "--sk", "sk")
        self.assertEqual(said.count("\n"), 2, said)
        self.assertIn(shown.strip("'"), said)
        self.fails(USAGE, [f"{shown} exists already"], "keygen", "-s", SET, "--pk", name, "--sk", "new")

    def test_values_are_not_taken_for_options(self):
        """If something else is wrong, the error names that, and not a value that looks like an option."""
        self.fails(USAGE, ["required"], "keygen", "-s", SET, "--format", "pem")
        self.fails(USAGE, ["required"], "keygen", "-qf", "-s" + SET)
        self.fails(USAGE, ["--batch"], "bench", "-s", SET, "--batch=-4")

    def test_numbers_that_are_none(self):
        tried = 0
        for words, command in self.commands():
            for option in command["options"]:
                if words[-1:] == ["report"] or option["argument"] not in ("S", "SECONDS", "N", "US", "MIB"):
                    continue
                for number in ("nan", "inf", "-inf", "NAN", "infinity", "1e999", "0x1p3", "1e400", "3x", "", "1,5"):
                    with self.subTest(words, option=option["names"], number=number):
                        done = self.run_program(*words, f"{option['names'][-1]}={number}")
                        self.assertEqual(done.returncode, USAGE, done.stderr)
                        self.assertIn(option["names"][-1], done.stderr.decode())
                        tried += 1
        self.assertGreater(tried, 200)

    def test_names_that_resemble_nothing(self):
        for word in ("frobnicate", "x", "please"):
            error = self.fails(USAGE, [f"no command '{word}'"], word).stderr
            self.assertNotIn(b"did you mean", error)
        for name in ("rsa2048", "x25519", "ecdsa", "kangaroo"):
            done = self.fails(USAGE, [f"'{name}'", "polykem list"], "keygen", "-s", name, "--pk", "a", "--sk", "b")
            self.assertNotIn(b"did you mean", done.stderr)

    def test_names_that_resemble_one(self):
        for word, meant in (("keygn", "keygen"), ("lst", "list"), ("encap", "encaps"), ("prof", "profile")):
            self.fails(USAGE, [f"did you mean '{meant}'"], word)
        for name, meant in (("ML-KEM-786", "mlkem768"), ("ntru-hps-4096-281", "ntruhps4096821"), ("frodokem640aess",
                            "frodokem640aes"), ("efrodokem976", "efrodokem976aes")):  # fmt: skip
            self.fails(USAGE, [f"did you mean '{meant}'"], "keygen", "-s", name, "--pk", "a", "--sk", "b")


if __name__ == "__main__":
    unittest.main()
