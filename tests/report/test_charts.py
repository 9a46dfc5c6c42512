# SPDX-License-Identifier: Apache-2.0
"""Tests that every chart of the page shows exactly its data, which is computed here from the JSON alone."""

import html.parser
import json
import math
import sys
import unittest

from samples import RESULTS, ROOT, Case, bench, everything, profile

FAMILIES = {"ntru": "ntru", "frodo": "frodokem", "mlkem": "ml-kem-and-kyber", "kyber": "ml-kem-and-kyber",
            "saber": "saber"}
FEW = 16  # batches of 2 to so many are measured, and not drawn


class Marks(html.parser.HTMLParser):
    """Collects the marks of the drawings. charts: {chart: [(series, key, value)...]}."""

    def __init__(self):
        super().__init__()
        self.charts = {}
        self.shown = None

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "data-chart" in found:
            assert found["data-chart"] not in self.charts, f"two charts are called {found['data-chart']}"
            self.shown = self.charts[found["data-chart"]] = []
        elif "data-value" in found:
            self.shown.append((found["data-series"], found["data-key"], float(found["data-value"])))


class Charts(Case):
    def test_every_chart_has_its_data(self):
        marks = Marks()
        marks.feed(self.page(everything()))
        expected = {**profiles(), **rates(), **floors(), **peers(), **papers()}
        self.assertEqual(sorted(marks.charts), sorted(expected))
        for chart, drawn in marks.charts.items():
            shown = {(series, key): value for series, key, value in drawn}
            self.assertEqual(len(shown), len(drawn), chart)
            self.assertEqual(sorted(shown), sorted(expected[chart]), chart)
            for place, value in expected[chart].items():
                self.assertTrue(math.isclose(shown[place], value, rel_tol=1e-12), (chart, place))


# What the charts of everything() should show: {chart: {(series, key): value}}.


def result(name):
    return json.loads((RESULTS / name).read_text())


def profiles():
    charts = {}
    for entry in profile()["profiles"]:
        for op in entry["ops"]:
            times = {step["step"]: step["ns"] for step in op["steps"] if step["ns"]}
            for step, ns in times.items():
                place = (step, entry["backend"])
                name = f"profile-mlkem768-{op['op']}"
                charts.setdefault(f"{name}-time", {})[place] = ns / 1000 / op["count"]
                charts.setdefault(f"{name}-share", {})[place] = 100 * ns / op["wall_ns"]
    return charts


def rates():
    charts = {}
    for record in bench()["records"]:
        place = (f"{record['backend']}, a machine", str(record["count"]))
        charts.setdefault(f"rate-mlkem768-{record['op']}", {})[place] = record["ops_per_s"]
    for group in result("h200_mlkem.json")["sets"]:
        for row in group["host_to_host"]:
            if group["name"] == "mlkem768":
                memory = "pinned" if row["pinned"] else "ordinary"
                place = (f"cuda, NVIDIA H200, {memory} memory", str(row["items"]))
                charts[f"rate-mlkem768-{row['op']}"][place] = row["items"] / (row["ms"] / 1000)
    return charts


def family(scheme):
    return next(name for part, name in FAMILIES.items() if part in scheme)


def floors():
    charts = {}
    for name in ("h200_mlkem.json", "h200_ntru.json", "h200_frodokem.json"):
        for group in result(name)["sets"]:
            for row in group["resident"]:
                time, floor = (sum(step[key] for step in row["steps"]) for key in ("ns", "floor_ns"))
                chart = charts.setdefault(f"floor-gpu-nvidia-h200-{family(group['name'])}", {})
                chart[row["op"], group["name"]] = time / floor
                if group["name"] == "mlkem768":
                    charts[f"steps-mlkem768-{row['op']}-nvidia-h200"] = {
                        (series, step["name"]): step[key] for step in row["steps"]
                        for series, key in (("time", "ns"), ("floor", "floor_ns")) if step[key]}  # fmt: skip
    sys.path.append(str(ROOT / "tools"))
    from floors import floors as cycles, model_of  # pylint: disable=import-outside-toplevel

    found = result("cpu_peers.json")
    model = model_of(found["machine"])
    for row in found["records"]:
        if row["backend"] == "avx512" and row["threads"] == 1 and row["count"] > FEW and row["keys"] == "per-item" \
                and "unsalted" not in row["peer"]:
            chart = charts.setdefault(
                f"floor-cpu-one-core-of-a-machine-with-avx-512-amd-epyc-zen-5-{family(row['scheme'])}", {})
            floor = cycles(row["scheme"], False, model)[row["op"]]
            chart[row["op"], row["scheme"]] = found["ghz"] * 1e9 / row["ours_ops_per_s"] / floor
    return charts


