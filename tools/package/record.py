#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Notes the commit and the tools that a package was built with; tools/package/release_files.py publishes the notes.

    tools/package/record.py FILE...      each has just been built from the commit that is checked out

The note of dist/NAME is dist/.records/NAME.json.
"""

import dataclasses
import hashlib
import json
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TOOLS = ("cc", "c++", "cmake", "ld")


@dataclasses.dataclass(frozen=True)
class Commit:
    name: str
    seconds: int  # its date in seconds since 1970: SOURCE_DATE_EPOCH


@dataclasses.dataclass(frozen=True)
class Part:
    """Software of others in a package."""
    name: str
    version: str
    licence: str
    origin: str


def output_of(*command):
    return subprocess.run([str(word) for word in command], check=True, text=True, capture_output=True).stdout.strip()


def commit_of(root):
    name, seconds = output_of("git", "-C", str(root), "log", "-1", "--format=%H %ct").split()
    return Commit(name, int(seconds))


def version():
    return re.search(r"^project\(polykem VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def tools():
    found = {name: output_of(name, "--version").splitlines()[0] for name in TOOLS}
    system = platform.freedesktop_os_release()
    return {**found, "glibc": platform.libc_ver()[1], "system": system.get("PRETTY_NAME", system["NAME"])}


def place(file):
    return file.parent / ".records" / f"{file.name}.json"


def write(file, commit, parts, used=None):
    """Writes the note of a package. `used`: the tools it was built with, by name; None: those installed here."""
    note = {"file": file.name, "sha256": digest(file), "version": version(), "commit": commit.name,
            "source_date_epoch": commit.seconds, "tools": used or tools(),
            "parts": [dataclasses.asdict(part) for part in parts]}
    place(file).parent.mkdir(exist_ok=True)
    place(file).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")


def read(file):
    return json.loads(place(file).read_text(encoding="utf-8")) if place(file).exists() else None


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        write(Path(name), commit_of(ROOT), [])


if __name__ == "__main__":
    main()
