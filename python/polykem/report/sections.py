# SPDX-License-Identifier: Apache-2.0
"""Turns records into the sections of a report, with charts and tables. The order of SECTIONS is that of the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Iterable

from .charts import Axis, Chart, Figure, Mark, Section, Series, Table
from .documents import OverFloor, PeerRatio, Rate, Records, StepTime
from .units import human

OPS = ("keygen", "encaps", "decaps")
OP_SERIES = [Series("keygen", 0, 0), Series("encaps", 1, 1), Series("decaps", 2, 2)]
STEPS = ("OS randomness", "hash", "gen A", "product", "inversion", "sampling", "rest")
BACKENDS = ("ref", "avx2", "avx512", "cuda", "rtl")
FAMILIES = (("ML-KEM and Kyber", ("mlkem", "kyber")), ("NTRU", ("ntru",)), ("FrodoKEM", ("frodo", "efrodo")),
            ("Saber", ("saber", "lightsaber", "firesaber")))
PAPERS = json.loads((Path(__file__).parent / "papers.json").read_text(encoding="utf-8"))


def unique(values: Any) -> list[Any]:
    return list(dict.fromkeys(values))


def identifier(*words: object) -> str:
    return re.sub("[^a-z0-9]+", "-", " ".join(map(str, words)).lower()).strip("-")


def backend_order(name: str) -> tuple[Any, ...]:
    return (BACKENDS.index(name) if name in BACKENDS else len(BACKENDS), name)


def in_family(scheme: str, prefixes: tuple[Any, ...]) -> bool:
    return scheme.startswith(prefixes)


def op_order(ops: Iterable[str]) -> list[str]:
    return sorted(set(ops), key=lambda op: (OPS.index(op) if op in OPS else len(OPS), op))


# -- this machine ------------------------------------------------------------------------------------------------


def machine_section(records: Records) -> Section | None:
    blocks = []
    for machine in records.machines:
        rows = [["processor", machine.device], ["CPUs to use", str(machine.cpus)],
                ["memory", f"{machine.memory_bytes / 2**30:.1f} GiB"],
                ["instruction sets", " ".join(machine.features) or "none that polykem uses"],
                ["polykem", machine.polykem]]
        backends = [[b.name, "yes" if b.available else "no", b.description, b.requirements] for b in machine.backends]
        blocks += [Table(machine.device, [], rows, open=True),
                   Table("Backends, best first", ["backend", "here", "what it does", "needs"], backends, open=True)]
    return Section("machine", "This machine", "What 'polykem doctor' found.", blocks)


def self_test_section(records: Records) -> Section | None:
    blocks = []
    for machine in records.machines:
        names = sorted({name for test in machine.self_tests for name in test.verdicts}, key=backend_order)
        rows = [[test.scheme, test.would_run_on, *(test.verdicts.get(name, "not here") for name in names)]
                for test in machine.self_tests]
        head = ["parameter set", "would run on", *names]
        blocks.append(Table(f"Self-test, {machine.device}", head, rows, open=True))
    tests = [test for machine in records.machines for test in machine.self_tests]
    good = all(verdict == "ok" for test in tests for verdict in test.verdicts.values())
    answers = all(test.with_answers for test in tests)
    text = ("On every backend that runs here: a round trip on four key pairs, flipped bits" +
            (", and one published answer. " if answers else ". ") +
            ("All are right." if good else "AT LEAST ONE IS WRONG: see below."))
    return Section("self-test", "Self-test", text, blocks)


# -- where the time goes ------------------------------------------------------------------------------------------


def profile_section(records: Records) -> Section | None:
    if not records.steps:
        return None
    machines = unique(s.machine for s in records.steps)
    blocks: list[Figure | Table] = []
    for scheme in unique(s.scheme for s in records.steps):
        mine = [s for s in records.steps if s.scheme == scheme]
        ops = op_order(s.op for s in mine)
        charts = [stack_chart(scheme, op, mine, len(machines) > 1, False) for op in ops]
        charts += [stack_chart(scheme, op, mine, len(machines) > 1, True) for op in ops]
        blocks.append(Figure(scheme, "Above: the time of each step. Below: its share.", charts))
        blocks.append(stage_table(scheme, mine, len(machines) > 1))
    text = ("One thread; the stages of the specification, added up to the steps that all sets have in common. Where "
            "a backend does stages of several steps at once, and outside the stages, the time counts as rest.")
    return Section("profiles", "Where the time goes", text, blocks)


def row_name(step: StepTime, with_machine: bool) -> str:
    return f"{step.backend}, {step.machine}" if with_machine else step.backend


def stack_chart(scheme: str, op: str, steps: list[StepTime], with_machine: bool, shares: bool) -> Chart:
    rows = sorted((s for s in steps if s.op == op and not s.detail), key=lambda s: backend_order(s.backend))
    totals: dict[str, float] = {}
    for s in rows:
        totals[row_name(s, with_machine)] = totals.get(row_name(s, with_machine), 0.0) + s.microseconds
    names = [*STEPS, *sorted({s.step for s in rows} - set(STEPS))]
    marks = [Mark(s.step, row_name(s, with_machine),
                  100 * s.microseconds / totals[row_name(s, with_machine)] if shares else s.microseconds)
             for s in rows if s.microseconds > 0]
    spoken = "; ".join(f"{name}: {human(us)} microseconds" for name, us in totals.items())
    return Chart("bars", identifier("profile", scheme, op, "share" if shares else "time"),
                 f"{op}: " + ("share of each step" if shares else "time of each step"),
                 f"Stacked bars, a bar for each backend. {scheme} {op}, " + ("shares of " if shares else "") + spoken,
                 Axis("backend"), Axis("share of the time", "%") if shares else Axis("time of one operation", "µs"),
                 [Series(name, index % 8) for index, name in enumerate(names)], marks, palette="s")


def stage_table(scheme: str, steps: list[StepTime], with_machine: bool) -> Table:
    rows = [[s.op, row_name(s, with_machine), s.step, s.microseconds] for s in steps if s.detail]
    return Table(f"{scheme}: every stage of the specification", ["operation", "backend", "stage", "time, µs"], rows)


# -- operations per second ----------------------------------------------------------------------------------------


def rate_name(rate: Rate, machines: list[str]) -> str:
    name = rate.backend if len(machines) == 1 else f"{rate.backend}, {rate.machine}"
    return name + rate.keys.removeprefix("per-item")


def rates_section(records: Records) -> Section | None:
    rates = [r for r in records.rates if r.keys.startswith("per-item")]
    curves = [(r.machine, r.scheme, r.backend) for r in rates if not r.keys.removeprefix("per-item")]
    measured = unique(scheme for _, scheme, _ in curves) or unique(r.scheme for r in rates)
    rates = [r for r in rates if r.scheme in measured]
    if not rates:
        return None
    machines = unique(r.machine for r in rates)
    rates.sort(key=lambda r: (machines.index(r.machine), backend_order(r.backend), r.keys))
    names = unique(rate_name(r, machines) for r in rates)
    series = [Series(name, index % 6, index % 6, index >= 6) for index, name in enumerate(names)]
    blocks = []
    for scheme in measured:
        mine = [r for r in rates if r.scheme == scheme]
        charts = [rate_chart(scheme, op, mine, machines, series) for op in op_order(r.op for r in mine)]
        blocks.append(Figure(scheme, "", charts))
    text = ("From host memory to host memory, a key of its own for every item, all threads. What comes from a GPU's "
            "results file was measured on that GPU's machine.")
    return Section("rates", "Operations per second over batch size", text, blocks)


def rate_chart(scheme: str, op: str, rates: list[Rate], machines: list[str], series: Any) -> Chart:
    marks = [Mark(rate_name(r, machines), r.batch, r.per_second) for r in rates if r.op == op]
    best = max(marks, key=lambda mark: mark.value)
    return Chart("lines", identifier("rate", scheme, op), f"{scheme} {op}: rate over batch size",
                 f"Lines on logarithmic axes, one for each backend. The highest rate is {human(best.value)} "
                 f"operations per second, by {best.series} with {best.key:,} items a call.",
                 Axis("batch size", "items", True), Axis("rate", "operations/s", True), list(series), marks)


# -- time over floor ----------------------------------------------------------------------------------------------


def floor_section(records: Records) -> Section | None:
    if not records.floors:
        return None
    blocks = []
    for where, title, text in (
            ("gpu", "GPU: kernels, data on the GPU", "The floor of a step is the longest of what its arithmetic, its "
             "hashes and its memory traffic take at the rates that the GPU reaches (docs/gpu_figures.md)."),
            ("cpu", "One CPU core", "The floor is the operations that the algorithms cannot do without, at the rates "
             "of a core with AVX-512; loads, stores and packing have none (docs/performance.md).")):
        mine = [f for f in records.floors if f.where == where and not f.step and f.floor > 0]
        for machine in unique(f.machine for f in mine):
            charts = [chart for name, prefixes in FAMILIES
                      if (chart := floor_chart(name, prefixes, machine, where, mine))]
            if charts:
                blocks.append(Figure(f"{title}: {machine}", text, charts))
    for scheme in measured_or_known(records):
        steps = [f for f in records.floors if f.step and f.scheme == scheme]
        for machine in unique(f.machine for f in steps):
            rows = [f for f in steps if f.machine == machine]
            charts = [step_floor_chart(scheme, op, machine, rows) for op in op_order(f.op for f in rows)]
            blocks.append(Figure(f"{scheme}, step by step: {machine}", "", charts))
    text = ("1 is the least time that the work should take at rates that were measured on that machine by themselves. "
            "A step that is shorter than its floor, as the wiping of memory may be, shows how exact those rates are.")
    return Section("floors", "Time over floor", text, blocks)


def measured_or_known(records: Records) -> list[str]:
    """Returns the sets that were measured here; without any, one of each family."""
    known = unique(f.scheme for f in records.floors if f.step)
    measured = [s for s in unique([*(s.scheme for s in records.steps)]) if s in known]
    firsts = [next((s for s in known if in_family(s, prefixes)), None) for _, prefixes in FAMILIES]
    return measured or [s for s in firsts if s]


def floor_chart(family: str, prefixes: tuple[str, ...], machine: str, where: str,
                floors: list[OverFloor]) -> Chart | None:
    rows = [f for f in floors if f.machine == machine and in_family(f.scheme, prefixes)]
    if not rows:
        return None
    marks = [Mark(f.op, f.scheme, f.time / f.floor) for f in rows]
    low, high = min(m.value for m in marks), max(m.value for m in marks)
    return Chart("dots", identifier("floor", where, machine, family), f"{family}: time over floor",
                 f"A row for each parameter set, a mark for each operation; {low:.2f} to {high:.2f} times the floor.",
                 Axis("parameter set"), Axis("time / floor"), list(OP_SERIES), marks, reference=(1.0, "the floor"))


def step_floor_chart(scheme: str, op: str, machine: str, floors: list[OverFloor]) -> Chart:
    rows = [f for f in floors if f.op == op]
    marks = [mark for f in rows for mark in (Mark("time", f.step, f.time), Mark("floor", f.step, f.floor))]
    total, floor = sum(f.time for f in rows), sum(f.floor for f in rows)
    return Chart("dots", identifier("steps", scheme, op, machine), f"{op}: time and floor of each step",
                 f"{scheme} {op}: a row for each step; together {human(total)} of {human(floor)} nanoseconds an item.",
                 Axis("step"), Axis("time of one item", "ns", True), [Series("time", 0, 0), Series("floor", 5, 5)],
                 marks)


# -- peers --------------------------------------------------------------------------------------------------------


def peers_section(records: Records) -> Section | None:
    peers = [p for p in records.peers if p.keys == "per-item" and "unsalted" not in p.peer and p.ratio > 0]
    if not peers:
        return None
    blocks = []
    for machine in unique(p.machine for p in peers):
        for backend in unique(p.backend for p in peers if p.machine == machine):
            mine = [p for p in peers if p.machine == machine and p.backend == backend]
            charts = [chart for name, prefixes in FAMILIES
                      if (chart := peer_chart(name, prefixes, machine, backend, mine))]
            names = ", ".join(unique(p.peer for p in mine))
            if charts:
                blocks.append(Figure(f"{backend}: {machine}", f"Beside {names}.", charts))
    text = ("The rate of polykem over that of another library: on a CPU, on the same machine in the same run; on a "
            "GPU, over a rate of an earlier run on a GPU of the same kind. To the right of 1 polykem is quicker.")
    return Section("peers", "Beside other libraries", text, blocks)


def peer_chart(family: str, prefixes: tuple[str, ...], machine: str, backend: str,
               peers: list[PeerRatio]) -> Chart | None:
    rows = [p for p in peers if in_family(p.scheme, prefixes)]
    if not rows:
        return None
    series, marks = [], []
    for single in (False, True):
        for op in OP_SERIES:
            mine = [p for p in rows if (p.batch == 1) == single and p.op == op.name]
            name = f"{op.name}, {'one at a time' if single else 'batch'}"
            series.append(Series(name, op.colour, op.shape, single))
            marks += [Mark(name, p.scheme, p.ratio) for p in mine]
    low, high = min(m.value for m in marks), max(m.value for m in marks)
    return Chart("dots", identifier("peers", backend, machine, family), f"{family}: polykem over its peer",
                 f"A row for each parameter set; from {low:.2f} to {high:.2f} times the peer's rate.",
                 Axis("parameter set"), Axis("rate / rate of the peer", "", True), series, marks,
                 reference=(1.0, "the peer"))


# -- papers -------------------------------------------------------------------------------------------------------


def papers_section(records: Records) -> Section | None:
    blocks = [figure for document in records.seong for figure in seong_figures(document)]
    blocks += [frodo_figure(document) for document in records.frodo]
    if not blocks:
        return None
    text = "\n".join(f"{paper['citation']}. {paper.get('url', '')}" for paper in PAPERS.values())
    return Section("papers", "Beside published figures", text, blocks)


def seong_figures(document: dict[str, Any]) -> list[Figure]:
    paper = PAPERS["seong21"]
    clients = [seong_clients_chart(document, index, op) for index, op in enumerate(("encaps", "decaps"))]
    threads = seong_threads_chart(document)
    return [Figure(f"N clients at once, {document['set']} on {document['device']}",
                   "The paper's kernels, written again, and polykem's in one run [SEONG21, table 8, figures 12, 13]; "
                   f"the paper's own figures are of N = {paper['clients']:,} on an {paper['device']}.", clients),
            Figure(f"One block of threads, {document['set']} on {document['device']}",
                   "How many times faster the best number of threads is than one [SEONG21, figures 8 to 10, table 6].",
                   [threads]),
            *one_key_figures(document)]


def one_key_figures(document: dict[str, Any]) -> list[Figure]:
    """Returns figures of small batches for one key, the case of another NTRU on GPUs."""
    peer = PAPERS["tensorcrypto"]
    ours, theirs = f"polykem on {document['device']}", f"TensorCrypto on {peer['device']}, measured by us"
    marks = [Mark(ours, f"{row['set']}, {op}", row["batch"] / row[f"{op}_ms"] * 1000)
             for row in document.get("one_key", []) for op in ("encrypt", "decrypt")]
    if not marks:
        return []
    for scheme, rates in peer["per_second"].items():
        marks += [Mark(theirs, f"{scheme}, {op}", float(rate)) for op, rate in rates.items()]
    batches = ", ".join(f"{row['batch']} ({row['set']})" for row in document["one_key"])
    chart = Chart("dots", identifier("one-key", document["device"]), "One key: encryptions and decryptions a second",
                  "A row for each set and operation, a mark for polykem and one for TensorCrypto.",
                  Axis("set, operation"), Axis("rate", "operations/s", True),
                  [Series(ours, 0, 0), Series(theirs, 1, 3, True)], marks)
    return [Figure(f"One key, {document['device']}",
                   f"Without sampling and hashing, transfers included; batches of {batches}.", [chart])]


def seong_clients_chart(document: dict[str, Any], index: int, op: str) -> Chart:
    paper = PAPERS["seong21"]
    lines = (("2021 kernels, one kernel", "paper", 2 * index), ("2021 kernels, hash split off", "paper", 2 * index + 1),
             ("polykem, CPU reference", "ref", index), ("polykem, CPU vectors", "cpu", index),
             ("polykem, GPU host to host", "host", index), ("polykem, GPU kernels", "kernels", index))
    order = (3, 4, 5, 2, 1, 0)
    series = [Series(name, colour, colour) for (name, _, _), colour in zip(lines, order)]
    marks = [Mark(name, int(row["n"]), float(row[key][at])) for name, key, at in lines for row in document["crowd"]]
    for number, (name, ms) in enumerate(paper["milliseconds"][op].items()):
        named = f"{paper['device'] if 'CPU' not in name else 'paper'}, published, {name}"
        series.append(Series(named, number + 1, number + 2, True))
        marks.append(Mark(named, paper["clients"], float(ms)))
    return Chart("lines", identifier("seong", document["device"], op), f"{document['set']} {op}: time for N clients",
                 "Lines on logarithmic axes: the time until all clients are served, over their number. " +
                 "; ".join(f"published, {name}, {paper['clients']:,} clients: {ms} ms"
                           for name, ms in paper["milliseconds"][op].items()),
                 Axis("clients", "", True), Axis("time", "ms", True), series, marks)


def seong_threads_chart(document: dict[str, Any]) -> Chart:
    published = PAPERS["seong21"]["speedup_of_one_block"]
    ours = f"{document['device']}, 2021 kernels"
    theirs = f"{PAPERS['seong21']['device']}, published"
    marks = []
    for row in document["one_block"]:
        times = [float(us) for us in row["us"] if us > 0]
        if times:
            marks.append(Mark(ours, row["operation"], times[0] / min(times)))
        if row["operation"] in published:
            marks.append(Mark(theirs, row["operation"], float(published[row["operation"]])))
    return Chart("dots", identifier("seong-threads", document["device"]), "Speed-up of one block over one thread",
                 "A row for each operation, a mark for this GPU and one for the paper's.", Axis("operation"),
                 Axis("speed-up", "times", True), [Series(ours, 0, 0), Series(theirs, 1, 3, True)], marks)


def frodo_figure(document: dict[str, Any]) -> Figure:
    published = PAPERS["frodo"]["over_one_core"]
    one = [r for r in document["generation"] if r["function"] == "aes" and r["n"] == 6144]
    product = [r for r in document["products"] if r["n"] == 3200 and r["m"] == 3200]
    ours = f"{document['device']} over {document['cpu']}"
    theirs = f"{PAPERS['frodo']['device']}, published"
    marks = [Mark(theirs, name, float(ratio)) for name, ratio in published.items()]
    names = list(published)
    marks += [Mark(ours, names[0], row["cpu_ms"] / row["one_ms"]) for row in one if row["one_ms"] > 0]
    marks += [Mark(ours, names[1], row["cpu_ms"] / row["ms"]) for row in product if row["ms"] > 0]
    chart = Chart("dots", identifier("frodo-paper", document["device"]), "FrodoKEM: GPU over one core",
                  "A row for each of two heavy parts, a mark for this GPU and one for the published figure.",
                  Axis("part"), Axis("time of one core / time of the GPU", "", True),
                  [Series(ours, 0, 0), Series(theirs, 1, 3, True)], marks)
    return Figure("FrodoKEM's matrix",
                  "One matrix of AES-128, and one product; each GPU beside a core of its own host.", [chart])


# -- sources ------------------------------------------------------------------------------------------------------


def sources_section(records: Records) -> Section:
    rows = [list(source) for source in records.sources]
    table = Table("Documents", ["name", "kind", "origin"], rows, open=True)
    return Section("sources", "Where the figures come from", "", [table])


SECTIONS = (machine_section, self_test_section, profile_section, rates_section, floor_section, peers_section,
            papers_section, sources_section)


def sections(records: Records) -> list[Section]:
    made = [section(records) for section in SECTIONS]
    return [section for section in made if section is not None and section.blocks]
