#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the tables of SOUNDNESS.md against builds: prints each command of ctest that selects no test there.

    tools/evidence.py BUILD [FULL_BUILD]     FULL_BUILD: for commands that are marked as full

What needs no build, tools/lint.py checks: that files named as evidence and targets, phases, programs, labels and names
of tests exist.
"""

import functools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "| Claim | Evidence | Command | What is left |"


def rows(lines):
    """Yields the number and the four cells of each row of the tables with that head."""
    inside = False
    for number, line in enumerate(lines, 1):
        if line == HEAD:
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            yield number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def files_in(cell):
    """Returns the paths that a cell names, those in links and code left out."""
    text = re.sub(r"\[[^\]]*\]\([^)]*\)|`[^`]*`", "", cell)
    return [word.rstrip(".") for word in re.findall(r"(?<![\w/.:])[\w.-]+(?:/[\w.*-]+)+", text)]


def commands_in(cell):
    """Returns the commands of a cell, each with whether it is marked as full."""
    parts = re.split(r"`([^`]*)`", cell)
    marks = "".join(parts[::2]).count("*full*")
    full, out = False, []
    for text, command in zip(parts[::2], [*parts[1::2], None]):
        full = full or "*full*" in text
        if command is not None:
            out.append((command, full))
    return out if marks <= 1 else []


@functools.cache
def test_sources():
    """Returns the text of what defines tests."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "tests", "ckks/tests", "python", "cmake", "research/tests"],
                           capture_output=True, text=True, check=True).stdout.split()
    wanted = [name for name in names if name.endswith((".txt", ".cmake", "_test.cpp", "scenarios.cpp", ".py"))]
    return "\n".join((ROOT / name).read_text(encoding="utf-8") for name in wanted)


@functools.cache
def phases():
    """Returns the phases that tools/test.sh knows."""
    return set(re.findall(r"^    ([a-z-]+)\)", (ROOT / "tools/test.sh").read_text(encoding="utf-8"), re.M))


@functools.cache
def is_named(word):
    """Returns whether the tests' sources have a word, or two parts of which a CMakeLists.txt makes it."""
    text = test_sources()
    splits = [index for index, letter in enumerate(word) if letter == "_"]
    return word in text or any(word[:at] in text and word[at + 1:] in text for at in splits if at)


def options_of(command):
    """Returns the regular expressions of a command of ctest by option; None for another option."""
    words = shlex.split(command)[1:]
    options = dict(zip(words[::2], words[1::2]))
    return options if len(words) % 2 == 0 and set(options) <= {"-R", "-L", "-LE"} else None


def problem_of(command, targets):
    """Returns what is wrong with a command, or None."""
    program, *words = [word for word in shlex.split(command) if not re.match(r"[A-Z_]+=", word)]
    if program == "make":
        unknown = [word for word in words if word not in targets]
        return f"the Makefile has no target '{unknown[0]}'" if unknown else None
    if program == "tools/test.sh":
        unknown = [word for word in words if word not in phases()]
        return f"tools/test.sh has no phase '{unknown[0]}'" if unknown else None
    if program != "ctest":
        return None if (ROOT / program).is_file() else f"there is no {program}"
    options = options_of(command)
    if options is None:
        return f"cannot be checked: {command}"
    unknown = [word for pattern in options.values() for word in re.findall(r"[A-Za-z]\w{2,}", pattern)
               if not is_named(word)]
    return f"no test is called '{unknown[0]}'" if unknown else None


def findings(lines, targets):
    """Yields (line, what is wrong) of a page's tables. targets: those of the Makefile."""
    for number, cells in rows(lines):
        if len(cells) != 4 or not all(cells):
            yield number, f"a row of evidence has four cells with text, not {sum(map(bool, cells))}"
            continue
        evidence, commands = files_in(cells[1]), commands_in(cells[2])
        if not evidence:
            yield number, "the evidence names no file"
        if not commands:
            yield number, "no command, or more than one mark *full*"
        for name in evidence:
            if not any(ROOT.glob(name)):
                yield number, f"there is no {name}"
        for command, _ in commands:
            if problem := problem_of(command, targets):
                yield number, problem


def tests_of(build):
    """Returns the names and labels of a build's tests."""
    command = ["ctest", "--test-dir", build, "--show-only=json-v1"]
    shown = subprocess.run(command, capture_output=True, check=True).stdout
    return [(test["name"], [label for entry in test.get("properties", []) if entry["name"] == "LABELS"
                            for label in entry["value"]]) for test in json.loads(shown)["tests"]]


def selects(command, full, tests):
    """Returns whether a command of ctest selects a test: one with the label full, or one without."""
    options = options_of(command)

    def fits(name, labels):
        return (re.search(options.get("-R", ""), name)
                and ("-L" not in options or any(re.search(options["-L"], label) for label in labels))
                and ("-LE" not in options or not any(re.search(options["-LE"], label) for label in labels)))
    return any(fits(name, labels) and full == ("full" in labels) for name, labels in tests)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: tools/evidence.py BUILD [FULL_BUILD]")
    tests = {full: tests_of(build) for full, build in ((False, sys.argv[1]), (True, sys.argv[-1]))}
    count = missed = 0
    for number, cells in rows((ROOT / "SOUNDNESS.md").read_text(encoding="utf-8").splitlines()):
        for command, full in commands_in(cells[2]):
            if not command.startswith("ctest"):
                continue
            count += 1
            if not selects(command, full, tests[full]):
                missed += 1
                print(f"SOUNDNESS.md:{number}: selects no test{' that is full' if full else ''}: {command}")
    print(f"evidence: {count} commands of ctest, {missed} of which select nothing in {' and '.join(sys.argv[1:])}")
    return 1 if missed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