def peers():
    charts = {}
    for row in result("cpu_peers.json")["records"]:
        if row["peer"].startswith("polykem") or row["keys"] != "per-item" or "unsalted" in row["peer"] \
                or 1 < row["count"] <= FEW:
            continue
        chart = f"peers-{row['backend']}-one-core-of-a-machine-with-avx-512-amd-epyc-zen-5-{family(row['scheme'])}"
        series = f"{row['op']}, {'batch' if row['count'] > 1 else 'one at a time'}"
        charts.setdefault(chart, {})[series, row["scheme"]] = row["ratio"]
    for group in result("h200_mlkem.json")["sets"]:
        for row in group["resident"]:
            if "peer" in row:
                chart = charts.setdefault("peers-cuda-nvidia-h200-ml-kem-and-kyber", {})
                chart[f"{row['op']}, batch", group["name"]] = row["ratio"]
    return charts


def papers():
    """Returns the published figures, those of research/seong2021/README.md and research/frodo_cuda/README.md."""
    found, charts = result("h200_seong2021.json"), {}
    names = {"2021 kernels, one kernel": ("paper", 0), "2021 kernels, hash split off": ("paper", 1),
             "polykem, CPU reference": ("ref", 0), "polykem, CPU vectors": ("cpu", 0),
             "polykem, GPU host to host": ("host", 0), "polykem, GPU kernels": ("kernels", 0)}
    for index, op in enumerate(("encaps", "decaps")):
        charts[f"seong-nvidia-h200-{op}"] = {
            (name, str(row["n"])): row[key][at + (2 if key == "paper" else 1) * index]
            for name, (key, at) in names.items() for row in found["crowd"]
            if row[key][at + (2 if key == "paper" else 1) * index] > 0}  # fmt: skip
    charts["seong-nvidia-h200-encaps"].update({("RTX 2080, published, one kernel", "10000"): 94.4,
                                               ("paper, published, CPU, reference", "10000"): 4704})
    charts["seong-nvidia-h200-decaps"].update({("RTX 2080, published, one kernel", "10000"): 87.6,
                                               ("RTX 2080, published, hash split off", "10000"): 72.2,
                                               ("paper, published, CPU, reference", "10000"): 11153})
    published = {"randombytes": 173, "sample_iid": 184, "sample_fixed_type": 1.0, "poly_Rq_mul": 159,
                 "mod (3, Phi_n)": 184, "poly_lift": 233, "add": 209}
    charts["seong-threads-nvidia-h200"] = {
        **{("NVIDIA H200, 2021 kernels", r["operation"]): r["us"][0] / min(r["us"]) for r in found["one_block"]},
        **{("RTX 2080, published", operation): times for operation, times in published.items()}}
    ours = {("polykem on NVIDIA H200", f"{row['set']}, {op}"): row["batch"] / (row[f"{op}_ms"] / 1000)
            for row in found["one_key"] for op in ("encrypt", "decrypt")}
    theirs = {"ntruhps2048509, encrypt": 0.80e6, "ntruhps2048509, decrypt": 1.22e6, "ntruhps2048677, encrypt": 0.99e6,
              "ntruhps2048677, decrypt": 1.19e6}
    charts["one-key-nvidia-h200"] = {**ours, **{("TensorCrypto on NVIDIA H200, measured by us", key): rate
                                                for key, rate in theirs.items()}}
    frodo = result("h200_frodo_paper.json")
    generation = next(r for r in frodo["generation"] if r["function"] == "aes" and r["n"] == 6144)
    product = next(r for r in frodo["products"] if r["n"] == r["m"] == 3200)
    ours = "NVIDIA H200 over one core, avx512"
    charts["frodo-paper-nvidia-h200"] = {
        (ours, "generate A, n = 6144"): generation["cpu_ms"] / generation["one_ms"],
        (ours, "multiply 3200 x 3200"): product["cpu_ms"] / product["ms"],
        ("TITAN Xp, published", "generate A, n = 6144"): 7.6, ("TITAN Xp, published", "multiply 3200 x 3200"): 74}
    return charts


if __name__ == "__main__":
    unittest.main()
