# SPDX-License-Identifier: Apache-2.0
"""Tests what polykem bench measures and records."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from program import PROGRAM, SET, USAGE, Case


class Bench(Case):
    def test_frodo_scaling(self):
        args = ("bench", "frodo-scaling", "--n", "64,72", "--size", "72", "--width", "8,24", "--seconds", "0.001")
        result = self.json(*args)
        rows = result["records"]
        backends = {r["backend"] for r in rows}
        self.assertIn("ref", backends)
        self.assertEqual(len(rows), len(backends) * (2 * 2 + 2))
        self.assertEqual(result["checked"], len(rows) - 6)
        for row in rows:
            self.assertGreater(row["ms"], 0)
            self.assertEqual("nbar" in row, row["part"] == "product")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plot.svg"
            self.ok(*args, "--svg", str(path))
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            curves = root.findall("{http://www.w3.org/2000/svg}polyline")
            self.assertEqual(len(curves), len(backends) * 3)
        self.fails(USAGE, ["multiple of 8"], "bench", "frodo-scaling", "--n", "641")

    FIELDS = {"scheme", "op", "backend", "count", "keys", "mode", "ops_per_s", "device", "threads", "commit"}

    def test_json_records(self):
        result = self.json("bench", "-s", SET, "--batch", "1,5", "--keys", "both", "--seconds", "0")
        self.assertEqual(result["schema"], "polykem-bench-1")
        self.assertEqual(result["outputs"], "memory used before")
        records = result["records"]
        self.assertEqual(len(records), 2 + 4 + 4)
        for r in records:
            self.assertLessEqual(self.FIELDS, set(r))
            self.assertIn(r["keys"], ("per-item", "shared"))
            self.assertEqual(r["mode"], "host")
            self.assertGreater(r["ops_per_s"], 0)
            self.assertGreaterEqual(r["runs"], 3)
            self.assertEqual(r["verified"], r["count"])
        self.assertNotIn(("keygen", "shared"), {(r["op"], r["keys"]) for r in records})

    def test_table_and_large_batch(self):
        text = self.ok("bench", "-s", SET, "--op", "encaps", "--batch", "600", "--seconds", "0", "--threads", "1")
        self.assertIn("1 thread\noutputs to memory used before\n", text)
        self.assertIn("600", text)

    def test_memory_is_bounded_and_the_program_says_so(self):
        args = ("bench", "-s", "mlkem512", "--op", "all", "--batch", "80000", "--seconds", "0", "--memory", "8")
        process = subprocess.Popen([PROGRAM, *args, "--json", "out"], cwd=self.dir, stdout=subprocess.PIPE)
        text = process.stdout.read().decode()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        with open(PROGRAM, "rb") as program:
            if b"__asan_init" not in program.read():
                self.assertLess(usage.ru_maxrss >> 10, 100)
        records = json.loads(self.read("out"))["records"]
        self.assertEqual([r["count"] for r in records], [80000] * 3)
        self.assertEqual([r["in_flight"] for r in records], [(8 << 20) // s for s in (800 + 1632, 800 + 768 + 32,
                                                                                     1632 + 768 + 64)])
        self.assertIn("no more than 8 MiB", text)
        self.assertIn(f"mlkem512 keygen of 80,000: {records[0]['in_flight']:,} at a time", text)
        self.assertNotIn("--memory", self.ok("bench", "-s", SET, "--batch", "5", "--seconds", "0"))

    def test_a_slow_batch_is_timed_once(self):
        """A single batch that takes longer than three times --seconds ends the measurement of its figure."""
        result = self.json("bench", "-s", "frodokem1344shake", "--backend", "ref", "--op", "encaps", "--batch", "1,20",
                           "--seconds", "0.01", "--threads", "1")  # fmt: skip
        self.assertGreater(result["records"][1]["median_s"], 0.05)
        self.assertEqual(result["records"][1]["runs"], 1)

    def test_spread(self):
        rows = self.json("bench", "-s", SET, "--batch", "1,16", "--seconds", "0.05")["records"]
        for r in rows:
            self.assertLessEqual(r["best_s"], r["q1_s"])
            self.assertLessEqual(r["q1_s"], r["median_s"])
            self.assertLessEqual(r["median_s"], r["q3_s"])
            self.assertLessEqual(r["q3_s"], r["worst_s"])
            self.assertAlmostEqual(r["spread"], (r["q3_s"] - r["q1_s"]) / r["median_s"], places=9)
            self.assertGreaterEqual(r["waited_for_cpu"], 0)
            self.assertGreater(r["cpus_used"], 0)
            smaller = [o for o in rows if o["op"] == r["op"] and o["count"] < r["count"]]
            doubtful = (r["runs"] >= 5 and r["spread"] > 0.15 or r["waited_for_cpu"] > 0.1 or r["cpus_used"] < 0.9 or
                        any(r["ops_per_s"] < 0.6 * o["ops_per_s"] for o in smaller))  # fmt: skip
            self.assertEqual(bool(r["doubt"]), doubtful, r)
        table = self.ok("bench", "-s", SET, "--batch", "5", "--seconds", "0.01")
        self.assertRegex(table, r"ops/s +spread .*\n.*\n.* %")

    def test_a_machine_that_is_not_quiet(self):
        """On one CPU, beside a program that always computes, it waits half of the time and reports it."""
        cpu = min(os.sched_getaffinity(0))

        def pin():
            os.sched_setaffinity(0, {cpu})

        spin = subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=pin)
        self.addCleanup(spin.wait)
        self.addCleanup(spin.kill)
        command = [PROGRAM, "bench", "-s", SET, "--op", "encaps", "--batch", "64", "--threads", "1", "--seconds", "0.5"]
        done = subprocess.run([*command, "--json", "-"], cwd=self.dir, capture_output=True, preexec_fn=pin, check=False)
        self.assertEqual(done.returncode, 0)
        row = json.loads(done.stdout)["records"][0]
        self.assertIn("waited for a CPU", row["doubt"])
        self.assertIn("of a CPU", row["doubt"])
        error = done.stderr.decode()
        self.assertIn(f"polykem: doubtful: {SET} encaps on", error)
        self.assertIn("measure again when it is quiet", error)
        done = subprocess.run([*command, "--quiet"], cwd=self.dir, capture_output=True, preexec_fn=pin, check=False)
        self.assertEqual(done.stderr, b"")

    def test_more_threads_than_cpus(self):
        """Each of eight threads on one CPU waits most of the time; the share is not counted several times."""
        cpu = min(os.sched_getaffinity(0))
        done = subprocess.run([PROGRAM, "bench", "-s", SET, "--op", "encaps", "--batch", "4096", "--threads", "8",
                               "--seconds", "0.5", "--json", "-"], cwd=self.dir, capture_output=True, timeout=240,
                              preexec_fn=lambda: os.sched_setaffinity(0, {cpu}), check=True)  # fmt: skip
        row = json.loads(done.stdout)["records"][0]
        self.assertGreater(row["waited_for_cpu"], 0.3)
        self.assertLess(row["waited_for_cpu"], 1)
        self.assertIn(b"or has fewer CPUs than threads were asked for", done.stderr)

    def test_a_short_measurement_is_not_doubted_for_its_own_look_at_the_machine(self):
        """Reading the threads' waiting times takes longer than these batches, and must not be counted."""
        shares = []
        for _ in range(5):
            records = self.json("bench", "-s", SET, "--batch", "1", "--threads", "1", "--seconds", "0")["records"]
            self.assertTrue(all(r["runs"] >= 5 or "spreads" not in r["doubt"] for r in records))
            shares += [r["cpus_used"] for r in records]
        self.assertGreater(max(shares), 0.97)

    def test_errors(self):
        for bad in ("0", "1,x", ",", "-4"):
            self.fails(USAGE, ["--batch"], "bench", "-s", SET, f"--batch={bad}")
        self.fails(USAGE, ["no shared key"], "bench", "-s", SET, "--op", "keygen", "--keys", "shared")
        self.fails(USAGE, ["--keys"], "bench", "-s", SET, "--keys", "mine")


if __name__ == "__main__":
    unittest.main()
