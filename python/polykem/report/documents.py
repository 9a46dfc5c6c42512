# SPDX-License-Identifier: Apache-2.0
"""Reads what polykem and its benchmarks wrote, each kind of JSON into plain records that the sections draw. Anything
that is not as expected ends with exit code 3 and the name of the file."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import cpu_floors
from .errors import BAD_INPUT, IO, ReportError

SCHEMA = "polykem-report-1"
MAX_BYTES = 64 << 20
# Quotients of such numbers are still finite. The largest that polykem writes is 2^64 - 1, for no limit of open files.
LARGEST = 1e20


@dataclass(frozen=True)
class Backend:
    name: str
    description: str
    requirements: str
    available: bool


@dataclass(frozen=True)
class SelfTest:
    scheme: str
    would_run_on: str
    verdicts: dict[str, str]  # of each backend: "ok", or "FAILED: ..."
    with_answers: bool  # a known answer was among what was tested


@dataclass(frozen=True)
class Machine:
    device: str
    polykem: str
    cpus: int
    memory_bytes: float
    features: list[str]
    backends: list[Backend]
    self_tests: list[SelfTest]


@dataclass(frozen=True)
class StepTime:
    machine: str
    scheme: str
    backend: str
    op: str
    step: str
    microseconds: float
    detail: bool  # a stage of the specification; else one of the few steps that all sets have in common


@dataclass(frozen=True)
class Rate:
    machine: str
    scheme: str
    op: str
    backend: str
    keys: str
    batch: int
    per_second: float


@dataclass(frozen=True)
class OverFloor:
    """The time of an operation, or of one step of it, beside the least time of its work; both in `unit`."""

    machine: str
    scheme: str
    op: str
    step: str  # "" for the whole operation
    time: float
    floor: float
    unit: str
    where: str  # "cpu" or "gpu"


@dataclass(frozen=True)
class PeerRatio:
    machine: str
    scheme: str
    op: str
    backend: str
    batch: int
    keys: str
    peer: str
    ratio: float  # polykem's rate over the peer's


@dataclass
class Records:
    """The records of all documents."""

    machines: list[Machine] = field(default_factory=list)
    steps: list[StepTime] = field(default_factory=list)
    rates: list[Rate] = field(default_factory=list)
    floors: list[OverFloor] = field(default_factory=list)
    peers: list[PeerRatio] = field(default_factory=list)
    seong: list[dict[str, Any]] = field(default_factory=list)
    frodo: list[dict[str, Any]] = field(default_factory=list)
    sources: list[tuple[str, str, str]] = field(default_factory=list)  # name, what it is, origin


def number(value: Any) -> float:
    """Returns a number. Raises unless it is at least 0 and small enough for a result."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= LARGEST:
        raise ValueError(f"{str(value)[:40]!r}, expected a number")
    return float(value)


def count(value: Any) -> int:
    whole = number(value)
    if whole < 1 or whole != int(whole):
        raise ValueError(f"{value!r}, expected a count")
    return int(whole)


def word(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:40]!r}, expected a word")
    return value


