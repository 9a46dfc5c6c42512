# SPDX-License-Identifier: Apache-2.0
"""Tests the command polykem-report: what it measures, what it refuses, what it writes."""

import contextlib
import copy
import html.parser
import io
import itertools
import json
import math
import os
import re
import signal
import stat
import subprocess
import sys
import time
import unittest

from samples import (BAD_INPUT, CHECK_FAILED, IO, PROGRAM, PUBLISHED, RESULTS, ROOT, USAGE, Case, bench, data, doctor,
                     everything, profile, published, replaced)

sys.path.append(str(ROOT / "python/polykem"))
from report import command, library  # noqa: E402
from report.errors import ReportError  # noqa: E402

HOSTILE = "<script>alert(1)</script>\"'&\u202e\x07"


class Measures(Case):
    """Tests that take seconds, since they run every command."""

    def test_measures_this_machine(self):
        """The command measures the three default sets, here for as short a time as possible."""
        start = time.monotonic()
        done = self.report("--seconds", "0.002", "--output", "a.html", "--json", "a.json")
        self.assertLess(time.monotonic() - start, 60)
        self.assertRegex(done.stderr, r"^a\.html: \d+ kB, \d+ results\n$")
        self.assertEqual(done.stdout, "")
        found = json.loads((self.folder / "a.json").read_text())
        self.assertEqual(found["schema"], "polykem-report-1")
        contents = {d["name"]: d["content"] for d in found["documents"]}
        here = [b["name"] for b in contents["doctor"]["backends"] if b["available"]]
        sets = ("mlkem768", "ntruhps4096821", "frodokem640aes")
        of_mlkem = [b for b in here if b != "amx"]
        others = [b for b in here if b != "rtl"]
        measured = {f"bench {s} {b}" for s in sets for b in (of_mlkem if s == "mlkem768" else others)}
        self.assertEqual({name for name in measured if not name.endswith("cuda")},
                         {name for name in contents if name.startswith("bench ") and not name.endswith("cuda")})
        self.assertEqual([p["backend"] for p in contents["profile mlkem768"]["profiles"]], of_mlkem)
        for name in PUBLISHED:
            self.assertEqual(contents[name], json.loads((RESULTS / name).read_text()), name)
        # Drawn again, the same page.
        self.report("--from", "a.json", "--output", "b.html")
        self.assertEqual((self.folder / "a.html").read_text(), (self.folder / "b.html").read_text())

    def test_batches_grow(self):
        self.report("-s", "mlkem512", "--seconds", "0.01", "--no-published", "--json", "a.json", "-q")
        documents = json.loads((self.folder / "a.json").read_text())["documents"]
        counts = {r["count"] for d in documents for r in d["content"].get("records", []) if r["backend"] == "ref"}
        self.assertLessEqual({1, 4, 16}, counts)
        self.assertEqual([d["origin"] for d in documents], ["measured here"] * len(documents))


