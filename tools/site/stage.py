# SPDX-License-Identifier: Apache-2.0
"""Collects the pages of the site in one folder, each at the path that it has in the repository.

README.md is the front page. Unlike on the forge, citations become links to the bibliography, a file that a page links
to is copied, and a link to a folder becomes its name. A link that leads nowhere is an error.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import c_api
import lint
import man_pages
import python_api

LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")
CITATION = re.compile(r"(?<![\w)\]])\[([A-Z][A-Z0-9]+)(?:,[^\]]*)?\](?!\()")


class BrokenPages(Exception):
    """One line for each fault."""


class Stage:
    """Copies pages from root to folder. Faults collect in `faults`."""

    def __init__(self, root, folder, navigation):
        self.root, self.folder, self.navigation = root, folder, navigation
        self.faults = []
        self.keys = yaml.safe_load((root / "BIBLIOGRAPHY.yml").read_text(encoding="utf-8"))
        listed = [name for names in navigation.values() for name in names if name.endswith(".md")]
        self.pages = ["README.md", *listed, *self.decisions()]

    def decisions(self):
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.glob("docs/adr/*.md"))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def build(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        for path in sorted(self.root.glob("docs/**/*.md")):
            name = path.relative_to(self.root).as_posix()
            if name not in self.pages:
                self.faults.append(f"{name}: no place in the menu, tools/site/navigation.py")
        for name in self.pages:
            self.page(name)
        self.write("bibliography.md", self.bibliography())
        self.commands()
        self.write("decisions.md", "# Decisions\n\nWhat was compared, and why it was decided so.\n"
                   + toctree("", self.decisions(), hidden=False))
        try:
            header = self.root / "include/polykem/polykem.h"
            self.api("api/c.rst", c_api.page(header.read_text(encoding="utf-8")))
            if (self.root / "python/polykem").is_dir():
                self.api("api/python.rst", python_api.page(self.root / "python/polykem"))
        except (c_api.Undocumented, python_api.Undocumented) as error:
            self.faults.append(str(error))
        if self.faults:
            raise BrokenPages("\n".join(self.faults))

    def api(self, name, text):
        self.write(name, self.cite(text, name, "`[%s] <../bibliography.html#%s>`__"))

    def page(self, name):
        lines, fenced = [], False
        for number, line in enumerate((self.root / name).read_text(encoding="utf-8").splitlines(), 1):
            fenced ^= line.startswith("```")
            lines.append(line if fenced else self.rewrite(name, number, line))
        text = "\n".join(lines) + "\n"
        if name == "README.md":
            text += "".join(toctree(caption, self.present(names)) for caption, names in self.navigation.items())
        self.write(staged(name), text)

    def present(self, names):
        """Returns the names of pages that exist; the Python package's page does if the package does."""
        return [name for name in names if name != "api/python" or (self.root / "python/polykem").is_dir()]

    def rewrite(self, name, number, line):
        """Rewrites links and citations outside `code`."""
        parts = re.split(r"(`+[^`]*`+)", LINK.sub(lambda match: self.link(name, number, match), line))
        above = "../" * name.count("/")
        for index in range(0, len(parts), 2):
            parts[index] = self.cite(parts[index], name, f"[\\[%s\\]]({above}bibliography.md#%s)")
        return "".join(parts)

    def cite(self, text, name, form):
        """Rewrites citations as links of a form, which has places for the text in the brackets and for the anchor."""
        def linked(match):
            if match[1] in self.keys:
                return form % (match[0][1:-1], match[1].lower())
            if lint.CITATION.match(match[0]):
                self.faults.append(f"{name}: {match[0]} is not in BIBLIOGRAPHY.yml")
            return match[0]

        return CITATION.sub(linked, text)

    def link(self, name, number, match):
        target = match["target"]
        if re.match(r"[a-z]+:", target):
            return match[0]
        file, _, anchor = target.partition("#")
        path = Path(os.path.normpath(self.root / Path(name).parent / file)) if file else self.root / name
        if not path.exists() or not path.is_relative_to(self.root):
            self.faults.append(f"{name}:{number}: the link {target} leads nowhere")
            return match[0]
        if path.is_dir():
            return match["text"]
        there = path.relative_to(self.root).as_posix()
        if there in self.pages:
            if anchor and anchor not in lint.anchors(path):
                self.faults.append(f"{name}:{number}: the link {target} leads to a page without that heading")
            place = os.path.relpath(staged(there), Path(name).parent) if file else ""
            return f"[{match['text']}]({place}{'#' + anchor if anchor else ''})"
        if path.suffix == ".md":
            self.faults.append(f"{name}:{number}: {there} has no place in the menu, tools/site/navigation.py")
        (self.folder / there).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, self.folder / there)
        return match[0]

    def bibliography(self):
        parts = ["# Bibliography\n\nWhat polykem is written from. Comments and pages cite a key and a place in it.\n"]
        for key, entry in self.keys.items():
            authors = ", ".join(entry["authors"])
            address = f" <{entry['url']}>" if "url" in entry else ""
            parts.append(f"\n## {key}\n\n{authors}: *{entry['title']}*. {entry['published']}.{address}\n\n"
                         f"Used for: {entry['used_for']}.\n")
        return "".join(parts)

    def commands(self):
        names = []
        for path in sorted(self.root.glob("docs/man/*.[18]"), key=lambda path: path.stem):
            self.write(f"commands/{path.stem}.rst", man_pages.page(path.read_text(encoding="utf-8")))
            names.append(f"commands/{path.stem}")
        self.write("commands.md", "# Commands\n\nThe pages that `man polykem` shows; `polykem COMMAND --help` says the "
                   "same.\n" + toctree("", names, hidden=False))


def staged(name):
    """Returns a page's name in the site, where README.md is the front page."""
    return "index.md" if name == "README.md" else name


def toctree(caption, names, hidden=True):
    options = (f":caption: {caption}\n" if caption else "") + (":hidden:\n" if hidden else ":maxdepth: 1\n")
    entries = "\n".join(re.sub(r"\.md$", "", name) for name in names)
    return f"\n```{{toctree}}\n{options}\n{entries}\n```\n"