def objects(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise ValueError(f"{str(value)[:40]!r}, expected a list of objects")
    return value


def numbers(value: Any) -> list[float]:
    if not isinstance(value, list) or not value:
        raise ValueError(f"{str(value)[:40]!r}, expected a list of numbers")
    return [number(entry) for entry in value]


def read_doctor(document: dict[str, Any], records: Records) -> None:
    backends = [Backend(word(b["name"]), word(b.get("description", "")), word(b.get("requirements", "")),
                        b["available"] is True) for b in objects(document["backends"])]
    built = f"{word(document['version'])} ({word(document.get('commit', ''))}) {word(document.get('compiler', ''))}"
    features = document.get("cpu_features", [])
    if not isinstance(features, list):
        raise ValueError("'cpu_features' is not a list")
    records.machines.append(Machine(word(document["device"]), built.strip(), count(document["cpus"]),
                                    number(document["memory_bytes"]), [word(feature) for feature in features], backends,
                                    [read_self_test(scheme) for scheme in objects(document["schemes"])]))


def read_self_test(scheme: dict[str, Any]) -> SelfTest:
    tests = objects(scheme["self_tests"])
    return SelfTest(word(scheme["name"]), word(scheme.get("backend", "")),
                    {word(test["backend"]): verdict(test) for test in tests},
                    bool(tests) and all("known_answer" in test for test in tests))


def verdict(test: dict[str, Any]) -> str:
    if test["ok"] is True:
        return "ok"
    wrong = [name.replace("_", " ") for name in ("round_trip", "rejection", "known_answer") if test.get(name) is False]
    return "FAILED: " + (", ".join(wrong) or word(test.get("error", "")) or "unknown")


def read_profile(document: dict[str, Any], records: Records) -> None:
    machine = word(document["device"])
    for profile in objects(document["profiles"]):
        for op in objects(profile["ops"]):
            items = count(op["count"])
            named = [(step["step"], step["ns"], False) for step in objects(op["steps"])]
            named += [(stage["function"], stage["ns"], True) for stage in objects(op["stages"])]
            # The steps hold what lies outside the stages, as "rest"; the stages do not.
            named.append(("outside the stages", max(0.0, number(op["wall_ns"]) - number(op["stages_ns"])), True))
            for name, ns, detail in named:
                records.steps.append(StepTime(machine, word(profile["scheme"]), word(profile["backend"]),
                                              word(op["op"]), word(name), number(ns) / 1000 / items, detail))


def read_bench(document: dict[str, Any], records: Records) -> None:
    machine = word(document["device"])
    for record in objects(document["records"]):
        records.rates.append(Rate(machine, word(record["scheme"]), word(record["op"]), word(record["backend"]),
                                  word(record["keys"]), count(record["count"]), number(record["ops_per_s"])))


def read_gpu(document: dict[str, Any], records: Records) -> None:
    machine = word(document["device"])
    for group in objects(document["sets"]):
        scheme = word(group["name"])
        for row in objects(group["resident"]):
            op, steps = word(row["op"]), objects(row["steps"])
            times = [(word(step["name"]), number(step["ns"]), number(step["floor_ns"])) for step in steps]
            times.append(("", sum(t for _, t, _ in times), sum(f for _, _, f in times)))
            for step, time, floor in times:
                records.floors.append(OverFloor(machine, scheme, op, step, time, floor, "ns", "gpu"))
            if "peer" in row:
                records.peers.append(PeerRatio(machine, scheme, op, "cuda", count(group["items"]), "per-item",
                                               word(row["peer"]), number(row["ratio"])))
        for row in objects(group["host_to_host"]):
            keys = "per-item, pinned memory" if row["pinned"] is True else "per-item, ordinary memory"
            records.rates.append(Rate(machine, scheme, word(row["op"]), "cuda", keys, count(row["items"]),
                                      1000 * count(row["items"]) / number(row["ms"])))


def read_peers(document: dict[str, Any], records: Records) -> None:
    machine, ghz = word(document["machine"]), number(document["ghz"])
    for row in objects(document["records"]):
        peer, batch, op = word(row["peer"]), count(row["count"]), word(row["op"])
        ours, scheme, backend = number(row["ours_ops_per_s"]), word(row["scheme"]), word(row["backend"])
        for other in objects(row.get("peers", [])):
            word(other["name"]), number(other["ops_per_s"]), number(other["ratio"])
        if peer.startswith("polykem") or 1 < batch <= cpu_floors.MAX_SMALL_BATCH:
            continue  # of two threads over one; between a single item and a full batch
        records.peers.append(PeerRatio(machine, scheme, op, backend, batch, word(row["keys"]), peer,
                                       number(row["ratio"])))
        floor = cpu_floors.floor(scheme, op, machine)
        if floor and cpu_floors.is_best(row) and row["threads"] == 1 and batch > 1 and row["keys"] == "per-item" \
                and "unsalted" not in peer:
            records.floors.append(OverFloor(machine, scheme, op, "", ghz * 1e9 / ours, floor, "cycles", "cpu"))


def read_seong(document: dict[str, Any], records: Records) -> None:
    word(document["device"]), word(document["set"])
    for row in objects(document["one_block"]):
        word(row["operation"]), numbers(row["us"])
    for row in objects(document["crowd"]):
        count(row["n"])
        for name, entries in (("paper", 4), ("kernels", 2), ("host", 2), ("cpu", 2), ("ref", 2)):
            if len(numbers(row[name])) != entries:
                raise ValueError(f"'{name}' does not have {entries} numbers")
    for row in objects(document.get("one_key", [])):
        word(row["set"]), count(row["batch"])
        if not number(row["encrypt_ms"]) or not number(row["decrypt_ms"]):
            raise ValueError("a batch took no time")
    records.seong.append(document)


def read_frodo(document: dict[str, Any], records: Records) -> None:
    word(document["device"]), word(document["cpu"])
    for row in objects(document["generation"]):
        word(row["function"]), count(row["n"])
        number(row["one_ms"]), number(row["many_ms"]), number(row["cpu_ms"])
    for row in objects(document["products"]):
        count(row["n"]), count(row["m"]), number(row["ms"]), number(row["cpu_ms"])
    records.frodo.append(document)


# The name of a kind of document, its schema or the members that identify it, and its reader.
KINDS = (
    ("polykem doctor", "polykem-doctor-1", (), read_doctor),
    ("polykem profile", "polykem-profile-1", (), read_profile),
    ("polykem bench", "polykem-bench-1", (), read_bench),
    ("GPU benchmark", None, ("device", "pcie_gb_per_s", "sets"), read_gpu),
    ("make bench-peers", None, ("machine", "ghz", "records"), read_peers),
    ("research/seong2021", None, ("device", "one_block", "crowd"), read_seong),
    ("research/frodo_cuda", None, ("device", "generation", "products"), read_frodo),
)


class Refused(ValueError):
    """JSON that cannot be that of a result; the message names the member."""


class Unusable(str):
    """The digits of a number that is too large or too small for any result."""


def _number(text: str) -> float | int | Unusable:
    value = float(text)
    if abs(value) > LARGEST or 0 < abs(value) < 1 / LARGEST:
        return Unusable(text)
    return value if set(text) & set(".eE") else int(text)


def _unusable(value: Any) -> Unusable | None:
    """Returns the first unusable number that `value` is or holds; objects have refused theirs already."""
    if isinstance(value, list):
        return next(filter(None, map(_unusable, value)), None)
    return value if isinstance(value, Unusable) else None


def _object(members: list[tuple[str, object]]) -> dict[str, Any]:
    made = {}
    for name, value in members:
        if name in made:
            raise Refused(f"the member '{name[:40]}' occurs twice in one object")
        digits = _unusable(value)
        if digits:
            shown = digits if len(digits) <= 40 else f"{digits[:20]}..., {len(digits)} characters long"
            raise Refused(f"the member '{name[:40]}' holds {shown}: no result has such a number")
        made[name] = value
    return made


def load(path: Path, name: str) -> dict[str, Any]:
    """Returns the JSON object in the file; refuses NaN and infinities, which are not JSON."""

    def no_constant(constant: str) -> Any:
        raise ValueError(f"it holds {constant}")

    try:
        with open(path, "rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ReportError(BAD_INPUT, f"'{name}' has more than {MAX_BYTES >> 20} MiB")
        document = json.loads(content, parse_constant=no_constant, parse_int=_number, parse_float=_number,
                              object_pairs_hook=_object)
    except OSError as error:
        raise ReportError(IO, f"cannot read '{name}': {error.strerror}") from error
    except Refused as error:
        raise ReportError(BAD_INPUT, f"'{name}': {error}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(BAD_INPUT, f"'{name}' is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ReportError(BAD_INPUT, f"'{name}' is not a JSON object")
    return document


def read(documents: list[dict[str, Any]]) -> Records:
    """Returns the records of documents, each {"name", "origin", "content"} as in the file of --json."""
    records = Records()
    for entry in documents:
        name, content = str(entry["name"]), entry["content"]
        for kind, schema, members, reader in KINDS:
            if content.get("schema") == schema if schema else all(member in content for member in members):
                try:
                    reader(content, records)
                except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
                    raise ReportError(BAD_INPUT, f"'{name}' is not what {kind} writes: {_reason(error)}") from error
                records.sources.append((name, kind, str(entry["origin"])))
                break
        else:
            raise ReportError(BAD_INPUT, f"'{name}' is of no kind that a report can show",
                              "it shows: " + ", ".join(kind[0] for kind in KINDS))
    return records


def unpack(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Returns the documents of a file of --json."""
    if document.get("schema") != SCHEMA:
        raise ReportError(BAD_INPUT, f"'{name}' is not the data of a report",
                          "--from takes a file that --json wrote; add other results with --add")
    documents = document.get("documents")
    if not isinstance(documents, list) or not all(
            isinstance(entry, dict) and isinstance(entry.get("content"), dict) and "name" in entry and
            "origin" in entry for entry in documents):
        raise ReportError(BAD_INPUT, f"'{name}' has no list of documents")
    return documents


def _reason(error: Exception) -> str:
    return f"no member {error}" if isinstance(error, KeyError) else str(error)
