# SPDX-License-Identifier: Apache-2.0
"""Tests polykem-report without the program polykem, where the package measures. tests/report tests the page."""

import json
import math

import polykem
from polykem.report import collect, main


def run(folder, monkeypatch, *words):
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("POLYKEM_PROGRAM", raising=False)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(collect, "BATCHES", (1, 4, 16))
    monkeypatch.setattr(collect, "PATIENCE", math.inf)  # the same batches on a busy machine
    return main(["--scheme", "mlkem512", "--seconds", "0.02", "--json", "a.json", "--quiet", "--no-published", *words])


def test_measures_by_itself(tmp_path, monkeypatch):
    assert run(tmp_path, monkeypatch) == 0
    assert "mlkem512: every stage of the specification" in (tmp_path / "polykem-report.html").read_text()
    found = {d["name"]: d["content"] for d in json.loads((tmp_path / "a.json").read_text())["documents"]}
    here = [b.name for b in polykem.backends() if b.available and b.name != "amx"]  # amx leaves ML-KEM to avx512
    assert [s["name"] for s in found["doctor"]["schemes"]] == [s.name for s in polykem.schemes()]
    assert found["doctor"]["ok"] is True
    assert [p["backend"] for p in found["profile mlkem512"]["profiles"]] == here
    for profile in found["profile mlkem512"]["profiles"]:
        for op in profile["ops"]:
            assert sum(step["ns"] for step in op["steps"]) == op["wall_ns"]
    for backend in here:
        assert {r["count"] for r in found[f"bench mlkem512 {backend}"]["records"]} == {1, 4, 16}


def test_a_failed_self_test(tmp_path, monkeypatch):
    monkeypatch.setattr(polykem.Context, "decaps", lambda self, scheme, sk, ct: polykem.Decapsulations(None, None))
    assert run(tmp_path, monkeypatch) == 1
    error = json.loads((tmp_path / "a.json").read_text())
    assert error["exit_code"] == 1 and "secrets differ" in error["error"]
