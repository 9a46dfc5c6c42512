# SPDX-License-Identifier: Apache-2.0
"""Runs the polykem program: to its end, or as a server beside the test."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("POLYKEM_PROGRAM", "build/bin/polykem")
SCHEME = "ntruhps2048509"
# Far longer than any of these commands takes, so that a hang becomes a failure.
PATIENCE = 300


def run(*arguments, shell_prefix=None):
    """Runs a command to its end. shell_prefix: shell commands that set up the process, e.g. "ulimit -n 64"."""
    command = [PROGRAM, *map(str, arguments)]
    if shell_prefix:
        command = ["sh", "-c", shell_prefix + ' && exec "$0" "$@"', *command]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


class Server:
    """`polykem serve` on a free port."""

    def __init__(self, *arguments, timeout=60, scheme=SCHEME, **options):
        """options: of the process, as subprocess.Popen takes them."""
        self._folder = tempfile.TemporaryDirectory()
        self._json = pathlib.Path(self._folder.name) / "serve.json"
        command = [PROGRAM, "serve", "--scheme", scheme, "--port", "0", "--timeout", str(timeout)]
        command += ["--json", str(self._json), *map(str, arguments)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        line = self._process.stdout.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1 port (\d+)\n", line)
        if not found:
            self.kill()
            raise AssertionError(f"the server said {line!r} and not where it listens")
        self.port = int(found.group(1))
        self.pid = self._process.pid
        self.exit_code = None

    def peak_memory(self):
        """Returns the largest memory that it had, in bytes."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1))

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Waits for the end and returns the exit code, -N if signal N was the end."""
        return self._process.wait(timeout=PATIENCE)

    def finish(self, with_signal=None):
        """Waits for the end (after a signal, if given) and returns the JSON report."""
        if with_signal is not None:
            self._process.send_signal(with_signal)
        self.output, self.errors = self._process.communicate(timeout=PATIENCE)
        self.exit_code = self._process.returncode
        report = json.loads(self._json.read_text())
        self._folder.cleanup()
        return report

    def stop(self):
        """Ends it like Ctrl-C and returns the JSON report."""
        return self.finish(signal.SIGINT)

    def kill(self):
        """Kills it. Harmless if it has ended."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.communicate()
        self._folder.cleanup()


class ProgramTest(unittest.TestCase):
    """Assertions about commands."""

    maxDiff = None

    def server(self, *arguments, **options):
        server = Server(*arguments, **options)
        self.addCleanup(server.kill)
        return server

    def check_run(self, *arguments, exit_code=0, **options):
        """Runs a command, checks its exit code and returns the finished process."""
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, exit_code, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def run_json(self, *arguments, exit_code=0, **options):
        """Runs a command with --json - and returns the value."""
        done = self.check_run(*arguments, "--json", "-", exit_code=exit_code, **options)
        return json.loads(done.stdout)
