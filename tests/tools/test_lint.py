# SPDX-License-Identifier: Apache-2.0
"""Tests which commits a Markdown file may name: those of this history, and another repository's on the line that names
it; which ones must stand beside a result; which headers a folder may include; which jobs a workflow may have; and what
a table of evidence may name."""

import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import evidence  # noqa: E402
import lint  # noqa: E402

HISTORY = ["1234567" + 33 * "0", "26145a9" + 33 * "b", "c6565475" + 32 * "1"]


class Commits(unittest.TestCase):
    def findings(self, text, history=HISTORY):
        with mock.patch.object(lint, "history", return_value=history):
            return list(lint.check_commits(pathlib.Path("page.md"), text.splitlines()))

    def test_commits_of_this_history_pass(self):
        self.assertEqual(self.findings("At 26145a9, c6565475 and commit 1234567.\n| words | c6565475 |"), [])

    def test_unknown_commits_are_reported(self):
        for text in ("measured at 26145aa", "| words | c6565476 |", "commit 1234568", "(`deadbee1`)", "26145a9c"):
            self.assertEqual(len(self.findings("first\n" + text)), 1, text)
        self.assertEqual(self.findings("first\nmeasured at 26145aa")[0][0], 2)

    def test_other_repositories_code_and_words_pass(self):
        for text in ("github.com/owner/name, commit 0badc0de1", "```\ncore@a0000000 0badc0de1\n```", "1234568 rows",
                     "a facade, effaced 2026", "files/0badc0de1.json"):
            self.assertEqual(self.findings(text), [], text)

    def test_without_history_nothing_is_reported(self):
        self.assertEqual(self.findings("measured at 26145aa", history=[]), [])


class Results(unittest.TestCase):
    def findings(self, text, page="docs/bulk.md", kept='"commit": "1234567",'):
        def git(*words):
            return kept.split() if words == ("show", "26145a9:bench/results/seen.json") else []
        with mock.patch.object(lint, "history", return_value=HISTORY), mock.patch.object(lint, "git", git):
            return [number for number, _ in lint.check_results(lint.ROOT / page, text.splitlines())]

    def test_the_commit_of_a_linked_result_stands_in_its_paragraph(self):
        link = "[x](../bench/results/h200x2_bulk.json)"
        self.assertEqual(self.findings(f"At c6565475 and\n26145a9 {link}\n\nAt c6565475 another."), [])
        self.assertEqual(self.findings(f"At 26145a9.\n\nAt c6565475\n{link}"), [3])
        self.assertEqual(self.findings(f"All of {link}"), [])
        self.assertEqual(self.findings(f"All of {link.replace('..', '../..')}", "docs/adr/README.md"), [1])

    def test_a_replaced_result_is_named_by_a_commit_that_holds_it(self):
        self.assertEqual(self.findings("commit 1234567 (`seen.json` in 26145a9)"), [])
        for text in ("c6565475 (`seen.json` in 26145a9)", "commit 1234567 (`seen.json` in c6565475)",
                     "commit 1234567 (`seen.json` and `none.json` in 26145a9)"):
            self.assertEqual(self.findings(text), [1], text)


class Declassified(unittest.TestCase):
    def findings(self, *rows):
        with mock.patch.object(lint, "git", return_value=["src/a.cpp", "src/b/c.hpp"]):
            return [message for _, message in lint.check_declassified(["| file | what |", *rows])]

    def test_the_table_has_the_files_that_declassify(self):
        self.assertEqual(self.findings("| `a.cpp`, `b/c.hpp` | x |"), [])
        self.assertEqual(self.findings("| `a.cpp` | as in `b/c.hpp` |"),
                         ["src/b/c.hpp declassifies a value that the table does not have"])
        self.assertEqual(self.findings("| `a.cpp` | x |", "| `b/c.hpp`, `d.hpp` | y |"),
                         ["src/d.hpp declassifies nothing"])


class Jobs(unittest.TestCase):
    def test_jobs_are_targets_of_the_makefile(self):
        self.assertEqual(list(lint.check_jobs(None, ["        target: [lint, test]"])), [])
        self.assertEqual([number for number, _ in lint.check_jobs(None, ["jobs:", "  target: [lint, tests]"])], [2])

    def test_phases_are_those_that_test_full_adds(self):
        phases = {"test-full": {"tests", "fuzz", "ubsan", "tidy"}, "test": {"tests"}}
        with mock.patch.object(lint, "phases_of", phases.get):
            def findings(listed):
                return [text for _, text in lint.check_jobs(None, ["target: [test, tidy]", f"phase: [{listed}]"])]
            self.assertEqual(findings("fuzz, ubsan"), [])
            self.assertEqual(findings("fuzz"), ["the phase 'ubsan' is missing"])
            self.assertEqual(findings("fuzz, ubsan, mutants"), ["the phase 'mutants' is not one of test-full's"])

    def test_phases_come_from_the_makefile(self):
        self.assertIn("tests", lint.phases_of("test"))
        self.assertLess(lint.phases_of("test"), lint.phases_of("test-full"))


