# SPDX-License-Identifier: Apache-2.0
"""A job's progress: a bar on a terminal, a line every ten seconds elsewhere, and a table at the end."""

from __future__ import annotations

import contextlib
import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from ..report.streams import tell
from .column import Json
from .distinct import in_words

LINE_SECONDS = 10


class Reporter:
    """Counts rows and bytes as partitions are committed.

    Parameters
    ----------
    title : str
    rows, done : int
        Rows of the job, and of them those that were committed before this run.
    quiet : bool
    """

    def __init__(self, title: str, rows: int, done: int = 0, quiet: bool = False) -> None:
        self.title, self.rows, self.done, self.quiet = title, rows, done, quiet
        self.computed = self.bytes = self.bad_rows = self.retries = self.workers = 0
        self.begun = self.said = time.monotonic()
        self.started: float | None = None
        self.bar: Progress | None = None
        console = Console(stderr=True)
        if not quiet and console.is_terminal:
            self.bar = Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>5.1f} %"),
                                TextColumn("{task.fields[rate]}"), TimeElapsedColumn(), TextColumn("left"),
                                TimeRemainingColumn(elapsed_when_finished=True), console=console)
            self.task = self.bar.add_task(title, total=rows, completed=done, rate="")

    def __enter__(self) -> Reporter:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar:
            self.bar.stop()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def start(self) -> None:
        """Notes that the first worker is ready; rates are measured from now on."""
        self.started = self.started or time.monotonic()

    def per_second(self, amount: int) -> float:
        return amount / max(time.monotonic() - self.started, 1e-9) if self.started else 0.0

    @property
    def rate(self) -> float:
        """The rows per second of this run."""
        return self.per_second(self.computed)

    def committed(self, receipt: Json) -> None:
        """Counts one more partition."""
        self.computed += receipt["rows"]
        self.bytes += receipt["bytes"]
        self.bad_rows += receipt["bad_rows"]
        self.tell()

    def tell(self) -> None:
        done = self.done + self.computed
        pace = f"{number(self.rate)} rows/s, {self.per_second(self.bytes) / 1e6:,.0f} MB/s, {self.workers} workers"
        if self.bar:
            self.bar.update(self.task, completed=done, rate=pace)
        elif not self.quiet and time.monotonic() - self.said >= LINE_SECONDS:
            self.said = time.monotonic()
            left = (self.rows - done) / self.rate if self.computed else 0
            self.say(f"{self.title}: {done:,} of {self.rows:,} rows, {pace}, about {clock(left)} left")

    def say(self, line: str) -> None:
        """Prints a line without disturbing the bar."""
        if self.bar:
            with contextlib.suppress(OSError):
                self.bar.console.print(line, highlight=False)
        elif not self.quiet:
            tell(line + "\n")


def number(value: float) -> str:
    """Formats 1234567 as 1.23 M."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.3g}"


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def print_table(summary: Json) -> None:
    """Prints the summary of a run on standard output."""
    table = Table(title=f"{summary['operation']} {summary['scheme']}", title_justify="left", show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    for name, value in [("rows", f"{summary['rows']:,}"), ("computed now", f"{summary['computed_rows']:,}"),
                        ("bad rows", f"{summary['bad_rows']:,}"), ("partitions", f"{summary['partitions']:,}"),
                        ("partitions tried again", f"{summary['retries']:,}"), ("workers", f"{summary['workers']:,}"),
                        ("time", clock(summary["seconds"])), ("rows a second", number(summary["rows_per_second"])),
                        ("written now", f"{summary['written_bytes'] / 1e6:,.1f} MB"),
                        *([("distinct public keys", in_words(summary))] if "distinct_keys" in summary else []),
                        ("secret columns", summary["secrets"]), ("folder", summary["folder"])]:
        table.add_row(name, str(value))
    Console().print(table)
