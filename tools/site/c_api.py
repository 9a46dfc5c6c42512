# SPDX-License-Identifier: Apache-2.0
"""Makes the page of the C API from include/polykem/polykem.h.

A comment documents the declaration below it or, at the end of a line, the one before it. A comment with an empty line
below it is text of its section; "---- title ----" begins a section. A public declaration without a comment is an error.
"""

import re
import textwrap
from dataclasses import dataclass, field


class Undocumented(Exception):
    """One line for each declaration without a comment."""


@dataclass
class Entry:
    """A declaration, a member of one, or (kind "text" and "section") a comment that stands alone."""

    kind: str
    line: int
    names: list = field(default_factory=list)
    signatures: list = field(default_factory=list)
    text: str = ""
    members: list = field(default_factory=list)


TOKEN = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<hash>^[ \t]*\#(?:[^\n]*\\\n)*[^\n]*)|"
                   r"(?P<space>\s+)|(?P<other>[^\s/\#]+|.)", re.S | re.M)


def comment_text(comment):
    """Returns the lines of a comment without its frame; indentation beyond that of its first line is kept."""
    lines = [re.sub(r"^ *\* ?", "", line) if number else line
             for number, line in enumerate(comment[2:-2].strip().splitlines())]
    return "\n".join(line.rstrip() for line in lines)


def one_line(comment):
    """Returns a comment at the end of a line, which may continue below it, as one line."""
    return re.sub(r"\s+", " ", comment_text(comment))


def pieces(source):
    """Yields ("comment" | "declaration", text, first line, last line); declarations with the comments in them."""
    declaration, begun, depth = "", 0, 0
    for match in TOKEN.finditer(source):
        first = source.count("\n", 0, match.start()) + 1
        last = first + match[0].count("\n")
        if match["hash"]:
            continue
        if match["comment"] and not declaration:
            yield "comment", match[0], first, last
            continue
        if match["space"] and not declaration:
            continue
        declaration, begun = declaration + match[0], begun or first
        depth += match[0].count("{") - match[0].count("}") if not match["comment"] else 0
        if match[0].endswith(";") and depth == 0:
            yield "declaration", declaration, begun, last
            declaration, begun = "", 0


def without_comments(text):
    return re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", " ", text, flags=re.S)).strip()


def members_of(body, first_line, separator):
    """Returns fields or enumerators, each with the comment that begins on its last line."""
    members = []
    for match in re.finditer(rf"(?P<comment>/\*.*?\*/)|(?P<code>[^{separator}/]+){separator}?", body, re.S):
        line = first_line + body.count("\n", 0, match.start())
        if match["comment"]:
            members[-1].text = one_line(match["comment"])
        elif match["code"].strip():
            members.append(Entry("member", line, signatures=[re.sub(r"\s+", " ", match["code"]).strip()]))
    return members


def split_declarators(declaration):
    """Splits "const uint8_t *pk, *sk" into ["const uint8_t *pk", "const uint8_t *sk"]."""
    first, *others = re.split(r"\s*,\s*", declaration)
    base = re.match(r"(.*?)\s*\**\s*\w+(?:\[\d+\])?$", first)[1]
    return [first] + [f"{base} {other}" for other in others]


def compound(text, line):
    """Returns the entry of "typedef struct NAME { ... } NAME;" or of an enum."""
    found = re.match(r"typedef (struct|enum) (\w+) \{(.*)\} (\w+);$", text, re.S)
    kind, name = found[1], found[4]
    body = re.sub(r"\bunion \{|\};", "", found[3])  # a field of an unnamed union is one of the struct's
    entry = Entry(kind, line, [name], [name])
    entry.members = members_of(body, line + text[:found.start(3)].count("\n"), "," if kind == "enum" else ";")
    for member in entry.members:
        if kind == "struct":
            member.signatures = split_declarators(member.signatures[0])
        member.names = [re.search(r"(\w+)(?:\[\d+\])?$", s.split("=")[0].strip())[1] for s in member.signatures]
    return entry


def declaration(text, line):
    plain = without_comments(text)
    if re.match(r"typedef (struct|enum) \w+ \{", text):
        return compound(text, line)
    found = re.match(r"typedef struct (\w+) \1;", plain)
    if found:
        return Entry("struct", line, [found[1]], [found[1]])
    found = re.match(r"typedef (.*\(\*(\w+)\).*);", plain)
    if found:
        return Entry("type", line, [found[2]], [found[1]])
    found = re.match(r"POLYKEM_API (.*?(\w+)\(.*\));", plain)
    if found:
        return Entry("function", line, [found[2]], [found[1]])
    raise ValueError(f"polykem.h:{line}: a declaration that the site's tools do not know: {plain}")


