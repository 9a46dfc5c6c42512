# SPDX-License-Identifier: Apache-2.0
"""Tests polykemd's configuration file, `polykemd --check`, its table of limits, and reading the file again."""

import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess
import unittest

from daemon import DAEMON, IO, OK, PATIENCE, USAGE, Case, samples, total

CHECK_FAILED, BAD_INPUT, RESOURCES = 1, 3, 7
SOURCE = pathlib.Path(__file__).parents[2] / "cli/daemon"
# Settings that are only options.
NO_SETTINGS = {"--help", "--version", "--config", "--check", "--json", "--force"}


class Files(Case):
    def write(self, text, name="polykemd.conf"):
        file = self.dir / name
        file.write_text(text)
        return file

    def polykemd(self, code, *options, **more):
        done = subprocess.run([DAEMON, *map(str, options)], capture_output=True, text=True, timeout=PATIENCE, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def check(self, code, *options, **more):
        """Returns the result of --check."""
        return json.loads(self.polykemd(code, "--check", "--json", "-", *options, **more).stdout)


class Configuration(Files):
    def test_options_win(self):
        file = self.write("# a comment\n\n clients =  10\nclients-per-user=3\n\tallow-gid = root,1\t\n")
        result = self.check(OK, "--config", file, "--clients", "20")
        self.assertEqual(result["settings"], [{"line": 3, "name": "clients", "value": "10"},
                                              {"line": 4, "name": "clients-per-user", "value": "3"},
                                              {"line": 5, "name": "allow-gid", "value": "root,1"}])  # fmt: skip
        limits = {row["limit"]: row for row in result["limits"]}
        self.assertEqual(limits["clients"]["needed"], 20)
        self.assertIn("3 of a user", limits["clients"]["needed_by"])

    def test_the_file_holds(self):
        file = self.write(f"socket = {self.socket}\nallow-uid = 0\n")
        daemon = self.start(DAEMON, "--config", file)
        self.assertIn(f"listens at {self.socket}", daemon.stderr.readline())
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o666)
        self.stop(daemon)

    def test_everything_wrong_at_once(self):
        wrong = {"clientz = 5": "no setting 'clientz'", "clients = 0": "clients", "clients = 5": "also set in line 2",
                 "slots = 100": "power of two", "allow-uid = noone": "no user 'noone'", "metrics = here": "HOST:PORT",
                 "threads": "has no '='", "log =": "has no value", "backend = abacus": "no backend 'abacus'",
                 "socket-mode = 999": "not octal", "check = 1": "no setting 'check'",
                 "batch-items = many": "batch-items"}  # fmt: skip
        file = self.write("\n".join(wrong))
        findings = self.check(CHECK_FAILED, "--config", file)["findings"]
        self.assertEqual([finding["where"] for finding in findings], [f"{file}:{n + 1}" for n in range(len(wrong))])
        for finding, words in zip(findings, wrong.values()):
            self.assertIn(words, finding["what"])
            self.assertTrue(finding["hint"], finding)
        self.assertIn("did you mean 'clients'?", findings[0]["hint"])
        self.assertIn("Limit of worker processes", findings[1]["hint"])
        told = self.polykemd(BAD_INPUT, "--config", file, "--socket", self.socket).stderr
        for n, words in enumerate(wrong.values()):
            self.assertRegex(told, rf"(?m)^polykemd: {re.escape(str(file))}:{n + 1}: .*{re.escape(words)}")
        self.assertFalse(self.socket.exists())

    def test_a_file_of_something_else(self):
        file = self.dir / "binary"
        file.write_bytes(bytes(range(256)) * 100 + b"\n")
        self.assertTrue(self.check(CHECK_FAILED, "--config", file)["findings"])
        self.assertEqual(len(self.check(CHECK_FAILED, "--config", self.write("x\n" * 5000))["findings"]), 20)

    def test_no_file(self):
        for name in (self.dir / "none", self.dir):
            self.assertIn(str(name), self.polykemd(IO, "--check", "--config", name).stderr)
        self.assertEqual(self.check(OK, "--config", "")["file"], "")

    def test_what_the_machine_lacks(self):
        result = self.check(CHECK_FAILED, "--config", "", "--socket", self.dir / "none/socket", "--backend", "avx2",
                            env={**os.environ, "POLYKEM_CPU_MASK": "avx2"})  # fmt: skip
        self.assertEqual([finding["what"][:7] for finding in result["findings"]], ["backend", "the fol"])

    def test_json_belongs_to_check(self):
        self.assertIn("--check", self.polykemd(USAGE, "--json", "-").stderr)

    def test_the_example_has_every_setting(self):
        text = (SOURCE / "polykemd.conf").read_text(encoding="utf-8")
        self.assertEqual(self.check(OK, "--config", SOURCE / "polykemd.conf")["settings"], [])
        settings = re.findall(r"(?m)^#([a-z-]+) = (.*)$", text)
        options = json.loads(self.polykemd(OK, "help", "--json").stdout)["program"]["options"]
        names = {name for option in options for name in option["names"] if name.startswith("--")} - NO_SETTINGS
        self.assertEqual({"--" + name for name, _ in settings}, names)
        # Users and backends need not exist on this machine; everything else is the default, as the file says.
        rest = "".join(f"{name} = {value}\n" for name, value in settings if name not in ("allow-uid", "backend"))
        file = self.write(rest.replace("www-data", "root"))
        done = subprocess.run([DAEMON, "--check", "--json", "-", "--config", file], capture_output=True, text=True,
                              timeout=PATIENCE)  # fmt: skip
        result = json.loads(done.stdout)
        self.assertEqual([finding for finding in result["findings"] if finding["where"]], [])
        self.assertEqual(len(result["settings"]), len(settings) - 2)


