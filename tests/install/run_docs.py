#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what a page tells its readers to do: writes the files it shows, and runs its commands in their order.

    run_docs.py PREFIX PAGE
    run_docs.py --print PAGE       its commands, those in a clone first: clone_pages.sh runs them

A block of code is a file if the line before it is "<!-- file: NAME -->", and commands if that is "<!-- run -->";
~/polykem is the installed tree at PREFIX. "<!-- run: clone -->" marks commands in a clone, which take long: all that is
checked of them is that the Makefile has their targets, and tools/ their scripts. Every block of C, C++, CMake and sh
must be one of these, and every program must be run.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^(?:<!-- (?P<mark>file: \S+|run|run: clone) -->\n)?"
                   r"```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
CODE = {"c", "cpp", "cmake", "sh"}


def blocks(page):
    """Returns a page's files by name, and its commands by mark."""
    files, commands = {}, {"run": [], "run: clone": []}
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        mark = block["mark"]
        if mark in commands:
            commands[mark].append(block["text"])
        elif mark:
            files[mark.removeprefix("file: ")] = block["text"]
        elif block["language"] in CODE:
            sys.exit(f"{page}: a block of {block['language']} that is neither compiled nor run:\n{block['text']}")
    if not any(commands.values()):
        sys.exit(f"{page}: nothing to run")
    return files, commands["run"], commands["run: clone"]


def check_targets(commands):
    for line in "".join(commands).splitlines():
        if line.startswith("make "):
            subprocess.run(["bash", "-c", f"{line.split('#')[0]} -n"], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
        elif line.startswith("tools/") and not (ROOT / line.split()[0]).exists():
            sys.exit(f"there is no {line.split()[0]}")


def main():
    prefix, page = Path(sys.argv[1]), Path(sys.argv[2])
    files, commands, in_clone = blocks(page)
    if sys.argv[1] == "--print":
        print("".join(in_clone + commands), end="")
        return
    for name in files:
        if not name.startswith("CMakeLists") and not any(name in text for text in commands):
            sys.exit(f"{page}: no command uses {name}")
    check_targets(in_clone)
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "polykem").symlink_to(prefix)
        for name, text in files.items():
            (Path(home) / name).write_text(text, encoding="utf-8")
        strict = "-Wall -Wextra -Werror"
        environment = {**os.environ, "HOME": home, "CFLAGS": strict, "CXXFLAGS": strict}
        for unwanted in ("PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH"):
            environment.pop(unwanted, None)
        script = "set -euxo pipefail\n" + "".join(commands)
        subprocess.run(["bash", "-c", script], cwd=home, env=environment, check=True)


if __name__ == "__main__":
    main()
