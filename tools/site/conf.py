# SPDX-License-Identifier: Apache-2.0
"""Configures Sphinx for the site; tools/site/build.py passes the folders."""

import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

import c_api

HEADER = (ROOT / "include/polykem/polykem.h").read_text(encoding="utf-8")

project = "polykem"
version = release = ".".join(re.search(rf"POLYKEM_VERSION_{part} (\d+)", HEADER)[1]
                             for part in ("MAJOR", "MINOR", "PATCH"))
root_doc = "index"
extensions = ["myst_parser"]
primary_domain = None
default_role = "code"  # `name` in a docstring
highlight_language = "text"
nitpicky = True
nitpick_ignore = [("c:identifier", name) for name in ("size_t", "uint8_t", "uint32_t", "uint64_t", "int32_t")]
smartquotes = False  # --help is an option

nitpick_ignore_regex = [("py:.*", ".*")]  # types in docstrings are words: "bytes-like, shape (n, bytes)"
myst_heading_anchors = 6

# Furo brings its fonts and scripts with it; a reader's browser asks no other machine for anything.
html_theme = "furo"
html_title = f"polykem {version}"
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
toc_object_entries_show_parents = "hide"
add_function_parentheses = False


class LinksToTheApi(SphinxTransform):
    """Makes `polykem_run` in a page a link to the function."""

    default_priority = 300

    def apply(self, **kwargs):
        if self.env.docname.startswith("api/"):
            return
        known = c_api.symbols(c_api.parse(HEADER))
        for literal in list(self.document.findall(nodes.literal)):
            name = literal.astext()
            if name in known and not isinstance(literal.parent, nodes.reference):
                link = pending_xref("", literal.deepcopy(), refdomain="c", reftype=known[name], reftarget=name,
                                    refdoc=self.env.docname, refwarn=True, refexplicit=True)
                literal.replace_self(link)


def setup(app):
    app.add_transform(LinksToTheApi)
