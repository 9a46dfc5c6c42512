# SPDX-License-Identifier: Apache-2.0
"""Tests known answers: polykem kat with JSON and .rsp files, correct, wrong and broken."""

import gzip
import json
import unittest

from program import BAD_INPUT, CHECK_FAILED, DATA, IO, OTHER, SET, USAGE, Case, vectors


def to_rsp(vectors):
    """Returns a NIST .rsp file with the same cases, with seeds and without coins."""
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
        self.refused(bytes(range(255, 127, -1)), ["line 1"])
        self.refused(b"\n\r\n" + bytes(range(255, 127, -1)), ["line 3"])
        self.refused("[1, 2]", ["not an object"])
        self.refused("{}", ["no list 'counts'"])
        self.refused("[1e999]", ["number out of range"])
        self.refused('{"name": "%s", "counts": []}' % SET, ["no cases"])
        self.refused('{"name": "%s", "counts": [7]}' % SET, ["entry 0"])
        self.refused(self.rsp.replace("pk = ", "pk = G", 1), ["line 5", "hex"])
        self.refused(self.rsp.replace("sk = ", "secret = ", 1), ["unknown field 'secret'"])

    def test_lengths(self):
        vectors = json.loads(self.text)
        vectors["counts"][2]["keypair_draws"][1] = "00" * 31
        self.refused(json.dumps(vectors), ["count 2: keypair coins has 2444 bytes, expected 2445"])
        vectors = json.loads(self.text)
        vectors["counts"][2]["encaps_draws"].append("00")
        self.refused(json.dumps(vectors), ["count 2: encaps coins"])
        vectors = json.loads(self.text)
        vectors["counts"][1]["reject"][0]["byte"] = 699
        self.refused(json.dumps(vectors), ["byte 699"])
        self.refused(self.rsp.replace("seed = 06", "seed = ", 1), ["the seed has 47 bytes, expected 48"])

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


if __name__ == "__main__":
    unittest.main()
