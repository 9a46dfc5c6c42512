# SPDX-License-Identifier: Apache-2.0
"""Tests the page in Chromium: no errors, marks where they belong, in narrow windows, in dark mode and on paper."""

import re
import shutil
import sys
import tempfile
import unittest

from samples import ROOT, Case, bench, data, doctor, everything, profile

sys.path.append(str(ROOT / "tests/support"))
from chromium import Browser  # noqa: E402

# Runs in the page: collects the texts around each drawing.
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
        """Opens the page of the data; the browser's events keep every message, exception and request."""
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

    def test_marks_stand_where_their_values_are(self):
        """On a logarithmic axis equal ratios are equal distances, a stack has no gaps, and marks are at their ticks."""
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
        """On paper the page is light, whatever the screen is, and charts are not split."""
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


if __name__ == "__main__":
    unittest.main()
