#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the documentation site of a small repository: what it must have, and that each planted fault stops the build.

Run by: tools/site/build.sh --test
"""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/site"))

import build
import c_api
import check
import man_pages

DOCS = "docs"
NAVIGATION = {"Python": ["api/python"], "Start": [f"{DOCS}/guide.md", "commands"], "API": ["api/c"],
              "Design": ["decisions", "bibliography"]}
HEADER = (ROOT / "include/polykem/polykem.h").read_text(encoding="utf-8")
README = """# Small

[The guide](DOCS/guide.md#the-second-part), [a program](app.c), [a folder](docs), `polykem_run`, `POLYKEM_BACKEND`.
- a list without an empty line before it [FIPS203, 7.2]
"""
BIBLIOGRAPHY = """FIPS203:
  title: "Module-Lattice-Based Key-Encapsulation Mechanism Standard"
  authors: [NIST]
  published: FIPS 203, August 2024
  used_for: ML-KEM
"""


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name) / "repository"
        self.site = Path(folder.name) / "site"
        self.write("README.md", README.replace("DOCS", DOCS))
        self.write(f"{DOCS}/guide.md", "# Guide\n\n## The second part\n\nBack to the [front](../README.md).\n")
        self.write(f"{DOCS}/adr/0001-first.md", "# First\n\nSo it was decided.\n")
        self.write("docs/man/polykem-list.1", (ROOT / "docs/man/polykem-list.1").read_text(encoding="utf-8")
                   .replace(".BR polykem (1)", ".BR polykem\\-list (1)"))
        self.write("app.c", "int main(void) { return 0; }\n")
        self.write("BIBLIOGRAPHY.yml", BIBLIOGRAPHY)
        self.write("include/polykem/polykem.h", HEADER)

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def append(self, name, text):
        self.write(name, (self.root / name).read_text(encoding="utf-8") + text)

    def build(self):
        """Builds the site. Returns the build's output, and whether it succeeded."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            done = build.build(self.root, self.root.parent / "pages", self.site, NAVIGATION)
        return said.getvalue(), done

    def assert_stops(self, pattern):
        said, done = self.build()
        self.assertRegex(said, pattern)
        self.assertFalse(done)

    def test_a_sound_site(self):
        said, done = self.build()
        self.assertTrue(done, said)
        front = (self.site / "index.html").read_text(encoding="utf-8")
        for expected in ('href="docs/guide.html#the-second-part"', 'href="bibliography.html#fips203"',
                         'href="api/c.html#c.polykem_run"', "/app.c", "<li>", "commands.html"):
            self.assertIn(expected, front)
        self.assertIn('href="../index.html"', (self.site / "docs/guide.html").read_text(encoding="utf-8"))
        self.assertIn("--json", (self.site / "commands/polykem-list.html").read_text(encoding="utf-8"))

    def test_a_link_that_leads_nowhere(self):
        self.append(f"{DOCS}/guide.md", "[gone](gone.md)\n")
        self.assert_stops(r"/guide.md:6: the link gone.md leads nowhere")

    def test_a_heading_that_is_not_there(self):
        self.append(f"{DOCS}/guide.md", "[gone](#the-third-part)\n")
        self.assert_stops("without that heading")

    def test_a_page_without_a_place_in_the_menu(self):
        self.write(f"{DOCS}/new.md", "# New\n")
        self.assert_stops("/new.md: no place in the menu")

    def test_a_citation_that_the_bibliography_lacks(self):
        self.append(f"{DOCS}/guide.md", "It is known [NOBODY99].\n")
        self.assert_stops("NOBODY99. is not in BIBLIOGRAPHY.yml")

    def test_what_sphinx_warns_of(self):
        self.append(f"{DOCS}/guide.md", "#### Too deep\n")
        self.assert_stops("WARNING.*header level")

    def test_a_public_function_without_a_comment(self):
        self.write("include/polykem/polykem.h", HEADER.replace(
            "/* Overwrites memory", "POLYKEM_API int polykem_undocumented(void);\n\n/* Overwrites memory"))
        self.assert_stops("polykem_undocumented has no comment")

    def test_a_struct_without_a_comment(self):
        self.write("include/polykem/polykem.h", HEADER.replace("/* Names and sizes of a parameter set. */\n", ""))
        self.assert_stops("polykem_scheme_info_t has no comment")

    def test_the_python_package(self):
        self.write("python/polykem/__init__.py", '"""A package."""\n\nfrom ._a import A\n\n__all__ = ["A"]\n')
        self.write("python/polykem/_a.py", 'class A:\n    """A class [FIPS203]."""\n\n    def documented(self):\n'
                   '        """Done."""\n\n    def _private(self): ...\n')
        said, done = self.build()
        self.assertTrue(done, said)
        page = (self.site / "api/python.html").read_text(encoding="utf-8")
        self.assertIn('id="polykem.A.documented"', page)
        self.assertIn('href="../bibliography.html#fips203"', page)
        self.append("python/polykem/_a.py", "\n    def bare(self): ...\n")
        self.assert_stops(r"_a.py:9: A.bare has no docstring")

    def test_a_type_that_the_header_does_not_declare(self):
        self.write("include/polykem/polykem.h", HEADER.replace(
            "/* Overwrites memory",
            "/* Odd. */\nPOLYKEM_API polykem_odd polykem_strange(void);\n\n/* Overwrites memory"))
        self.assert_stops("WARNING.*polykem_odd")

    def test_pages_that_load_from_elsewhere(self):
        self.site.mkdir()
        page = self.site / "index.html"
        page.write_text('<script src="https://cdn.example/a.js"></script><a href="https://example.org">fine</a>')
        self.assertEqual(check.faults(self.site), ["index.html: loads https://cdn.example/a.js"])
        page.write_text('<a href="#there"></a><h1 id="here"></h1><a href="gone.html"></a>')
        self.assertEqual(len(check.faults(self.site)), 2)
        page.write_text("")
        (self.site / "a.css").write_text("@font-face { src: url('https://fonts.example/a.woff2') }")
        self.assertEqual(check.faults(self.site), ["a.css: loads https://fonts.example/a.woff2"])


class Header(unittest.TestCase):
    def test_everything_that_is_exported(self):
        """The page has exactly the functions that the library exports."""
        exported = (ROOT / "tests/install/symbols.txt").read_text(encoding="utf-8").split()
        functions = {name for entry in c_api.parse(HEADER) if entry.kind == "function" for name in entry.names}
        self.assertEqual(functions, {name.split("@")[0] for name in exported if name.startswith("polykem_")})

    def test_fields_that_share_a_line(self):
        self.assertEqual(c_api.split_declarators("const uint8_t *pk, *sk"), ["const uint8_t *pk", "const uint8_t *sk"])
        self.assertEqual(c_api.split_declarators("uint64_t a[24], b"), ["uint64_t a[24]", "uint64_t b"])


class ManPages(unittest.TestCase):
    def test_an_unknown_command_of_the_formatter(self):
        with self.assertRaises(ValueError):
            man_pages.page(".SH NAME\na \\- b\n.SH OPTIONS\n.XX\n")


if __name__ == "__main__":
    unittest.main()
