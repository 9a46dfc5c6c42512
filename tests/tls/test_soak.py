# SPDX-License-Identifier: Apache-2.0
"""What the soak says of a server that leaks."""

import subprocess
import sys
import time
import unittest

import soak
from servers import private_kilobytes

# Its memory is level for a while; then it grows by 16 MiB, if it leaks.
PROCESS = """
import sys, time
kept = [bytearray(b"x" * (32 << 20))]
print("ready", flush=True)
time.sleep(1.7)
for _ in range(16 * int(sys.argv[1])):
    kept.append(bytearray(b"x" * (1 << 20)))
time.sleep(60)
"""


class Process:
    def __init__(self, leaks):
        command = [sys.executable, "-c", PROCESS, str(int(leaks))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def memory(self):
        return 1024 * private_kilobytes(self.process.pid)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Growth(unittest.TestCase):
    def growth(self, leaks):
        process = Process(leaks)
        self.addCleanup(process.end)
        with soak.Watch(process, 0.05) as watch:
            time.sleep(2.2)
        return watch.growth()

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