class Command(Case):
    def test_quiet_says_nothing(self):
        done = self.report("--from", self.file("d.json", data(doctor())), "--quiet")
        self.assertEqual((done.stdout, done.stderr), ("", ""))
        self.assertTrue((self.folder / "polykem-report.html").exists())

    def test_page_to_standard_output(self):
        done = self.report("--from", self.file("d.json", data(doctor())), "--output", "-", "-q")
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"))
        self.assertEqual(os.listdir(self.folder), ["d.json"])

    def test_failed_self_test(self):
        """A failed self-test ends with exit code 1 and a page that says what failed."""
        bad = doctor()
        bad["ok"] = bad["schemes"][0]["ok"] = False
        bad["schemes"][0]["self_tests"][1].update(ok=False, known_answer=False)
        program = self.program({"doctor": (1, bad), "list": (0, {"schemes": [{"name": "mlkem768", "family": "mlkem"}]}),
                                "profile": (0, profile()), "bench": (0, bench())})
        self.report("--program", program, "--scheme", "mlkem", "--output", "a.html", code=CHECK_FAILED)
        self.assertIn("FAILED: known answer", (self.folder / "a.html").read_text())

    def test_errors_of_the_program_are_passed_on(self):
        error = {"schema": "polykem-error-1", "error": "no entropy", "exit_code": 7, "hint": "wait"}
        done = self.report("--program", self.program({"list": (7, error)}), code=7)
        self.assertEqual(done.stderr, "polykem: polykem list: no entropy\n  wait\n")
        self.report("--program", self.program({"list": (0, [])}), code=BAD_INPUT)
        self.report("--program", self.program({"list": (0, {"schemes": [3]})}), code=BAD_INPUT)
        self.report("--program", self.file("plain", "not a program"), code=IO)

    def program(self, answers):
        """Makes a program that answers a command with an exit code and JSON."""
        text = f"#!{sys.executable}\nimport sys, json\ncode, result = {answers!r}[sys.argv[1]]\n" \
               "print(json.dumps(result))\nsys.exit(code)\n"
        path = self.file("program", text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def test_of_the_program(self):
        """`polykem report` runs polykem-report with the same options, and is the program that it measures with."""
        own = self.report("--help").stdout
        text = subprocess.run([PROGRAM, "report", "--help"], capture_output=True, text=True, check=True).stdout
        options = r"^  (?:-(\w)(?: [A-Z]+)?, ?)?--([\w-]+)"
        self.assertEqual(sorted(re.findall(options, own, re.M)), sorted(re.findall(options, text, re.M)))
        folder = self.folder / "programs"
        folder.mkdir()
        shim = folder / "polykem-report"
        shim.write_text(f"#!/bin/sh\necho \"$POLYKEM_PROGRAM\"\nexec {sys.executable} -B -m report \"$@\"\n")
        shim.chmod(0o755)
        self.file("d.json", data(doctor()))
        words = [PROGRAM, "report", "--from", "d.json", "--json", "-", "--no-published", "-qf", "--output=-x"]
        done = subprocess.run([*words, "--add", "d.json", "--add", "d.json"], cwd=self.folder, check=True, text=True,
                              env=dict(os.environ, PATH=str(folder), PYTHONPATH=str(ROOT / "python/polykem")),
                              capture_output=True)
        program, _, result = done.stdout.partition("\n")
        self.assertTrue(os.path.samefile(program, PROGRAM))
        self.assertEqual(len(json.loads(result)["documents"]), 3)
        self.assertTrue((self.folder / "-x").exists())
        done = subprocess.run(words, cwd=self.folder, env={"PATH": "/nowhere"}, capture_output=True, text=True,
                              check=False)
        self.assertEqual((done.returncode, json.loads(done.stdout)["exit_code"]), (IO, IO))
        self.assertIn("polykem-report is not installed\n  it comes with the Python package", done.stderr)

    def test_steps_are_those_of_the_program(self):
        """The package assigns stages to steps as cli/profile/steps.cpp does."""
        source = (ROOT / "cli/profile/steps.cpp").read_text()
        steps = re.findall(r'"([^"]+)"', re.search(r"kSteps = {(.*?)}", source, re.S).group(1))
        table = re.search(r"kPatterns\[\] = {(.*?)};", source, re.S).group(1)
        patterns = re.findall(r'{"(\w+)", (true|false), (\d)}', table)
        self.assertEqual(library.PATTERNS, tuple(("*" * (end == "true") + text, steps[int(step)])
                                                 for text, end, step in patterns))

    def test_another_machine(self):
        self.file("other.json", bench("another machine", backends=("cuda",)))
        page = self.page(data(doctor(), profile(), bench()), "--add", "other.json", "--json", "both.json")
        self.assertIn("cuda, another machine", page)
        self.assertIn("ref, a machine", page)
        both = json.loads((self.folder / "both.json").read_text())
        self.assertEqual([(d["name"], d["origin"]) for d in both["documents"]][3:], [("other.json", "added")])
        # A whole report can be added too.
        self.file("third.json", data(profile("third machine")))
        self.assertIn("avx2, third machine", self.page(both, "--add", "third.json"))

    def test_files_that_exist(self):
        self.file("a.html", "mine")
        self.file("d.json", data(doctor()))
        self.report("--from", "d.json", "--output", "a.html", code=USAGE)
        self.assertEqual((self.folder / "a.html").read_text(), "mine")
        self.report("--from", "d.json", "--output", "a.html", "--force")
        self.report("--from", "d.json", "--output", "d.json", "--force", code=USAGE)
        self.report("--from", "d.json", "--output", "x", "--json", "./x", code=USAGE)  # x gets the error
        self.report("--from", "d.json", "--output", "-", "--json", "-", code=USAGE)
        (self.folder / "link.html").symlink_to("d.json")
        self.report("--from", "d.json", "--output", "link.html", "--force", code=USAGE)
        self.report("--from", "d.json", "--output", ".", code=IO)
        self.report("--from", "d.json", "--output", "no/such/folder.html", code=IO)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.html", "d.json", "link.html", "x"])

    def test_usage(self):
        for words in (["--unknown"], ["--seconds", "0"], ["--seconds", "nan"], ["--scheme", "mlkem786"], ["extra"],
                      ["--from"]):
            with self.subTest(words):
                done = self.report(*words, code=USAGE)
                self.assertRegex(done.stderr, r"^polykem: .*\n  .*\n$")
        self.assertEqual(os.listdir(self.folder), [])
        self.report("--program", "no-such-program", code=IO)
        self.assertIn("--from", self.report("--help").stdout)

    def test_error_as_json(self):
        self.report("--scheme", "mlkem786", "--json", "e.json", code=USAGE)
        error = json.loads((self.folder / "e.json").read_text())
        self.assertEqual({**error, "error": "", "hint": ""},
                         {"schema": "polykem-error-1", "error": "", "exit_code": USAGE, "hint": ""})
        done = self.report("--from", "missing", "--json=-", code=IO)
        self.assertEqual(json.loads(done.stdout)["exit_code"], IO)
        before = (self.folder / "e.json").read_bytes()
        self.report("--from", "missing", "--json", "e.json", "--force", code=IO)
        self.assertEqual((self.folder / "e.json").read_bytes(), before)


class BadInput(Case):
    def refuse(self, content):
        """Runs the command, in this process, with a file that it must refuse. Returns its error."""
        page, said = self.folder / "a.html", io.StringIO()
        with contextlib.redirect_stderr(said):
            code = command.attempt(["--from", str(self.file("bad.json", content)), "--output", str(page)])
        self.assertEqual(code, BAD_INPUT, said.getvalue())
        self.assertTrue(said.getvalue().startswith("polykem: "), said.getvalue())
        self.assertFalse(page.exists())
        return said.getvalue()

    def test_not_a_report(self):
        for content in ("", "{", "[]", "3", "[" * 100000, '{"schema": "polykem-report-1"}', json.dumps(doctor()),
                        '{"schema": "polykem-report-1", "documents": [3]}', '{"a": NaN}'):
            self.refuse(content)
        (self.folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
        self.report("--from", "bytes.json", code=BAD_INPUT)

    def test_unknown_kind(self):
        self.assertIn("of no kind", self.refuse(data({"schema": "polykem-list-1"})))

    def test_wrong_values(self):
        """A wrong value anywhere in any document is refused, or makes no difference where it is not needed."""
        needed = ("op", "ops", "backend", "scheme", "count", "ns", "device", "ops_per_s", "sets", "resident",
                  "floor_ns", "ratio", "crowd", "us", "one_ms", "schemes", "self_tests", "cpus", "ghz", "peer")
        for original in (doctor(), profile(), bench(), *published()):
            for path, wrong in zip(leaves(original), itertools.cycle(({}, [{}], None))):
                document = copy.deepcopy(original)
                put(document, path, wrong)
                if path[-1] in needed and not {"shared_key", "profile"} & set(path):
                    with self.assertRaises(ReportError, msg=(path, wrong)) as caught:
                        command.build(data(document))
                    self.assertEqual(caught.exception.code, BAD_INPUT)
                    continue
                try:
                    command.build(data(document))
                except ReportError as error:
                    self.assertEqual(error.code, BAD_INPUT, (path, wrong))

    def test_wrong_numbers(self):
        for wrong in (-1, True, "3", None, 0.5, 0):
            document = bench()
            document["records"][0]["count"] = wrong
            self.assertIn("document 0", self.refuse(data(document)))

    def test_numbers_of_any_size(self):
        """Numbers of an impossible size are refused with their member, wherever they stand."""
        text = json.dumps(data(bench()))
        for digits in ("1e400", "-1e400", "1e21", "1e-300", "9" * 400, "-" + "9" * 400, "9" * 5000, "9" * 100000):
            said = self.refuse(text.replace("1000.5", digits, 1))
            self.assertIn("the member 'ops_per_s' holds", said)
            self.assertLess(len(said), 300)
            self.assertIn("the member 'deep' holds", self.refuse(text[:-1] + f', "deep": [1, [2, {digits}]]}}'))
            path = self.file("a.json", json.dumps(bench()).replace("1000.5", digits, 1))
            done = self.report("--no-published", "--from", self.file("b.json", data(doctor())), "--add", path,
                               code=BAD_INPUT)  # fmt: skip
            self.assertIn("a.json': the member 'ops_per_s' holds", done.stderr)
        self.page(json.loads(text.replace("1000.5", "1e20", 1)))
        self.page(json.loads(text.replace("1000.5", "1e-20", 1)))
        self.page(json.loads(text.replace('"count": 1,', '"count": 100000000000000000000,', 1)))
        with self.assertRaises(ReportError):
            command.build(data(replaced_number(bench(), 10**400)))

    def test_duplicate_members(self):
        text = json.dumps(data(bench()))
        twice = text.replace('"count": 1,', '"count": 1, "count": 1,', 1)
        self.assertIn("the member 'count' occurs twice", self.refuse(twice))
        self.assertIn("the member 'schema' occurs twice", self.refuse(text[:-1] + ', "schema": "polykem-report-1"}'))

    def test_missing_members(self):
        for document in (doctor(), profile(), bench(), *published()):
            for member in list(document):
                if member in ("schema", "device", "records", "sets", "crowd", "schemes", "profiles", "machine"):
                    cut = {key: value for key, value in document.items() if key != member}
                    self.refuse(data(cut))


def replaced_number(document, value):
    document["records"][0]["ops_per_s"] = value
    return document


def leaves(value, path=()):
    """Yields the paths of a sample's values, of each list only those of its first element."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield path
        yield from leaves(value[0], (*path, 0))
    elif path[0] != "schema":
        yield path


def put(document, path, value):
    for step in path[:-1]:
        document = document[step]
    document[path[-1]] = value


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.seen, self.words = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            raise AssertionError(f"</{tag}> closes another element")

    def handle_data(self, words):
        self.words += words


class Options(Case):
    def test_an_unknown_option_is_named_with_the_one_it_resembles(self):
        for wrong, close in (("--outptu", "--output"), ("--schem", "--scheme"), ("--forse", "--force")):
            done = self.report(wrong, "x", code=USAGE)
            self.assertIn(f"polykem: polykem-report has no option '{wrong}'\n  did you mean '{close}'?", done.stderr)
        self.report("--seconds", "nan", code=USAGE)
        self.report("--seconds", "inf", code=USAGE)


class Streams(Case):
    """Tests standard streams that are closed or full."""

    def run_with(self, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close=()):
        def closing():
            for number in close:
                os.close(number)

        return subprocess.run([sys.executable, "-m", "report", *map(str, words)], cwd=self.folder, stdout=stdout,
                              stderr=stderr, preexec_fn=closing, text=True, check=False, timeout=120,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python/polykem")})  # fmt: skip

    def test_a_closed_or_full_output(self):
        source = self.file("d.json", data(doctor()))
        with open("/dev/full", "w") as full:
            for words in (("--from", source, "--output", "-"), ("--help",)):
                for streams in ({"close": (1,)}, {"stdout": full}):
                    done = self.run_with(*words, **streams)
                    self.assertEqual(done.returncode, IO, done.stderr)
                    self.assertRegex(done.stderr, "^polykem: cannot .*write.*standard output")
        self.assertEqual(os.listdir(self.folder), ["d.json"])

    def test_no_file_gets_what_belongs_on_a_closed_stream(self):
        source = self.file("d.json", data(doctor()))
        done = self.run_with("--from", source, "--output", "a.html", close=(0, 1, 2))
        self.assertEqual(done.returncode, 0)
        self.assertTrue((self.folder / "a.html").read_text().endswith("</html>\n"))
        self.report("--from", source, "--output", "b.html")
        self.assertEqual((self.folder / "a.html").read_text(), (self.folder / "b.html").read_text())

    def test_descriptors_are_taken_before_any_file_is_opened(self):
        code = "import os, streams; streams.open_streams(); print(os.open('x', 66))"
        done = subprocess.run([sys.executable, "-c", code], cwd=self.folder, stdout=subprocess.PIPE, text=True,
                              preexec_fn=lambda: (os.close(0), os.close(2)), check=False,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python/polykem/report")})  # fmt: skip
        self.assertGreater(int(done.stdout), 2)

    def test_errors_without_standard_error(self):
        with open("/dev/full", "w") as full:
            for streams in ({"close": (2,)}, {"stderr": full}):
                self.assertEqual(self.run_with("--nonsense", **streams).returncode, USAGE)
                self.assertEqual(self.run_with("--from", "missing", **streams).returncode, IO)

    def test_an_interrupted_report_says_so(self):
        program = self.folder / "program"
        program.write_text("#!/bin/sh\n: > started\nexec sleep 60\n")
        program.chmod(0o755)
        process = subprocess.Popen([sys.executable, "-m", "report", "--program", program], cwd=self.folder, text=True,
                                   stderr=subprocess.PIPE, start_new_session=True,
                                   env={**os.environ, "PYTHONPATH": str(ROOT / "python/polykem")})  # fmt: skip
        while not (self.folder / "started").exists():
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(error, "polykem: interrupted by SIGINT: no output file was written\n")
        self.assertEqual(sorted(os.listdir(self.folder)), ["program", "started"])


class Drawing(Case):
    def test_everything_outside_is_escaped(self):
        hostile = replaced(data(doctor(), profile(), bench(), *published()), lambda text: HOSTILE + text)
        hostile["documents"] = [{**d, "content": restore(d["content"])} for d in hostile["documents"]]
        page = self.page(hostile)
        tags = Tags()
        tags.feed(page)
        self.assertEqual(tags.open, [])
        self.assertNotIn("script", {tag for tag, _ in tags.seen})
        self.assertFalse({name for _, attributes in tags.seen for name in attributes if name.startswith("on")})
        self.assertIn("<script>alert(1)</script>\"'&", tags.words)
        self.assertNotRegex(page, "[\u202e\x07]")

    def test_nothing_is_loaded(self):
        page = self.page(everything())
        tags = Tags()
        tags.feed(page)
        for tag, attributes in tags.seen:
            self.assertNotIn(tag, ("script", "link", "img", "iframe", "object", "image", "use", "base"))
            self.assertFalse({"src", "srcset", "xlink:href"} & set(attributes))
            self.assertTrue(attributes.get("href", "#").startswith("#"))
        self.assertNotRegex(page, r"url\(|@import")
        self.assertIn(("meta", {"http-equiv": "Content-Security-Policy",
                                "content": "default-src 'none'; style-src 'unsafe-inline'"}), tags.seen)
        names = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
        self.assertEqual(len(names), len(set(names)))

    def test_twice_the_same_document(self):
        """If a document occurs twice, the names of charts stay unique."""
        tags = Tags()
        tags.feed(self.page(data(*published(), *published(), profile(), profile("b"))))
        names = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
        self.assertEqual(len(names), len(set(names)))

    def test_parts_that_are_absent(self):
        """Each document by itself makes a page, and so does an empty list."""
        for document in (doctor(), profile(), bench(), *published()):
            self.assertIn("<h2>", self.page(data(document)))
        self.page(data())

    def test_extreme_figures(self):
        document = bench()
        for number, record in enumerate(document["records"]):
            record["ops_per_s"] = (0, 1e-19, 1e19, 5, 5)[number % 5]
        page = self.page(data(document, profile()))
        self.assertNotRegex(page.replace("unsafe-inline", ""), r'="[^"]*\b(nan|inf)\b')

    def test_colours_for_the_colour_blind(self):
        """Any two lines, and any two areas of a stack, differ in both modes whichever cones are missing [MACHADO09]."""
        style = (ROOT / "python/polykem/report/style.css").read_text()
        light, dark = style.split("prefers-color-scheme: dark")
        palettes = [dict(re.findall(r"--([cs]\d): (#\w{6})", text)) for text in (light, dark.split("@media print")[0])]
        palettes[1] = {**palettes[0], **palettes[1]}
        for palette in ({n: c for n, c in p.items() if n[0] == kind} for p in palettes for kind in "cs"):
            self.assertEqual(len(palette), 8 if "s0" in palette else 6)
            for kind, matrix in CONES.items():
                seen = {name: lab(matrix, colour) for name, colour in palette.items()}
                for a in seen:
                    for b in seen:
                        if a < b:
                            self.assertGreater(math.dist(seen[a], seen[b]), 12, (kind, palette[a], palette[b]))


# Severity 1.0, on linear red, green and blue [MACHADO09, table 1].
CONES = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(matrix, colour):
    """Returns the CIE L*a*b* of an sRGB colour, seen through the matrix."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    r, g, b = (min(1, max(0, sum(m * c for m, c in zip(row, linear)))) for row in matrix)
    xyz = (0.4124 * r + 0.3576 * g + 0.1805 * b, 0.2126 * r + 0.7152 * g + 0.0722 * b,
           0.0193 * r + 0.1192 * g + 0.9505 * b)
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
               for t in (v / white for v, white in zip(xyz, (0.9505, 1, 1.089))))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def restore(value):
    """Restores strings that programs read: names of sets and operations, which are prefixes or words of a list."""
    if isinstance(value, dict):
        read = {"op", "scheme", "set", "backend", "function"} | ({"name"} if "resident" in value else set())
        return {key: strip(v) if key in read else restore(v) for key, v in value.items()}
    return [restore(v) for v in value] if isinstance(value, list) else value


def strip(value):
    return value.removeprefix(HOSTILE) if isinstance(value, str) else value


if __name__ == "__main__":
    unittest.main()
