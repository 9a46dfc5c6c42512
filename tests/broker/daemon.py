# SPDX-License-Identifier: Apache-2.0
"""Starts polykemd and worker processes."""

import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.request

PROGRAM = os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem")
DAEMON = os.environ.get("POLYKEM_DAEMON", "build/bin/polykemd")
WORKER = os.environ.get("POLYKEM_WORKER", "build/bin/broker_worker")

OK, USAGE, BACKEND, IO = 0, 2, 4, 5
# Without vector instructions a worker is so slow that using the daemon pays.
SLOW = {**os.environ, "POLYKEM_CPU_MASK": "avx2"}
SET = "frodokem640shake"
# A limit in seconds for events that never come; a busy machine takes many times as long as a quiet one.
PATIENCE = 100


class Case(unittest.TestCase):
    """A test with a folder, and with processes that end with the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.socket = self.dir / "socket"

    def start(self, *words, **more):
        more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more}
        process = subprocess.Popen([str(word) for word in words], **more)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def eventually(self, condition, what):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.01)
        self.fail(what)

    def daemon(self, *options, **more):
        """Starts polykemd and waits until it is ready."""
        process = self.start(DAEMON, "--socket", self.socket, *options, **more)
        process.first_line = process.stderr.readline()
        self.assertIn("listens at", process.first_line)
        return process

    def activated(self, inherited, many="1", *options):
        """Starts polykemd as systemd does."""
        os.dup2(inherited.fileno(), 200)
        script = 'exec 3<&200 200<&-; LISTEN_PID=$$ LISTEN_FDS=$MANY exec "$0" "$@"'
        process = self.start("bash", "-c", script, DAEMON, *options, pass_fds=(200,), env={**os.environ, "MANY": many})
        os.close(200)
        return process

    def metrics_port(self, daemon):
        return int(re.search(r"metrics at port (\d+)", daemon.stderr.readline())[1])

    def worker(self, in_flight=16, *more):
        return self.start(WORKER, self.socket, SET, in_flight, *more, env=SLOW)

    def stop(self, process):
        """Sends SIGTERM and returns what the process printed."""
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, OK, errors)
        return out

    def report_of(self, worker):
        report = json.loads(self.stop(worker))
        self.assertEqual(report["wrong"] + report["failed"] + report["refused"], 0, report)
        self.assertEqual(report["right"], report["started"], report)
        return report


def samples(port):
    """Returns the metrics as {(name, labels): value}."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
        text = answer.read().decode()
    out = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        name, labels, value = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line).groups()
        pairs = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', labels or "")))
        out[name, pairs] = float(value)
    return out, text


def total(values, name, **labels):
    """Returns the sum of the samples with these labels."""
    return sum(value for (n, pairs), value in values.items() if n == name and labels.items() <= dict(pairs).items())


def listening_socket(path):
    out = socket.socket(socket.AF_UNIX)
    out.bind(str(path))
    out.listen()
    return out
