# SPDX-License-Identifier: Apache-2.0
"""Tests whole exchanges: both roles, both transports, the report, limits and waves."""

import collections
import contextlib
import itertools
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import protocol
from program import PATIENCE, PROGRAM, SCHEME, ProgramTest
from protocol import Peer

ROLES = ("server-decaps", "server-encaps")
TRANSPORTS = ("tcp", "inproc")
SERVER_OPS = {"server-decaps": {"keygen", "decaps"}, "server-encaps": {"encaps"}}
CLIENT_OPS = {"server-decaps": {"encaps"}, "server-encaps": {"keygen", "decaps"}}


def items(batches):
    return sum(size * times for size, times in batches["sizes"])


class Exchange(ProgramTest):
    def exchange(self, *arguments, **options):
        return self.run_json("exchange", "--scheme", SCHEME, "--compare-seconds", "0.2", *arguments, **options)

    def test_all_agree_in_both_roles_over_both_transports(self):
        for role, transport in itertools.product(ROLES, TRANSPORTS):
            with self.subTest(role=role, transport=transport):
                report = self.exchange("--clients", 150, "--role", role, "--transport", transport)
                self.check_report(report, role, transport, 150)

    def check_report(self, report, role, transport, clients):
        expected = {"scheme": SCHEME, "role": role, "transport": transport, "clients": clients, "agreed": clients,
                    "failed": 0, "failed_reasons": {}, "server_failed_reasons": {}}  # fmt: skip
        self.assertEqual({key: report[key] for key in expected}, expected)
        self.assertGreater(report["handshakes_per_s"], 0)
        self.assertGreater(report["p50_us"], 0)
        self.assertGreaterEqual(report["p99_us"], report["p50_us"])
        self.assertEqual(set(report["batches"]["by_op"]), SERVER_OPS[role])
        self.assertEqual(set(report["client_batches"]["by_op"]), CLIENT_OPS[role])
        for batches in [*report["batches"]["by_op"].values(), *report["client_batches"]["by_op"].values()]:
            self.assertEqual(items(batches), clients)
            self.assertLessEqual(batches["min"], batches["median"])
            self.assertLessEqual(batches["median"], batches["max"])
        self.assertEqual({stage["op"] for stage in report["stages"]}, SERVER_OPS[role])
        computed = collections.Counter()  # a stage has a record for each backend that computed batches
        for step in report["stages"]:
            for stage in step["stages"].split("+"):
                computed[step["op"], stage] += step["items"]
        self.assertEqual(set(computed.values()), {clients})
        self.assertGreater(sum(stage["nanoseconds"] for stage in report["stages"]), 0)
        self.assertGreater(report["single_per_s"], 0)
        self.assertGreater(report["ratio"], 0)

    def test_batch_cap_is_exact(self):
        for cap in (1, 7):
            for _ in range(5):  # on a busy machine the 60 clients may come one by one
                report = self.exchange("--clients", 60, "--batch", cap, "--transport", "inproc")
                self.assertEqual(report["agreed"], 60)
                self.assertLessEqual(report["batches"]["max"], cap)
                if report["batches"]["by_op"]["keygen"]["max"] == cap:
                    break
        self.assertEqual(report["batches"]["by_op"]["keygen"]["max"], 7, "60 clients at once fill a batch of 7")

    def test_lingering_fills_batches(self):
        # At most 16, since the first batch of an operation, which measures it, has at most so many.
        report = self.exchange("--clients", 16, "--batch", 16, "--linger-us", 10000000, "--transport", "inproc")
        self.assertEqual(report["batches"]["by_op"]["keygen"]["sizes"], [[16, 1]])
        self.assertEqual(report["batches"]["by_op"]["decaps"]["sizes"], [[16, 1]])

    def test_one_client(self):
        for transport in TRANSPORTS:
            self.assertEqual(self.exchange("--clients", 1, "--transport", transport)["agreed"], 1)

    def test_every_scheme(self):
        """Every set agrees, in one of the two roles; below, every family has both."""
        listed = json.loads(self.check_run("list", "--json", "-").stdout)
        names = [scheme["name"] for scheme in listed["schemes"]]
        self.assertGreaterEqual(len(names), 6)
        for name, role in zip(names, itertools.cycle(ROLES)):
            report = self.run_json("exchange", "--scheme", name, "--role", role, "--clients", 4, "--compare-seconds", 0)
            self.assertEqual(report["agreed"], 4, name)
            self.assertNotIn("ratio", report)

    def test_one_set_of_every_family_over_tcp(self):
        listed = json.loads(self.check_run("list", "--json", "-").stdout)["schemes"]
        family = {scheme["family"]: scheme["name"] for scheme in reversed(listed)}
        self.assertGreaterEqual(set(family), {"ntru", "mlkem", "frodokem"})
        for (name, scheme), role in itertools.product(family.items(), ROLES):
            with self.subTest(family=name, role=role):
                report = self.run_json("exchange", "--scheme", scheme, "--role", role, "--transport", "tcp",
                                       "--clients", 60, "--compare-seconds", 0)  # fmt: skip
                self.assertEqual((report["scheme"], report["transport"]), (scheme, "tcp"))
                self.assertEqual((report["agreed"], report["failed"]), (60, 0))

    def test_several_client_processes(self):
        report = self.exchange("--clients", 50, "--client-processes", 3)
        self.assertEqual((report["agreed"], report["client_processes"]), (50, 3))

    def test_small_limit_of_open_files(self):
        for role in ROLES:
            report = self.exchange("--clients", 200, "--role", role, shell_prefix="ulimit -n 64")
            self.assertEqual(report["agreed"], 200)
            self.assertIn("limit of 64 open files cannot be raised", report["limits"]["server"][0])
        done = self.check_run("exchange", "--scheme", SCHEME, "--clients", 200, "--compare-seconds", 0,
                              shell_prefix="ulimit -n 64")  # fmt: skip
        self.assertIn("limit of 64 open files cannot be raised", done.stdout)
        self.assertRegex(done.stdout, r"at most \d+ connections at once")

    def test_soft_limit_of_open_files_is_raised(self):
        done = self.check_run("exchange", "--scheme", SCHEME, "--clients", 100, "--compare-seconds", 0,
                              shell_prefix="ulimit -S -n 64")  # fmt: skip
        self.assertRegex(done.stdout, r"limit of open files raised from 64 to \d+")

    def test_text_report(self):
        done = self.check_run("exchange", "--scheme", SCHEME, "--clients", 30, "--compare-seconds", "0.2")
        self.assertIn("30 of 30 clients share a secret with the server", done.stdout)
        words = ("handshakes", "p50", "p99", "server keygen", "server decaps", "one at a time", "ratio")
        for word in words:
            self.assertIn(word, done.stdout)
        self.assertNotIn("failed", done.stdout)

    def test_quiet_prints_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "report.json"
            done = self.check_run("exchange", "--scheme", SCHEME, "--clients", 20, "--quiet", "--json", path)
            self.assertEqual((done.stdout, done.stderr), ("", ""))
            self.assertEqual(json.loads(path.read_text())["agreed"], 20)

    def test_children_that_are_told_to_end_say_nothing(self):
        for _ in range(10):
            done = self.check_run("exchange", "--scheme", "mlkem512", "--clients", 100, "--compare-seconds", 0, "-q")
            self.assertEqual(done.stderr, "")

    def test_an_exchange_that_is_interrupted_while_it_compares_reports(self):
        for transport, number in zip(TRANSPORTS, (signal.SIGINT, signal.SIGTERM)):
            with self.subTest(transport=transport, signal=number), tempfile.TemporaryDirectory() as folder:
                self.check_interrupted_comparison(transport, number, pathlib.Path(folder) / "report.json")

    def check_interrupted_comparison(self, transport, number, path):
        command = [PROGRAM, "exchange", "--scheme", "frodokem640shake", "--clients", "500", "--transport", transport,
                   "--compare-seconds", "3600", "--json", path]  # fmt: skip
        master, slave = pty.openpty()  # a terminal shows at once what is under way
        self.addCleanup(os.close, master)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, text=True,
                                   env={**os.environ, "TERM": "xterm"})  # fmt: skip
        os.close(slave)
        self.addCleanup(process.kill)
        error = b""
        while b"for comparison, one at a time" not in error:
            error += os.read(master, 4096)
        process.send_signal(number)
        output, _ = process.communicate(timeout=PATIENCE)
        with contextlib.suppress(OSError):  # the terminal's other end is closed
            while got := os.read(master, 4096):
                error += got
        self.assertEqual(process.returncode, -number)
        self.assertIn(f"polykem: interrupted by {number.name}: 500 of 500 clients had agreed".encode(), error)
        self.assertIn("500 of 500 clients share a secret with the server", output)
        self.assertNotRegex(output, r"\bratio\b")
        self.assertEqual(json.loads(path.read_text())["agreed"], 500)

    def test_interrupted_exchange_reports_and_leaves_no_process(self):
        for number in (signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                self.check_interrupted_exchange(number)

    def check_interrupted_exchange(self, number):
        command = [PROGRAM, "exchange", "--scheme", SCHEME, "--json", "-"]
        command += ["--clients", "1000000", "--concurrency", "200"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))  # fmt: skip
        children_file = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        children = []
        give_up = time.monotonic() + PATIENCE
        while len(children) < 2 and time.monotonic() < give_up:
            time.sleep(0.05)
            children = children_file.read_text().split()
        time.sleep(0.5)
        os.killpg(process.pid, number)  # as a terminal does: to the program and its children
        output, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -number)  # a shell says 128 + number
        report = json.loads(output)
        self.assertRegex(error, rf"(?m)^polykem: interrupted by {number.name}: [\d,]+ of 1,000,000 clients had agreed$")
        self.assertEqual(report["agreed"] + report["failed"], 1000000)
        self.assertGreater(report["failed_reasons"]["stopped"], 0)
        self.assertEqual(len(children), 2)
        for child in children:
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists(), "a child has outlived the command")


