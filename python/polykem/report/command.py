# SPDX-License-Identifier: Apache-2.0
"""The command polykem-report: its options, its files, its exit codes."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path
from typing import Any

from . import options
from .streams import lost_output, open_streams, say, tell
from . import collect, files
from .documents import SCHEMA, load, read, unpack
from .errors import BAD_INPUT, CHECK_FAILED, DEFECT, IO, OK, RESOURCES, USAGE, ReportError
from .page import page
from .progress import Progress
from .sections import sections

INTERRUPTED = 130

EPILOG = """Examples:
  polykem-report
  polykem-report --scheme mlkem,frodokem976shake --output here.html --json here.json
  polykem-report --from here.json --add other_machine.json --output both.html

It takes less than a minute. Results that --add takes: the --json of polykem doctor, profile and bench, and the files of
bench/results. The page loads nothing and runs no script. Exit codes: docs/exit_codes.md; 1 if a self-test fails."""


class Parser(options.Parser):
    def _print_message(self, message: Any, file: Any = None) -> Any:
        """Prints --help and --version; argparse's own method ignores write errors."""
        say(message)

    def error(self, message: Any) -> Any:
        raise ReportError(USAGE, message, f"'{self.prog} --help' shows the options")


def parser() -> Parser:
    made = Parser(prog="polykem-report", epilog=EPILOG,
                  description="Write a page of charts about this machine and polykem, as one HTML file",
                  formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    made.add_argument("-s", "--scheme", metavar="NAMES", default=",".join(collect.DEFAULT_SETS),
                      help="Parameter sets or families, separated by commas (default %(default)s)")
    made.add_argument("--seconds", metavar="S", type=seconds, default=0.03,
                      help="Minimum time for each figure (default %(default)s)")
    made.add_argument("-o", "--output", metavar="FILE", default="polykem-report.html",
                      help="The page ('-': standard output; default %(default)s)")
    made.add_argument("--json", metavar="FILE", help="Write the data as JSON to FILE ('-': standard output)")
    made.add_argument("--from", metavar="FILE", dest="source", help="Measure nothing; draw the data that --json wrote")
    made.add_argument("--add", metavar="FILE", action="append", default=[],
                      help="Also show results of another machine or run; may be repeated")
    made.add_argument("--no-published", action="store_true", help="Leave out the results that come with polykem")
    made.add_argument("--program", metavar="FILE",
                      help="The program polykem to measure with (else POLYKEM_PROGRAM, else the one in the PATH, else "
                           "this package)")
    made.add_argument("-f", "--force", action="store_true", help="Replace output files that exist")
    made.add_argument("-q", "--quiet", action="store_true", help="No progress and no summary; errors only")
    return made


def seconds(text: str) -> float:
    value = float(text)
    if not 0.001 <= value <= 60:
        raise argparse.ArgumentTypeError(f"{text} is not from 0.001 to 60")
    return value


def gather(options: Any) -> tuple[dict[str, Any], bool]:
    """Returns the data of the report, and whether a self-test failed during the measurement."""
    failed, documents = False, []
    if options.source:
        data = load(Path(options.source), options.source)
        documents = unpack(data, options.source)
        created = str(data.get("created", "unknown"))
    else:
        progress = Progress(options.quiet)
        names = [name for name in options.scheme.split(",") if name]
        collector = collect.Collector(collect.find_source(options.program), names, options.seconds, progress)
        try:
            documents = collector.collect()
        except (KeyError, TypeError) as error:
            raise ReportError(BAD_INPUT, f"the program that measures wrote unexpected JSON: {error}") from error
        finally:
            progress.clear()
        failed = collector.failed
        created = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        folder = None if options.no_published else collect.results_folder()
        if folder:
            documents += [collect.entry(name, load(folder / name, name), "comes with polykem")
                          for name in collect.PUBLISHED if (folder / name).is_file()]
    for path in options.add:
        documents += added(path)
    return {"schema": SCHEMA, "created": created, "documents": documents}, failed


def added(path: str) -> list[dict[str, Any]]:
    """Returns the file's result, or all of another report's; a result has the name of its file."""
    document = load(Path(path), path)
    if document.get("schema") == SCHEMA:
        return unpack(document, path)
    return [collect.entry(Path(path).name, document, "added")]


def build(data: dict[str, Any]) -> str:
    """Returns the page that shows `data`."""
    records = read(data["documents"])
    machine = records.machines[0].device if records.machines else "results"
    made = f"Written by polykem report from figures of {data['created']}."
    return page(sections(records), f"polykem on {machine}", made)


def run(options: Any) -> int:
    inputs = [path for path in [options.source, *options.add] if path]
    outputs = [options.output] + ([options.json] if options.json else [])
    files.check_paths(outputs, inputs, options.force)
    data, failed = gather(options)
    contents = {options.output: build(data)}
    if options.json:
        contents[options.json] = json.dumps(data, indent=1) + "\n"
    files.write(contents, options.force)
    if not options.quiet:
        tell(f"{options.output}: {len(contents[options.output]) / 1000:,.0f} kB, "
             f"{len(data['documents'])} results" + ("; A SELF-TEST FAILED\n" if failed else "\n"))
    return CHECK_FAILED if failed else OK


def report_error(error: ReportError, words: list[str]) -> int:
    tell(f"polykem: {error}\n" + (f"  {error.hint}\n" if error.hint else ""))
    place = json_target(words)
    if place:
        document = {"schema": "polykem-error-1", "error": str(error), "exit_code": error.code, "hint": error.hint}
        try:
            files.write({place: json.dumps(document, indent=2) + "\n"}, False)
        except ReportError:
            pass  # an error never replaces a file that exists
    return error.code


def json_target(words: list[str]) -> str | None:
    """Returns FILE of --json, even if the command line is invalid."""
    for number, word in enumerate(words):
        if word == "--json" and number + 1 < len(words):
            return words[number + 1]
        if word.startswith("--json="):
            return word.removeprefix("--json=")
    return None


def main(words: list[str] | None = None) -> int:
    words = sys.argv[1:] if words is None else words
    open_streams()
    code = attempt(words)
    lost = lost_output()
    if lost:
        report_error(ReportError(IO, lost), [])
    return IO if lost and code == OK else code


def attempt(words: list[str]) -> int:
    """Runs the command. Returns the exit code, after reporting an error in a sentence."""
    try:
        return run(parser().parse_args(words))
    except SystemExit as ended:  # --help
        return ended.code if isinstance(ended.code, int) else OK
    except ReportError as error:
        return report_error(error, words)
    except options.UnknownOption as error:
        hint = f"did you mean '{error.close}'? " if error.close else ""
        return report_error(ReportError(USAGE, str(error), hint + "'polykem-report --help' shows the options"), words)
    except KeyboardInterrupt:
        return report_error(ReportError(INTERRUPTED, "interrupted by SIGINT: no output file was written"), words)
    except MemoryError:
        return report_error(ReportError(RESOURCES, "not enough memory"), words)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return report_error(ReportError(IO, f"cannot read or write: {where}{error.strerror or error}"), words)
    except RecursionError:
        return report_error(ReportError(BAD_INPUT, "the JSON is nested too deeply"), words)
    except Exception as error:  # pylint: disable=broad-except
        what = f"a defect: {type(error).__name__}: {error}"
        return report_error(ReportError(DEFECT, what, "please report it"), words)
