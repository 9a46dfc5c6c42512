# SPDX-License-Identifier: Apache-2.0
"""Tests polykemd from the outside: options, sockets, systemd, signals, exit codes, metrics; polykem top."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest

from daemon import BACKEND, DAEMON, IO, OK, PATIENCE, PROGRAM, SET, SLOW, USAGE, Case, listening_socket, samples, total


class Daemon(Case):
    def fails(self, code, words, *options, **more):
        done = subprocess.run([DAEMON, *map(str, options)], capture_output=True, text=True, timeout=PATIENCE, **more)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertTrue(done.stderr.startswith("polykemd: "), done.stderr)
        self.assertIn(words, done.stderr)

    def test_command_line(self):
        for words, *options in [("not HOST:PORT", "--metrics", "here"), ("no user 'noone'", "--allow-uid", "noone"),
                                ("no group", "--allow-gid", "-1"), ("not octal", "--socket-mode", "999"),
                                ("power of two", "--slots", "100"), ("--clients", "--clients", "0"),
                                ("no backend", "--backend", "abacus"), ("--log", "--log", "all"),
                                ("extra", "extra")]:  # fmt: skip
            self.fails(USAGE, words, "--socket", self.socket, *options)
        self.assertFalse(self.socket.exists())

    def test_places_that_cannot_be(self):
        self.fails(IO, "No such file or directory", "--socket", self.dir / "no" / "socket")
        self.fails(IO, "too long", "--socket", self.dir / ("x" * 200))
        file = self.dir / "file"
        file.write_text("mine")
        self.fails(IO, "File exists", "--socket", file)
        self.assertEqual(file.read_text(), "mine")

    def test_a_backend_that_cannot_run(self):
        environment = {**os.environ, "POLYKEM_CPU_MASK": "avx2"}
        self.fails(BACKEND, "avx2", "--socket", self.socket, "--backend", "avx2", env=environment)

    def test_only_one(self):
        first = self.daemon()
        self.fails(IO, "another process listens", "--socket", self.socket)
        self.stop(first)
        self.assertFalse(self.socket.exists())

    def test_what_a_killed_one_left(self):
        first = self.daemon()
        first.kill()
        first.wait()
        self.assertTrue(self.socket.is_socket())
        self.stop(self.daemon())

    def test_mode_of_the_socket(self):
        for options, mode in [((), 0o600), (("--socket-mode", "0640"), 0o640), (("--allow-uid", "0"), 0o666),
                              (("--allow-gid", "root,1"), 0o666)]:  # fmt: skip
            daemon = self.daemon(*options, umask=0o077)
            self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), mode)
            self.stop(daemon)

    def test_folder_of_the_service(self):
        daemon = self.start(DAEMON, env={**os.environ, "RUNTIME_DIRECTORY": str(self.dir)})
        self.assertIn(f"listens at {self.socket}", daemon.stderr.readline())
        self.stop(daemon)

    def test_signals(self):
        daemon = self.daemon()
        daemon.send_signal(signal.SIGHUP)
        self.assertIn("read again", daemon.stderr.readline())
        self.assertIn("0 clients, 0 operations", daemon.stderr.readline())
        daemon.send_signal(signal.SIGINT)
        _, errors = daemon.communicate(timeout=PATIENCE)
        self.assertEqual(daemon.returncode, OK)
        self.assertIn("ends:", errors)

    def test_quiet_log(self):
        daemon = self.start(DAEMON, "--socket", self.socket, "--log", "warning", "--memory", "4")
        self.eventually(self.socket.exists, "it does not listen")
        time.sleep(0.2)
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.communicate(timeout=PATIENCE)[1], "")

    @unittest.skipIf(os.geteuid() != 0, "only root may lock more than its limit, and take that right away")
    def test_says_when_memory_may_be_swapped(self):
        def without_rights():
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 20, 1 << 20))
            os.setgid(65534)
            os.setuid(65534)

        self.dir.chmod(0o777)
        for memory, warns in [("1", False), ("2", True)]:
            options = ("--socket", self.socket, "--memory", memory)
            daemon = self.start(DAEMON, *options, preexec_fn=without_rights)
            self.eventually(self.socket.exists, "it does not listen")
            daemon.send_signal(signal.SIGTERM)
            _, errors = daemon.communicate(timeout=PATIENCE)
            self.assertEqual(f"may not lock {memory} MiB" in errors, warns, errors)

    def test_no_core_dumps(self):
        daemon = self.daemon()
        with open(f"/proc/{daemon.pid}/limits", encoding="ascii") as limits:
            core = next(line for line in limits if line.startswith("Max core file size"))
        self.assertEqual(core.split()[4:6], ["0", "0"])

    def test_socket_activation(self):
        with listening_socket(self.socket) as inherited:
            daemon = self.activated(inherited, "1", "--metrics", "127.0.0.1:0")
            self.assertIn("listens at systemd's socket", daemon.stderr.readline())
            port = self.metrics_port(daemon)
            worker = self.worker()
            self.eventually(lambda: total(samples(port)[0], "polykem_broker_operations_total") > 0, "it does nothing")
            self.report_of(worker)
            self.stop(daemon)
            self.assertTrue(self.socket.exists())  # it is systemd's

    def test_socket_activation_with_the_wrong_sockets(self):
        with listening_socket(self.socket) as inherited:
            for many, options, words in [("2", (), "systemd passed 2 sockets, expected one"),
                                         ("1", ("--socket", "x"), "--socket")]:
                daemon = self.activated(inherited, many, *options)
                self.assertIn(words, daemon.communicate(timeout=PATIENCE)[1])
                self.assertEqual(daemon.returncode, USAGE)
        with socket.socket(socket.AF_INET) as inherited:
            inherited.listen()
            daemon = self.activated(inherited)
            self.assertIn("Invalid argument", daemon.communicate(timeout=PATIENCE)[1])
            self.assertEqual(daemon.returncode, IO)

    def test_notifies_the_manager(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.dir / "notify"))
            manager.settimeout(PATIENCE)
            daemon = self.daemon(env={**os.environ, "NOTIFY_SOCKET": str(self.dir / "notify")})
            self.assertEqual(manager.recv(100), b"READY=1")
            self.stop(daemon)
            self.assertEqual(manager.recv(100), b"STOPPING=1")


class Units(Case):
    def setUp(self):
        super().setUp()
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd is not here")
        source = pathlib.Path(__file__).parents[2] / "cli/daemon"
        text = (source / "polykemd.service.in").read_text(encoding="utf-8")
        self.service, self.socket_unit = self.dir / "polykemd.service", self.dir / "polykemd.socket"
        self.service.write_text(text.replace("@POLYKEM_SBIN@/polykemd", os.path.abspath(DAEMON)))
        shutil.copy(source / "polykemd.socket", self.socket_unit)

    def test_the_sandbox(self):
        """systemd 252 gives 1.1 of 10; 2.0 leaves room for what later versions ask besides."""
        done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=20", self.service],
                              capture_output=True, text=True)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_systemd_understands_them(self):
        units = [self.service, self.socket_unit]
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for option in ("--allow-gid", "--allow-uid"):  # that the units speak of
            self.assertIn(option, subprocess.run([DAEMON, "--help"], capture_output=True, text=True).stdout)


class Metrics(Case):
    def setUp(self):
        super().setUp()
        self.port = self.metrics_port(self.start_daemon())

    def start_daemon(self):
        self.server = self.daemon("--metrics", "127.0.0.1:0")
        return self.server

    def test_before_the_first_operation(self):
        values, text = samples(self.port)
        self.assertEqual(total(values, "polykem_build_info", program="polykemd"), 1)
        self.assertEqual(total(values, "polykem_broker_clients"), 0)
        self.assertNotIn('set="', text)

    def test_the_port_is_taken(self):
        done = subprocess.run([DAEMON, "--socket", self.dir / "other", "--metrics", f"127.0.0.1:{self.port}"],
                              capture_output=True, text=True, timeout=PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, IO)
        self.assertIn("cannot listen at", done.stderr)

    def test_under_load(self):
        worker = self.worker()
        self.eventually(lambda: total(samples(self.port)[0], "polykem_broker_operations_total") > 200, "no operations")
        report = self.report_of(worker)
        self.eventually(lambda: total(samples(self.port)[0], "polykem_in_flight") == 0, "operations stay in flight")
        values, text = samples(self.port)
        done = total(values, "polykem_operations_total", set=SET)
        self.assertGreaterEqual(done, report["on_broker"])
        self.assertGreaterEqual(done, total(values, "polykem_broker_operations_total"))
        self.assertEqual({dict(labels)["where"] for name, labels in values if name == "polykem_operations_total"},
                         {"caller", "cpu", "accelerator", "broker"})
        self.assertEqual(total(values, "polykem_in_flight"), 0)
        self.assertEqual(total(values, "polykem_breaker_state", executor="cpu"), 1)
        for histogram in ("batch_items", "wait_seconds", "service_seconds"):
            self.check_histogram(values, text, f"polykem_{histogram}")
        self.check_dashboard(text)
        self.check_page(text)
        batched = done - total(values, "polykem_operations_total", where="caller")
        self.assertEqual(total(values, "polykem_batch_items_sum"), batched)
        self.assertEqual(total(values, "polykem_wait_seconds_count"), batched)

    def check_dashboard(self, text):
        """Checks that the dashboard asks for metrics that exist."""
        dashboard = (pathlib.Path(__file__).parents[2] / "docs/grafana_polykem.json").read_text(encoding="utf-8")
        for panel in json.loads(dashboard)["panels"]:
            for target in panel["targets"]:
                names = re.findall(r"polykem_[a-z_]+", target["expr"])
                self.assertTrue(names, panel["title"])
                for name in names:
                    self.assertRegex(text, rf"(?m)^{name}[{{ ]", panel["title"])

    def check_page(self, text):
        """Checks that the page's table has exactly the existing metrics."""
        page = (pathlib.Path(__file__).parents[2] / "docs/broker.md").read_text(encoding="utf-8")
        cells = re.findall(r"(?m)^\| (`polykem_.*?) \|", page)
        listed = [before + part + after for cell in cells
                  for before, parts, after in re.findall(r"`(\w+)\{?([\w,]*)\}?(\w*)`", cell)
                  for part in parts.split(",")]  # fmt: skip
        self.assertEqual(sorted(listed), sorted(re.findall(r"(?m)^# TYPE (polykem_\w+) ", text)))

    def check_histogram(self, values, text, name):
        self.assertIn(f"# TYPE {name} histogram", text)
        for op in ("encaps", "decaps"):
            buckets = {dict(labels)["le"]: value for (n, labels), value in values.items()
                       if n == f"{name}_bucket" and dict(labels)["op"] == op}  # fmt: skip
            counts = [buckets[end] for end in sorted(buckets, key=float)]
            self.assertEqual(counts, sorted(counts))
            self.assertEqual(counts[-1], total(values, f"{name}_count", op=op))
            if counts[-1] > 0:
                mean = total(values, f"{name}_sum", op=op) / counts[-1]
                self.assertLessEqual(mean, max(float(end) for end in buckets if end != "+Inf"))

    def top(self, *words):
        done = subprocess.run([PROGRAM, "top", "--metrics", f"127.0.0.1:{self.port}", *map(str, words)],
                              capture_output=True, text=True, timeout=PATIENCE, cwd=self.dir)  # fmt: skip
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def test_top_once(self):
        worker = self.worker()
        self.eventually(lambda: total(samples(self.port)[0], "polykem_broker_operations_total") > 50, "no operations")
        text = self.top("--once", "--interval", "0.5", "--json", "top.json")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertNotIn("\x1b", text)
        self.assertIn(SET, text)
        self.assertIn("breakers: cpu closed", text)
        result = json.loads((self.dir / "top.json").read_text())
        self.assertEqual(result["schema"], "polykem-top-1")
        self.assertEqual(result["broker"]["clients"], 1)
        self.assertEqual({one["set"] for one in result["operations"]}, {SET})
        self.assertGreater(sum(one["per_second"] for one in result["operations"]), 0)
        self.assertIn("cpu", {executor["executor"] for executor in result["executors"]})
        self.report_of(worker)

    def test_a_server_publishes_them_too(self):
        server = self.start(PROGRAM, "serve", "--scheme", SET, "--metrics", "127.0.0.1:0", "--broker", self.socket,
                            "--role", "server-encaps", env=SLOW)  # fmt: skip
        lines = [server.stdout.readline() for _ in range(4)]
        place = re.search(r"listening on (\S+) port (\d+)", lines[0])
        port = re.search(r"metrics at port (\d+)", lines[3])[1]
        subprocess.run([PROGRAM, "swarm", "--scheme", SET, "--role", "server-encaps", "--address", place[1], "--port",
                        place[2], "--clients", "300"], check=True, capture_output=True, timeout=PATIENCE)  # fmt: skip
        values, _ = samples(port)
        self.assertEqual(total(values, "polykem_build_info", program="polykem serve"), 1)
        self.assertEqual(total(values, "polykem_operations_total", set=SET, op="encaps"), 300)
        self.assertEqual(total(values, "polykem_breaker_state", executor="broker"), 1)
        self.assertNotIn("polykem_broker_clients", {name for name, _ in values})
        self.stop(server)

    def test_idle_connections_keep_nobody_out(self):
        for _ in range(3):
            idle = socket.create_connection(("127.0.0.1", self.port))
            self.addCleanup(idle.close)
            idle.sendall(b"GET /met")
        self.assertEqual(total(samples(self.port)[0], "polykem_build_info", program="polykemd"), 1)

    def top_of(self, before, after):
        """Returns what polykem top shows for the interval between two readings."""
        listening = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listening.close)
        listening.settimeout(PATIENCE)
        watching = self.start(PROGRAM, "top", "--once", "--interval", "0.1", "--metrics",
                              f"127.0.0.1:{listening.getsockname()[1]}")  # fmt: skip
        for text in (before, after):
            with listening.accept()[0] as peer:
                request = b""
                while not request.endswith(b"\r\n\r\n"):
                    request += peer.recv(4096)
                peer.sendall(f"HTTP/1.1 200 OK\r\n\r\n{text}".encode())
        shown, errors = watching.communicate(timeout=PATIENCE)
        self.assertEqual(watching.returncode, OK, errors)
        return shown

    def test_top_counts_clients_that_are_refused(self):
        before, after = (re.sub(r"(?m)^(polykem_broker_\w+) \S+$", rf"\1 {value}", samples(self.port)[1])
                         for value in (1, 10 ** 6))  # fmt: skip
        after = after.replace("short_of_memory_total 1000000", "short_of_memory_total 3")
        shown = self.top_of(before, after)
        self.assertIn("clients refused 999,999, 2 of them for lack of memory; violations 999,999\n", shown)
        self.assertLessEqual(max(map(len, shown.splitlines())), 80)

    def test_top_shows_nothing_that_a_terminal_obeys(self):
        text = ('polykem_build_info{program="a\x1b]0;title\x07",version="1"} 1\n'
                'polykem_operations_total{set="b\x1b[2J",op="c\\nd",where="cpu"} 5\n'
                'polykem_breaker_state{executor="d\x1b[5m",state="closed"} 1\n')  # fmt: skip
        shown = self.top_of(text, text)
        self.assertIn("b?[2J", shown)
        self.assertIn("c?d", shown)
        self.assertFalse(re.search(r"[\x00-\x09\x0b-\x1f\x7f]", shown))

    def test_top_without_a_daemon(self):
        self.stop(self.server)
        for place, code in [(f"127.0.0.1:{self.port}", IO), ("nowhere", USAGE)]:
            done = subprocess.run([PROGRAM, "top", "--once", "--metrics", place], capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, code)
            self.assertTrue(done.stderr.startswith(b"polykem: "))

    def test_top_repeats_until_the_daemon_ends(self):
        watching = self.start(PROGRAM, "top", "--metrics", f"127.0.0.1:{self.port}", "--interval", "0.1")
        for _ in range(3):
            self.eventually(lambda: "no operation so far" in watching.stdout.readline(), "no display")
        self.stop(self.server)
        _, errors = watching.communicate(timeout=PATIENCE)
        self.assertEqual(watching.returncode, IO)
        self.assertIn("no metrics at", errors)


if __name__ == "__main__":
    unittest.main()
