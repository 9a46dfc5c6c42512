# SPDX-License-Identifier: Apache-2.0
"""Tests that errors in files of NIST's ACVP, Wycheproof and CCTV are found."""

import gzip
import json
import unittest

from program import BAD_INPUT, CHECK_FAILED, DATA, SET, Case, unpacked, vectors


class KatFormats(Case):
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
        self.refused(root, ["test 1, encaps", "public key: 799 bytes, expected 800 for ML-KEM-512"])

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


if __name__ == "__main__":
    unittest.main()
