#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does what a page tells its readers to do: writes the files it shows, and runs its commands in their order.

    run_docs.py PREFIX PAGE

A block of code is a file if the line before it is "<!-- file: NAME -->", and a command if that is "<!-- run -->". Every
block of C, C++ and CMake must be a file, and every program must be run. ~/polykem is the installed tree at PREFIX.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^(?:<!-- (file: (?P<name>\S+)|run) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S)
CODE = {"c", "cpp", "cmake"}


def main():
    prefix, page = Path(sys.argv[1]), Path(sys.argv[2])
    files, commands = {}, []
    for block in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if block["name"]:
            files[block["name"]] = block["text"]
        elif block[1] == "run":
            commands.append(block["text"])
        elif block["language"] in CODE:
            sys.exit(f"{page}: a block of {block['language']} that is neither compiled nor run:\n{block['text']}")
    for name in files:
        if not name.startswith("CMakeLists") and not any(name in text for text in commands):
            sys.exit(f"{page}: no command uses {name}")
    if not files or not commands:
        sys.exit(f"{page}: nothing to run")
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
