#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks rules that no compiler checks. Prints file:line: rule, and exits with 1 if any is broken.

    tools/lint.py [FILE...]           without arguments: every file that git knows of
    tools/lint.py --links FOLDER      only the links of the Markdown files below

Rules: a licence line in every source; citations whose key BIBLIOGRAPHY.yml has; constants that follow from the
formula in their "check-magic:" comment; functions of at most 80 lines; lines of at most 120 columns; notes of
unfinished work that name an issue; links of Markdown files that lead somewhere, headings included; pages under docs/
that exist where they are named; includes that follow the arrows of ARCHITECTURE.md, without cycles; commits of this
history where results and Markdown files name commits; commits beside a result that are the result's own; results that
say which command repeats them; jobs of .github/workflows that are targets of the Makefile or phases of its target
test-full; files and commands in tables of evidence that exist (tools/evidence.py); files that declassify values in the
table of docs/side_channels.md.
"""

import ast
import bisect
import functools
import graphlib
import itertools
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import evidence

ROOT = Path(__file__).resolve().parent.parent
CODE = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"}
SOURCE = CODE | {".py", ".sh", ".cmake", ".yml", ".sv"}
MAX_FUNCTION_LINES = 80
MAX_COLUMNS = 120
MAX_PROSE = 140

# folder -> folders whose headers it may include. They form no cycle: above includes below, never the other way round.
ARROWS = {
    "src/core": {"src/core"},
    "src/ct": {"src/ct", "src/core"},
    "src/prim": {"src/prim", "src/ct", "src/core"},
    "src/tuning": {"src/tuning", "src/core"},
    "src/schemes": {"src/schemes", "src/tuning", "src/prim", "src/ct", "src/core"},
    "src/embedded": {"src/embedded", "src/schemes", "src/prim", "src/ct", "src/core", "include"},
    "embedded": {"embedded", "include"},
    "src/accelerators/cuda/module": {"src/accelerators/cuda/module", "src/schemes", "src/prim", "src/ct", "src/core"},
    "src/accelerators/cuda": {"src/accelerators/cuda", "src/accelerators/cuda/module", "src/engine", "src/schemes",
                              "src/prim", "src/core"},
    "src/accelerators/rtl/driver": {"src/accelerators/rtl/driver", "src/core"},
    "src/accelerators/rtl/module": {"src/accelerators/rtl/module", "src/accelerators/rtl/driver", "src/core"},
    "src/accelerators/rtl": {"src/accelerators/rtl", "src/accelerators/rtl/driver", "src/engine", "src/schemes",
                             "src/prim", "src/core"},
    "src/accelerators": {"src/accelerators/cuda", "src/accelerators/rtl", "src/engine"},
    "src/engine": {"src/engine", "src/schemes", "src/prim", "src/ct", "src/core"},
    "src/capi": {"src/capi", "src/broker", "src/engine", "src/schemes", "src/ct", "src/core", "include"},
    "formats": {"formats", "include"},
    "hpke": {"hpke", "include"},
    "cli": {"cli", "formats", "include", "bench/frodo_scaling"},
    "src/broker": {"src/broker", "src/engine", "src/schemes", "src/core"},
    "python": {"python", "hpke", "include"},
    "provider": {"provider", "formats", "include"},
    "examples": {"include"},
    "include": {"include"},
    "ckks/src": {"ckks/src", "ckks/include"},
    "ckks/openfhe": {"ckks/openfhe", "ckks/include", "ckks/src"},
    "ckks/python": {"ckks/python", "ckks/openfhe", "ckks/include", "python"},
    "ckks/examples": {"ckks/include"},
    "ckks/include": {"ckks/include"},
    "ckks/tests": {"ckks/tests", "ckks/openfhe", "ckks/src", "ckks/include", "tests", "tests/support", "src/core",
                   "src/ct"},
    "ckks/bench": {"ckks/bench", "ckks/tests", "ckks/src", "ckks/include", "research/lab"},
    "bench": {"bench", "bench/cuda", "src/engine", "src/schemes", "src/prim", "src/core", "include"},
    "bench/cuda": {"bench/cuda", "src/accelerators/cuda", "src/accelerators/cuda/module", "src/engine", "src/schemes",
                   "src/core", "include"},
    "bench/frodo_scaling": {"bench/frodo_scaling", "src/schemes", "src/core"},
    "bench/hpke": {"bench/hpke", "hpke"},
    "bench/hybrids": {"bench/hybrids", "include"},
    "bench/m4": {"bench/m4", "embedded", "include"},
    "research": {"research", "bench/cuda", "bench/frodo_scaling", "src/accelerators/cuda", "src/schemes", "src/prim",
                 "src/core", "include"},
    "research/lab": {"research/lab", "src/schemes", "src/prim", "src/core"},
    "tests": {"tests", "tests/support", "cli", "formats", "hpke", "python", "src/broker", "src/engine",
              "src/accelerators/cuda", "src/accelerators/cuda/module", "src/accelerators/rtl",
              "src/accelerators/rtl/driver", "src/schemes", "src/prim", "src/ct", "src/core", "include"},
    "tests/support": {"tests/support", "cli", "src/engine", "src/core", "include"},
    "tests/ct": {"tests/ct", "tests/support", "hpke", "src/engine", "include"},
    "tests/embedded": {"tests/embedded", "embedded", "src/schemes", "src/prim", "include"},
    "tests/formats": {"tests/formats", "formats", "include"},
    "tests/hpke": {"tests/hpke", "tests/support", "hpke"},
    "tests/provider": {"tests/provider", "include"},
}
# All of the library that CKKS uses: headers by the names that they are included by.
CKKS_USES = {line for line in (ROOT / "ckks/uses.txt").read_text().splitlines() if not line.startswith("#")}
# All that the host side may know of the module, which it loads at run time.
MODULE_ABI = ("src/accelerators/cuda/module/module.hpp", "src/accelerators/cuda/module/interface_hash.hpp")
# The libraries depend on the C and C++ run time and on nothing else.
DEPEND_ON_NOTHING = ("src", "include", "formats", "embedded", "ckks/src", "ckks/include")
FOREIGN = re.compile(r"^(CLI|fmt|spdlog|nlohmann|asio|openssl|zlib|gtest|gmock|benchmark|boost)\b")


def tracked_files():
    out = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line for line in out.splitlines() if (ROOT / line).is_file()]


def symbolic_links():
    """Returns the names of tracked links: where they lead is seldom in the tree."""
    return [line.partition("\t")[2] for line in subprocess.run(
        ["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        if line.startswith("120000 ")]


def bibliography():
    return set(re.findall(r"^([A-Z][A-Z0-9]+):", (ROOT / "BIBLIOGRAPHY.yml").read_text(), re.M))


def relative(path):
    return path.relative_to(ROOT).as_posix()


def check_licence(path, lines):
    named = path.name in {"CMakeLists.txt", "Makefile", ".clang-format", ".clang-tidy"}
    licensed = any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:3])
    if (path.suffix in SOURCE or named) and not licensed:
        yield 1, "the first lines lack 'SPDX-License-Identifier: Apache-2.0'"


CITATION = re.compile(r"(?<![\w)\]])\[([A-Z]{2,}[0-9]+[A-Z]?)(?:,[^\]]*)?\]")


def check_citations(path, lines, keys):
    for number, line in enumerate(lines, 1):
        for key in CITATION.findall(line):
            if key not in keys:
                yield number, f"[{key}] is not in BIBLIOGRAPHY.yml"


def evaluate(node):
    """Returns the exact value of an arithmetic expression of numbers."""
    functions = {"round": round, "ceil": math.ceil, "floor": math.floor, "log2": lambda x: x.numerator.bit_length() - 1}
    operators = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
                 ast.Div: lambda a, b: a / b, ast.Mod: lambda a, b: a % b, ast.Pow: lambda a, b: a ** int(b)}
    if isinstance(node, ast.Expression):
        return evaluate(node.body)
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in operators:
        return operators[type(node.op)](evaluate(node.left), evaluate(node.right))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -evaluate(node.operand)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        return Fraction(functions[node.func.id](*[evaluate(argument) for argument in node.args]))
    raise ValueError("only numbers, + - * / % ^ and round, ceil, floor, log2")


def check_magic(path, lines):
    for number, line in enumerate(lines, 1):
        found = re.search(r"(?://|/\*).*check-magic: *([^=]+)==(.*)", line)
        if not found:
            continue
        right = found[2].split("*/")[0].strip()
        while right.count(")") > right.count("("):
            right = right[:right.rindex(")")].rstrip()
        try:
            sides = [evaluate(ast.parse(side.strip().replace("^", "**"), mode="eval")) for side in (found[1], right)]
        except (ValueError, SyntaxError) as error:
            yield number, f"check-magic cannot be read: {error}"
            continue
        if sides[0] != sides[1]:
            yield number, f"check-magic: {found[1].strip()} is not {right}, that is {sides[1]}"


def strip_code(line):
    """Returns the line without string contents and line comments, so that braces in them do not count."""
    line = re.sub(r'"(\\.|[^"\\])*"', '""', line)
    line = re.sub(r"'(\\.|[^'\\])'", "''", line)
    return line.split("//")[0]


OPENS_SCOPE = re.compile(r"^\s*(inline )?(namespace|struct|class|enum|union|extern)\b")


def check_function_length(path, lines):
    """Checks functions, that is, outermost pairs of braces that are no namespace, type or table."""
    depth, scopes, start, head = 0, 0, None, ""
    for number, raw in enumerate(lines, 1):
        line = strip_code(raw)
        for position, char in enumerate(line):
            if char == "{":
                text = (head + line[:position]).strip()
                last = text.split(";")[-1].lstrip("}").strip()
                if start is None and OPENS_SCOPE.match(last) and "(" not in text:
                    scopes += 1
                elif start is None and depth == scopes:
                    start = (number, ")" in text)
                depth += 1
                head = ""
            elif char == "}":
                depth -= 1
                if start is not None and depth == scopes:
                    if start[1] and number - start[0] + 1 > MAX_FUNCTION_LINES:
                        yield start[0], f"a function of {number - start[0] + 1} lines ({MAX_FUNCTION_LINES} at most)"
                    start = None
                elif start is None and depth < scopes:
                    scopes = depth
        stripped = line.strip()
        if stripped.endswith((";", "}", "{")) or stripped.startswith("#") or not stripped:
            head = ""
        else:
            head += stripped + " "


def check_text(path, lines):
    note = re.compile(r"\b(TO" r"DO|FIX" r"ME|X{3})\b(?!\(#\d+\))")
    for number, line in enumerate(lines, 1):
        if note.search(line):
            yield number, "a note without an issue; write TODO(#123), or do it"
        if path.suffix in SOURCE and len(line) > MAX_COLUMNS:
            yield number, f"{len(line)} columns ({MAX_COLUMNS} at most)"
        if path.suffix == ".md" and len(line) > MAX_PROSE and not line.startswith("|"):
            yield number, f"{len(line)} columns ({MAX_PROSE} at most, but for tables)"
        if line != line.rstrip():
            yield number, "white space at the end of the line"


def anchors(path):
    """Returns the anchors of a page, its headings as the usual hosts spell them."""
    found, fenced = set(), False
    for line in path.read_text(encoding="utf-8").splitlines():
        fenced ^= line.startswith("```")
        heading = re.match(r"#+ +(.*)", line)
        if heading and not fenced:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
            found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


def check_links(path, lines):
    for number, line in enumerate(lines, 1):
        for target in re.findall(r"\]\(([^)\s]+)[^)]*\)", line):
            if "://" in target or target.startswith("mailto:"):
                continue
            file, _, anchor = target.partition("#")
            page = path.parent / file if file else path
            if not page.exists():
                yield number, f"the link {target} leads nowhere"
            elif anchor and page.suffix == ".md" and anchor not in anchors(page):
                yield number, f"the link {target} leads to a page without that heading"


def check_named_pages(path, lines):
    for number, line in enumerate(lines, 1):
        for name in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.md\b", line):
            if not (ROOT / name).exists():
                yield number, f"there is no {name}"


def folder_of(name):
    for folder in sorted(ARROWS, key=len, reverse=True):
        if name.startswith(folder + "/"):
            return folder
    return None


# Where the compiler looks for headers; below the first of them also for those in angle brackets.
SEARCHED = ("include", "ckks/include", "src", "", "bench", "research", "tests", "cli", "ckks/src", "ckks", "embedded")
IN_BRACKETS = SEARCHED[:4]


def included(path, folder, header, quoted):
    """Returns the file that an #include names, from the root of this repository; None if it is not here."""
    beside = [path.parent, ROOT / folder] if quoted else []
    for place in beside + [ROOT / name for name in (SEARCHED if quoted else IN_BRACKETS)]:
        if (place / header).exists() or (place / (header + ".in")).exists():
            return relative((place / header).resolve())
    return None


