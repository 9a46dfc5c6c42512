# SPDX-License-Identifier: Apache-2.0
"""Tests that the soak test finds a server that leaks."""

import subprocess
import sys
import time
import unittest

import soak
from servers import private_kilobytes

# Its memory is level until it is told to go on; then it grows by 16 MiB, if it leaks.
PROCESS = """
import sys
kept = [bytearray(b"x" * (32 << 20))]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(16 * int(sys.argv[1])):
    kept.append(bytearray(b"x" * (1 << 20)))
print("done", flush=True)
sys.stdin.readline()
"""


class Process:
    def __init__(self, leaks):
        command = [sys.executable, "-c", PROCESS, str(int(leaks))]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def memory(self):
        return 1024 * private_kilobytes(self.process.pid)

    def proceed(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Growth(unittest.TestCase):
    def growth(self, leaks):
        process = Process(leaks)
        self.addCleanup(process.end)
        with soak.Watch(process, 0.02) as watch:
            self.sample(watch, 30)  # until the last quarter
            process.proceed()
            self.sample(watch, len(watch.samples) + 3)
        return watch.growth()

    @staticmethod
    def sample(watch, count):
        while len(watch.samples) < count:
            time.sleep(0.01)

    def test_a_late_leak_is_seen(self):
        self.assertGreater(self.growth(leaks=True), 15 << 20)

    def test_what_is_level_is_no_leak(self):
        self.assertLess(abs(self.growth(leaks=False)), soak.SLACK_BYTES)

    def test_the_sampled_growth(self):
        watch = soak.Watch(None)
        for samples, growth in (([], 0), ([5] * 3, 0), ([1, 9, 9, 9], 0), ([9] * 39 + [20], 11),
                                ([1] * 10 + [9] * 30, 0)):
            watch.samples = samples
            self.assertEqual(watch.growth(), growth)


if __name__ == "__main__":
    unittest.main()
