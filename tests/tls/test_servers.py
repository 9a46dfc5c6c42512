# SPDX-License-Identifier: Apache-2.0
"""Tests servers from Debian's packages with polykem's provider: each negotiates, alone and under load, waiting or
pausing. test_more_servers.py has the other servers and groups."""

import contextlib
import os
import signal
import time
import unittest

import clients
import openssl
import tap
from cases import PATIENCE, load, require
from servers import ALL, Apache, HAProxy, Nginx, SServer, children

HYBRID = "X25519MLKEM768"
RUNS_ON_A_BUSY_MACHINE = 5  # of a load whose rate is checked, as other programs may take the CPU during one


class EachServer(unittest.TestCase):
    def negotiate(self, kind, asynchronous):
        require(kind)
        with kind(HYBRID, asynchronous=asynchronous, workers=2) as server, tap.Tap(server.port) as wire:
            clients.s_client(wire.port, server.certificate, server.client_conf, HYBRID)
            self.assertEqual(wire.last().shares, [HYBRID])
            self.assertEqual(wire.last().selected, HYBRID)
            self.assertFalse(wire.last().retried)
            handshakes = 0
            for _ in range(10 * RUNS_ON_A_BUSY_MACHINE):
                handshakes += load(server, HYBRID, connections=1 if kind is SServer else 32, seconds=0.1)["handshakes"]
                if handshakes > 20:
                    break
            self.assertGreater(handshakes, 20)
            self.assertTrue(server.runs())

    def test_waiting(self):
        for kind in ALL:
            with self.subTest(kind.__name__):
                self.negotiate(kind, asynchronous=False)

    def test_pausing(self):
        for kind in ALL:
            if kind.can_pause:
                with self.subTest(kind.__name__):
                    self.negotiate(kind, asynchronous=True)


class Device(unittest.TestCase):
    """Tests a device whose batches take longer than several handshakes: servers that pause, or that have threads, fill
    them. The device is this machine's CPU and late when others need it, so its deadline is long."""

    # The microseconds that a batch takes, and connections; the later ones for machines that make few handshakes.
    DEVICES = ((1000, 64), (4000, 128), (16000, 256))
    KINDS = (HAProxy, Apache)  # one that pauses, and one with threads

    def test_batches(self):
        for kind in self.KINDS:
            with self.subTest(kind.__name__):
                require(kind)
                self.fill_batches(kind)

    def fill_batches(self, kind):
        for microseconds, connections in self.DEVICES:
            grown = self.use_device(kind, microseconds, connections)
            if grown["on_accelerator"] > max(0.5 * grown["operations"], 2 * grown["batches"]):
                break
        self.assertGreater(grown["on_accelerator"], 0.5 * grown["operations"])
        self.assertGreater(grown["on_accelerator"], 2 * grown["batches"], "the mean batch is below 2")

    def use_device(self, kind, microseconds, connections):
        """Returns some counters of a load, after the server has found the device."""
        with kind(HYBRID, asynchronous=kind.can_pause, workers=2, backend="cuda", deadline_us=500000,
                  variables=openssl.simulated_device(microseconds)) as server:
            load(server, HYBRID, connections=connections, seconds=0.5)
            before = server.counters()
            handshakes = 0
            for _ in range(10):  # once, unless the machine is busy
                handshakes += load(server, HYBRID, connections=connections, seconds=1.5)["handshakes"]
                if handshakes > 64:
                    break
            counters = server.counters()
        self.assertGreater(handshakes, 64)
        self.assertEqual(counters.get("failed", 0) + counters.get("refused", 0), 0)
        return {name: counters.get(name, 0) - before.get(name, 0)
                for name in ("on_accelerator", "operations", "batches")}


class EachGroup(unittest.TestCase):
    """Tests every family of groups, with HAProxy in asynchronous mode. FrodoKEM must not run on its fibres of 32 KB."""

    GROUPS = {
        "MLKEM512": 0x0200, "MLKEM768": 0x0201, "MLKEM1024": 0x0202,
        "SecP256r1MLKEM768": 0x11EB, "SecP384r1MLKEM1024": 0x11ED,
        "frodo640aes": 65059, "x25519_frodo640shake": 65064, "frodo976aes": 65065, "p384_frodo976shake": 65069,
        "frodo1344aes": 65071, "efrodo976aes": 65030,
        "ntru_hps2048509": 0x0214, "ntru_hrss701": 0x0217,
    }

    UNDER_LOAD = ("frodo976aes",)

    @classmethod
    def setUpClass(cls):
        require(HAProxy)

    def test_negotiates(self):
        with HAProxy(":".join(self.GROUPS), asynchronous=True) as server, tap.Tap(server.port) as wire:
            for group, code_point in self.GROUPS.items():
                with self.subTest(group):
                    clients.s_client(wire.port, server.certificate, server.client_conf, group)
                    self.assertEqual(wire.last().selected, tap.name(code_point))
            self.assertTrue(server.runs())

    def test_frodokem_under_load(self):
        """With so many connections operations wait for each other: some pause, and batches form."""
        for group in self.UNDER_LOAD:
            with self.subTest(group), HAProxy(group, asynchronous=True, workers=2) as server:
                handshakes = batched = 0
                for run in range(4 * RUNS_ON_A_BUSY_MACHINE):
                    seconds = min(2 ** run, 8)  # 160 of FrodoKEM-1344 take two cores with AVX2 longer than a second
                    handshakes += load(server, group, connections=160, seconds=seconds)["handshakes"]
                    batched = sum(server.counters().get("batch_items", [])[1:])
                    if handshakes > 160 and batched > 0:
                        break
                self.assertGreater(handshakes, 160)
                self.assertTrue(server.runs())
                counters = server.counters()
                self.assertEqual(counters.get("failed", 0) + counters.get("refused", 0), 0)
                self.assertGreater(batched, 0, "no batch has two operations or more")

    def test_another_key_share(self):
        """A client whose first choice the server lacks is asked for another key share."""
        with HAProxy(HYBRID, asynchronous=True) as server, tap.Tap(server.port) as wire:
            clients.s_client(wire.port, server.certificate, server.client_conf, f"X25519:{HYBRID}")
            self.assertTrue(wire.last().retried)
            self.assertEqual(wire.last().selected, HYBRID)


