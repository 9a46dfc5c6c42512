# SPDX-License-Identifier: Apache-2.0
"""Tests of the faults that tools/proofs/source_faults.py draws, of which claims it and tools/prove.py check, and of
what the latter prints."""

import contextlib
import io
import random
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import prove  # noqa: E402
from proofs import source_faults  # noqa: E402
from proofs.algebra.facts import NotProved  # noqa: E402
from proofs.all_claims import chosen_claims  # noqa: E402
from proofs.claims import Claim, Run  # noqa: E402
from proofs.machines.memory import NotFollowed  # noqa: E402
from proofs.source_faults import Faults, NotPlanted, Verdict  # noqa: E402
from proofs_code import Code  # noqa: E402


class Changes(unittest.TestCase):
    def changes_of(self, text):
        return {source_faults.changed(text, random.Random(seed)) for seed in range(64)}

    def test_one_operation_of_a_line(self):
        self.assertEqual(self.changes_of("  x = a + (b >> n) * c;  // a + b\n"), {
            "  x = a - (b >> n) * c;  // a + b\n", "  x = a + (b >> 1 + n) * c;  // a + b\n",
            "  x = a + (b >> n) + c;  // a + b\n"})

    def test_intrinsics(self):
        self.assertEqual(self.changes_of("return _mm256_add_epi16(a, b);"), {"return _mm256_sub_epi16(a, b);"})

    def test_lines_without_arithmetic(self):
        for text in ("for (size_t n = a + b; n < c; ++n)", "// a + b", "#if A + B", "return x;",
                     "static_assert(a + b == c);"):
            self.assertEqual(self.changes_of(text), {None}, text)


class Outcomes(unittest.TestCase):
    """Of a file with a line, in a copy of the tree whose compiler and claims are functions here."""

    TEXT = "int f(int a) {\n  return a + 1;\n}\n"

    def planted(self, *problems, line=2, compile_=lambda *programs: None):
        """Returns what is said of a fault in the line that a claim for each problem ran; one whose problem is None
        holds."""
        def attempt(claim, library):
            self.assertEqual(self.file.read_text(), self.TEXT.replace("+", "-"))
            return claim.problem
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(source_faults, "attempt", attempt):
            self.file = Path(folder) / "f.cpp"
            self.file.write_text(self.TEXT)
            faults = Faults.__new__(Faults)
            faults.scratch = SimpleNamespace(tree=Path(folder), compile=compile_)
            faults._libraries = lambda: {False: None}
            faults.claims_of = {("f.cpp", line): [SimpleNamespace(name=f"claim {i}", inlined=False, problem=problem)
                                                  for i, problem in enumerate(problems)]}
            try:
                return faults.plant(("f.cpp", line), random.Random(1))
            finally:
                self.assertEqual(self.file.read_text(), self.TEXT)

    def test_refuted(self):
        fault = self.planted(None, NotFollowed("a jump"), NotProved("1 is not 2"), NotProved("never asked"))
        self.assertIs(fault.verdict, Verdict.REFUTED)
        self.assertEqual(str(fault), "f.cpp:2: return a + 1;  ->  return a - 1;\n"
                                     "  refuted by claim 2: no proof: 1 is not 2")

    def test_not_found(self):
        fault = self.planted(None, None)
        self.assertIs(fault.verdict, Verdict.NOT_FOUND)
        self.assertIn("\n  NOT FOUND", str(fault))

    def test_undecided(self):
        for problems in ((NotFollowed("a jump"),), (NotFollowed("a jump"), None)):
            fault = self.planted(*problems)
            self.assertIs(fault.verdict, Verdict.UNDECIDED)
            self.assertIn("\n  undecided: not followed", str(fault))

    def test_not_planted(self):
        def fails(*programs):
            raise RuntimeError("it does not compile")
        for reason, options in (("no arithmetic", {"line": 1}), ("does not compile", {"compile_": fails})):
            with self.assertRaisesRegex(NotPlanted, reason):
                self.planted(None, **options)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), self.assertRaisesRegex(NotPlanted, "no such line"):
            self.planted(None, line=4)
        self.assertIn("f.cpp has no line 4", said.getvalue())


class ChosenClaims(unittest.TestCase):
    def words(self, *arguments, **options):
        return {word for claim in chosen_claims(*arguments, **options) for word in claim.name.split()}

    def test_of_the_instruction_set(self):
        of_x86 = self.words("x86-64", [], with_long=True)
        self.assertLessEqual({"ref", "avx2", "avx512", "amx", "cuda", "ckks"}, of_x86)
        self.assertFalse({"neon", "m4"} & of_x86)
        of_arm = self.words("AArch64", [], with_long=True)
        self.assertLessEqual({"ref", "neon"}, of_arm)
        self.assertFalse({"avx2", "avx512", "amx", "m4"} & of_arm)
        self.assertFalse({"ref", "avx2", "neon"} & self.words("Thumb", [], with_long=True))

    def test_of_what_the_library_was_built_with(self):
        of_avx2 = self.words("x86-64", [], with_long=True, vectors="avx2")
        self.assertIn("avx2", of_avx2)
        self.assertFalse({"avx512", "amx"} & of_avx2)
        self.assertFalse({"avx2", "avx512", "amx"} & self.words("x86-64", [], with_long=True, vectors="none"))

    def test_names(self):
        names = {claim.name for claim in chosen_claims("x86-64", ["mlkem ref tr", "frodo ref"], with_long=False)}
        self.assertIn("mlkem ref transform", names)
        self.assertTrue(all("mlkem ref tr" in name or "frodo ref" in name for name in names))
        for name in ("mlkem neon", "no such claim"):
            with self.assertRaisesRegex(ValueError, name):
                chosen_claims("x86-64", ["mlkem ref", name], with_long=True)

    def test_long_ones(self):
        self.assertTrue(any(claim.is_long for claim in chosen_claims("x86-64", [], with_long=True)))
        self.assertFalse(any(claim.is_long for claim in chosen_claims("x86-64", [], with_long=False)))


class Lines(unittest.TestCase):
    def test_of_a_claim_and_its_fault(self):
        def add_words(library, function):
            run = Run(library, 3329)
            words = run.unknown("words", 2, 0, 1000)
            run.machine.call(function, words.address)
            run.expect(run.result(words.address, 4), {(0,): 1, (1,): 1}, 0, 2000, "the sum")

        # movzx eax, word [rdi]; movzx ecx, word [rdi + 2]; add eax, ecx; mov word [rdi + 8], ax
        library = Code("0fb707" "0fb74f02" "01c8" "66894708" "c3")
        claim = Claim("sum", "f", "words", "their sum", add_words)
        text = prove.line(prove.check(claim, library, with_fault=True, cpu=None))
        self.assertRegex(text, r"^sum +words -> their sum \(.*; fault 1, 0x10007: add eax,ecx -> sub eax,ecx, "
                               r"refuted: ")


if __name__ == "__main__":
    unittest.main()
