# SPDX-License-Identifier: Apache-2.0
"""Reads VCD files that sim/simulation.cpp writes, in which a cycle takes ten units of time."""

import pathlib
import re

CYCLE = 10
SOURCES = pathlib.Path(__file__).resolve().parents[1] / "rtl"


def declarations(file):
    """Returns {name with its scopes: (identifier, bits, name as the file writes it)} from the file's head."""
    found, scopes = {}, []
    with file.open() as lines:
        for line in lines:
            words = line.split()
            if words[:1] == ["$scope"]:
                scopes.append(words[2])
            elif words[:1] == ["$upscope"]:
                scopes.pop()
            elif words[:1] == ["$var"]:
                found[".".join([*scopes, words[4]])] = words[3], int(words[2]), "".join(words[4:-1])
            elif words[:1] == ["$enddefinitions"]:
                break
    return found


def find(declared, name):
    """Returns the full name of a signal. name: from polykem_top on; scopes of generate loops may be left out."""
    pattern = re.compile(r"(.*\.)?" + r"\.(gen_\w+(\[0\])?\.)?".join(map(re.escape, name.split("."))))
    full = [one for one in declared if pattern.fullmatch(one)]
    if not full:
        raise SystemExit(f"the trace has no signal {name}: it was renamed, so hw/trace must say its new name")
    return min(full, key=len)


def read(file, names):
    """Returns {name: its value in every cycle}, as it is just before the clock rises."""
    declared = declarations(file)
    by_id = {}
    for name in names:
        by_id.setdefault(declared[find(declared, name)][0], []).append(name)
    now, out = dict.fromkeys(names, 0), {name: [] for name in names}
    time = None
    with file.open() as lines:
        for line in lines:
            if line[0] == "#":
                if time is not None and time % CYCLE == 0:
                    for name, values in out.items():
                        values.append(now[name])
                time = int(line[1:])
            elif line[0] in "01xz":
                for name in by_id.get(line[1:].rstrip(), ()):
                    now[name] = int(line[0] == "1")
            elif line[0] == "b":
                digits, identifier = line[1:].split()
                for name in by_id.get(identifier, ()):
                    now[name] = int(re.sub("[xz]", "0", digits), 2)
    return out


def enumerators(source, kind):
    """Returns {value: enumerator} of an enumerated type in a file below rtl/."""
    text = re.sub(r"//.*", "", (SOURCES / source).read_text())
    match = re.search(r"typedef enum [^{}]*\{([^}]*)\}\s*" + kind + ";", text)
    if not match:
        raise SystemExit(f"{source} has no enumerated type {kind}")
    named = [[word.strip() for word in item.split("=")] for item in match[1].split(",")]
    return {int(value[0].partition("'b")[2], 2) if value else place: name
            for place, (name, *value) in enumerate(named)}