class Arrows(unittest.TestCase):
    def findings(self, source, header):
        return list(lint.check_arrows(lint.ROOT / source, [f"#include {header}"]))

    def test_what_a_folder_uses_passes(self):
        for source, header in (("src/engine/new.cpp", '"schemes/registry.hpp"'),
                               ("cli/net/new.cpp", '"common/table.hpp"'),
                               ("bench/gpu_rates/new.cu", '"cuda/common.hpp"'),
                               ("research/lab/new.cpp", '"options.hpp"'),
                               ("tests/kat/new.cpp", '"kat/suite.hpp"'),
                               ("tests/hpke/new.cpp", "<openssl/evp.h>")):
            self.assertEqual(self.findings(source, header), [], source)

    def test_what_lies_above_or_beside_is_reported(self):
        for source, header in (("src/prim/new.cpp", '"engine/engine.hpp"'),
                               ("src/core/new.cpp", "<openssl/evp.h>"),
                               ("src/accelerators/cuda/new.cpp", '"module/part.hpp"'),
                               ("bench/prim/new.cpp", '"common/table.hpp"'),
                               ("ckks/bench/new.cpp", '"engine/engine.hpp"'),
                               ("ckks/tests/new.cpp", '"engine/engine.hpp"'),
                               ("research/lab/new.cpp", '"polykem/polykem.h"'),
                               ("tests/provider/new.cpp", '"engine/engine.hpp"'),
                               ("tests/capi/new.cpp", '"lab/lab.hpp"'),
                               ("tests/capi/new.cpp", '"none.hpp"')):
            self.assertEqual(len(self.findings(source, header)), 1, source)

    def test_folders_that_include_each_other_are_reported(self):
        self.assertEqual(lint.cycle_of(lint.ARROWS), [])
        for folder, above in (("src/core", "src/engine"), ("python", "ckks/python"), ("research/lab", "ckks/bench")):
            cycle = lint.cycle_of({**lint.ARROWS, folder: lint.ARROWS[folder] | {above}})
            self.assertLessEqual({folder, above}, set(cycle), cycle)


class Evidence(unittest.TestCase):
    def findings(self, files, commands, left="nothing known"):
        lines = [evidence.HEAD, "|---|---|---|---|", f"| It works | {files} | {commands} | {left} |"]
        return [text for _, text in evidence.findings(lines, {"test", "test-m4"})]

    def test_files_and_commands_that_exist_pass(self):
        for files in ("tests/tools/test_lint.py", "tools/*.py", "a plugin: tests/tools/test_lint.py, tests/kat."):
            self.assertEqual(self.findings(files, "`make test`"), [], files)
        for commands in ("`make test-m4`", "`JOBS=1 tools/test.sh sanitize`", "`ctest -R '^tools\\.Lint$'`",
                         "`ctest -L '^kat$' -LE '^full$'`", "`make test`; *full*: `tools/test.sh fuzz`",
                         "`ctest -R '^cuda_devices_many_failures$'`", "`tests/gpu/run.sh build-gpu test`"):
            self.assertEqual(self.findings("tools/lint.py", commands), [], commands)

    def test_what_does_not_exist_is_reported(self):
        for files in ("tools/none.py", "by hand", "[tools/lint.py](tools/lint.py)"):
            self.assertEqual(len(self.findings(files, "`make test`")), 1, files)
        for commands in ("`make tests`", "`tools/test.sh tests none`", "`ctest -R '^tools\\.Miss" "pelt$'`", "by hand",
                         "`ctest --verbose`", "`tests/none.sh`", "*full*: `make test`, *full*: `make test`"):
            self.assertEqual(len(self.findings("tools/lint.py", commands)), 1, commands)
        self.assertEqual(len(self.findings("tools/lint.py", "`make test`", left="")), 1)

    def test_a_command_selects_tests_of_its_kind(self):
        tests = [("frodo.Keys", ["quick"]), ("frodo.Keys.whole", ["exhaustive", "full"])]
        for command, full, selected in (("ctest -R Keys", False, True), ("ctest -R Keys", True, True),
                                        ("ctest -R 'Keys$'", True, False), ("ctest -L '^quick$'", False, True),
                                        ("ctest -L '^exhaustive$' -LE '^full$'", False, False)):
            self.assertEqual(evidence.selects(command, full, tests), selected, command)


if __name__ == "__main__":
    unittest.main()
