# SPDX-License-Identifier: Apache-2.0
"""The page in Chromium: no errors, every chart shows its data, in narrow windows, in the dark and on paper."""

import json
import math
import re
import shutil
import sys
import tempfile
import unittest

from samples import RESULTS, ROOT, Case, bench, data, doctor, everything, profile

sys.path.append(str(ROOT / "tests/support"))
from chromium import Browser  # noqa: E402

# In the page: {chart: [[series, key, value]...]} of the drawings; then what is beside each.
DRAWN = """Object.fromEntries([...document.querySelectorAll('svg[data-chart]')].map(svg => [svg.dataset.chart,
  [...svg.querySelectorAll('[data-value]')].map(m => [m.dataset.series, m.dataset.key, Number(m.dataset.value)])]))"""
DETAILS = """[...document.querySelectorAll('figure')].map(f => { const svg = f.querySelector('svg[data-chart]');
  const words = id => { const e = document.getElementById(id); return e ? e.textContent : '' };
  return {id: svg.dataset.chart, role: svg.getAttribute('role'),
    spoken: svg.getAttribute('aria-labelledby').split(' ').map(words),
    caption: f.querySelector('figcaption').textContent,
    axes: [...svg.querySelectorAll('text.axis')].map(t => t.textContent),
    legend: [...f.querySelectorAll('.legend li')].map(l => l.textContent),
    heads: [...f.querySelectorAll('details thead th')].map(t => t.textContent),
    rows: [...f.querySelectorAll('details tbody tr')].map(r => [...r.children].map(c => c.textContent)),
    marks: svg.querySelectorAll('[data-value]').length,
    cut: [...svg.querySelectorAll('text')].filter(t => {
      const a = t.getBoundingClientRect(), b = svg.getBoundingClientRect();
      return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1
    }).map(t => t.textContent),
    letters: 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width}})"""
COLOURS = """['body', 'h1', 'a', 'svg text.row', '.grid', '.mark.c0:not(.hollow)', '.mark.c3:not(.hollow)', '.band',
  'p.about'].map(name => { const s = getComputedStyle(document.querySelector(name));
  return [name, s.color, s.backgroundColor, s.fill, s.stroke] })"""