class Limits(Files):
    def row(self, name, code, *options, **more):
        result = self.check(code, "--config", "", *options, **more)
        return next(row for row in result["limits"] if row["limit"] == name)

    def test_table(self):
        text = self.polykemd(OK, "--check", "--config", "").stdout
        for name in ("clients", "memory", "locked memory", "descriptors", "threads"):
            self.assertRegex(text, rf"(?m)^{name} ")

    def test_descriptors(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))

        lacks = self.row("descriptors", CHECK_FAILED, "--clients", "200", preexec_fn=few)
        self.assertEqual((lacks["available"], lacks["enough"]), (100, False))
        self.assertGreaterEqual(lacks["needed"], 400)
        told = self.polykemd(RESOURCES, "--config", "", "--socket", self.socket, "--clients", "200", preexec_fn=few)
        self.assertIn("not enough descriptors", told.stderr)
        self.assertIn("LimitNOFILE=", told.stderr)
        self.assertFalse(self.socket.exists())
        self.assertTrue(self.row("descriptors", OK, "--clients", "20", preexec_fn=few)["enough"])

    def test_memory(self):
        lacks = self.row("memory", CHECK_FAILED, "--memory", 1 << 24)
        self.assertGreater(lacks["needed"], 1 << 44)
        self.assertLess(lacks["available"], 1 << 44)
        told = self.polykemd(RESOURCES, "--config", "", "--socket", self.socket, "--memory", 1 << 24)
        self.assertIn("not enough memory", told.stderr)
        usual = self.row("memory", OK)
        self.assertLess(usual["needed"], usual["available"])

    def test_threads(self):
        five, one = (self.row("threads", OK, "--threads", threads)["needed"] for threads in (5, 1))
        self.assertEqual(five - one, 4)
        alone = self.row("threads", OK, preexec_fn=lambda: os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]))
        self.assertEqual(alone["needed"], one)

    def group(self, controller, version1, version2, value):
        """Makes a control group with a limit, until the test ends. Returns the file in which a process joins it."""
        for root, name in ((f"/sys/fs/cgroup/{controller}", version1), ("/sys/fs/cgroup", version2)):
            folder = pathlib.Path(root) / f"polykem-test-{os.getpid()}"
            try:
                folder.mkdir()
            except OSError:
                continue
            self.addCleanup(folder.rmdir)
            if (folder / name).exists():
                (folder / name).write_text(value)
                return folder / "cgroup.procs"
        return self.skipTest("no control groups may be made here")

    def test_memory_of_a_control_group(self):
        processes = self.group("memory", "memory.limit_in_bytes", "memory.max", str(128 << 20))
        row = self.row("memory", OK, preexec_fn=lambda: processes.write_text(str(os.getpid())))
        self.assertEqual((row["available"], row["limited_by"]), (128 << 20, "a limit of control groups"))
        told = self.polykemd(RESOURCES, "--config", "", "--socket", self.socket, "--memory", "200",
                             preexec_fn=lambda: processes.write_text(str(os.getpid())))  # fmt: skip
        self.assertIn("MemoryMax=", told.stderr)

    def test_quota_of_a_control_group(self):
        processes = self.group("cpu", "cpu.cfs_quota_us", "cpu.max", "50000")
        row = self.row("threads", OK, preexec_fn=lambda: processes.write_text(str(os.getpid())))
        self.assertEqual(row["needed"], self.row("threads", OK, "--threads", 1)["needed"])

    def test_threads_of_a_control_group(self):
        processes = self.group("pids", "pids.max", "pids.max", "20")
        row = self.row("threads", CHECK_FAILED, "--threads", 30,
                       preexec_fn=lambda: processes.write_text(str(os.getpid())))  # fmt: skip
        self.assertEqual((row["available"], row["enough"]), (20, False))

    def test_what_a_busy_one_takes(self):
        """The table is an upper bound of what polykemd uses."""
        options = ("--config", "", "--clients", "3", "--memory", "64", "--metrics", "127.0.0.1:0")
        rows = {row["limit"]: row for row in self.check(OK, *options)["limits"]}
        daemon = self.daemon(*options)
        port = self.metrics_port(daemon)
        workers = [self.worker() for _ in range(3)]
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_operations_total") > 200, "no operations")
        status = pathlib.Path(f"/proc/{daemon.pid}/status").read_text()
        peak, threads = (int(re.search(rf"{name}:\s*(\d+)", status)[1]) for name in ("VmHWM", "Threads"))
        descriptors = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        self.assertLess(peak * 1024, rows["memory"]["needed"])
        self.assertLess(threads, rows["threads"]["needed"])
        self.assertLess(descriptors, rows["descriptors"]["needed"])
        for worker in workers:
            self.report_of(worker)


