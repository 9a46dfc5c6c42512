# SPDX-License-Identifier: Apache-2.0
"""The polykem program from outside: commands, error messages, exit codes, files, JSON.

Run through CTest, or by hand:
  POLYKEM_PROGRAM=build/bin/polykem POLYKEM_TEST_DATA=tests/data python3 tests/cli/test_cli.py
"""

import base64
import csv
import gzip
import hashlib
import io
import json
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = os.path.abspath(os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem"))
DATA = pathlib.Path(os.environ.get("POLYKEM_TEST_DATA", "tests/data")).resolve()

OK, CHECK_FAILED, USAGE, BAD_INPUT, BACKEND, IO = range(6)
SET = "ntruhps2048509"  # the quickest set
OTHER = "ntruhrss701"


def vectors(name):
    """The known answers of a set."""
    plain = DATA / f"{name}.json"
    return json.loads(plain.read_bytes()) if plain.exists() else unpacked(f"{name}.json.gz")


def unpacked(name):
    """A gzipped JSON file of the test data."""
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


class Case(unittest.TestCase):
    """A test in an empty folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def run_program(self, *args, env=None, stdin=None):
        full = {k: v for k, v in os.environ.items() if k != "POLYKEM_BACKEND"}
        full.update(env or {})
        return subprocess.run(
            [PROGRAM, *map(str, args)],
            cwd=self.dir,
            env=full,
            input=stdin,
            capture_output=True,
            timeout=240,
            check=False,
        )

    def ok(self, *args, **kwargs):
        """Runs a command that must succeed and returns its standard output as text."""
        done = self.run_program(*args, **kwargs)
        self.assertEqual(done.returncode, OK, done.stderr.decode())
        return done.stdout.decode()

    def json(self, *args, **kwargs):
        return json.loads(self.ok(*args, "--json", "-", **kwargs))

    def fails(self, code, words, *args, **kwargs):
        """Runs a command that must fail with that exit code and all these words on standard error."""
        done = self.run_program(*args, **kwargs)
        error = done.stderr.decode()
        self.assertEqual(done.returncode, code, error)
        self.assertTrue(error.startswith("polykem: "), error)
        for word in words:
            self.assertIn(word, error)
        return done

    def keys(self, name=SET, *more):
        self.ok("keygen", "--scheme", name, "--pk", "pk", "--sk", "sk", *more)

    def files(self):
        return sorted(p.name for p in self.dir.iterdir())

    def read(self, name):
        return (self.dir / name).read_bytes()

    def write(self, name, content):
        (self.dir / name).write_bytes(content if isinstance(content, bytes) else content.encode())


class Main(Case):
    def test_no_arguments_shows_help(self):
        self.assertIn("Subcommands:", self.ok())

    def test_every_command_has_help_with_examples(self):
        commands = ["list", "keygen", "encaps", "decaps", "profile", "bench", "kat", "doctor"]
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


class List(Case):
    def test_table_names_all_vector_sets(self):
        text = self.ok("list")
        for path in DATA.glob("ntru*.json"):
            self.assertIn(path.stem, text)

    def test_json_sizes_agree_with_the_vectors(self):
        result = self.json("list")
        self.assertEqual(result["schema"], "polykem-list-1")
        sets = {s["name"]: s for s in result["schemes"]}
        paths = list(DATA.glob("ntru*.json"))
        self.assertGreaterEqual(len(paths), 6)
        for path in paths:
            want = json.loads(path.read_text())
            got = sets[path.stem]
            sizes = [got[f"{k}_bytes"] for k in ("public_key", "secret_key", "ciphertext", "shared_secret")]
            self.assertEqual(sizes, [want["bytes"][k] for k in ("pk", "sk", "ct", "ss")])
            self.assertEqual(got["keygen_draw_bytes"], sum(want["keypair_draw_lengths"]))
            self.assertEqual(got["encaps_draw_bytes"], sum(want["encaps_draw_lengths"]))
            self.assertIn("ref", got["backends"])
        self.assertIn("ref", [b["name"] for b in result["backends"] if b["available"]])

    def test_formats(self):
        rows = list(csv.DictReader(io.StringIO(self.ok("list", "--format", "csv"))))
        self.assertIn(SET, [r["set"] for r in rows])
        self.assertTrue(self.ok("list", "--format", "markdown").startswith("| set"))
        self.fails(USAGE, ["no table format 'html'"], "list", "--format", "html")

    def test_json_file_is_written_whole(self):
        self.ok("list", "--json", "out.json")
        self.assertEqual(self.files(), ["out.json"])
        self.assertIn("schemes", json.loads(self.read("out.json")))
        self.fails(IO, ["no/such/out.json"], "list", "--json", "no/such/out.json")


class KeyFiles(Case):
    def exchange(self, name, *form):
        self.ok("keygen", "-s", name, "--pk", "pk", "--sk", "sk", *form)
        self.ok("encaps", "-s", name, "--pk", "pk", "--ct", "ct", "--ss", "ss1", *form)
        self.ok("decaps", "-s", name, "--sk", "sk", "--ct", "ct", "--ss", "ss2", *form)
        self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_round_trip_of_every_set_armoured(self):
        for entry in self.json("list")["schemes"]:
            with self.subTest(entry["name"]):
                self.exchange(entry["name"], "--force")

    def test_round_trip_raw_has_the_records_sizes(self):
        self.exchange(SET, "--format", "raw")
        sizes = [len(self.read(n)) for n in ("pk", "sk", "ct", "ss1")]
        self.assertEqual(sizes, [699, 935, 699, 32])

    def test_armour_names_the_set_so_scheme_is_not_needed(self):
        self.keys()
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss1")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "ss2")
        self.assertEqual(self.read("ss1"), self.read("ss2"))

    def test_batches_of_records(self):
        self.exchange(SET, "--format", "raw", "--force")
        self.ok("keygen", "-s", SET, "--pk", "pks", "--sk", "sks", "--count", "5")
        self.ok("encaps", "--pk", "pks", "--ct", "cts", "--ss", "a")
        self.ok("decaps", "--sk", "sks", "--ct", "cts", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertEqual(self.read("a").count(b"BEGIN"), 5)
        self.fails(BAD_INPUT, ["one key per ciphertext"], "decaps", "--sk", "sks", "--ct", "ct", "--ss", "c")
        self.fails(USAGE, ["holds 5 keys"], "encaps", "--pk", "pks", "--count", "3", "--ct", "x", "--ss", "y")

    def test_one_key_for_many(self):
        self.keys()
        self.ok("encaps", "--pk", "pk", "--count", "4", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))
        self.assertEqual(len(set(self.read("a").split(b"-----END"))), 5)

    def test_secret_files_are_private_and_public_ones_follow_the_umask(self):
        old = os.umask(0o022)
        self.addCleanup(os.umask, old)
        self.exchange(SET)
        modes = {n: stat.S_IMODE((self.dir / n).stat().st_mode) for n in ("pk", "ct", "sk", "ss1", "ss2")}
        self.assertEqual(modes, {"pk": 0o644, "ct": 0o644, "sk": 0o600, "ss1": 0o600, "ss2": 0o600})

    def test_existing_files_are_kept_without_force(self):
        self.write("sk", "precious")
        self.fails(USAGE, ["'sk' exists", "--force"], "keygen", "-s", SET, "--pk", "pk", "--sk", "sk")
        self.assertEqual(self.read("sk"), b"precious")
        self.assertEqual(self.files(), ["sk"])
        self.ok("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--force")
        self.assertEqual(stat.S_IMODE((self.dir / "sk").stat().st_mode), 0o600)
        self.assertEqual(self.files(), ["pk", "sk"])

    def test_no_partial_outputs(self):
        self.fails(IO, ["no/sk"], "keygen", "-s", SET, "--pk", "pk", "--sk", "no/sk")
        self.assertEqual(self.files(), [])
        self.fails(IO, ["/dev/full"], "keygen", "-s", SET, "--pk", "pk", "--sk", "/dev/full")
        self.assertEqual(self.files(), [])
        (self.dir / "folder").mkdir()
        self.fails(IO, ["is a directory"], "keygen", "-s", SET, "--pk", "folder", "--sk", "sk", "--force")
        self.assertEqual(self.files(), ["folder"])

    def test_same_file_twice(self):
        self.fails(USAGE, ["two outputs"], "keygen", "-s", SET, "--pk", "k", "--sk", "./k")
        self.fails(USAGE, ["standard output"], "keygen", "-s", SET, "--pk", "-", "--sk", "-")
        self.assertEqual(self.files(), [])

    def test_dangling_link_is_kept_without_force(self):
        (self.dir / "pk").symlink_to("nowhere")
        self.fails(USAGE, ["'pk' exists"], "keygen", "-s", SET, "--pk", "pk", "--sk", "sk")
        self.assertEqual(self.files(), ["pk"])

    def test_force_writes_through_a_link(self):
        self.write("real", "old")
        (self.dir / "link").symlink_to("real")
        self.ok("keygen", "-s", SET, "--pk", "link", "--sk", "sk", "--force")
        self.assertTrue((self.dir / "link").is_symlink())
        self.assertIn(b"PUBLIC KEY", self.read("real"))

    def test_standard_streams(self):
        self.keys()
        ct = self.run_program("encaps", "--pk", "-", "--ct", "-", "--ss", "ss1", stdin=self.read("pk"))
        self.assertEqual(ct.returncode, OK, ct.stderr)
        self.ok("decaps", "--sk", "sk", "--ct", "-", "--ss", "ss2", stdin=ct.stdout)
        self.assertEqual(self.read("ss1"), self.read("ss2"))
        self.fails(USAGE, ["only one input"], "decaps", "--sk", "-", "--ct", "-", "--ss", "x")

    def test_altered_ciphertext_is_no_error_but_another_secret(self):
        self.exchange(SET, "--format", "raw")
        ct = bytearray(self.read("ct"))
        ct[100] ^= 1
        self.write("bad", bytes(ct))
        for out in ("r1", "r2"):
            self.ok("decaps", "-s", SET, "--sk", "sk", "--ct", "bad", "--ss", out, "--format", "raw")
        self.assertNotEqual(self.read("r1"), self.read("ss1"))
        self.assertEqual(self.read("r1"), self.read("r2"))

    def test_unknown_set_suggests(self):
        self.fails(USAGE, ["no parameter set", "did you mean 'ntruhps4096821'"], "keygen", "-s", "ntruhps496821",
                   "--pk", "a", "--sk", "b")

    def test_aliases(self):
        self.keys("NTRU-HPS-2048-509")
        self.assertIn(b"BEGIN ntruhps2048509 PUBLIC KEY", self.read("pk"))

    def test_counts(self):
        for count, words in (("0", "at least 1"), ("-1", "not a whole number"), ("two", "not a whole number"),
                             ("99999999999999999999", "too large")):
            self.fails(USAGE, [words], "keygen", "-s", SET, "--pk", "a", "--sk", "b", "--count", count)
        self.assertEqual(self.files(), [])

    def test_wrong_sizes_and_raw_without_a_set(self):
        self.exchange(SET, "--format", "raw")
        self.fails(USAGE, ["name it with --scheme"], "encaps", "--pk", "pk", "--ct", "x", "--ss", "y")
        self.write("cut", self.read("pk")[:-1])
        self.fails(BAD_INPUT, ["698 bytes", "699"], "encaps", "-s", SET, "--pk", "cut", "--ct", "x", "--ss", "y")
        self.fails(BAD_INPUT, ["size of a ntruhps2048509 secret key"], "encaps", "-s", SET, "--pk", "sk", "--ct", "x",
                   "--ss", "y")
        self.write("empty", b"")
        self.fails(BAD_INPUT, ["is empty"], "encaps", "-s", SET, "--pk", "empty", "--ct", "x", "--ss", "y")
        self.fails(IO, ["No such file"], "encaps", "-s", SET, "--pk", "missing", "--ct", "x", "--ss", "y")

    def test_json_result_holds_no_secret(self):
        result = self.json("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--count", "2")
        self.assertEqual(result["schema"], "polykem-keygen-1")
        self.assertEqual((result["scheme"], result["count"], result["format"]), (SET, 2, "armour"))
        self.assertEqual([f["kind"] for f in result["files"]], ["public key", "secret key"])
        self.assertEqual([f["record_bytes"] for f in result["files"]], [699, 935])


class Armour(Case):
    def setUp(self):
        super().setUp()
        self.keys()
        self.pk = self.read("pk").decode()

    def refused(self, text, words):
        self.write("bad", text)
        self.fails(BAD_INPUT, words, "encaps", "--pk", "bad", "--ct", "x", "--ss", "y")
        self.assertEqual(self.files(), ["bad", "pk", "sk"])

    def test_is_plain_base64(self):
        lines = self.pk.splitlines()
        raw = base64.b64decode("".join(lines[1:-1]), validate=True)
        self.assertEqual(len(raw), 699)
        self.assertTrue(all(len(line) == 64 for line in lines[1:-2]))
        self.write("raw", raw)
        self.ok("encaps", "-s", SET, "--pk", "raw", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))

    def test_foreign_line_ends_and_blanks(self):
        self.write("dos", "\r\n" + self.pk.replace("\n", "\r\n") + "\r\n")
        self.ok("encaps", "--pk", "dos", "--ct", "ct", "--ss", "a")
        self.ok("decaps", "--sk", "sk", "--ct", "ct", "--ss", "b")
        self.assertEqual(self.read("a"), self.read("b"))

    def test_truncated_anywhere(self):
        for length in (20, 45, 100, 500, len(self.pk) // 2, len(self.pk) - 30, len(self.pk) - 3):
            with self.subTest(length):
                self.refused(self.pk[:length], ["'bad'"])

    def test_shortened_body(self):
        lines = self.pk.splitlines()
        self.refused("\n".join(lines[:3] + lines[4:]), ["651 bytes", "699"])

    def test_wrong_kind_and_set(self):
        outputs = ("--ct", "x", "--ss", "y")
        self.fails(BAD_INPUT, ["a secret key where a public key belongs"], "encaps", "--pk", "sk", *outputs)
        self.fails(BAD_INPUT, [f"is of set {SET}, but {OTHER}"], "encaps", "-s", OTHER, "--pk", "pk", *outputs)
        self.refused(self.pk.replace(SET, OTHER), ["699 bytes", "1138"])
        self.refused(self.pk.replace(SET, "ntruhps2048510"), ["no parameter set 'ntruhps2048510'", SET])

    def test_sets_do_not_mix(self):
        self.ok("keygen", "-s", OTHER, "--pk", "pk2", "--sk", "sk2")
        self.ok("encaps", "--pk", "pk2", "--ct", "ct2", "--ss", "a")
        hint = "use keys and ciphertexts of one set"
        self.fails(BAD_INPUT, [hint], "decaps", "--sk", "sk", "--ct", "ct2", "--ss", "b")
        self.write("mixed", self.pk + self.read("pk2").decode())
        self.fails(BAD_INPUT, ["is of set"], "encaps", "--pk", "mixed", "--ct", "x", "--ss", "y")

    def test_damage(self):
        lines = self.pk.splitlines()
        self.refused("\n".join([lines[0], "*" + lines[1][1:], *lines[2:]]), ["line 2", "not base64"])
        self.refused("\n".join([lines[0], lines[1][:-1] + "=", *lines[2:]]), ["line 3", "after its padding"])
        self.refused("\n".join([*lines[:-1], lines[-1].replace("PUBLIC", "SECRET")]), ["END line"])
        self.refused("\n".join(["-----BEGIN CERTIFICATE-----", *lines[1:]]), ["not the title"])
        self.refused(self.pk + "trailing words\n", ["outside of a block"])


def to_rsp(vectors):
    """A NIST .rsp file with the same cases: only seeds, no draws."""
    out = [f"# {vectors['name']}", ""]
    for c in vectors["counts"]:
        out.append(f"count = {c['count']}")
        out += [f"{key} = {c[key].upper()}" for key in ("seed", "pk", "sk", "ct", "ss")]
        out.append("")
    return "\n".join(out) + "\n"


class Kat(Case):
    def setUp(self):
        super().setUp()
        self.path = DATA / f"{SET}.json"
        self.vectors = json.loads(self.path.read_text())

    def counts(self, *args, **kwargs):
        result = self.json("kat", *args, **kwargs)
        return result["run"], result["passed"], result["failed"]

    def test_json_plain_and_gzipped(self):
        cases = sum(3 + len(c["reject"]) for c in self.vectors["counts"])
        self.assertEqual(self.counts(self.path), (cases, cases, 0))
        self.write("v.json.gz", gzip.compress(self.path.read_bytes()))
        self.assertEqual(self.counts("v.json.gz"), (cases, cases, 0))

    def test_rsp_of_every_set(self):
        for scheme in self.json("list")["schemes"]:
            with self.subTest(scheme["name"]):
                self.write("PQCkemKAT.rsp", to_rsp(vectors(scheme["name"])))
                self.assertEqual(self.counts("PQCkemKAT.rsp"), (30, 30, 0))
        self.write("PQCkemKAT.rsp.gz", gzip.compress(self.read("PQCkemKAT.rsp")))
        self.assertEqual(self.counts("PQCkemKAT.rsp.gz", "--batch", "3"), (30, 30, 0))

    def test_accumulated(self):
        result = self.json("kat", "--accumulated", DATA / "accumulated.json", "--scheme", SET)
        self.assertEqual((result["run"], result["failed"]), (1, 0))
        self.assertEqual([f["scheme"] for f in result["files"]], [SET])
        self.assertEqual(self.counts(DATA / "accumulated.json", "--scheme", SET, "--batch", "7")[0], 1)

    def test_table(self):
        text = self.ok("kat", self.path)
        self.assertIn("70", text)
        self.assertIn("ok", text)

    def test_batches_reach_every_item(self):
        """A wrong answer in one count is found at every batch size, also where the batch is larger than the file."""
        self.vectors["counts"][7]["reject"][2]["ss"] = "00" * 32
        self.write("wrong.json", json.dumps(self.vectors))
        for batch in (1, 7, 64):
            done = self.run_program("kat", "wrong.json", "--batch", batch, "--json", "-")
            self.assertEqual(done.returncode, CHECK_FAILED)
            self.assertEqual(json.loads(done.stdout)["failed"], 1)
            self.assertIn("count 7, reject", done.stderr.decode())

    def test_each_wrong_field_is_found(self):
        for field, failed in (("pk", 2), ("sk", 6), ("ct", 6), ("ss", 2)):
            with self.subTest(field):
                vectors = json.loads(self.path.read_text())
                case = vectors["counts"][3]
                value = bytearray.fromhex(case[field])
                value[5] ^= 4
                case[field] = value.hex()
                self.write("wrong.json", json.dumps(vectors))
                done = self.run_program("kat", "wrong.json", "--json", "-")
                self.assertEqual(done.returncode, CHECK_FAILED)
                self.assertGreaterEqual(json.loads(done.stdout)["failed"], 1)
                self.assertLessEqual(json.loads(done.stdout)["failed"], failed)

    def test_wrong_accumulated_hash(self):
        self.write("acc.json", json.dumps({"rng": "", "sets": {SET: {"pk,sk,ct,ss,ssr": {"3": "00" * 32}}}}))
        self.fails(CHECK_FAILED, ["the hash differs"], "kat", "acc.json")

    def test_wrong_seed_in_rsp(self):
        self.vectors["counts"][0]["seed"] = "00" * 48
        self.write("wrong.rsp", to_rsp(self.vectors))
        self.fails(CHECK_FAILED, ["count 0, keygen: pk is wrong"], "kat", "wrong.rsp")


class KatBroken(Case):
    def setUp(self):
        super().setUp()
        self.text = (DATA / f"{SET}.json").read_text()
        self.rsp = to_rsp(json.loads(self.text))

    def refused(self, content, words, *args):
        self.write("file", content)
        self.fails(BAD_INPUT, words, "kat", "file", "--quiet", *args)

    def test_no_file(self):
        self.fails(USAGE, ["no file named"], "kat")
        self.fails(IO, ["No such file"], "kat", "missing", "--quiet")

    def test_truncated(self):
        self.refused(self.text[: len(self.text) // 2], ["not valid JSON", "complete"])
        self.refused(gzip.compress(self.text.encode())[:-20], ["truncated gzip"])
        self.refused(self.rsp[: len(self.rsp) // 2], ["line ", "complete"])
        self.refused(self.rsp[: self.rsp.rindex("ss = ")], ["count 9: ss has 0 bytes"])
        self.refused(b"", ["empty"])

    def test_garbage(self):
        self.refused(os.urandom(200).replace(b"{", b"x").replace(b"#", b"x"), ["line 1"])
        self.refused("[1, 2]", ["no object"])
        self.refused("{}", ["no list 'counts'"])
        self.refused("[1e999]", ["number out of range"])
        self.refused('{"name": "%s", "counts": []}' % SET, ["no cases"])
        self.refused('{"name": "%s", "counts": [7]}' % SET, ["entry 0"])
        self.refused(self.rsp.replace("pk = ", "pk = G", 1), ["line 5", "hex"])
        self.refused(self.rsp.replace("sk = ", "secret = ", 1), ["unknown field 'secret'"])

    def test_lengths(self):
        vectors = json.loads(self.text)
        vectors["counts"][2]["keypair_draws"][1] = "00" * 31
        self.refused(json.dumps(vectors), ["count 2: keypair draws has 2444 bytes where 2445 belong"])
        vectors = json.loads(self.text)
        vectors["counts"][2]["encaps_draws"].append("00")
        self.refused(json.dumps(vectors), ["count 2: encaps draws"])
        vectors = json.loads(self.text)
        vectors["counts"][1]["reject"][0]["byte"] = 699
        self.refused(json.dumps(vectors), ["byte 699"])
        self.refused(self.rsp.replace("seed = 06", "seed = ", 1), ["seed of 47 bytes"])

    def test_sets(self):
        self.refused(self.rsp.replace(f"# {SET}\n", ""), ["does not name its set"])
        self.write("unnamed", self.rsp.replace(f"# {SET}\n", ""))
        self.ok("kat", "unnamed", "--scheme", SET)
        self.refused(self.rsp, [f"of set {SET}, not of {OTHER}"], "--scheme", OTHER)
        self.refused(self.rsp.replace(SET, "frodokem9999"), ["no parameter set 'frodokem9999'", "--skip-unknown"])

    def test_nothing_run_is_a_failure(self):
        self.write("unknown.rsp", self.rsp.replace(SET, "frodokem9999"))
        done = self.run_program("kat", "unknown.rsp", "--skip-unknown")
        self.assertEqual(done.returncode, CHECK_FAILED)
        self.write("good.rsp", self.rsp)
        self.ok("kat", "unknown.rsp", "good.rsp", "--skip-unknown")
        self.write("acc.json", '{"sets": {}}')
        self.assertEqual(self.run_program("kat", "acc.json").returncode, CHECK_FAILED)

    def test_other_files_still_run(self):
        self.write("good.rsp", self.rsp)
        self.write("bad.rsp", "nonsense")
        done = self.run_program("kat", "bad.rsp", "good.rsp", "--json", "-")
        self.assertEqual(done.returncode, BAD_INPUT)
        self.assertEqual(json.loads(done.stdout)["passed"], 30)


class KatFormats(Case):
    """Files of NIST's ACVP, Wycheproof and CCTV: what is wrong in them is found."""

    ACVP = "acvp/v1.1.0.43/ML-KEM-encapDecap-FIPS203-tr1/internalProjection.json.gz"
    WYCHEPROOF = "wycheproof/mlkem_512_test.json.gz"

    def refused(self, content, words, *args):
        self.write("file", content if isinstance(content, str) else json.dumps(content))
        self.fails(BAD_INPUT, words, "kat", "file", "--quiet", *args)

    def failures(self, content, count):
        self.write("file", content if isinstance(content, str) else json.dumps(content))
        done = self.run_program("kat", "file", "--json", "-")
        self.assertEqual((done.returncode, json.loads(done.stdout)["failed"]), (CHECK_FAILED, count), done.stderr)

    def test_acvp_answers(self):
        root = unpacked(self.ACVP)
        for group in root["testGroups"]:
            test = group["tests"][3]
            if "testPassed" in test:
                test["testPassed"] = not test["testPassed"]
            else:
                test["k"] = "00" * 32
        # The secret of an encapsulation is checked on both sides.
        self.failures(root, 3 * 2 + 6 + 6)

    def test_acvp_structure(self):
        root = unpacked(self.ACVP)
        del root["testGroups"][0]["tests"][2]["c"]
        self.refused(root, ["test 3: no field 'c'"])
        root = unpacked(self.ACVP)
        root["testGroups"][3]["function"] = "decryption"
        self.refused(root, ["unknown function 'decryption'"])
        root["mode"] = "sigGen"
        self.refused(root, ["sigGen"])
        root = unpacked(self.ACVP)
        root["testGroups"][0]["tests"][0]["ek"] = "00" * 799
        self.refused(root, ["test 1, encaps", "length"])

    def test_acvp_results_without_inputs(self):
        root = unpacked(self.ACVP)
        for group in root["testGroups"]:
            del group["parameterSet"]
        self.refused(root, ["does not name its set", "internalProjection.json"])

    def test_one_set_of_several(self):
        result = self.json("kat", DATA / self.ACVP, "--scheme", "mlkem768")
        self.assertEqual([(f["scheme"], f["cases"]) for f in result["files"]], [("mlkem768", 65)])
        self.fails(BAD_INPUT, [f"not of {SET}"], "kat", DATA / self.ACVP, "--scheme", SET, "--quiet")

    def test_wycheproof(self):
        root = unpacked(self.WYCHEPROOF)
        tests = [test for group in root["testGroups"] for test in group["tests"]]
        next(test for test in tests if test["result"] == "valid")["K"] = "00" * 32
        long = next(test for test in tests if test.get("comment") == "Ciphertext too long")
        long["c"] = long["c"][: 2 * 768]
        self.failures(root, 2)
        root["testGroups"][0]["tests"].pop()
        self.refused(root, ["192 tests where the file says 193"])
        root["schema"] = "mlkem_other_schema.json"
        self.refused(root, ["mlkem_other_schema.json"])

    def test_cctv(self):
        lines = gzip.decompress((DATA / "cctv/modulus/ML-KEM-512.txt.gz").read_bytes()).decode().splitlines()
        good = vectors("mlkem512")["counts"][0]["pk"]
        self.failures("\n".join([*lines[:9], good]), 1)
        self.refused("\n".join([*lines[:9], good[:-2]]), ["line 10", "799 bytes"])
        text = gzip.decompress((DATA / "cctv/strcmp/ML-KEM-512.txt.gz").read_bytes()).decode()
        self.failures(text.replace("K = 3", "K = 4"), 1)
        self.refused(text[: text.index("K = ")], ["no value 'K'", "complete"])
        self.refused(text + "K = 00\n", ["a second 'K'"])


class Profile(Case):
    def test_json(self):
        result = self.json("profile", "-s", SET, "--count", "20", "--batch", "8")
        self.assertEqual(result["schema"], "polykem-profile-1")
        (profile,) = result["profiles"]
        self.assertEqual([op["op"] for op in profile["ops"]], ["keygen", "encaps", "decaps"])
        for op in profile["ops"]:
            self.assertEqual(op["count"], 20)
            self.assertEqual(op["stages_ns"], sum(s["ns"] for s in op["stages"]))
            self.assertLessEqual(op["stages_ns"], op["wall_ns"])
            self.assertLessEqual(sum(s["share"] for s in op["stages"]), 1.0001)
            for s in op["stages"]:
                self.assertEqual(s["items"], 20 * s["steps"], s)
                self.assertGreater(s["ns"], 0)

    def test_merge(self):
        merged = self.json("profile", "-s", SET, "--op", "keygen", "--count", "4", "--backend", "ref")
        single = self.json("profile", "-s", SET, "--op", "keygen", "--count", "4", "--backend", "ref", "--no-merge")
        rows = [[s["function"] for s in r["profiles"][0]["ops"][0]["stages"]] for r in (merged, single)]
        self.assertEqual(len(rows[0]), len(set(rows[0])))
        self.assertFalse(any("." in name for name in rows[0]), rows[0])
        self.assertTrue(any("." in name for name in rows[1]), rows[1])
        self.assertEqual({name.split(".")[0] for name in rows[1]}, set(rows[0]))

    def test_tables(self):
        text = self.ok("profile", "-s", SET, "--count", "4")
        for word in ("keygen", "encaps", "decaps", "poly_Rq_mul", "total", "100.0"):
            self.assertIn(word, text)
        side = self.ok("profile", "-s", f"{SET},{OTHER}", "--op", "encaps", "--count", "4", "--format", "markdown")
        self.assertIn(f"{SET} ms", side)
        self.assertIn(f"{OTHER} ms", side)
        rows = list(csv.DictReader(io.StringIO(self.ok("profile", "--all", "--count", "2", "--format", "csv"))))
        self.assertEqual({r["scheme"] for r in rows}, {s["name"] for s in self.json("list")["schemes"]})
        for name in {r["scheme"] for r in rows}:
            total = sum(float(r["percent"]) for r in rows if r["scheme"] == name and r["op"] == "decaps")
            self.assertAlmostEqual(total, 100, delta=0.1)

    def test_steps(self):
        sets = ["efrodokem640aes", "frodokem640shake"]
        args = ("profile", "-s", ",".join(sets), "--steps", "--backend", "all", "--count", "2")
        result = self.json(*args)
        backends = [b["name"] for b in self.json("list")["backends"] if b["available"] and b["name"] != "cuda"]
        found = [(p["scheme"], p["backend"]) for p in result["profiles"] if p["backend"] != "cuda"]
        self.assertEqual(found, [(name, backend) for name in sets for backend in backends])
        for profile in result["profiles"]:
            for op in profile["ops"]:
                self.assertAlmostEqual(sum(step["share"] for step in op["steps"]), 1, delta=1e-6)
                steps = {step["step"]: step["ns"] for step in op["steps"]}
                for name in ("hash", "gen A", "product", "sampling", "rest"):
                    self.assertGreater(steps[name], 0, (profile["scheme"], op["op"], name))
                self.assertEqual(steps["inversion"], 0)
                self.assertEqual(steps["OS randomness"] == 0, op["op"] == "decaps")
        text = self.ok(*args)
        for word in ("OS randomness", "gen A", "sampling", "frodokem640shake"):
            self.assertIn(word, text)
        self.assertNotIn("inversion", text)
        self.fails(USAGE, ["--steps"], "profile", "-s", SET, "--backend", "all")

    def test_family_and_errors(self):
        self.assertEqual(len(self.json("profile", "-s", "ntru", "--op", "encaps", "--count", "1")["profiles"]), 6)
        self.fails(USAGE, ["--all"], "profile")
        self.fails(USAGE, ["no operation 'sign'"], "profile", "-s", SET, "--op", "sign")
        self.fails(USAGE, ["did you mean"], "profile", "-s", "ntruhps2048508")
        self.fails(USAGE, ["at least 1"], "profile", "-s", SET, "--count", "0")
        self.fails(USAGE, ["excludes"], "profile", "-s", SET, "--all")


class Bench(Case):
    def test_frodo_scaling(self):
        args = ("bench", "frodo-scaling", "--n", "64,72", "--size", "72", "--width", "8,24", "--seconds", "0.001")
        result = self.json(*args)
        rows = result["records"]
        backends = {r["backend"] for r in rows}
        self.assertIn("ref", backends)
        self.assertEqual(len(rows), len(backends) * (2 * 2 + 2))
        self.assertEqual(result["checked"], len(rows) - 6)
        for row in rows:
            self.assertGreater(row["ms"], 0)
            self.assertEqual("nbar" in row, row["part"] == "product")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plot.svg"
            self.ok(*args, "--svg", str(path))
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            curves = root.findall("{http://www.w3.org/2000/svg}polyline")
            self.assertEqual(len(curves), len(backends) * 3)
        self.fails(USAGE, ["multiple of 8"], "bench", "frodo-scaling", "--n", "641")

    FIELDS = {"scheme", "op", "backend", "count", "keys", "mode", "ops_per_s", "device", "threads", "commit"}

    def test_json_records(self):
        result = self.json("bench", "-s", SET, "--batch", "1,5", "--keys", "both", "--seconds", "0")
        self.assertEqual(result["schema"], "polykem-bench-1")
        records = result["records"]
        self.assertEqual(len(records), 2 + 4 + 4)
        for r in records:
            self.assertLessEqual(self.FIELDS, set(r))
            self.assertIn(r["keys"], ("per-item", "shared"))
            self.assertEqual(r["mode"], "host")
            self.assertGreater(r["ops_per_s"], 0)
            self.assertGreaterEqual(r["runs"], 3)
            self.assertEqual(r["verified"], r["count"])
        self.assertNotIn(("keygen", "shared"), {(r["op"], r["keys"]) for r in records})

    def test_table_and_large_batch(self):
        text = self.ok("bench", "-s", SET, "--op", "encaps", "--batch", "600", "--seconds", "0", "--threads", "1")
        self.assertIn("1 thread\n", text)
        self.assertIn("600", text)

    def test_errors(self):
        for bad in ("0", "1,x", ",", "-4"):
            self.fails(USAGE, ["--batch"], "bench", "-s", SET, f"--batch={bad}")
        self.fails(USAGE, ["no shared key"], "bench", "-s", SET, "--op", "keygen", "--keys", "shared")
        self.fails(USAGE, ["--keys"], "bench", "-s", SET, "--keys", "mine")

    def test_polymul(self):
        result = self.json("bench", "polymul", "--cpu", "--n", "509")
        self.assertEqual(result["schema"], "polykem-bench-polymul-1")
        self.assertEqual(result["checked"], len(result["records"]))
        self.assertTrue(any(r["used"] for r in result["records"]))
        for r in result["records"]:
            self.assertEqual(r["n"], 509)
            self.assertGreater(r["time"], 0)
        self.assertIn("asked for the CPU", self.ok("bench", "polymul", "--cpu", "--n", "509"))
        self.fails(USAGE, ["510"], "bench", "polymul", "--n", "510")
        self.fails(USAGE, ["--batch"], "bench", "polymul", "--batch", "0")


class Doctor(Case):
    def test_all_is_well(self):
        self.assertIn("All is well.", self.ok("doctor"))

    def test_json_and_known_answers(self):
        result = self.json("doctor")
        self.assertTrue(result["ok"])
        self.assertGreaterEqual(len(result["schemes"]), 6)
        for entry in result["schemes"]:
            self.assertTrue(entry["backend"])
            for test in entry["self_tests"]:
                self.assertTrue(test["ok"] and test["round_trip"] and test["rejection"] and test["known_answer"], test)
            case = vectors(entry["name"])["counts"][0]
            answer = bytes.fromhex(case["pk"] + case["sk"] + case["ct"] + case["ss"])
            self.assertEqual(entry["known_answer_digest"], hashlib.shake_128(answer).hexdigest(32))


    def test_tune_without_a_gpu(self):
        self.fails(BACKEND, ["switched off"], "doctor", "--tune", "-q", env={"POLYKEM_CUDA_MODULE": ""})
        crossover = self.json("doctor", env={"POLYKEM_CUDA_MODULE": "", "XDG_CACHE_HOME": str(self.dir)})["crossover"]
        self.assertEqual(crossover["sets"], [])
        self.assertIn("guessed", crossover["note"])


class Backend(Case):
    def backend(self, *args, env=None):
        result = self.json("profile", "-s", SET, "--op", "encaps", "--count", "1", *args, env=env)
        return result["profiles"][0]["backend"]

    def test_option_and_variable_force(self):
        self.assertEqual(self.backend("--backend", "ref"), "ref")
        self.assertEqual(self.backend(env={"POLYKEM_BACKEND": "ref"}), "ref")
        for entry in self.json("list")["schemes"]:
            if entry["name"] == SET:
                self.assertEqual(self.backend(), entry["backends"][0])
                for name in entry["backends"]:
                    self.assertEqual(self.backend("--backend", name), name)
                    self.assertEqual(self.backend("--backend", name, env={"POLYKEM_BACKEND": "ref"}), name)

    def test_doctor_says_why(self):
        reasons = [
            self.json("doctor", *args, env=env)["schemes"][0]["because"]
            for args, env in ((["--backend", "ref"], None), ([], {"POLYKEM_BACKEND": "ref"}), ([], None))
        ]
        self.assertEqual(reasons, ["forced by --backend", "forced by POLYKEM_BACKEND", "best that runs here"])

    def test_unknown(self):
        args = ("keygen", "-s", SET, "--pk", "a", "--sk", "b")
        self.fails(USAGE, ["no backend 'fpga'", "ref"], *args, "--backend", "fpga")
        self.fails(USAGE, ["no backend 'fpga' (from POLYKEM_BACKEND)"], *args, env={"POLYKEM_BACKEND": "fpga"})
        self.assertEqual(self.files(), [])

    def test_unavailable(self):
        """A backend that this machine cannot run, or that has no plan for the set, is exit code 4."""
        listed = self.json("list")
        here = next(s["backends"] for s in listed["schemes"] if s["name"] == SET)
        absent = [b["name"] for b in listed["backends"] if b["name"] not in here]
        for name in absent:
            self.fails(BACKEND, [f"'{name}'"], "keygen", "-s", SET, "--pk", "a", "--sk", "b", "--backend", name)
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