class FallBack(unittest.TestCase):
    """Tests the fallback: a server that has X25519 takes a client's share for it, and asks for no other, although both
    have the hybrid. docs/tls.md says how to prevent that, and what the server's log shows."""

    KINDS = (HAProxy, Nginx)

    def negotiated(self, kind, groups, offered):
        """Returns the group of a client that sends a share for its first one, and whether the server asked again."""
        with kind(groups) as server, tap.Tap(server.port) as wire:
            clients.s_client(wire.port, server.certificate, server.client_conf, offered)
            if not wire.last().retried:  # else these are the shares of the second ClientHello
                self.assertEqual(wire.last().shares, [offered.split(":", maxsplit=1)[0]])
            return wire.last().selected, wire.last().retried

    def test_the_list_without_x25519_prevents_it(self):
        for kind in self.KINDS:
            with self.subTest(kind.__name__):
                require(kind)
                first_x25519 = f"X25519:{HYBRID}"
                for groups in (f"{HYBRID}:X25519", f"X25519:{HYBRID}"):
                    self.assertEqual(self.negotiated(kind, groups, first_x25519), ("X25519", False))
                self.assertEqual(self.negotiated(kind, HYBRID, first_x25519), (HYBRID, True))
                self.assertEqual(self.negotiated(kind, f"{HYBRID}:secp384r1", first_x25519), (HYBRID, True))
                self.assertEqual(self.negotiated(kind, f"{HYBRID}:X25519", f"{HYBRID}:X25519"), (HYBRID, False))

    def test_nginx_logs_the_group(self):
        require(Nginx)
        with Nginx(f"{HYBRID}:X25519") as server:
            for requests, (group, names) in enumerate(((HYBRID, {"0x11ec", HYBRID}), ("X25519", {"X25519"})), 1):
                clients.curl(server.port, server.certificate, server.client_conf, group)
                self.assertIn(server.logged(requests)[-1], names)


class Daemon(Nginx):
    """nginx as Debian's service runs it: detached from the process that started it, which its own upgrade needs."""

    def __init__(self, *arguments, first_line="", **options):
        super().__init__(*arguments, **options)
        self._first_line = first_line

    def configure(self):
        super().configure()
        path = self.folder / "nginx.conf"
        path.write_text(self._first_line + "\n" + path.read_text().replace("daemon off;", "daemon on;"))

    def runs(self):
        return True  # the process that was started ends at once

    def pid(self, name="pid"):
        return int((self.folder / name).read_text())

    def upgrade(self):
        """Returns whether a new program has taken over. nginx ignores the signal until it has workers, and while the
        process that started it lives."""
        end = time.monotonic() + PATIENCE
        self._process.wait(timeout=PATIENCE)
        while time.monotonic() < end and not children(self.pid()):
            time.sleep(0.02)
        os.kill(self.pid(), signal.SIGUSR2)
        while time.monotonic() < end:
            if "[emerg]" in self.log():
                return False
            if (self.folder / "pid.oldbin").exists() and (self.folder / "pid").exists():
                return True
            time.sleep(0.02)
        raise AssertionError(f"nginx neither upgrades nor reports an error: {self.log()}")

    def stop(self):
        for name in ("pid", "pid.oldbin"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(self.pid(name), signal.SIGTERM)
        super().stop()


class Services(unittest.TestCase):
    """Tests what docs/tls.md says about Debian's services."""

    def test_nginx_passes_the_variable_to_a_new_program(self):
        require(Nginx)
        for line, takes_over in (("env OPENSSL_CONF;", True), ("", False)):
            with self.subTest(line), Daemon(f"{HYBRID}:X25519", first_line=line) as server:
                self.assertEqual(server.upgrade(), takes_over)
                if takes_over:
                    os.kill(server.pid("pid.oldbin"), signal.SIGQUIT)
                with tap.Tap(server.port) as wire:
                    clients.s_client(wire.port, server.certificate, server.client_conf, HYBRID)
                    self.assertEqual(wire.last().selected, HYBRID)


if __name__ == "__main__":
    unittest.main()
