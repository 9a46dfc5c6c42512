# SPDX-License-Identifier: Apache-2.0
"""Tests standard streams that are closed, full or not writable: no file gets what belongs there, nothing aborts."""

import itertools
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time
import unittest

from program import CHECK_FAILED, IO, OK, PROGRAM, SET, USAGE, Case

DAEMON = os.path.join(os.path.dirname(PROGRAM), "polykemd")
CLOSED = object()


class Streams(Case):
    def run_with(self, *args, program=PROGRAM, env=None, **streams):
        """Runs a program whose streams are files, or closed. Returns its exit code and what the open ones received."""
        closed = [number for number, name in enumerate(("stdin", "stdout", "stderr")) if streams.get(name) is CLOSED]
        given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        given.update({name: stream for name, stream in streams.items() if stream is not CLOSED})

        def close():
            for number in closed:
                os.close(number)

        done = subprocess.run([program, *map(str, args)], cwd=self.dir, env={**os.environ, **(env or {})},
                              preexec_fn=close, timeout=120, check=False, **given)  # fmt: skip
        return done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()

    def refused(self, *args, **streams):
        code, _, error = self.run_with(*args, **streams)
        self.assertEqual(code, IO, error)
        self.assertRegex(error, r"^polykem: cannot write to standard output: .+\n")
        self.assertEqual(error.count("polykem: "), 1, error)
        self.assertNotIn("defect", error)
        return error

    def test_secrets_stay_out_of_other_files(self):
        self.keys()
        before = self.files()
        self.refused("keygen", "-s", "mlkem512", "--format", "pem", "--pk", "new", "--sk", "-", stdout=CLOSED)
        self.refused("encaps", "--pk", "pk", "--ct", "new", "--ss", "-", stdout=CLOSED)
        self.refused("encaps", "--pk", "pk", "--ct", "-", "--ss", "new", stdout=CLOSED)
        self.assertEqual(self.files(), before)
        with open("/dev/null", "rb") as useless, open("/dev/full", "wb") as full:
            for stream in (useless, full):
                self.refused("keygen", "-s", SET, "--pk", "new", "--sk", "-", stdout=stream)
                self.refused("keygen", "-s", SET, "--pk", "new", "--sk", "x", "--json", "-", stdout=useless)
        self.assertEqual(self.files(), before)

    def test_a_closed_stream_by_its_other_names(self):
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            code, _, error = self.run_with("keygen", "-s", SET, "--pk", "new", "--sk", name, stdout=CLOSED)
            self.assertEqual(code, IO, error)
            self.assertIn(f"cannot write to '{name}'", error)
        code, _, _ = self.run_with("keygen", "-s", SET, "--pk", "new", "--sk", "/dev/stderr", stderr=CLOSED)
        self.assertEqual(code, IO)
        self.assertEqual(self.files(), [])

    def test_nothing_else_lands_in_a_result_on_standard_output(self):
        """A result on standard output is alone there: a second output of the same stream, by any name, is refused."""
        os.mkfifo(self.dir / "fifo")
        pipe = os.open(self.dir / "fifo", os.O_RDWR)
        self.addCleanup(os.close, pipe)
        for name in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "fifo", "file"):
            with self.subTest(name):
                given = "/dev/stdout" if name == "file" else name

                def output(*args):
                    (self.dir / "pk").unlink(missing_ok=True)
                    if name not in ("fifo", "file"):
                        return self.run_with(*args)
                    with open(self.dir / "out", "wb") as file:
                        code, _, error = self.run_with(*args, stdout=pipe if name == "fifo" else file)
                    out = os.read(pipe, 1 << 16) if name == "fifo" and code == OK else self.read("out")
                    return code, out.decode(), error

                code, key, error = output("keygen", "-s", "mlkem512", "--pk", "pk", "--sk", given)
                self.assertEqual((code, error), (OK, ""))
                self.assertTrue(key.startswith("-----BEGIN "), key[:40])
                self.assertEqual(key.splitlines()[-1][:9], "-----END ", key)
                code, result, error = output("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--json", given, "-f")
                self.assertEqual((code, error), (OK, ""))
                self.assertEqual(json.loads(result)["count"], 1)
                code, result, _ = output("list", "--json", given)
                self.assertEqual((code, json.loads(result)["schema"]), (OK, "polykem-list-1"))
                code, result, error = output("keygen", "-s", SET, "--pk", "-", "--sk", given)
                self.assertEqual((code, result), (USAGE, ""))
                code, result, error = output("keygen", "-s", SET, "--pk", given, "--sk", "new", "--json", "-")
                self.assertEqual(code, USAGE)
                self.assertNotIn("BEGIN", result)

    def test_two_inputs_from_standard_input(self):
        self.keys()
        for sk, ct in itertools.combinations(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"), 2):
            with open(self.dir / "sk", "rb") as stdin:
                code, _, error = self.run_with("decaps", "--sk", sk, "--ct", ct, "--ss", "ss", stdin=stdin)
            self.assertEqual(code, USAGE, error)
            self.assertIn("only one input can come from standard input", error)

    def test_a_summary_lands_in_no_file(self):
        with open("/dev/full", "wb") as full:
            for stream in (CLOSED, full):
                error = self.refused("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", "--json", "out", "-f",
                                     stdout=stream)  # fmt: skip
                self.assertIn("the files are complete", error)
                self.assertEqual(self.read("pk").splitlines()[-1][:9], b"-----END ")
                self.assertEqual(json.loads(self.read("out"))["count"], 1)
                self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss", "-f")
        self.refused("list", "--json", "list.json", stdout=CLOSED)
        self.assertEqual(json.loads(self.read("list.json"))["schema"], "polykem-list-1")

    def test_every_stream_closed(self):
        code, _, _ = self.run_with("keygen", "-s", SET, "--pk", "pk", "--sk", "sk", stdin=CLOSED, stdout=CLOSED,
                                   stderr=CLOSED)  # fmt: skip
        self.assertEqual(code, IO)
        self.ok("encaps", "--pk", "pk", "--ct", "ct", "--ss", "ss")
        code, _, _ = self.run_with("keygen", "-s", SET, "--pk", "a", "--sk", "b", "-q", stdin=CLOSED, stdout=CLOSED,
                                   stderr=CLOSED)  # fmt: skip
        self.assertEqual(code, OK)

    def test_a_closed_standard_input(self):
        code, _, error = self.run_with("encaps", "--pk", "-", "--ct", "ct", "--ss", "ss", stdin=CLOSED)
        self.assertEqual(code, IO)
        self.assertIn("cannot read standard input: it is closed", error)
        self.assertEqual(self.files(), [])

    def test_every_command_that_prints(self):
        """On a full disk each command ends with a sentence, however much it prints, and not as an internal error."""
        commands = [("list",), ("--help",), ("keygen", "--help"), ("--version",), ("help", "--json"),
                    ("list", "--json", "-"), ("doctor", "--backend", self.quick_backend()),
                    ("profile", "-s", SET, "--count", "10"),
                    ("bench", "-s", SET, "--batch", "1", "--seconds", "0"),
                    ("exchange", "--clients", "3", "--transport", "inproc", "--compare-seconds", "0"),
                    ("serve", "--port", "0")]  # fmt: skip
        for command in commands:
            for stream in ("full", "closed"):
                with self.subTest(command, stream=stream), open("/dev/full", "wb") as full:
                    self.refused(*command, stdout=full if stream == "full" else CLOSED)

    def test_errors_without_standard_error(self):
        """The exit code is the usual one; only the sentence is lost."""
        commands = ((USAGE, "list", "--nonsense"), (USAGE, "keygn"),
                    (USAGE, "keygen", "-s", "rsa", "--pk", "a", "--sk", "b"), (IO, "kat", "missing"),
                    (IO, "encaps", "--pk", "missing", "--ct", "a", "--ss", "b"))  # fmt: skip
        with open("/dev/full", "wb") as full, open("/dev/null", "rb") as useless:
            for code, *command in commands:
                for stream in (full, useless, CLOSED):
                    self.assertEqual(self.run_with(*command, stderr=stream)[0], code, command)

    def test_progress_without_standard_error(self):
        """Progress, a line every five seconds, is lost without harm; waiting for a silent server takes longer."""
        with open("/dev/full", "wb") as full, socket.create_server(("127.0.0.1", 0)) as silent:
            code, out, _ = self.run_with("swarm", "-s", SET, "--port", silent.getsockname()[1], "--clients", "1",
                                         "--timeout", "5.5", stderr=full)  # fmt: skip
        self.assertEqual(code, CHECK_FAILED)
        self.assertIn("0 handshakes agreed, 1 failed", out)

    def daemon(self, *args, **streams):
        with open("/dev/full", "wb") as full, open("/dev/null", "wb") as null:
            given = {"stdout": null, "stderr": full, **streams}
            return subprocess.Popen([DAEMON, "--socket", str(self.dir / "socket"), *args], cwd=self.dir, **given)

    def test_the_daemon_outlives_its_log(self):
        """polykemd continues without its log, which it writes when it begins, at SIGHUP and when it ends."""
        process = self.daemon()
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 60
        while not (self.dir / "socket").exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertTrue((self.dir / "socket").exists())
        process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(60), OK)

    def test_the_daemon_without_streams(self):
        code, out, error = self.run_with("--socket-mode", "9", program=DAEMON, stderr=CLOSED)
        self.assertEqual((code, out, error), (USAGE, "", ""))
        code, _, error = self.run_with("--help", program=DAEMON, stdout=CLOSED)
        self.assertEqual(code, IO)
        self.assertIn("polykemd: cannot write to standard output", error)

    def test_only_one_place_prints(self):
        """Only one file prints: elsewhere, printing could throw where nothing may, or lose output silently."""
        sources = pathlib.Path(__file__).resolve().parents[2] / "cli"
        prints = re.compile(r"fmt::print\(|std::(?:cout|cerr|clog)\b|\b(?:f?printf|f?puts|perror)\(")
        found = [f"{path.name}: {word}" for path in sources.rglob("*.[ch]pp") if path.name != "streams.cpp"
                 for word in prints.findall(path.read_text())]  # fmt: skip
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
