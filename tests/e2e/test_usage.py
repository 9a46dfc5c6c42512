# SPDX-License-Identifier: Apache-2.0
"""Tests the errors and exit codes of exchange, serve and swarm if the command line is wrong or the system refuses."""

import socket
import unittest

from program import SCHEME, ProgramTest

USAGE, BACKEND, IO, RESOURCES = 2, 4, 5, 7


class Usage(ProgramTest):
    def check_error(self, arguments, exit_code, *words, **options):
        done = self.check_run(*arguments, exit_code=exit_code, **options)
        self.assertTrue(done.stderr.startswith("polykem: "), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_unknown_scheme_suggests_the_nearest(self):
        for command in (["exchange"], ["serve"], ["swarm", "--port", "1"]):
            self.check_error([*command, "--scheme", "ntruhps4096812"], USAGE, "ntruhps4096812", "ntruhps4096821")

    def test_numbers_out_of_range(self):
        for option, value in (("--clients", "0"), ("--clients", "-3"), ("--clients", "many"), ("--batch", "0"),
                              ("--batch", "lots"), ("--timeout", "0"), ("--concurrency", "0"),
                              ("--client-processes", "0"), ("--threads", "100000")):  # fmt: skip
            with self.subTest(option=option, value=value):
                self.check_error(["exchange", option, value], USAGE, option)

    def test_unknown_words(self):
        self.check_error(["exchange", "--role", "server"], USAGE, "--role", "server-decaps")
        self.check_error(["exchange", "--transport", "udp"], USAGE, "--transport", "inproc")
        self.check_error(["exchange", "--backend", "abacus"], USAGE, "abacus", "ref")
        self.check_error(["exchange", "--transport", "inproc", "--backend", "abacus"], USAGE, "abacus", "ref")

    def test_swarm_needs_a_port(self):
        self.check_error(["swarm"], USAGE, "--port")

    def test_nobody_listens(self):
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            port = reserved.getsockname()[1]
            report = self.run_json("swarm", "--scheme", SCHEME, "--port", port, "--clients", 3, exit_code=IO)
        self.assertEqual(report["failed_reasons"], {"connect_failed": 3})

    def test_unknown_host(self):
        self.check_error(["swarm", "--port", "9", "--address", "no.such.host.invalid"], IO, "no.such.host.invalid")

    def test_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            self.check_error(["serve", "--port", port], IO, str(port), "--port 0")

    def test_address_that_is_none(self):
        self.check_error(["serve", "--address", "here"], USAGE, "here", "127.0.0.1")

    def test_roles_that_do_not_fit(self):
        server = self.server("--role", "server-encaps")
        report = self.run_json("swarm", "--scheme", SCHEME, "--role", "server-decaps", "--port", server.port,
                               "--clients", 2, exit_code=1)  # fmt: skip
        self.assertEqual(report["failed_reasons"], {"peer_error": 2})
        self.assertIn("wrong_role", "".join(report["peer_errors"]))
        self.assertEqual(server.stop()["failed_reasons"], {"wrong_role": 2})

    def test_schemes_that_do_not_fit(self):
        server = self.server()
        report = self.run_json("swarm", "--scheme", "ntruhrss701", "--port", server.port, "--clients", 1, exit_code=1)
        self.assertIn("wrong_scheme", "".join(report["peer_errors"]))
        self.assertEqual(server.stop()["failed_reasons"], {"wrong_scheme": 1})

    def test_limit_of_open_files_that_leaves_nothing(self):
        self.check_error(["serve"], RESOURCES, "open files", "ulimit -n", shell_prefix="ulimit -n 10")

    def test_report_that_cannot_be_written(self):
        self.check_error(["exchange", "--clients", "1", "--transport", "inproc", "--compare-seconds", "0",
                          "--json", "/no/such/folder/report.json"], IO, "/no/such/folder")  # fmt: skip

    def test_help(self):
        for command in ("exchange", "serve", "swarm"):
            done = self.check_run(command, "--help")
            for word in ("--scheme", "--role", "--batch", "--json"):
                self.assertIn(word, done.stdout)
            self.assertNotIn("--pipe", done.stdout)


if __name__ == "__main__":
    unittest.main()
