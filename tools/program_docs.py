#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the man pages (docs/man) and the shell completion (docs/completion) from `polykem help --json`, and the page
of polykemd, which lies beside that program, from `polykemd help --json`.

    tools/program_docs.py [--check] [--program build/bin/polykem]

They are committed, so that installing polykem needs no Python. With --check nothing is written, and the exit status is
1 if one of them is out of date. Exit codes come from docs/exit_codes.md.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from completion import bash, fish, walk, zsh

ROOT = Path(__file__).resolve().parent.parent
MANY_VALUES = 8  # longer lists of values are left to `polykem list`
ENVIRONMENT = [
    ("POLYKEM_BACKEND", "The backend to use where --backend does not name one."),
    ("POLYKEM_CUDA_MODULE", "Path of the CUDA module; empty: no GPU is used."),
    ("POLYKEM_RTL_MODULE", "Path of the simulated hardware core; empty: none is used."),
    ("POLYKEM_RTL_UIO", "A board's devices, CORE,DMA,BUFFER; several cores are separated by ';'."),
    ("XDG_CACHE_HOME", "Where doctor --tune keeps its measurements, in polykem/crossover; ~/.cache if unset."),
]
DAEMON_ENVIRONMENT = [
    ("LISTEN_FDS, LISTEN_PID", "Set by systemd: the socket that it has opened."),
    ("NOTIFY_SOCKET", "Set by systemd: where to report that the daemon is ready, reads its configuration, or ends."),
    ("WATCHDOG_USEC, WATCHDOG_PID", "Set by systemd: how often to report that the daemon serves."),
    ("JOURNAL_STREAM", "Set by systemd: whether standard error goes to the journal."),
    ("RUNTIME_DIRECTORY", "Set by systemd: where to make the socket unless told otherwise."),
    *ENVIRONMENT,
]


def roff(text):
    """Returns the text escaped, so that nothing in it is a command of the formatter."""
    special = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
    return re.sub(r"^(?=\.)", r"\\&", "".join(special.get(c, c) for c in text), flags=re.M)


def man_name(command):
    return command["usage"].replace(" ", "-")


def man_option(option):
    names = ", ".join(f"\\fB{roff(name)}\\fR" for name in option["names"])
    argument = f" \\fI{roff(option['argument'])}\\fR" if option["argument"] and option["names"][0][0] == "-" else ""
    text = roff(option["description"])
    if option["values"] and len(option["values"]) <= MANY_VALUES and "|" not in (option["argument"] or ""):
        missing = [v for v in option["values"] if v not in option["description"]]
        if missing:
            text += ("" if text.endswith(".") else ".") + f"\nValues: {', '.join(map(roff, option['values']))}."
    return f".TP\n{names}{argument}\n{text}\n"


def synopsis(command):
    words = []
    for option in command["options"]:
        if option["required"]:
            words.append(f"\\fB{roff(option['names'][-1])}\\fR \\fI{roff(option['argument'])}\\fR")
    words.append("[\\fIoptions\\fR]")
    for positional in command["positionals"]:
        name = f"\\fI{roff(positional['names'][0])}\\fR" + (" ..." if positional["repeats"] else "")
        words.append(name if positional["required"] else f"[{name}]")
    if command["commands"]:
        words.append("[\\fIcommand\\fR]")
    return f".B {roff(command['usage'])}\n" + " ".join(words) + "\n"


def exit_codes():
    table = (ROOT / "docs/exit_codes.md").read_text(encoding="utf-8")
    return "".join(f".TP\n.B {code}\n{roff(meaning.strip())}\n"
                   for code, meaning in re.findall(r"^\| (\d+) \| ([^|]*)\|", table, re.M))


def man_page(command, version, parent, section=1, environment=ENVIRONMENT):
    what = command["description"].removeprefix(command["usage"] + ": ")
    parts = [f'.\\" SPDX-License-Identifier: Apache-2.0\n.\\" Written by tools/program_docs.py.\n'
             f'.TH {roff(man_name(command)).upper()} {section} "" "polykem {version}" "polykem"\n',
             f".SH NAME\n{roff(man_name(command))} \\- {roff(what.rstrip('.'))}\n",
             ".SH SYNOPSIS\n" + synopsis(command)]
    if command["notes"].strip():
        parts.append(".SH DESCRIPTION\n" + roff(command["notes"].strip()).replace("\n\n", "\n.PP\n") + "\n")
    if command["commands"]:
        parts.append(".SH COMMANDS\n" + "".join(
            f".TP\n.BR {roff(man_name(c))} (1)\n{roff(c['description'])}\n" for c in command["commands"]))
    parts.append(".SH OPTIONS\n" + "".join(map(man_option, command["options"] + command["positionals"])))
    if command["examples"]:
        parts.append(".SH EXAMPLES\n" + ".PP\n".join(
            f".B {roff(e['command'])}\n" + (f".br\n{roff(e['description'])}\n" if e["description"] else "")
            for e in command["examples"]))
    if parent is None:
        parts.append(".SH EXIT STATUS\n" + exit_codes())
        parts.append(".SH ENVIRONMENT\n" + "".join(f".TP\n.B {n}\n{roff(text)}\n" for n, text in environment))
    else:
        parts.append(f".SH SEE ALSO\n.BR {roff(man_name(parent))} (1)\n")
    return "".join(parts)


def tree_of(program):
    """Returns the tree of a program's commands and options."""
    listed = subprocess.run([program, "help", "--json"], capture_output=True, text=True, check=True)
    return json.loads(listed.stdout)


def fresh_files(tree, daemon):
    yield "docs/man/polykemd.8", man_page(daemon["program"], daemon["version"], None, 8, DAEMON_ENVIRONMENT)
    parents = {child["usage"]: command for command in walk(tree["program"]) for child in command["commands"]}
    for command in walk(tree["program"]):
        yield (f"docs/man/{man_name(command)}.1",
               man_page(command, tree["version"], parents.get(command["usage"])))
    yield "docs/completion/polykem.bash", bash(tree["program"])
    yield "docs/completion/_polykem", zsh(tree["program"])
    yield "docs/completion/polykem.fish", fish(tree["program"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is out of date")
    parser.add_argument("--program", default=ROOT / "build/bin/polykem", help="the program to ask")
    arguments = parser.parse_args()
    daemon = Path(arguments.program).parent / "polykemd"
    fresh = dict(fresh_files(tree_of(arguments.program), tree_of(daemon)))
    there = {path.relative_to(ROOT).as_posix() for folder in ("docs/man", "docs/completion")
             for path in (ROOT / folder).glob("*")}
    stale = sorted(there - set(fresh))
    for name, text in fresh.items():
        if name not in there or (ROOT / name).read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"{name}: " + ("not what the program says; run `make program-docs`" if arguments.check else "written"))
        if not arguments.check:
            (ROOT / name).parent.mkdir(exist_ok=True)
            (ROOT / name).write_text(fresh[name], encoding="utf-8") if name in fresh else (ROOT / name).unlink()
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
