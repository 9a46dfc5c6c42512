# SPDX-License-Identifier: Apache-2.0
"""Measures this machine through the Python package, where there is no program polykem: after `pip install` alone. What
it returns has the form of the program's JSON. There are no known answers here; the package's own tests have them."""

from __future__ import annotations

import importlib.util
import os
import statistics
import time
from pathlib import Path
from typing import Any, Callable

from .errors import BACKEND, CHECK_FAILED, ReportError

OPS = ("keygen", "encaps", "decaps")
SELF_TEST_ITEMS = 4
PROFILE_BATCH = 256
# The beginning or end of a stage's name, and its step; the first match counts. As in cli/profile/steps.cpp.
PATTERNS = (("randombytes", "OS randomness"), ("shake", "hash"), ("sha3", "hash"), ("sha256", "hash"), ("prg", "hash"),
            ("gen_a", "gen A"), ("gen_matrix", "gen A"), ("sample_ntt", "gen A"), ("expand_a", "gen A"),
            ("matmul", "product"), ("multiply", "product"), ("expand", "sampling"), ("*_mul", "product"),
            ("*ntt", "product"), ("inner_prod", "product"), ("poly_aff", "product"), ("*_inv", "inversion"),
            ("sample", "sampling"), ("gen_secret", "sampling"), ("gen_psi", "sampling"))
FUSED = "gen A, product"  # the step of backends that multiply A while they make it


def is_available() -> bool:
    """Returns whether the package can be imported with its compiled part."""
    try:
        return importlib.util.find_spec("polykem._core") is not None
    except ImportError:
        return False


def step_of(stage: str) -> str:
    name = stage.partition(".")[0]
    for pattern, step in PATTERNS:
        if name.endswith(pattern[1:]) if pattern.startswith("*") else name.startswith(pattern):
            return step
    return "rest"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return os.uname().machine


class Library:
    """The package polykem, with the interface of collect.Program."""

    def __init__(self) -> None:
        import polykem  # pylint: disable=import-outside-toplevel,import-self

        self._polykem = polykem
        self.failed = False
        self._head = {"version": polykem.__version__, "device": processor()}

    def doctor(self) -> dict[str, Any]:
        backends = self._polykem.backends()
        schemes = [self._check(scheme) for scheme in self._polykem.schemes()]
        self.failed = not all(scheme["ok"] for scheme in schemes)
        return {"schema": "polykem-doctor-1", **self._head, "commit": "the Python package", "compiler": "",
                "cpu_features": self._polykem.cpu_features(), "cpus": len(os.sched_getaffinity(0)),
                "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
                "backends": [{"name": b.name, "description": b.description, "requirements": b.requirements,
                              "available": b.available} for b in backends],
                "schemes": schemes, "ok": not self.failed}

    def sets(self) -> list[dict[str, Any]]:
        return [{"name": scheme.name, "family": scheme.family} for scheme in self._polykem.schemes()]

    def profile(self, scheme: str, seconds: float) -> dict[str, Any]:
        profiles = []
        for backend in self._backends_of(scheme):
            with self._polykem.Context(threads=1, backend=backend) as context:
                profiles.append({"scheme": scheme, "backend": backend,
                                 "ops": [self._profile_of(context, scheme, op, seconds) for op in OPS]})
        return {"schema": "polykem-profile-1", **self._head, "profiles": profiles}

    def bench(self, scheme: str, backend: str, batch: int, seconds: float) -> dict[str, Any]:
        if backend not in self._backends_of(scheme):
            raise ReportError(BACKEND, f"{backend} does not run {scheme}")
        with self._polykem.Context(backend=backend) as context:
            pk, sk = context.keygen(scheme, batch)
            ct, ss, _ = context.encaps(scheme, pk)
            work = {"keygen": lambda: context.keygen(scheme, batch), "encaps": lambda: context.encaps(scheme, pk),
                    "decaps": lambda: context.decaps(scheme, sk, ct)}
            records = [{"scheme": scheme, "op": op, "backend": backend, "count": batch, "keys": "per-item",
                        **_timed(work[op], batch, seconds)} for op in OPS]
            if not context.decaps(scheme, sk, ct).ss == ss:
                raise ReportError(CHECK_FAILED, f"{scheme} on {backend}: secrets differ")
            return {"schema": "polykem-bench-1", **self._head, "threads": context.threads, "outputs": "fresh memory",
                    "records": records}

    def _backends_of(self, scheme: str) -> list[str]:
        """Returns the available backends that run the set, best first."""
        found = []
        for backend in self._polykem.backends():
            if backend.available:
                with self._polykem.Context(threads=1, backend=backend.name) as context:
                    if context.backend(scheme) == backend.name:
                        found.append(backend.name)
        return found

    def _check(self, scheme: Any) -> dict[str, Any]:
        tests = []
        for backend in self._backends_of(scheme.name):
            with self._polykem.Context(threads=1, backend=backend) as context:
                tests.append({"backend": backend, **self._self_test(context, scheme)})
        best = tests[0]["backend"] if tests else ""
        return {"name": scheme.name, "backend": best, "because": "best that runs here", "self_tests": tests,
                "ok": bool(tests) and all(test["ok"] for test in tests)}

    def _self_test(self, context: Any, scheme: Any) -> dict[str, Any]:
        """Checks a round trip, and that ciphertexts with a flipped bit yield other secrets."""
        try:
            pk, sk = context.keygen(scheme, SELF_TEST_ITEMS)
            ct, ss, _ = context.encaps(scheme, pk)
            round_trip = bool(context.decaps(scheme, sk, ct).ss == ss)
            flipped = ct.copy()
            flipped[:, scheme.ciphertext_bytes // 2] ^= 1
            rejection = not context.decaps(scheme, sk, flipped).ss == ss
            return {"ok": round_trip and rejection, "round_trip": round_trip, "rejection": rejection, "error": ""}
        except self._polykem.Error as error:
            return {"ok": False, "round_trip": False, "rejection": False, "error": str(error)}

    def _profile_of(self, context: Any, scheme: str, op: str, seconds: float) -> dict[str, Any]:
        first = context.profile(scheme, op, 1, batch=1)
        count = max(1, min(100_000, int(seconds * 1e9 / max(1, first.wall_nanoseconds))))
        found = context.profile(scheme, op, count, batch=PROFILE_BATCH)
        steps, stages = {step: 0 for step in [s for _, s in PATTERNS] + [FUSED, "rest"]}, []
        for record in found:
            names = {step_of(stage) for stage in record.stages}
            fused = FUSED if names == {"gen A", "product"} else "rest"
            steps[names.pop() if len(names) == 1 else fused] += record.nanoseconds
            stages.append({"function": " + ".join(record.stages), "steps": 1, "calls": record.calls,
                           "items": record.items, "ns": record.nanoseconds})
        inside = found.stage_nanoseconds
        wall = max(found.wall_nanoseconds, inside)
        steps["rest"] += wall - inside
        return {"op": op, "count": found.count, "batch": found.batch, "threads": found.threads, "wall_ns": wall,
                "stages_ns": inside, "steps": [{"step": step, "ns": ns} for step, ns in steps.items()],
                "stages": stages}


def _timed(work: Callable[[], object], batch: int, seconds: float) -> dict[str, Any]:
    """Calls `work` until `seconds` have passed, at least once after a warm-up."""
    work()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    median = statistics.median(times)
    return {"ops_per_s": batch / median, "median_s": median, "best_s": min(times), "runs": len(times)}
