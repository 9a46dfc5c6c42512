# SPDX-License-Identifier: Apache-2.0
"""Tests `polykem tls-check` with the OpenSSL provider."""

import contextlib
import json
import os
import pathlib
import queue
import random
import socket
import subprocess
import sys
import threading
import unittest

from program import BAD_INPUT, CHECK_FAILED, IO, OK, PROGRAM, USAGE, Case

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "tls"))
import openssl  # noqa: E402
import tap  # noqa: E402
from servers import HAProxy, Nginx, SServer, free_port  # noqa: E402

HYBRID = "X25519MLKEM768"
# A group that no OpenSSL has, and its name in a ServerHello: if it is negotiated, it comes from polykem.
OWN, OWN_CODE_POINT = "frodo640aes", "0xfe23"
# OpenSSL computes the hybrid itself, and offers it by default.
NEWER = openssl.version() >= (3, 5)
FINE = """\
openssl_conf = start
[providers]
default = d
polykem = p
[d]
activate = 1
[p]
activate = 1
module = {module}
[ssl]
system_default = tls
[tls]
Groups = X25519MLKEM768:X25519
[properties]
default_properties = ?provider=polykem
[start]
providers = providers
alg_section = properties
ssl_conf = ssl
[openssl_init]
providers = none
[none]
"""
# Changes of that file (text, replacement), and the message for each.
BROKEN = [
    ("openssl_conf = start", "openssl_conf = strat",
     "line 1: openssl_conf names section [strat], which is not there, so OpenSSL ignores the whole file"),
    ("openssl_conf = start\n", "",
     "no line 'openssl_conf = SECTION' stands before the first section, so OpenSSL ignores the whole file"),
    ("openssl_conf = start\n[providers]\n", "[providers]\nopenssl_conf = start\n",
     "line 2: openssl_conf stands in section [providers]; OpenSSL looks for it before the first section only"),
    ("openssl_conf", "opensslconf", "line 1: did you mean 'openssl_conf' by 'opensslconf'?"),
    ("[start]", "[strat]", "line 1: openssl_conf names section [start], which is not there"),
    ("[start]\nproviders = providers", "[start]\nproviders = provider",
     "line 17: providers names section [provider], which is not there, so OpenSSL ignores it and what follows in "
     "[start]; did you mean 'providers'?"),
    ("[start]\nproviders =", "[start]\nprovdiers =",
     "line 17: OpenSSL knows no 'provdiers', so it ignores this line and what follows in "
     "[start]; did you mean 'providers'?"),
    ("[start]\nproviders = providers\n", "[start]\n", "section [start] has no line 'providers = SECTION'"),
    ("[providers]", "[provider]", "line 17: providers names section [providers], which is not there"),
    ("polykem = p\n", "", "section [providers] names no provider 'polykem'"),
    ("polykem = p\n", "polykem = q\n", "line 4: polykem names section [q], which is not there"),
    ("[p]", "[pk]", "line 4: polykem names section [p], which is not there"),
    ("activate = 1\nmodule", "activat = 1\nmodule",
     "section [p] has no line 'activate = 1', so OpenSSL does not load 'polykem'; line 8: did you "
     "mean 'activate' by 'activat'?"),
    ("activate = 1\nmodule", "module", "section [p] has no line 'activate = 1'"),
    ("module = /", "module = ", "not an absolute path"),
    ("module = ", "modul = ", "OpenSSL does not load polykem by section [p]"),
    ("polykem.so", "polykme.so", "OpenSSL does not load polykem by section [p]"),
    ("activate = 1\nmodule", "activate = 1\nthread = 2\nmodule", "thread: no such key; there are backend, threads"),
    ("activate = 1\nmodule", "activate = 1\n" + "".join(f"k{i} = p\n" for i in range(20)) + "module",
     "OpenSSL does not load polykem by section [p]: section [p] contains itself"),
    ("default = d", "defualt = d", "OpenSSL's own provider, 'default', is not active; every program needs it"),
    ("default = d\n", "", "section [providers] names no provider 'default', which every program needs"),
    ("[d]\nactivate = 1", "[d]\nactvate = 1",
     "section [d] has no line 'activate = 1', so OpenSSL does not load 'default'"),
    ("\nssl_conf", "\nssl_cnof", "line 19: OpenSSL knows no 'ssl_cnof', so it ignores this line"),
    ("ssl_conf = ssl", "ssl_conf = tsl", "line 19: ssl_conf names section [tsl], which is not there"),
    ("ssl_conf = ssl\n", "", "line 13: programs do not read Groups in section [tls]"),
    ("system_default", "system_defualt", "line 11: did you mean 'system_default' by 'system_defualt'?"),
    ("system_default = tls", "system_default = tsl", "line 11: system_default names section [tsl], which is not there"),
    ("system_default", "server", "has no line 'system_default = SECTION', the only one that every program reads"),
    ("Groups", "Gruops", "line 13: OpenSSL knows no 'Gruops' here and ignores it; did you mean 'Groups'?"),
    ("X25519MLKEM768:", "X25519MLKEM786:",
     "line 13: OpenSSL has no group 'X25519MLKEM786', so it ignores the whole list"),
    ("X25519MLKEM768:", "x25519_mlkem768:", "line 13: OpenSSL has no group 'x25519_mlkem768'"),
    (":X25519", ":X25591", "line 13: OpenSSL has no group 'X25591', so it ignores the whole list"),
    ("X25519MLKEM768:X25519", "X25519MLKEM768,X25519", "line 13: OpenSSL has no group 'X25519MLKEM768,X25519'"),
    ("X25519MLKEM768:X25519", "X25519:X25519MLKEM768",
     "line 13: two programs with this file negotiate X25519: it stands before X25519MLKEM768, so the client sends a "
     "key share for it alone, and the server takes that"),
    ("[tls]\n", "[tls]\nMaxProtocol = TLSv1.2\n", "two programs with this file speak TLSv1.2"),
    ("[tls]\n", "[tls]\nMinProtocl = TLSv1.2\n",
     "line 13: OpenSSL knows no 'MinProtocl' here and ignores it; did you mean"),
    ("?provider=polykem", "provider=polykem", "default_properties exclude OpenSSL's own algorithms"),
    ("?provider=polykem", "provider=default", "default_properties exclude polykem's algorithms"),
    ("?provider=polykem", "provider!=polykem", "default_properties exclude polykem's algorithms"),
    ("?provider=polykem", "-provider=polykem", "line 15: OpenSSL refuses the properties '-provider=polykem'"),
    ("?provider=polykem", "fips=yes", "default_properties exclude polykem's algorithms"),
    ("?provider=polykem", "?provider=polykme",
     "line 15: default_properties names the provider 'polykme', which is not active; did you mean 'polykem'?"),
    ("?provider=polykem", "?provder=polykem", "line 15: default_properties has 'provder'; did you mean 'provider'?"),
    ("polykem = p", "polykme = p",
     "line 15: default_properties names the provider 'polykem', which is not active; did you mean 'polykme'?"),
    ("default_properties", "default_property", "line 15: OpenSSL knows no 'default_property' here"),
    ("alg_section = ", "alg_secton = ",
     "line 18: OpenSSL knows no 'alg_secton', so it ignores this line and what follows"),
    ("[start]", "[start", "OpenSSL cannot read this file and ignores all of it"),
    ("openssl_conf", "config_diagnostics = 1\nopenssl_conf = nothing\n# ", "no program starts with it"),
]
# Other ways to write the same.
AS_FINE = [
    ("X25519MLKEM768:X25519", "X25519MLKEM768"),
    ("Groups", "Curves"),
    ("Groups", "groups"),
    ("polykem = p", "1.polykem = p"),
    ("[start]\nproviders", "[start]\nprovider"),  # OpenSSL takes a beginning for the name
    ("[openssl_init]\nproviders = none\n[none]\n", ""),
    ("openssl_conf = start", "openssl_conf = nothing\nopenssl_conf = start"),
    ("openssl_conf = start\n", "start_of_all = start\nopenssl_conf = $start_of_all\n"),
    ("?provider=polykem", "?provider = polykem"),
    ("Groups = ", "SignatureAlgorithms = RSA-PSS+SHA256\nGroups = "),
    ("Groups = ", "MinProtocol = TLSv1.3\nOptions = ServerPreference\nVerifyMode = Require\nGroups = "),
]
if NEWER:
    AS_FINE += [("X25519MLKEM768:X25519", new) for new in
                ("*X25519MLKEM768/?X25519", "?X25519MLKEM768:?nothing:X25519", "DEFAULT:-X25519", "DEFAULT")]
