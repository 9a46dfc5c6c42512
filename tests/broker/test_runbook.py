# SPDX-License-Identifier: Apache-2.0
"""Tests docs/runbook.md and the alerts: their metrics, events and sections exist, and the procedures work."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from daemon import DAEMON, OK, PATIENCE, PROGRAM, Case, listening_socket, samples, total

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs/runbook.md").read_text(encoding="utf-8")
ALERTS = (ROOT / "docs/alerts_polykem.yml").read_text(encoding="utf-8")


def answer(port, path, method="GET"):
    """Returns status and text of a page at the metrics' address."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


class Words(Case):
    """Tests that the page, the alerts and the program use the same names."""

    def test_every_alert_has_a_section(self):
        alerts = re.findall(r"- alert: (\w+)\n", ALERTS)
        sections = re.findall(r"runbook: docs/runbook.md#(\S+)\n", ALERTS)
        self.assertEqual(len(alerts), len(set(alerts)))
        self.assertEqual(len(sections), len(alerts))
        anchors = {title.lower().replace(" ", "-") for title in re.findall(r"(?m)^## (.*)$", PAGE)}
        self.assertLessEqual(set(sections), anchors)

    def test_the_alerts_that_series_raise(self):
        if shutil.which("promtool") is None:
            self.skipTest("Prometheus is not here")
        done = subprocess.run(["promtool", "test", "rules", ROOT / "tests/broker/alerts_test.yml"], capture_output=True,
                              text=True, timeout=PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)

    def test_every_metric_exists(self):
        daemon = self.daemon("--config", "", "--metrics", "127.0.0.1:0")
        port = self.metrics_port(daemon)
        worker = self.worker()
        self.eventually(lambda: total(samples(port)[0], "polykem_broker_operations_total") > 0, "no operations")
        self.report_of(worker)
        text = samples(port)[1]
        used = set(re.findall(r"\bpolykem_[a-z_]+_(?:total|seconds|bucket|info|state)\b", ALERTS + PAGE))
        self.assertGreater(len(used), 8)
        for name in used:
            self.assertRegex(text, rf"(?m)^{name}[{{ ]")

    def test_the_providers_keys_are_those_of_its_reference(self):
        source = (ROOT / "provider/config.cpp").read_text(encoding="utf-8")
        keys = set(re.findall(r'"(\w+)"', re.search(r"(?s)kKeys\[\] = \{(.*?)\};", source)[1]))
        reference = (ROOT / "docs/tls_reference.md").read_text(encoding="utf-8")
        table = re.search(r"(?s)\| key \| values \|.*?\n\n", reference)[0]
        self.assertTrue(keys)
        self.assertEqual(set(re.findall(r"(?m)^\| `(\w+)` \|", table)), keys)

    def test_every_event_exists(self):
        sources = [file.read_text(encoding="utf-8") for file in sorted((ROOT / "cli/daemon").glob("*.cpp"))]
        events = set(re.findall(r'"([a-z_]+)",\s', "".join(sources)))
        named = set(re.findall(r"POLYKEM_EVENT=(\w+)", PAGE))
        broker = (ROOT / "docs/broker.md").read_text(encoding="utf-8")
        table = re.search(r"(?s)\| event \| \|\n(.*?)\n\n", broker)[1]
        listed = {event for row in table.splitlines() for event in re.findall(r"`(\w+)`", row.split("|")[1])}
        self.assertTrue(named and listed)
        self.assertLessEqual(named, listed)
        self.assertLessEqual(listed, events)


class Health(Case):
    def test_a_daemon_that_serves(self):
        port = self.metrics_port(self.daemon("--config", "", "--metrics", "127.0.0.1:0"))
        self.assertEqual(answer(port, "/healthz"), (200, "ok\n"))
        self.assertEqual(answer(port, "/readyz"), (200, "ok\n"))
        self.assertEqual(answer(port, "/readyz", "HEAD"), (200, ""))
        self.assertEqual(answer(port, "/readyz", "POST")[0], 405)
        self.assertEqual(answer(port, "/healthzz")[0], 404)
        self.assertEqual(answer(port, "/")[0], 404)
        for nonsense in (b"NONSENSE", b"GET http://[/ HTTP/9.9\r\nContent-Length: -5", b"GET /../x HTTP/1.1"):
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as client:
                client.sendall(nonsense + b"\r\n\r\n")
                self.assertNotIn(b" 200 ", client.recv(100))
        self.assertEqual(answer(port, "/readyz"), (200, "ok\n"))


class Procedures(Case):
    def test_upgrade(self):
        """The socket stays open while one polykemd ends and another starts; workers continue without a failure."""
        with listening_socket(self.socket) as inherited:
            workers = []
            for _ in range(3):
                daemon = self.activated(inherited, "1", "--config", "", "--metrics", "127.0.0.1:0")
                self.assertIn("listens at systemd's socket", daemon.stderr.readline())
                port = self.metrics_port(daemon)
                workers = workers or [self.worker() for _ in range(2)]
                self.eventually(lambda: total(samples(port)[0], "polykem_broker_clients") == 2, "workers stay away")
                self.eventually(lambda: total(samples(port)[0], "polykem_broker_operations_total") > 20, "it is idle")
                self.stop(daemon)
            self.assertGreater(sum(self.report_of(worker)["on_broker"] for worker in workers), 0)

    def block(self, name):
        return re.search(rf"<!-- run: {name} -->\n```sh\n(.*?)```", PAGE, re.S)[1]

    def shell(self, script, folder):
        """Runs a block of the page; its root folder is self.dir/root."""
        script = script.replace("--directory /", f"--directory {self.dir}/root")
        config = f"--config {self.dir}/root/etc/polykem/polykemd.conf"
        script = script.replace("polykemd --check", f"polykemd --check {config}")
        functions = "".join(f'{name}() {{ {os.path.abspath(program)} "$@"; }}\n'
                            for name, program in (("polykem", PROGRAM), ("polykemd", DAEMON)))  # fmt: skip
        done = subprocess.run(["bash", "-euc", functions + script], cwd=folder, capture_output=True, text=True,
                              timeout=PATIENCE)  # fmt: skip
        self.assertEqual(done.returncode, OK, done.stderr)
        return done.stdout

    def test_backup(self):
        settings = self.dir / "root/etc/polykem/polykemd.conf"
        settings.parent.mkdir(parents=True)
        settings.write_text("clients = 7\n")
        edited = self.dir / "root/etc/systemd/system/polykemd.socket.d/override.conf"
        edited.parent.mkdir(parents=True)
        edited.write_text("[Socket]\n")
        self.shell(self.block("backup"), self.dir)
        settings.write_text("clients = nonsense\n")
        edited.unlink()
        self.assertIn("1 settings, 0 wrong", self.shell(self.block("restore"), self.dir))
        self.assertEqual(settings.read_text(), "clients = 7\n")
        self.assertTrue(edited.exists())

    def test_change_of_keys(self):
        before = ("polykem keygen --scheme mlkem768 --pk old.pk --sk old.sk\n"
                  "polykem encaps --pk old.pk --ct to_old.ct --ss early.ss\n")  # fmt: skip
        self.shell(before + self.block("keys"), self.dir)
        for sent, received in (("sent", "received"), ("early", "late")):
            self.assertEqual((self.dir / f"{sent}.ss").read_text(), (self.dir / f"{received}.ss").read_text())
        self.assertFalse((self.dir / "old.sk").exists())


if __name__ == "__main__":
    unittest.main()