class Reload(Files):
    def setUp(self):
        super().setUp()
        self.file = self.write("clients = 5\n")

    def configured(self, *options, **more):
        return self.daemon("--config", self.file, *options, **more)

    def reload(self, daemon, text):
        """Changes the file and has it read again. Returns the log up to its figures."""
        self.file.write_text(text)
        daemon.send_signal(signal.SIGHUP)
        lines = []
        while not lines or "in flight" not in lines[-1]:
            lines.append(daemon.stderr.readline())
            self.assertTrue(lines[-1], "it has ended")
        return "".join(lines)

    def test_what_changes(self):
        daemon = self.configured()
        self.assertIn("read again", self.reload(daemon, "clients = 9\nallow-gid = root\n"))
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o666)
        kept = {"threads": 3, "batch-items": 7, "metrics": "127.0.0.1:1", "log-format": "json", "backend": "ref"}
        settings = "".join(f"{name} = {value}\n" for name, value in kept.items())
        said = self.reload(daemon, settings + "socket-mode = 0640\n")
        for name in kept:
            self.assertIn(f"'{name}' changes from", said)
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o640)
        self.stop(daemon)

    def test_a_wrong_file_changes_nothing(self):
        daemon = self.configured()
        said = self.reload(daemon, "clients = 0\nlogg = info\nallow-gid = root\n")
        self.assertIn(f"{self.file}:1: clients", said)
        self.assertIn(f"{self.file}:2: no setting 'logg'", said)
        self.assertIn("stays as it was", said)
        self.assertEqual(stat.S_IMODE(self.socket.stat().st_mode), 0o600)
        self.assertIn("not enough memory", self.reload(daemon, "memory = 16777216\n"))
        self.file.unlink()
        daemon.send_signal(signal.SIGHUP)
        self.assertIn(str(self.file), daemon.stderr.readline())
        self.stop(daemon)

    def test_more_clients(self):
        self.file.write_text("clients = 1\n")
        daemon = self.configured("--metrics", "127.0.0.1:0")
        port = self.metrics_port(daemon)
        first, second = self.worker(), self.worker()
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_refused_total") > 0, "both were let in")
        self.reload(daemon, "clients = 2\n")
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_clients") == 2, "the second is kept out")
        for worker in (first, second):
            self.report_of(worker)
        self.stop(daemon)

    def test_under_load(self):
        """A reload does not affect workers: no operation is lost or dropped, and nobody connects twice."""
        daemon = self.configured("--metrics", "127.0.0.1:0")
        port = self.metrics_port(daemon)
        workers = [self.worker() for _ in range(2)]
        done = lambda: total(samples(port)[0], "polykem_broker_operations_total")
        self.eventually(lambda: done() > 0, "no operations")
        for n in range(20):
            before = done()
            self.file.write_text(f"clients = {n + 2}\nslots = {2 ** (n % 8)}\nmemory = {n + 64}\n")
            daemon.send_signal(signal.SIGHUP)
            self.eventually(lambda: done() > before, "no more operations")
        self.assertGreater(sum(self.report_of(worker)["on_broker"] for worker in workers), 0)
        values, _ = samples(port)
        self.assertEqual(total(values, "polykem_broker_accepted_total"), 2)
        for name in ("dropped", "violations", "refused"):
            self.assertEqual(total(values, f"polykem_broker_{name}_total"), 0, name)
        self.stop(daemon)

    def test_tells_the_manager(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(self.dir / "notify"))
            manager.settimeout(PATIENCE)
            daemon = self.configured(env={**os.environ, "NOTIFY_SOCKET": str(self.dir / "notify"),
                                          "WATCHDOG_USEC": "200000"})  # fmt: skip
            self.assertEqual(manager.recv(100), b"READY=1")
            self.assertEqual(manager.recv(100), b"WATCHDOG=1")
            daemon.send_signal(signal.SIGHUP)
            heard = []
            while not heard or heard[-1] != b"READY=1":
                heard.append(manager.recv(100))
            reloading = next(text for text in heard if text != b"WATCHDOG=1")
            self.assertRegex(reloading, rb"^RELOADING=1\nMONOTONIC_USEC=\d+$")
            self.stop(daemon)