else:
    AS_FINE.append(("alg_section = properties\n", ""))
# TlsFiles tries one in so many of the variants below, some of each kind; TlsVariants tries all.
SAMPLE_EVERY = 7


def changed(text, old, new):
    assert old in text, old
    return text.replace(old, new, 1)


def misspelt(word):
    """Returns the word with two middle letters exchanged or, if they are the same, with one more."""
    middle = len(word) // 2
    swapped = word[:middle - 1] + word[middle] + word[middle - 1] + word[middle + 1:]
    return swapped if len(word) > 1 and swapped != word else word + "x"


def variants(text):
    """Yields (what was done, lines) for each line: dropped, moved, commented out, and with each word misspelt."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        rest = lines[:at] + lines[at + 1:]
        where = f"line {at + 1}, {line!r}"
        yield f"{where}: dropped", rest
        yield f"{where}: first", [line, *rest]
        yield f"{where}: last", [*rest, line]
        yield f"{where}: in the middle", [*rest[:len(rest) // 2], line, *rest[len(rest) // 2:]]
        yield f"{where}: commented out", [*lines[:at], "# " + line, *lines[at + 1:]]
        for word in line.strip("[]").replace("=", " ").replace(":", " ").split():
            yield f"{where}: {word} misspelt", [*lines[:at], line.replace(word, misspelt(word), 1), *lines[at + 1:]]


def module_of_this_build(case):
    folders = case.json("tls-check", "--groups", "MLKEM768")["folders"]
    return next(f["path"] for f in folders if f["found"]) + "/polykem.so"


class FilesCase(Case):
    """Compares tls-check with s_server and s_client on files that OpenSSL ignores, as a whole or in part."""

    def setUp(self):
        super().setUp()
        self.fine = FINE.format(module=module_of_this_build(self))
        self.key, self.certificate = openssl.certificate(self.dir)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("OPENSSL_", "POLYKEM_"))}

    def check(self, text, *options):
        """Runs tls-check. Returns (exit status, what it prints)."""
        (self.dir / "openssl.cnf").write_text(text)
        done = self.run_program("tls-check", "--config", "openssl.cnf", "--groups", HYBRID, *options)
        self.assertIn(done.returncode, (OK, CHECK_FAILED), done.stderr)
        self.assertEqual(done.stderr, b"")
        return done.returncode, done.stdout.decode()

    def negotiated(self, text):
        """Returns the group of a server and a client that set none themselves; empty if they do not connect."""
        (self.dir / "openssl.cnf").write_text(text)
        port = free_port()
        programs = {"env": {**self.environment, "OPENSSL_CONF": str(self.dir / "openssl.cnf")}, "cwd": self.dir,
                    "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        server = subprocess.Popen([openssl.program(), "s_server", "-accept", f"127.0.0.1:{port}", "-cert",
                                   self.certificate, "-key", self.key], stdin=subprocess.PIPE, **programs)
        with server, tap.Tap(port) as wire:
            try:
                while (line := server.stdout.readline()) and not line.startswith(b"ACCEPT"):
                    pass
                subprocess.run([openssl.program(), "s_client", "-connect", f"127.0.0.1:{wire.port}"],
                               stdin=subprocess.DEVNULL, timeout=100, check=False, **programs)
                return wire.last().selected if any(seen.selected for seen in wire.connections) else ""
            finally:
                server.kill()

    def check_variants(self, some):
        fine = 0
        for what, lines in some:
            text = "\n".join(lines) + "\n"
            with self.subTest(what):
                code, said = self.check(text)
                negotiated = self.negotiated(text)
                if negotiated == OWN_CODE_POINT:
                    fine += 1
                    continue
                if negotiated == HYBRID and "All is well" in said:  # without a list of the file's, in newer OpenSSLs
                    self.assertIn("ML-KEM         is computed by the provider 'polykem'", said)
                    fine += 1
                    continue
                self.assertNotIn("All is well", said)
                if "This file sets no groups" not in said:
                    self.assertEqual(code, CHECK_FAILED, said)
                    self.assertIn("\n- ", said, "no reason is given")
        self.assertTrue(len(some) // 20 < fine < len(some) - len(some) // 10, (fine, len(some)))


class TlsFiles(FilesCase):
    def test_the_fine_file(self):
        self.assertEqual(self.negotiated(self.fine), HYBRID)
        code, said = self.check(self.fine)
        self.assertEqual(code, OK, said)
        self.assertIn("All is well.", said)

    def test_other_ways_to_write_it(self):
        for old, new in AS_FINE:
            with self.subTest(new):
                code, said = self.check(changed(self.fine, old, new))
                self.assertEqual(code, OK, said)
                self.assertIn("All is well.", said)

    def test_that_openssl_itself_computes_the_hybrid(self):
        if not NEWER:
            self.skipTest("this OpenSSL has no ML-KEM")
        text = changed(self.fine, "alg_section = properties\n", "")
        code, said = self.check(text)
        self.assertEqual(code, OK, said)
        self.assertIn(f"OpenSSL itself computes {HYBRID}: default_properties = ?provider=polykem", said)
        code, said = self.check(text.replace(HYBRID, OWN))
        self.assertEqual(code, OK, said)
        self.assertIn("All is well.", said)

    def test_groups_with_marks(self):
        if not NEWER:
            self.skipTest("marks are of OpenSSL 3.5")
        listed = f"{HYBRID}:X25519"
        code, said = self.check(changed(self.fine, listed, f"?{HYBRID[:-1]}:{listed}"))
        self.assertEqual(code, OK, said)
        self.assertIn("Note: line 13: OpenSSL has no group 'X25519MLKEM76' and leaves it out; did you mean", said)
        code, said = self.check(changed(self.fine, listed, f"?X25519:*{HYBRID[:-1]}"))
        self.assertEqual(code, CHECK_FAILED, said)
        self.assertIn("- line 13: OpenSSL has no group 'X25519MLKEM76', so it ignores the whole list", said)

    def test_says_what_is_ignored(self):
        for old, new, sentence in BROKEN:
            with self.subTest(new):
                code, said = self.check(changed(self.fine, old, new))
                self.assertEqual(code, CHECK_FAILED, said)
                self.assertIn(sentence, said)
                self.assertIn("Something is wrong.", said)
                self.assertNotIn("All is well", said)

    def test_default_properties_are_named_as_the_only_fault(self):
        code, said = self.check(changed(self.fine, "?provider=polykem", "provider=default"))
        self.assertEqual(code, CHECK_FAILED, said)
        self.assertNotIn("has no group", said)
        self.assertNotIn("stands before", said)

    def test_an_include_of_nothing_is_noted(self):
        (self.dir / "there.cnf").write_text("", encoding="utf-8")
        for name, noted in (("nothing.cnf", True), (str(self.dir / "there.cnf"), False)):
            code, said = self.check(f".include {name}\n" + self.fine)
            self.assertEqual(code, OK, said)
            self.assertIs(f"Note: line 1: OpenSSL ignores '.include {name}', which does not exist" in said, noted, said)

    def test_never_says_that_all_is_well_where_programs_do_not_negotiate(self):
        self.check_variants(list(variants(self.fine.replace(HYBRID, OWN)))[::SAMPLE_EVERY])

    def test_activate_0(self):
        """OpenSSL 3.0 activates a provider whose section has the name, whatever its value; newer ones read it."""
        text = self.fine.replace("activate = 1", "activate = 0").replace(HYBRID, OWN)
        code, said = self.check(text)
        if self.negotiated(text) == OWN_CODE_POINT:
            self.assertEqual(code, OK, said)
            self.assertIn("All is well.", said)
            self.assertIn("Note: line 8: OpenSSL 3.0 loads 'polykem' in spite of activate = 0", said)
        else:
            self.assertEqual(code, CHECK_FAILED, said)
            self.assertIn("- line 8: OpenSSL 3.0 loads 'polykem' in spite of activate = 0", said)

    def test_without_groups_a_program_has_to_name_them(self):
        text = changed(self.fine, "Groups = X25519MLKEM768:X25519\n", "MinProtocol = TLSv1.2\n")
        code, said = self.check(text)
        self.assertEqual(code, OK, said)
        self.assertIn("All is well." if NEWER else "This file sets no groups", said)
        self.assertNotIn("This file sets no groups" if NEWER else "All is well", said)

    def test_a_list_without_a_group_of_polykem(self):
        code, said = self.check(changed(self.fine, f"{HYBRID}:X25519", "X25519:P-256"))
        self.assertEqual(code, OK, said)
        self.assertIn("no group of this file is polykem's: programs negotiate x25519 by themselves", said)

    def test_a_second_list_replaces_the_first(self):
        first = f"Groups = {HYBRID}:X25519\n"
        for second in ("Curves = X25519\n", "Groups = X25519\n", "MinProtocol = TLSv1.2\ngroups = X25519\n"):
            with self.subTest(second):
                text = changed(self.fine, first, first + second)
                code, said = self.check(text)
                self.assertNotEqual(self.negotiated(text), HYBRID)
                self.assertEqual(code, CHECK_FAILED, said)
                number = 12 + len((first + second).splitlines())
                self.assertIn(f"- line {number}: this list replaces that of line 13\n", said)

    def test_a_second_list_that_is_refused_replaces_nothing(self):
        text = changed(self.fine, f"Groups = {HYBRID}:X25519\n", f"Groups = {HYBRID}:X25519\nCurves = X25591\n")
        self.assertEqual(self.negotiated(text), HYBRID)
        code, said = self.check(text)
        self.assertEqual(code, CHECK_FAILED, said)
        self.assertIn("line 14: OpenSSL has no group 'X25591', so it ignores the whole list", said)
        self.assertNotIn("replaces", said)

    def test_a_list_that_is_read_where_nothing_can_be_negotiated(self):
        code, said = self.check(changed(self.fine, "?provider=polykem", "provider!=default"))
        self.assertEqual(code, CHECK_FAILED, said)
        self.assertIn("default_properties exclude OpenSSL's own algorithms", said)
        self.assertNotIn("programs do not read", said)
        self.assertNotIn("sets no groups", said)

    def test_bytes_that_are_no_text(self):
        for old, new in (("polykem = p", "polykem = \udcff\udcfe"), ("polykem.so", "\udcff/polykem.so"),
                         ("Groups = ", "Groups = \udcc3("), ("openssl_conf = start", "openssl_conf = \x1b[31m")):
            path = self.dir / "openssl.cnf"
            path.write_bytes(changed(self.fine, old, new).encode(errors="surrogateescape"))
            with self.subTest(new):
                done = self.run_program("tls-check", "--config", path, "--groups", HYBRID, "--json", "-")
                self.assertEqual(done.returncode, CHECK_FAILED, done.stderr)
                self.assertFalse(json.loads(done.stdout)["ok"])
                done = self.run_program("tls-check", "--config", path, "--groups", HYBRID)
                self.assertEqual(done.returncode, CHECK_FAILED, done.stderr)
                self.assertNotIn(b"\x1b", done.stdout)

    def test_the_environment_decides_where_no_module_is_named(self):
        module = self.fine.partition("module = ")[2].partition("/polykem.so")[0]
        text = changed(self.fine, f"module = {module}/polykem.so\n", "")
        code, said = self.check(text)
        self.assertEqual(code, CHECK_FAILED, said)
        self.assertIn("OpenSSL does not load polykem by section [p]", said)
        code, said = self.check(text, "--modules", module)
        self.assertEqual(code, OK, said)
        self.assertIn(f"All is well, for programs with OPENSSL_MODULES={module}.", said)

    def test_json(self):
        (self.dir / "openssl.cnf").write_text(self.fine)
        result = self.json("tls-check", "--config", "openssl.cnf", "--groups", HYBRID)
        self.assertEqual(result["verdict"], "All is well.")
        self.assertEqual(result["findings"], [])
        self.assertEqual(result["program"]["negotiates"], HYBRID)
        self.assertEqual(result["program"]["offers"], [HYBRID, "x25519"])
        self.assertEqual(sorted(result["program"]["providers"]), ["default", "polykem"])
        self.assertTrue(result["program"]["by_polykem"])


class TlsVariants(FilesCase):
    """The long form of TlsFiles."""

    def test_never_says_that_all_is_well_where_programs_do_not_negotiate(self):
        every = list(variants(self.fine.replace(HYBRID, OWN)))
        self.assertGreater(len(every), 100)
        self.check_variants(every)


class TlsCheck(Case):
    def config(self, *lines, default="activate = 1"):
        """Writes a configuration with the module of this build, unless a line names another."""
        path = self.dir / "openssl.cnf"
        if not any(line.startswith("module") for line in lines):
            lines = (*lines, f"module = {module_of_this_build(self)}")
        path.write_text("\n".join(["openssl_conf = init", "[init]", "providers = list", "[list]", "default = usual",
                                   "polykem = own", "[usual]", default, "[own]", *lines, ""]))
        return path

    def test_every_group_shakes_hands(self):
        result = self.json("tls-check")
        self.assertEqual(result["schema"], "polykem-tls-check-1")
        self.assertTrue(result["ok"] and result["loaded"])
        points = {g["name"]: g["code_point"] for g in result["groups"]}
        self.assertEqual(points["X25519MLKEM768"], 0x11EC)
        self.assertEqual(points["frodo976aes"], 65065)
        self.assertEqual(len(set(points.values())), len(points))
        self.assertTrue(all(g["ok"] for g in result["groups"]))

    def test_tells_what_the_configuration_says(self):
        config = self.config("activate = 1", "groups.frodo976aes = 0xFE80")
        result = self.json("tls-check", "--config", config, "--groups", "frodo976aes")
        self.assertTrue(result["configured"] and result["activated"])
        self.assertEqual([g["code_point"] for g in result["groups"]], [0xFE80])
        said = self.ok("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertIn("activates polykem\n", said)
        self.assertIn(f"OpenSSL itself computes {HYBRID}" if NEWER else "This file sets no groups", said)

    def test_tells_what_the_configuration_lacks(self):
        self.finds_wrong(self.config("threads = 1"), "does not activate it")
        empty = self.dir / "empty.cnf"
        empty.write_text("openssl_conf = init\n[init]\n")
        self.finds_wrong(empty, "does not mention polykem")
        config = self.config("activate = 1", default="")
        done = self.run_program("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("but not 'default'", done.stdout.decode())

    def finds_wrong(self, config, what):
        done = self.run_program("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn(what, done.stdout.decode())
        self.assertNotIn("All is well", done.stdout.decode())

    def test_another_name_for_the_module(self):
        config = self.config("activate = 1")
        config.write_text(config.read_text().replace("polykem = own", "pk = own"))
        self.assertIn("activates polykem\n", self.ok("tls-check", "--config", config, "--groups", "MLKEM768"))

    def test_tries_the_broker_and_the_folder_of_statistics(self):
        config = self.config("activate = 1", f"broker = {self.dir}/socket", f"statistics = {self.dir}/of")
        said = self.ok("tls-check", "--config", config, "--groups", "MLKEM768")
        self.assertIn(f"{self.dir}/socket: warning: ", said)
        self.assertIn("of.PID: can be written", said)
        written = [f.partition(".")[2] for f in self.files() if f.startswith("of.")]
        self.assertTrue(all(name.isdigit() for name in written), written)  # of processes; no trial
        for path in (f"{self.dir}/no/of", "/proc/of"):  # root may write into /proc, where nothing can be made
            self.finds_wrong(self.config("activate = 1", f"statistics = {path}"), "cannot be written")

    def test_says_what_a_linger_costs(self):
        config = self.config("activate = 1", "linger_us = 2500")
        self.assertIn("waits 2.5 ms", self.ok("tls-check", "--config", config, "--groups", "MLKEM768"))

    def test_says_why_the_provider_does_not_load(self):
        config = self.config("activate = 1", "thread = 2")
        done = self.run_program("tls-check", "--config", config)
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn(f"{config}: thread: no such key; there are backend, threads", done.stdout.decode())
        done = self.run_program("tls-check", "--modules", self.dir / "nothing")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.assertIn("nothing (--modules): not there", done.stdout.decode())
        self.assertIn("does not load", done.stdout.decode())

    def test_refuses(self):
        self.fails(USAGE, ["no group 'MLKEM786'", "did you mean 'MLKEM768'"], "tls-check", "--groups", "MLKEM786")
        self.fails(USAGE, ["names no group"], "tls-check", "--groups", ",")
        self.fails(IO, ["cannot read", "No such file"], "tls-check", "--config", self.dir / "nothing")


class OldServer(SServer):
    """A server with TLS 1.2, whose groups are elliptic curves only."""

    def command(self):
        return [word if word != "-tls1_3" else "-tls1_2" for word in super().command()]


@contextlib.contextmanager
def stranger(answer, host="127.0.0.1"):
    """Yields a port at which something other than a TLS server listens: `answer` gets each connection, in a thread."""
    def accept():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, contextlib.suppress(OSError):
                    answer(connection)

    with socket.create_server((host, 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


class TlsConnect(Case):
    """Tests the group of real servers, as --connect shows it and as the ServerHello has it."""

    def connect(self, port, *options):
        return self.json("tls-check", "--connect", f"127.0.0.1:{port}", *options)

    def test_what_servers_negotiate(self):
        for kind in (SServer, Nginx, HAProxy):
            if kind.path() is None:
                continue
            for groups, negotiated, name, code_point, retried in (
                    (f"X25519:{HYBRID}", HYBRID, HYBRID, 0x11EC, False), ("X25519", "X25519", "x25519", 0x1D, True),
                    ("frodo640aes", "0xfe23", "frodo640aes", 65059, True)):
                with self.subTest(kind.__name__, groups=groups), kind(groups) as server, tap.Tap(server.port) as wire:
                    seen = self.connect(wire.port)
                    self.assertEqual(wire.last().selected, negotiated)
                    self.assertEqual(wire.last().retried, retried)
                    self.assertEqual((seen["group"], seen["code_point"]), (name, code_point))
                    self.assertEqual(seen["retried"], retried)
                    self.assertEqual(seen["post_quantum"], negotiated != "X25519")
                    self.assertEqual(seen["protocol"], "TLSv1.3")
                    self.assertEqual(seen["certificate_subject"], "CN=localhost")
                    self.assertEqual(seen["schema"], "polykem-tls-connect-1")

    def test_what_is_said(self):
        with SServer(f"{HYBRID}:X25519") as server:
            said = self.ok("tls-check", "--connect", f"localhost:{server.port}")
            self.assertIn(f"group          {HYBRID} (0x11EC)\n", said)
            self.assertIn("the server took the one that was sent", said)
            self.assertIn(f"The server negotiates {HYBRID}, which is post-quantum.", said)
            said = self.ok("tls-check", "--connect", f"127.0.0.1:{server.port}", "--groups", f"X25519,{HYBRID}")
            self.assertIn("The server negotiates x25519, which is not post-quantum.", said)
            self.assertEqual(self.connect(server.port, "--groups", "P-256,X25519")["offered"], ["P-256", "X25519"])
        with SServer(HYBRID) as server:
            said = self.ok("tls-check", "--connect", f"127.0.0.1:{server.port}", "--groups", f"X25519,{HYBRID}")
            self.assertIn("asked for another (HelloRetryRequest)", said)

    def test_a_server_that_has_none_of_the_groups(self):
        with SServer(HYBRID) as server:
            self.fails(CHECK_FAILED, ["refuses the handshake", "it may have none of the groups X25519"], "tls-check",
                       "--connect", f"127.0.0.1:{server.port}", "--groups", "X25519")

    def test_an_old_server(self):
        with OldServer("X25519:P-256") as server:
            seen = self.connect(server.port)
            self.assertEqual((seen["protocol"], seen["group"], seen["post_quantum"]), ("TLSv1.2", "X25519", False))
            said = self.ok("tls-check", "--connect", f"127.0.0.1:{server.port}")
            self.assertIn("The server speaks TLSv1.2, which has no post-quantum groups.", said)

    def test_what_openssl_cnf_says_of_tls_does_not_matter(self):
        config = self.dir / "openssl.cnf"
        fine = FINE.format(module=module_of_this_build(self))
        config.write_text(changed(fine, "Groups = X25519MLKEM768:X25519", "MaxProtocol = TLSv1.2\nGroups = P-521"))
        with SServer(HYBRID) as server:
            self.assertEqual(self.connect(server.port, "--config", config)["group"], HYBRID)

    def test_strangers(self):
        def fails(code, words, answer, *options):
            with stranger(answer) as port:
                where = f"127.0.0.1:{port}"
                self.fails(code, [f"127.0.0.1 port {port}", *words], "tls-check", "--connect", where, *options)

        fails(BAD_INPUT, ["does not speak TLS"], lambda c: c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
        fails(IO, ["closes the connection during the handshake"], lambda c: c.recv(1))
        fails(IO, ["does not end the handshake within 0.5 s", "--timeout"], lambda c: c.recv(1 << 20) and c.recv(1),
              "--timeout", "0.5")
        self.fails(IO, ["cannot connect to 127.0.0.1 port", "Connection refused"], "tls-check", "--connect",
                   f"127.0.0.1:{free_port()}")
        self.fails(IO, ["cannot find 'nothing.invalid'"], "tls-check", "--connect", "nothing.invalid:443")

    def test_malformed_server_hellos(self):
        """A truncated or changed ServerHello ends with an error that names the server."""
        body = b"\x03\x03" + bytes(32) + b"\x00" + b"\x13\x02\x00" + b"\x00\x0c" + \
            b"\x00\x2b\x00\x02\x03\x04" + b"\x00\x33\x00\x02\x11\xec"
        sound = b"\x02" + len(body).to_bytes(3, "big") + body
        draw = random.Random(5)
        for _ in range(40):
            hello = bytearray(sound)
            for _ in range(draw.randrange(1, 4)):
                hello[draw.randrange(len(hello))] = draw.choice((0, 1, 2, 0x7F, 0xFF, draw.randrange(256)))
            hello = bytes(hello[:draw.choice((len(hello), draw.randrange(len(hello) + 1)))])
            record = b"\x16\x03\x03" + len(hello).to_bytes(2, "big") + hello
            with self.subTest(record.hex()), stranger(lambda c, record=record: c.sendall(record)) as port:
                done = self.run_program("tls-check", "--connect", f"127.0.0.1:{port}")
                self.assertIn(done.returncode, (CHECK_FAILED, BAD_INPUT, IO), done.stderr)
                self.assertIn(f"127.0.0.1 port {port}", done.stderr.decode())

    def test_a_key_share_that_cannot_be_right(self):
        """A key share with wrong bytes is an error: the client's alert ends the handshake."""
        def answer(share):
            def send(connection):
                hello = connection.recv(1 << 16)
                extensions = b"\x00\x2b\x00\x02\x03\x04" + b"\x00\x33" + (len(share) + 4).to_bytes(2, "big") + \
                    b"\x11\xec" + len(share).to_bytes(2, "big") + share
                body = b"\x03\x03" + bytes(32) + hello[43:76] + b"\x13\x02\x00" + \
                    len(extensions).to_bytes(2, "big") + extensions
                message = b"\x02" + len(body).to_bytes(3, "big") + body
                connection.sendall(b"\x16\x03\x03" + len(message).to_bytes(2, "big") + message)
                alerts.put(connection.recv(7))
            return send

        for share in (bytes(1120), bytes(1119), bytes(1121), b"\x01", bytes([7]) * 1088 + bytes(32)):
            alerts = queue.Queue()
            with self.subTest(share=len(share)), stranger(answer(share)) as port:
                words = [f"127.0.0.1 port {port}: malformed TLS handshake: ", "is this a TLS 1.3 port?"]
                said = self.fails(BAD_INPUT, words, "tls-check", "--connect", f"127.0.0.1:{port}")
                self.assertEqual(alerts.get(timeout=60)[:1], b"\x15", said)

    def port_of_two_servers(self, sockets):
        """Starts a server that hangs up on 127.0.0.2 and one that takes nothing on 127.0.0.1, and returns their port,
        which others may use on one of the two."""
        for _ in range(20):
            with contextlib.ExitStack() as tried:
                port = tried.enter_context(stranger(lambda c: c.recv(1), "127.0.0.2"))
                with contextlib.suppress(OSError):
                    tried.enter_context(socket.create_server(("127.0.0.1", port), backlog=1))
                    sockets.enter_context(tried.pop_all())
                    return port
        self.fail("no port is free on both addresses")

    def test_an_address_that_does_not_answer_leaves_time_for_the_next(self):
        hosts = self.dir / "hosts"
        hosts.write_text("127.0.0.1 two.test\n127.0.0.2 two.test\n")
        inside = ["unshare", "-rm", "sh", "-c", 'mount --bind "$0" /etc/hosts && exec "$@"', hosts]
        if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no mount namespaces here")
        with contextlib.ExitStack() as sockets:
            port = self.port_of_two_servers(sockets)
            for _ in range(8):  # its queue is full, so that it takes no more
                client = sockets.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(("127.0.0.1", port))
            done = subprocess.run([*inside, PROGRAM, "tls-check", "--connect", f"two.test:{port}", "--timeout", "4"],
                                  capture_output=True, check=False, timeout=240)
            self.assertEqual(done.returncode, IO)
            self.assertIn("closes the connection during the handshake", done.stderr.decode())

    def test_refuses(self):
        for text in ("localhost", "localhost:", ":443", "localhost:0", "localhost:65536", "localhost:https", "::1:443",
                     "[]:443", "localhost:4 4"):
            with self.subTest(text):
                self.fails(USAGE, ["is not HOST:PORT", "for example"], "tls-check", "--connect", text)
        self.fails(USAGE, ["no group 'X2551'", "did you mean 'X25519'"], "tls-check", "--connect", "localhost:1",
                   "--groups", "X2551")
        self.fails(USAGE, ["--connect"], "tls-check", "--timeout", "1")
        self.fails(CHECK_FAILED, ["the provider does not load"], "tls-check", "--connect", "localhost:1", "--modules",
                   self.dir)


if __name__ == "__main__":
    unittest.main()