class ServeAndSwarm(ProgramTest):
    def test_the_two_halves(self):
        for role in ROLES:
            server = self.server("--role", role, "--clients", 80)
            swarm = self.run_json("swarm", "--scheme", SCHEME, "--role", role, "--port", server.port, "--clients", 80)
            report = server.finish()
            self.assertEqual((swarm["agreed"], report["agreed"], server.exit_code), (80, 80, 0))
            self.assertEqual({stage["op"] for stage in report["stages"]}, SERVER_OPS[role])

    def test_server_ends_on_signals_with_its_table(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # The tests may run with SIGHUP ignored (nohup), which the server would inherit.
            server = self.server(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
            self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 5)
            report = server.finish(number)
            self.assertEqual((report["agreed"], server.exit_code), (5, 0))
            self.assertIn("5 handshakes agreed, 0 failed", server.output)

    def test_a_server_that_was_to_serve_more_says_that_it_was_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.server("--clients", 10)
            self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 5)
            report = server.finish(number)
            self.assertEqual((report["agreed"], server.exit_code), (5, -number))
            self.assertIn(f"polykem: interrupted by {number.name}: 5 of 10 clients had agreed\n", server.errors)

    def test_an_interrupted_swarm_says_so(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            command = [PROGRAM, "swarm", "--scheme", SCHEME, "--port", str(silent.getsockname()[1]), "--clients", "3"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            silent.accept()[0].recv(1)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, -signal.SIGINT)
            self.assertIn("polykem: interrupted by SIGINT: 0 of 3 clients had agreed\n", error)

    def test_an_interrupted_exchange_in_one_process(self):
        command = [PROGRAM, "exchange", "--scheme", SCHEME, "--transport", "inproc", "--clients", "100000000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        while "one process" not in process.stdout.readline():
            pass
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        _, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, -signal.SIGTERM)
        self.assertRegex(error, r"polykem: interrupted by SIGTERM: [\d,]+ of 100,000,000 clients had agreed\n")

    def test_server_under_nohup_survives_a_hangup(self):
        server = self.server(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        server.signal(signal.SIGHUP)
        self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 5)
        self.assertEqual(server.stop()["agreed"], 5)

    def test_a_second_signal_ends_the_server_at_once(self):
        server = self.server()
        with Peer.connect(server.port) as peer:
            peer.send(protocol.hello(protocol.SERVER_DECAPS))
            peer.expect(protocol.PUBLIC_KEY)
            server.signal(signal.SIGTERM)
            # The server says that it stops, and would wait a second for this client to close.
            self.assertIn(b"stopped", peer.expect(protocol.ERROR))
            server.signal(signal.SIGINT)
            self.assertEqual(server.wait(), -signal.SIGINT)

    def test_clients_beyond_the_servers_maximum_wait(self):
        server = self.server("--max-clients", 3, "--clients", 40)
        swarm = self.run_json("swarm", "--scheme", SCHEME, "--port", server.port, "--clients", 40)
        self.assertEqual(swarm["agreed"], 40)
        self.assertEqual(server.finish()["agreed"], 40)

    def test_two_swarms_at_once(self):
        server = self.server()
        command = [PROGRAM, "swarm", "--scheme", SCHEME, "--port", str(server.port), "--clients", "60", "--quiet"]
        swarms = [subprocess.Popen(command) for _ in range(2)]
        self.assertEqual([swarm.wait(timeout=PATIENCE) for swarm in swarms], [0, 0])
        self.assertEqual(server.stop()["agreed"], 120)


if __name__ == "__main__":
    unittest.main()