class LogFormats(Files):
    def test_json(self):
        daemon = self.start(DAEMON, "--config", "", "--socket", self.socket, "--log-format", "json")
        first = json.loads(daemon.stderr.readline())
        self.assertEqual((first["level"], first["event"], first["socket"]), ("info", "listens", str(self.socket)))
        self.assertRegex(first["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertIn("listens at", first["message"])
        daemon.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in daemon.communicate(timeout=PATIENCE)[1].splitlines()]
        self.assertEqual((lines[-1]["event"], lines[-1]["clients"]), ("ends", 0))

    def test_errors_of_the_start_in_json(self):
        done = self.polykemd(IO, "--config", "", "--socket", self.dir / "no/socket", "--log-format", "json")
        told = json.loads(done.stderr)
        self.assertEqual((told["level"], told["event"], told["exit_code"]), ("error", "fails", IO))
        self.assertIn("No such file", told["message"])

    def test_errors_of_the_start_in_the_journal(self):
        """The lines that say why polykemd does not start have the priority of an error."""
        for code, file in ((BAD_INPUT, self.write("clients = 0\n")), (IO, self.dir / "none")):
            with open(self.dir / "log", "w+", encoding="utf-8") as log:
                about = os.fstat(log.fileno())
                environment = {**os.environ, "JOURNAL_STREAM": f"{about.st_dev}:{about.st_ino}"}
                done = subprocess.run([DAEMON, "--config", file], stderr=log, timeout=PATIENCE, env=environment)
                log.seek(0)
                self.assertEqual(done.returncode, code)
                self.assertRegex(log.readline(), rf"^<3>polykemd: .*{file}")

    def test_priorities_without_the_journals_socket(self):
        """If standard error is the journal's and the journal takes no entries, lines begin with priorities."""
        log = open(self.dir / "log", "w", encoding="utf-8")
        self.addCleanup(log.close)
        about = os.fstat(log.fileno())
        daemon = self.start(DAEMON, "--config", "", "--socket", self.socket, "--log-format", "text", stderr=log,
                            env={**os.environ, "JOURNAL_STREAM": f"{about.st_dev}:{about.st_ino}"})  # fmt: skip
        self.eventually(lambda: "listens" in (self.dir / "log").read_text(), "it does not listen")
        self.assertRegex((self.dir / "log").read_text(), r"^<6>polykemd ")
        self.stop(daemon)


if __name__ == "__main__":
    unittest.main()