@unittest.skipUnless(shutil.which("chromium"), "no chromium here")
class Page(Case):
    @classmethod
    def setUpClass(cls):
        profile_folder = tempfile.TemporaryDirectory(prefix="polykem-chromium-")
        cls.addClassCleanup(profile_folder.cleanup)
        cls.browser = Browser(shutil.which("chromium"), profile_folder.name)
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, content, width=1280, height=900, **media):
        """The page of the data; every message, exception and request is kept in the browser's events."""
        self.page(content)
        self.browser.events.clear()
        tab = self.browser.new_tab()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.browser.call(f"{domain}.enable", tab)
        self.resize(tab, width, height)
        self.media(tab, **media)
        self.browser.call("Page.navigate", tab, url=f"file://{self.folder}/page.html")
        self.browser.event("Page.loadEventFired")
        self.assertEqual(self.browser.value(tab, "document.readyState"), "complete")
        return tab

    def resize(self, tab, width, height=900):
        self.browser.call("Emulation.setDeviceMetricsOverride", tab, width=width, height=height, deviceScaleFactor=1,
                          mobile=False)

    def media(self, tab, media="", scheme="light"):
        self.browser.call("Emulation.setEmulatedMedia", tab, media=media,
                          features=[{"name": "prefers-color-scheme", "value": scheme}])

    def test_no_error_and_no_request(self):
        tab = self.open(everything())
        self.browser.value(tab, "document.querySelectorAll('details').forEach(d => d.open = true)")
        events = self.browser.events
        self.assertEqual([e for e in events if e["method"] in
                          ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")], [])  # fmt: skip
        requests = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        self.assertEqual(requests, [f"file://{self.folder}/page.html"])
        self.assertEqual(self.browser.value(tab, "document.scripts.length"), 0)
        # The browser does report what the page's policy forbids: this test can fail.
        self.browser.value(tab, "document.body.append(Object.assign(new Image(), {src: 'http://localhost:9/x.png'}))")
        self.assertIn("Content Security Policy", self.browser.event("Log.entryAdded")["entry"]["text"])

    def test_every_chart_has_its_data(self):
        tab = self.open(everything())
        drawn = self.browser.value(tab, DRAWN)
        expected = {**profiles(), **rates(), **floors(), **peers(), **papers()}
        self.assertEqual(sorted(drawn), sorted(expected))
        for chart, marks in drawn.items():
            shown = {(series, key): value for series, key, value in marks}
            self.assertEqual(len(shown), len(marks), chart)
            self.assertEqual(sorted(shown), sorted(expected[chart]), chart)
            for place, value in expected[chart].items():
                self.assertTrue(math.isclose(shown[place], value, rel_tol=1e-12), (chart, place))

    def test_marks_stand_where_their_values_are(self):
        """On a logarithmic axis equal ratios are equal distances; a stack has no gaps; marks stand at their ticks."""
        tab = self.open(data(bench()))
        heights = self.browser.value(tab, """[...document.querySelectorAll(
            '#rate-mlkem768-keygen [data-series=ref]')].map(m => m.getBBox()).map(r => r.y + r.height / 2)""")
        steps = [a - b for a, b in zip(heights, heights[1:])]
        self.assertEqual(len(steps), 4)
        self.assertGreater(min(steps), 5)
        self.assertLess(max(steps) - min(steps), 0.5)
        places, ticks = self.browser.value(tab, """[['#rate-mlkem768-keygen [data-series=ref]', m => m.dataset.key],
            ['#rate-mlkem768-keygen text[text-anchor=middle]', t => t.textContent]].map(([name, key]) =>
            Object.fromEntries([...document.querySelectorAll(name)].map(m => { const r = m.getBBox();
              return [key(m), r.x + r.width / 2] })))""")
        self.assertAlmostEqual(places["1"], ticks["1"], delta=0.5)
        self.assertAlmostEqual((places["16"] - places["1"]) / (ticks["100"] - ticks["1"]), 0.602, delta=0.005)
        tab = self.open(data(profile()))
        widths = dict(self.browser.value(tab, """[...document.querySelectorAll(
            '#profile-mlkem768-encaps-time [data-key=avx2]')].map(m => [m.dataset.series, m.getBBox().width])"""))
        self.assertAlmostEqual(widths["gen A"] / widths["hash"], 3, delta=0.05)
        ends = self.browser.value(tab, """[...document.querySelectorAll(
            '#profile-mlkem768-encaps-time [data-key=avx2]')].map(m => m.getBBox()).map(r => [r.x, r.x + r.width])""")
        for (_, end), (start, _) in zip(ends, ends[1:]):
            self.assertAlmostEqual(end, start, delta=0.11)

    def test_titles_axes_legends_tables(self):
        for chart in self.browser.value(self.open(everything()), DETAILS):
            with self.subTest(chart["id"]):
                self.assertEqual(chart["role"], "img")
                self.assertTrue(all(len(words) > 10 for words in chart["spoken"]), chart["spoken"])
                self.assertEqual(chart["spoken"][0], chart["caption"])
                self.assertEqual(len(chart["axes"]), 2)
                self.assertTrue(all(chart["axes"]))
                series = [entry for entry in chart["legend"] if not re.fullmatch(r"the (floor|peer) = 1", entry)]
                self.assertTrue(series)
                self.assertEqual(len(series), len(chart["heads"]) - 1)
                filled = sum(bool(cell) for row in chart["rows"] for cell in row[1:])
                self.assertEqual(filled, chart["marks"])
                self.assertEqual(chart["cut"], [])

    def test_narrow(self):
        tab = self.open(everything(), width=360, height=740)
        for opened in ("false", "true"):
            self.browser.value(tab, f"document.querySelectorAll('details').forEach(d => d.open = {opened})")
            self.assertEqual(self.browser.value(tab, "innerWidth"), 360)
            self.assertLessEqual(self.browser.value(tab, "document.documentElement.scrollWidth"), 360)
        for chart in self.browser.value(tab, DETAILS):
            self.assertGreaterEqual(chart["letters"], 9.5, chart["id"])
            self.assertEqual(chart["cut"], [], chart["id"])

    def test_long_names_do_not_widen_it(self):
        long = "x" * 300
        content = data(doctor(long), profile(long), profile(), bench(long), bench())
        tab = self.open(content, width=360)
        self.assertLessEqual(self.browser.value(tab, "document.documentElement.scrollWidth"), 360)

    def test_dark(self):
        tab = self.open(everything())
        light = self.browser.value(tab, COLOURS)
        self.media(tab, scheme="dark")
        dark = self.browser.value(tab, COLOURS)
        for before, after in zip(light, dark):
            self.assertNotEqual(before, after)
        for (_, ink, paper, *_), lighter in ((light[0], False), (dark[0], True)):
            self.assertEqual(luminance(ink) > luminance(paper), lighter)
        for colours in (light, dark):
            paper = colours[0][2]
            for name, ink, _, fill, _ in colours:
                if name in ("body", "h1", "a", "p.about", "svg text.row"):
                    self.assertGreaterEqual(contrast(fill if name.startswith("svg") else ink, paper), 4.5, name)
                if name.startswith(".mark"):
                    self.assertGreaterEqual(contrast(fill, paper), 3, name)

    def test_print(self):
        """On paper it is light, whatever the screen is, and charts stay whole."""
        tab = self.open(everything(), media="print", scheme="dark")
        paper = self.browser.value(tab, COLOURS)[0][2]
        self.assertGreater(luminance(paper), 0.9)
        self.assertEqual(self.browser.value(tab, "getComputedStyle(document.querySelector('nav')).display"), "none")
        whole = self.browser.value(tab, "getComputedStyle(document.querySelector('figure')).breakInside")
        self.assertEqual(whole, "avoid")


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


# What the charts of everything() should show, worked out from the JSON alone: {chart: {(series, key): value}}.


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
    return "ntru" if scheme.startswith("ntru") else "frodokem" if "frodo" in scheme else "ml-kem-and-kyber"


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
    from floors import floors as cycles, layout_of  # pylint: disable=import-outside-toplevel

    found = result("cpu_peers.json")
    layout = layout_of(found["machine"])
    for row in found["records"]:
        if row["backend"] == "avx512" and row["threads"] == 1 and row["count"] > 1 and row["keys"] == "per-item" \
                and "unsalted" not in row["peer"]:
            chart = charts.setdefault(
                f"floor-cpu-one-core-of-a-machine-with-avx-512-amd-epyc-zen-5-{family(row['scheme'])}", {})
            floor = cycles(row["scheme"], False, layout)[row["op"]]
            chart[row["op"], row["scheme"]] = found["ghz"] * 1e9 / row["ours_ops_per_s"] / floor
    return charts


def peers():
    charts = {}
    for row in result("cpu_peers.json")["records"]:
        if row["peer"].startswith("polykem") or row["keys"] != "per-item" or "unsalted" in row["peer"]:
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
    """The published figures are those of bench/seong2021/README.md and bench/frodo_cuda/README.md."""
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
