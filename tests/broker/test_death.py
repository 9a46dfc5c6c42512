# SPDX-License-Identifier: Apache-2.0
"""Tests that no operation is lost or wrong if the daemon dies, stalls and returns, or if workers die and fork."""

import signal
import subprocess
import time
import unittest

from daemon import PATIENCE, SET, SLOW, WORKER, Case, samples, total

# Far more than the half second after which a worker computes operations that the daemon has not answered. A stopped
# daemon never answers them.
MOST_WAIT_MS = 20000
DEATHS = 4


class Death(Case):
    def broker_operations(self, port):
        return total(samples(port)[0], "polykem_broker_operations_total")

    def serving(self, daemon, workers=4):
        """Waits until this many workers have reconnected and the daemon computes for them."""
        port = self.metrics_port(daemon)
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_clients") >= workers, "the workers stay away")
        before = self.broker_operations(port)
        self.eventually(lambda: self.broker_operations(port) > before + 50, "the daemon has nothing to do")
        return port

    def test_deaths_under_load(self):
        workers = []
        for death in range(DEATHS):
            daemon = self.daemon("--metrics", "127.0.0.1:0")
            if not workers:
                workers = [self.worker() for _ in range(4)]
            self.serving(daemon, 4 if death in (0, DEATHS - 1) else 1)
            daemon.kill()
            daemon.wait()
            if death % 2 == 0:
                time.sleep(0.3)
        reports = [self.report_of(worker) for worker in workers]
        for report in reports:
            self.assertLess(report["longest_ms"], MOST_WAIT_MS)
        self.assertGreater(sum(report["on_broker"] for report in reports), 100)
        self.assertGreater(sum(report["rescued"] for report in reports), 0)

    def test_workers_die_under_load(self):
        daemon = self.daemon("--metrics", "127.0.0.1:0")
        workers = [self.worker() for _ in range(4)]
        port = self.serving(daemon)
        for worker in workers[:3]:
            worker.kill()
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_clients") == 1, "the dead stay")
        before = self.broker_operations(port)
        self.eventually(lambda: self.broker_operations(port) > before, "the living is not served")
        self.report_of(workers[3])
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_in_flight") == 0, "work of the dead stays")
        self.stop(daemon)

    def test_a_daemon_that_stands_still(self):
        daemon = self.daemon("--metrics", "127.0.0.1:0")
        workers = [self.worker() for _ in range(4)]
        self.serving(daemon)
        daemon.send_signal(signal.SIGSTOP)
        time.sleep(1)
        reports = [self.report_of(worker) for worker in workers]
        self.assertGreater(sum(report["rescued"] for report in reports), 0)
        for report in reports:
            self.assertLess(report["longest_ms"], MOST_WAIT_MS)
        daemon.send_signal(signal.SIGCONT)
        self.stop(daemon)

    def test_a_daemon_that_ends_in_order(self):
        daemon = self.daemon("--metrics", "127.0.0.1:0")
        workers = [self.worker() for _ in range(4)]
        self.serving(daemon)
        self.stop(daemon)
        self.assertFalse(self.socket.exists())
        for worker in workers:
            self.report_of(worker)

    def test_a_worker_that_forks(self):
        daemon = self.daemon("--metrics", "127.0.0.1:0")
        port = self.metrics_port(daemon)
        worker = self.worker(8, "fork")
        out, errors = worker.communicate(timeout=PATIENCE)
        self.assertEqual(worker.returncode, 0, errors)
        self.assertEqual(len(out.splitlines()), 2, out)
        for line in out.splitlines():
            self.assertIn('"wrong": 0, "failed": 0, "refused": 0', line)
        self.assertEqual(total(samples(port)[0], "polykem_broker_accepted_total"), 2)
        self.stop(daemon)

    def test_a_worker_without_descriptors(self):
        self.daemon()
        limited = self.start("sh", "-c", 'ulimit -n 4; exec "$0" "$@"', WORKER, self.socket, SET, 4, env=SLOW,
                             stdin=subprocess.DEVNULL)
        time.sleep(1)
        self.assertEqual(self.report_of(limited)["on_broker"], 0)


if __name__ == "__main__":
    unittest.main()
