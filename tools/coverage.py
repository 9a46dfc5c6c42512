#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many lines of C++ the tests of a build with --coverage ran, by product, as a Markdown table.

    tools/coverage.py [--files] BUILD

With --files the table also has a row for each file, those with the most lines that did not run first. Code for GPUs is
not measured.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCTS = {"KEM library": ("include/", "src/"), "CKKS": ("ckks/include/", "ckks/src/", "ckks/openfhe/"),
            "formats": ("formats/",), "HPKE": ("hpke/",), "provider": ("provider/",), "program, daemon": ("cli/",)}


def runs_of(notes):
    """Yields each source in one file of gcov's notes, with (line, how often it ran) of its lines."""
    command = ["gcov", "--json-format", "--stdout", notes]
    for report in subprocess.run(command, cwd=notes.parent, capture_output=True, check=True).stdout.splitlines():
        document = json.loads(report)
        for file in document["files"]:
            path = Path(document["current_working_directory"], file["file"]).resolve()
            if path.is_relative_to(ROOT):
                lines = [(line["line_number"], line["count"]) for line in file["lines"]]
                yield path.relative_to(ROOT).as_posix(), lines


def lines_of(build):
    """Returns the lines of code of each source, and whether they ran: {path: {line: bool}}."""
    sources = defaultdict(dict)
    with ThreadPoolExecutor() as pool:
        for files in pool.map(lambda notes: list(runs_of(notes)), sorted(build.rglob("*.gcno"))):
            for path, lines in files:
                for line, count in lines:
                    sources[path][line] = sources[path].get(line, False) or count > 0
    return sources


def row(name, lines):
    ran, all_lines = sum(lines), len(lines)
    return f"| {name} | {all_lines:,} | {100 * ran / all_lines:.1f} % |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="a row for each file too")
    parser.add_argument("build", type=Path)
    arguments = parser.parse_args()
    sources = lines_of(arguments.build.resolve())
    print("| product | lines of code | run by the tests |\n|---|---|---|")
    for product, folders in PRODUCTS.items():
        files = {path: list(lines.values()) for path, lines in sources.items() if path.startswith(folders)}
        if not files:
            continue
        print(row(product, [ran for lines in files.values() for ran in lines]))
        if arguments.files:
            for path, lines in sorted(files.items(), key=lambda item: item[1].count(True) - len(item[1])):
                print(row(path, lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