def check_arrows(path, lines):
    folder = folder_of(relative(path))
    if folder is None or path.suffix not in CODE:
        return
    for number, line in enumerate(lines, 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^">]+)[>"]', line)
        if not found:
            continue
        quoted, header = found[1] == '"', found[2]
        file = included(path, folder, header, quoted)
        if file is None and not quoted:
            if folder.startswith(DEPEND_ON_NOTHING) and FOREIGN.match(header):
                yield number, f"the library must not depend on <{header}>"
            continue
        target = folder_of(file or "")
        beyond_abi = folder == "src/accelerators/cuda" and target == folder + "/module" and file not in MODULE_ABI
        used = folder in ("ckks/src", "ckks/openfhe") and header in CKKS_USES
        if (target not in ARROWS[folder] and not used) or beyond_abi:
            yield number, f"{folder} must not include {header}"


def makefile_targets():
    return set(re.findall(r"^([a-z0-9-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))


def phases_of(target):
    """Returns the phases that a target of the Makefile passes to tools/test.sh."""
    recipe = re.search(rf"^{target}:.*\n((?:\t.*\n)*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)[1]
    return set(re.search(r"tools/test\.sh (.*)", recipe)[1].split())


def check_jobs(path, lines):
    """Checks that every entry of a matrix `target: [...]` is a target that `make help` lists, and that a matrix
    `phase: [...]` has the phases of test-full that neither `make test` nor one of these targets runs."""
    matrices = {key: (number, set(values.split(", "))) for number, line in enumerate(lines, 1)
                for key, values in re.findall(r"^\s*(target|phase): \[(.*)\]", line)}
    number, targets = matrices.get("target", (0, set()))
    for target in sorted(targets - makefile_targets()):
        yield number, f"the Makefile has no target '{target}'"
    if "phase" in matrices:
        number, phases = matrices["phase"]
        expected = phases_of("test-full") - phases_of("test") - targets
        for phase in sorted(phases ^ expected):
            yield number, f"the phase '{phase}' is " + ("missing" if phase in expected else "not one of test-full's")


def check_declassified(lines):
    """Checks that the page lists the files in src whose values become public for the constant-time check."""
    files = set(git("grep", "-l", "ct::declassify(", "--", "src"))
    listed = {"src/" + name: number for number, line in enumerate(lines, 1) if line.startswith("| `")
              for name in re.findall(r"`([\w/]+\.[ch]pp)`", line.split("|")[1])}
    for name in sorted(files - listed.keys()):
        yield 1, f"{name} declassifies a value that the table does not have"
    for name in sorted(listed.keys() - files):
        yield listed[name], f"{name} declassifies nothing"


def check(path, keys):
    lines = path.read_text(encoding="utf-8").splitlines()
    yield from check_licence(path, lines)
    yield from check_text(path, lines)
    yield from check_named_pages(path, lines)
    if path.suffix in CODE:
        yield from check_citations(path, lines, keys)
        yield from check_magic(path, lines)
        yield from check_function_length(path, lines)
        yield from check_arrows(path, lines)
    if path.suffix == ".yml" and path.parent.name == "workflows":
        yield from check_jobs(path, lines)
    if relative(path) == "docs/side_channels.md":
        yield from check_declassified(lines)
    if path.suffix == ".md":
        yield from check_citations(path, lines, keys)
        yield from check_links(path, lines)
        yield from check_commits(path, lines)
        yield from check_results(path, lines)
        yield from evidence.findings(lines, makefile_targets())


def cycle_of(arrows):
    """Returns folders that include each other in a cycle, the first also at the end; an empty list without a cycle."""
    try:
        graphlib.TopologicalSorter({folder: used - {folder} for folder, used in arrows.items()}).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def unused_by_ckks(paths):
    """Returns the lines of ckks/uses.txt that no source of CKKS includes."""
    text = "".join(path.read_text(encoding="utf-8") for path in paths
                   if path.suffix in CODE and relative(path).startswith(("ckks/src/", "ckks/openfhe/")))
    return sorted(header for header in CKKS_USES if f'#include "{header}"' not in text)


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout.split()


@functools.cache
def history():
    """Returns the commits of all branches, sorted; none in a shallow clone."""
    return sorted(git("rev-list", "--all")) if git("rev-parse", "--is-shallow-repository") == ["false"] else []


def has_commit(prefix):
    at = bisect.bisect_left(history(), prefix)
    return at < len(history()) and history()[at].startswith(prefix)


COMMIT = re.compile(r"(?<![\w./@])(?:(?<=commit )[0-9]{7,40}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})(?![\w-])")


def check_commits(path, lines):
    """Checks the commits that a page names. One of another repository stands on a line with github.com/OWNER/NAME."""
    fenced = False
    for number, line in enumerate(lines if history() else [], 1):
        fenced ^= line.startswith("```")
        if fenced or "github.com/" in line:
            continue
        for commit in COMMIT.findall(line):
            if not has_commit(commit):
                yield number, f"{commit} is not a commit of this history"


KEPT_RESULTS = re.compile(r"((?:`\w+\.json`(?:, | and )?)+) in ([0-9a-f]{7,40})\b")


def results_named(path, text):
    """Yields names and contents of the results to which a paragraph links, or which it names by a commit."""
    for target in re.findall(r"\]\(([^)]*\bresults/\w+\.json)\)", text):
        if (path.parent / target).exists():
            yield target, (path.parent / target).read_text(encoding="utf-8")
    for names, commit in KEPT_RESULTS.findall(text):
        for name in re.findall(r"\w+\.json", names):
            yield f"{name} in {commit}", " ".join(git("show", f"{commit}:bench/results/{name}"))


def check_results(path, lines):
    """Checks that a paragraph which names commits names those of its results too; records of decisions always must."""
    always = relative(path).startswith("docs/adr/")
    numbered = enumerate(lines if history() else [], 1)
    for _, group in itertools.groupby(numbered, key=lambda line: bool(line[1].strip())):
        numbers, text = zip(*group)
        named = COMMIT.findall(" ".join(text))
        for name, content in results_named(path, " ".join(text)) if named or always else ():
            measured = re.findall(r'"(?:commit|recorded_in)": "([0-9a-f]{7,40})', content)
            if not any(one.startswith(other) or other.startswith(one) for one in measured for other in named):
                yield numbers[0], f"{name} is of {' and '.join(measured) or 'no commit'}, which is not named beside it"


def results_without_commit():
    """Returns the files of results that name no commit of this history, as `commit` or, where that was not noted, as
    `recorded_in`, the commit that added the figures."""
    if not history():
        return []
    return [name for name in results() if not any(map(has_commit, re.findall(
        r'"(?:commit|recorded_in)": "([0-9a-f]{7,40})"', (ROOT / name).read_text())))]


def results():
    return git("ls-files", "bench/results/*.json", "ckks/bench/results/*.json", "hw/synth/software.json")


def results_without_command():
    """Returns the files of results that do not say how to repeat them."""
    return [name for name in results() if not re.search(r'"command": "[^"]', (ROOT / name).read_text())]


def check_links_below(folder):
    broken = [f"{path}:{line}: {message}" for path in sorted(folder.rglob("*.md"))
              for line, message in check_links(path, path.read_text(encoding="utf-8").splitlines())]
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


def main():
    if sys.argv[1:2] == ["--links"]:
        return check_links_below(Path(sys.argv[2]))
    paths = [Path(argument).resolve() for argument in sys.argv[1:]] or tracked_files()
    keys = bibliography()
    skipped = {".json", ".gz", ".bin", ".der", ".pem", ".rsp", ".svg", ".png", ".xml", ""}
    named = {"Makefile", "run", ".clang-format", ".clang-tidy"}
    count = broken = 0
    for path in paths:
        if path.suffix in skipped and path.name not in named:
            continue
        count += 1
        for line, message in check(path, keys):
            broken += 1
            print(f"{relative(path)}:{line}: {message}")
    if cycle := cycle_of(ARROWS):
        broken += 1
        print(f"tools/lint.py: ARROWS has a cycle, {' <- '.join(cycle)}")
    for header in [] if sys.argv[1:] else unused_by_ckks(paths):
        broken += 1
        print(f"ckks/uses.txt: CKKS does not include {header}")
    for name in [] if sys.argv[1:] else results_without_commit():
        broken += 1
        print(f"{name}: names no commit of this history, as `commit` or `recorded_in`")
    for name in [] if sys.argv[1:] else symbolic_links():
        broken += 1
        print(f"{name}: a symbolic link, expected a file")
    for name in [] if sys.argv[1:] else results_without_command():
        broken += 1
        print(f"{name}: has no `command`")
    print(f"lint: {count} files, {broken} findings")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
