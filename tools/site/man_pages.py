# SPDX-License-Identifier: Apache-2.0
"""Converts a man page of docs/man to reStructuredText: only the commands that tools/program_docs.py writes."""

import re

CHARACTERS = {"\\(aq": "'", "\\(ga": "`", "\\(ha": "^", "\\(ti": "~", "\\-": "-", "\\&": "", "\\e": "\\"}


def plain(text):
    return re.sub(r"\\(?:\([a-z]{2}|[-&e])", lambda match: CHARACTERS[match[0]], text)


def escape(text):
    return re.sub(r"([*_|\\`])", r"\\\1", plain(text))


def inline(text):
    """Converts bold, for what is typed, and italic, for what it stands for."""
    parts = re.split(r"(\\fB.*?\\fR|\\fI.*?\\fR)", text)
    for number, part in enumerate(parts):
        if part.startswith("\\fB"):
            parts[number] = f"``{plain(part[3:-3])}``"
        elif part.startswith("\\fI"):
            parts[number] = f"*{escape(part[3:-3])}*"
        else:
            parts[number] = escape(part)
    return "".join(parts)


def is_example(section):
    return section == "EXAMPLES"


def page(roff):
    """Returns the page; its title is the command, and the pages of other commands are links."""
    lines = [line for line in roff.splitlines() if not line.startswith('.\\"')]
    result, section, number, indent = [], "", 0, ""
    while number < len(lines):
        command, _, text = lines[number].partition(" ")
        number += 1
        if command == ".TH":
            continue
        if command == ".SH":
            section, indent = text, ""
            if section != "NAME":
                heading = section.capitalize()
                result += ["", heading, "-" * len(heading), ""]
        elif section == "NAME":
            name, _, what = plain(lines[number - 1]).partition(" - ")
            result += [name, "=" * len(name), "", escape(what) + "."]
        elif command == ".TP":
            term = lines[number]
            result += ["", inline(f"\\fB{term[3:]}\\fR" if term.startswith(".B ") else term)
                       if not term.startswith(".BR") else link(term)]
            number, indent = number + 1, "   "
        elif command == ".B" and is_example(section):
            result += ["", ".. code-block:: text", "", "   " + plain(text), ""]
        elif command == ".B":
            result += [f"``{plain(text)}``"]
        elif command == ".BR":
            result += [link(lines[number - 1])]
        elif command in (".PP", ".br"):
            result += [""]
        elif command.startswith(".") and not command.startswith(".\\"):
            raise ValueError(f"a command of the formatter that the site's tools do not know: {command}")
        else:
            result += [indent + inline(lines[number - 1])]
    return "\n".join(result) + "\n"


def link(line):
    return f":doc:`{plain(line.split()[1])}`"
