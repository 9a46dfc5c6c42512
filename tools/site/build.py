#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of the pages in build/site; tools/site/build.sh runs this where Sphinx is."""

import shutil
import sys
import warnings
from pathlib import Path

from sphinx.cmd.build import main as sphinx

import check
from navigation import NAVIGATION
from stage import BrokenPages, Stage

ROOT = Path(__file__).resolve().parent.parent.parent


def build(root, pages, site, navigation=NAVIGATION):
    """Prints faults. Returns whether there were none; then `site` has what `root` has, collected in `pages`."""
    try:
        Stage(root, pages, navigation).build()
    except BrokenPages as error:
        print(error)
        return False
    shutil.rmtree(site, ignore_errors=True)
    configuration = Path(__file__).resolve().parent
    warnings.filterwarnings("ignore", module="myst_parser")  # about features that a later Sphinx will lack
    if sphinx(["-q", "-W", "--keep-going", "-E", "-b", "html", "-d", str(pages) + "-doctrees", "-c", str(configuration),
               str(pages), str(site)]) != 0:
        return False
    found = check.faults(site)
    print("\n".join(found), end="\n" if found else "")
    return not found


def main():
    site = ROOT / "build/site"
    if not build(ROOT, ROOT / "build/site-pages", site):
        return 1
    print(f"{site.relative_to(ROOT)}/index.html: {len(list(site.rglob('*.html')))} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