def parse(header):
    """Returns the entries of the header in its order."""
    begin = header.index('extern "C" {')
    source = "\n" * header.count("\n", 0, begin) + header[begin:].split("\n", 1)[1].rsplit("#ifdef __cplusplus", 1)[0]
    entries, waiting, last_line = [Entry("text", 1, text=preamble(header))], None, 0
    for kind, text, first, last in pieces("\n" + source):
        if waiting and (kind == "comment" or first > waiting[1] + 1):
            entries.append(Entry("text", waiting[1], text=waiting[0]))
            waiting = None
        if kind == "declaration":
            entries.append(declaration(text, first))
            entries[-1].text, waiting, last_line = waiting[0] if waiting else "", None, last
        elif re.match(r"/\* -{3,} ", text):
            entries.append(Entry("section", first, text=text.strip("/* -")))
        elif first == last_line:
            entries[-1].text = one_line(text)
        else:
            waiting = comment_text(text), last
    return entries


def preamble(header):
    """Returns the comment at the head of the file, without the name of the file at its beginning."""
    return comment_text(re.search(r"/\* polykem: .*?\*/", header, re.S)[0])


def undocumented(entries):
    return [f"include/polykem/polykem.h:{entry.line}: {entry.names[0]} has no comment"
            for entry in entries if entry.kind not in ("text", "section") and not entry.text]


# ---- reStructuredText -------------------------------------------------------------------------------------

ROLES = {"function": "func", "struct": "struct", "enum": "enum", "type": "type"}


def symbols(entries):
    """Returns {name of a function, type, enumerator or member (TYPE.MEMBER): its role in Sphinx}."""
    found = {}
    for entry in entries:
        for name in entry.names:
            found[name] = ROLES[entry.kind]
        for member in entry.members:
            for name in member.names:
                if entry.kind == "enum":
                    found[name] = "enumerator"
                else:
                    found[f"{entry.names[0]}.{name}"] = "member"
    return found


WORD = re.compile(r"\b(?:polykem|POLYKEM)_\w+(?:\.[a-z]\w+|\*)?|\b[a-zA-Z0-9]+(?:_[a-zA-Z0-9]+)+\b(?:\[\w\])?|"
                  r"\*_?[a-z_]+\b|\b[a-z]+\*")


def inline(text, known):
    """Renders a sentence of a comment: names that the header declares become links, other identifiers code."""
    def word(match):
        name = match[0]
        return f":c:{known[name]}:`{name}`" if name in known else f"``{name}``"

    parts = re.split(r"`([^`]+)`", text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"``{part}``"
            continue
        done, result = 0, ""
        for match in WORD.finditer(part):
            result += escape(part[done:match.start()]) + word(match)
            done = match.end()
            if not re.match(r"[\s.,;:)]|$", part[done:]):
                result += "\\ "  # ends the markup and prints nothing
        parts[number] = result + escape(part[done:])
    return "".join(parts)


def escape(text):
    return re.sub(r"([*_|\\`])", r"\\\1", text)


def paragraphs(text, known):
    """Renders a comment's text: lines with "-" or deeper than the first one are the items of a list."""
    blocks = []  # [is an item, its text]
    for line in text.splitlines():
        deeper = len(line) - len(line.lstrip()) >= 2
        stripped = line.strip()
        if not stripped:
            blocks.append([False, ""])
        elif stripped.startswith("- "):
            blocks.append([True, stripped[2:], "-"])
        elif deeper and not (blocks and len(blocks[-1]) == 3):
            blocks.append([True, stripped])
        elif blocks and blocks[-1][1] and (deeper or not blocks[-1][0]):
            blocks[-1][1] += " " + stripped
        else:
            blocks.append([False, stripped])
    lines = []
    for is_item, content, *_ in blocks:
        if content:
            lines.append(("* " if is_item else "") + inline(content, known))
    return "\n\n".join(lines)


def directive(kind, signatures, body):
    head = f".. c:{kind}:: "
    lines = [head + signatures[0]] + [" " * len(head) + signature for signature in signatures[1:]]
    return "\n".join(lines) + "\n\n" + (textwrap.indent(body, "   ") + "\n\n" if body else "")


def render(entry, known):
    body = paragraphs(entry.text, known)
    if entry.members:
        kind = "enumerator" if entry.kind == "enum" else "member"
        body += "\n\n" + "".join(directive(kind, member.signatures, paragraphs(member.text, known))
                                 for member in entry.members)
    return directive(entry.kind, entry.signatures, body)


def title(text, line):
    return f"{text}\n{line * len(text)}\n\n"


def page(header):
    """Returns the page as reStructuredText."""
    entries = parse(header)
    lacking = undocumented(entries)
    if lacking:
        raise Undocumented("\n".join(lacking))
    known = symbols(entries)
    parts = [title("C API", "="), "``#include <polykem/polykem.h>``\n\n"]
    for number, entry in enumerate(entries):
        if entry.kind == "section":
            parts.append(title(entry.text[0].upper() + entry.text[1:], "-"))
        elif entry.kind == "text":
            parts.append(paragraphs(entry.text, known) + "\n\n")
        else:
            parts.append(render(entry, known))
        if number == 0:
            parts.append(title("Status and version", "-"))
    return "".join(parts)
