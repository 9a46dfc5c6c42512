#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks the shells for completions, and checks the man pages with the formatters.

    program_docs_test.py PROGRAM bash|zsh|fish|man

Every command and every option of `polykem help --json` must be offered at its place, and so must the values of an
argument.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"

# The last word of the line is the one to complete. The answers come as lines.
BASH = """source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _polykem; printf '%s\\n' "${COMPREPLY[@]}" """
FISH = """source $argv[1]; complete -C "$argv[2]" """
# _arguments belongs to zsh's completion system, which needs a terminal: what it would be given is printed.
ZSH = """_arguments() { printf '%s\\n' "$@" }; script=$1; shift; words=("$@"); CURRENT=$#; source $script"""


def walk(command):
    yield command
    for child in command["commands"]:
        yield from walk(child)


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1) or done.stderr:
        sys.exit(f"{command[0]} says: {done.stderr or done.returncode}")
    return done.stdout.splitlines()


def offered(shell, *words):
    """Returns the completions of the last word."""
    if shell == "bash":
        return set(output("bash", "-c", BASH, DOCS / "completion/polykem.bash", *words))
    if shell == "fish":
        lines = output("fish", "--no-config", "-c", FISH, DOCS / "completion/polykem.fish", " ".join(words))
        return {line.split("\t")[0] for line in lines}
    return output("zsh", "-f", "-c", ZSH, "zsh", DOCS / "completion/_polykem", *words)


def expect(shell, wanted, *words):
    found = offered(shell, *words)
    if shell == "zsh":
        missing = [w for w in wanted if not any(w in line for line in found)]
    else:
        missing = sorted(set(wanted) - found)
    if missing:
        sys.exit(f"{shell} does not offer {missing} after '{' '.join(words)}' but {sorted(found)[:20]}")
    return len(wanted)


def check_shell(shell, program):
    count = 0
    for command in walk(program):
        words = command["usage"].split()
        count += expect(shell, [c["name"] for c in command["commands"]], *words, "")
        count += expect(shell, [n for o in command["options"] for n in o["names"] if n.startswith("--")], *words, "--")
        for option in command["options"]:
            if option["values"] and shell != "zsh":
                count += expect(shell, option["values"], *words, option["names"][-1], "")
            elif option["values"]:
                count += expect(shell, [" ".join(option["values"])], *words, "--")
    if shell == "bash":
        count += expect(shell, ["mlkem512,kyber768"], "polykem", "bench", "--scheme", "mlkem512,kyber7")
    print(f"{shell}: {count} completions")


def check_man():
    pages = sorted((DOCS / "man").glob("*.[18]"))
    for page in pages:
        for tool in (["groff", "-ww", "-man", "-Tutf8", "-z"], ["mandoc", "-T", "lint", "-W", "error"]):
            if shutil.which(tool[0]) is None:
                sys.exit(f"{tool[0]} is not here; install it and try again: sudo apt-get install -y {tool[0]}")
            said = subprocess.run([*tool, page], capture_output=True, text=True)
            if said.returncode or said.stdout or said.stderr:
                sys.exit(f"{tool[0]}: {page.name}: {said.stdout}{said.stderr}")
    print(f"{len(pages)} man pages")


def main():
    program, what = sys.argv[1:]
    if what == "man":
        check_man()
        return
    if shutil.which(what) is None:
        sys.exit(f"{what} is not here; install it and try again: sudo apt-get install -y {what}")
    tree = subprocess.run([program, "help", "--json"], capture_output=True, text=True, check=True).stdout
    check_shell(what, json.loads(tree)["program"])


if __name__ == "__main__":
    main()
