# SPDX-License-Identifier: Apache-2.0
"""Measures this machine by running the program polykem, and keeps the JSON that it writes as it is. Without
this program, the Python package measures (library.py) and writes JSON of the same form."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from . import library
from .errors import BACKEND, BAD_INPUT, CHECK_FAILED, IO, OK, USAGE, ReportError

DEFAULT_SETS = ("mlkem768", "ntruhps4096821", "frodokem640aes")
BATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)
CPU_BACKENDS = {"ref", "avx2", "avx512", "amx"}
LARGEST_ON_CPU = 4096
# A larger batch is left out if all its operations, with the keys they need, would take this many times --seconds.
PATIENCE = 40
TIMEOUT = 300


def find_source(named: str | None) -> Program | library.Library:
    """Returns the source of measurements: the program polykem, as named, by POLYKEM_PROGRAM or in the PATH, or else the
    Python package."""
    wanted = named or os.environ.get("POLYKEM_PROGRAM")
    found = shutil.which(wanted or "polykem")
    if found:
        return Program(found)
    if not wanted and library.is_available():
        return library.Library()
    raise ReportError(IO, f"no program '{wanted or 'polykem'}' to measure with",
                      "name it with --program, or draw an earlier measurement with --from")


class Program:
    """Runs polykem's commands. `failed` becomes true if one of them finds a fault."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.failed = False

    def doctor(self) -> dict[str, Any]:
        return self.run("doctor")

    def sets(self) -> list[dict[str, Any]]:
        schemes: list[dict[str, Any]] = self.run("list")["schemes"]
        return schemes

    def profile(self, scheme: str, seconds: float) -> dict[str, Any]:
        return self.run("profile", "--scheme", scheme, "--steps", "--backend", "all", "--threads", "1",
                        "--seconds", str(seconds))

    def bench(self, scheme: str, backend: str, batch: int, seconds: float) -> dict[str, Any]:
        return self.run("bench", "--scheme", scheme, "--backend", backend, "--batch", str(batch),
                        "--seconds", str(seconds))

    def run(self, *words: str) -> dict[str, Any]:
        """Returns the command's JSON. An exit code other than 0 and 1 ends the report with that code."""
        command = [self.path, *words, "--json", "-"]
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT, check=False)
        except OSError as error:
            raise ReportError(IO, f"cannot run '{self.path}': {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise ReportError(IO, f"'polykem {' '.join(words)}' did not end within {TIMEOUT} s") from error
        try:
            result = json.loads(done.stdout)
        except ValueError as error:
            raise ReportError(BAD_INPUT, f"'{self.path} {words[0]}' wrote no JSON") from error
        if not isinstance(result, dict):
            raise ReportError(BAD_INPUT, f"'{self.path} {words[0]}' wrote no JSON object")
        if done.returncode not in (OK, CHECK_FAILED):
            code = done.returncode if 0 < done.returncode < 8 else IO
            raise ReportError(code, f"polykem {words[0]}: {result.get('error', 'failed')}", str(result.get("hint", "")))
        self.failed = self.failed or done.returncode == CHECK_FAILED
        return result


class Collector:
    """Collects the source's results for this machine. `progress(done, what)` is called with the share done, 0 to 1."""

    def __init__(self, source: Program | library.Library, schemes: list[str], seconds: float,
                 progress: Any = lambda done, what: None) -> None:
        self._source, self._schemes, self._seconds, self._progress = source, schemes, seconds, progress

    @property
    def failed(self) -> bool:
        return self._source.failed

    def collect(self) -> list[dict[str, Any]]:
        schemes = self._known()
        self._progress(0.0, "self-test")
        doctor = self._source.doctor()
        here = [b["name"] for b in doctor["backends"] if b.get("available") is True]
        documents = [entry("doctor", doctor)]
        jobs = [(scheme, backend) for scheme in schemes for backend in [None, *here]]
        for number, (scheme, backend) in enumerate(jobs):
            self._progress(0.1 + 0.9 * number / len(jobs), f"{scheme} {backend or 'stages'}")
            documents += self._profile(scheme) if backend is None else self._rates(scheme, backend)
        self._progress(1.0, "done")
        return documents

    def _known(self) -> list[str]:
        """Returns the sets that were asked for; a family's name stands for its sets."""
        listed = self._source.sets()
        chosen = []
        for wanted in self._schemes:
            found = [s["name"] for s in listed if wanted in (s["name"], s["family"])]
            if not found:
                raise ReportError(USAGE, f"no parameter set '{wanted}'", "'polykem list' shows all")
            chosen += [name for name in found if name not in chosen]
        return chosen

    def _profile(self, scheme: str) -> list[dict[str, Any]]:
        return [entry(f"profile {scheme}", self._source.profile(scheme, self._seconds))]

    def _rates(self, scheme: str, backend: str) -> list[dict[str, Any]]:
        """Measures ever larger batches, until the next would take too long."""
        document: dict[str, Any] = {}
        for batch in BATCHES:
            if backend in CPU_BACKENDS and batch > LARGEST_ON_CPU:
                break
            try:
                bench = self._source.bench(scheme, backend, batch, self._seconds)
            except ReportError as error:
                if error.code == BACKEND and not document:
                    return []  # the backend lacks this set
                raise
            if backend in CPU_BACKENDS and any(record["backend"] != backend for record in bench["records"]):
                return []  # the backend leaves this set to another
            if not document:
                document = bench
            else:
                document["records"] += bench["records"]
            # Keys and a warm-up before, a check after: about four times the operations themselves.
            if 4 * 4 * sum(record["median_s"] for record in bench["records"]) > PATIENCE * self._seconds:
                break
        return [entry(f"bench {scheme} {backend}", document)]


def entry(name: str, content: dict[str, Any], origin: str = "measured here") -> dict[str, Any]:
    return {"name": name, "origin": origin, "content": content}


PUBLISHED = ("cpu_peers.json", "h200_mlkem.json", "h200_ntru.json", "h200_frodokem.json", "h200_seong2021.json",
             "h200_frodo_paper.json")


def results_folder() -> Path | None:
    """Returns the folder of the results that come with polykem, in the package or in the source tree."""
    here = Path(__file__).resolve().parent
    for folder in (here / "results", here.parents[2] / "bench" / "results"):
        if folder.is_dir():
            return folder
    return None
